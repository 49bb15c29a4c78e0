"""Our own training on Flower's Strategy and ClientApp: agreement, resuming, who is left out."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord

from fairfl_core._io.files import read_json, write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation import FederationStopped
from fairfl_core.federation.demo import compare
from fairfl_core.federation.folders import ClientFolder
from fairfl_core.federation.message_log import read_log
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Study
from fairfl_core.federation.training_client import OwnRows
from fairfl_core.federation.training_server import run_study
from fairfl_core.federation.wire import ARRAYS, FIGURES, KINDS, WORDS
from fairfl_core.privacy.mechanisms import Mechanism
from tests.federation.hospitals import QUESTION, grid_of, hospitals, study_of

STUDY = study_of()


@pytest.fixture
def here(tmp_path):
    return hospitals(tmp_path / "study", STUDY)


def run(here, grid=None, study=STUDY, question=QUESTION, **more):
    server, clients = here
    more.setdefault("say", lambda sentence: None)
    grid = grid or grid_of(clients)
    return run_study(grid, study, question, server / "results", patience=0.1, **more)


# -------------------------------------------------------------------- agreement


@pytest.mark.parametrize(
    ("choices", "question"),
    [
        ({}, QUESTION),
        ({}, replace(QUESTION, region="exact")),
        ({"folds": 2, "class_weighting": True}, QUESTION),
        ({"method_settings": {"weighting": "uniform", "epochs": 2}}, QUESTION),
    ],
    ids=["linear", "exact", "folds", "uniform"],
)
def test_it_agrees_with_one_place(tmp_path, choices, question):
    study = study_of(**choices)
    server, clients = hospitals(tmp_path / "study", study)
    run((server, clients), study=study, question=question)
    folders = [ClientFolder.read(path) for path in clients]
    found = compare(folders, study, question, server / "results")
    assert found["agrees"], found["largest_difference"]


def test_the_mlp_agrees_with_one_place(tmp_path):
    pytest.importorskip("tensorflow")
    study = replace(study_of(model="mlp", rounds=1), clients=STUDY.clients[:2])
    server, clients = hospitals(tmp_path / "study", study)
    run((server, clients), study=study)
    folders = [ClientFolder.read(path) for path in clients]
    found = compare(folders, study, QUESTION, server / "results")
    assert found["largest_difference"]["scores"] <= 1e-5


def test_the_round_with_the_least_loss_is_kept_and_with_noise_the_last(here, tmp_path):
    result = run(here)
    (trained,) = result.more["training"]
    assert trained["chosen"] == 1 + int(np.argmin(trained["loss"]))
    other = hospitals(tmp_path / "noisy", STUDY)
    result = run(other, question=Question("eo", "", 0.05, 0.1, privacy=Mechanism(epsilon=1.0)))
    (trained,) = result.more["training"]
    assert trained == {"chosen": 2, "loss": [], "accuracy": []}
    kinds = {one["kind"] for one in read_log(other[1][0])}
    assert kinds == {"moments", "train", "join", "counts", "predictor"}


# -------------------------------------------------------------------- what leaves


def test_no_array_that_leaves_has_as_many_rows_as_there_are_people(here):
    grid = grid_of(here[1])
    run(here, grid)
    for reply in grid.replies:
        folder = ClientFolder.read(here[1][reply.metadata.src_node_id - 5])
        rows = OwnRows(folder, STUDY)
        sizes = {len(rows.people)} | {int((rows.splits[0] == part).sum()) for part in range(3)}
        for record in reply.content.array_records.values():
            for name, array in record.items():
                assert not sizes & set(array.shape), name
                assert any(name in kind.arrays for kind in KINDS.values())


def test_every_message_of_the_training_stands_in_the_clients_log(here):
    run(here)
    kinds = [one["kind"] for one in read_log(here[1][2])]
    rounds = ["train", "train", "evaluate", "evaluate"] * 2
    assert kinds == ["moments"] * 2 + rounds + [
        *["join"] * 2,
        *["counts"] * 2,
        *["predictor"] * 2,
    ]
    log = (here[1][2] / "log.txt").read_text("utf-8")
    assert "Round 2." in log and KINDS["train"].replies[1:] in log
    assert "It carries theta (12 numbers)." in log or "theta (" in log


# -------------------------------------------------------------------- going on


def test_a_run_goes_on_at_the_last_round(here, tmp_path):
    whole = run(hospitals(tmp_path / "other", STUDY))
    server, clients = here
    grid = grid_of(clients)

    def gone_in_round_two(reply):
        trains = sum(one.metadata.message_type == "train" for one in grid.sent)
        return None if trains > 3 and reply.metadata.src_node_id == 6 else reply

    grid.spoil = gone_in_round_two
    said = []
    with pytest.raises(FederationStopped, match='"South" is left out'):
        run(here, grid, say=said.append)
    before = read_log(server / "results")
    result = run(here)
    assert result.solution.to_json() == whole.solution.to_json()
    later = read_log(server / "results")[len(before) :]
    assert sum(one["kind"] == "train" and one["way"] == "sent" for one in later) == 3  # one round
    others = hospitals(tmp_path / "another", replace(STUDY, seed=5))[1]
    with pytest.raises(InputError, match="is a checkpoint of other settings"):
        run((server, others), study=replace(STUDY, seed=5))


def test_a_spoilt_checkpoint_is_named(here):
    run(here)
    write_whole(here[0] / "results" / "model_0.npz", b"spoilt")
    with pytest.raises(InputError, match="is not a checkpoint that can be read"):
        run(here)


@pytest.mark.parametrize("kind", ["train", "evaluate"])
def test_with_min_clients_it_goes_on_without_one(here, kind):
    server, clients = here
    grid = grid_of(clients)
    first = []

    def gone_once(reply):
        mine = reply.metadata.message_type == kind and reply.metadata.src_node_id == 6
        if mine and not first:
            first.append(reply)
            return None
        return reply

    grid.spoil = gone_once
    result = run(here, grid, min_clients=2)
    (lost,) = result.left_out
    assert (lost.client, lost.when, lost.reason) == ("South", "round 1", "no answer in 0.1 s")
    assert len(result.predictor.clients) == 3  # it is asked again in the next round


def test_who_went_in_the_training_is_not_waited_for_again(here, monkeypatch):
    grid = grid_of(here[1])

    def gone(reply):
        if reply.metadata.message_type != "train" or reply.metadata.src_node_id != 6:
            return reply
        del grid.apps[6]
        return None

    def sleep(seconds):
        raise AssertionError("it waits for a client that is gone")

    grid.spoil = gone
    monkeypatch.setattr("fairfl_core.federation.roster.time.sleep", sleep)
    result = run(here, grid, min_clients=2)
    assert result.predictor.clients == ("North", "East")
    assert {lost.client for lost in result.left_out} == {"South"}


@pytest.mark.parametrize("kind", ["train", "query.fairfl_counts"])
def test_what_the_superlink_says_of_a_node_that_is_gone_is_taken_for_that_client(here, kind):
    """Its reply comes from the SuperLink's own number."""
    grid = grid_of(here[1])

    def gone(reply):
        if reply.metadata.message_type != kind or reply.metadata.src_node_id != 6:
            return reply
        error = Message(Error(3, "node unavailable"), reply_to=grid.sent[-1])
        error.metadata.__dict__["_src_node_id"] = 1
        return error

    grid.spoil = gone
    result = run(here, grid, min_clients=2)
    assert {lost.client for lost in result.left_out} == {"South"}
    assert {lost.reason for lost in result.left_out} == {
        "its machine could not be reached, or failed"
    }


# -------------------------------------------------------------------- hostile replies


def set_theta(value):
    def change(content):
        theta = content[ARRAYS]["theta"].numpy() * 0 + value
        content[ARRAYS] = ArrayRecord({"theta": Array(theta)})

    return change


def set_rows(many):
    def change(content):
        content[FIGURES] = MetricRecord({"num-examples": many})

    return change


def set_name(content):
    words = json.loads(content[WORDS]["json"])
    words["header"]["client"] = "North"
    content[WORDS]["json"] = json.dumps(words)


def set_shape(content):
    content[ARRAYS] = ArrayRecord({"theta": Array(np.zeros(3))})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (set_theta(np.nan), "not a finite number"),
        (set_theta(1e9), "weights that no training gives"),
        (set_rows(10**9), "another number of rows"),
        (set_rows(-1), "another number of rows"),
        (set_name, 'in the name of "North"'),
        (set_shape, "has the shape"),
        (lambda content: content.pop(ARRAYS), 'lacks "theta"'),
        (lambda content: content.pop(WORDS), "cannot be read"),
    ],
    ids=["NaN", "absurd", "rows", "negative rows", "name", "shape", "nothing", "no words"],
)
def test_a_hostile_model_is_refused_by_name(here, change, why):
    grid = grid_of(here[1])

    def spoil(reply):
        if reply.metadata.message_type == "train" and reply.metadata.src_node_id == 6:
            change(reply.content)
        return reply

    grid.spoil = spoil
    result = run(here, grid, min_clients=2)
    assert {lost.client for lost in result.left_out} == {"South"}
    assert all(why in lost.reason for lost in result.left_out)
    assert np.isfinite(result.more["training"][0]["loss"]).all()


# -------------------------------------------------------------------- a client's own folder


def spoil_people(path, change):
    text = (path / "people.csv").read_text("utf-8")
    write_whole(path / "people.csv", change(text))


@pytest.mark.parametrize(
    ("change", "there", "here_"),
    [
        (
            lambda t: t.replace("score_ill", "points"),
            'no column "score_ill"',
            "lacks what the study",
        ),
        (lambda t: t.replace(",man", ",woman"), "are of one group", "all of one group"),
        (lambda t: t.replace(",ill", ",sick"), 'holds "sick"', "labels are not those"),
        (lambda t: t.replace("0.", "x", 1), "is not a finite number", "lacks what the study"),
        (lambda t: t.split("\n")[0] + "\n", "no rows", "lacks what the study"),
    ],
    ids=["column", "group", "labels", "number", "rows"],
)
def test_bad_rows_are_refused_on_the_client(here, change, there, here_):
    south = here[1][1]
    spoil_people(south, change)
    result = run(here, min_clients=2)
    assert result.left_out[0].client == "South" and here_ in result.left_out[0].reason
    log = (south / "log.txt").read_text("utf-8")
    assert sum("Refused:" in line and there in line for line in log.splitlines()) >= 1
    assert all(not one["arrays"] for one in read_log(south) if one["way"] == "sent")


def test_a_server_with_another_study_gets_nothing(here):
    other = replace(STUDY, seed=4)
    with pytest.raises(FederationStopped, match="its study is another one"):
        run(here, study=other)


def test_a_fault_of_the_program_tells_the_server_nothing_of_people(here, monkeypatch):
    def fault(self):
        raise RuntimeError("patient 17 is ill")

    monkeypatch.setattr(OwnRows, "moments", fault)
    with pytest.raises(
        FederationStopped, match=r"a fault of the program \(RuntimeError\)"
    ) as output:
        run(here)
    assert "patient" not in str(output.value)
    assert "patient 17 is ill" in (here[1][0] / "log.txt").read_text("utf-8")


def test_rows_are_split_once_and_folds_hold_out_everybody_once(here):
    folder = ClientFolder.read(here[1][0])
    splits = np.array(OwnRows(folder, STUDY.trained(folds=3)).splits)
    test = OwnRows(folder, STUDY).splits[0] == 2
    assert (splits[:, test] == 2).all() and ((splits == 1).sum(axis=0)[~test] == 1).all()
    with pytest.raises(InputError, match="folds empty in seed 0; ask for fewer folds"):
        spoil_people(here[1][0], lambda text: "\n".join(text.split("\n")[:13]) + "\n")
        _ = OwnRows(folder, STUDY.trained(folds=40)).splits


def test_a_study_trains_by_fedavg(here):
    path = here[0] / "study.toml"
    write_whole(path, path.read_text("utf-8").replace('"fedavg"', '"fedfb"'))
    with pytest.raises(InputError, match="a federation trains by fedavg"):
        Study.read(here[0])


def test_what_it_wrote_is_whole(here):
    result = run(here)
    written = read_json(here[0] / "results" / "result.json")
    assert written["study"] == STUDY.to_json() and written["training"] == result.more["training"]
    assert written["clients"] == list(STUDY.clients) and written["left_out"] == []
    assert written["messages"] == read_log(here[0] / "results")
    assert set(written["bytes"]) == set(STUDY.clients) and min(written["bytes"].values()) > 1000
