"""How often limits and floors asked for with 95 % confidence hold where the truth is known.

    python -m benchmarks.coverage [--seconds S] [--draws N] [--only TEXT]

A population is a finite set of scores for every client, group and label, so that true rates are
exact. Each draw samples people from it, fits a program with a measured confidence of .95 for each
limit, and judges the predictor on the population. A setting ends after N draws or S seconds.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError, SolveError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
POINTS = 200  # scores of each client, group and label
EACH = Guarantee(scope="each")
SOLVED = 1e-6  # a gap that a program left on its limit may lie this far above it


class Population:
    """Clients of so many people, with shares (clients, groups, labels) and scores of each.

    `separation` is how far a label's own logit lies above the others, `shift` by how much that of
    the last label is too high, both (clients, groups).
    """

    def __init__(self, sizes: Ints, shares: Floats, separation: Floats, shift: Floats) -> None:
        self.sizes, self.shares = sizes, shares
        self.expected = shares * sizes[:, None, None]
        labels = shares.shape[2]
        noise = np.random.default_rng(0).normal(0, 0.8, (POINTS, labels))
        logits = separation[..., None, None] * np.eye(labels)
        logits[..., -1] += shift[..., None]
        odds = np.exp(logits[..., None, :] + noise)  # (clients, groups, labels, points, labels)
        self.scores = odds / odds.sum(axis=-1, keepdims=True)
        self.everybody = self.people(*np.indices(self.scores.shape[:4]).reshape(4, -1))

    def people(self, client: Ints, group: Ints, label: Ints, point: Ints) -> ScoredData:
        """Those with these scores."""
        clients, groups, labels = (
            tuple(f"{letter}{i:03d}" for i in range(many))
            for letter, many in zip("cgl", self.shares.shape, strict=True)
        )
        scores = self.scores[client, group, label, point]
        codes = {
            "client": client,
            "group": group,
            "label": label,
            "predicted": scores.argmax(axis=1),
        }
        names = {"clients": clients, "groups": groups, "labels": labels}
        return ScoredData(scores=scores, favourable=labels[-1], **codes, **names)

    def draw(self, rng: np.random.Generator) -> ScoredData:
        """Draw a sample, client by client."""
        cells = self.shares.reshape(len(self.shares), -1)
        drawn = [rng.multinomial(n, own) for n, own in zip(self.sizes, cells, strict=True)]
        cell = np.repeat(np.arange(self.shares.size), np.concatenate(drawn))
        where = np.unravel_index(cell, self.shares.shape)
        return self.people(*where, rng.integers(0, POINTS, len(cell)))

    def recognition(self, predictor=None) -> Floats:
        """Pr(answer = label | client, group, label), of the model where there is no predictor."""
        who = self.everybody
        if predictor is None:
            right = (who.predicted == who.label).astype(float)
        else:
            if predictor.needs_scores:
                scores = predictor.calibration.apply(who.client, who.group, who.scores)
                chances = predictor.chances(who.client, who.group, scores, who.predicted)
            else:
                chances = predictor.lottery[who.client, who.group, who.predicted]
            right = chances[np.arange(len(who)), who.label]
        return right.reshape(self.scores.shape[:4]).mean(axis=3)


@dataclass(frozen=True)
class Setting:
    """What is asked of whom; `keeps` of every label's own recognition, in the first client."""

    name: str
    population: Population
    notion: str
    region: str
    eps_global: float = 1.0
    eps_local: float = 1.0
    keeps: float | None = None

    def holds(self, sample: ScoredData) -> tuple[bool, float]:
        """Whether what was asked holds in the population, and the true accuracy."""
        labels = sample.labels if self.keeps is not None else ()
        policy = Policy(floors=tuple(Floor(label, keeps=self.keeps) for label in labels))
        how = {"rates": "labels", "guarantee": EACH, "policy": policy}
        program = FairnessProgram(sample, self.notion, self.region, **how)
        predictor = predictor_of(program.solve(self.eps_global, self.eps_local))
        expected, recognition = self.population.expected, self.population.recognition(predictor)
        accuracy = float((expected * recognition).sum() / expected.sum())
        if self.keeps is not None:
            lost = (self.population.recognition() - recognition)[0].max()
            return bool(lost <= self.keeps + SOLVED), accuracy
        rates = slice(-1, None) if self.notion == "eop" else slice(None)
        pooled = (expected * recognition).sum(axis=0) / expected.sum(axis=0)
        overall = np.ptp(pooled[:, rates], axis=0).max()
        local = np.ptp(recognition[0, :, rates], axis=0).max()
        held = overall <= self.eps_global + SOLVED and local <= self.eps_local + SOLVED
        return bool(held), accuracy


def one_client(expected: float) -> Population:
    """2,000 + 40 people; so many of the 40 are expected to have the label."""
    rare = expected / 40
    shares = np.array([[[1200, 800], [40 * (1 - rare), 40 * rare]]]) / 2040
    return Population(np.array([2040]), shares, np.full((1, 2), 0.8), np.array([[0.0, -2.0]]))


def network(sizes: Ints, minority=0.35, labels: int = 2, shift: float = -0.5) -> Population:
    """Clients that differ in the share of the first group, in its labels and in the scores."""
    rng, clients = np.random.default_rng(1), len(sizes)
    first = np.clip(minority * np.exp(rng.normal(0, 0.25, clients)), 0.01, 0.95)
    base = np.clip([0.3, 0.4] + rng.normal(0, 0.08, (clients, 2)), 0.05, 0.9)
    part = np.stack([first, 1 - first], axis=1)
    others = np.repeat((part * (1 - base) / (labels - 1))[..., None], labels - 1, axis=2)
    shares = np.concatenate([others, (part * base)[..., None]], axis=2)
    separation = np.maximum(rng.normal(0.8, 0.15, (clients, 2)), 0.15)
    shifts = rng.normal([shift - 0.3, shift + 0.3], 0.3, (clients, 2))
    return Population(sizes, shares, separation, shifts)


def settings() -> Iterator[Setting]:
    """Every setting of the table."""
    for expected in (0.1, 0.5, 1, 2, 4, 8, 16, 30):
        for asked in ("exact eop", "exact eo", "kernel eo", "simplex eo", "simplex eop"):
            region, notion = asked.split()
            name = f"local .1, {asked}, {expected:g} people"
            yield Setting(name, one_client(expected), notion, region, eps_local=0.1)
    four, name = (
        network(np.full(5, 200), labels=4),
        "local .1, simplex eop, four labels, 200 people",
    )
    yield Setting(name, four, "eop", "simplex", eps_local=0.1)
    many = [("exact eop", 50, 100), ("exact eop", 50, 200), ("exact eop", 50, 500)]
    many += [("exact eo", 100, 200), ("kernel eo", 120, 10), ("simplex eo", 300, 4)]
    for asked, clients, people in many:
        region, notion = asked.split()
        name = f"overall .05, {asked}, {clients} x {people}"
        yield Setting(name, network(np.full(clients, people)), notion, region, 0.05)
    minority = network(np.full(50, 1000), minority=0.05)
    for eps in (0.05, 0.02):
        yield Setting(
            f"overall {eps:g}, exact eop, 5 % of 50 x 1000", minority, "eop", "exact", eps
        )
    for smallest in (30, 60, 200):
        for keeps in (0.02, 0.1):
            for shift in (-1.0, 1.0):
                where = network(np.array([smallest, 300, 1000]), shift=shift)
                name = f"keep {keeps:g}, exact, smallest of {smallest}, shift {shift:+g}"
                yield Setting(name, where, "eop", "exact", keeps=keeps)


def covered(setting: Setting, draws: int, seconds: float) -> tuple[Floats, Counter[str]]:
    """Whether it held and the accuracy, by draw; and the errors there were."""
    found, errors, end = [], Counter[str](), time.monotonic() + seconds
    for draw in range(draws):
        try:
            found.append(setting.holds(setting.population.draw(np.random.default_rng([7, draw]))))
        except (InfeasibleError, SolveError) as error:
            errors[type(error).__name__] += 1
        if time.monotonic() > end:
            break
    return np.array(found, float), errors


def main() -> None:
    """Print one row a setting."""
    parser = argparse.ArgumentParser(description="Coverage of limits asked for with a confidence.")
    parser.add_argument("--seconds", type=float, default=5, help="at most so long a setting")
    parser.add_argument("--draws", type=int, default=3000, help="at most so many a setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    asked = parser.parse_args()
    print("| setting | draws | coverage | s.e. | accuracy % | errors |\n" + 6 * "|---" + "|")
    for setting in (one for one in settings() if asked.only in one.name):
        found, errors = covered(setting, asked.draws, asked.seconds)
        held, accuracy = found.mean(axis=0)
        error, failed = np.sqrt(held * (1 - held) / len(found)), dict(errors) or ""
        cells = f"{len(found)} | {held:.3f} | {error:.3f} | {100 * accuracy:.2f} | {failed}"
        print(f"| {setting.name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
