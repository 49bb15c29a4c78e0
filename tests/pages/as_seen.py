"""Pages as a person approved them: every element in its order, with what it shows.

    APPROVE=1 pytest tests/pages/test_as_seen.py

writes what the pages show now into `as_seen/`; git then tells what has changed, and whoever commits it
has looked at it. Numbers are rounded to what a person could tell apart.
"""

import base64
import json
import re
from itertools import zip_longest

import numpy as np
from google.protobuf.json_format import MessageToDict

DIGITS = 6
# New for every visitor, or follows from what is shown beside it.
APART = {"id", "formId", "deferredFileId", "url", "data", "template", "arrowData", "styler"}
APART |= {"pageScriptHash", "library", "gapConfig", "heightConfig", "widthConfig"}
NUMBER = re.compile(r"(?<![\w#])-?\d+\.\d+(?:e-?\d+)?")
BRAND = '<div class="fairfl-brand">'
STYLE = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)


def page_of(app, *, sidebar):
    """A page as lines of text, blocks indented."""
    blocks = [app.main, *([app.sidebar] if sidebar else [])]
    return "\n".join(line.rstrip() for block in blocks for line in _lines(block, 0)) + "\n"


def _lines(block, depth):
    for child in block.children.values():
        if hasattr(child, "children"):
            shown = _plain(_fields(child.proto)) if child.proto is not None else {}
            yield "  " * depth + f"[{child.type}] {_text(shown)}"
            yield from _lines(child, depth + 1)
        else:
            first, *more = _element(child).split("\n")
            if first.startswith(BRAND):
                continue  # the same on every page, and looked at by test_presenting
            yield "  " * depth + f"{child.type}: {first}"
            yield from ("  " * (depth + 2) + line for line in more)


def _element(element):
    if element.type in ("dataframe", "table"):
        return element.value.round(DIGITS).to_csv(index=True)
    fields = _fields(element.proto)
    if element.type == "bidi_component":  # a chart; see charts.draw
        drawn = json.loads(fields["json"])
        spec = json.loads(drawn.pop("spec", '{"data": [], "layout": {}}'))  # a mark has none
        parts = [drawn, *spec["data"], spec["layout"]]
        return "\n".join(_text(_plain(part)) for part in parts)
    if element.type in ("html", "markdown", "caption"):
        return STYLE.sub("", fields.get("body", ""))
    return _text(_plain(fields))


def _fields(proto):
    return MessageToDict(proto)


def _text(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""


def _plain(value):
    """Rounded, unpacked, and without what is another one for every visitor."""
    match value:
        case {"bdata": packed, "dtype": kind, **more}:
            flat = np.frombuffer(base64.b64decode(packed), kind)
            return _plain(flat.reshape(_shape(more["shape"])).tolist() if more else flat.tolist())
        case dict():
            kept = {name: _plain(one) for name, one in value.items() if name not in APART}
            return {name: one for name, one in kept.items() if one not in ({}, [], "", None)}
        case list():
            return [_plain(one) for one in value]
        case bool() | int():
            return value
        case float():
            return round(value, DIGITS) + 0.0  # no negative zero
        case str():
            return STYLE.sub("", value)
    return value


def _shape(text):
    return [int(length) for length in str(text).split(",")]


# -------------------------------------------------------------------- comparing


def differing(shown, approved):
    """Pairs of lines that differ by more than the last digits of a number."""
    pairs = zip_longest(shown.splitlines(), approved.splitlines(), fillvalue="(nothing)")
    return [pair for pair in pairs if pair[0] != pair[1] and not _close(*pair)]


def _close(one, other):
    """Whether words are the same, and fractions to what another machine's arithmetic may change."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    numbers = ([float(number) for number in NUMBER.findall(line)] for line in (one, other))
    return np.allclose(*numbers, rtol=1e-6, atol=2 * 10.0**-DIGITS)
