"""One view goes whole through every page, pin and link: what was lost in pieces before."""

import re

import pytest
from pages.components.session import state

from tests.pages.conftest import TOP, healthy, linked


def pin_table(app):
    return next(t.value for t in app.table if any("as set now" in c for c in t.value.columns))


def shown_worst(app):
    return next(metric for metric in app.metric if metric.label.startswith("Worst client"))


@pytest.mark.parametrize(
    "settings",
    [
        {"region": "exact"},
        {"region": "exact", "rates": "scores", "own": "doctorate=0.2"},
        {"region": "kernel", "rates": "shrunk", "own": "no doctorate=0.2"},
    ],
)
def test_right_after_pinning_a_is_b(opened, settings):
    app = opened(experiment="adult", **settings)
    app.button(key="keep").click().run()
    table = pin_table(healthy(app))
    a, b = table.columns
    assert list(table[a]) == list(table[b])


def test_a_pin_in_a_link_is_the_view_that_was_pinned(opened):
    app = opened(experiment="adult", region="exact", seed=0, own="doctorate=0.2", eps_local=0.2)
    app.button(key="keep").click().run()
    before = pin_table(healthy(app)).iloc[:, 0].tolist()
    link = {name: linked(app, name) for name in app.query_params} | {"own": "", "region": "kernel"}
    again = opened(**{name: text for name, text in link.items() if text})
    assert pin_table(again).iloc[:, 0].tolist() == before
    assert pin_table(again).iloc[:, 1].tolist() != before


def test_there_is_one_worst_client_on_the_screen(opened):
    app = opened(experiment="public_coverage")
    app.button(key="keep").click().run()
    table = pin_table(healthy(app))
    row = next(name for name in table.index if name.startswith("Worst client"))
    assert all(shown_worst(app).value in cell for cell in table.loc[row])


def test_clients_of_ones_own_are_solved_in_the_exact_region(opened):
    app = opened("scenarios", experiment="adult", seed=0, region="exact")
    assert not [box.value for box in app.info if "need" in box.value]
    assert "size-possible" not in [button.key for button in app.button]
    assert any(text.value.startswith("##### Allowing") for text in app.markdown)


def test_rates_reach_scenarios_and_privacy(opened):
    said = {"scenarios": set(), "privacy": set()}
    for rates in ("labels", "shrunk"):
        for page, start in (("scenarios", "##### Allowing"), ("privacy", "#### At a privacy")):
            app = opened(page, experiment="adult", seed=0, rates=rates, k=2, draws=20)
            said[page].add(next(t.value for t in app.markdown if t.value.startswith(start)))
    assert [len(different) for different in said.values()] == [2, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"regions_drawn": "yes"},
        {"map_drawn": "7"},
        {"clicked": "ab"},
        {"options": "sp,simplex,inf,-inf"},
        {"options": "notion=sp&eps_local=nan"},
        {"order": "by luck"},
        {"regions_drawn": "yes", "order": "x", "notion": "<b>", "seed": 99},
        {"large": "huge"},
        {"eps_global": "nan"},
        {"eps_local": "1e999"},
        {"own": "doctorate=nan;x=;=;"},
        {"seed": "-0"},
        {"welcome": "<b>"},
        {"regions_drawn": ""},
        {"eps_global": "", "notion": ""},
        {"step4_": "0.1", "step9_anything": "x"},
    ],
)
def test_no_value_in_a_link_breaks_a_part(opened, wrong):
    app = opened(**{"experiment": "adult", "seed": 0} | wrong)
    assert len(app.metric) == 4
    lines = [line.value for line in app.caption if line.value.startswith("Ignored in the link")]
    # The map of few clients is always drawn.
    known = [name for name in wrong if name != "map_drawn"]
    assert len(lines) == bool(known)
    assert all(name in lines[0].replace("\\", "") for name in known)


def test_a_name_that_no_page_knows_is_told(opened):
    app = opened(experiment="adult", seed=0, epslocal="0.1", utm_source="mail", step4_limit="0.1")
    (line,) = [line.value for line in app.caption if "Ignored" in line.value]
    assert "epslocal" in line and "no setting of this name" in line and "step4" not in line


def test_every_setting_of_a_page_is_known_to_links():
    """Whoever adds a setting with a codec names it in `state.OF_PAGES` or `OF_STEPS`, too."""
    source = " ".join(path.read_text() for path in (TOP / "pages").rglob("*.py"))
    used = set(re.findall(r'(?:Setting|_one)\(\s*"(\w+)"', source))
    assert {name for name in used if not name.startswith("step") or name == "step"} == set(
        state.OF_PAGES
    )
    lesson = (TOP / "pages/components/learn").rglob("*.py")
    steps = {name for path in lesson for name in re.findall(r'"(step\d\w+)"', path.read_text())}
    assert steps == set(state.OF_STEPS)


def test_the_line_on_what_was_ignored_goes_with_the_first_move(opened):
    app = opened(experiment="adult", seed=0, eps_local="many")
    assert [line for line in app.caption if "eps\\_local = “many”" in line.value]
    app.selectbox(key="widget_notion").set_value("eo").run()
    assert not [line for line in app.caption if "Ignored" in line.value]
