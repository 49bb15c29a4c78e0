"""Rounds of every method on the linear model, splits, recipes and sweeps, as they were approved.

Not that they are right, which the other tests of this room say: these notice that a line changed. The linear
model needs no TensorFlow, so that a round is exact arithmetic; see `helpers/approved.py`.
"""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.federated.cell_weights import RULES, parity_gap
from fairfl_core.federated.checkpoints import checkpoint_name, fingerprint
from fairfl_core.federated.data import check_folds, federate, fold_stream, split_stream
from fairfl_core.federated.equifl import shared_part
from fairfl_core.federated.fair_fate import fairness
from fairfl_core.federated.fairfed import shares_of_gap
from fairfl_core.federated.fcfl import min_max_mix, pareto_mix, smooth_max_weights
from fairfl_core.federated.gaps import NOTIONS, gaps_of, rates_of
from fairfl_core.federated.linear import LinearWork
from fairfl_core.federated.methods import METHODS, make_method, method_class, settings_from
from fairfl_core.federated.parameters import first_parameters, parameter_shapes, size_of
from fairfl_core.federated.recipes import RECIPES, recipe
from fairfl_core.federated.reweighing import cell_factors
from fairfl_core.federated.scaling import Moments
from fairfl_core.federated.scenarios import SCENARIOS, draw_clients
from fairfl_core.federated.shipping import converged, ship_fedavg, ship_method
from fairfl_core.federated.sweep import Sweeper, Trial, choose
from fairfl_core.federated.sweeps import sweep_of
from fairfl_core.federated.training import plan_of, prepare, train_prepared
from fairfl_core.federated.turns import row_weights
from tests.federated.tiny import RECIPE, as_adult, people
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.work import calls

APPROVED = Path(__file__).with_name("as_computed")
LINEAR = replace(RECIPE, model="linear", learning_rate=0.05, batch=64, rounds=3)
WAYS = {
    "fedavg": {},
    "fedavg weighting": {"weighting": "uniform"},
    "fairfed": {"notion": "sp", "beta": 0.5},
    "fairfed exponential": {"notion": "eop", "variant": "exponential", "debiasing": "fairbatch"},
    "fairfed alone": {"notion": "eop", "debiasing": "none"},
    "fair_fate": {"notion": "eo", "rounds": 4},
    "fair_fate plain": {"notion": "sp", "corrected": False, "every": 2, "start": 0.2, "most": 0.6},
    "fcfl": {"notion": "sp", "warm": 1, "min_max": 1},
    "fcfl strict": {"notion": "eop", "warm": 0, "min_max": 2, "epsilon": 0.001},
    "equifl": {"notion": "eop", "strength": 10.0},
    "equifl everything": {"notion": "sp", "strength": 2.0, "share": "everything"},
    "fedfb": {"notion": "sp", "proxy": "errors"},
    "fedfb opportunity": {"notion": "eop", "alpha": 0.02},
    "fedfb odds": {"notion": "eo", "alpha": 0.01},
    "reweighing": {"notion": "eop", "scope": "global"},
    "reweighing locally": {"notion": "sp", "strength": 1.5},
}


@pytest.fixture(scope="module")
def prepared():
    return prepare(as_adult(), LINEAR, 0)


@pytest.mark.parametrize("name", WAYS)
def test_rounds_are_what_was_approved(prepared, name):
    method = name.split()[0]
    asked = replace(prepared.recipe, method=method, method_settings=WAYS[name])
    runs = []
    found = train_prepared(prepared, asked, on_progress=runs.append)
    plan = plan_of(prepared.federation, prepared.work)
    made = make_method(method, WAYS[name])
    shown = tell(
        method=vars(made),
        told=[made.title, made.criterion_title, made.numbers(plan)],
        loss=found.loss,
        accuracy=found.accuracy,
        chosen=found.chosen,
        split=found.split,
        scores=found.scores,
        theta=[run.state.theta for run in runs],
        memory=[run.state.memory for run in runs],
        of_clients=[getattr(run, "memories", None) for run in runs],
    )
    check(APPROVED / f"{name}.txt", shown, close=1e-4)


@pytest.mark.parametrize("method", ["fedavg", "fairfed", "fair_fate", "fcfl", "equifl", "fedfb"])
def test_no_more_is_done_in_rounds_than_was_approved(prepared, method):
    asked = replace(prepared.recipe, method=method, method_settings=WAYS[method])
    act = partial(train_prepared, prepared, asked)
    act()  # so that what is made once is made
    done = calls(act, ["fairfl_core.federated"])
    check(APPROVED / "done" / f"{method}.txt", tell(**done), close=0.02)


def test_work_on_the_linear_model_is_what_was_approved(prepared):
    federation = federate(people(), replace(LINEAR, class_weighting=True), 3)
    work = LinearWork(federation, LINEAR)
    rows = federation.client_rows(0)[1]
    theta = first_parameters(work.shapes, 2)
    weight = np.linspace(0.5, 2, len(rows)).astype(np.float32)
    cells = federation.people.group[rows], federation.people.label[rows]
    gaps = gaps_of("eo", *cells, groups=2, labels=3, favourable=2)
    shown = tell(
        theta=theta,
        epoch=work.epoch(theta, rows, weight, 4),
        penalised=work.penalised_epoch(
            theta, rows, weight, 4, gaps=gaps, strength=2.0, momentum=0.8, clip=0.5
        ),
        loss=work.loss_gradient(theta, rows, weight),
        gap=work.gap_gradient(theta, rows, gaps),
        bounded=work.gap_gradient(theta, rows, gaps, sharpness=8.0, bound=0.4),
        scores=work.scores(theta, rows),
        weights=row_weights(federation.people, np.array([30, 50, 0])),
    )
    check(APPROVED / "linear work.txt", shown, close=1e-4)


def splits():
    made = as_adult()
    folds = replace(LINEAR, folds=3)
    drawn = replace(LINEAR, shares=(0.2, 0.5, 0.7), size=90, from_moments=True)
    told = {"seed 1": _federation(federate(made, LINEAR, 1))}
    told |= {f"fold {k}": _federation(federate(made, folds, 1, k)) for k in (0, 2)}
    told["scenario"] = _federation(federate(made, drawn, 5))
    unit = np.arange(600) // 3
    told["clients"] = draw_clients(made.group, (0.3, 0.6), 60, seed=[1, 2], unit=unit)
    told["streams"] = [split_stream(3, (5, 2)).random(3), fold_stream(3, (4,)).random(3)]
    values = np.arange(12.0).reshape(4, 3) ** 2
    parts = [Moments.of(values[:1]), Moments.of(values[1:])]
    pooled = Moments.pooled(parts)
    told["checkpoints"] = {
        checkpoint_name(3, fold): fingerprint(made, LINEAR, 3, fold) for fold in (None, 2)
    }
    told["moments"] = [pooled, pooled.scaler(), pooled.scaler(7.0).apply(values)]
    told["refused"] = [
        refusal(lambda: check_folds(made, replace(folds, folds=1), [0])),
        refusal(lambda: check_folds(people(20), replace(folds, folds=9), [0])),
        refusal(lambda: draw_clients(made.group, (0.2, 0.5), 5000, seed=0)),
        refusal(lambda: draw_clients(made.group, (2.0,), 50, seed=0)),
        refusal(lambda: draw_clients(made.group, (0.5,), 1, seed=0)),
    ]
    return told


def _federation(made):
    return {
        "split": made.split,
        "clients": [made.people.clients, made.people.client],
        "inputs": made.people.inputs,
        "rows": [[len(rows) for rows in made.client_rows(split)] for split in range(3)],
    }


def known():
    """Every recipe, method and model as it is declared."""
    return {
        "recipes": {name: [one.to_json(), one.in_words()] for name, one in RECIPES.items()},
        "scenarios": SCENARIOS,
        "methods": {
            name: [vars(method_class(name)()), method_class(name).title] for name in METHODS
        },
        "words": settings_from("fcfl", ["rate=0.5", "warm=3", "notion=sp"]),
        "shapes": {model: parameter_shapes(model, 3, 4, 5) for model in ("linear", "mlp", "cnn")},
        "size": size_of(parameter_shapes("mlp", 9, 4, 3)),
        "refused": [
            refusal(lambda: recipe("moon")),
            refusal(lambda: make_method("moon", {})),
            refusal(lambda: make_method("fcfl", {"luck": 1})),
            refusal(lambda: settings_from("fcfl", ["rate=fast"])),
            refusal(lambda: settings_from("fcfl", ["luck=1"])),
            refusal(lambda: settings_from("fair_fate", ["corrected=maybe"])),
            refusal(lambda: prepare(as_adult(), replace(LINEAR, model="moon"), 0)),
        ],
    }


def sweeps():
    told = {}
    for method in ("fairfed", "fair_fate", "fcfl", "equifl", "fedfb", "reweighing"):
        for experiment in ("adult", "public_coverage"):
            for notion in ("sp", "eop"):
                one = sweep_of(method, experiment, notion)
                told[f"{method} {experiment} {notion}"] = {
                    **vars(one),
                    "swept": one.swept(one.trials[0]),
                    "last": list(one.swept(one.trials[-1])),
                    "paper name": one.paper_name,
                }
    trials = [Trial({"k": k}, 0.8 - 0.02 * k, 0.1 / (k + 1), 0.05) for k in range(6)]
    told["chosen"] = [
        vars(choose(trials, 0.8)),
        vars(choose(trials, 0.99)),
        vars(choose(trials[3:], 0.8)),
    ]
    return told | {"refused": refusal(lambda: sweep_of("moon", "adult", "sp"))}


def arithmetic():
    """What servers compute of tables, on a table with an empty cell."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 60, (3, 2, 2, 2))
    lonely = counts.copy()
    lonely[2, 1] = 0
    n, losses = counts.sum(axis=(0, 3)).astype(float), rng.random((2, 2)) * 90
    told = {}
    for notion in NOTIONS:
        rule = RULES[notion]
        start = rule.start(n)
        rates = [
            rates_of(notion, table, 1)
            for table in (counts, lonely, rng.integers(0, 9, (2, 3, 3, 3)))
        ]
        told[notion] = {
            "start": start,
            "factors": rule.factors(start, n),
            "moved": [rule.moved(start, losses, n, 0.1, t) for t in (1, 4)],
            "empty": rule.moved(start, losses, n * [[1, 1], [0, 1]], 0.1, 2),
            "rates": [[one.rates, one.gap] for one in rates],
            "signed": rates[0].signed,
            "fairness": [fairness(notion, table.sum(axis=0), 1) for table in (counts, lonely)],
            "cells": [cell_factors(notion, n.astype(int), k, 1.5) for k in (0, 1)]
            if notion != "eo"
            else [],
            "gaps": gaps_of(
                notion,
                np.array([0, 1, 1, 0]),
                np.array([1, 0, 1, 1]),
                groups=2,
                labels=2,
                favourable=1,
            ),
        }
    gradients = rng.normal(0, 1, (3, 4))
    return told | {
        "parity": parity_gap(losses, n),
        "shares": [shares_of_gap(notion, lonely, 1) for notion in ("sp", "eop")],
        "weights": [smooth_max_weights(np.array([0.2, 0.5, 0.4]), t) for t in (0.5, 0.01)],
        "mix": [
            min_max_mix(gradients[:2] @ gradients[:2].T, feasible=side) for side in (True, False)
        ],
        "pareto": pareto_mix(gradients, gradients.mean(axis=0)),
        "shared": shared_part([(3, 4), (4,), (4, 2), (2,)]),
    }


@pytest.mark.parametrize("part", [splits, known, sweeps, arithmetic], ids=lambda one: one.__name__)
def test_what_is_declared_and_computed_is_what_was_approved(part, monkeypatch):
    monkeypatch.delitem(METHODS, "toy", raising=False)  # which other tests make known
    check(APPROVED / f"{part.__name__}.txt", tell(**part()), close=1e-6)


def test_what_is_swept_and_shipped_is_what_was_approved(tmp_path):
    """Trials, the chosen one, its sweep and the paper's setting, as the command ships them."""
    made, said = as_adult(), []
    asked = replace(LINEAR, experiment="adult", rounds=2)
    sweeper = Sweeper(made, asked, tmp_path / "runs", on_run=said.append)
    short = replace(
        sweep_of("reweighing", "adult", "eop"),
        rounds=1,
        values={"": (0.5, 2.0)},
        paper={"scope": "local", "strength": 1.0},
        paper_rounds=2,
    )
    ship_fedavg(sweeper, made, asked, ["eop"], seeds=[0, 1], folder=tmp_path / "out")
    shipped = ship_method(
        sweeper, made, asked, [short], seeds=[0, 1], tuning_seeds=[1], folder=tmp_path / "out"
    )
    timed = ("seconds", "seconds_to_converge")
    settings = {
        name: {key: value for key, value in one.items() if key not in timed}
        for name, one in shipped.settings.items()
    }
    manifest = {key: value for key, value in shipped.manifest.items() if key != "settings"}
    answers = {
        name: [each.confusion for each in shipped.answered(name).values()] for name in settings
    }
    kept = sweeper.fedavg(0)
    shown = tell(
        trials=sweeper.tried(short, [1]),
        manifest={key: value for key, value in manifest.items() if "sha256" not in str(value)},
        settings=settings,
        answers=answers,
        kept=[kept.counts(0), kept.numbers, kept.loss, kept.theta],
        converged=converged(kept),
        said=sorted({re.sub(r"[\d.]+ s,", "", line) for line in said}),
    )
    check(APPROVED / "shipped.txt", shown, close=1e-4)


def test_what_the_room_declares_is_what_was_approved(monkeypatch):
    """Constants, and what is taken unless told."""
    monkeypatch.delitem(METHODS, "toy", raising=False)  # which other tests make known
    check(
        APPROVED / "declared.txt",
        declared(
            "federated",
            without=(
                "work",
                "models",
                "pictures",
                "server_app",
                "client_app",
                "codec",
                "declearn",
            ),
        ),
    )
