"""The key above a chart: every named trace once, a picture that can be drawn, names as text."""

import re
from base64 import b64decode
from xml.dom.minidom import parseString

import plotly.graph_objects as go
from pages.components.shared.chart_key import _SHAPES, key_of


def figure(*names, **layout):
    made = go.Figure().update_layout(**layout)
    for name, symbol in zip(names, _SHAPES, strict=False):
        made.add_scatter(x=[1], y=[1], mode="lines+markers", name=name, marker={"symbol": symbol})
    return made


def test_every_mark_is_a_picture_and_every_name_is_text():
    names = [f"{symbol} <b>&amp;" for symbol in _SHAPES]
    key = key_of(figure(*names))
    pictures = re.findall(r"base64,([^\"]+)", key)
    assert len({parseString(b64decode(one)).toxml() for one in pictures}) == len(_SHAPES)
    for symbol in _SHAPES:
        assert f"{symbol} &lt;b&gt;&amp;</span>" in key


def test_there_is_none_where_nothing_is_to_be_told_apart():
    assert key_of(figure("alone")) == key_of(figure("a", "b", showlegend=False)) == ""
    twice = figure("a", "b", "a")
    assert key_of(twice).count("<span>") == 2
    twice.data[1].showlegend = False
    assert key_of(twice) == ""
