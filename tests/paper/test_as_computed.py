"""The paper's numbers as they are quoted, and trends and programs in its form, as they were approved.

The numbers are compared with the paper itself by `test_printed.py`, where the paper is at hand.
"""

from pathlib import Path

import numpy as np

from fairfl_core.paper import method_tables, printed, reproduction
from fairfl_core.paper.original_form import (
    paper_form,
    paper_lottery,
    paper_parameters,
    paper_region,
)
from fairfl_core.paper.trend import scenario_costs, trend_of, trend_table
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.small import people
from tests.helpers.strategies import biased

APPROVED = Path(__file__).with_name("as_computed")


def test_what_is_quoted_is_what_was_approved():
    quoted = {name: getattr(printed, name) for name in printed.__all__ if name.isupper()}
    for module in (method_tables, reproduction):
        for name in ("FRAMEWORKS", "AT", "SAID", "COMPARED", "SETTINGS", "DRAWS", "DIFFERENCES"):
            if hasattr(module, name):
                quoted[name] = getattr(module, name)
    check(APPROVED / "printed.txt", tell(**quoted))


def test_trends_are_what_was_approved():
    rng = np.random.default_rng(1)
    maps = {
        f"scenario {k}": {
            seed: 0.9 - 0.02 * k - 0.05 * rng.random((3, 3)) for seed in range(4 + k)
        }
        for k in (1, 2, 3)
    }
    by_scenario = [scenario_costs(list(own.values())[:4]) for own in maps.values()]
    shown = tell(
        costs=by_scenario,
        trends=[trend_of([costs[name] for costs in by_scenario]) for name in by_scenario[0]],
        too_few=trend_of([by_scenario[0]["both"][:1]] * 3),
        table=trend_table(maps),
        rising=trend_table(
            {
                k: {s: m - 0.03 * i for s, m in own.items()}
                for i, (k, own) in enumerate(maps.items())
            }
        ),
        one_seed=trend_table({k: {0: own[0]} for k, own in maps.items()}),
    )
    check(APPROVED / "trends.txt", shown, close=1e-6)


def test_the_papers_form_is_what_was_approved():
    counts = biased(3, 3, rows=400)
    tp = np.array([0.7, 0.6, 0.5])
    shown = tell(
        forms={notion: vars(paper_form(counts, notion, 0.05, 0.1)) for notion in ("eo", "eop")},
        parameters={notion: paper_parameters(counts, notion) for notion in ("eo", "eop")},
        region=paper_region(tp),
        lottery=paper_lottery(tp, np.array([0.65, 0.6, 0.5])),
        refused=[
            refusal(lambda: paper_form(people().counts, "eo", 0.1, 0.1)),
            refusal(lambda: paper_form(counts, "sp", 0.1, 0.1)),
        ],
    )
    check(APPROVED / "form.txt", shown, close=1e-6)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("paper"))
