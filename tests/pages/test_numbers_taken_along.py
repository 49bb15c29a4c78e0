"""Every number in the report, the model card and the predictor's file is the core's own."""

import json
import re
from dataclasses import replace
from io import BytesIO

import numpy as np
from pages.components.shared.downloads import pdf_now, predictor_json
from pages.components.shared.model_card import model_card
from pages.components.shared.report import html_report
from pages.components.shared.review import board_for
from pypdf import PdfReader

from fairfl_core.people import experiments
from fairfl_core.predictors.heading import FittedOn
from fairfl_core.predictors.load import predictor_from_json, predictor_of
from fairfl_core.review import Review
from tests.pages.conftest import view_of
from tests.pages.reading import HEADINGS, check_clients, gap, percent, tables


def test_the_reports_numbers(link, core):
    view = view_of(**link)
    found, text = tables(html_report(view, ""))
    options, _, _, _, settings, _, clients, *_ = found  # recognition and rates: see test_harm
    names, *cells = options
    under_review = next(k for k, name in enumerate(names) if "under review" in name)
    mine = {row[0]: row[under_review] for row in cells}
    assert mine["Accuracy, unseen people"] == percent(core.mean(lambda e: e.accuracy))
    assert mine["Overall gap (95 %)"].startswith(gap(core.mean(lambda e: e.gaps.overall)))
    told = dict(settings)
    assert float(told["Gap allowed overall"]) == view.eps_global
    assert float(told["Gap allowed inside each client"]) == view.eps_local
    n = [core.mean(lambda e: e.counts.n, people) for people in ("fitted", "unseen")]
    assert told["People (fitted on, unseen)"] == f"{n[0]:,.0f} and {n[1]:,.0f}"
    assert told["Runs"] == ", ".join(map(str, view.seeds))
    header, *rows = clients
    order = [core.clients.index(row[0]) for row in rows]
    assert sorted(order) == list(range(len(core.clients)))
    columns = {
        HEADINGS.get(name, name): [
            {"none": np.nan, "no limit": 1.0}.get(row[k]) or float(row[k].replace(",", ""))
            for row in rows
        ]
        for k, name in enumerate(header)
        if k
    }
    check_clients(columns, core, order, 3)
    after = core.mean(lambda e: e.gaps.local)[order]
    assert np.all(np.diff(after[~np.isnan(after)]) <= 0)
    assert f"→ {percent(core.mean(lambda e: e.accuracy))}" in text


def test_the_model_cards_numbers(link, core):
    view = view_of(**link)
    (requested, _, _, _, groups, clients, _), _ = tables(model_card(view, ""))
    rows = {name: cells for name, *cells in requested}

    def interval(low, high):
        return f"(95 %: {gap(low)} to {gap(high)})"

    for column, people in ((1, "fitted"), (2, "unseen")):

        def mean(what, people=people):
            return core.mean(what, people)

        assert rows["People"][column] == f"{mean(lambda e: e.counts.n):,.0f}"
        assert rows["Accuracy, the model's own"][column] == percent(
            mean(lambda e: e.before.accuracy)
        )
        assert rows["Accuracy, fair"][column] == percent(mean(lambda e: e.accuracy))
        assert rows["Overall gap, the model's own"][column] == gap(
            mean(lambda e: e.before.gaps.overall)
        )
        limits = [mean(lambda e, i=i: e.global_interval[i]) for i in (0, 1)]
        assert rows["Overall gap, fair"][column] == (
            f"{gap(mean(lambda e: e.gaps.overall))} {interval(*limits)}"
        )
        local = mean(lambda e: e.gaps.local)
        worst = int(np.nanargmax(local))
        limits = [mean(lambda e, w=worst, i=i: e.interval_at_once(w)[i]) for i in (0, 1)]
        assert rows["Worst client's gap, fair"][column] == (
            f"{gap(local[worst])} {interval(*limits)} in {core.clients[worst]}, "
            f"worst of {len(core.clients)}, "
            f"n = {mean(lambda e: e.counts.n_client)[worst]:,.0f}"
        )
        assert rows["Mean client's gap, the model's own"][column] == gap(
            mean(lambda e: e.before.gaps.local_mean)
        )
        assert rows["Mean client's gap, fair"][column] == gap(mean(lambda e: e.gaps.local_mean))
    for a, row in enumerate(groups[1:]):
        confusion = [np.einsum("cayy->a", e.confusion)[a] for e in core.unseen]
        people = [e.counts.table.sum(axis=(0, 2, 3))[a] for e in core.unseen]
        assert row[0] == core.solutions[0].counts.groups[a]
        assert row[1] == f"{np.mean(people):,.0f}"
        assert row[3] == percent(np.mean(np.divide(confusion, people)))
        assert row[4] == percent(core.mean(lambda e: e.changed)[a])
    for row in clients[1:]:
        c = core.clients.index(row[0])
        assert row[1:] == [
            f"{core.mean(lambda e: e.counts.n_client)[c]:,.0f}",
            gap(core.mean(lambda e: e.before.gaps.local)[c]),
            gap(core.mean(lambda e: e.gaps.local)[c]),
            f"{gap(core.mean(lambda e: e.local_interval[0])[c])} to "
            f"{gap(core.mean(lambda e: e.local_interval[1])[c])}",
            gap(core.mean(lambda e: e.noise_floor)[c]),
        ]


def test_the_pdf_has_two_pages_before_the_annex_with_the_pages_numbers(link, core):
    """Its text is read back from the file: every option's cells, and every client's in the annex."""
    view = view_of(**link)
    board = board_for(Review(""), view)
    pages = [_together(page.extract_text()) for page in PdfReader(BytesIO(pdf_now(view))).pages]
    first, second, *annex = pages
    assert "Annex" not in first + second and annex[0].startswith("Annex")
    for column in board.columns:
        for cell in (column.title, *column.cells):
            assert _together(cell) in first + second, cell
    for row in (*board.recognition.rows, *board.behind.rows):
        assert all(_together(cell) in second for cell in row), row
    for table in board.annex:
        for row in table.rows:
            assert "".join(map(_together, row)) in "".join(annex) or len(row[-1]) > 60, row
    mine = next(column for column in board.columns if column.under_review)
    cells = dict(zip(board.rows, mine.cells, strict=True))
    assert cells["Accuracy, unseen people"] == percent(core.mean(lambda e: e.accuracy))
    assert cells["Overall gap (95 %)"].startswith(gap(core.mean(lambda e: e.gaps.overall)))
    assert len({column.cells[2:6] for column in board.columns}) > 1  # neighbours differ


def _together(text):
    """Without what a line's end does to words."""
    return re.sub(r"[\s\u00ad\u2060]", "", text)


def test_the_predictor_taken_along_is_the_first_runs(link, core):
    """And it says so: of which run, of whose people."""
    view = view_of(**link)
    experiment = experiments.open(view.data)
    run = FittedOn(
        experiment=view.data,
        sha256=experiment.manifest["scores"]["sha256"],
        seed=view.seeds[0],
        split=experiment.fit_split,
    )
    expected = replace(predictor_of(core.solutions[0]), fitted_on=run)
    made = json.loads(predictor_json(view))
    assert made == json.loads(json.dumps(expected.to_json()))
    assert predictor_from_json(made).fitted_on == run
