"""Several models of one table: each an experiment, all of the same people."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.scored import fitted_people, unseen_people
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.methods import frontier, model_settings
from fairfl_core.intake import MOST_MODELS, ColumnRoles, experiment_from_table, open_table
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.cli.running import run


def settings_of(settings, model):
    return [one for one in settings if one.model == model]


ROLES = ColumnRoles("site", "sex", "truth", "first")


def table(rows=600, holes=0):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, rows)
    chance = np.clip(0.5 + 0.3 * (truth - 0.5) + 0.2 * rng.normal(size=rows), 0.01, 0.99)
    frame = pd.DataFrame(
        {
            "site": rng.choice(["north", "south"], rows),
            "sex": rng.choice(["man", "woman"], rows),
            "truth": np.array(["no", "yes"])[truth],
            "first": np.array(["no", "yes"])[np.where(rng.random(rows) < 0.8, truth, 1 - truth)],
            "second": np.array(["no", "yes"])[np.where(rng.random(rows) < 0.7, truth, 1 - truth)],
            "third": chance.round(6),
            "free": rng.choice(["maybe", "no"], rows),
        }
    )
    frame.loc[: holes - 1, "second"] = None
    return frame


def taken(frame, roles, **options):
    data = frame.to_csv(index=False).encode()
    return experiment_from_table(open_table("rows.csv", data), roles, **options)


def with_models(*models):
    return ColumnRoles("site", "sex", "truth", "first", models=models)


def test_every_model_has_the_same_people_and_its_own_answers():
    frame = table(holes=7)
    intake = taken(frame, with_models("second", "third"))
    assert [model.name for model in intake.models] == ["first", "second", "third"]
    people = [
        {s: model.experiment.counts(0, s).table.sum(axis=3) for s in model.experiment.splits}
        for model in intake.models
    ]
    for split in people[0]:
        assert all(np.array_equal(own[split], people[0][split]) for own in people)
    assert sum(split.sum() for split in people[0].values()) == len(frame) - 7
    assert "7 rows that not all of them answer are left out" in intake.checks[0].sentence
    assert intake.checks[0].look
    whole = frame[frame["second"].notna()]
    for model in intake.models[:2]:
        right = sum(
            np.einsum("cayy->", model.experiment.counts(0, s).table)
            for s in ("validation", "test")
        )
        assert right == (whole[model.name] == whole["truth"]).sum()
    assert intake.models[2].experiment.has_scores and not intake.models[1].experiment.has_scores


def test_one_model_alone_is_as_before():
    alone, beside = taken(table(), ROLES), taken(table(), with_models("second"))
    assert alone.models == ()
    for split in alone.experiment.splits:
        assert np.array_equal(
            alone.experiment.counts(0, split).table, beside.experiment.counts(0, split).table
        )


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        (("free",), 'the column "free" says "maybe", which is no label of "truth"'),
        (("first",), 'the column "first" is chosen for two things'),
        (("second", "second"), 'the column "second" is chosen for two things'),
        (("site",), 'the column "site" is chosen for two things'),
        (
            tuple("abcdefgh"),
            f"9 models are more than a picture can show; choose at most {MOST_MODELS}",
        ),
    ],
)
def test_what_is_no_model_is_refused_in_a_sentence(models, sentence):
    with pytest.raises(InputError) as refused:
        taken(table(), with_models(*models))
    assert sentence in str(refused.value)


def test_numbers_say_nothing_where_there_are_three_labels():
    frame = table()
    frame.loc[:50, "truth"] = "perhaps"
    with pytest.raises(InputError, match='"third" has numbers, .* here are 3; choose its column'):
        taken(frame, with_models("third"))


def test_each_setting_is_the_programs_own_on_unseen_people():
    intake = taken(table(), with_models("third"))
    settings = [
        setting
        for model in intake.models
        for setting in model_settings(model.name, model.experiment, "sp", "exact", (0.0, 0.05))
    ]
    assert [s.region for s in settings] == ["simplex"] * 3 + ["exact"] * 3
    experiment = intake.models[1].experiment
    solution = FairnessProgram(fitted_people(experiment, 0), "sp", "exact").solve(0.05, 0.05)
    judged = evaluate(predictor_of(solution), unseen_people(experiment, 0))
    own = settings_of(settings, "third")[-1]
    assert own.evaluation.confusion == pytest.approx(judged.confusion)
    assert own.to_json()["gap_global"] == judged.gaps.overall
    as_it_is = settings_of(settings, "first")[0]
    assert as_it_is.epsilon is None and as_it_is.unseen + as_it_is.fitted == 600
    counts = intake.models[0].experiment.counts(0, "test").table
    assert as_it_is.evaluation.accuracy == np.einsum("cayy->", counts) / counts.sum()
    kept = frontier(settings_of(settings, "first"), "gap_global")
    accuracy = [setting.evaluation.accuracy for setting in kept]
    assert accuracy == sorted(accuracy) and [s.gap("gap_global") for s in kept] == sorted(
        s.gap("gap_global") for s in kept
    )


def test_the_shell_compares_as_the_core_does(tmp_path):
    path = tmp_path / "rows.csv"
    table().to_csv(path, index=False)
    options = ["--client", "site", "--group", "sex", "--label", "truth", "--notion", "sp"]
    models = ["--model", "first", "--model", "second"]
    rows = json.loads(run("compare", path, *options, *models, "--json").out)
    intake = taken(table(), with_models("second"))
    own = [
        setting.to_json()
        for model in intake.models
        for setting in model_settings(model.name, model.experiment, "sp")
    ]
    assert rows == json.loads(json.dumps(own))
    assert "unseen people" in run("compare", path, *options, *models).out
    refused = run("compare", path, *options, "--model", "first")
    assert refused.code == 2 and "one model is nothing to compare" in refused.err
