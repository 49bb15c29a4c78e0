"""Budgets, scales and seeded noise, as they were approved; see `helpers/approved.py`."""

from pathlib import Path

import pytest

from fairfl_core.privacy.histogram_noise import what_if_histogram
from fairfl_core.privacy.mechanisms import MECHANISMS, NEIGHBOURS, Mechanism, what_if
from fairfl_core.privacy.noise_study import (
    NoiseStudy,
    band,
    model_alone,
    noise_study,
    spending,
    without_noise,
)
from fairfl_core.solving.exact.histograms import ScoreHistogram
from tests.helpers.approved import check, declared, tell
from tests.helpers.small import people

APPROVED = Path(__file__).with_name("as_computed")


def mechanisms():
    told = {}
    for name in MECHANISMS:
        for neighbours in NEIGHBOURS:
            for epsilon in (0.1, 1.0):
                one = Mechanism(name=name, epsilon=epsilon, neighbours=neighbours)
                told[f"{name} {neighbours} {epsilon}"] = {
                    "is": one,
                    "same budget": spending(name, epsilon, neighbours),
                    "two labels": what_if(people().counts, one, seed=3).table,
                    "three labels": what_if(people(3).counts, one, seed=3).table,
                }
    histogram = ScoreHistogram.of(people(), 4)
    noisy = what_if_histogram(histogram, Mechanism(name="histogram", epsilon=0.5), seed=1)
    return told | {"of scores": [noisy.table, noisy.noisy]}


def studies():
    steps = []
    runs = [(people(seed=seed).counts, people(seed=seed + 5).counts) for seed in (1, 2)]
    limits = {"eps_global": 0.05, "eps_local": 0.05}
    parts = [
        noise_study(
            runs,
            [spending(name, spent, "replace-one")],
            "eo",
            **limits,
            draws=3,
            seed=4,
            rates=rates,
            on_progress=lambda *step: steps.append(step),
        )
        for name, spent, rates in (("histogram", 0.05, "labels"), ("histogram", 3.0, "labels"))
    ]
    paper = noise_study(
        runs, [spending("paper", 1.0, "add-remove")], "eop", **limits, draws=2, seed=4
    )
    shrunk = noise_study(
        [(runs[0][0], None)],
        [spending("histogram", 0.3, "replace-one")],
        "sp",
        "kernel",
        **limits,
        draws=2,
        seed=9,
        rates="shrunk",
    )
    joined = NoiseStudy.joined(parts)
    return {
        "joined": joined,
        "failing": [joined.failing(budget) for budget in (0, 1)],
        "paper": paper,
        "shrunk": shrunk,
        "without": without_noise(runs, "eo", **limits),
        "alone": model_alone(runs, "eo"),
        "band": band(joined.reached.accuracy),
        "steps": steps,
    }


@pytest.mark.parametrize("part", [mechanisms, studies], ids=lambda part: part.__name__)
def test_privacy_is_what_was_approved(part):
    check(APPROVED / f"{part.__name__}.txt", tell(**part()), close=1e-6)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("privacy"))
