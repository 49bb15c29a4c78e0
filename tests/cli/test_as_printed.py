"""Nothing the shell says changes without somebody seeing it: `as_printed/` has what was approved.

Each file is a session: commands in one folder, what they print, and what they write. Whether the numbers are
right is the other tests' matter; these notice that a line changed. `APPROVE=1` writes them anew.
"""

import json
import re
import shlex
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pandas as pd
import pytest
from rich.color import ColorSystem
from typer.main import get_command

from fairfl_core.cli import _may_lack_letters, _shell, app
from fairfl_core.federated.methods import METHODS
from fairfl_core.intake import Reading, example_table, guess_roles, open_table, take_in
from fairfl_core.review import UPLOADED, Option, Review
from tests.cli.running import contents, people, run
from tests.helpers.approved import check, declared, tell, told
from tests.helpers.cross_fitted import cross_fitted
from tests.helpers.small import save_experiments
from tests.helpers.strategies import synthetic

APPROVED = Path(__file__).with_name("as_printed")
WIDE = 160
PACKED = re.compile(r'((?:sha256|bytes) = |MB  )["0-9a-f]+')  # as this version of Parquet packs it
WHO = "--client clinic --group sex --label diagnosis"
SCORED = f"{WHO} --scores score_no,score_yes"
SITES = "--client site --group sex --label truth"
FOLDS = f"{SITES} --scores score_no,score_yes --split split --fold fold --row-id id"
# Name: commands in their order; "json" behind one is the same again for a program.
SESSIONS = {
    "count": [
        f"count rows.csv {WHO} --prediction model --out c.json; json",
        f"count rows.csv {WHO} --prediction model --favourable no --clients east,north,south,west",
        f"count rows.csv {WHO} --scores score_no,score_yes --labels no,yes --out c.json",
        f"count folds.csv {SITES} --prediction said --split split --fold fold --row-id id --out c.json; json",
        "count wide.csv --client clinic --group ward --label diagnosis --prediction model --out c.json",
        "count wide.csv --client clinic --group sex,age --label diagnosis --prediction model --out c.json; json",
    ],
    "check": [
        "check scored.csv; json",
        "check folds.csv; json",
        "check wide.csv --group sex,age --client clinic; json",
        "check rows.csv --prediction model --client clinic --favourable no",
        "check example.csv; json",
        "check counts.json; json",
        "check untidy.csv --join",
        "check untidy.csv; json",
        "check nothing.csv",
    ],
    "solve": [
        "solve counts.json --eps-global 0.05 --eps-local 0.1 --out p.json; json",
        "solve counts.json --notion sp --region kernel --eps-local 0.02 --eps-local-client north=0.3",
        "solve counts.json --confidence 0.9 --eps-local 0.2; json",
        "solve counts.json --confidence 0.5 --confidence-scope all --confidence-proof proved --eps-local 0.3",
        "solve counts.json --floor yes=0.6 --keep no=0.1 --eps-global 0.1; json",
        "solve counts.json --floor yes=0.99 --keep no=0.0 --eps-global 0.01; json",
        "solve counts.json --ratio-global 0.9 --ratio-local 0.8 --ratio-leave-out 0.1 --notion sp; json",
        "solve counts.json --utility balanced --eps-local 0.05",
        "solve counts.json --utility costs.json --eps-local 0.05; json",
        "solve counts.json --without-group --eps-local 0.05; json",
        "solve many.json --eps-local 0.02",
    ],
    "solve scores": [
        f"solve scored.csv {SCORED} --region exact --notion eop --eps-local 0.02 --out p.json; json",
        f"solve scored.csv {SCORED} --rates shrunk --eps-local 0.02; json",
        f"solve scored.csv {SCORED} --region exact --without-group --eps-local 0.1",
        f"solve folds.csv {FOLDS} --region exact --notion eop --eps-local 0.1 --out fair.json; json",
        f"evaluate fair.json folds.csv {FOLDS}; json",
        "solve crossed.json --limit sex:local:0.05 --limit sex*age:global:0.2 --notion eop; json",
        "predict fair.json test.csv --client site --group sex --scores score_no,score_yes --fold fold --row-id id --out o.csv; json",
    ],
    "map": [
        "map counts.json; json",
        "map counts.json --notion eop --epsilons 0,0.01,1 --floor yes=0.5",
        "map counts.json --region kernel --confidence 0.9 --epsilons 0.1,0.4; json",
        f"map scored.csv {SCORED} --region exact --epsilons 0.05,0.2",
    ],
    "evaluate": [
        "evaluate predictor.json counts.json; json",
        f"evaluate predictor.json rows.csv {WHO} --prediction model --leave-out 0.2",
        "solve counts.json --eps-global 0 --eps-local 0 --notion sp --out flat.json",
        "evaluate flat.json counts.json; json",
        f"solve scored.csv {SCORED} --region exact --eps-local 0.02 --without-group --out blind.json",
        f"evaluate blind.json scored.csv {SCORED}",
    ],
    "many clients": [
        "solve many.json --eps-global 0 --eps-local 0 --out m.json",
        "evaluate m.json many.json",
        "solve holes.json --eps-local 0.1",
        "map many.json --notion sp --region kernel --epsilons 0.1",
        "check many.json",
    ],
    "predict": [
        "predict predictor.json rows.csv --client clinic --group sex --prediction model --seed 3 --out o.csv; json",
        "predict predictor.json rows.csv --client clinic --group sex --prediction model --row-id patient --out o.csv; json",
        "predict predictor.json scored.csv --client clinic --group sex --probability score_yes --probability-of yes --threshold 0.7 --seed 1 --out o.csv",
        "predict predictor.json rows.csv --client clinic --group sex --scores score_no,score_yes --scores-are logits --seed 1 --out o.csv",
    ],
    "privatize": [
        "privatize counts.json --epsilon 0.5 --seed 4 --out n.json; json",
        "privatize counts.json --epsilon 2 --neighbours add-remove --seed 4 --out n.json; json",
        "privatize counts.json --epsilon 1 --mechanism paper --seed 4 --out n.json; json",
        "privatize many.json --epsilon 1 --mechanism paper --seed 4 --out n.json",
    ],
    "histogram": [
        f"histogram scored.csv {SCORED} --labels no,yes --bins 6 --out h.json; json",
        "solve h.json --region exact --eps-local 0.05; json",
        f"histogram scored.csv {SCORED} --labels no,yes --favourable no --out h16.json; json",
        "histogram h.json h.json --out both.json",
        "histogram rows.csv h.json --out both.json",
    ],
    "compare": [
        f"compare wide.csv {WHO} --model model --model other; json",
        f"compare wide.csv {WHO} --model model --model other --model score_yes --notion sp --region exact --favourable no",
        f"compare wide.csv {WHO} --model model",
    ],
    "experiments": [
        "experiments --folder small; json",
        "experiments --folder nowhere",
        "join small/tiny --out joined",
        "join small/tiny more/tiny --out joined",
        "experiments --folder .",
        "join small/tiny small/tiny --out again",
        "join small/tiny small/tiny_cf --out again",
    ],
    "federation": [
        "federation init study --clients North,South --rounds 7 --seed 3",
        "federation init hospitals --example hospitals --model linear --folds 3",
        "federation client --check hospitals/north hospitals/south hospitals/east",
        "federation init far --example hospitals --address 192.0.2.7:8000",
        "federation server far/server",
        "federation client far/north",
    ],
    "review": [
        "review review.json --rows example.csv --out report.html; json",
        "review review.json",
        "review review.json --rows scored.csv",
    ],
    "wrong words": [
        "solve counts.json --eps-global 2",
        "solve counts.json --eps-local-client nowhere=0.1",
        "solve counts.json --eps-local-client north",
        "solve counts.json --eps-local-client north=0.1 --eps-local-client north=0.2",
        "solve counts.json --notion luck",
        "solve counts.json --region moon",
        "solve counts.json --region exact",
        "solve counts.json --rates luck",
        "solve counts.json --utility moon",
        "solve counts.json --floor yes",
        "solve counts.json --floor maybe=0.5",
        "solve counts.json --floor yes=0.5 --floor yes=0.6",
        "solve counts.json --ratio-local 0",
        "solve counts.json --limit sex:0.1",
        "solve counts.json --limit sex:here:0.1",
        "solve counts.json --limit sex:local:0.1",
        "solve counts.json --confidence 1",
        "solve counts.json --confidence 0.9 --confidence-scope some",
        "solve counts.json --confidence 0.9 --ratio-local 0.8",
        "solve counts.json --notion eo-full --region simplex",
        f"solve rows.csv {WHO}",
        f"solve scored.csv {SCORED} --rates scores --confidence 0.9",
        "map counts.json --epsilons a,b",
        "predict predictor.json rows.csv --client clinic --prediction model --out o.csv",
        "predict predictor.json rows.csv --client clinic --group sex --out o.csv",
        "predict predictor.json rows.csv --client clinic --group sex --prediction model --seed 1 --row-id patient --out o.csv",
        "predict predictor.json rows.csv --client clinic --group sex --prediction model --fold patient --out o.csv",
        "predict predictor.json rows.csv --client clinic --group sex --probability score_yes --out o.csv",
        "evaluate predictor.json rows.csv --client clinic",
        "privatize counts.json --epsilon 0 --out n.json",
        "privatize counts.json --epsilon 1 --mechanism luck --out n.json",
        "privatize counts.json --epsilon 1 --neighbours far --out n.json",
        f"histogram scored.csv {SCORED} --bins 5 --out h.json",
        "train moon",
        "train adult --seeds a",
        "train adult --seeds 3-1",
        "train adult --method luck",
        "train adult --setting pace",
        "sweep adult --method luck",
        "review counts.json",
        "review nothing.json --out report.txt",
        "federation init x --example moon",
        "federation run x --region exact --privacy-epsilon 1",
        "",
        "luck",
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files for every session."""
    made = tmp_path_factory.mktemp("sessions")
    for name, content in contents().items():
        (made / name).write_text(content, "utf-8")
    _scored(people()).to_csv(made / "scored.csv", index=False)
    wide = _scored(people(900, seed=2, groups=("woman", "man")))
    wide["age"] = ["old", "young", "young"] * 300
    wide["ward"] = [f"ward {k % 23:02d}" for k in range(900)]
    wide["other"] = wide["model"].where(wide["patient"] % 5 > 0, "no")
    wide.to_csv(made / "wide.csv", index=False)
    folds = cross_fitted()
    folds.to_csv(made / "folds.csv", index=False)
    folds[folds["split"] == "test"].to_csv(made / "test.csv", index=False)
    untidy = _scored(people(90, seed=3)).replace({"clinic": {"east": "North "}})
    untidy.loc[:2, "sex"] = ["F", "", " m"]
    untidy.to_csv(made / "untidy.csv", index=False)
    (made / "example.csv").write_text(example_table(), newline="")
    (made / "many.json").write_text(json.dumps(synthetic(18, 3, 3, rows=90).to_json()), "utf-8")
    holes = synthetic(18, 3, 3, rows=30, seed=2).to_json()
    for client in holes["clients"]:
        client["counts"][1][2] = [0, 0, 0]
    (made / "holes.json").write_text(json.dumps(holes), "utf-8")
    costs = {"name": "costs", "labels": ["no", "yes"], "gain": [[0, -1], [-3, 0.5]]}
    (made / "costs.json").write_text(json.dumps(costs), "utf-8")
    intake = take_in([("example.csv", example_table().encode())], Reading("", guessed(made)))
    sha256 = intake.experiment.manifest["scores"]["sha256"]
    first = Option("A", UPLOADED, UPLOADED, sha256, "eo", "simplex", "labels", (0,), 0.05, 0.1)
    both = (first, replace(first, name="B", eps_local=0.01, note="Too dear?"))
    Review("Which?", both, intake.reading).write(made / "review.json")
    save_experiments(made / "small")
    save_experiments(made / "more", (2,))
    return made


def guessed(folder):
    """Which columns of the example hold what."""
    data = (folder / "example.csv").read_bytes()
    return guess_roles(open_table("example.csv", data))


def _scored(table):
    """The same people with scores that sum to one."""
    scores = table[["score_no", "score_yes"]]
    chance = scores["score_yes"].div(scores.sum(axis=1)).round(4)
    return table.assign(score_no=(1 - chance).round(4), score_yes=chance)


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setattr(_shell._out, "_width", WIDE)
    monkeypatch.setenv("COLUMNS", str(WIDE))
    monkeypatch.setenv("TERMINAL_WIDTH", str(WIDE))


# What some sessions speak of is an extra, and without it another sentence is due.
NEEDS = {"federation": "flwr", "wrong words": "tensorflow"}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_what_was_approved(folder, monkeypatch, tmp_path, name):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    monkeypatch.delitem(METHODS, "toy", raising=False)  # which other tests make known
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    crossed = "count wide.csv --client clinic --group sex,age --label diagnosis --prediction model"
    run(*crossed.split(), "--out", "crossed.json")
    before = {path.name for path in tmp_path.iterdir()}
    printed = [_printed(command) for line in SESSIONS[name] for command in _both(line)]
    written = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    ours = [path for path in written if path.relative_to(tmp_path).parts[0] not in before]
    check(APPROVED / f"{name}.txt", "\n".join([*printed, *(map(_file, ours))]), close=1e-5)


def _both(line):
    command, *json_too = line.split("; ")
    return [command, *([f"{command} --json"] if json_too else [])]


def _printed(command):
    ended = run(*shlex.split(command))
    out = ended.out
    if command.endswith("--json") and ended.code in (0, 3):
        out = told(json.loads(out))
    ends = f"[ends with {ended.code}]\n" if ended.code else ""
    out = PACKED.sub(r"\1...", out)
    lines = [line.rstrip() for line in f"{out}{ended.err}".splitlines()]
    return f"$ fairfl {command}\n" + "\n".join(lines) + f"\n{ends}"


def _file(path):
    """What a file holds: a table's first rows, the values of JSON, or its text."""
    name = f"--- {path.relative_to(Path.cwd())}\n"
    match path.suffix:
        case ".csv":
            table = pd.read_csv(path, dtype=str)
            counts = {column: table[column].value_counts().head(4).to_dict() for column in table}
            return name + table.head(12).to_csv(index=False) + told(counts)
        case ".json":
            return name + PACKED.sub(r"\1...", told(json.loads(path.read_text("utf-8"))))
        case ".toml" | ".txt" | ".md" | ".sh":
            return name + path.read_text("utf-8")
    return name


def _commands(command, words=()):
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*words, name))


def test_on_a_terminal_a_session_looks_as_was_approved(folder, monkeypatch):
    """With the signs that a terminal takes for bold and colours."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(_shell._out, "_force_terminal", True)
    monkeypatch.setattr(_shell._out, "_color_system", ColorSystem.STANDARD)
    commands = ("solve counts.json --eps-local 0.02", "map counts.json --epsilons 0.1,1")
    shown = "\n".join(_printed(command).replace("\x1b", "ESC") for command in commands)
    check(APPROVED / "on a terminal.txt", shown, close=1e-5)


def test_letters_a_stream_may_lack_are_known():
    """By its encoding and what it does with letters it has not: (may lack letters)."""
    told = {
        f"{encoding} {errors}": _may_lack_letters(TextIOWrapper(BytesIO(), encoding, errors))
        for encoding in ("utf-8", "ascii", "latin-1")
        for errors in ("strict", "surrogateescape", "replace")
    }
    check(APPROVED / "letters.txt", tell(**told))


def test_what_a_federation_came_to_is_printed_as_was_approved(capsys):
    """As `federation run` tells it, from its result."""
    federation = import_module("fairfl_core.cli.federation")  # its group goes by the same name
    solution = {"accuracy": 0.8123, "model_accuracy": 0.8345}
    result = {
        "solution": solution,
        "counts": {"noisy": False},
        "evaluation": {"n": 1234.0, "noisy": False, "accuracy": 0.7987, "model_accuracy": 0.8},
        "verdict": {"word": "not sure yet", "why": "Too few people to tell."},
        "alarms": [{"sentence": f"North: alarm {number}."} for number in range(7)],
        "left_out": [{"client": "North", "when": "in round 2", "reason": "no answer in 5 s"}],
        "bytes": {"North": 12_345, "South": 23_456},
    }
    federation._show(result, Path("out"))
    nothing = {"evaluation": None, "verdict": None, "alarms": [], "left_out": []}
    federation._show(result | nothing, Path("out"))
    check(APPROVED / "federation result.txt", capsys.readouterr().out)


@pytest.mark.parametrize("words", list(_commands(get_command(app))), ids=" ".join)
def test_help_is_what_was_approved(words):
    """Every option with its default."""
    ended = run(*words, "--help")
    text = re.sub(r"[ \t]+\n", "\n", ended.out)
    check(APPROVED / "help" / f"{' '.join(['fairfl', *words])}.txt", text)


def test_what_the_shell_declares_is_what_was_approved():
    """Limits, patience, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("cli"))
