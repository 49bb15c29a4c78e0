"""What one client keeps, refuses and tells, asked message by message."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core._io.atomic import write_whole
from fairfl_core.federation import client_statistics
from fairfl_core.federation.client import Client
from fairfl_core.federation.desk import Desk
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.loader import ClientFolder, Refusal, load_people
from fairfl_core.federation.log import read_log
from fairfl_core.federation.messages import Parcel
from fairfl_core.federation.server import Server
from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.training.scaling import Scaler
from tests.federation.hospitals import (
    QUESTION,
    STUDY,
    grid_of,
    open_hospitals,
    server,
    settings,
)
from tests.training import tiny

RUN = "ab" * 8
QUICK = replace(STUDY, rounds=1)


@pytest.fixture
def north(tmp_path):
    return open_hospitals(tmp_path, rows=(100, 90, 80))[0]


def desk_of(path, study=STUDY):
    return Desk(ClientFolder.read(path), study, RUN)


def ask(path, kind, header=None, arrays=None):
    known = {"study": STUDY.fingerprint, "run": RUN}
    return Client(path).answer(Parcel(kind, known | (header or {}), arrays or {}))


# -------------------------------------------------------------------- joining and splitting


def test_a_client_says_how_many_rows_and_people_it_has(north):
    reply = ask(north, "join")
    assert reply.header == {"client": "North", "rows": 100, "units": 100} and not reply.arrays
    ids = (north / "people.csv").read_text().replace("p7,", "p6,")
    write_whole(north / "people.csv", ids)
    data = ClientFolder.read(north).data | {"unit": "patient"}
    write_whole(north / "client.toml", settings("North", data=data))
    assert ask(north, "join").header["units"] == 99


def test_a_client_splits_its_people_and_counts_them(north):
    reply = ask(north, "split", {"before": [], "fitted_before": []})
    desk = desk_of(north)
    assert reply.header == {"client": "North", "fitted_units": 80, "per_row": 1}
    people, training = desk.own.people, desk.base_split == 0
    assert reply.arrays["counts"].sum() == training.sum() == 60
    values = people.inputs[training, :2].astype(float)
    sums = np.concatenate([values.sum(axis=0), (values**2).sum(axis=0)])
    np.testing.assert_allclose(reply.arrays["moments"], [sums], rtol=1e-6)
    for group in range(2):
        for label in range(2):
            many = ((people.group == group) & (people.label == label))[training].sum()
            assert reply.arrays["counts"][0, group, label] == many
    assert desk.sizes() == {100, 60, 20, 80}


def test_a_client_that_was_told_nothing_says_so(north):
    with pytest.raises(ValueError, match=r"was not told how to split its people; join first\.$"):
        desk_of(north).base_split  # noqa: B018
    assert desk_of(north).sizes() == {100}


def test_folds_that_nobody_is_left_for_are_refused(tmp_path):
    study = replace(STUDY, folds=9)
    path = open_hospitals(tmp_path, study, (10, 90, 80))[0]
    desk = desk_of(path, study)
    desk.begin([], [])
    with pytest.raises(Refusal) as refused:
        desk.splits  # noqa: B018
    told = "8 rows to train on leave one of 9 folds empty; ask for fewer folds."
    assert str(refused.value) == f"{path}: {told}"
    assert refused.value.told == "it has too few people for so many folds"


def test_a_fold_is_held_out_once_and_test_people_never(tmp_path):
    study = replace(STUDY, folds=3)
    path = open_hospitals(tmp_path, study, (100, 90, 80))[0]
    desk = desk_of(path, study)
    desk.begin([], [])
    splits = np.array(desk.splits)
    test = desk.base_split == 2
    assert (splits[:, test] == 2).all() and ((splits == 1).sum(axis=0)[~test] == 1).all()
    assert desk.sizes() >= {100, 80, 20, int((splits[0] == 1).sum()), int((splits[0] == 0).sum())}


def test_another_split_is_another_split_at_the_same_desk(north):
    desk = desk_of(north)
    desk.begin([], [])
    first = desk.splits[0]
    desk.begin([50], [])
    assert (desk.splits[0] != first).any() and (desk.base_split != first).any()


# -------------------------------------------------------------------- what it keeps


def test_what_a_client_keeps_comes_back_and_what_is_gone_is_refused(north):
    desk = desk_of(north)
    assert desk.memory(1, 0) == {} and desk.released("x") is None
    desk.keep_memory(1, 2, {"a": np.arange(3)})
    assert desk.memory(1, 2)["a"].tolist() == [0, 1, 2]
    desk.keep_plan(1, np.ones((2, 2, 2), np.int64))
    assert desk.plan(1).sum() == 8
    desk.keep_release("x", {"counts": np.zeros(2)})
    assert desk.released("x")["counts"].tolist() == [0, 0]
    for path in (desk.runs / "memory_1_3.npz", desk.runs / "plan_1.npz"):
        write_whole(path, b"spoilt")
    with pytest.raises(Refusal, match="begin the run anew") as refused:
        desk.memory(1, 3)
    assert refused.value.told == "what it kept of the run is gone"
    with pytest.raises(Refusal, match="plan_0"):
        desk.plan(0)


def test_pictures_are_scaled_where_they_are_trained_on(north):
    features = replace(STUDY.features, numbers=(), categories={}, dataset="ham10000", channels=3)
    desk = desk_of(north, replace(STUDY, features=features, model="cnn"))
    people = tiny.pictures()
    desk.__dict__["own"] = type("Own", (), {"people": people})
    desk.__dict__["splits"] = [np.zeros(len(people), np.int8)]
    scaler = Scaler(np.zeros(3), np.ones(3))
    federation = desk.federation(0, scaler)
    assert federation.people is people and federation.pixels is scaler
    assert desk.pixels == np.prod(people.inputs.shape[1:3])


# -------------------------------------------------------------------- what it refuses


def test_a_fault_of_the_program_tells_the_server_nothing_of_people(north, monkeypatch):
    def stumbles(*_):
        raise ZeroDivisionError("p17 is ill")

    monkeypatch.setattr(Desk, "begin", stumbles)
    reply = ask(north, "split", {"before": [], "fitted_before": []})
    assert reply.kind == "refusal" and "p17" not in json.dumps(dict(reply.header))
    assert reply.header["told"] == "it could not do what it was asked; its own log says why"
    log = (north / "log.txt").read_text()
    assert "A fault of the program: Traceback" in log and "p17 is ill" in log
    assert "Refused: a fault of the program (ZeroDivisionError)" in log


def test_what_is_not_named_in_a_folder_is_told(north):
    data = {"table": "people.csv", "label": "diagnosis"}
    write_whole(north / "client.toml", settings("North", data=data))
    with pytest.raises(Refusal) as refused:
        load_people(ClientFolder.read(north), STUDY)
    assert str(refused.value) == f"{north / 'client.toml'}: [data] lacks 'group'; name the column."
    assert refused.value.told == "its folder does not name all columns"


@pytest.mark.parametrize(("epsilon", "refused"), [(None, True), (2.0, True), (0.5, False)])
def test_a_client_spends_no_more_than_it_allows(north, epsilon, refused):
    write_whole(north / "client.toml", settings("North", consent={"largest_epsilon": 1.0}))
    privacy = None if epsilon is None else vars(Mechanism(epsilon=epsilon))
    parcel = Parcel("counts", {"privacy": privacy})
    if not refused:
        found = client_statistics._consented(desk_of(north), "counts", parcel)
        assert found == Mechanism(epsilon=0.5)
        parcel = Parcel("price", parcel.header)  # which no noise is added to
    with pytest.raises(Refusal) as told:
        client_statistics._consented(desk_of(north), parcel.kind, parcel)
    assert told.value.told == "it spends a privacy budget of at most 1 on a table"
    assert "with less noise than this client allows (a budget of at most 1," in str(told.value)


def test_another_clients_part_is_not_used(tmp_path):
    paths = open_hospitals(tmp_path / "at", QUICK, (100, 90, 80))
    grid = grid_of(paths)
    server(paths, tmp_path / "out", study=QUICK, grid=grid).run()
    parcels = [parcel for _, parcel, _ in grid.exchanges if parcel.kind == "predictor"]
    reply = Client(paths[0]).answer(parcels[1])
    assert reply.kind == "refusal"
    assert reply.header["told"] == "the predictor it got is not its own"
    assert Client(paths[0]).answer(parcels[0]).kind == "predictor"
    assert read_log(paths[0])[-1]["way"] == "sent"


def test_as_many_corners_as_people_are_one_more(tmp_path, monkeypatch):
    paths = open_hospitals(tmp_path / "at", QUICK, (200, 190, 180))
    question = replace(QUESTION, region="exact")
    grid = grid_of(paths)
    server(paths, tmp_path / "out", study=QUICK, question=question, grid=grid).run()
    ((_, parcel, plain), *_) = [one for one in grid.exchanges if one[1].kind == "corners"]
    many, sizes = len(plain.arrays["group"]), Desk.sizes
    monkeypatch.setattr(Desk, "sizes", lambda desk: sizes(desk) | {many, many + 1})
    reply = Client(paths[0]).answer(parcel)
    for name, array in reply.arrays.items():
        if name == "counts":
            continue
        assert len(array) == many + 2
        np.testing.assert_array_equal(array[:many], plain.arrays[name])
        np.testing.assert_array_equal(array[many:], [array[many - 1]] * 2)


def test_a_fault_of_the_servers_program_is_told_and_kept(tmp_path, monkeypatch):
    def stumbles(self):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(Server, "run", stumbles)
    STUDY.write(tmp_path)
    job = Job(tmp_path, tmp_path / "results", QUESTION)
    with pytest.raises(ZeroDivisionError):
        Job.read(job.write()).run(grid_of([]))
    assert job.outcome()["ok"] is False
    sentence = "Stopped by a fault of the program (a fault); see error.txt."
    assert job.outcome()["sentence"] == sentence
    assert "ZeroDivisionError: a fault" in (job.out / "error.txt").read_text()
