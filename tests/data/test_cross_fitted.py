"""Cross-fitted experiments: saved, read back, and refused when broken."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core._io.files import read_json, write_json
from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT, SeedScores
from fairfl_core.data.save_experiment import round_scores
from fairfl_core.data.scored import FoldedData
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.data.test_experiments import DESCRIPTION, seed_scores
from tests.helpers.scored import as_people, scored_network

FOLDS, PEOPLE = 3, 240


def fold_models(seed: int, folds: int = FOLDS) -> list[SeedScores]:
    """People 0 to 239, a third of them test people; each model lists them in another order."""
    rng = np.random.default_rng(seed)
    client, group = rng.integers(0, 2, PEOPLE), rng.integers(0, 2, PEOPLE)
    label, tested = rng.integers(0, 3, PEOPLE), rng.random(PEOPLE) < 1 / 3
    fold_of = rng.integers(0, folds, PEOPLE)
    models = []
    for fold in range(folds):
        person = rng.permutation(np.flatnonzero(tested | (fold_of == fold)))
        models.append(
            SeedScores(
                seed=seed,
                split=tested[person].astype(np.int8),
                client=client[person],
                group=group[person],
                label=label[person],
                scores=rng.dirichlet([1, 1, 1], len(person)),
                clients=("north", "south"),
                chosen=fold + 1,
                loss=np.array([0.9, 0.7]),
                accuracy=np.array([0.5, 0.6]),
                person=person,
            )
        )
    return models


@pytest.fixture
def seeds():
    return [fold_models(4), fold_models(1)]


def saved(tmp_path, seeds):
    return save_experiment.save_cross_fitted(tmp_path / "tiny_cf", DESCRIPTION, seeds, "tiny")


def as_rows(*columns):
    return sorted(zip(*(np.asarray(column).tolist() for column in columns), strict=True))


def test_fitted_people_come_back_each_once_with_fold_and_score(tmp_path, seeds):
    made = saved(tmp_path, seeds)
    assert (made.protocol, made.folds, made.fit_split) == (CROSS_FITTED, FOLDS, "fit")
    people = made.scores(4, "fit")
    expected = [
        row
        for one in seeds[0]
        for row in as_rows(
            *(getattr(one, name)[one.split == 0] for name in ("client", "group", "label")),
            round_scores(one.scores[one.split == 0]),
        )
    ]
    got = as_rows(people.client, people.group, people.label, people.scores)
    assert sorted(got) == sorted(expected)
    one = made.scores(4, "fit", fold=2)
    assert len(one) == (seeds[0][2].split == 0).sum()
    assert made.counts(4, "fit").table.sum() == len(people)


def test_the_file_does_not_tell_in_which_order_people_came(tmp_path):
    """Scores of few values, so that people are alike in some of them and not in others."""
    rng = np.random.default_rng(7)
    few = np.array([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5]])
    models = [
        replace(one, scores=few[rng.integers(0, 4, len(one.label))]) for one in fold_models(4)
    ]
    numbers, shuffled = rng.permutation(PEOPLE), []
    for one in models:
        order = rng.permutation(len(one.label))
        names = ("split", "client", "group", "label", "scores", "person")
        rows = {name: getattr(one, name)[order] for name in names}
        shuffled.append(replace(one, **rows | {"person": numbers[rows["person"]]}))
    made, anew = (
        saved(tmp_path / name, [part]).manifest["scores"]["sha256"]
        for name, part in (("a", models), ("b", shuffled))
    )
    assert made == anew


def test_a_test_persons_scores_are_paired_over_folds(tmp_path, seeds):
    made = saved(tmp_path, seeds)
    folds = [made.scores(1, "test", fold=fold) for fold in range(FOLDS)]
    people = folds[0]
    by_person = {}
    for one in seeds[1]:
        for row in np.flatnonzero(one.split == 1):
            cell = (one.client[row], one.group[row], one.label[row])
            by_person.setdefault(int(one.person[row]), [tuple(map(int, cell))]).append(
                tuple(round_scores(one.scores[row : row + 1])[0].tolist())
            )
    expected = sorted(tuple(person) for person in by_person.values())
    got = sorted(
        (
            (int(people.client[i]), int(people.group[i]), int(people.label[i])),
            *(tuple(scores[i].tolist()) for scores in (one.scores for one in folds)),
        )
        for i in range(len(people))
    )
    assert got == expected
    assert all((one.scores.sum(axis=1) == 1).all() for one in folds)
    with pytest.raises(InputError, match="3 scores for each test person; name a fold"):
        made.scores(1, "test")
    with pytest.raises(InputError, match="no fold 3; folds are 0 to 2"):
        made.scores(1, "test", fold=3)
    with pytest.raises(InputError, match="splits are fit and test"):
        made.scores(1, "validation")


def test_the_manifest_tells_the_protocol_and_what_is_expected_of_the_mixture(tmp_path, seeds):
    made = saved(tmp_path, seeds)
    manifest = made.manifest
    assert manifest["protocol"] == {"name": "cross-fitted", "folds": FOLDS}
    assert manifest["paper_split"] == "tiny"
    assert manifest["rounds_chosen"] == {"1": [1, 2, 3], "4": [1, 2, 3]}
    assert len(manifest["learning_curves"]["4"]) == FOLDS
    expected = []
    for models in (seeds[1], seeds[0]):
        right = [(one.prediction == one.label)[one.split == 1].mean() for one in models]
        expected.append(np.mean(right))
    accuracy = manifest["figures"]["test"]["accuracy"]
    assert accuracy["mean"] == pytest.approx(np.mean(expected), abs=1e-5)
    assert accuracy["spread"] == pytest.approx(np.std(expected, ddof=1), abs=1e-5)
    held_out = [len(np.concatenate([o.label[o.split == 0] for o in m])) for m in seeds[::-1]]
    assert manifest["figures"]["fit"]["rows"] == held_out
    assert manifest["figures"]["test"]["rows"] == [(m[0].split == 1).sum() for m in seeds[::-1]]


def test_companions_are_found_by_name_and_listed_apart(tmp_path, seeds):
    saved(tmp_path, seeds)
    save_experiment.save(tmp_path / "tiny", DESCRIPTION, [seed_scores(0)])
    save_experiment.save(tmp_path / "a_first", DESCRIPTION, [seed_scores(0)])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("no JSON")
    assert experiments.list_experiments(tmp_path) == ["a_first", "broken", "tiny"]
    assert experiments.list_experiments(tmp_path, CROSS_FITTED) == ["tiny_cf"]
    assert experiments.list_experiments(tmp_path, None) == ["a_first", "broken", "tiny", "tiny_cf"]
    assert experiments.cross_fitted_of("tiny", tmp_path) == "tiny_cf"
    assert experiments.cross_fitted_of("a_first", tmp_path) is None
    manifest = tmp_path / "tiny_cf" / "manifest.json"
    write_json(manifest, read_json(manifest) | {"paper_split": "a_first"})
    assert experiments.cross_fitted_of("tiny", tmp_path) is None, "an old manifest is remembered"
    assert experiments.cross_fitted_of("a_first", tmp_path) == "tiny_cf"
    plain = experiments.open("tiny", tmp_path)
    assert (plain.protocol, plain.folds, plain.fit_split) == (PAPER_SPLIT, 1, "validation")


def without(one, rows):
    """The same scores without the people where `rows` is true."""
    names = ("split", "client", "group", "label", "scores", "person")
    return replace(one, **{name: getattr(one, name)[~rows] for name in names})


BROKEN = {  # what becomes of seed 4's three models
    "at least 2 folds, not 1": lambda a, b, c: [[a]],
    "seed 4 has 3 folds, other seeds have 2": lambda a, b, c: [[a, b, c], fold_models(1)[:2]],
    "seed 4: fold 1 holds nobody of": lambda a, b, c: [
        [a, without(b, (b.split == 0) & (b.client == 1)), c]
    ],
    "seed 4: a person is held out in two folds": lambda a, b, c: [
        [a, replace(b, person=np.where(b.person == first(b), first(a), b.person)), c]
    ],
    "seed 4, fold 2: the test people are not those of fold 0": lambda a, b, c: [
        [a, b, without(c, c.person == c.person[c.split == 1][0])]
    ],
    "must tell whose they are": lambda *models: [[replace(one, person=None) for one in models]],
}


def first(one):
    """The first person who is held out."""
    return one.person[one.split == 0][0]


@pytest.mark.parametrize("sentence", BROKEN)
def test_broken_folds_are_refused_and_nothing_is_written(tmp_path, seeds, sentence):
    with pytest.raises(InputError, match=sentence):
        saved(tmp_path, BROKEN[sentence](*seeds[0]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        ({"name": "cross-fitted", "folds": 1}, "at least 2 folds, not 1"),
        ({"name": "cross-fitted"}, 'how many "folds"'),
        ({"name": "leave one out"}, "neither the paper's split nor cross-fitted"),
    ],
)
def test_a_manifest_with_another_protocol_is_refused(tmp_path, seeds, protocol, sentence):
    made = saved(tmp_path, seeds)
    (made.path / "manifest.json").write_text(json.dumps({**made.manifest, "protocol": protocol}))
    with pytest.raises(InputError, match=rf"manifest\.json: .*{sentence}"):
        experiments.open("tiny_cf", tmp_path)


FOLDS = 3


def folded(labels, rows=200):
    """The same people, scored by models that differ."""
    first = scored_network(3, 2, labels, rows=rows, seed=5)
    rng = np.random.default_rng(1)
    models = []
    for _ in range(FOLDS):
        logits = np.log(first.scores + 1e-3) + rng.normal(0, 0.8, first.scores.shape)
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        models.append(as_people(first.client, first.group, first.label, scores, 3, 2))
    return FoldedData(tuple(models))


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_what_is_told_is_the_expectation_over_the_fold_drawn(labels, region):
    people = folded(labels)
    assert len({tuple(model.predicted) for model in people.by_fold}) == FOLDS
    fair = predictor_of(
        FairnessProgram(scored_network(3, 2, labels, seed=2), "eo", region).solve(0.02, 0.05)
    )
    judged = evaluate(fair, people)
    chances = np.zeros((len(people), labels))
    own, leaves = np.zeros_like(chances), np.zeros(len(people))
    for model in people.by_fold:  # one person, one fold model at a time
        if fair.needs_scores:
            part = fair.chances_of(model)
        else:
            part = fair.lottery[model.client, model.group, model.predicted]
        chances += part / FOLDS
        own[np.arange(len(own)), model.predicted] += 1 / FOLDS
        leaves += (1 - part[np.arange(len(part)), model.predicted]) / FOLDS
    first = people.by_fold[0]
    for c, a, y, k in np.ndindex(judged.confusion.shape):
        rows = (first.client == c) & (first.group == a) & (first.label == y)
        assert judged.confusion[c, a, y, k] == pytest.approx(chances[rows, k].sum())
        assert judged.squares[c, a, y, k] == pytest.approx((chances[rows, k] ** 2).sum())
        assert judged.before.confusion[c, a, y, k] == pytest.approx(own[rows, k].sum())
        assert judged.before.squares[c, a, y, k] == pytest.approx((own[rows, k] ** 2).sum())
    for a in range(2):
        assert judged.changed[a] == pytest.approx(leaves[first.group == a].mean())
    right = chances[np.arange(len(people)), first.label].mean()
    assert judged.accuracy == pytest.approx(right)
    assert judged.counts.n == len(people)


def test_folds_hold_the_same_people():
    one = folded(2).by_fold[0]
    other = as_people(one.client, one.group, 1 - one.label, one.scores, 3, 2)
    with pytest.raises(InputError, match="each test person once a fold"):
        FoldedData((one, other))
