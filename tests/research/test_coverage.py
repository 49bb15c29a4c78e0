"""How often limits hold, on a population that is known; and the document that tells it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT
from fairfl_core.errors import InputError
from fairfl_core.evaluation.study import run_study
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from research.holding.coverage import Coverage, coverage, draw_people, filled
from research.holding.document import holding
from research.holding.evidence import (
    GUARANTEES,
    cross_fitting_settings,
    guarantee_settings,
)
from research.holding.held_out import difference, studies
from research.holding.settings import Setting
from research.holding.tables import cross_fitting_table
from tests.data.test_cross_fitted import fold_models
from tests.data.test_experiments import DESCRIPTION, seed_scores
from tests.helpers.scored import scored_network, scored_people

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "holding.md"
EACH = GUARANTEES["each"]


# -------------------------------------------------------------------- drawing


@given(people=scored_people(), seed=st.integers(0, 99))
def test_a_sample_has_the_sizes_asked_for_and_only_people_of_the_population(people, seed):
    sizes = np.arange(len(people.clients)) + 3
    drawn = draw_people(people, sizes, np.random.default_rng(seed))
    assert np.bincount(drawn.client, minlength=len(sizes)).tolist() == sizes.tolist()
    there = {person(people, i) for i in range(len(people))}
    assert all(person(drawn, i) in there for i in range(len(drawn)))


def person(people, i):
    """Everything that is known of one person."""
    return (
        int(people.client[i]),
        int(people.group[i]),
        int(people.label[i]),
        int(people.predicted[i]),
        tuple(people.scores[i].tolist()),
    )


def test_everybody_of_a_client_is_drawn_equally_often():
    people = scored_network(3, 2, 2, rows=20, seed=0)
    marked = replace(people, predicted=np.arange(len(people)))  # who they are, for once
    sizes = np.array([0, 40_000, 10])
    drawn = draw_people(marked, sizes, np.random.default_rng(1))
    often = np.bincount(drawn.predicted[drawn.client == 1], minlength=len(people))
    mine = people.client == 1
    assert often[~mine].sum() == 0
    expected = 40_000 / mine.sum()
    assert np.abs(often[mine] - expected).max() < 5 * np.sqrt(expected)


def test_who_is_not_there_cannot_be_drawn():
    people = scored_network(2, 2, 2, rows=20)
    lonely = replace(people, clients=(*people.clients, "nobody"))
    with pytest.raises(InputError, match="nobody of nobody"):
        draw_people(lonely, np.array([1, 1, 1]), np.random.default_rng(0))


@given(people=scored_people(), least=st.integers(0, 7), seed=st.integers(0, 99))
def test_a_filled_population_has_people_in_every_cell(people, least, seed):
    """Its own first; those added are known from their group and label in some client."""
    more = filled(people, least, np.random.default_rng(seed))
    assert [person(more, i) for i in range(len(people))] == [
        person(people, i) for i in range(len(people))
    ]
    there, now = people.counts.n_label, more.counts.n_label
    known = np.broadcast_to(there.sum(axis=0) > 0, there.shape)
    assert (now == np.where(known, np.maximum(there, least), 0)).all()
    own = {person(people, i)[1:] for i in range(len(people))}
    assert all(person(more, i)[1:] in own for i in range(len(more)))


# -------------------------------------------------------------------- coverage


def simulated(population, sizes, setting, draws, seed):
    """The same, person by person: gaps and accuracy counted in plain loops."""
    gaps, accuracies = [], []
    for draw in range(draws):
        sample = draw_people(population, sizes, np.random.default_rng([*seed, draw]))
        program = FairnessProgram(
            sample, "eop", setting.region, rates=setting.rates, guarantee=setting.guarantee
        )
        predictor = predictor_of(program.solve(setting.eps_global, setting.eps_local))
        right, yes, behind = 0.0, {}, {}
        for i in range(len(population)):
            c, a, y = int(population.client[i]), int(population.group[i]), population.label[i]
            if predictor.needs_scores:
                one = (np.array([c]), np.array([a]))
                scores = predictor.calibration.apply(*one, population.scores[i : i + 1])
                chance = predictor.chances(*one, scores, population.predicted[i : i + 1])[0]
            else:
                chance = predictor.lottery[c, a, population.predicted[i]]
            right += chance[y]
            if population.labels[y] == population.favourable:
                yes[c, a] = yes.get((c, a), 0.0) + chance[y]
                behind[c, a] = behind.get((c, a), 0) + 1
        accuracies.append(right / len(population))
        rate = {cell: yes[cell] / behind[cell] for cell in behind}
        gaps.append([abs(rate[c, 0] - rate[c, 1]) for c in range(len(population.clients))])
    return np.array(gaps), np.array(accuracies)


@pytest.mark.parametrize("guarantee", [None, EACH])
@pytest.mark.parametrize("region", ["simplex", "exact"])
def test_coverage_is_that_of_a_simulation_person_by_person(region, guarantee):
    population = scored_network(3, 2, 2, rows=120, seed=3)
    sizes = np.array([60, 90, 120])
    setting = Setting(region, "labels", 1.0, 0.1, guarantee)
    covered = coverage(population, sizes, "eop", [setting], draws=4, seed=(5, 0))[setting]
    gaps, accuracies = simulated(population, sizes, setting, 4, (5, 0))
    assert covered.local == pytest.approx(gaps, abs=1e-9)
    assert covered.accuracy == pytest.approx(accuracies, abs=1e-9)
    within = gaps <= 0.1 + 1e-6
    assert covered.mean == pytest.approx(within.mean())
    assert covered.by_client == pytest.approx(within.mean(axis=0))
    assert covered.together == pytest.approx(within.all(axis=1).mean())
    assert covered.seed.tolist() == [5] * 4


def test_a_confidence_holds_and_none_does_not():
    """The claim itself, on a population of our own: 95 % and more with it, far less without."""
    population = scored_network(8, 2, 2, rows=2000, seed=1)
    sizes = np.full(8, 400)
    settings = [Setting("simplex", "labels", 1.0, 0.1, one) for one in (None, EACH)]
    none, each = coverage(population, sizes, "eop", settings, draws=25, seed=(0, 0)).values()
    assert none.mean < 0.9
    assert each.mean >= 0.95
    assert none.accuracy.mean() > each.accuracy.mean()


def test_cells_that_are_empty_in_the_sample_are_judged_where_the_population_has_people():
    """Nobody of group 1 with the label was ever seen in the first client."""
    whole = scored_network(4, 2, 2, rows=400, seed=2)
    favourable = whole.labels.index(whole.favourable)
    gone = (whole.client == 0) & (whole.group == 1) & (whole.label == favourable)
    names = ("client", "group", "label", "scores", "predicted")
    people = replace(whole, **{name: getattr(whole, name)[~gone] for name in names})
    population = filled(people, 5, np.random.default_rng(0))
    sizes = np.full(4, 40)
    samples = [draw_people(population, sizes, np.random.default_rng([3, 0, i])) for i in range(40)]
    empty = np.mean([one.counts.n_label[0, 1, favourable] == 0 for one in samples])
    assert 0.3 < empty < 0.9
    settings = [Setting("simplex", "labels", 1.0, 0.1, one) for one in (None, EACH)]
    none, each = coverage(population, sizes, "eop", settings, draws=40, seed=(3, 0)).values()
    assert not np.isnan(each.local).any()
    assert none.by_client[0] < 0.9 < 0.945 <= each.by_client[0]


def of_gaps(local, eps=0.1, seed=None):
    local = np.asarray(local, float)
    draws = len(local)
    return Coverage(
        Setting("simplex", "labels", 0.05, eps),
        np.zeros(draws, int) if seed is None else np.asarray(seed),
        local,
        np.linspace(0, 0.1, draws),
        np.linspace(0.7, 0.8, draws),
    )


def test_a_gap_on_its_limit_holds_and_a_client_without_a_gap_is_not_counted():
    one = of_gaps([[0.1 + 1e-9, np.nan], [0.1 + 1e-3, np.nan], [0.0, np.nan]])
    assert one.mean == pytest.approx(2 / 3)
    assert one.by_client[0] == pytest.approx(2 / 3)
    assert np.isnan(one.by_client[1])
    assert one.least == 0
    assert one.together == pytest.approx(2 / 3)
    assert one.overall_held == pytest.approx(2 / 3)  # 0, .05, .1 against .05


def test_the_error_is_that_of_independent_draws():
    one = of_gaps([[0.0, 0.2], [0.0, 0.0], [0.2, 0.2], [0.0, 0.2]])
    means = np.array([0.5, 1, 0, 0.5])
    assert one.error == pytest.approx(means.std(ddof=1) / 2)


# -------------------------------------------------------------------- settings


def test_a_confidence_is_asked_for_only_where_it_can_be_had():
    two, seven = guarantee_settings(2), guarantee_settings(7)
    assert {one.region for one in two} == {"simplex", "exact"}
    assert {one.region for one in seven} == {"simplex", "kernel"}
    assert all(one.serves(7) for one in seven)
    assert not Setting("exact", "labels", 1.0, 0.1, Guarantee()).serves(3)
    assert all(one.guarantee is None for one in cross_fitting_settings())
    assert not set(cross_fitting_settings()) & set(two)


# -------------------------------------------------------------------- test people


def a_study(seeds, eps=0.02):
    programs = [
        (s, FairnessProgram(scored_network(4, 2, 2, seed=s), "eop", "simplex")) for s in seeds
    ]
    return run_study(programs, [scored_network(4, 2, 2, seed=s + 50) for s in seeds], eps, eps)


def test_a_difference_is_paired_seed_by_seed():
    study, other = a_study(range(4)), a_study(range(4), eps=0.3)
    squares = [
        [
            np.sign(gap) * gap**2
            for gap in (e.debiased(e.larger_half).gap for e in one.evaluations(unseen=True))
        ]
        for one in (study, other)
    ]
    pairs = np.subtract(*squares)
    mean, error = difference(study, other)
    assert mean == pytest.approx(pairs.mean())
    assert error == pytest.approx(pairs.std(ddof=1) / 2)


# -------------------------------------------------------------------- the document


def numbers(row):
    """Every number with decimals, and one unit of the last digit that is written of it."""
    texts = re.findall(r"-?\d+\.\d+", row)
    return [(float(text), 10.0 ** -len(text.partition(".")[2])) for text in texts]


def rows_of(heading):
    """The cells of the table under a heading of the document, without its first two lines."""
    document = DOCUMENT.read_text(encoding="utf-8")
    section = document[document.index(f"{heading}\n") + len(heading) :].split("\n#")[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize("name", ["adult", "public_coverage", "ham10000"])
def test_the_document_says_which_seeds_it_leaves_out(name):
    every, compared = (
        len(experiments.open(one).seeds) for one in (name, experiments.cross_fitted_of(name))
    )
    document = DOCUMENT.read_text(encoding="utf-8")
    shown = document[document.index(f"### {name}, resampled\n") :].split("\n\n")[1]
    sentence = f"Not cross-fitted, and left out: {every - compared} of {every} seeds."
    assert (sentence in shown) == (compared < every)
    assert ("left out" in shown) == (compared < every)


def test_adult_stands_in_the_document_as_it_comes_out_now():
    """Made again and compared: a document typed by hand, or an old one, would differ."""
    pair = [experiments.open(name) for name in ("adult", experiments.cross_fitted_of("adult"))]
    held_out = {one.protocol: studies(one, cross_fitting_settings(), one.seeds) for one in pair}
    assert set(held_out) == {PAPER_SPLIT, CROSS_FITTED}
    made = cross_fitting_table(held_out)[2:]
    stands = rows_of("### adult, test people")
    assert len(made) == len(stands)
    for new, old in zip(made, stands, strict=True):
        assert [cell.strip() for cell in new.split("|")[1:3]] == old[:2]
        for (value, unit), (stood, other) in zip(
            numbers(new), numbers(" | ".join(old)), strict=True
        ):
            assert unit == other
            assert value == pytest.approx(stood, abs=1.01 * unit), new


def test_the_whole_document_of_a_small_experiment(tmp_path):
    """Every part from files to text, with three labels and two draws."""
    description = DESCRIPTION | {"notion": "eop"}
    seeds = [seed_scores(seed) for seed in (1, 4, 6)]
    save_experiment.save(tmp_path / "tiny", description, seeds)
    models = [fold_models(1), fold_models(4)]
    save_experiment.save_cross_fitted(tmp_path / "tiny_cf", description, models, "tiny")
    steps = []
    text = holding(tmp_path, draws=2, on_progress=lambda *done: steps.append(done))
    assert steps == [(step, 16) for step in range(1, 17)]
    assert "**tiny, kernel**" in text
    assert "Not cross-fitted, and left out: 1 of 3 seeds." in text
    assert (
        "2 draws from the population of seed 1 and 2 draws from the population of seed 4" in text
    )
    # 2 protocols x 2 regions x 4 limits x 4 confidences, and half of one for a pilot; the model and 4 regions; half of the
    # first without overall limits.
    tables = re.findall(r"### tiny, (.+)\n(?:[^|#]*\n)*((?:\|.*\n)+)", text)
    lengths = {name: rows.count("\n") - 2 for name, rows in tables}
    assert lengths == {"resampled": 80, "test people": 5, "above the limit": 32}
    parts = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert parts == ["In", "(a)", "(b)", "(c)"]


def test_protocols_are_compared_seed_by_seed(tmp_path):
    description = DESCRIPTION | {"notion": "eop"}
    save_experiment.save_cross_fitted(tmp_path / "tiny_cf", description, [fold_models(2)], "tiny")
    save_experiment.save(tmp_path / "tiny", description, [seed_scores(1), seed_scores(3)])
    with pytest.raises(InputError, match="tiny_cf has seeds that tiny has not"):
        holding(tmp_path, draws=1)
