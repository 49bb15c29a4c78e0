"""Methods side by side: files that hold what was answered, frontiers at equal held-out gaps."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fairfl_core.data import experiments
from fairfl_core.data.experiments import Answered, list_methods, open_method
from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.methods import (
    GAPS,
    Difference,
    MethodFrontier,
    difference,
    frontier_of,
    method_experiments,
    method_rows,
    rows_of,
)
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from research.__main__ import app
from research.post_processed import POST_PROCESSED, answers_of
from research.shipping import save_method

KEYS = [
    "experiment",
    "method",
    "setting",
    "seeds",
    "accuracy",
    "accuracy_sd",
    "gap_global",
    "gap_local_mean",
    "gap_local_worst",
    "gap_local_debiased",
    "rounds",
    "seconds",
    "bytes_per_client",
]


def manifest(settings, **more):
    names = {"clients": ["x", "y"], "groups": ["a", "b"], "labels": ["no", "yes"]}
    result = {name: {"notion": "sp", "role": "swept", "rounds": 3} for name in settings}
    return {
        "method": "made",
        "title": "Made",
        "experiment": "tiny",
        "favourable": "yes",
        "settings": result,
        **names,
        **more,
    }


def tables(seed, drawn=False):
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 30, (2, 2, 2, 2)).astype(float)
    if not drawn:
        return Answered(people, people)
    chance = rng.random(people.shape)
    whole = np.stack([people[..., 0] * chance[..., 0], people[..., 0] * (1 - chance[..., 0])], -1)
    return Answered(whole, whole * chance)


@pytest.mark.parametrize("drawn", [False, True])
def test_what_is_saved_is_what_is_read(tmp_path, drawn):
    answers = {
        name: {
            seed: {
                split: tables([seed, k, drawn], drawn)
                for k, split in enumerate(("validation", "test"))
            }
            for seed in (0, 3)
        }
        for name in ("sp weak", "sp strong")
    }
    saved = save_method(manifest(answers), answers, tmp_path)
    assert saved.manifest["drawn"] == drawn
    assert list_methods("tiny", tmp_path) == ["made"]
    for name, by_seed in answers.items():
        read = saved.answered(name, "test")
        assert list(read) == [0, 3]
        for seed in read:
            assert read[seed].confusion == pytest.approx(by_seed[seed]["test"].confusion, rel=1e-6)
            assert read[seed].squares == pytest.approx(by_seed[seed]["test"].squares, rel=1e-6)
    with pytest.raises(InputError, match="has no setting 'eo'"):
        saved.answered("eo")
    with pytest.raises(InputError, match='no method "other"'):
        open_method("tiny", "other", tmp_path)
    saved.path.write_bytes(saved.path.read_bytes()[:-1] + b"?")
    with pytest.raises(InputError, match="is not the manifest's"):
        open_method("tiny", "made", tmp_path)


@pytest.mark.parametrize(("name", "instead"), [("format", "other/1"), ("file", None)])
def test_a_manifest_that_is_not_whole_or_of_another_format_is_refused(tmp_path, name, instead):
    answers = {"sp weak": {0: {split: tables(0) for split in ("validation", "test")}}}
    save_method(manifest(answers), answers, tmp_path)
    path = tmp_path / "tiny" / "made.json"
    result = json.loads(path.read_text(encoding="utf-8")) | {name: instead}
    result = {key: value for key, value in result.items() if value is not None}
    path.write_text(json.dumps(result), encoding="utf-8")
    with pytest.raises(InputError, match="is not a whole manifest of format"):
        open_method("tiny", "made", tmp_path)


def confusion(rate_a, rate_b, right):
    """One client, 100 people a group, all of label "yes" at first; answered yes at these rates."""
    yes = np.array([rate_a, rate_b]) * 100
    table = np.zeros((2, 2, 2, 2))
    table[0, :, 1, 1] = yes * right
    table[0, :, 0, 1] = yes * (1 - right)
    table[0, :, 0, 0] = (100 - yes) * right
    table[0, :, 1, 0] = (100 - yes) * (1 - right)
    table[1] = table[0]
    return Answered(table, table)


def row_file(folder, name, points):
    """A method with a setting for each (gap, accuracy)."""
    answers = {
        f"sp knob={k}": {
            seed: dict.fromkeys(("validation", "test"), confusion(0.5, 0.5 + gap, right))
            for seed in (0, 1)
        }
        for k, (gap, right) in enumerate(points)
    }
    save_method(manifest(answers, method=name), answers, folder)


def test_frontiers_are_compared_where_held_out_gaps_agree(tmp_path):
    row_file(tmp_path, "one", [(0.0, 0.8), (0.2, 0.9), (0.3, 0.85)])
    row_file(tmp_path, "other", [(0.1, 0.8), (0.2, 0.84)])
    rows = method_rows("tiny", tmp_path)
    assert method_experiments(tmp_path) == ["tiny"]
    one, other = (frontier_of(rows_of(rows, name, "sp")) for name in ("one", "other"))
    assert one.gaps == pytest.approx([0, 0.2])  # the third is beaten by the second
    assert one.at(0.1) == pytest.approx([0.85, 0.85])
    assert one.at(0.5) == pytest.approx([0.9, 0.9])
    assert other.at(0.05) is None
    assert difference(one, other, 0.05) is None
    apart = difference(one, other, 0.2)
    assert apart.mean == pytest.approx(0.06)
    assert apart.seeds == 2
    assert apart.verdict == "alike"  # two seeds tell nothing
    with pytest.raises(ValueError, match="is none of"):
        rows[0].gap("gap")


def test_a_difference_is_paired_by_seed_with_the_error_of_its_mean():
    """Ten points more on one seed, thirteen on the other; of one seed nothing is known."""
    gap = np.array([0.1])
    one = MethodFrontier((), gap, np.array([[0.9, 0.8, 0.84]]), (5, 0, 1))
    other = MethodFrontier((), gap, np.array([[0.71, 0.7, 0.1]]), (1, 0, 7))
    apart = difference(one, other, 0.1)
    assert (apart.mean, apart.seeds) == (pytest.approx(0.115), 2)
    assert apart.standard_error == pytest.approx(0.015)
    alone = MethodFrontier((), gap, np.array([[0.7]]), (0,))
    assert np.isnan(difference(one, alone, 0.1).standard_error)


def test_few_seeds_tell_nothing_apart():
    assert Difference(0.2, float("nan"), 1).verdict == "alike"
    assert Difference(0.2, 1e-6, 2).verdict == "alike"
    assert Difference(0.2, 0.01, 3).verdict == "better"
    assert Difference(-0.2, 0.01, 5).verdict == "worse"


def test_our_rows_are_our_programs_own_figures():
    experiment = experiments.open("adult")
    method = POST_PROCESSED["ours_simplex"]
    (name, result, by_seed), *_ = answers_of(method, experiment, "sp", [0], epsilons=[0.05])
    assert name == "sp eps=0.05"
    solution = FairnessProgram(fitted_people(experiment, 0), "sp", "simplex").solve(0.05, 0.05)
    judged = evaluate(predictor_of(solution), unseen_people(experiment, 0))
    assert by_seed[0]["test"].confusion == pytest.approx(judged.confusion)
    assert result["settings"] == {"eps_global": 0.05, "eps_local": 0.05}


@pytest.mark.skipif("adult" not in method_experiments(), reason="no methods are shipped")
@pytest.mark.parametrize("name", POST_PROCESSED)
def test_a_method_is_shipped_under_the_title_it_has_here(name):
    method, shipped = POST_PROCESSED[name], open_method("adult", name).manifest
    assert (shipped["title"], shipped["ours"]) == (method.title, method.ours)
    can = shipped["capabilities"]
    assert (can["notions"], can["multi_class"]) == (list(method.notions), method.multi_class)
    assert can["level"] == ("global" if method.only_global else "local and global")


@pytest.mark.skipif("adult" not in method_experiments(), reason="no methods are shipped")
def test_the_shell_prints_every_method_with_the_promised_keys():
    done = CliRunner().invoke(app, ["methods", "--experiment", "adult", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output)
    assert all(list(row) == KEYS for row in rows)
    names = {row["method"] for row in rows}
    assert names >= {"fedavg", "fairfed", "reweighing", "fedfb", "equifl", "fair_fate"}
    assert names >= set(POST_PROCESSED)
    fedavg = next(row for row in rows if row["method"] == "fedavg")
    own = experiments.open("adult").manifest["figures"]["test"]["accuracy"]["mean"]
    assert fedavg["accuracy"] == pytest.approx(own, abs=2e-4)
    assert set(GAPS) <= set(fedavg)
    refused = CliRunner().invoke(app, ["methods", "--experiment", "nowhere"])
    assert refused.exit_code != 0
