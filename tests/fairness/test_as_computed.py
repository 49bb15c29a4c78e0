"""Notions, gaps and their intervals on a small network, as they were approved; see `helpers/approved.py`."""

from pathlib import Path

import numpy as np
import pytest

from fairfl_core.fairness.intervals import expected_gap, gap_interval, mover, sign_test
from fairfl_core.fairness.notions import (
    Notion,
    gaps,
    not_assessable,
    notion_kind,
    notion_names,
    spreads,
)
from tests.helpers.approved import check, declared, tell
from tests.helpers.small import people

APPROVED = Path(__file__).with_name("as_computed")


@pytest.mark.parametrize(("labels", "groups"), [(2, 2), (3, 2), (2, 4)])
@pytest.mark.parametrize("name", notion_names())
def test_gaps_are_what_was_approved(name, labels, groups):
    counts = people(labels, groups).counts
    notion, kind = Notion.of(name, counts.labels, counts.favourable), notion_kind(name)
    there, answered = notion.people(counts.n_label), notion.answered(counts.table)
    rates = np.nan_to_num(answered / np.maximum(there, 1))
    found = gaps(answered, there)
    shown = tell(
        kind=[kind.name, kind.title, kind.meaning],
        rates=[str(rate) for rate in notion.rates],
        told=[notion.counts_errors, notion.given, notion.asked],
        people=there,
        answered=answered,
        gaps=found,
        spreads=spreads(answered, there),
        intervals=[gap_interval(rates, there, level) for level in (0.8, 0.95)],
        expected=expected_gap(rates, rates * (1 - rates) / np.maximum(there, 1), there > 0),
        not_assessable=not_assessable(notion, counts),
    )
    check(APPROVED / f"{name}, {labels} labels, {groups} groups.txt", shown)


def test_intervals_are_what_was_approved():
    rates, n = np.array([0.1, 0.5, 0.9, 0.0]), np.array([5.0, 20.0, 300.0, 2.0])
    shown = tell(
        mover=mover(rates, n, rates[::-1], n[::-1], 1.645),
        signs=sign_test(np.array([0.0, 3.0, 12.0, 200.0]), np.array([0.0, 9.5, 2.0, 150.0])),
    )
    check(APPROVED / "intervals.txt", shown)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("fairness"))
