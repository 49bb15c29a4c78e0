"""People in the order of their scores: where cuts fall among them, whatever the scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.answers import Ranks

scores = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 1 / 3, 0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0), 1.0]),
)
people = st.lists(st.tuples(st.integers(0, 3), scores), max_size=40)
cuts = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(scores, st.floats(-5, 5)), st.booleans()), min_size=1
)


@given(people, cuts)
def test_a_cut_falls_where_a_look_at_its_cell_puts_it(people, cuts):
    cell = np.array([one[0] for one in people], np.int64)
    score = np.array([one[1] for one in people], float)
    ranks = Ranks(cell, 0 * cell, 0 * cell, score, 4)
    which, at, above = (np.array(part) for part in zip(*cuts, strict=True))
    expected = [
        ranks.starts[c] + np.searchsorted(np.sort(score[cell == c]), t, "right" if up else "left")
        for c, t, up in cuts
    ]
    np.testing.assert_array_equal(ranks.places(which, at, above), expected)
