"""FCFL's released set-up: the table says what the kept answers say."""

import json
import re

import numpy as np
import pytest

from research.paper import fcfl_released


def test_each_figure_is_of_the_kept_answers():
    kept = json.loads(fcfl_released.RELEASED.read_text())
    rows = [line for line in fcfl_released.released_table() if re.match(r"\| (sp|eop) \|", line)]
    assert len(rows) == len(kept["rows"]) and {"sp", "eop"} == {r["notion"] for r in kept["rows"]}
    for line, row in zip(rows, kept["rows"], strict=True):
        table = np.array(row["confusion"])
        assert table.sum() == 16281  # the official test split
        _, _, _, _, accuracy, _, gaps, _, _ = line.split("|")
        for client, (right_share, apart) in enumerate(
            zip(accuracy.split(","), gaps.split(","), strict=True)
        ):
            own = table[client]
            right = sum(own[group, label, label] for group in (0, 1) for label in (0, 1))
            assert float(right_share.split("±")[0]) == pytest.approx(
                100 * right / own.sum(), abs=0.051
            )
            seen = own.sum(axis=1) if row["notion"] == "sp" else own[:, 1]
            women, men = seen[:, 1] / seen.sum(axis=1)
            assert float(apart.split("±")[0]) == pytest.approx(men - women, abs=0.00051)
