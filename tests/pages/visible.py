"""What a page shows, as lines of plain text: words, labels, values, cells; no markup, no ids."""

import json
import re
from html import unescape
from typing import NamedTuple

from fairfl_core._io.names import JOINER

_APART = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)  # seen by nobody
_TAG = re.compile(r"<[^>]*>")
_CHOSEN = ("selectbox", "select_slider", "radio", "button_group", "number_input", "text_input")
_CHOSEN = (*_CHOSEN, "toggle", "checkbox", "text_area", "slider", "multiselect")


def visible(app):
    """Every line of a page, in its order."""
    return [line for root in (0, 2) for line in _lines(app._tree[root])]  # 2: an open dialog


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
            yield (
                f"chart: {element.proto.alt_text}"
                if hasattr(element.proto, "alt_text")
                else "chart"
            )
        case kind if kind in _CHOSEN:
            yield f"{unmarked(element.label or '')}: {_chosen(element)}"
        case "space":
            return
        case _:
            for name in ("label", "value", "body", "text"):
                said = getattr(element, name, "") or getattr(element.proto, name, "")
                if isinstance(said, str) and said:
                    yield from unmarked(said).splitlines()
                    break


def _chosen(element):
    """The value of a widget as it is written there."""
    options = getattr(element, "options", None)
    at = getattr(element, "index", None)
    if options and isinstance(at, int):
        return unmarked(str(options[at]))
    return _cell(element.value)


def words_of(html):
    """The words of HTML that are seen, parted by blanks."""
    return unescape(_TAG.sub(" ", _APART.sub("", html)))


def unmarked(markdown):
    """Markdown without its marks."""
    said = re.sub(r"\\(.)", r"\1", markdown.replace("**", "").replace(JOINER, ""))
    return re.sub(r":[a-z]+-badge\[(.*?)\]", r"\1", said)


def _cell(value):
    if value is None or value != value:  # an empty cell, not "nan"
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(unmarked(str(value)).split())


# -------------------------------------------------------------------- the two charts


def payload(element):
    """What one of Explore's own charts is given; a browser reads strict JSON, without NaN."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(element.proto.json, parse_constant=refuse)


def charts(app):
    """The payloads of Explore's two charts, by key."""
    return {one.proto.id.split("-", 2)[-1]: payload(one) for one in app.get("bidi_component")}


def _drawn(data):
    """The words of a chart, and the names it draws."""
    for name in ("title", "spoken", "note", "axis", "label"):
        yield str(data.get(name, ""))
    for name, points in data.get("alone", ()):
        yield f"alone, {name}: " + ("none" if points is None else f"{points:+g}")
    yield " | ".join(str(one["name"]) for one in data.get("clients", ()))


# -------------------------------------------------------------------- Explore's first screen


class Number(NamedTuple):
    """One of the four numbers, as it is read."""

    label: str
    was: str
    now: str
    note: str


def numbers(app):
    """The four numbers of Explore; none where limits and floors collide."""
    bodies = [
        one.proto.body for one in app.get("html") if 'class="fairfl-numbers"' in one.proto.body
    ]
    cells = re.findall(r"<div title=.*?</div>", bodies[0]) if bodies else []
    return [Number(*(_part(cell, tag) for tag in ("span", "em", "b", "small"))) for cell in cells]


def _part(cell, tag):
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", cell)
    return unescape(found[1]).strip() if found else ""


def sentence(app):
    """Asked, then reached."""
    (body,) = [
        one.proto.body for one in app.get("html") if 'class="fairfl-sentence"' in one.proto.body
    ]
    return words_of(body).strip()


def html_tables(app):
    """The small tables of a page: rows of cells, the headings first."""
    bodies = [
        one.proto.body for one in app.get("html") if 'class="fairfl-table"' in one.proto.body
    ]
    return [
        [
            [words_of(cell).strip() for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", body)
        ]
        for body in bodies
    ]
