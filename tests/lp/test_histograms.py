"""The exact region in one round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import ScorePredictor, predictor_of
from fairfl_core.privacy.mechanisms import Mechanism, release_histogram
from tests.helpers.scored import as_people, exact_program, scored_network, scored_people
from tests.helpers.strategies import epsilons


@given(
    scored_people(labels=(2, 2)),
    st.sampled_from(["sp", "eop", "eo"]),
    epsilons,
    epsilons,
    st.sampled_from([2, 16]),
)
def test_it_lies_between_kernel_and_exact_and_does_on_people_what_it_says(
    people, notion, overall, local, bins
):
    histogram = ScoreHistogram.of(people, bins)
    assert (histogram.counts.table == people.counts.table).all()
    found = FairnessProgram(histogram.measured(), notion).solve(overall, local)
    exact = exact_program(people, notion).solve(overall, local)
    kernel = FairnessProgram(people.counts, notion, "kernel").solve(overall, local)
    assert kernel.accuracy - 1e-7 <= found.accuracy <= exact.bound.upper + 1e-7
    assert found.rounds == 1 and found.bytes_per_client == len(people.groups) * 2 * bins * 4
    judged = evaluate(ScorePredictor.from_solution(found), people)
    assert judged.accuracy == pytest.approx(found.accuracy, abs=1e-9)
    np.testing.assert_allclose(judged.gaps.local, found.gaps.local, atol=1e-9)


def halves(people):
    """Every other person, so that cells are as large in both, and those left over."""
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        yield as_people(
            people.client[rows],
            people.group[rows],
            people.label[rows],
            people.scores[rows],
            len(people.clients),
            len(people.groups),
        )


def test_sixteen_bins_lose_little_on_the_fitted_and_on_others():
    people, unseen = halves(scored_network(4, 2, 2, rows=20_000, seed=7))
    exact = exact_program(people, "eop").solve(0.01, 0.01)
    one = FairnessProgram(ScoreHistogram.of(people).measured(), "eop").solve(0.01, 0.01)
    assert 0 <= exact.accuracy - one.accuracy < 0.003
    assert not (people.scores == unseen.scores).any()
    judged, theirs = (evaluate(predictor_of(solution), unseen) for solution in (one, exact))
    assert judged.accuracy == pytest.approx(theirs.accuracy, abs=0.003)
    assert judged.accuracy == pytest.approx(one.accuracy, abs=0.006)  # three standard errors
    # A local gap of 2,500 people a group has a standard error of .013.
    assert judged.gaps.overall < 0.02 < 0.04 < judged.before.gaps.overall
    assert judged.gaps.local_worst < 0.05 < 0.12 < judged.before.gaps.local_worst


def test_noise_is_repaired_and_solved_with():
    histogram = ScoreHistogram.of(scored_network(2, 2, 2, rows=2000))
    released = release_histogram(histogram, Mechanism(epsilon=0.5))
    assert released.noisy and released.table.shape == histogram.table.shape
    assert (released.table >= 0).all() and (released.table != histogram.table).any()
    found = FairnessProgram(released.measured(), "eop").solve(0.05, 0.05)
    assert found.status == "optimal" and found.gaps.overall <= 0.05 + 1e-7


def test_what_a_histogram_is_not_for_is_refused():
    people = scored_network(2, 2, 2)
    histogram = ScoreHistogram.of(people)
    with pytest.raises(InputError, match="serves two labels"):
        ScoreHistogram.of(scored_network(2, 2, 3))
    with pytest.raises(InputError, match="even number"):
        ScoreHistogram.of(people, 5)
    with pytest.raises(InputError, match='mechanism "histogram"'):
        release_histogram(histogram, Mechanism(name="paper", epsilon=1))
    noisy = release_histogram(histogram, Mechanism(epsilon=1))
    with pytest.raises(InputError, match="noisy already"):
        release_histogram(noisy, Mechanism(epsilon=1))
