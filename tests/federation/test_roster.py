"""Who takes part, how long the others are waited for, and what is believed of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.federation import roster as room
from fairfl_core.federation.grid import MemoryGrid
from fairfl_core.federation.log import MessageLog, read_log
from fairfl_core.federation.messages import (
    HostileReply,
    Parcel,
    check_leaving,
    check_reply,
)
from fairfl_core.federation.roster import ClientsLost, FederationStopped, Roster, Silence
from fairfl_core.federation.rounds import FarRun, HeldOutSums, _FarClients
from fairfl_core.federation.server_folder import host_and_port
from fairfl_core.training.method import State
from fairfl_core.training.parameters import size_of
from tests.federation.hospitals import NAMES, STUDY


def joining(name, rows=10, units=10):
    return lambda parcel: Parcel("join", {"client": name, "rows": rows, "units": units})


def roster(folder, nodes, *, least=3, patience=0.05, said=None):
    made = nodes if hasattr(nodes, "nodes") else MemoryGrid(dict(enumerate(nodes, 7)))
    return Roster(
        STUDY,
        made,
        MessageLog(folder),
        run="ab" * 8,
        min_clients=least,
        patience=patience,
        on_event=[].append if said is None else said.append,
    )


# -------------------------------------------------------------------- waiting


def waiting(monkeypatch, folder, there, patience):
    """What is said and slept while so many nodes are there, look by look."""
    clock, said, naps = [100.0], [], []
    looks = iter(there)

    def sleep(seconds):
        naps.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(room, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    grid = SimpleNamespace(nodes=lambda: [0] * next(looks))
    roster(folder, grid, patience=patience, said=said).wait(3)
    return said, naps


def test_who_is_there_is_told_once_until_all_are(monkeypatch, tmp_path):
    said, naps = waiting(monkeypatch, tmp_path, [0, 0, 1, 1, 3], 600.0)
    assert said == [f"{n} of 3 clients are there; waiting for the others." for n in (0, 1)]
    assert naps == [0.5] * 4


def test_waiting_ends_with_patience(monkeypatch, tmp_path):
    said, naps = waiting(monkeypatch, tmp_path, [2] * 99, 2.0)
    assert naps == [0.2] * len(naps) and 10 <= len(naps) <= 11 and len(said) == 1
    assert waiting(monkeypatch, tmp_path, [3], 2.0) == ([], [])


# -------------------------------------------------------------------- joining


def test_all_take_part_in_the_order_of_the_study(tmp_path):
    found = roster(tmp_path, [joining(name, 1000) for name in reversed(NAMES)])
    found.join(NAMES)
    assert found.clients == NAMES and not found.lost
    assert found.sentence() == '3 clients take part ("North", "South", "East"), 3,000 rows.'
    assert found.rows == dict.fromkeys(NAMES, 1000) and found.units == dict.fromkeys(NAMES, 10)


@pytest.mark.parametrize(
    ("rows", "units", "believed"),
    [
        (1, 1, True),
        (2**53 - 1, 5, True),
        (2**53, 5, False),
        (0, 0, False),
        (5, 0, False),
        (5, 6, False),
        (True, 1, False),
        (5.0, 5, False),
        ("5", 5, False),
        (None, None, False),
    ],
)
def test_numbers_of_people_that_cannot_be_are_not_believed(tmp_path, rows, units, believed):
    nodes = [joining("North", rows, units), joining("South"), joining("East")]
    found = roster(tmp_path, nodes, least=2)
    found.join(NAMES)
    assert found.clients == (NAMES if believed else NAMES[1:])
    reasons = [one.reason for one in found.lost]
    assert reasons == ([] if believed else ["it says it has a number of people that cannot be"])


def test_too_few_stop_the_run_with_everybodys_reason(tmp_path):
    said = []
    found = roster(tmp_path, [joining("South"), joining("East")], said=said)
    with pytest.raises(FederationStopped) as stopped:
        found.join(NAMES)
    lost = 'Client "North" is left out (joining): it is not there.'
    assert str(stopped.value) == (
        "Stopped (joining): 2 of 3 clients are left and at least 3 were asked for. "
        f"{lost} What was done so far is kept: run the same command again when they are back, or "
        "allow fewer with --min-clients."
    )
    assert said[-1] == lost and lost in (tmp_path / "log.txt").read_text()
    with pytest.raises(FederationStopped, match="0 of 3 clients are left and at least 0 were"):
        roster(tmp_path, [], least=0).join(NAMES)


# -------------------------------------------------------------------- asking


def held_out(name, **more):
    arrays = {"held_out_counts": np.ones(STUDY.table, np.int64), "held_out_loss": np.array(1.5)}
    return Parcel("held-out", {"client": name}, arrays | more)


def asked(folder, replies, **more):
    """Everybody joins, and is then asked once."""

    def node(name):
        return lambda parcel: joining(name)(parcel) if parcel.kind == "join" else replies[name]

    found = roster(folder, [node(name) for name in NAMES], least=1)
    found.join(NAMES)
    given = {"a": np.zeros(4)}
    return found, lambda: found.ask("held-out", lambda name: ({}, given), when="now", **more)


def test_what_travels_is_counted_and_written_down_both_ways(tmp_path):
    replies = {name: held_out(name) for name in NAMES}
    found, ask = asked(tmp_path, replies)
    before = dict(found.bytes)
    assert ask() == replies
    header = {"study": STUDY.fingerprint, "run": "ab" * 8}
    sent = Parcel("held-out", header, {"a": np.zeros(4)}).bytes
    for name in NAMES:
        assert found.bytes[name] - before.get(name, 0) == sent + replies[name].bytes
    log = [(one["way"], one["whom"], one["note"]) for one in read_log(tmp_path)[-6:]]
    assert log == [(way, name, "now") for way in ("sent", "received") for name in NAMES]


def test_who_is_silent_or_sends_too_little_is_lost_and_the_others_are_heard(tmp_path):
    replies = {name: held_out(name) for name in NAMES}
    replies["South"] = Silence("gone")
    replies["East"] = Parcel("held-out", {"client": "East"}, {})
    found, ask = asked(tmp_path, replies, needs=("held_out_counts", "held_out_loss"))
    with pytest.raises(ClientsLost) as lost:
        ask()
    assert list(lost.value.replies) == ["North"] and found.clients == ("North",)
    reasons = [(one.client, one.when, one.reason) for one in found.lost]
    assert reasons == [
        ("South", "now", "gone"),
        ("East", "now", 'its reply lacks "held_out_counts"'),
    ]


def test_who_does_not_answer_at_all_is_told_with_the_patience_there_was(tmp_path):
    replies = {name: held_out(name) for name in NAMES}
    found, ask = asked(tmp_path, replies)
    real = found._grid.ask
    found._grid.ask = lambda parcels, patience: dict(list(real(parcels, patience).items())[1:])
    with pytest.raises(ClientsLost):
        ask()
    assert [one.reason for one in found.lost] == ["no answer in 0.05 s"]


# -------------------------------------------------------------------- what is believed


def believed(kind, arrays, *, noisy=False, rows=40):
    try:
        check_reply(Parcel(kind, {}, arrays), kind, STUDY, noisy=noisy, rows=rows)
    except HostileReply as error:
        return str(error)
    return None


def test_counts_are_believed_up_to_the_rows_there_are():
    table = np.zeros(STUDY.table)
    table[0, 0, 0] = 40
    assert believed("counts", {"counts": table}) is None
    table[1, 1, 1] = 1
    said = 'its "counts" counts more people than the 40 rows it has'
    assert believed("counts", {"counts": table}) == said
    assert believed("counts", {"counts": table}, noisy=True) is None
    assert believed("counts", {"counts": table * 2.0**53}, noisy=True) is not None
    table[1, 1, 1] = -1e-10  # rounding
    assert believed("predictor", {"fair/confusion": table}) is None
    table[1, 1, 1] = -1e-8
    assert "fewer than no people" in believed("predictor", {"fair/confusion": table})
    assert believed("counts", {"counts": np.full(STUDY.table, 0.5)}) is not None
    assert believed("counts", {"counts": np.full(STUDY.table, 0.5)}, noisy=True) is None
    assert believed("predictor", {"fair/confusion": np.full(STUDY.table, 0.5)}) is None


def test_a_model_is_believed_up_to_the_largest_weight():
    size = size_of(STUDY.shapes)
    assert believed("turn", {"theta": np.full(size, -1e6)}) is None
    said = "its model has weights that no training gives"
    assert believed("turn", {"theta": np.full(size, -1.1e6)}) == said


def test_no_more_corners_are_believed_or_sent_than_a_list_may_have():
    for many, fits in ((4096, True), (4097, False)):
        assert (believed("corners", {"group": np.zeros(many)}) is None) is fits
        parcel = Parcel("corners", {}, {"group": np.zeros(many)})
        if fits:
            check_leaving(parcel, STUDY, {1, 100})
        else:
            with pytest.raises(
                InputError, match=r"has as many rows \(4,097\) as there are people"
            ):
                check_leaving(parcel, STUDY, {1, 100})
    check_leaving(Parcel("corners", {}, {"group": np.zeros(1)}), STUDY, {1})  # one is no list


# -------------------------------------------------------------------- where training stands


def far_run(**more):
    state = State(np.arange(3, dtype=np.float32), {"a": np.ones(2)})
    return FarRun(state, State(np.zeros(3, np.float32), {}), 4, 2, False, **more)


def test_where_training_stands_survives_its_file(tmp_path):
    curves = {name: np.array([0.5, 0.25]) for name in ("loss", "accuracy", "criterion")}
    run = far_run(**curves)
    run.write(tmp_path / "model.npz")
    found = FarRun.read(tmp_path / "model.npz")
    assert (found.done, found.best_done, found.fresh, found.judged) == (4, 2, False, 2)
    assert found.state.theta.tolist() == [0, 1, 2] and found.best.theta.tolist() == [0, 0, 0]
    assert found.state.memory["a"].tolist() == [1, 1] and found.best.memory == {}
    assert found.criterion.tolist() == [0.5, 0.25]
    (tmp_path / "model.npz").write_bytes(b"spoilt")
    with pytest.raises(InputError, match=r"model\.npz: is not a checkpoint .* to train anew\.$"):
        FarRun.read(tmp_path / "model.npz")


def test_the_best_round_is_the_first_of_the_best():
    people = HeldOutSums(np.array([[[[3, 1], [0, 4]]]]), 0.5, None)
    assert people.accuracy == 7 / 8
    run = far_run().with_judgement(people, 0.3)
    assert run.best_done == 4 and run.best is run.state
    later = FarRun(run.state, run.best, 5, 4, False, run.loss, run.accuracy, run.criterion)
    assert later.with_judgement(people, 0.3).best_done == 4
    better = later.with_judgement(people, 0.29)
    assert better.best_done == 5 and better.accuracy.tolist() == [7 / 8] * 2
    with pytest.raises(InputError, match='chooses its round by "scores" of people one by one'):
        people.scores  # noqa: B018


def test_under_noise_no_method_asks_for_held_out_people(tmp_path):
    clients = _FarClients(roster(tmp_path, []), None, 0, 0, {}, "now")
    clients.refuse_held_out()
    with pytest.raises(InputError, match=r"^fedavg asks for tables of held-out people between"):
        clients.counts(np.zeros(3, np.float32), held_out=True)


@pytest.mark.parametrize("address", ["a:0", "a:65536", "a:", "a", "a:-1", "a:x"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match="is not an address like 127"):
        host_and_port(address)


def test_addresses_are_a_host_and_a_port():
    assert host_and_port("a:1") == ("a", 1) and host_and_port("[::1]:65535") == ("::1", 65535)
