"""What a page shows, as lines of plain text: words, labels, values, cells; no markup, no ids."""

import json
import re
from html import unescape

from pages.shared.outside_text import JOINER

_APART = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)  # seen by nobody
_TAG = re.compile(r"<[^>]*>")
_CHOSEN = ("selectbox", "select_slider", "radio", "button_group", "number_input", "text_input")
_CHOSEN = (*_CHOSEN, "toggle", "checkbox", "text_area", "slider", "multiselect")


def visible(app):
    """Every line of a page, in its order."""
    return list(_lines(app.main))


def visible_text(app):
    """All of it in one text."""
    return "\n".join(visible(app))


def _lines(block):
    for child in block.children.values():
        if hasattr(child, "children"):
            name = _block_name(child)
            yield from [f"[{name}]"] if name else []
            yield from _lines(child)
        else:
            yield from filter(None, map(str.strip, _told(child)))


def _block_name(block):
    proto = block.proto
    if proto is not None and "type" in proto.DESCRIPTOR.oneofs_by_name:  # not parsed by AppTest
        kind = proto.WhichOneof("type")
        proto = getattr(proto, kind) if kind else None
    return unmarked(getattr(proto, "label", "") or getattr(proto, "title", ""))


def _told(element):
    match element.type:
        case "html":
            # An element of a line of its own is one of its words.
            yield " ".join(words_of(element.proto.body).split())
        case "bidi_component":
            yield from _drawn(payload(element))
        case "dataframe" | "arrow_data_frame" | "table" | "arrow_table":
            yield " | ".join(map(str, element.value.columns))
            for row in element.value.itertuples(index=element.type == "table"):
                yield " | ".join(_cell(cell) for cell in row)
        case "plotly_chart":
            yield f"chart: {element.proto.alt_text}" if hasattr(
                element.proto, "alt_text"
            ) else "chart"
        case kind if kind in _CHOSEN:
            label = unmarked(element.label or "")
            yield f"{label}: {_cell(element.value)}"
        case "space":
            return
        case _:
            for name in ("label", "value", "body", "text"):
                said = getattr(element, name, "") or getattr(element.proto, name, "")
                if isinstance(said, str) and said:
                    yield from unmarked(said).splitlines()
                    break


def words_of(html):
    """The words of HTML that are seen, parted by blanks."""
    return unescape(_TAG.sub(" ", _APART.sub("", html)))


def unmarked(markdown):
    """Markdown without its marks."""
    said = re.sub(r"\\(.)", r"\1", markdown.replace("**", "").replace(JOINER, ""))
    return re.sub(r":[a-z]+-badge\[(.*?)\]", r"\1", said)


def _cell(value):
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(unmarked(str(value)).split())


# -------------------------------------------------------------------- the two charts


def payload(element):
    """What one of Explore's own charts is given."""
    return json.loads(element.proto.json)


def charts(app):
    """The payloads of Explore's two charts, by key."""
    return {one.proto.id.split("-", 2)[-1]: payload(one) for one in app.get("bidi_component")}


def _drawn(data):
    """The words of a chart, and the names it draws."""
    for name in ("title", "spoken", "note", "axis", "label"):
        yield str(data.get(name, ""))
    for name, points in data.get("alone", ()):
        yield f"alone, {name}: {points:.1f}"
    yield " | ".join(str(one["name"]) for one in data.get("clients", ()))
