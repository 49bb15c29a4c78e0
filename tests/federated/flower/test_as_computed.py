"""A federation in memory: its messages, files, sentences and result, as they were approved.

Not that they are right, which `test_protocol.py` says: these notice that a line changed. See `helpers/approved.py`.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfl_core._io.json_files import read_json
from fairfl_core.errors import FairflError
from fairfl_core.federated.flower.folders import (
    blank_study,
    hospital_example,
    trained_as,
    write_folders,
)
from fairfl_core.federated.flower.loader import ClientFolder, load_people
from fairfl_core.federated.flower.log import read_log
from fairfl_core.federated.flower.messages import KINDS, Parcel, check_leaving, check_reply
from fairfl_core.federated.flower.question import Question
from fairfl_core.federated.flower.roster import Silence
from fairfl_core.federated.flower.server_folder import ServerFolder, host_and_port, is_loopback
from fairfl_core.federated.flower.study import Study, toml_of
from fairfl_core.federated.methods import METHODS
from fairfl_core.intake import experiment_from_counts
from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, Policy
from tests.federated.flower.hospitals import QUESTION, STUDY, THREE, open_hospitals, server
from tests.helpers.approved import check, refusal, tell

APPROVED = Path(__file__).with_name("as_computed")
EXACT = replace(QUESTION, region="exact")
QUICK = replace(STUDY, rounds=2)
WAYS = {
    "simplex": (QUICK, QUESTION),
    "floors": (QUICK, replace(QUESTION, policy=Policy(floors=(Floor("ill", 0.5),)))),
    "sure": (QUICK, Question("eop", "kernel", 0.4, 0.5, guarantee=Guarantee(0.9, "each"))),
    "exact": (QUICK, EXACT),
    "one round": (QUICK, replace(EXACT, one_round=True, bins=8)),
    "three labels": (replace(THREE, rounds=2), QUESTION),
    "folds": (replace(QUICK, folds=2), EXACT),
    "fairfed": (replace(QUICK, method="fairfed", settings={"notion": "eop"}), QUESTION),
    "fair_fate": (replace(QUICK, method="fair_fate", settings={"notion": "eo"}), QUESTION),
    "fedfb": (replace(QUICK, method="fedfb", class_weighting=True), QUESTION),
}
OWN = re.compile(r"[0-9a-f]{16,}|\d{4}-\d\d-\d\d[ T][\d:.Z+]+")  # a run's name, a time


def masked(text):
    return OWN.sub("...", str(text))


@pytest.mark.parametrize("name", WAYS)
def test_a_federation_is_what_was_approved(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study, question = WAYS[name]
    paths = open_hospitals(Path("at"), study, (90, 81, 77))
    said = []
    found = server(paths, Path("out"), study=study, question=question, on_event=said.append)
    outcome = found.run()
    result = read_json(Path("out") / "result.json")
    data = (Path("out") / "result.json").read_bytes()
    taken = experiment_from_counts([("result.json", data)])
    shown = tell(
        taken=[taken.experiment.manifest["dataset"], [one.sentence for one in taken.checks]],
        said=[masked(sentence) for sentence in said],
        loss=[run.loss for run in outcome.runs],
        accuracy=[run.accuracy for run in outcome.runs],
        criterion=[run.criterion for run in outcome.runs],
        done=[[run.done, run.best_done] for run in outcome.runs],
        result={key: part for key, part in result.items() if key not in ("run", "versions")},
        server=[_entry(one) for one in read_log(Path("out"))][:40],
        north=[_entry(one) for one in read_log(paths[0])][:40],
        files=sorted(masked(path) for path in Path().rglob("*") if path.is_file()),
        text=masked((paths[0] / "log.txt").read_text("utf-8")[:3000]).splitlines(),
    )
    check(APPROVED / f"{name}.txt", masked(shown), close=1e-4)


def _entry(entry):
    return masked({key: part for key, part in entry.items() if key != "time"})


def test_a_client_that_is_lost_is_told_as_was_approved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = open_hospitals(Path("at"), QUICK, (90, 81, 77))

    def silent(parcel, honest):
        if parcel.kind == "turn":
            return Silence("gone")
        return honest()

    said: list[str] = []
    more = {"study": QUICK, "on_event": said.append}
    wrong = {1: silent}
    try:
        server(paths, Path("all"), wrong=wrong, **more).run()
    except FairflError as error:
        said.append(f"{type(error).__name__}: {error}")
    server(paths, Path("most"), wrong=wrong, min_clients=2, **more).run()
    left = read_json(Path("most") / "result.json")["left_out"]
    check(APPROVED / "lost.txt", masked(tell(said=said, left=left)), close=1e-4)


def test_folders_are_what_was_approved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study, made = hospital_example()
    write_folders(Path("hospitals"), trained_as(study, model="mlp", rounds=4), people=made)
    write_folders(Path("blank"), blank_study(["A & B", "Zürich"]), address="192.0.2.7:9000")
    shown = {}
    for path in sorted(Path().rglob("*")):
        if path.is_file():
            lines = path.read_text("utf-8").splitlines()
            shown[str(path)] = (
                lines[:6] + [f"{len(lines)} lines"] if path.suffix == ".csv" else lines
            )
    own = load_people(ClientFolder.read(Path("hospitals/north")), study)
    shown["people"] = [own.people, own.row_id[:5]]
    shown["addresses"] = [host_and_port("127.0.0.1:80"), is_loopback("127.0.0.1:80")]
    check(APPROVED / "folders.txt", masked(tell(**shown)))


def test_refusals_are_what_was_approved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(METHODS, "toy", raising=False)  # which other tests make known
    (path,) = open_hospitals(Path("at"), replace(STUDY, clients=("North",)), (40,))
    client, people = (path / "client.toml"), (path / "people.csv")
    settings, table, value = client.read_text(), people.read_text(), STUDY.to_json()
    tries = {}
    for name, old, new in (
        ("format", "fairfl-client/1", "fairfl-client/2"),
        ("key", "server =", "servant ="),
        ("table", "people.csv", "nobody.csv"),
        ("label", '"diagnosis"', '"moon"'),
        ("address", "127.0.0.1:8000", "nowhere"),
    ):
        client.write_text(settings.replace(old, new))
        tries[f"client, {name}"] = refusal(lambda: load_people(ClientFolder.read(path), STUDY))
    client.write_text(settings)
    for name, old, new in (
        ("label", ",ill\n", ",dead\n"),
        ("group", ",man,", ",dog,"),
        ("ward", ",a,", ",z,"),
        ("age", "p3,", "p3,x"),
        ("twice", "p3,", "p4,"),
        ("marker", "marker", "maker"),
    ):
        people.write_text(table.replace(old, new))
        tries[f"people, {name}"] = refusal(lambda: load_people(ClientFolder.read(path), STUDY))
    for name, change in {
        "labels": {"labels": ["one"]},
        "favourable": {"favourable": "moon"},
        "rounds": {"rounds": 0},
        "split": {"split": [0.5, 0.6, 0.1]},
        "method": {"method": "luck"},
        "model": {"model": "tree"},
        "more": {"more": 1},
        "clients": {"clients": ["A", "A"]},
        "folds": {"folds": 1},
        "features": {"features": {}},
    }.items():
        whole = value | change
        if change.keys() <= value["training"].keys():
            whole = value | {"training": value["training"] | change}
        tries[f"study, {name}"] = refusal(lambda whole=whole: Study.from_json(whole))
    for name, options in {
        "notion": {"notion": "luck"},
        "region": {"region": "moon"},
        "rounds": {"region": "exact", "privacy": Mechanism(epsilon=1.0)},
        "eps": {"eps_local": 3.0},
        "one round": {"one_round": True},
        "bins": {"region": "exact", "one_round": True, "bins": 7},
    }.items():
        tries[f"question, {name}"] = refusal(lambda options=options: Question(**options))
    far = Path("far")
    write_folders(far, STUDY, address="192.0.2.7:8000")
    tries["server"] = refusal(lambda: ServerFolder.read(far / "server").keys())
    tries["certificates"] = refusal(lambda: ServerFolder.read(far / "server").certificates())
    tries["again"] = refusal(lambda: write_folders(far, STUDY))
    question = Question("eop", "exact", one_round=True, policy=Policy(floors=(Floor("ill", 0.3),)))
    tries["question"] = Question.from_json(question.to_json()).to_json()
    tries["study"] = [toml_of(value), STUDY.fingerprint, STUDY.shapes, STUDY.recipe.to_json()]
    check(APPROVED / "refusals.txt", masked(tell(**tries)))


def test_every_kind_of_message_is_what_was_approved():
    kinds = {name: vars(kind) for name, kind in KINDS.items()}
    spoilt = {}
    for name in KINDS:
        empty = Parcel(name, {}, {})
        wrong = Parcel(name, {}, {"luck": np.zeros(40)})
        endless = Parcel(name, {}, {"theta": np.full(3, np.nan)})
        for how, parcel in (("empty", empty), ("unknown", wrong), ("not finite", endless)):
            spoilt[f"{name}, {how}"] = [
                refusal(lambda parcel=parcel: check_leaving(parcel, STUDY, [40])),
                refusal(
                    lambda parcel=parcel, name=name: check_reply(
                        parcel, name, STUDY, noisy=False, rows=40
                    )
                ),
            ]
    check(APPROVED / "messages.txt", masked(tell(kinds=kinds, spoilt=spoilt)))
