"""Predictors of every kind: their files, chances and draws as they were approved; see `helpers/approved.py`."""

from pathlib import Path

import numpy as np
import pytest

from fairfl_core.predictors.load import predictor_from_json, predictor_of
from fairfl_core.predictors.postprocessor import FairPostprocessor
from fairfl_core.predictors.row_uniforms import fold_draws, row_draws
from fairfl_core.solving.build import build_program
from fairfl_core.solving.exact.histograms import ScoreHistogram
from fairfl_core.solving.exact.program import ExactProgram
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, Policy
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.small import people

APPROVED = Path(__file__).with_name("as_computed")
FIRST = 40  # people who are answered one by one
PROGRAMS = {
    "simplex": lambda: build_program(people(), "eo", "simplex"),
    "kernel, three labels": lambda: build_program(people(3), "eo", "kernel"),
    "exact": lambda: build_program(people(), "eop", "exact"),
    "exact, three labels": lambda: build_program(people(3, rows=300), "eo", "exact"),
    "exact, labels": lambda: build_program(people(), "eop", "exact", rates="labels"),
    "histogram": lambda: ExactProgram(ScoreHistogram.of(people(), 8).measured(), "eo"),
    "without group": lambda: build_program(
        people(), "eop", "exact", policy=Policy(without_group=True)
    ),
    "without group, simplex": lambda: build_program(
        people(), "eop", "simplex", policy=Policy(without_group=True, floors=(Floor("ill", 0.3),))
    ),
    "sure": lambda: build_program(people(), "eop", "exact", guarantee=Guarantee(0.8, "each")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_predictor_is_what_was_approved(name):
    program = PROGRAMS[name]()
    fair = predictor_of(program.solve(0.1, 0.15))
    again = predictor_from_json(fair.to_json())
    three = "three" in name
    made = people(3, rows=300) if name == "exact, three labels" else people(3 if three else 2)
    whose = (
        np.array(made.clients)[made.client[:FIRST]],
        np.array(made.groups)[made.group[:FIRST]] if fair.needs_group else None,
        made.scores[:FIRST] if fair.needs_scores else np.array(made.labels)[made.said[:FIRST]],
    )
    answers = fair.answers_to(made)
    shown = tell(
        file=again.to_json(),
        looks=[fair.needs_scores, fair.needs_group, fair.attention, fair.attention_to(made)],
        answers=vars(answers),
        chances=fair.probabilities(*whose),
        sampled=" ".join(fair.sample(*whose, seed=5)),
        decided=" ".join(fair.decide(*whose, row_id=np.arange(FIRST))),
    )
    check(APPROVED / f"{name}.txt", shown, close=1e-6)


def test_the_postprocessor_answers_as_was_approved():
    made = people()
    groups, clients = np.array(made.groups)[made.group], np.array(made.clients)[made.client]
    told = {"defaults": FairPostprocessor().get_params()}
    for name, fair in {
        "usual": FairPostprocessor(),
        "simplex": FairPostprocessor(
            "sp", "simplex", confidence=0.8, eps_local=0.4, eps_global=0.4
        ),
        "balanced": FairPostprocessor("eop", "kernel", favourable=0, random_state=3),
    }.items():
        fair.fit(made.scores, made.label, sensitive_features=groups, client=clients)
        seen = {"sensitive_features": groups[:FIRST], "client": clients[:FIRST]}
        told[name] = {
            "chances": fair.predict_proba(made.scores[:FIRST], **seen),
            "answers": fair.predict(made.scores[:FIRST], **seen),
            "by id": fair.predict(made.scores[:FIRST, 1], **seen, row_id=np.arange(FIRST)),
            "reached": [fair.accuracy_, fair.gap_global_, fair.n_features_in_, fair.classes_],
        }
    alone = FairPostprocessor().fit(made.scores, made.label, sensitive_features=groups)
    told["one client"] = alone.predict_proba(
        made.scores[:FIRST], sensitive_features=groups[:FIRST]
    )
    check(APPROVED / "postprocessor.txt", tell(**told), close=1e-6)


def test_draws_of_a_row_are_what_was_approved():
    client, row = ["a", "b", "a", "a"], ["1", "1", "2", "ü"]
    shown = tell(
        nobody=row_draws([], []),
        draws=row_draws(client, row),
        salted=row_draws(client, row, salt="x"),
        folds=fold_draws(client, row, 3),
    )
    check(APPROVED / "draws.txt", shown)


def test_refusals_are_what_was_approved():
    made = people()
    fair = predictor_of(build_program(made, "eop", "simplex").solve(0.1, 0.1))
    exact = predictor_of(build_program(made, "eop", "exact").solve(0.1, 0.1))
    file, scores, truth = fair.to_json(), made.scores, made.label
    groups = np.array(made.groups)[made.group]

    def fitted(**options):
        given = {"scores": scores, "y": truth, "sensitive_features": groups} | options
        return FairPostprocessor().fit(given.pop("scores"), given.pop("y"), **given)

    tries = {
        "client": lambda: fair.sample(["moon"], ["men"], ["ill"], seed=0),
        "group": lambda: fair.sample(["north"], ["dogs"], ["ill"], seed=0),
        "answer": lambda: fair.sample(["north"], ["men"], ["dead"], seed=0),
        "no group": lambda: fair.sample(["north"], None, ["ill"], seed=0),
        "lengths": lambda: fair.sample(["north", "south"], ["men"], ["ill"], seed=0),
        "scores": lambda: exact.sample(["north"], ["men"], [[0.9, 0.9]], seed=0),
        "width": lambda: exact.sample(["north"], ["men"], [[0.2, 0.3, 0.5]], seed=0),
        "counts": lambda: exact.answers_to(made.counts),
        "other labels": lambda: fair.answers_to(people(3)),
        "format": lambda: predictor_from_json(file | {"format": "fairfl-predictor/2"}),
        "no file": lambda: predictor_from_json([]),
        "region": lambda: predictor_from_json(file | {"region": "moon"}),
        "key": lambda: predictor_from_json(file | {"more": 1}),
        "lottery": lambda: predictor_from_json(file | {"lottery": [[1]]}),
        "epsilon": lambda: predictor_from_json(file | {"epsilon": 3}),
        "favourable": lambda: predictor_from_json(file | {"favourable": "dead"}),
        "reached": lambda: predictor_from_json(file | {"reached": 1}),
        "folds": lambda: predictor_from_json(file | {"folds": 0}),
        "one label": lambda: fitted(y=np.zeros(len(truth), int)),
        "few scores": lambda: fitted(scores=scores[:5]),
        "many scores": lambda: fitted(scores=np.ones((len(truth), 3)) / 3),
        "few groups": lambda: fitted(sensitive_features=groups[:5]),
        "few clients": lambda: fitted(client=groups[:5]),
        "wide": lambda: fitted(y=scores),
    }
    check(APPROVED / "refusals.txt", tell(**{name: refusal(one) for name, one in tries.items()}))


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("predictors"))
