"""Gaps as weights on rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.errors import InputError
from research.trained.gaps import gaps_of


@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.integers(2, 4),
    st.sampled_from(["sp", "eop", "eo"]),
)
def test_weights_give_the_difference_of_two_means(seed, groups, labels, notion):
    rng = np.random.default_rng(seed)
    group, label = rng.integers(0, groups, 40), rng.integers(0, labels, 40)
    scores = rng.dirichlet(np.ones(labels), 40)
    favourable = int(rng.integers(0, labels))
    gaps = gaps_of(notion, group, label, groups=groups, labels=labels, favourable=favourable)
    expected = []
    looked_at = {
        "sp": [favourable] if labels == 2 else range(labels),
        "eop": [favourable],
        "eo": range(labels),
    }[notion]
    for y in looked_at:
        rows = np.ones(40, bool) if notion == "sp" else label == y
        for a in range(groups):
            for b in range(a + 1, groups):
                means = [scores[rows & (group == code), y] for code in (a, b)]
                empty = any(len(part) == 0 for part in means)
                expected.append(0 if empty else means[1].mean() - means[0].mean())
    values = (gaps.coefficients * scores[:, gaps.label].T).sum(axis=1)
    assert np.allclose(values, expected, atol=1e-12)


def test_an_unknown_notion_is_a_sentence():
    one = np.zeros(1, int)
    with pytest.raises(InputError, match='no notion "calibration"; choose one of: sp, eop, eo'):
        gaps_of("calibration", one, one, groups=2, labels=2, favourable=1)
