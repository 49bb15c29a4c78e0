"""Proof of agreement: real nodes, two rounds, the scikit-learn example and our own training.

Run it by `pytest -m nodes tests/federation`, as .ci/run does.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("flwr")

from fairfl_core import ScoredData, evaluate
from fairfl_core._io.files import read_json
from fairfl_core.federation.demo import compare
from fairfl_core.federation.folders import ClientFolder, hospital_example
from fairfl_core.federation.programs import run_job
from fairfl_core.federation.question import Question
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.federation.flower_here import ROOT, federation, flwr_run

pytestmark = pytest.mark.nodes
EXAMPLE = ROOT / "docs" / "federation" / "sklearn"
CLIENTS = ("North", "South")


@pytest.fixture(scope="module")
def task():
    """The example's own module, as its apps import it."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        from hospitals import task

        yield task
    finally:
        sys.path.remove(str(EXAMPLE))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Both runs on the same two nodes; the folder, the study and what the example said."""
    folder = tmp_path_factory.mktemp("agreement")
    study, people = hospital_example()
    study = replace(study, clients=CLIENTS).trained(rounds=2)
    question = Question("eo", "", 0.05, 0.1)
    configs = [
        f"partition-id={place} folder={json.dumps(str(folder / 'study' / name.lower()))}"
        for place, name in enumerate(CLIENTS)
    ]
    # Flower looks for messages every three seconds: both at once wait no longer than one alone.
    with federation(folder, configs, study, people) as (server, _), ThreadPoolExecutor(1) as pool:
        out = {"out": str(folder / "sklearn")}
        said = pool.submit(flwr_run, EXAMPLE, folder, server.address, out)
        run_job(server, question, server.path / "results", quiet=True)
        said = said.result()
    return folder, study, question, said


def one_place(task):
    """FedAvg of the example's model over the same two hospitals, in a loop."""
    parts = [task.load_people(place) for place in range(len(CLIENTS))]
    parameters = task.get_parameters(task.make_model())
    for _ in range(2):
        trained = []
        for features, label, _, part in parts:
            model = task.make_model()
            task.set_parameters(model, parameters)
            task.train_model(model, features[part < 2], label[part < 2])
            trained.append(task.get_parameters(model))
        weights = [(part < 2).sum() for *_, part in parts]
        parameters = [
            np.average([one[k] for one in trained], axis=0, weights=weights) for k in range(2)
        ]
    model = task.make_model()
    task.set_parameters(model, parameters)
    return model, parts


def scored(model, parts, names, new):
    """The people to solve on, or the new ones, of all hospitals."""
    rows = [(part == 4) if new else (part >= 2) & (part < 4) for *_, part in parts]
    score = np.concatenate(
        [model.predict_proba(one[0][mine]) for one, mine in zip(parts, rows, strict=True)]
    )
    group = [
        np.where(one[2][mine] == "woman", 1, 0) for one, mine in zip(parts, rows, strict=True)
    ]
    order = {name: place for place, name in enumerate(sorted(names))}
    client = [np.full(mine.sum(), order[name]) for name, mine in zip(names, rows, strict=True)]
    return ScoredData(
        client=np.concatenate(client),
        group=np.concatenate(group),
        label=np.concatenate([one[1][mine] for one, mine in zip(parts, rows, strict=True)]),
        scores=score,
        predicted=score.argmax(axis=1),
        clients=tuple(sorted(names)),
        groups=("man", "woman"),
        labels=("0", "1"),
        favourable="1",
    )


def test_the_example_agrees_with_one_place(runs, task):
    folder, *_ = runs
    result = read_json(folder / "sklearn" / "result.json")
    names = task.HOSPITALS[:2]
    assert result["clients"] == sorted(names)
    assert (folder / "study" / "north" / "predictor.json").is_file()
    model, parts = one_place(task)
    fit, new = (scored(model, parts, names, new) for new in (False, True))
    histogram = ScoreHistogram.of(fit)
    assert result["counts"] == histogram.counts.to_json()
    solution = FairnessProgram(histogram, "eo", "exact").solve(0.05, 0.1)
    there, here = result["solution"], solution.to_json()
    assert there["accuracy"] == pytest.approx(here["accuracy"], abs=1e-8)
    assert there["gap"]["local"] == pytest.approx(here["gap"]["local"], abs=1e-8)
    judged = evaluate(predictor_of(solution), new)
    assert result["evaluation"]["accuracy"] == pytest.approx(judged.accuracy, abs=1e-8)
    assert result["verdict"] == judged.verdict.to_json()
    assert result["alarms"] == [alarm.to_json() for alarm in judged.alarms]


def test_the_example_prints_the_verdict_and_each_hospitals_gap(runs):
    folder, *_, said = runs
    verdict = read_json(folder / "sklearn" / "result.json")["verdict"]
    assert verdict["word"].upper() in said
    assert 'Client "Charité": gap ' in said and 'Client "St Mary": gap ' in said


def test_our_training_agrees_with_one_place(runs):
    folder, study, question, _ = runs
    clients = [ClientFolder.read(folder / "study" / name.lower()) for name in CLIENTS]
    found = compare(clients, study, question, folder / "study" / "server" / "results")
    assert found["largest_difference"]["scores"] <= 1e-5
    assert found["largest_difference"]["solution"] <= 1e-8
    assert found["agrees"] and found["clients"] == list(CLIENTS)
