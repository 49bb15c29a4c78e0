"""Links: one view goes whole through them, old ones lead on, and what is unusable is told."""

import re

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared import state
from tests.pages.conftest import TOP, healthy, linked
from tests.pages.visible import charts, numbers, sentence, visible, visible_text

ADULT = {"experiment": "adult", "seed": 0}


def ignored(app):
    """The lines that say what of a link was not used."""
    return [line for line in visible(app) if line.startswith("Ignored in the link")]


# -------------------------------------------------------------------- round trips


def test_a_copied_link_opens_the_same(opened):
    app = opened(**ADULT, region="exact", eps_local=0.2, own="doctorate=0.1", picture="price")
    app.button(key="keep").click().run()
    app.select_slider(key="widget_eps_local").set_value(0.03).run()
    link = {name: linked(app, name) for name in app.query_params}
    again = opened(as_it_starts=True, **link)
    assert numbers(again) == numbers(healthy(app)) and charts(again) == charts(app)


def test_settings_survive_a_change_of_page(opened):
    app = opened(**ADULT | {"seed": 2}, notion="eo", eps_local=0.09)
    before = numbers(app)
    app.switch_page("pages/learn/page.py").run()
    app.switch_page("pages/explore/page.py").run()
    assert numbers(healthy(app)) == before
    assert app.select_slider(key="widget_eps_local").value == 0.09


@pytest.mark.parametrize("page", ["compare", "privacy"])
def test_the_next_page_names_the_experiment_that_it_shows(opened, page):
    """Both have a box for it under one key, and a new box would begin with the first."""
    app = opened(experiment="ham10000", seed=0, eps_local=0.2)
    for name in (page, "explore", "explore"):
        app.switch_page(f"pages/{name}/page.py").run()
        assert app.selectbox(key="widget_experiment").value == "ham10000"
    assert app.select_slider(key="widget_eps_local").value == 0.2


def test_back_takes_the_settings_of_the_earlier_link(opened):
    app = opened(**ADULT, eps_local=0.09)
    before, earlier = sentence(app), dict(app.query_params)
    app.select_slider(key="widget_eps_local").set_value(0.2).run()
    assert sentence(healthy(app)) != before
    app.query_params.clear()
    for name, value in earlier.items():
        app.query_params[name] = value
    app.run()
    assert sentence(healthy(app)) == before
    assert app.select_slider(key="widget_eps_local").value == 0.09
    assert linked(app, "eps_local") == "0.09"


def test_a_move_is_stronger_than_a_link_that_is_late(opened):
    app = opened(**ADULT, eps_local=0.09)
    late = dict(app.query_params)
    app.select_slider(key="widget_eps_local").set_value(0.2).run()
    app.query_params.clear()  # the browser had not yet got the new one
    for name, value in late.items():
        app.query_params[name] = value
    app.select_slider(key="widget_eps_local").set_value(0.25).run()
    assert app.select_slider(key="widget_eps_local").value == 0.25
    assert linked(healthy(app), "eps_local") == "0.25"


# -------------------------------------------------------------------- links of other versions


def moved(name, **settings):
    """Follow an old page's link, which Streamlit calls by the hash of its path."""
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=60)
    for key, value in settings.items():
        app.query_params[key] = str(value)
    app._page_hash = calc_hash(name)
    return app.run()


def test_the_old_page_of_clients_is_now_a_drawer_of_explore():
    app = healthy(moved("clients", **ADULT, client="doctorate", eps_local=0.07))
    assert "[doctorate]" in visible(app) and len(numbers(app)) == 4
    assert linked(app, "eps_local") == "0.07" and not ignored(app)


def test_the_old_page_of_reviews_is_now_compare(opened, monkeypatch):
    went = []
    monkeypatch.setattr("pages.shared.frame.st.switch_page", lambda page, **_: went.append(page))
    moved("review", **ADULT)
    moved("clients", **ADULT)
    assert went == ["pages/compare/page.py", "pages/explore/page.py"]


def test_links_of_earlier_versions_say_nothing_of_what_is_gone(opened):
    app = opened(**ADULT, order="gap", map_drawn=True, certainty_drawn=True, back=1)
    assert not ignored(app) and len(numbers(app)) == 4


# -------------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": "sp,simplex,inf,-inf", "notion": "<b>", "seed": 99, "eps_global": "nan"},
        {"options": "notion=sp&eps_local=nan", "large": "huge", "eps_local": "1e999"},
        {"own": "doctorate=nan;x=;=;", "seed": "-0", "large": "<b>", "picture": "film"},
        {"client": "<script>", "eps_global": "", "notion": "", "policy": "{" * 50},
        {"step4_": "0.1", "step9_anything": "x", "details": "nothing"},
    ],
)
def test_no_value_in_a_link_breaks_a_part(opened, wrong):
    app = opened(**ADULT | wrong)
    assert len(numbers(app)) == 4 and set(charts(app)) == {"explore-map", "explore-clients"}
    (line,) = ignored(app)
    assert all(name in line for name in wrong) and "one of ," not in line


def test_a_name_that_no_page_knows_is_told(opened):
    (line,) = ignored(opened(**ADULT, epslocal="0.1", utm_source="mail", step4_limit="0.1"))
    assert "epslocal" in line and "no setting of this name" in line and "step4" not in line


def test_the_line_goes_with_the_first_move(opened):
    app = opened(**ADULT, eps_local="many")
    assert ignored(app)
    app.select_slider(key="widget_eps_local").set_value(0.2).run()
    assert not ignored(healthy(app))


def test_every_setting_of_a_page_is_known_to_links():
    """Whoever adds a setting with a codec names it in `state.OF_PAGES` or `OF_STEPS`, too."""
    source = " ".join(path.read_text() for path in (TOP / "pages").rglob("*.py"))
    used = set(re.findall(r'Setting\(\s*"(\w+)",[^)]*?,', source)) - {"step"}
    assert {name for name in used if not name.startswith("step")} <= set(state.OF_PAGES)


def test_the_settings_popover_offers_what_the_view_needs(opened):
    app = opened(**ADULT)
    assert not [box for box in app.selectbox if box.key == "widget_region"]
    app.session_state["settings"] = True
    keys = {box.key for box in healthy(app.run()).selectbox}
    assert keys >= {f"widget_{name}" for name in ("notion", "region", "rates", "data", "seeds")}
    app.session_state["copy-link"] = True
    assert "eps_local=0.05" in visible_text(healthy(app.run()))
