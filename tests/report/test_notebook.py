"""What results show of themselves in a notebook, as figures, tables and plain numbers."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from fairfl_core import ClientCounts, FairnessProgram, Predictor, evaluate, frontier
from fairfl_core.evaluation.study import run_study, summarise
from fairfl_core.explore import charts
from tests.helpers.scored import scored_network

EVIL = '<script>alert("x")</script>&amp;'
PEOPLE = scored_network(3, 2, 2, seed=2)
COUNTS = ClientCounts(PEOPLE.counts.table, (EVIL, "b", "c"), ("<b>f", "m"), ("no", "yes<i>"), "no")
SOLUTION = FairnessProgram(COUNTS, "eo").solve(0.02, 0.05)
JUDGED = evaluate(Predictor.from_solution(SOLUTION), COUNTS)
MAP = frontier(FairnessProgram(COUNTS, "eo"), eps_local=[0.0, 0.1, 1.0], eps_global=[0.02, 1.0])
AFTER = ("after", "after, may be chance", "above the limit")


class Tables(HTMLParser):
    """The cells of a page's tables, and every tag there is."""

    def __init__(self):
        super().__init__()
        self.tags, self.rows, self.opened = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.opened.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag  # whole: every tag is closed in its turn

    def handle_data(self, data):
        if {"td", "th"} & set(self.opened):
            self.rows[-1][-1] += data


def read(one):
    page = Tables()
    page.feed(one._repr_html_())
    assert page.opened == []
    assert page.tags <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    return page.rows


@pytest.mark.parametrize(
    "one", [COUNTS, SOLUTION, JUDGED, MAP], ids=lambda one: type(one).__name__
)
def test_html_is_whole_and_names_are_only_text(one):
    rows = read(one)
    if one is not MAP:
        assert rows[1][0] == EVIL and len(rows) == 4
    assert len({len(row) for row in rows}) == 1


def test_html_says_the_cores_numbers():
    rows = read(SOLUTION)
    for c, row in enumerate(rows[1:]):
        assert row[1] == f"{COUNTS.n_client[c]:,.0f}"
        assert float(row[4]) == pytest.approx(SOLUTION.gaps.local[c], abs=6e-4)
        assert float(row[3]) == pytest.approx(JUDGED.before.gaps.local[c], abs=6e-4)
    for c, row in enumerate(read(JUDGED)[1:]):
        assert float(row[5]) == pytest.approx(JUDGED.gaps.local[c], abs=6e-4)
        assert float(row[3].split()[0]) == pytest.approx(100 * JUDGED.client_accuracy[c], abs=0.06)
    for row, wanted in zip(read(MAP)[1:], MAP.accuracy, strict=True):
        shown = [float(cell.split()[0]) for cell in row[1:]]
        np.testing.assert_allclose(shown, 100 * wanted, atol=0.06)
    assert JUDGED.verdict.word in JUDGED._repr_html_()


def test_many_clients_are_cut_and_said():
    many = ClientCounts(
        np.full((40, 2, 2, 2), 5), tuple(f"c{k}" for k in range(40)), ("f", "m"), ("no", "yes")
    )
    for one in (many, FairnessProgram(many, "eo").solve(0.1, 0.1)):
        assert len(read(one)) == 16 and "25 more rows: to_frame()" in one._repr_html_()


def test_frames_hold_the_numbers():
    frame = COUNTS.to_frame()
    again = frame.set_index(["client", "group", "label", "prediction"])["n"]
    assert again[(EVIL, "m", "no", "yes<i>")] == COUNTS.table[0, 1, 0, 1]
    assert frame["n"].sum() == COUNTS.n
    frame = SOLUTION.to_frame()
    np.testing.assert_allclose(frame["gap"], SOLUTION.gaps.local)
    np.testing.assert_allclose(frame["gap_before"], JUDGED.before.gaps.local)
    np.testing.assert_array_equal(frame["price"], SOLUTION.price_local)
    pd.testing.assert_frame_equal(JUDGED.to_frame(), JUDGED.client_table())
    frame = MAP.to_frame().set_index(["eps_local", "eps_global"])
    assert frame.loc[(0.1, 0.02), "accuracy"] == MAP.accuracy[1, 0] and len(frame) == 6


def test_numbers_go_out_as_plain_dicts():
    for one in (SOLUTION, JUDGED):
        numbers = one.metrics()
        assert all(type(value) is float for value in numbers.values())
        assert numbers["accuracy"] == pytest.approx(SOLUTION.accuracy)
        assert numbers["gap_global_before"] == pytest.approx(JUDGED.before.gaps.overall)
        assert re.fullmatch(r"[\w ]+", " ".join(numbers))
    for one in (COUNTS, SOLUTION, JUDGED, MAP):
        assert json.loads(json.dumps(one.to_json(), allow_nan=False))
    assert MAP.to_json()["accuracy"] == MAP.accuracy.tolist()


def test_figures_draw_what_the_page_draws():
    study = run_study([(0, FairnessProgram(COUNTS, "eo"))], [COUNTS], 0.02, 0.05)
    columns, verdict = study.client_columns(unseen=True), summarise(study).verdict
    page = charts.gaps(columns, verdict, COUNTS.groups)
    drawn = JUDGED.plot()
    by_name = {trace.name: trace for trace in drawn.data}
    wanted = {key: [one[key] for one in page["clients"]] for key in page["clients"][0]}
    np.testing.assert_allclose(by_name["before"].x, wanted["before"])
    after = [by_name[name] for name in AFTER if name in by_name]
    places = {int(y): x for trace in after for x, y in zip(trace.x, trace.y, strict=True)}
    np.testing.assert_allclose([places[c] for c in range(3)], wanted["after"])
    for name, key in zip(AFTER[1:], ("within", "above"), strict=True):
        rows = by_name[name].y if name in by_name else []
        assert list(rows) == list(np.flatnonzero(wanted[key]))
    interval = np.reshape(by_name["95 %"].x, (3, 3))
    np.testing.assert_allclose(interval[:, :2].T, [wanted["low"], wanted["high"]])
    allowed = [shape.x1 for shape in drawn.layout.shapes if shape.type == "rect"]
    assert allowed == wanted["asked"] and drawn.layout.xaxis.title.text.startswith("gap between")
    solved = {trace.name: trace for trace in SOLUTION.plot().data}
    np.testing.assert_allclose(solved["after"].x, SOLUTION.gaps.local, atol=1e-4)
    ticks = SOLUTION.plot().layout.yaxis.ticktext
    assert "<script>" not in ticks[0] and "&lt;script>" in ticks[0]


def test_maps_draw_what_the_page_draws():
    page, heat = charts.map_data(MAP, (0.02, 0.1)), MAP.plot(here=(0.02, 0.1))
    np.testing.assert_allclose(heat.data[0].z, page["accuracy"])
    assert (heat.data[0].zmin, heat.data[0].zmax) == (page["low"], page["high"])
    edges = sum(trace.name == "free of cost" for trace in heat.data)
    assert edges == bool(page["free"])
    mark = heat.data[-1]
    assert [mark.x[0], mark.y[0]] == page["here"] == [0, 1] and mark.name == "you are here"


def test_a_client_without_a_gap_is_shown_as_none():
    table = COUNTS.table.copy()
    table[0, 0] = 0  # one of two groups: nothing to compare
    few = ClientCounts(table, COUNTS.clients, COUNTS.groups, COUNTS.labels)
    solution = FairnessProgram(few, "eo").solve(0.05, 0.05)
    judged = evaluate(Predictor.from_solution(solution), few)
    assert (read(judged)[1][5], read(solution)[1][4]) == ("none", "none")
    assert np.isnan(solution.to_frame()["gap"][0]) and judged.plot().data and solution.plot().data
