"""Present: verdict and numbers on every screen, one picture at a time, a code to the setting."""

import re
from urllib.parse import unquote, urlencode

import numpy as np
import pytest
import streamlit as st

from fairfl_core._io import numbers as format
from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from pages.explore import text
from pages.shared import own_data
from pages.shared.frame import code_of
from pages.shared.text import NOT_REACHABLE, NOTHING_TO_SCAN
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.visible import charts, html_tables, numbers, visible, visible_text

PAPERS = {"experiment": "adult", "seed": 0}
SHOWN = [("explore-map", None), ("explore-clients", "gaps"), ("explore-clients", "found"), None]


def test_four_screens_with_verdict_and_numbers_on_each(opened):
    app = opened(**PAPERS, eps_local=0.2)
    (kept, *_) = numbers(app)
    app.button(key="keep").click().run()
    app.select_slider(key="widget_eps_local").set_value(0.05).run()
    whole = numbers(app)
    app.button(key="present").click().run()
    for at, shown in enumerate(SHOWN, 1):
        assert numbers(healthy(app)) == whole
        assert any(
            line.startswith(("✕ ", "● ", "○ ")) and "group" in line for line in visible(app)
        )
        assert any(line.startswith(f"{at} of 4: ") for line in visible(app))
        drawn = charts(app)
        if shown is None:
            (table,) = html_tables(app)
            assert table[0] == ["", "as it is", "A", "now"] and not drawn
            assert ["Accuracy", f"{whole[0].was} %", kept.now, whole[0].now] in table
            overall = whole[1]
            assert table[2][1] == overall.was and table[2][3] == overall.now
            gaps = CoreNumbers.of(view_of(**PAPERS)).mean(lambda e: e.before.gaps.local)
            assert table[3][1] == format.round_gap(np.nanmax(gaps))
            assert table[4][1] == "0 %" and table[5][1] == "nothing asked"
        else:
            assert list(drawn) == [shown[0]] and drawn[shown[0]]["large"]
            assert drawn[shown[0]].get("view") == shown[1]
        assert not app.selectbox or shown  # no settings
        app.button(key="onward").click().run()
        assert linked(app, "screen") == str(min(at + 1, 4))
    app.button(key="backward").click().run()
    assert linked(app, "screen") == "3"
    app.button(key="leave").click().run()
    assert linked(healthy(app), "present") is None and len(charts(app)) == 2


def test_a_server_of_this_machine_has_nothing_to_scan(opened):
    said = visible_text(opened(**PAPERS, present=True))
    assert NOT_REACHABLE in said


def test_a_code_leads_whoever_scans_it_to_the_same_setting(opened, monkeypatch):
    monkeypatch.setattr(type(st.context), "url", "http://192.0.2.7:8501/")
    app = opened(**PAPERS, present=True)
    app.select_slider(key="widget_eps_local").set_value(0.2).run()
    link = {name: linked(app, name) for name in app.query_params if name != "present"}
    code = code_of(f"http://192.0.2.7:8501/?{urlencode(link)}")
    (shown,) = [
        one.proto.body for one in app.get("html") if 'class="fairfl-code"' in one.proto.body
    ]
    assert f'src="{code}"' in shown
    student = opened(**link)
    assert numbers(student) == numbers(app) and linked(student, "present") is None


@pytest.fixture
def with_own_set(opened):
    """A session that holds an uploaded set, on Explore."""
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415

    from tests.pages.conftest import TOP  # noqa: PLC0415

    def open_with(table, **settings):
        file = open_table("example.csv", table.encode())
        intake = experiment_from_table(file, guess_roles(file))
        app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60)
        held = own_data.Held(intake)
        app.session_state["own-set"] = held
        for name, value in settings.items():
            app.query_params[name] = str(value)
        return app.run()

    return open_with


def test_an_uploaded_set_is_shown_and_cannot_be_scanned(with_own_set):
    """The set lives in one session: a code would lead students to other data."""
    app = healthy(with_own_set(example_table(), experiment="yours", present=True))
    said = visible_text(app)
    assert NOTHING_TO_SCAN in said and NOT_REACHABLE not in said
    assert linked(app, "experiment") == "yours" and len(numbers(app)) == 4
    app.button(key="leave").click().run()
    file = open_table("example.csv", example_table().encode())
    experiment = experiment_from_table(file, guess_roles(file)).experiment
    shown = [one["name"] for one in charts(healthy(app))["explore-clients"]["clients"]]
    assert set(shown) <= set(experiment.clients)


NASTY = {"North": "<b>x</b>", "man": "**y** :red[z]", "ill": "[a](http://b)", "healthy": "$q$ <i>"}


def test_names_are_only_text_everywhere(with_own_set):
    """Marks of Markdown and HTML in the names of clients, groups and labels."""
    rows = [line.split(",") for line in example_table().splitlines()]
    header = [
        name.replace("_ill", "_[a](http://b)").replace("_healthy", "_$q$ <i>") for name in rows[0]
    ]
    rows = [header, *([NASTY.get(cell, cell) for cell in row] for row in rows[1:])]
    app = with_own_set("\n".join(map(",".join, rows)), experiment="yours", client="<b>x</b>")
    assert not app.exception
    drawn = charts(app)["explore-clients"]
    assert "<b>x</b>" in [one["name"] for one in drawn["clients"]]
    assert "[<b>x</b>]" in visible(app)
    for tab in text.TABS:
        app.segmented_control(key="widget_details").set_value(tab)
        opened = ("verdict", "harm", "settings", "impact-ratios", "client-every-rate")
        for key in (*opened, "expander-floors", "expander-good"):
            app.session_state[key] = True
        app.run()
        assert not app.exception and not app.warning, [box.value for box in app.warning]
        written = [one.value for one in (*app.markdown, *app.caption)]
        for name in NASTY.values():
            assert not [text for text in written if name in text], (tab, name)
        made = [one.proto.body for one in app.get("html") if "<style" not in one.proto.body]
        assert not [body for body in made if "<b>x" in body or "<i>" in body]


def test_the_code_is_an_image_of_the_link_alone():
    first, second = (code_of(f"https://example.org/?eps_local={eps}") for eps in (0.1, 0.2))
    assert first.startswith("data:image/svg+xml") and first != second
    assert first == code_of("https://example.org/?eps_local=0.1")
    assert "http" not in re.sub(r"xmlns='[^']*'", "", unquote(first))


@pytest.mark.parametrize("page", ["methods", "compare"])
def test_pages_without_screens_of_their_own_present_explore(opened, page):
    app = opened(page, **PAPERS)
    app.button(key="present").click().run()
    assert len(numbers(healthy(app))) == 4 and linked(app, "screen") is None
    assert any(line.startswith("1 of 4: ") for line in visible(app))
