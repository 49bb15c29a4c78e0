"""Exactly on an edge: what is said where a number equals its limit, as it was approved; see `helpers/approved.py`."""

from pathlib import Path

import numpy as np

from fairfl_core.evaluation.advice import tightest_limits
from fairfl_core.evaluation.alarms import (
    HARDLY,
    LEAST_SHARE,
    UNLIKELY,
    BlindLottery,
    LostLabel,
    blindness,
    is_lost,
)
from fairfl_core.evaluation.all_rates import NotionGap, all_rates_of
from fairfl_core.evaluation.closed_gaps import SHOWN, ClosedGap, GroupRate
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.impact_ratios import impact_ratios_of
from fairfl_core.evaluation.limit_check import CHANCE, LimitCheck, PeopleBehind, within_chance
from fairfl_core.evaluation.methods import Difference, MethodFrontier
from fairfl_core.evaluation.study import Spread
from fairfl_core.fairness.notions import Rate
from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from tests.helpers.approved import check, refusal, tell
from tests.helpers.small import people

APPROVED = Path(__file__).with_name("as_computed")
BEHIND = PeopleBehind("Pr(answer=ill | label=ill)", "men", 30, 0.5, "women", 40, 0.7)


def limit(**changes):
    usual = {"gap": 0.1, "before": 0.1, "low": 0.0, "high": 0.07, "eps": 0.05}
    given = usual | {"n": 100, "needed": 77} | changes
    made = LimitCheck(client="north", behind=BEHIND, **given)
    return [made.is_broken, made.is_conclusive, made.is_worse]


def closed(raised, lowered, *, lower=(0.5, 0.6), higher=(0.8, 0.7)):
    groups = GroupRate("men", 30, *lower), GroupRate("women", 40, *higher)
    made = ClosedGap(None, Rate("ill", "ill"), 0.3, 0.1, raised, lowered, *groups)
    return [made.sentence(), made.crossed, made.closed, made.share_lowered]


def lost(before, after, p_value):
    made = LostLabel(
        client="north",
        group="men",
        n=40,
        label="ill",
        before=before,
        after=after,
        low=0.1,
        high=0.9,
        p_value=p_value,
    )
    return [made.beyond_chance, made.collapse, made.sentence(), made.brief(), made.order]


def test_limits_and_alarms_on_the_edge_are_what_was_approved():
    blind = [
        BlindLottery(
            client="north",
            group="men",
            n=n,
            p_value=0.01,
            attention=at,
            answer="ill",
            share=0.6,
            before=0.5,
        )
        for n, at in ((9, HARDLY), (1, 0.0))
    ]
    notions = [
        NotionGap(None, "eo", 0.2, after, (0.1, 0.3), (0.0, 0.2), low, high).word
        for after in (0.2, 0.2 - SHOWN, 0.25, 0.1)
        for low, high in ((-0.1, 0.0), (0.0, 0.1), (-0.1, -0.01), (0.01, 0.1))
    ]
    shown = tell(
        limits=[
            limit(),
            limit(low=0.05 + 5e-4),
            limit(low=0.06),
            limit(eps=0.0, high=0.02),
            limit(high=0.0701),
            limit(gap=0.0, before=-CHANCE),
            limit(gap=0.11),
        ],
        within=within_chance(np.array([0.0, CHANCE, 0.001])),
        lost=[lost(0.8, 0.4, UNLIKELY), lost(0.8, 0.39, 0.049), lost(0.004, 0.0004, 0.5)],
        is_lost=is_lost(
            np.array([0.5, 0.5, 0.5, 0.001, 0.002, 0.08]),
            np.array([0.45, 0.44, 0.5, 0.0005, 0.0009, LEAST_SHARE * 0.08]),
        ),
        blind=[[one.sentence(), one.brief(), one.order, one.beyond_chance] for one in blind],
        blindness=blindness(blind),
        notions=notions,
        differences=[
            Difference(mean, error, seeds).verdict
            for mean, error in (
                (0.02, 0.01),
                (-0.02, 0.01),
                (0.03, 0.01),
                (-0.03, 0.01),
                (0.0, 0.0),
            )
            for seeds in (2, 3)
        ],
    )
    check(APPROVED / "edges.txt", shown)


def test_closed_gaps_on_the_edge_are_what_was_approved():
    shares = (
        0.0,
        0.004,
        0.005,
        0.2,
        0.28,
        0.29,
        0.41,
        0.42,
        0.58,
        0.7,
        0.71,
        0.79,
        0.8,
        0.995,
        1.0,
    )
    shown = tell(
        closed=[closed(0.2 * (1 - share), 0.2 * share) for share in shares],
        both_down=closed(0.0, 0.2, lower=(0.5, 0.4), higher=(0.8, 0.4)),
        both_up=closed(0.2, 0.0, lower=(0.5, 0.9), higher=(0.8, 0.85)),
        on_the_edge=closed(0.2, 0.0, lower=(0.5, 0.7), higher=(0.7 - SHOWN, 0.7 - SHOWN)),
    )
    check(APPROVED / "edges of closed gaps.txt", shown)


def test_shares_frontiers_and_prices_on_the_edge_are_what_was_approved():
    program = build_program(people(), "eop", "simplex")
    judged = evaluate(predictor_of(program.solve(0.1, 0.1)), people())
    share = judged.counts.table.sum(axis=(0, 2, 3)) / judged.counts.n
    frontier = MethodFrontier((), np.array([0.1, 0.2]), np.array([[0.5, 0.6], [0.7, 0.8]]), (0, 1))
    even = ClientCounts(
        np.array([[[[40, 10], [10, 40]], [[41, 10], [10, 40]]]]),
        ("a",),
        ("men", "women"),
        ("no", "yes"),
    )
    alike = evaluate(predictor_of(build_program(even, "eop", "simplex").solve(1.0, 1.0)), even)
    shown = tell(
        alike=all_rates_of([alike]).base.sentence(),
        left_out=[
            impact_ratios_of([judged], leave_out=least).left_out for least in (share[0], share[1])
        ],
        refused=[
            refusal(lambda one=one: impact_ratios_of([judged], leave_out=one))
            for one in (-0.1, 1.0)
        ],
        prices=[
            refusal(lambda one=one: tightest_limits([program], one)) for one in (-1, 0, 100, 101)
        ],
        at=[frontier.at(gap) for gap in (0.09, 0.1, 0.15, 0.2, 0.3)],
        spreads=[
            [Spread(np.array(one)).mean, Spread(np.array(one)).deviation]
            for one in ([0.5], [0.5, 0.7], [np.nan, 0.5], [np.nan])
        ],
    )
    check(APPROVED / "edges of shares.txt", shown)
