"""Sweeps: equal trials, the protocol's choice, runs kept and shipped."""

import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from fairfl_core.data.experiments import list_methods, open_method
from fairfl_core.errors import InputError
from fairfl_core.evaluation.methods import method_rows
from fairfl_core.training.method import METHODS
from research.__main__ import app
from research.shipping import asdict_of, converged, ship_fedavg, ship_method
from research.sweep import TRIALS, Sweep, Sweeper, Trial, choose, sweep_of
from tests.training.tiny import RECIPE, as_adult

TRAINED = [name for name, target in METHODS.items() if target.startswith("research.")]


@pytest.mark.parametrize("experiment", ["adult", "public_coverage"])
@pytest.mark.parametrize("method", TRAINED)
def test_what_is_shipped_was_swept_as_it_is_declared(method, experiment):
    if method not in list_methods(experiment):
        pytest.skip("it is not shipped")
    manifest = open_method(experiment, method).manifest
    for notion, tuned in manifest["tuning"].items():
        sweep = sweep_of(method, experiment, notion)
        assert [trial["settings"] for trial in tuned["trials"]] == list(sweep.trials)
        shipped = {
            name: one["settings"]
            for name, one in manifest["settings"].items()
            if one["notion"] == notion and name != sweep.paper_name
        }
        swept = sweep.swept(tuned["chosen"])
        assert shipped == {name: asdict_of(sweep, setting) for name, setting in swept.items()}


def _tuned():
    """Methods that are shipped with a tuning, other people's programs too, by notion."""
    for experiment in ("adult", "public_coverage"):
        for method in list_methods(experiment):
            if method.startswith("declearn") or method in TRAINED:
                for notion in sorted(
                    {one["notion"] for one in _settings(experiment, method).values()}
                ):
                    yield pytest.param(
                        experiment, method, notion, id=f"{experiment}-{method}-{notion}"
                    )


def _settings(experiment, method):
    return open_method(experiment, method).settings


@pytest.mark.parametrize(("experiment", "method", "notion"), list(_tuned()))
def test_each_had_eight_trials_and_the_choice_is_made_on_validation_people(
    experiment, method, notion
):
    shipped = open_method(experiment, method)
    tuned = shipped.manifest["tuning"][notion]
    assert len(tuned["trials"]) == TRIALS
    assert "validation people" in shipped.manifest["protocol"]
    trials = [Trial(**trial) for trial in tuned["trials"]]
    answers = open_method(experiment, "fedavg").answered(notion, "validation")
    right = [_right(answers[seed].confusion) for seed in tuned["seeds"]]
    chosen = choose(trials, float(np.mean(right)))
    assert chosen.settings == tuned["chosen"]
    # Its figures are those of its validation people, counted again; of test people they differ.
    (name,) = (
        name
        for name, one in shipped.settings.items()
        if (one["notion"], one["role"]) == (notion, "chosen")
    )
    for split, same in (("validation", True), ("test", False)):
        by_seed = shipped.answered(name, split)
        again = np.mean([_right(by_seed[seed].confusion) for seed in tuned["seeds"]])
        assert np.isclose(again, chosen.accuracy, rtol=0, atol=1e-9) == same


def _right(table):
    return np.einsum("cayy->", table) / table.sum()


def test_the_shell_names_the_methods_there_are():
    refused = CliRunner().invoke(app, ["sweep", "adult", "--method", "nobody"])
    assert isinstance(refused.exception, InputError)
    assert re.search('no method "nobody"; .*fairfed.*ours_exact', str(refused.exception))


def test_the_fairest_trial_near_fedavg_is_chosen():
    fair, fairer, useless = (
        Trial({"name": name}, *figures)
        for name, *figures in (
            ("fair", 0.82, 0.02, 0.05),
            ("fairer", 0.80, 0.01, 0.02),
            ("useless", 0.70, 0.0, 0.0),
        )
    )
    assert choose([fair, fairer, useless], 0.85) is fairer
    assert choose([fair, fairer, useless], 0.87) is fair
    assert choose([fair, fairer, useless], 0.95) is fair  # none is near: the most accurate


def test_runs_are_kept_go_on_from_fedavg_and_are_shipped(tmp_path):
    people, recipe = as_adult(), replace(RECIPE, batch=64, rounds=2)
    trials = [{"strength": 0.5}, {"strength": 1.0}]
    sweep = Sweep(
        "reweighing",
        "sp",
        1,
        trials,
        "strength",
        {"": (0.5, 1.0)},
        paper=trials[1],
        paper_rounds=1,
    )
    lines = []
    first = Sweeper(people, recipe, tmp_path / "runs", on_run=lines.append)
    options = {"seeds": [0], "folder": tmp_path / "methods"}
    ship_fedavg(first, people, recipe, ["sp"], **options)
    shipped = ship_method(first, people, recipe, [sweep], tuning_seeds=[0], **options)
    assert len(lines) == 4  # FedAvg, two settings that are the trials too, and the paper's
    assert f": {first.fedavg(0).seconds.sum():.1f} s, validation" in lines[0]  # of all rounds
    again = Sweeper(people, recipe, tmp_path / "runs", on_run=lines.append)
    same = ship_method(again, people, recipe, [sweep], tuning_seeds=[0], **options)
    assert len(lines) == 4
    assert same.manifest == shipped.manifest
    kept, paper = first.run(sweep, trials[1], 0), first.paper(sweep, 0)
    assert kept.loss[0] < paper.loss[0]  # it went on from a model that had learnt
    assert converged(kept) == 1
    assert set(shipped.settings) == {"sp strength=0.5", "sp strength=1", "sp paper"}
    assert shipped.manifest["tuning"]["sp"]["chosen"] in trials
    rows = {row.setting: row for row in method_rows("recipe", tmp_path / "nowhere")}
    assert not rows
    rows = {row.setting: row for row in method_rows("tiny", tmp_path / "methods")}
    right = np.einsum("cayy->", kept.counts(1)) / kept.counts(1).sum()
    assert rows["sp strength=1"].accuracy == pytest.approx([right])
    assert rows["sp strength=1"].rounds > rows["sp paper"].rounds
    assert rows["sp strength=1"].bytes_per_client > rows["sp paper"].bytes_per_client
