"""Twice the clients are twice the work: each name is looked up, never searched for among all."""

import numpy as np
import pytest

from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.evaluation.study import run_study, summarise
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.strategies import synthetic


class Name(str):
    """A client's name that notes each time it is looked at."""

    looks = 0

    def __hash__(self):
        Name.looks += 1
        return super().__hash__()

    def __eq__(self, other):
        Name.looks += 1
        return super().__eq__(other)


def named(clients):
    counts = synthetic(clients, 2, 2)
    object.__setattr__(counts, "clients", tuple(map(Name, counts.clients)))  # plain when made
    return counts


def select(counts):
    return counts.select_clients(counts.clients[::-1])


def solve(counts):
    return FairnessProgram(counts, "eo").solve(0.05, dict.fromkeys(counts.clients, 0.05))


def tell(counts):
    study = run_study([(0, FairnessProgram(counts, "eo"))], [counts], 0.05, 0.05)
    all_rates_of([one.reached for one in study.outcomes]).base.sentence(counts.clients[-1])
    return summarise(study)


@pytest.mark.parametrize("act", [select, solve, tell])
def test_names_are_not_searched_for_among_all(act):
    looks = []
    for clients in (100, 400):
        counts = named(clients)
        Name.looks = 0
        act(counts)
        looks.append(Name.looks)
    few, many = np.array(looks) / (100, 400)
    assert many <= 1.2 * few + 1
