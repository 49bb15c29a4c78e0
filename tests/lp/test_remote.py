"""Clients that are asked, rule by rule, make the optimum that all of their people at hand would make."""

import numpy as np
import pytest

from fairfl_core.lp.exact.pricing import Candidates
from fairfl_core.lp.exact.remote import RemoteScores, priced
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import measured
from fairfl_core.lp.utility import Utility
from tests.helpers.scored import exact_program
from tests.helpers.small import LABELS, people

LIMITS = ((0.03, 0.06), (0.3, 0.02))
COSTS = Utility("costs", LABELS[3], ((1.0, 0.0, 0.0), (0.0, 1.0, -2.0), (-5.0, 0.0, 1.0)))


def told(solution):
    """All it says but for the bytes, which are other ones."""
    return {name: value for name, value in solution.to_json().items() if "bytes" not in name}


@pytest.mark.parametrize("policy", [Policy(), Policy(floors=(Floor("ill", 0.5),))])
def test_two_labels_are_listed(policy):
    made = people()
    found = measured(made).listed()
    sent = Candidates.of(found.rules, found.table.confusion, found.table.kept, len(made.groups))
    source = RemoteScores(made.counts, corners=sent, sent=lambda: 77)
    far = FairnessProgram(source, "eo", "exact", policy=policy)
    near = exact_program(made, "eo", policy=policy)
    for limits in LIMITS:
        found = far.solve(*limits)
        assert told(found) == told(near.solve(*limits))
        assert found.bytes_per_client == 77 and found.mode == "labels"
        assert found.bound.certified


@pytest.mark.parametrize("policy", [Policy(), Policy(utility=COSTS)])
def test_more_labels_are_asked_for_and_never_the_same_twice(policy):
    made, asked = people(3, rows=200), []

    def ask(gain, full):
        asked.append((gain.tobytes(), full))
        return priced(made, gain, full=full)

    far = FairnessProgram(RemoteScores(made.counts, prices=ask), "eo", "exact", policy=policy)
    found, expected = (
        one.solve(0.05, 0.1) for one in (far, exact_program(made, "eo", policy=policy))
    )
    assert told(found) == told(expected)
    np.testing.assert_array_equal(found.beta, expected.beta)
    assert len(asked) == len(set(asked)) == found.rounds
    assert {full for _, full in asked} == {policy.utility == COSTS}
    assert found.bytes_per_client == 0
