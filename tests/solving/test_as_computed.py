"""Optima, prices and lotteries as they were approved, for every kind of question.

Not that they are right: `test_program.py` and its neighbours have oracles for that. These notice that a line changed.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.errors import CollisionError
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.build import build_program
from fairfl_core.solving.clients_apart import ClientsApart
from fairfl_core.solving.constraints.widths import binomial_widths, dvoretzky
from fairfl_core.solving.exact.bin_program import BinProgram
from fairfl_core.solving.exact.histograms import ScoreHistogram
from fairfl_core.solving.exact.program import ExactProgram
from fairfl_core.solving.frontier import frontier, mean_frontier
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, GroupingLimit, Policy
from fairfl_core.solving.rate_estimates import counts_by, measured, shrink
from fairfl_core.solving.regions import region_kind, region_names
from fairfl_core.solving.rivals.cells import beta_calibrated
from fairfl_core.solving.rivals.fedfact import fit_fedfact
from fairfl_core.solving.rivals.logofair import fit_logofair
from fairfl_core.solving.rivals.post_ffl import fit_post_ffl
from fairfl_core.solving.utility import BALANCED, Utility
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.small import LABELS, people
from tests.helpers.strategies import biased

APPROVED = Path(__file__).with_name("as_computed")
EACH = {"north": 0.02, "south": 0.1, "east": 0.3, "west": 0.05}
LIMITS = ((0.03, 0.06), (0.2, 0.01), (1.0, EACH))
SURE = {
    f"{scope} {proof}": Guarantee(0.8, scope, proof)
    for scope in ("each", "all")
    for proof in ("measured", "proved")
}
COSTS = Utility.missing(LABELS[2], "ill", 3.0)
POLICIES = {
    "floor": Policy(floors=(Floor("ill", 0.5), Floor("well", 0.3))),
    "keep": Policy(floors=(Floor("ill", keeps=0.1),)),
    "ratios": Policy(ratio_global=0.9, ratio_local=0.8),
    "ratios of most": Policy(ratio_global=0.95, ratio_leave_out=0.49),
    "balanced": Policy(utility=BALANCED),
    "costs": Policy(utility=COSTS),
    "all": Policy(
        floors=(Floor("ill", 0.4), Floor("well", keeps=0.3)), ratio_local=0.7, utility=COSTS
    ),
}
GROUPED = {
    "sex": Policy(limits=(GroupingLimit("sex", "local", 0.05),)),
    "age and both": Policy(
        limits=(GroupingLimit("age", "global", 0.01), GroupingLimit("sex*age", "local", 0.1))
    ),
}
BLIND = Policy(without_group=True)
# Floors that all cells reach by themselves, but not within tight limits.
HIGH = (Floor("l0", 0.7), Floor("l1", 0.66))
COLLIDING = {
    "sure of all": ("sp", Policy(floors=HIGH), SURE["all measured"]),
    "sure of each": ("sp", Policy(floors=HIGH), SURE["each proved"]),
    "kept": ("sp", Policy(floors=(Floor("l0", keeps=0.01), Floor("l1", 0.7))), None),
    "ratios": ("sp", Policy(floors=HIGH, ratio_local=0.9, ratio_global=0.99), None),
    "out of reach": ("eop", Policy(floors=(Floor("l0", 1.0), Floor("l1", 1.0))), None),
}


def solved(program, limits=LIMITS):
    """What the program finds at each pair of limits."""
    return {f"limits {k}": _solution(program, *pair) for k, pair in enumerate(limits)}


def _solution(program, overall, local):
    try:
        found = program.solve(overall, local)
    except CollisionError as error:
        return {"collides": str(error), **error.collision.to_json()}
    counts = found.counts
    cells = [(c, a) for c in range(len(counts.clients)) for a in range(len(counts.groups))]
    return {
        **found.to_json(),
        "attention": found.attention,
        "blind": found.blind,
        "remarks": found.remarks(),
        "lotteries": {
            f"{counts.clients[c]} {counts.groups[a]}": [
                f"{one.rule}: {one.share:.9g}" for one in found.lottery_of(c, a)
            ]
            for c, a in cells
        },
    }


def asked(labels=2, groups=2, rows=900, limits=LIMITS, **options):
    """The optimum of a question."""
    how = {"region": "simplex"} | options
    return lambda: solved(build_program(people(labels, groups, rows), **how), limits)


def colliding(notion, policy, sure):
    """What stands against what, and what would not."""
    program = build_program(
        biased(4, 2, rows=20_000), notion, "kernel", policy=policy, guarantee=sure
    )
    own = dict(zip(program.counts.clients, EACH.values(), strict=True))
    return solved(program, ((0.01, 0.05), (0.001, own), (0.2, 0.0), (1.0, 0.01)))


def mapped(program, method="auto", local=(0.0, 0.02, 0.1, 1.0), overall=(0.0, 0.05, 1.0)):
    steps = []
    keep = lambda *step: steps.append(step)  # noqa: E731
    found = frontier(program, eps_local=local, eps_global=overall, method=method, on_progress=keep)
    return {**vars(found), "mean": vars(mean_frontier([found, found])), "steps": steps}


def maps():
    tables = {}
    for notion, region in (("eop", "simplex"), ("sp", "kernel"), ("eo", "simplex")):
        program = build_program(people(), notion, region)
        tables[f"{notion} {region}"] = mapped(program)
        tables[f"{notion} {region}, as a program"] = mapped(program, "program")
    for name, policy in (("floor", POLICIES["floor"]), ("ratios", POLICIES["ratios"])):
        tables[name] = mapped(build_program(people(), "eo", "kernel", policy=policy))
    tables["exact"] = mapped(build_program(people(), "eop", "exact"), local=(0.0, 0.1))
    three = build_program(people(3, rows=200), "eo", "exact")
    tables["exact, three labels"] = mapped(three, local=(0.1,), overall=(1.0, 0.05))
    sure = build_program(people(), "eop", "simplex", guarantee=SURE["each measured"])
    tables["sure"] = mapped(sure, local=(0.1, 0.3))
    return tables


def more_people():
    """As if there were more, and the same program asked something else."""
    program = build_program(people(), "eop", "kernel", guarantee=SURE["each measured"])
    many = {f"{times} times": solved(program.as_if(times), LIMITS[:1]) for times in (2.0, 10.0)}
    other = build_program(people(), "eop", "kernel").asking(POLICIES["keep"])
    return many | {"asking": solved(other, LIMITS[:1])}


def margins():
    """How far every rule's rate may be off, for fewer people and for more, by each kind of proof."""
    program = build_program(people(), "eo", "kernel", guarantee=SURE["each proved"])
    columns, rows = program._listed_columns().columns, program._rows
    return {
        f"{kind.__name__}, {times} times": vars(
            kind(program.notion, columns, rows.people, error, times)
        )
        for kind, error in ((binomial_widths, 1.96), (dvoretzky, 0.05))
        for times in (0.1, 1.0, 3.7)
    }


def in_bins():
    """Score histograms and rules of bins."""
    made = people()
    histogram = ScoreHistogram.of(made, 8)
    exact = ExactProgram(histogram.measured(), "eo")
    answers = {"histogram": histogram, "exact": solved(exact, LIMITS[:2])}
    for notion in ("eop", "sp"):
        answers[f"bins {notion}"] = solved(BinProgram(made, notion, policy=BLIND), LIMITS[:2])
    sure = BinProgram(made, "eop", policy=BLIND, guarantee=SURE["each measured"])
    return answers | {"bins, sure": solved(sure, LIMITS[:1])}


def rates():
    """People as every choice of rates takes them."""
    answers = {}
    for name in ("labels", "scores", "shrunk"):
        answers[name] = counts_by(people().calibrated, name).table
        found = measured(people().calibrated, name)
        answers[f"{name}, measured"] = {
            "amount": found.amount,
            "counts": found.counts.table,
            "bytes": found.bytes_once,
        }
    return answers | {"shrunk by 50": shrink(people(3).counts, 50.0).table}


def rivals():
    """Other people's post-processing on the same people."""
    made, answers = people(rows=400), {}
    for notion in ("sp", "eop"):
        for rule, fitted in {
            "logofair": fit_logofair(made, notion, 0.03, 0.05),
            "logofair, as it is": fit_logofair(made, notion, 0.03, 0.05, calibrated=False),
            "logofair, distributed": fit_logofair(made, notion, 0.03, 0.05, distributed=True),
            "fedfact": fit_fedfact(made, notion, 0.03, 0.05),
        }.items():
            answers[f"{rule} {notion}"] = made.under_chances(fitted.chances).confusion
            answers[f"{rule} {notion}, fitted"] = {
                name: getattr(fitted, name)
                for name in ("prices", "threshold", "shares")
                if hasattr(fitted, name)
            }
        rule = fit_post_ffl(made.counts, notion, 0.03, 0.05)
        answers[f"post-ffl {notion}"] = [rule.second, rule.accuracy, rule.lottery]
    large = people(rows=3000)
    answers["beta-calibrated"] = beta_calibrated(large, large)
    answers["fedfact, three labels"] = fit_fedfact(people(3, rows=200), "eo", 0.03, 0.05).prices
    return answers


def regions():
    """What every region says of itself."""
    answers = {"names": region_names(), "without scores": region_names(scores=False)}
    for name in region_names():
        kind = region_kind(name)
        answers[name] = [kind.title, kind.meaning, kind.needs_scores, kind.default_rates]
    for name in region_names(scores=False):
        rules = region_kind(name).answer_rules(LABELS[3])
        answers[f"rules of {name}"] = [rules.names, rules.response, rules.block, rules.keeps]
        answers[f"corners of {name}"] = [rules.own, rules.blocks, rules.span, rules.corners]
    return answers


NOTIONS = ("sp", "eop", "eo", "eo-full")
QUESTIONS = {
    **{
        f"{notion} {region}, {labels} labels": asked(labels, notion=notion, region=region)
        for notion in NOTIONS
        for labels in (2, 3)
        for region in ("simplex", "kernel", "exact")
        if (notion, region) != ("eo-full", "simplex") and (region, labels) != ("exact", 3)
    },
    "eo exact, 3 labels": asked(3, rows=300, notion="eo", region="exact", limits=LIMITS[:1]),
    **{
        f"{region} by {name}": asked(notion="eo", region=region, rates=name, limits=LIMITS[:2])
        for region, name in (
            ("simplex", "scores"),
            ("kernel", "shrunk"),
            ("exact", "labels"),
            ("exact", "scores"),
        )
    },
    **{
        f"{region}, sure {name}": asked(
            notion=notion, region=region, guarantee=sure, limits=((0.3, 0.4), (0.15, 1.0))
        )
        for name, sure in SURE.items()
        for notion, region in (("eop", "simplex"), ("sp", "kernel"), ("eop", "exact"))
    },
    **{
        f"{region} with {name}": asked(notion="eo", region=region, policy=policy)
        for name, policy in POLICIES.items()
        for region in ("kernel", "exact")
    },
    "sure floor": asked(
        notion="eop", policy=POLICIES["floor"], guarantee=SURE["each measured"], limits=LIMITS[:1]
    ),
    "sure keep, exact": asked(
        notion="eop",
        region="exact",
        policy=POLICIES["keep"],
        guarantee=SURE["all proved"],
        limits=LIMITS[:1],
    ),
    "colliding": asked(
        notion="sp", policy=Policy(floors=(Floor("ill", 0.99), Floor("well", keeps=0.0)))
    ),
    "colliding, exact": asked(
        notion="sp", region="exact", policy=Policy(floors=(Floor("ill", 0.9), Floor("well", 0.95)))
    ),
    **{f"colliding, {name}": partial(colliding, *asked) for name, asked in COLLIDING.items()},
    **{
        f"groups of {name}": asked(2, 4, notion="eop", region="kernel", policy=policy)
        for name, policy in GROUPED.items()
    },
    **{
        f"{notion} {region}, four groups": asked(labels, 4, rows=500, notion=notion, region=region)
        for notion, region, labels in (
            ("eo", "kernel", 3),
            ("sp", "simplex", 2),
            ("eo", "exact", 2),
        )
    },
    "four groups, ratios": asked(
        2, 4, notion="sp", policy=Policy(ratio_global=0.8, ratio_local=0.7, ratio_leave_out=0.24)
    ),
    "four groups, floors": asked(
        3, 4, rows=600, notion="sp", region="kernel", policy=Policy(floors=(Floor("flu", 0.3),))
    ),
    "four groups, sure": asked(2, 4, notion="eop", guarantee=SURE["all measured"]),
    **{
        f"without group, {notion} {region}": asked(notion=notion, region=region, policy=BLIND)
        for notion, region in (("eo", "simplex"), ("sp", "kernel"), ("eop", "exact"))
    },
    "maps": maps,
    "more people": more_people,
    "margins": margins,
    "bins": in_bins,
    "rates": rates,
    "rivals": rivals,
    "regions": regions,
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_what_was_approved(name):
    shown = tell(**QUESTIONS[name]())
    # Rivals go down a slope in steps, which ends a little elsewhere on other machines.
    check(APPROVED / f"{name}.txt", shown, close=1e-3 if name == "rivals" else 1e-6)


def test_clients_apart_are_what_was_approved():
    """Solved client by client, as programs of thousands of clients are: values, prices, vertices."""
    shown = {}
    for notion, region, policy in (
        ("eop", "simplex", Policy()),
        ("eo", "kernel", Policy()),
        ("sp", "simplex", Policy(utility=BALANCED)),
        ("eo", "simplex", BLIND),
    ):
        program = FairnessProgram(biased(7, 2, rows=300), notion, region, policy=policy)
        sharing = program._listed_columns()
        worth, order = program._objective(sharing)
        apart = ClientsApart(program._rows, sharing, worth, order)
        for overall, local in ((0.01, 0.05), (0.0, 0.3), (1.0, 0.0)):
            values, duals = apart.solve(overall, np.linspace(local, 2 * local, 7))
            key = f"{notion} {region} {overall} {local} {bool(policy.without_group)}"
            shown[key] = [worth @ values, values, duals]
        grid = apart.grid([0.0, 0.05, 1.0], [np.full(7, eps) for eps in (0.0, 0.1)])
        shown[f"{notion} {region} {policy.utility.name}, grid"] = [
            [worth @ one for one in row] for row in grid
        ]
    check(APPROVED / "clients apart.txt", tell(**shown), close=1e-6)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("solving"))


def test_refusals_are_what_was_approved():
    made, counts = people(), people().counts
    noisy = replace(counts, table=counts.table + 0.5, noisy=True)
    costs = {"labels": ["well", "ill"], "gain": [[0, 1], [1, 0]]}
    tries = {
        "nobody": lambda: build_program(replace(noisy, table=0 * counts.table)),
        "noisy and sure": lambda: build_program(noisy, guarantee=SURE["each proved"]),
        "scores of counts": lambda: build_program(counts, rates="scores"),
        "exact of counts": lambda: build_program(counts, "eo", "exact"),
        "three labels, sure": lambda: build_program(
            people(3), "eo", "exact", guarantee=Guarantee()
        ),
        "three labels, blind": lambda: build_program(people(3), "eo", "exact", policy=BLIND),
        "blind in bins": lambda: ScoreHistogram.of(made, 5),
        "histogram of three": lambda: ScoreHistogram.of(people(3), 4),
        "too few bins": lambda: ScoreHistogram.of(made, 0),
        "eps": lambda: build_program(counts).solve(-0.1, 0.1),
        "eps of words": lambda: build_program(counts).solve("a", 0.1),
        "eps of some": lambda: build_program(counts).solve(0.1, [0.1, 0.2]),
        "eps of nobody": lambda: build_program(counts).solve(0.1, {"moon": 0.2}),
        "no grid": lambda: frontier(build_program(counts), eps_local=[], eps_global=[0.1]),
        "no merge": lambda: frontier(
            build_program(counts), eps_local=[0.1], eps_global=[0.1], method="merge"
        ),
        "utility": lambda: Utility("luck"),
        "no table": lambda: Utility.from_json(3),
        "one label": lambda: Utility.from_json(costs | {"labels": ["a"]}),
        "no names": lambda: Utility.from_json(costs | {"labels": [1, 2]}),
        "no name": lambda: Utility.from_json(costs | {"name": ""}),
        "shape": lambda: Utility("x", ("a", "b"), ((1.0, 2.0),)),
        "large": lambda: Utility("x", ("a", "b"), ((1.0, 2.0), (1e9, 0.0))),
        "all the same": lambda: Utility("x", ("a", "b"), ((1.0, 1.0), (2.0, 2.0))),
        "other labels": lambda: build_program(people(3), policy=Policy(utility=COSTS)),
        "policy": lambda: Policy.from_json({"floor": 3}),
        "limits": lambda: Policy.from_json({"limits": [3]}),
        "without": lambda: Policy.from_json({"without_group": 3}),
        "floor": lambda: Floor("ill", 1.5),
        "keep": lambda: Floor("ill", keeps=-0.5),
        "guarantee": lambda: Guarantee.from_json(3),
        "proof": lambda: Guarantee(0.9, "each", "hope"),
        "region": lambda: region_kind("moon"),
        "rates": lambda: counts_by(counts, "luck"),
        "full": lambda: build_program(counts, "eo-full", "simplex"),
    }
    check(APPROVED / "refusals.txt", tell(**{name: refusal(one) for name, one in tries.items()}))
