"""How much is done for an answer, as it was approved: rounds, pivots, rules listed and asked for.

The same optimum is found from any start, over any rules beside those that matter and by any solver that
serves. Who waits for it sees the difference: a start that is lost, rules that nobody needs, a solver chosen
for another size. Another machine may need a round more or less.
"""

from pathlib import Path

import pytest

from fairfl_core.errors import CollisionError
from fairfl_core.solving.build import build_program
from fairfl_core.solving.frontier import frontier
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, Policy
from tests.helpers import small
from tests.helpers.approved import check, tell
from tests.helpers.strategies import biased
from tests.helpers.work import calls, numbers

APPROVED = Path(__file__).with_name("as_computed")
NEARLY = 0.12  # of a count: those up to eight are to be the same
WORKERS = [
    f"fairfl_core.solving.{name}"
    for name in ("backend", "clients_apart", "collision", "exact", "sifted", "slope_merge")
    + ("tableaux", "whole")
]
LIMITS = ((0.3, 0.05), (0.02, 0.1), (0.0, 0.0))
SURE = Guarantee(0.8, "all", "measured")
PROVED = Guarantee(0.8, "each", "proved")
FLOORS = Policy(floors=(Floor("ill", 0.5), Floor("well", keeps=0.1)))
RATIOS = Policy(ratio_global=0.9, ratio_local=0.8)
TOO_MUCH = Policy(floors=(Floor("ill", 0.9), Floor("well", 0.95)))
BLIND = Policy(without_group=True)


def people(*how, **more):
    """Made anew: what other tests have found out about them is not known."""
    return small.people.__wrapped__(*how, **more)


def solves(made, limits=LIMITS, **options):
    program = build_program(made, **({"region": "simplex"} | options))
    for overall, local in limits:
        program.solve(overall, local)


def maps(made, **options):
    program = build_program(made, **({"region": "simplex"} | options))
    frontier(program, eps_local=(0.0, 0.05, 0.3), eps_global=(0.0, 0.02, 0.1, 1.0))


def collides(**options):
    with pytest.raises(CollisionError):
        solves(people(), LIMITS[:1], policy=TOO_MUCH, **options)


WAYS = {
    "whole": lambda: solves(people(), notion="eo"),
    "three labels": lambda: solves(people(3), notion="eo", region="kernel"),
    "floors": lambda: solves(people(), notion="eo", region="kernel", policy=FLOORS),
    "ratios": lambda: solves(people(), notion="sp", region="kernel", policy=RATIOS),
    "blind": lambda: solves(people(), notion="eop", region="exact", policy=BLIND),
    "listed": lambda: solves(people(), notion="eo", region="exact"),
    "listed, four groups": lambda: solves(people(2, 4), notion="sp", region="exact"),
    "listed, scores": lambda: solves(people(), notion="eo", region="exact", rates="scores"),
    "listed, shrunk": lambda: solves(people(), notion="eop", region="exact", rates="shrunk"),
    "listed, floors": lambda: solves(people(), notion="eop", region="exact", policy=FLOORS),
    "asked for": lambda: solves(people(3, rows=200), LIMITS[1:2], notion="eo", region="exact"),
    "sure": lambda: solves(people(), ((0.3, 0.4),), notion="eop", guarantee=SURE),
    "sure, listed": lambda: solves(
        people(), ((0.3, 0.4),), notion="eop", region="exact", guarantee=SURE
    ),
    "proved": lambda: solves(people(), ((0.9, 0.9),), notion="sp", guarantee=PROVED),
    "clients apart": lambda: solves(biased(1100, 2, rows=300), notion="eo"),
    "just not apart": lambda: solves(biased(600, 2, rows=300), notion="eo"),
    "colliding": lambda: collides(notion="sp"),
    "colliding, listed": lambda: collides(notion="sp", region="exact"),
    "map": lambda: maps(people(), notion="eop"),
    "map of a program": lambda: maps(people(), notion="eo", region="kernel"),
    "map within floors": lambda: maps(people(), notion="eo", policy=FLOORS),
    "map, sure": lambda: maps(people(), notion="eop", guarantee=SURE),
    "map of clients apart": lambda: maps(biased(1100, 2, rows=300), notion="eo"),
    "map of listed rules": lambda: maps(people(), notion="eo", region="exact"),
}


def weight(frame, found):
    """Pivots of HiGHS; of all else, numbers."""
    if frame.f_code.co_qualname == "Model.optimum":
        return frame.f_locals["self"]._highs.getInfo().simplex_iteration_count
    return numbers(frame, found)


@pytest.mark.parametrize("way", WAYS)
def test_no_more_is_done_for_an_answer_than_was_approved(way):
    WAYS[way]()  # so that what is made once is made
    done = calls(WAYS[way], WORKERS, weight)
    check(APPROVED / "work" / f"{way}.txt", tell(**done), close=NEARLY)
