"""Rates and gaps against fairlearn's, and the cells nobody is in."""

import numpy as np
import pytest
from fairlearn.metrics import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)
from hypothesis import given, settings

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, gaps, not_assessable
from tests.data.test_counts import rows_of
from tests.helpers.strategies import count_tables


def model_gaps(counts, name):
    notion = Notion.of(name, counts.labels, counts.favourable)
    return gaps(notion.answered(counts.table), notion.people(counts.n_label))


@settings(max_examples=8)  # fairlearn takes most of it
@given(count_tables(labels=(2, 2), decent=True))
def test_gaps_of_the_model_are_fairlearns(counts):
    rows = rows_of(counts)
    pos = counts.favourable
    peers = {
        ("sp",): demographic_parity_difference,
        ("eop",): equal_opportunity_difference,
        # With two labels both definitions of equalized odds see the same two differences.
        ("eo", "eo-full"): equalized_odds_difference,
    }
    for names, peer in peers.items():
        for c, client in [(None, None), *enumerate(counts.clients)]:
            some = rows if client is None else rows[rows.client == client]
            expected = peer(
                some.label == pos, some.prediction == pos, sensitive_features=some.group
            )
            for name in names:
                found = model_gaps(counts, name)
                got = found.overall if c is None else found.local[c]
                assert got == pytest.approx(expected, abs=1e-12)


@given(count_tables())
def test_gaps_by_hand_for_any_table(counts):
    """Every notion from its definition, group by group, with people missing anywhere."""
    table = counts.table
    labels, favourable = range(len(counts.labels)), counts.labels.index(counts.favourable)
    wanted = {
        "sp": [(list(labels), k) for k in labels],
        "eop": [([favourable], favourable)],
        "eo": [([y], y) for y in labels],
        "eo-full": [([y], k) for y in labels for k in labels],
    }
    for name, rates in wanted.items():
        found = model_gaps(counts, name)
        for scope, got in zip(
            [table.sum(axis=0), *table], [found.overall, *found.local], strict=True
        ):
            spreads = []
            for given_labels, answer in rates:
                values = [
                    group[given_labels, answer].sum() / group[given_labels].sum()
                    for group in scope
                    if group[given_labels].sum() > 0
                ]
                if len(values) > 1:
                    spreads.append(max(values) - min(values))
            expected = max(spreads, default=np.nan)
            assert got == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(count_tables(most=2))
def test_every_empty_cell_is_reported_once(counts):
    eo = not_assessable(Notion.of("eo", counts.labels, counts.favourable), counts)
    empty = {
        (counts.clients[c], counts.groups[a], counts.labels[y])
        for c, a, y in np.argwhere(counts.n_label == 0)
    }
    assert {(cell.client, cell.group, cell.label) for cell in eo} == empty
    assert len(eo) == len(empty) and all(cell.n == 0 for cell in eo)
    sp = not_assessable(Notion.of("sp", counts.labels, counts.favourable), counts)
    assert {(cell.client, cell.group) for cell in sp} == {
        (counts.clients[c], counts.groups[a])
        for c, a in np.argwhere(counts.table.sum(axis=(2, 3)) == 0)
    }
    assert all(cell.label is None for cell in sp)


def test_an_unknown_notion_is_refused():
    with pytest.raises(InputError, match='no notion "equal"'):
        Notion.of("equal", ("a", "b"), "b")
