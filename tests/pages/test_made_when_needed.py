"""What is the same is looked up, what is folded away is not made, figures need no checks."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from numpy.testing import assert_allclose
from pages.components.session.store import Store
from pages.components.shared import results
from pages.components.shared.drawing import Drawing

from fairfl_core.people.experiments import cross_fitted_of, list_experiments
from pages.shared.caching import forget_everything
from pages.shared.results import folded_of
from tests.pages.conftest import TOP, folds, unfolded, view_of
from tests.pages.reading import specs, values

ALGEBRA = """
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_info

AppTest.from_file("app.py", default_timeout=120).run()
print(*sorted(one["num_threads"] for one in threadpool_info()))
"""


def test_a_store_makes_once_keeps_what_is_used_and_lets_the_oldest_go():
    store, made = Store(2), []

    def result(key):
        return store.result(key, lambda: made.append(key) or key.upper())

    assert [result(key) for key in "abab"] == list("ABAB") and made == ["a", "b"]
    result("a")
    result("c")  # b was used longest ago
    assert [result(key) for key in "acb"] == list("ACB") and made == ["a", "b", "c", "b"]
    assert len(store) == 2
    store.clear()
    assert result("a") == "A" and made[-1] == "a" and len(store) == 1


def test_who_asks_for_what_is_being_made_waits_and_others_do_not():
    store, begun, go_on, made = Store(9), threading.Event(), threading.Event(), []

    def slowly():
        made.append("slow")
        begun.set()
        assert go_on.wait(20)
        return "slow"

    answers = []
    askers = [
        threading.Thread(target=lambda: answers.append(store.result("k", slowly)))
        for _ in range(3)
    ]
    for asker in askers:
        asker.start()
    assert begun.wait(20) and store.result("other", lambda: "quick") == "quick"
    go_on.set()
    for asker in askers:
        asker.join(20)
    assert answers == ["slow"] * 3 and made == ["slow"]


def test_what_could_not_be_made_is_tried_again():
    store = Store(2)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            store.result("k", lambda: 1 / 0)
    assert store.result("k", lambda: 1) == 1 and not store._making


def test_what_is_folded_away_is_not_made_until_it_is_opened(opened):
    app = opened(experiment="adult", seed=0)
    folded = folds(app)
    assert {"fold-floors", "fold-ratios", "fold-good", "fold-explore-clients"} <= set(folded)
    assert not any(folded.values())
    assert not app.dataframe
    assert not [slider for slider in app.select_slider if "Recognised" in slider.label]
    app.session_state["fold-explore-clients"] = True
    app.run()
    assert len(app.dataframe) == 1 and "gap, before" in app.dataframe[0].value
    unfolded(app)
    assert len(app.dataframe) >= 3
    assert [slider for slider in app.select_slider if "Recognised" in slider.label]


@pytest.mark.parametrize("page", ["", "scenarios", "learn"])
def test_plotly_would_take_every_figure_as_it_is(opened, page):
    app = opened(page, experiment="adult", seed=0, pinned="", **{"step": 8} if page else {})
    assert specs(app) or page == "learn"
    for spec in specs(app):
        taken = json.loads(go.Figure(spec).to_json())
        assert [trace["type"] for trace in taken["data"]] == [t["type"] for t in spec["data"]]


def test_a_drawing_is_what_plotlys_own_figure_would_be():
    numbers, places = np.array([0.5, np.nan, 2.0]), np.arange(3)
    drawing, figure = Drawing(), go.Figure()
    trace = {"x": numbers, "y": places, "mode": "markers", "marker": {"size": 9}, "name": "a"}
    drawing.add("scatter", **trace)
    figure.add_scatter(**trace)
    field = np.arange(6.0).reshape(2, 3)
    drawing.add("heatmap", z=field)
    figure.add_heatmap(z=field)
    wide = np.array([1, 1000])
    for one in (drawing, figure):
        one.update_layout(height=300, xaxis={"title": {"text": "x"}, "tickvals": wide})
        one.update_layout(xaxis={"range": [0, 1]})
    line = {"type": "line", "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    drawing.add_shape(**line)
    figure.add_shape(**line)
    ours, theirs = (json.loads(pio.to_json(one.to_dict())) for one in (drawing, figure))
    for mine, other in zip(ours["data"], theirs["data"], strict=True):
        assert set(mine) == set(other)
        for axis in {"x", "y", "z"} & set(other):
            assert_allclose(values(mine, axis), values(other, axis))
    layouts = ours["layout"], theirs["layout"]
    assert [list(values(one["xaxis"], "tickvals")) for one in layouts] == [[1, 1000]] * 2
    for one in layouts:
        del one["xaxis"]["tickvals"]
    assert layouts[0] == layouts[1]


def test_sets_of_one_model_do_not_push_out_people_of_several():
    """Forty visitors would each wait for them to be read again, and every worker hold its own."""
    adult = cross_fitted_of("adult")
    kept = folded_of(adult, 0)
    one_model = [name for name in list_experiments() if name != "public_coverage_sex_race"]
    asked = [folded_of(name, seed) for name in one_model for seed in range(10)]
    assert len(asked) > 48 and not any(asked)
    assert kept is not None and folded_of(adult, 0) is kept


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no rank of its own")
@pytest.mark.parametrize("large", [False, True])
def test_a_large_sets_work_lets_others_go_first(monkeypatch, large):
    monkeypatch.setattr(results, "heavy", lambda view: large)
    forget_everything()
    before, ranks = os.getpriority(os.PRIO_PROCESS, 0), []

    def work():
        results.study_of(view_of("adult", seed=0))
        ranks.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ranks == [max(before, 10) if large else before]


def test_linear_algebra_leaves_the_other_cores_to_other_visitors():
    found = subprocess.run(
        [sys.executable, "-c", ALGEBRA],
        cwd=TOP,
        env={name: value for name, value in os.environ.items() if "NUM_THREADS" not in name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(found.stdout.splitlines()[-1].split()) == {"1"}
