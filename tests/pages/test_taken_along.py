"""What is taken along: every number in the report, the card, the predictor and the table is the core's."""

import json
from dataclasses import replace
from io import BytesIO

import numpy as np
from pypdf import PdfReader

from fairfl_core.data import experiments
from fairfl_core.predictors.kinds import predictor_from_json, predictor_of
from fairfl_core.predictors.metadata import FittedOn
from fairfl_core.report.render import html_of, pdf_of
from pages.compare.files import (
    TAKE_ALONG,
    board_for,
    model_card,
    predictor_json,
)
from tests.pages.conftest import opened_all, view_of
from tests.pages.reading import gap, percent, tables, together

LINK = "https://fairfl.example/compare?experiment=adult&own=doctorate%3D0.1"


def test_explore_offers_each_file_once(opened):
    app = opened_all(opened("explore", experiment="adult", seed=0), "take")
    assert len(app.get("download_button")) == len(TAKE_ALONG)
    names = [file for _, _, file in TAKE_ALONG]
    assert len(set(names)) == len(names) and "fairfl-report.pdf" not in names  # Compare's


def test_the_model_cards_numbers(link, core):
    view = view_of(**link)
    (requested, _, _, _, groups, clients, settings), _ = tables(model_card(view, LINK))
    rows = {name: cells for name, *cells in requested}
    for column, people in ((1, "fitted"), (2, "unseen")):

        def mean(what, people=people):
            return core.mean(what, people)

        assert rows["People"][column] == f"{mean(lambda e: e.counts.n):,.0f}"
        assert rows["Accuracy, as it is"][column] == percent(mean(lambda e: e.before.accuracy))
        assert rows["Accuracy, fair"][column] == percent(mean(lambda e: e.accuracy))
        assert rows["Overall gap, as it is"][column] == gap(mean(lambda e: e.before.gaps.overall))
        overall = rows["Overall gap, fair"][column]
        assert overall.startswith(f"{gap(mean(lambda e: e.gaps.overall))} (95 %: ")
        local = mean(lambda e: e.gaps.local)
        worst = int(np.nanargmax(local))
        output = rows["Worst client's gap, fair"][column]
        assert output.startswith(f"{gap(local[worst])} (95 %: ")
        assert output.endswith(
            f"in {core.clients[worst]}, worst of {len(core.clients)}, "
            f"n = {mean(lambda e: e.counts.n_client)[worst]:,.0f}"
        )
        assert rows["Mean client's gap, fair"][column] == gap(mean(lambda e: e.gaps.local_mean))
    for a, row in enumerate(groups[1:]):
        confusion = [np.einsum("cayy->a", e.confusion)[a] for e in core.unseen]
        people = [e.counts.table.sum(axis=(0, 2, 3))[a] for e in core.unseen]
        assert row[:2] == [core.solutions[0].counts.groups[a], f"{np.mean(people):,.0f}"]
        assert row[3] == percent(np.mean(np.divide(confusion, people)))
        assert row[4] == percent(core.mean(lambda e: e.changed)[a])
    for row in clients[1:]:
        c = core.clients.index(row[0])
        assert row[1] == f"{core.mean(lambda e: e.counts.n_client)[c]:,.0f}"
        after = core.mean(lambda e: e.gaps.local)[c]
        few = core.mean(lambda e: e.people.min(axis=(1, 2)))[c] < 10
        assert row[5] == f"{after:.2f}" or after < 0.01 or few
    output = dict(settings)
    assert f"{view.eps_local:g} in each" in output["Asked"]
    assert output["Runs"] == ", ".join(map(str, view.seeds)) and output["Link"] == LINK


def test_names_in_files_are_text(monkeypatch):
    view = view_of("adult", seed=0, eps_local=0.1)
    experiment = experiments.open("adult")
    monkeypatch.setitem(experiment.manifest, "title", '<script>alert(1)</script> #pagebreak() "')
    monkeypatch.setattr("pages.compare.files.experiment_of", lambda name: experiment)
    board = board_for([view], link=LINK)
    for made in (html_of(board), model_card(view, LINK)):
        assert "<script>alert(1)" not in made and "&lt;script&gt;alert(1)" in made
    first = PdfReader(BytesIO(pdf_of(board))).pages[0].extract_text()
    assert together('<script>alert(1)</script> #pagebreak() "') in together(first)


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
    plain = {key: value for key, value in made.items() if key != "certificate"}
    assert plain == json.loads(json.dumps(expected.to_json()))
    assert made["certificate"]["fingerprint"]
    assert predictor_from_json(made).fitted_on == run
