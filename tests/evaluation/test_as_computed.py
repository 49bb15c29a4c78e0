"""What is told of a lottery on people, as it was approved: studies, verdicts, harm, rates, prices.

Not that it is right, which the other tests of this room say: these notice that a line changed.
"""

from pathlib import Path

import numpy as np
import pytest

from fairfl_core.evaluation.advice import price_of_certainty, tightest_limits
from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.evaluation.closed_gaps import closed_gaps
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.harm import effect_of, harm_of
from fairfl_core.evaluation.held_out_curve import held_out_curve, pooled_debiased
from fairfl_core.evaluation.holding.document import holding
from fairfl_core.evaluation.impact_ratios import impact_ratios_of
from fairfl_core.evaluation.methods import difference, frontier_of, method_rows
from fairfl_core.evaluation.own_models import MODEL_GAPS, frontier, model_settings
from fairfl_core.evaluation.post_processed import POST_PROCESSED, answers_of, ship_post_processed
from fairfl_core.evaluation.prohibition import ProhibitionPrice
from fairfl_core.evaluation.study import run_study
from fairfl_core.evaluation.summary import client_rows, summarise
from fairfl_core.people import experiments
from fairfl_core.people.counts import ClientCounts
from fairfl_core.people.folded import fitted_people, unseen_people
from fairfl_core.people.method_answers import FOLDER, save_method
from fairfl_core.predictors.load import predictor_of
from fairfl_core.solving.build import build_program
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, GroupingLimit, Policy
from fairfl_core.solving.utility import BALANCED
from tests.helpers.approved import check, declared, tell
from tests.helpers.small import people, save_experiments
from tests.helpers.strategies import biased

APPROVED = Path(__file__).with_name("as_computed")
SEEDS = (1, 4)
BLIND = Policy(without_group=True)
# Question: (labels, groups, eps_global, eps_local, how it is built).
QUESTIONS = {
    "eo simplex": (2, 2, 0.03, 0.05, {"notion": "eo"}),
    "eo simplex, nothing apart": (2, 2, 0.0, 0.0, {"notion": "eo"}),
    "sp kernel": (2, 2, 0.01, 0.2, {"notion": "sp", "region": "kernel"}),
    "eop exact": (2, 2, 0.05, 0.05, {"notion": "eop", "region": "exact"}),
    "three labels": (3, 2, 0.02, 0.04, {"notion": "eo"}),
    "every error": (3, 2, 0.05, 0.08, {"notion": "eo-full", "region": "kernel"}),
    "four groups": (
        *(2, 4, 0.05, 0.1),
        {"notion": "eop", "policy": Policy(limits=(GroupingLimit("sex", "global", 0.01),))},
    ),
    "four groups, three labels": (3, 4, 0.05, 0.1, {"notion": "eo", "region": "kernel"}),
    "sure": (2, 2, 0.3, 0.4, {"notion": "eop", "guarantee": Guarantee(0.8, "each")}),
    "floors": (
        *(2, 2, 0.1, 0.1),
        {"notion": "eo", "policy": Policy(floors=(Floor("ill", 0.4),), utility=BALANCED)},
    ),
    "ratios": (2, 2, 1.0, 1.0, {"notion": "sp", "policy": Policy(ratio_local=0.9)}),
}
# Three groups: all alike; one without the first label; one alone with it, and all alike in the second.
HOLES = ClientCounts(
    np.array(
        [
            [[[8, 2], [2, 8]], [[8, 2], [2, 8]], [[8, 2], [2, 8]]],
            [[[0, 0], [3, 7]], [[9, 1], [3, 7]], [[9, 1], [8, 12]]],
            [[[0, 0], [1, 7]], [[0, 0], [1, 7]], [[5, 0], [0, 4]]],
            [[[0, 0], [0, 0]], [[6, 0], [0, 6]], [[0, 0], [0, 0]]],
        ]
    ),
    ("alike", "uneven", "alone", "one group"),
    ("red", "green", "blue"),
    ("no", "yes"),
)
ALONE = ClientCounts(
    np.array([[[[6, 1], [2, 6]], [[0, 0], [0, 0]]]]), ("one",), ("men", "women"), ("no", "yes")
)


def programs(labels, groups, **options):
    how = {"region": "simplex"} | options
    return [(seed, build_program(people(labels, groups, seed=seed), **how)) for seed in SEEDS]


def unseen(labels=2, groups=2):
    return [people(labels, groups, rows=500, seed=seed + 10) for seed in SEEDS]


def study_of(name):
    labels, groups, overall, local, options = QUESTIONS[name]
    built, there = programs(labels, groups, **options), unseen(labels, groups)
    limits = (
        dict.fromkeys(("north", "south", "west"), local) | {"east": min(2 * local, 1.0)},
        local,
    )
    local = limits[name == "sure"]
    return run_study(built, there, overall, local), run_study(built, there, 1.0, 1.0)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_study_tells_what_was_approved(name):
    check(APPROVED / f"{name}.txt", all_of_a_study(*study_of(name)), close=1e-6)


@pytest.mark.parametrize("notion", ["sp", "eo"])
def test_a_study_of_holes_and_ties_tells_what_was_approved(notion):
    """Within limits that hardly bind: lotteries are rules, and equal rates are equal to the last bit."""
    built = [(seed, build_program(HOLES, notion, "simplex")) for seed in SEEDS]
    study, unlimited = (run_study(built, [HOLES, HOLES], eps, eps) for eps in (0.7, 1.0))
    shown = all_of_a_study(study, unlimited) + all_of_harm(study, leave_out=0.2)
    check(APPROVED / f"holes and ties, {notion}.txt", shown, close=1e-6)


def all_of_a_study(study, unlimited):
    summary = summarise(study, unlimited)
    told = {key: value for key, value in vars(summary).items() if key not in ("harm", "verdict")}
    one = study.evaluations(unseen=True)[0]
    changes = {f"{change}": effect_of(change, summary.harm) for change in (-0.01, 0.0, 0.02)}
    return tell(
        summary=told,
        judged=[summary.harmless, summary.effect, summary.loses_most, summary.gains_most],
        verdict=None if summary.verdict is None else summary.verdict.to_json(),
        limits=[vars(one) for one in summary.verdict.limits] if summary.verdict else [],
        fitted=client_rows(study, unseen=False, at=(2, 0)),
        worst=[study.worst_client(unseen=unseen) for unseen in (False, True)],
        groups=study.group_table(unseen=True),
        evaluation=one.to_json(),
        changes={
            key: {**vars(effect), "told": effect.told("1.00 points")}
            for key, effect in changes.items()
        },
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_harm_and_rates_are_what_was_approved(name):
    study, _ = study_of(name)
    shown = all_of_harm(study, leave_out=0.2 if name == "four groups" else 0.0)
    check(APPROVED / f"{name}, harm.txt", shown, close=1e-6)


def all_of_harm(study, leave_out=0.0):
    evaluations = study.evaluations(unseen=True)
    harm, rates = harm_of(evaluations), all_rates_of(evaluations)
    ratios = impact_ratios_of(evaluations, leave_out=leave_out)
    _, second, third, _ = evaluations[0].counts.clients
    return tell(
        harm=harm.to_json(),
        sentences=[harm.title, harm.sentence(), harm.counted()],
        clients=[
            [one.client, one.told(1), one.told(rest=False), one.sentence()]
            for one in harm.by_client.values()
        ],
        alarms=[
            [alarm.sentence(), alarm.brief(), alarm.told(), alarm.order] for alarm in harm.alarms
        ],
        closed=[[one.sentence(), one.to_json()] for one in closed_gaps(evaluations)],
        rates=rates.to_json(),
        notions=[[one.word, one.to_json()] for one in rates.notions_of(second)],
        base=[rates.base.sentence(), rates.base.sentence(third), rates.base.table()],
        ratios=ratios.to_json(),
    )


def curves():
    """Frontiers on unseen people, the tightest limits within a price, what certainty costs."""
    steps = []
    keep = lambda *step: steps.append(step)  # noqa: E731
    plain = programs(2, 2, notion="eop")
    sure = programs(2, 2, notion="eop", guarantee=Guarantee(0.8, "each"))
    floors = programs(2, 2, notion="eop", policy=Policy(floors=(Floor("ill", 0.55),)))
    only = [[program for _, program in some] for some in (plain, sure, floors)]
    study = run_study(plain, unseen(), 0.02, 0.02)
    lonely = [(seed, build_program(ALONE, "eop", "simplex")) for seed in SEEDS]
    high = Policy(floors=(Floor("l0", 0.71), Floor("l1", 0.65)))
    strict = build_program(biased(4, 2, rows=20_000), "sp", "kernel", policy=high)
    return {
        "curve": vars(held_out_curve(plain, unseen(), (0.0, 0.02, 0.1), on_progress=keep)),
        "debiased": pooled_debiased(study),
        "debiased, nobody to compare": pooled_debiased(
            run_study(lonely, [ALONE, ALONE], 1.0, 1.0)
        ),
        "tightest": [tightest_limits(only[0], points) for points in (0.0, 0.3, 1.0, 5.0)],
        "tightest, with floors": tightest_limits(only[2], 2.0, resolution=0.05),
        "tightest, floors that collide": [
            tightest_limits([strict], points, resolution=0.01) for points in (0.5, 20.0)
        ],
        "certainty": vars(price_of_certainty(only[1], only[0], 0.3, 0.3, on_progress=keep)),
        "steps": steps,
    }


def prohibition():
    limits = (0.05, 0.05)
    knowing = run_study(programs(2, 2, notion="eo"), unseen(), *limits)
    blind = run_study(programs(2, 2, notion="eo", policy=BLIND), unseen(), *limits)
    price = ProhibitionPrice(knowing, blind)
    return {
        "told": price.to_json(),
        "spread": [price.cost(unseen=side).deviation for side in (False, True)],
        "only fitted": ProhibitionPrice(
            run_study(programs(2, 2, notion="eo"), [None, None], *limits),
            run_study(programs(2, 2, notion="eo", policy=BLIND), [None, None], *limits),
        ).to_json(),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("small")
    save_experiments(made)
    return made


def test_curves_and_prices_are_what_was_approved():
    check(APPROVED / "curves.txt", tell(**curves(), prohibition=prohibition()), close=1e-6)


def test_every_post_processing_answers_what_was_approved(folder):
    """As the command that ships them runs them: names, roles, bytes, answers."""
    shown, answers, settings = {}, {}, {}
    for name, method in POST_PROCESSED.items():
        opened = experiments.open("tiny_cf" if method.cross_fitted else "tiny", folder)
        for setting, told, by_seed in answers_of(method, opened, "eop", SEEDS, (0.05,)):
            told["seconds"] = 0.5
            shown[f"{name}: {setting}"] = [
                told,
                *(
                    each.confusion.sum(axis=(0, 1))
                    for seed in SEEDS
                    for each in by_seed[seed].values()
                ),
            ]
            if name == "fedfact":
                answers[setting], settings[setting] = by_seed, told | {"rounds": 3}
        shown[name] = {key: value for key, value in vars(method).items() if key != "fit"}
    manifest = {"method": "fedfact", "title": "FedFACT", "experiment": "tiny", "favourable": "ill"}
    names = {key: list(getattr(opened, key)) for key in ("clients", "groups", "labels")}
    save_method(manifest | names | {"settings": settings}, answers, folder / "methods")
    rows = method_rows("tiny", folder / "methods")
    best = frontier_of(rows)
    rates = [(gap, best.at(gap), difference(best, best, gap)) for gap in (0.01, 0.1, 0.5)]
    shown |= {"rows": [row.to_json() for row in rows], "frontier": best.gaps, "at": rates}
    check(APPROVED / "post-processed.txt", tell(**shown), close=1e-6)


def test_what_is_shipped_of_a_method_is_what_was_approved(tmp_path):
    """Beside FedAvg's, as the command writes it for Adult."""
    for path in (FOLDER / "adult").glob("fedavg.*"):
        (tmp_path / "adult").mkdir(exist_ok=True)
        (tmp_path / "adult" / path.name).write_bytes(path.read_bytes())
    shown = {}
    for name in ("post_ffl", "ours_simplex"):
        shipped = ship_post_processed(name, "adult", ["eop"], [0], tmp_path)
        before = shipped.settings
        settings = {
            one: {key: value for key, value in before[one].items() if "seconds" not in key}
            for one in before
        }
        kept = {
            key: shipped.manifest[key] for key in ("title", "ours", "fitted_on", "capabilities")
        }
        shown[name] = [kept, settings, shipped.answered(next(iter(settings)))[0].confusion]
    check(APPROVED / "shipped.txt", tell(**shown), close=1e-6)


def test_models_side_by_side_are_what_was_approved(folder):
    one_seed = folder / "one"
    save_experiments(one_seed, (4,))
    shown = {}
    for name in ("tiny", "tiny_cf"):
        opened = experiments.open(name, one_seed)
        for region in ("simplex", "exact"):
            settings = model_settings(name, opened, "eop", region, (0.02, 0.2))
            shown[f"{name} {region}"] = [one.to_json() for one in settings]
            shown[f"{name} {region}, frontier"] = {
                gap: [one.epsilon for one in frontier(settings, gap)] for gap in MODEL_GAPS
            }
    check(APPROVED / "own models.txt", tell(**shown), close=1e-6)


def test_the_document_on_holding_is_what_was_approved(folder):
    steps = []
    text = holding(folder, draws=2, on_progress=lambda *step: steps.append(step))
    check(APPROVED / "holding.md", f"{text}\nSteps: {steps}\n", close=1e-5)


def test_fold_models_are_judged_as_was_approved(folder):
    opened = experiments.open("tiny_cf", folder)
    shown = {}
    for seed in SEEDS:
        fit, test = fitted_people(opened, seed), unseen_people(opened, seed)
        for region in ("simplex", "exact"):
            found = build_program(fit, "eo", region).solve(0.05, 0.1)
            judged = evaluate(predictor_of(found), test)
            shown[f"{seed} {region}"] = [judged.to_json(), harm_of([judged]).to_json()]
    check(APPROVED / "fold models.txt", tell(**shown), close=1e-6)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("evaluation"))
