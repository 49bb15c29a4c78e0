"""Clients that fall silent, lie, or are somebody else: the run goes on or stops, and says who."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core._io.atomic import write_whole
from fairfl_core.federation.client import Client
from fairfl_core.federation.grid import MemoryGrid
from fairfl_core.federation.messages import Parcel
from fairfl_core.federation.roster import FederationStopped, Silence
from tests.federation.hospitals import (
    NAMES,
    QUESTION,
    STUDY,
    grid_of,
    open_hospitals,
    server,
    settings,
    table,
)
from tests.training import toy  # noqa: F401  (it makes itself known)

EXACT = replace(QUESTION, region="exact")


@pytest.fixture
def paths(tmp_path):
    return open_hospitals(tmp_path, rows=(300, 260, 240))


def silent(kind, round_=None):
    """A client that dies at a message and never comes back."""
    dead = []

    def answer(parcel, honest):
        here = parcel.kind == kind and round_ in (None, parcel.header.get("round"))
        if here or dead:
            dead.append(True)
            return Silence("no answer in 5 s")
        return honest()

    return answer


def lying(kind, lie):
    """A client whose reply to one kind of message is changed on its way."""

    def answer(parcel, honest):
        reply = honest()
        return lie(reply) if parcel.kind == kind else reply

    return answer


def with_array(name, change):
    return lambda reply: Parcel(
        reply.kind, reply.header, {**reply.arrays, name: change(reply.arrays[name])}
    )


def in_the_name_of(name):
    return lambda reply: Parcel(reply.kind, {**reply.header, "client": name}, reply.arrays)


SILENT = {
    "in the middle of a round": ("turn", 1),
    "in the first round": ("turn", 0),
    "after the last round": ("held-out",),
    "before the statistics": ("counts",),
    "after the statistics": ("predictor",),
    "while joining": ("join",),
    "while splitting": ("split",),
}


@pytest.mark.parametrize("moment", SILENT)
def test_a_killed_client_is_left_out_and_named(paths, tmp_path, moment):
    told = []
    found = server(
        paths,
        tmp_path / "out",
        wrong={1: silent(*SILENT[moment])},
        min_clients=2,
        on_event=told.append,
    )
    outcome = found.run()
    after = moment == "after the statistics"  # its lottery is solved; it is not judged
    assert outcome.solution.counts.clients == (NAMES if after else ("North", "East"))
    assert outcome.evaluation.counts.clients == ("North", "East")
    assert [lost.client for lost in found.roster.lost] == ["South"]
    assert any('Client "South" is left out' in sentence for sentence in told)
    assert all(run.done == STUDY.rounds for run in outcome.runs)


# After the statistics there is nothing to stop: the others have their predictors.
@pytest.mark.parametrize("moment", [name for name in SILENT if name != "after the statistics"])
def test_or_the_run_stops_and_goes_on_where_it_was(paths, tmp_path, moment):
    with pytest.raises(FederationStopped, match='Client "South" is left out') as stopped:
        server(paths, tmp_path / "out", wrong={1: silent(*SILENT[moment])}).run()
    assert "What was done so far is kept" in str(stopped.value)
    grid = grid_of(paths)
    outcome = server(paths, tmp_path / "out", grid=grid).run()
    plain = server(open_hospitals(tmp_path / "plain", rows=(300, 260, 240)), tmp_path / "p").run()
    assert outcome.solution.accuracy == plain.solution.accuracy
    assert np.array_equal(outcome.solution.counts.table, plain.solution.counts.table)
    rounds = {p.header["round"] for _, p, _ in grid.exchanges if p.kind == "turn"}
    done = {"in the middle of a round": 1, "after the last round": 3, "before the statistics": 3}
    assert rounds == set(range(done.get(moment, 0), STUDY.rounds))  # nothing is trained twice


def test_a_method_with_memories_goes_on_without_a_client(tmp_path):
    study = replace(STUDY, method="toy", rounds=4)
    paths = open_hospitals(tmp_path, study, (300, 260, 240))
    for wrong in (silent("turn", 2), silent("tables")):
        found = server(
            paths, tmp_path / f"out{id(wrong)}", study=study, wrong={0: wrong}, min_clients=2
        )
        assert found.run().solution.counts.clients == ("South", "East")


LIES = {
    "NaN weights": ("turn", with_array("theta", lambda t: t * np.nan), "not a finite number"),
    "endless weights": ("turn", with_array("theta", lambda t: t + 1e9), "no training gives"),
    "a shorter model": ("turn", with_array("theta", lambda t: t[:-1]), "has the shape"),
    "more rows": (
        "turn",
        lambda reply: Parcel(reply.kind, {**reply.header, "rows": 10**6}, reply.arrays),
        "another number of rows",
    ),
    "no model": ("turn", lambda reply: Parcel(reply.kind, reply.header, {}), 'lacks "theta"'),
    "negative counts": ("counts", with_array("counts", lambda t: t - 999), "fewer than no people"),
    "absurd counts": ("counts", with_array("counts", lambda t: t + 10**6), "more people than"),
    "half counts": ("counts", with_array("counts", lambda t: t + 0.5), "not whole numbers"),
    "words for counts": (
        "counts",
        with_array("counts", lambda t: t.astype(str)),
        "not a finite number",
    ),
    "another table": ("counts", with_array("counts", lambda t: t[:1]), "has the shape"),
    "an array too many": (
        "counts",
        lambda reply: Parcel(reply.kind, reply.header, {**reply.arrays, "gift": np.ones(3)}),
        "nobody asked for",
    ),
    "another kind": ("counts", lambda reply: Parcel("join", reply.header, {}), "was asked"),
    "another's name": ("counts", in_the_name_of("North"), 'in the name of "North"'),
    "negative moments' rows": (
        "split",
        with_array("counts", lambda t: -t),
        "fewer than no people",
    ),
    "no people": (
        "join",
        lambda reply: Parcel(reply.kind, {**reply.header, "rows": -3}, {}),
        "cannot be",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_hostile_reply_is_not_believed(paths, tmp_path, lie):
    kind, change, reason = LIES[lie]
    found = server(paths, tmp_path / "out", wrong={2: lying(kind, change)}, min_clients=2)
    outcome = found.run()
    assert outcome.solution.counts.clients == ("North", "South")
    assert [lost.client for lost in found.roster.lost] == ["East"]
    assert reason in found.roster.lost[0].reason
    assert np.isfinite(outcome.runs[0].best.theta).all()
    with pytest.raises(FederationStopped, match="East"):
        server(paths, tmp_path / "strict", wrong={2: lying(kind, change)}).run()


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("group", lambda g: g + 5, "study's groups"),
        ("answers", lambda a: np.where(a >= 0, 7, a), "study's groups|does not have"),
        ("answers", lambda a: np.where((a == [0, 1]).all(axis=1, keepdims=True), 0, a), "groups"),
        ("confusion", lambda c: c + 1, "more people than|other people than"),
    ],
)
def test_corners_of_nobody_are_not_believed(paths, tmp_path, name, change, reason):
    lie = lying("corners", with_array(name, change))
    with pytest.raises(FederationStopped, match=reason):
        server(paths, tmp_path / "out", question=EXACT, wrong={0: lie}).run()


def test_two_nodes_of_one_name_are_both_left_out(paths, tmp_path):
    nodes = {1: Client(paths[0]), 2: Client(paths[1]), 3: Client(paths[2]), 4: Client(paths[2])}
    grid = MemoryGrid({number: client.answer for number, client in nodes.items()})
    found = server(paths, tmp_path / "out", grid=grid, min_clients=2)
    assert found.run().solution.counts.clients == ("North", "South")
    assert "two nodes call themselves so" in found.roster.lost[0].reason


def test_a_stranger_is_no_client(paths, tmp_path):
    told = []
    grid = grid_of(paths, wrong={2: lying("join", in_the_name_of("Mallory"))})
    server(paths, tmp_path / "out", grid=grid, min_clients=2, on_event=told.append).run()
    assert 'A node calls itself "Mallory", which is no client of this run.' in told


def test_a_server_with_another_study_gets_nothing(paths, tmp_path):
    other = replace(STUDY, rounds=50)
    with pytest.raises(FederationStopped, match="its study is another one"):
        server(paths, tmp_path / "out", study=other).run()
    assert "was not agreed on" in (paths[0] / "log.txt").read_text()


def test_a_server_that_asks_for_rows_gets_none(paths):
    for kind, run in (("rows", "ab" * 8), ("counts", "../../etc"), ("price", "ab" * 8)):
        header = {"study": STUDY.fingerprint, "run": run, "full": False}
        reply = Client(paths[0]).answer(Parcel(kind, header, {"gain": np.zeros((2, 2, 2))}))
        assert reply.kind == "refusal" and not reply.arrays


BAD = {
    "a missing column": (
        {"people.csv": table(1, 90).replace("marker", "market")},
        'no column "marker"',
        "lacks what the study needs",
    ),
    "one group only": (
        {"people.csv": table(1, 90).replace(",woman,", ",man,")},
        "one group",
        "all of one group",
    ),
    "no rows": ({"people.csv": "patient,age,marker,ward,sex,diagnosis\n"}, "no rows", "no rows"),
    "no file": ({"client.toml": settings("South").replace("people", "persons")}, "no such", ""),
    "another label set": (
        {"people.csv": table(1, 90, ("sound", "sick"))},
        "the study does not name",
        "labels are not those",
    ),
    "another group": (
        {"people.csv": table(1, 90).replace(",woman,", ",w,")},
        "the study does not name",
        "groups are not those",
    ),
    "no number": (
        {"people.csv": table(1, 90) + "p91,old,1.0,a,man,ill\n"},
        "data row 91 is not a finite number",
        "not a number",
    ),
    "an unknown category": (
        {"people.csv": table(1, 90) + "p91,50,1.0,z,man,ill\n"},
        'column "ward", data row 91 holds "z"',
        "features are not those",
    ),
    "another name": ({"client.toml": settings("West")}, "not one of the study", ""),
    "too few people": ({"people.csv": table(1, 3)}, "leave nobody for", "too few people"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_on_the_client_before_anything_is_sent(paths, tmp_path, what):
    files, here, there = BAD[what]
    for name, text in files.items():
        write_whole(paths[1] / name, text)
    grid, told = grid_of(paths), []
    with pytest.raises(FederationStopped, match='Client "South"') as stopped:
        server(paths, tmp_path / "out", grid=grid, on_event=told.append).run()
    log = (paths[1] / "log.txt").read_text(encoding="utf-8")
    assert len([line for line in log.splitlines() if "Refused: " in line and here in line]) == 1
    assert there in str(stopped.value)
    mine = [reply for node, _, reply in grid.exchanges if node == 101]
    assert not any(reply.arrays for reply in mine)


def test_what_a_client_does_not_allow_is_not_sent(paths, tmp_path):
    write_whole(paths[0] / "client.toml", settings("North", consent={"statistics": ["counts"]}))
    with pytest.raises(FederationStopped, match='does not allow "corners"'):
        server(paths, tmp_path / "out", question=EXACT).run()
    write_whole(paths[0] / "client.toml", settings("North", consent={"largest_epsilon": 1.0}))
    with pytest.raises(FederationStopped, match="with noise only"):
        server(paths, tmp_path / "other").run()


def test_a_client_of_few_people_lists_no_cuts(tmp_path):
    paths = open_hospitals(tmp_path, rows=(34, 300, 300))
    with pytest.raises(FederationStopped, match="too few people to list cuts"):
        server(paths, tmp_path / "out", question=EXACT).run()
