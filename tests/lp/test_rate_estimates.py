"""Where rates come from."""

import numpy as np
import pytest
from hypothesis import given

from fairfl_core.data.calibration import Calibration
from fairfl_core.errors import InputError
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import counted, shrink
from fairfl_core.lp.regions import default_rates
from tests.helpers.scored import scored_network, scored_people
from tests.helpers.strategies import count_tables


@given(count_tables())
def test_shrinking_keeps_people_and_moves_shares_to_the_pool(counts):
    found = shrink(counts)
    np.testing.assert_allclose(found.n_label, counts.n_label, atol=1e-9)
    np.testing.assert_allclose(shrink(counts, rows=1e-9).table, counts.table, atol=1e-6)
    far = shrink(counts, rows=1e12).table
    pooled = counts.table.sum(axis=0)
    for c, a, y in np.argwhere(counts.n_label > 0):
        share = pooled[a, y] / pooled[a, y].sum()
        np.testing.assert_allclose(far[c, a, y] / counts.n_label[c, a, y], share, atol=1e-6)


@given(scored_people())
def test_counts_from_scores_hold_everybody_by_what_the_model_said(people):
    ready = people.recalibrated(Calibration.fit(people))
    found = counted(ready, "scores")
    np.testing.assert_allclose(found.table.sum(axis=2), people.counts.table.sum(axis=2))
    assert found.noisy and not counted(people, "labels").noisy


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
@pytest.mark.parametrize("rates", ["labels", "scores", "shrunk", None])
def test_every_region_takes_every_choice_of_rates(region, rates):
    people = scored_network(2, 2, 2)
    program = FairnessProgram(people, "eop", region, rates=rates)
    found = program.solve(0.01, 0.01)
    assert found.gaps.overall <= 0.01 + 1e-7 and found.status == "optimal"
    if region != "exact" and (rates or default_rates(region)) == "labels":
        assert (
            found.accuracy
            == FairnessProgram(people.counts, "eop", region).solve(0.01, 0.01).accuracy
        )


def test_scores_that_nobody_recalibrated_are_not_trusted():
    with pytest.raises(InputError, match="recalibrate first"):
        counted(scored_network(2, 2, 2), "scores")
