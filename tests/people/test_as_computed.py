"""People counted, scored, drawn anew, calibrated and kept, as they were approved; see `helpers/approved.py`."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.people import experiments
from fairfl_core.people.calibration import Calibration, calibration_table
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.fold_rows import FoldRows
from fairfl_core.people.folded import FoldedPeople, fitted_people, unseen_people
from fairfl_core.people.grouping import Grouping, crossed_name, group_columns
from fairfl_core.people.method_answers import open_method
from fairfl_core.people.ranks import Ranks
from fairfl_core.people.resample import (
    client_names,
    even_shares,
    largest_size,
    redraw,
    redraw_folded,
    redraw_people,
)
from fairfl_core.people.score_kinds import SCORE_KINDS, as_probabilities, of_one_probability
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.people.shares import normal_quantile, wilson
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.cross_fitted import COLUMNS, SCORES, cross_fitted
from tests.helpers.small import CROSSED, people, save_experiments

APPROVED = Path(__file__).with_name("as_computed")
TABLE = cross_fitted(fit=90, test=20, folds=3)


def counted():
    counts = people().counts
    four = people(2, 4).counts
    return {
        "counts": counts.to_json(),
        "n": [counts.n, counts.n_client, counts.n_label, counts.model_accuracy],
        "some": counts.select_clients(["south", "west"]).to_json(),
        "by sex": four.coarsen("sex"),
        "by age": four.coarsen("age"),
        "of lists": replace(counts, clients=[1, 2, 3, 4], groups=["a", "b"]).to_json(),
        "kinds": [type(replace(counts, groups=["a", "b"]).groups).__name__],
        "grouping": CROSSED.to_json(),
        "of names": Grouping.of_names(["a", "b"], ["x · 1", "y · 2"]),
        "named": crossed_name(["man", "old"]),
        "columns": [group_columns("a,b", ["a", "b"]), group_columns("a,b", ["a,b", "c"])],
        "fold": ClientCounts.from_table(
            TABLE[TABLE["split"] == "fit"], prediction="said", **COLUMNS
        ).to_json(),
    }


def answered():
    made = people()
    lottery = np.random.default_rng(0).dirichlet(np.ones(2), (4, 2, 2))
    chances = np.stack([1 - made.scores[:, 1] ** 2, made.scores[:, 1] ** 2], axis=1)
    return {
        "by lottery": vars(made.under_lottery(lottery)),
        "by counts": vars(made.counts.under_lottery(lottery)),
        "by chances": vars(made.under_chances(lambda one: chances)),
        "cell": made.cell,
    }


def calibrated():
    fitted = Calibration.fit(people())
    of_three = Calibration.fit(people(3))
    some = slice(0, 40)
    made = people()
    return {
        "knots": fitted.to_json(),
        "three": of_three.to_json(),
        "applied": fitted.apply(made.client[some], made.group[some], made.scores[some]),
        "table": calibration_table(made),
        "table of well": calibration_table(made.calibrated, "well"),
        "three labels": calibration_table(people(3), "cold"),
        "kept": made.calibrated.counts.table,
    }


def drawn():
    counts, shares = people().counts, (0.2, 0.5, 0.75)
    told = {
        "names": client_names(shares, "women"),
        "even": [even_shares(shares, 40), even_shares((0.33, 0.5), 7)],
        "largest": [largest_size(counts, shares), largest_size(people(3).counts, (0.1, 0.9))],
    }
    for seed in (0, [2, 3]):
        told[f"counts {seed}"] = redraw(counts, shares, 60, seed=seed).to_json()
        other = redraw_people(people(), shares, 60, seed=seed)
        told[f"people {seed}"] = [other.counts.table, other.scores, other.clients]
    return told


def ranked():
    made = people()
    ranks = Ranks(made.cell, made.label, made.said, made.scores[:, 1], 8)
    cell = np.array([0, 1, 2, 5])
    place = ranks.places(cell, np.array([0.2, 0.5, 0.5, 0.9]), np.array([True, True, False, True]))
    return {"places": place, "cells": ranks.cells_at(place), "between": ranks.between(place)}


def numbers():
    rates, n = np.array([0.0, 0.2, 0.5, 1.0]), np.array([3.0, 10.0, 100.0, 0.0])
    scores = np.array([[0.5, 2.0, -1.0], [3.0, 1.0, 4.0]])
    return {
        "quantiles": [normal_quantile(p) for p in (0.5, 0.9, 0.975)],
        "wilson": wilson(rates, n, 1.96),
        "kinds": {kind: as_probabilities(np.abs(scores), kind) for kind in SCORE_KINDS[1:]},
        "one": [
            of_one_probability(np.array([0.1, 0.6, 0.9]), "ill", labels, threshold)
            for labels in (("well", "ill"), ("ill", "well"))
            for threshold in (0.5, 0.7)
        ],
    }


def folded(folder):
    save_experiments(folder)
    told = {}
    for name in ("tiny", "tiny_cf"):
        opened = experiments.open(name, folder)
        manifest = {k: v for k, v in opened.manifest.items() if k != "scores"}
        told[name] = manifest
        told[f"{name}, counted"] = opened.counts(4, opened.fit_split).to_json()
        told[f"{name}, fitted"] = fitted_people(opened, 1).counts.to_json()
    test = unseen_people(opened, 4)
    told["unseen"] = [test.folds, test.mean_counts.table, test.counts.table]
    told["drawn"] = redraw_folded(test, (0.4, 0.6), 20, seed=3).mean_counts.table
    tests = TABLE[TABLE["split"] == "test"]
    brought = FoldedPeople.from_table(tests, scores=SCORES, **COLUMNS)
    told["brought"] = [brought.mean_counts.table, [one.scores for one in brought.by_fold]]
    return told


def refused():
    """Sentences for what cannot be taken in."""
    made = people()
    counts = made.counts
    dealt = FoldRows.of(TABLE, client="site", row_id="id", fold="fold")
    everybody = np.ones(len(TABLE), bool)
    of_counts = counts.to_json()
    tries = {
        "label": lambda: replace(counts, favourable="dead"),
        "shape": lambda: replace(counts, table=counts.table[:, :1]),
        "below": lambda: replace(counts, table=counts.table - 100),
        "half": lambda: replace(counts, table=counts.table + 0.5),
        "nobody": lambda: replace(
            counts, table=counts.table * np.array([0, 1, 1, 1])[:, None, None, None]
        ),
        "clients": lambda: counts.select_clients(["moon"]),
        "coarsen": lambda: counts.coarsen("sex"),
        "grouping": lambda: people(2, 4).counts.coarsen("race"),
        "columns": lambda: group_columns("a,a", ["a"]),
        "scores": lambda: replace(made, scores=made.scores * 2).calibrated,
        "shares": lambda: redraw(counts, (0.2, 1.2), 10, seed=0),
        "no shares": lambda: redraw(counts, (), 10, seed=0),
        "size": lambda: redraw(counts, (0.2, 0.5), 100_000, seed=0),
        "size 0": lambda: redraw(counts, (0.2, 0.5), 0, seed=0),
        "groups": lambda: redraw(people(2, 4).counts, (0.2, 0.5), 10, seed=0),
        "fitted twice": lambda: dealt.fitted(everybody),
        "apart": lambda: dealt.check_apart(everybody, everybody),
        "no score": lambda: ScoredPeople.from_table(TABLE, scores=["score_no"], **COLUMNS),
        "neither": lambda: ClientCounts.from_table(TABLE, **COLUMNS),
        "counts": lambda: ClientCounts.from_json(of_counts | {"format": "fairfl-counts/2"}),
        "key": lambda: ClientCounts.from_json(of_counts | {"more": 1}),
        "no list": lambda: ClientCounts.from_json([]),
        "folds": lambda: ClientCounts.from_json(of_counts | {"folds": 0}),
        "noisy": lambda: ClientCounts.from_json(of_counts | {"noisy": 2}),
    }
    return {name: refusal(attempt) for name, attempt in tries.items()}


PARTS = (counted, answered, calibrated, drawn, ranked, numbers, refused)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_people_are_what_was_approved(part):
    check(APPROVED / f"{part.__name__}.txt", tell(**part()))


def test_experiments_are_what_was_approved(tmp_path):
    check(APPROVED / "experiments.txt", tell(**folded(tmp_path)))


def test_experiments_are_refused_as_was_approved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_experiments(Path())
    manifest, scores = Path("tiny/manifest.json"), Path("tiny/scores.parquet")
    value, data = json.loads(manifest.read_text("utf-8")), scores.read_bytes()
    shown = {"none": refusal(lambda: experiments.open("moon", "."))}
    for name, change in {
        "format": {"format": "moon"},
        "seeds": {"seeds": [1]},
        "splits": {"splits": ["a"]},
        "labels": {"labels": ["one"]},
        "protocol": {"protocol": {"name": "moon"}},
    }.items():
        manifest.write_text(json.dumps(value | change), "utf-8")
        shown[name] = refusal(lambda: experiments.open("tiny", "."))
    manifest.write_text(json.dumps({"format": value["format"]}), "utf-8")
    shown["few"] = refusal(lambda: experiments.open("tiny", "."))
    manifest.write_text(json.dumps(value), "utf-8")
    scores.write_bytes(data[:-9])
    shown["cut"] = refusal(lambda: experiments.open("tiny", "."))
    scores.unlink()
    shown["gone"] = refusal(lambda: experiments.open("tiny", "."))
    scores.mkdir()
    shown["a folder"] = refusal(lambda: experiments.open("tiny", "."))
    opened = experiments.open("tiny_cf", ".")
    shown["seed"] = refusal(lambda: opened.counts(9, "test"))
    shown["split"] = refusal(lambda: opened.counts(1, "moon"))
    shown["method"] = refusal(lambda: open_method("tiny", "moon", "."))
    shown["listed"] = experiments.list_experiments(".", protocol=None)
    text = re.sub(r"[0-9a-f]{12}", "...", tell(**shown))
    check(APPROVED / "experiments refused.txt", text)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("people"))
