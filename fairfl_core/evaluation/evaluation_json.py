"""An evaluation as a file: `fairfl-evaluation/1`."""

from typing import Any

import numpy as np

from fairfl_core._io.frames import records
from fairfl_core.evaluation.evaluation import LEVEL, Evaluation
from fairfl_core.fairness.notions import number_or_none

__all__ = ["FORMAT", "to_json"]

FORMAT = "fairfl-evaluation/1"


def to_json(one: Evaluation) -> dict[str, Any]:
    """The `fairfl-evaluation/1` form."""
    worst = one.gaps.worst
    low, high = one.reported_interval()
    unknown = {} if one.unknown is None else {"missing_group": _unknown(one)}
    return unknown | {
        "format": FORMAT,
        "notion": one.notion.name,
        "n": one.counts.n,
        "noisy": one.counts.noisy,
        "level": LEVEL,
        "accuracy": one.accuracy,
        "accuracy_interval": list(one.accuracy_interval),
        "model_accuracy": one.before.accuracy,
        "gap": {
            "global": number_or_none(one.gaps.overall),
            "global_interval": [number_or_none(low), number_or_none(high)],
            "global_one_draw": number_or_none(one.one_draw_global),
            "local": {
                name: number_or_none(gap)
                for name, gap in zip(one.counts.clients, one.gaps.local, strict=True)
            },
            "local_mean": number_or_none(one.gaps.local_mean),
            "local_left_out": int(np.isnan(one.gaps.local).sum()),
            "local_worst": None
            if worst is None
            else {
                "client": one.counts.clients[worst],
                "gap": float(one.gaps.local[worst]),
                "interval": list(one.reported_interval(worst)),
                "worst_of": one.compared_clients,
            },
            "local_debiased": {
                name: vars(value) | {"gap": number_or_none(value.gap)}
                for name, value in (
                    ("all", one.debiased()),
                    ("larger_half", one.debiased(one.larger_half)),
                )
            },
        },
        "model_gap": {
            "global": number_or_none(one.before.gaps.overall),
            "local_mean": number_or_none(one.before.gaps.local_mean),
        },
        "clients": records({"client": one.counts.clients, **one.client_columns()}),
        "groups": records({"group": one.counts.groups, **one.group_columns()}),
        "rates": records(one.rate_columns()),
        "not_assessable": [vars(cell) for cell in one.not_assessable],
    }


def _unknown(one: Evaluation) -> dict[str, Any]:
    """The least and the largest gaps, whatever groups the rows without one have."""
    assert one.unknown is not None and one.counts.missing is not None
    (low, high), overall = one.unknown
    return {
        "rows": one.counts.missing.rows,
        "gap_global": [number_or_none(value) for value in overall],
        "gap_local": {
            name: [number_or_none(float(least)), number_or_none(float(most))]
            for name, least, most in zip(one.counts.clients, low, high, strict=True)
        },
    }
