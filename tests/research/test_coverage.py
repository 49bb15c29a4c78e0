"""How often limits hold, on a population that is known; and the document that tells it."""

import re
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.data import experiments, save_experiment
from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from research.holding.coverage import Setting, coverage, draw_people
from research.holding.document import cross_fitting_table, holding
from research.holding.evidence import (
    GUARANTEES,
    cross_fitting_settings,
    studies,
)
from tests.data.test_cross_fitted import fold_models
from tests.data.test_experiments import DESCRIPTION, seed_scores
from tests.helpers.scored import scored_network

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "holding.md"
EACH = GUARANTEES["each"]


# -------------------------------------------------------------------- drawing


def person(people, i):
    """Everything that is known of one person."""
    return (
        int(people.client[i]),
        int(people.group[i]),
        int(people.label[i]),
        int(people.predicted[i]),
        tuple(people.scores[i].tolist()),
    )


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
