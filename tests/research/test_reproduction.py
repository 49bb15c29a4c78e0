"""The document of the reproduction says what the shipped scores give."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.data import experiments
from fairfl_core.evaluation.methods import PAPER
from fairfl_core.lp.program import FairnessProgram
from research.paper.reproduction import (
    _experiment,
    _loss_ratio,
    _privacy,
    _scenarios,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"


def numbers(row):
    """Every number with decimals, and one unit of the last digit that is written of it."""
    texts = re.findall(r"-?\d+\.\d+", row)
    return [(float(text), 10.0 ** -len(text.partition(".")[2])) for text in texts]


def rows_of(text):
    return [row for row in text.splitlines() if row.startswith("|")]


def section(heading):
    """What stands under a heading of the document, up to the next of its kind."""
    document = DOCUMENT.read_text(encoding="utf-8")
    start = document.index(f"## {heading}")
    end = document.find("\n## ", start + 1)
    return document[start : end if end > 0 else None]


def assert_same(made, stands):
    """The same rows under the same names, and numbers that differ by rounding at most."""
    assert len(made) == len(stands)
    for new, old in zip(made, stands, strict=True):
        assert new.split("|")[1:3] == old.split("|")[1:3]
        for (value, unit), (stood, other) in zip(numbers(new), numbers(old), strict=True):
            assert unit == other
            assert value == pytest.approx(stood, abs=1.01 * unit), new


def test_an_experiment_stands_in_the_document_as_it_comes_out_now():
    """Made again and compared: a document typed by hand, or an old one, would differ."""
    made = rows_of(_experiment(experiments.open("adult")))
    assert_same(made[2:], rows_of(section("adult: "))[2:])


def test_what_either_limit_costs_stands_there_as_it_comes_out_now():
    made = _loss_ratio(experiments.open("adult"))
    (stands,) = (line for line in section("adult: ").splitlines() if "Accuracy lost" in line)
    assert numbers(made) == [(pytest.approx(v, abs=1.01 * u), u) for v, u in numbers(stands)]


def test_what_either_limit_costs_is_told_from_both_at_their_loosest():
    """Of people for whom every step of either limit costs something."""
    people = experiments.open("ham10000")
    at = {}
    for limits in ((0.3, 0.3), (0.05, 0.3), (0.3, 0.05)):  # global, local
        validation = [people.counts(seed, "validation") for seed in people.seeds]
        programs = [FairnessProgram(counts, people.notion) for counts in validation]
        at[limits] = 100 * np.mean([program.solve(*limits).accuracy for program in programs])
    local, overall = at[0.3, 0.3] - at[0.3, 0.05], at[0.3, 0.3] - at[0.05, 0.3]
    said = _loss_ratio(replace(people, manifest={**people.manifest, "name": "adult"}))
    assert f"{local:.2f} points to the local, {overall:.2f} to the global one" in said
    assert f"their ratio is {local / overall:.2f} " in said


def test_the_scenarios_maps_stand_there_as_they_come_out_now():
    made = _scenarios([experiments.open(name) for name in PAPER["scenarios"]])
    stands = section(made.splitlines()[0].removeprefix("## "))
    assert_same(rows_of(made), rows_of(stands))
    sentences = [
        [line for line in text.splitlines() if line.startswith("Both from .3 to .05")]
        for text in (made, stands)
    ]
    assert len(sentences[0]) == len(PAPER["scenarios"])
    for new, old in zip(*sentences, strict=True):
        assert numbers(new) == [(pytest.approx(v, abs=1.01 * u), u) for v, u in numbers(old)]


def test_privacy_stands_there_as_it_comes_out_now():
    made = _privacy(experiments.open("adult"))
    assert_same(rows_of(made), rows_of(section("Privacy: ")))
