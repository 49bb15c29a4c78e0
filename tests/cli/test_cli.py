"""The command line as a contract: names, keys, exit codes, files."""

import contextlib
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from fairfl_core.people.counts import ClientCounts
from fairfl_core.predictors.predictor import FairPredictor
from fairfl_core.solving.program import FairnessProgram

with warnings.catch_warnings():  # Typer 0.20 touches a name that click 8.5 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from fairfl_core.cli import main

REPO = Path(__file__).parents[2]
COMMANDS = ("count", "solve", "map", "evaluate", "predict", "privatize")
COLUMNS = ("--client", "clinic", "--group", "sex", "--label", "diagnosis")
ANSWERED = ("--client", "clinic", "--group", "sex", "--prediction", "model")


# -------------------------------------------------------------------- how commands are run here


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def went_well(self):
        return self.code == 0 and not self.err.strip()

    @property
    def json(self):
        """The one object on standard output; fails when there is anything else."""
        assert self.went_well, self
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def run(*argv, stdin=b""):
    """Run a command in this process, with the streams a real one has."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    words = ["fairfl", *(str(word) for word in argv)]
    with (
        patch.object(sys, "argv", words),
        patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Ended(stop.value.code or 0, *texts)


def shell(*argv, env=None, **options):
    """Run a command as a process of its own."""
    options = {"capture_output": True, "timeout": 60} | options
    return subprocess.run(
        [sys.executable, "-m", "fairfl_core", *(str(word) for word in argv)],
        env=os.environ | {"PYTHONPATH": str(REPO)} | (env or {}),
        **options,
    )


def people(n=600, seed=0, labels=("no", "yes"), groups=("f", "m")):
    """Rows of three clinics; the model errs more for one group, and differs between clinics."""
    rng = np.random.default_rng(seed)
    clinic = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    sex = rng.integers(len(groups), size=n)
    diagnosis = rng.choice(len(labels), n)
    wrong = rng.random(n) < np.array([0.1, 0.2, 0.3])[clinic] + 0.2 * (sex == 0)
    model = np.where(wrong, (diagnosis + 1 + (clinic == 2)) % len(labels), diagnosis)
    scores = rng.dirichlet(np.ones(len(labels)), n)
    scores[np.arange(n), model] += 1
    names = np.array(["north", "south", "east"], dtype=object)[clinic]
    columns = {
        "patient": np.arange(n) + 1000,
        "clinic": names,
        "sex": np.array(groups, dtype=object)[sex],
        "diagnosis": np.array(labels, dtype=object)[diagnosis],
        "model": np.array(labels, dtype=object)[model],
    }
    for place, label in enumerate(labels):
        columns[f"score_{label}"] = scores[:, place]
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Files:
    """A folder with rows, the counts of them, and a predictor fitted on these."""

    folder: Path

    def __truediv__(self, name):
        return self.folder / name

    @property
    def rows(self):
        return self / "rows.csv"

    @property
    def counts(self):
        return self / "counts.json"

    @property
    def predictor(self):
        return self / "predictor.json"


@cache
def contents():
    rows = people()
    counts = ClientCounts.from_table(
        rows, client="clinic", group="sex", label="diagnosis", prediction="model"
    )
    predictor = FairPredictor.from_solution(FairnessProgram(counts).solve(0.02, 0.05))
    return {
        "rows.csv": rows.to_csv(index=False),
        "counts.json": json.dumps(counts.to_json()) + "\n",
        "predictor.json": json.dumps(predictor.to_json()) + "\n",
    }


def make_files(folder):
    for name, content in contents().items():
        (folder / name).write_text(content, "utf-8")
    return Files(folder)


@pytest.fixture
def files(tmp_path):
    return make_files(tmp_path)


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# -------------------------------------------------------------------- count


def counted_by_hand(rows):
    """A Python loop: what the table must hold."""
    cells = Counter(zip(rows.clinic, rows.sex, rows.diagnosis, rows.model, strict=True))
    labels, groups = sorted(set(rows.diagnosis) | set(rows.model)), sorted(set(rows.sex))
    return {
        "format": "fairfl-counts/1",
        "labels": labels,
        "favourable": labels[-1],
        "groups": groups,
        "clients": [
            {
                "name": name,
                "counts": [
                    [[cells[name, a, y, j] for j in labels] for y in labels] for a in groups
                ],
            }
            for name in sorted(set(rows.clinic))
        ],
    }


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("groups", [("f", "m"), ("f", "m", "x")])
def test_count_writes_the_counts_format_and_nothing_else(tmp_path, labels, groups):
    rows = people(200, labels=labels, groups=groups)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "counts.json"
    ended = run("count", tmp_path / "rows.csv", *COLUMNS, "--prediction", "model", "--out", out)
    assert ended.went_well, ended
    written = json.loads(out.read_text("utf-8"))
    assert written == counted_by_hand(rows)
    cells = np.array([client["counts"] for client in written["clients"]])
    assert cells.dtype.kind == "i"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts.json", "rows.csv"]


def test_count_without_out_prints_the_file_it_would_write(files):
    given = ("count", files.rows, *COLUMNS, "--prediction", "model")
    assert run(*given).json == run(*given, "--json").json
    assert run(*given).json == json.loads(files.counts.read_text("utf-8"))


def test_count_with_json_and_out_says_what_it_wrote(files):
    out = files / "new.json"
    given = ("count", files.rows, *COLUMNS, "--prediction", "model", "--out", out, "--json")
    assert run(*given).json == {
        "out": str(out), "n": 600, "clients": 3, "groups": ["f", "m"], "labels": ["no", "yes"],
        "favourable": "yes",
    }  # fmt: skip
    assert out.read_bytes() == files.counts.read_bytes()


def test_count_by_scores_is_count_by_the_largest_score(files):
    by_answer = run("count", files.rows, *COLUMNS, "--prediction", "model").json
    by_score = ("count", files.rows, *COLUMNS, "--scores")
    assert run(*by_score, "score_no,score_yes").json == by_answer
    named = run(*by_score, "score_yes,score_no", "--labels", "yes,no").json
    assert (named["labels"], named["favourable"]) == (["yes", "no"], "no")
    turned = np.array([client["counts"] for client in named["clients"]])[:, :, ::-1, ::-1]
    assert turned.tolist() == [client["counts"] for client in by_answer["clients"]]


def test_count_takes_a_favourable_label_and_declared_names(files):
    found = run(
        "count", files.rows, *COLUMNS, "--prediction", "model", "--favourable", "no", "--labels",
        "yes,no,perhaps", "--groups", "m,f,x", "--clients", "south,north,east",
    ).json  # fmt: skip
    assert found["favourable"] == "no"
    assert found["labels"] == ["yes", "no", "perhaps"]
    assert found["groups"] == ["m", "f", "x"]
    assert [client["name"] for client in found["clients"]] == ["south", "north", "east"]
    assert np.array([client["counts"] for client in found["clients"]])[:, 2].sum() == 0


@pytest.mark.parametrize("kind", ["str", "object", "category", "int64", "float64", "bool"])
def test_count_of_csv_and_parquet_is_the_same(tmp_path, kind):
    rows = people(300)
    if kind in ("int64", "float64", "bool"):
        for column in ("diagnosis", "model"):
            rows[column] = (rows[column] == "yes").astype(kind)
        rows["clinic"] = rows.clinic.map({"north": 9, "south": 10, "east": 101})
    else:
        rows = rows.astype(dict.fromkeys(("clinic", "sex", "diagnosis", "model"), kind))
    rows = rows[rows.patient % 3 > 0]  # rows left out leave holes in the index
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    for answer in (("--prediction", "model"), ("--scores", "score_no,score_yes")):
        given = (*COLUMNS, *answer)
        from_csv = run("count", tmp_path / "rows.csv", *given).json
        assert run("count", tmp_path / "rows.parquet", *given).json == from_csv
        assert (
            run("count", "-", *given, stdin=(tmp_path / "rows.csv").read_bytes()).json == from_csv
        )
        names = [client["name"] for client in from_csv["clients"]]
        assert names == (["9", "10", "101"] if kind[-1].isdigit() or kind == "bool" else
                         ["east", "north", "south"])  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_one_column_may_be_both_label_and_prediction(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    rows = people(100)
    rows.to_csv(path, index=False) if ending == "csv" else rows.to_parquet(path)
    found = run("count", path, *COLUMNS, "--prediction", "diagnosis").json
    table = np.array([client["counts"] for client in found["clients"]])
    assert np.einsum("cayy->", table) == 100


def test_an_index_saved_in_parquet_is_a_column_like_any_other(tmp_path):
    rows = people(100)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.set_index("clinic").to_parquet(tmp_path / "rows.parquet")
    given = (*COLUMNS, "--prediction", "model")
    from_csv = run("count", tmp_path / "rows.csv", *given).json
    assert run("count", tmp_path / "rows.parquet", *given).json == from_csv


def test_names_in_a_csv_are_kept_as_they_are(tmp_path):
    text = "clinic,sex,diagnosis,model\n007,NA,no,no\n7,nan,yes,yes\n" + '"a,b ",None,no,yes\n'
    (tmp_path / "rows.csv").write_text("\ufeff" + text, "utf-8")
    found = run("count", tmp_path / "rows.csv", *COLUMNS, "--prediction", "model").json
    assert {client["name"] for client in found["clients"]} == {"007", "7", "a,b "}
    assert set(found["groups"]) == {"NA", "nan", "None"}


def test_a_million_rows_are_counted_in_well_under_a_second():
    rng = np.random.default_rng(0)
    columns = (rng.integers(k, size=1_000_000) for k in (50, 2, 2, 2))
    rows = pd.DataFrame(
        dict(zip(("client", "group", "label", "prediction"), columns, strict=True))
    )
    took = []
    for _ in range(3):
        start = time.process_time()
        counts = ClientCounts.from_table(rows, **{name: name for name in rows.columns})
        took.append(time.process_time() - start)
    assert counts.n == 1_000_000
    assert min(took) < 0.7


# -------------------------------------------------------------------- solve


def check_solution(found, clients):
    """The keys of the contract; others may stand beside them."""
    assert set(found) >= {
        "format", "status", "notion", "region", "epsilon", "n", "accuracy", "model_accuracy",
        "gap", "price", "binding", "not_assessable",
    }  # fmt: skip
    assert (found["format"], found["status"]) == ("fairfl-solution/1", "optimal")
    assert set(found["epsilon"]) == {"global", "local"}
    assert set(found["gap"]) >= {"global", "local", "local_mean", "local_worst"}
    assert set(found["price"]) == {"global", "local"}
    for part in ("epsilon", "gap", "price"):
        assert set(found[part]["local"]) == set(clients)
    for number in (
        found["accuracy"], found["model_accuracy"], found["epsilon"]["global"],
        found["price"]["global"], *found["epsilon"]["local"].values(),
        *found["price"]["local"].values(),
    ):  # fmt: skip
        assert is_number(number) and number >= 0
    for gap in (
        found["gap"]["global"],
        found["gap"]["local_mean"],
        *found["gap"]["local"].values(),
    ):
        assert gap is None or (is_number(gap) and 0 <= gap <= 1)
    assert all(isinstance(name, str) for name in found["binding"])
    for cell in found["not_assessable"]:
        assert set(cell) == {"client", "group", "label", "n"}
        assert isinstance(cell["client"], str) and isinstance(cell["group"], str)
        assert cell["label"] is None or isinstance(cell["label"], str)
        assert cell["n"] == 0


@pytest.mark.parametrize(
    ("notion", "region"),
    [(notion, region) for notion in ("sp", "eop", "eo") for region in ("simplex", "kernel")]
    + [("eo-full", "kernel")],
)
def test_solve_prints_the_contract(files, notion, region):
    found = run(
        "solve", files.counts, "--notion", notion, "--region", region, "--eps-global", "0.01",
        "--eps-local", "0.02", "--eps-local-client", "east=0.05", "--json",
    ).json  # fmt: skip
    check_solution(found, ["north", "south", "east"])
    assert (found["notion"], found["region"]) == (notion, region)
    asked = {"north": 0.02, "south": 0.02, "east": 0.05}
    assert found["epsilon"] == {"global": 0.01, "local": asked}
    assert found["gap"]["global"] <= 0.01 + 1e-7
    local = found["gap"]["local"]
    assert all(local[name] <= asked[name] + 1e-7 for name in asked)
    assert found["gap"]["local_mean"] == pytest.approx(np.mean(list(local.values())))
    worst = found["gap"]["local_worst"]
    assert set(worst) == {"client", "gap"}
    assert local[worst["client"]] == worst["gap"] == max(local.values())
    assert found["not_assessable"] == []
    for scope, price in (("global", found["price"]["global"]), ("local east",
                         found["price"]["local"]["east"])):  # fmt: skip
        assert any(name.startswith(f"{scope}:") for name in found["binding"]) == (price > 1e-9)


def test_solve_prints_numbers_to_full_precision(files):
    counts = ClientCounts.read(files.counts)
    solution = FairnessProgram(counts, "eo", "kernel").solve(0.013, 0.017)
    asked = ("--eps-global", "0.013", "--eps-local", "0.017")
    found = run("solve", files.counts, "--region", "kernel", *asked, "--json").json
    assert found["accuracy"] == solution.accuracy
    assert found["price"]["global"] == solution.price_global
    assert len(repr(found["accuracy"])) > 10


def test_the_price_is_what_a_little_more_tolerance_buys(files):
    def solved(epsilon):
        asked = ("--notion", "eop", "--eps-global", epsilon, "--eps-local", "1", "--json")
        return run("solve", files.counts, *asked).json

    here, further = solved(0.01), solved(0.011)
    assert here["price"]["global"] > 0
    gained = (further["accuracy"] - here["accuracy"]) / 0.001
    assert here["price"]["global"] == pytest.approx(gained, rel=1e-6)


def test_solve_names_what_cannot_be_assessed(files):
    value = json.loads(files.counts.read_text("utf-8"))
    east, north, south = value["clients"]
    east["counts"][0] = [[0, 0], [0, 0]]  # no women at all
    south["counts"][1][1] = [0, 0]  # no man with the label "yes"
    (files / "holes.json").write_text(json.dumps(value), "utf-8")
    found = run("solve", files / "holes.json", "--eps-local", "0.01", "--json").json
    check_solution(found, ["east", "north", "south"])
    assert {tuple(cell.values()) for cell in found["not_assessable"]} == {
        ("east", "f", "no", 0), ("east", "f", "yes", 0), ("south", "m", "yes", 0),
    }  # fmt: skip
    assert found["gap"]["local"]["east"] is None
    assert found["gap"]["local"]["south"] is not None
    assert found["gap"]["local_worst"]["client"] != "east"
    for _, ended in each_for_people(files, files / "holes.json"):
        assert ended.went_well, ended


def test_solve_writes_a_predictor_that_does_what_it_said(files):
    out = files / "fair.json"
    asked = ("--notion", "eo", "--eps-global", "0.01", "--eps-local", "0.03", "--out", out)
    solved = run("solve", files.counts, *asked, "--json").json
    value = json.loads(out.read_text("utf-8"))
    assert value["format"] == "fairfl-predictor/1"
    assert value["reached"]["accuracy"] == solved["accuracy"]
    lottery = np.array([client["lottery"] for client in value["clients"]])
    assert lottery.shape == (3, 2, 2, 2)
    assert lottery.min() >= 0
    np.testing.assert_allclose(lottery.sum(axis=3), 1, atol=1e-12)
    judged = run("evaluate", out, files.counts, "--json").json
    assert judged["accuracy"] == pytest.approx(solved["accuracy"], abs=1e-9)
    assert judged["model_accuracy"] == pytest.approx(solved["model_accuracy"], abs=1e-12)
    assert judged["gap"]["global"] == pytest.approx(solved["gap"]["global"], abs=1e-9)
    assert judged["gap"]["local"] == pytest.approx(solved["gap"]["local"], abs=1e-9)


# -------------------------------------------------------------------- map


@pytest.mark.parametrize(("notion", "region"), [("eo", "simplex"), ("eop", "simplex"),
                                                ("sp", "kernel"), ("eo-full", "kernel")])  # fmt: skip
def test_map_has_a_row_for_eps_local_and_a_column_for_eps_global(files, notion, region):
    chosen = ("--notion", notion, "--region", region)
    found = run("map", files.counts, *chosen, "--epsilons", "0,0.03,0.1", "--json").json
    assert set(found) == {"epsilons", "accuracy", "guarantee"} and found["guarantee"] is None
    assert found["epsilons"] == [0.0, 0.03, 0.1]
    accuracy = np.array(found["accuracy"])
    assert accuracy.shape == (3, 3)
    assert abs(accuracy - accuracy.T).max() > 1e-4  # else rows and columns could be exchanged
    for i, local in enumerate(found["epsilons"]):
        for j, overall in enumerate(found["epsilons"]):
            asked = ("--eps-local", local, "--eps-global", overall, "--json")
            solved = run("solve", files.counts, *chosen, *asked).json
            assert accuracy[i, j] == pytest.approx(solved["accuracy"], abs=1e-8)


# -------------------------------------------------------------------- evaluate


def test_evaluate_prints_one_object_with_all_it_promises(files):
    found = run("evaluate", files.predictor, files.counts, "--json").json
    assert set(found) >= {
        "format", "notion", "region", "epsilon", "reached", "n", "noisy", "level", "accuracy",
        "accuracy_interval", "model_accuracy", "gap", "model_gap", "clients", "groups", "rates",
        "not_assessable",
    }  # fmt: skip
    assert found["format"] == "fairfl-evaluation/1"
    assert found["n"] == 600
    low, high = found["accuracy_interval"]
    assert 0 <= low < found["accuracy"] < high <= 1
    gap = found["gap"]
    assert gap["global_interval"][0] <= gap["global"] <= gap["global_interval"][1]
    assert gap["global_one_draw"] >= gap["global"] - 1e-9
    assert {row["client"] for row in found["clients"]} == set(gap["local"])
    for row in found["clients"]:
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
        assert row["gap_one_draw"] >= row["gap"] - 1e-9
        assert row["noise_floor"] > 0
    changed = {row["group"]: row["changed"] for row in found["groups"]}
    assert set(changed) == {"f", "m"} and all(0 <= share <= 1 for share in changed.values())
    assert len(found["rates"]) == 3 * 2 * 2


def test_evaluate_does_not_care_for_the_order_of_names(files):
    value = json.loads(files.counts.read_text("utf-8"))
    for client in value["clients"]:
        client["counts"] = np.array(client["counts"])[::-1, ::-1, ::-1].tolist()
    for key in ("clients", "groups", "labels"):
        value[key] = value[key][::-1]
    (files / "turned.json").write_text(json.dumps(value), "utf-8")
    asis = run("evaluate", files.predictor, files.counts, "--json").json
    turned = run("evaluate", files.predictor, files / "turned.json", "--json").json
    assert turned["accuracy"] == pytest.approx(asis["accuracy"], abs=1e-12)
    assert turned["gap"]["global"] == pytest.approx(asis["gap"]["global"], abs=1e-12)
    assert turned["gap"]["local"] == pytest.approx(asis["gap"]["local"], abs=1e-12)


def test_evaluate_takes_some_of_the_clients_and_empty_cells(files):
    value = json.loads(files.counts.read_text("utf-8"))
    del value["clients"][0]
    value["clients"][0]["counts"][0] = [[0, 0], [0, 0]]
    (files / "some.json").write_text(json.dumps(value), "utf-8")
    found = run("evaluate", files.predictor, files / "some.json", "--json").json
    assert found["gap"]["local"]["north"] is None
    assert is_number(found["gap"]["local"]["south"])
    assert len(found["not_assessable"]) == 2


# -------------------------------------------------------------------- predict


def answers(files, *how, rows=None, out="fair.csv"):
    given = (files.predictor, rows or files.rows, *ANSWERED, "--out", files / out, *how)
    said = run("predict", *given, "--json").json
    assert set(said) == {"out", "n", "changed", "seed", "row_id"}
    return said, read_table(files / out)


def read_table(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_predict_adds_a_column_and_keeps_the_rows_as_they_are(files):
    said, fair = answers(files, "--seed", "5")
    rows = read_table(files.rows)
    assert list(fair.columns) == [*rows.columns, "answer"]
    pd.testing.assert_frame_equal(fair[rows.columns], rows)
    assert set(fair.answer) <= {"no", "yes"}
    assert said == {
        "out": str(files / "fair.csv"), "n": 600, "seed": 5, "row_id": None,
        "changed": pytest.approx((fair.answer != fair.model).mean()),
    }  # fmt: skip
    assert 0 < said["changed"] < 1


def test_predict_with_a_seed_is_reproducible(files):
    first = answers(files, "--seed", "5")[1].answer
    assert (answers(files, "--seed", "5")[1].answer == first).all()
    assert (answers(files, "--seed", "6")[1].answer != first).any()


def test_predict_without_a_seed_draws_afresh_and_tells_the_seed(files):
    said, fair = answers(files)
    other, _ = answers(files)
    assert isinstance(said["seed"], int) and said["seed"] != other["seed"]
    assert (answers(files, "--seed", said["seed"])[1].answer == fair.answer).all()


def by_patient(fair):
    return dict(zip(fair.patient.astype(float).astype(int), fair.answer, strict=True))


def test_predict_by_row_id_depends_on_nothing_but_the_person(files):
    _, fair = answers(files, "--row-id", "patient")
    known = by_patient(fair)
    rows = read_table(files.rows)
    shuffled = rows.sample(frac=1, random_state=3)
    some = pd.concat([shuffled[:50], shuffled[:50]])  # the same people twice
    for name, table in (("shuffled.csv", shuffled), ("some.csv", some)):
        table.to_csv(files / name, index=False)
        _, again = answers(files, "--row-id", "patient", rows=files / name)
        assert list(again.patient) == list(table.patient)
        assert [known[int(patient)] for patient in again.patient] == list(again.answer)
    assert (fair.answer != fair.model).any()


@pytest.mark.parametrize("kind", ["int64", "str", "float64"])
def test_predict_by_row_id_is_the_same_from_parquet(files, kind):
    known = by_patient(answers(files, "--row-id", "patient")[1])
    rows = people().astype({"patient": kind})
    rows.to_parquet(files / "rows.parquet")
    rows.to_csv(files / "again.csv", index=False)  # a float id is written as 1000.0
    for name, out in (("rows.parquet", "fair.parquet"), ("again.csv", "fair.csv")):
        _, fair = answers(files, "--row-id", "patient", rows=files / name, out=out)
        assert by_patient(fair) == known


def test_predict_by_row_id_is_the_same_whoever_else_is_in_the_table(files):
    rows = people().astype({"patient": float})
    rows.to_parquet(files / "rows.parquet")
    _, fair = answers(files, "--row-id", "patient", rows=files / "rows.parquet")
    rows.loc[0, "patient"] = 0.5
    rows.to_parquet(files / "rows.parquet")
    _, again = answers(files, "--row-id", "patient", rows=files / "rows.parquet")
    assert list(again.answer[1:]) == list(fair.answer[1:])


@pytest.mark.parametrize("how", [("--seed", "1"), ("--row-id", "patient")])
def test_predict_on_the_rows_reaches_what_solve_said(tmp_path, how):
    files = Files(tmp_path)
    rows = people(30_000, seed=2)
    rows.to_parquet(files / "rows.parquet")
    counted = ("count", files / "rows.parquet", *COLUMNS, "--prediction")
    assert run(*counted, "model", "--out", files.counts).went_well
    asked = ("--eps-global", "0.01", "--eps-local", "0.02", "--out", files.predictor, "--json")
    solved = run("solve", files.counts, *asked).json
    said, fair = answers(files, *how, rows=files / "rows.parquet", out="fair.parquet")
    right = (fair.answer == fair.diagnosis).mean()
    assert right == pytest.approx(solved["accuracy"], abs=0.01)  # 3.5 deviations of a draw
    assert solved["model_accuracy"] - solved["accuracy"] > 0.02
    judged = run("evaluate", files.predictor, files.counts, "--json").json
    changed = sum(row["changed"] * row["n"] for row in judged["groups"]) / 30_000
    assert said["changed"] == pytest.approx(changed, abs=0.01)
    again = ("count", files / "fair.parquet", *COLUMNS, "--prediction", "answer")
    assert run(*again, "--out", files / "fair.json").went_well
    drawn = run("solve", files / "fair.json", "--json").json
    assert drawn["model_accuracy"] == pytest.approx(right, abs=1e-12)
    model = run("evaluate", files.predictor, files.counts, "--json").json["model_gap"]["global"]
    assert drawn["gap"]["global"] < 0.05 < model  # asked 0.01, and the luck of one draw


# -------------------------------------------------------------------- privatize


def privatized(files, *how, counts=None, out="noisy.json"):
    given = (counts or files.counts, *how, "--out", files / out, "--json")
    said = run("privatize", *given).json
    assert set(said) == {"out", "mechanism", "neighbours", "epsilon", "spent", "scale", "seed"}
    value = json.loads((files / out).read_text("utf-8"))
    assert value["noisy"] is True
    return said, ClientCounts.from_json(value)


@pytest.mark.parametrize(
    ("mechanism", "neighbours", "spent", "scale"),
    [
        ("histogram", "replace-one", 0.5, 4.0),
        ("histogram", "add-remove", 0.5, 2.0),
        ("paper", "replace-one", 2.0, 2.0),
        ("paper", "add-remove", 1.0, 2.0),
    ],
)
def test_privatize_adds_noise_and_tells_the_budget_really_spent(
    files, mechanism, neighbours, spent, scale
):
    how = ("--mechanism", mechanism, "--neighbours", neighbours, "--epsilon", "0.5")
    true = ClientCounts.read(files.counts)
    for seed in ((), ("--seed", "4")):
        said, noisy = privatized(files, *how, *seed)
        assert (said["mechanism"], said["neighbours"]) == (mechanism, neighbours)
        assert (said["epsilon"], said["seed"]) == (0.5, 4 if seed else None)
        assert said["spent"] == pytest.approx(spent)
        assert said["scale"] == pytest.approx(scale)
        assert (noisy.clients, noisy.groups, noisy.labels, noisy.favourable) == (
            true.clients, true.groups, true.labels, true.favourable,
        )  # fmt: skip
        noise = noisy.table - true.table
        assert noisy.table.min() >= 0
        assert 0 < abs(noise).max() < 40 * scale  # beyond has a chance of 1e-16
        assert run("solve", files / "noisy.json", "--json").code == 0


def test_privatize_with_a_seed_is_reproducible_and_without_is_not(files):
    how = ("--epsilon", "1")
    privatized(files, *how, "--seed", "3", out="a.json")
    privatized(files, *how, "--seed", "3", out="b.json")
    privatized(files, *how, "--seed", "4", out="c.json")
    assert (files / "a.json").read_bytes() == (files / "b.json").read_bytes()
    assert (files / "a.json").read_bytes() != (files / "c.json").read_bytes()
    first, second = (privatized(files, "--epsilon", "0.1")[1].table for _ in range(2))
    assert (first != second).any()  # the same by chance: below 1e-20


def test_privatize_without_a_seed_goes_through_opendp(files, monkeypatch):
    for name in ("opendp", "opendp.prelude"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    privatized(files, "--epsilon", "1", "--seed", "3")
    with pytest.raises(ImportError, match="opendp"):
        run("privatize", files.counts, "--epsilon", "1", "--out", files / "released.json")
    assert not (files / "released.json").exists()


@pytest.mark.parametrize("mechanism", ["histogram", "paper"])
def test_privatize_takes_counts_of_any_size(files, mechanism):
    value = json.loads(files.counts.read_text("utf-8"))
    value["clients"][0]["counts"][0][0] = [3_000_000_000, 5_000_000_000]
    (files / "large.json").write_text(json.dumps(value), "utf-8")
    how = ("--mechanism", mechanism, "--epsilon", "1")
    _, noisy = privatized(files, *how, counts=files / "large.json")
    np.testing.assert_allclose(noisy.table[0, 0, 0], [3e9, 5e9], atol=200)


# -------------------------------------------------------------------- all of them


def each_for_people(files, counts=None):
    counts = counts or files.counts
    yield (
        "count",
        run("count", files.rows, *COLUMNS, "--prediction", "model", "--out", files / "c"),
    )
    yield "solve", run("solve", counts, "--eps-local", "0.02", "--out", files / "p.json")
    yield "map", run("map", counts, "--epsilons", "0.1,0.2")
    yield "evaluate", run("evaluate", files.predictor, counts)
    given = (files.predictor, files.rows, *ANSWERED, "--out", files / "o.csv", "--seed", "1")
    yield "predict", run("predict", *given)
    yield "privatize", run("privatize", counts, "--epsilon", "1", "--out", files / "n.json")


def test_with_json_every_command_prints_one_object_and_nothing_else(files):
    for argv in (
        ("count", files.rows, *COLUMNS, "--prediction", "model"),
        ("count", files.rows, *COLUMNS, "--prediction", "model", "--out", files / "c.json"),
        ("solve", files.counts, "--out", files / "p.json"),
        ("map", files.counts),
        ("map", files.counts, "--notion", "eop"),
        ("evaluate", files.predictor, files.counts),
        ("predict", files.predictor, files.rows, *ANSWERED, "--out", files / "o.csv"),
        ("privatize", files.counts, "--epsilon", "1", "--out", files / "n.json"),
        ("privatize", files.counts, "--epsilon", "1", "--seed", "1", "--out", files / "n.json"),
    ):
        ended = run(*argv, "--json")
        assert isinstance(json.loads(ended.out), dict), argv
        assert (ended.code, ended.out.count("\n"), ended.err) == (0, 1, ""), argv


def test_for_people_every_command_says_something_readable(files):
    for name, ended in each_for_people(files):
        assert ended.went_well, name
        assert ended.out.strip(), name
        assert not re.search(r"\d\.\d{7}", ended.out), f"{name} is too precise to read"


def test_names_are_never_taken_for_markup(tmp_path):
    strange = ["[bold]x[/bold]", "[/]", ":smile:", "back\\", "Québec"]
    value = json.loads(make_files(tmp_path).counts.read_text("utf-8"))
    value["clients"] = [{"name": name, "counts": [[[9, 4], [2, 7]], [[5, 1], [1, 5]]]}
                        for name in strange]  # fmt: skip
    value["clients"][0]["counts"][0] = [[0, 0], [0, 0]]
    (tmp_path / "strange.json").write_text(json.dumps(value), "utf-8")
    out = tmp_path / "strange-predictor.json"
    solved = run("solve", tmp_path / "strange.json", "--out", out)
    judged = run("evaluate", out, tmp_path / "strange.json")
    for ended in (solved, judged):
        assert ended.code == 0, ended
        assert [name for name in strange if name not in ended.out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(command):
    ended = run(command, "--help")
    assert ended.went_well, ended
    assert example_in(ended.out)[:2] == ["fairfl", command]


def example_in(text):
    found = re.search(r"Example:\s+(fairfl .*?)\n\s*\n", text, re.DOTALL)
    return shlex.split(found[1]) if found else []


def test_the_examples_work_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = {command: example_in(run(command, "--help").out)[1:] for command in COMMANDS}
    options = ("--client", "--group", "--label", "--prediction")
    given = [examples["count"][examples["count"].index(option) + 1] for option in options]
    told = zip(("clinic", "sex", "diagnosis", "model"), given, strict=True)
    people().rename(columns=dict(told)).to_csv("rows.csv", index=False)
    for command, argv in examples.items():
        if command == "evaluate":
            Path("test-counts.json").write_bytes(Path("counts.json").read_bytes())
        ended = run(*argv)
        assert ended.went_well, (argv, ended)


def test_without_a_command_help_is_shown():
    ended = run()
    assert ended.code == 2
    assert all(command in ended.out + ended.err for command in COMMANDS)


# -------------------------------------------------------------------- in a real shell


def test_rows_are_piped_through_count_and_solve(files):
    counted = shell("count", "-", *COLUMNS, "--prediction", "model", input=files.rows.read_bytes())
    assert (counted.returncode, counted.stderr) == (0, b"")
    asked = ("--eps-global", "0.01", "--eps-local", "0.01", "--json")
    solved = shell("solve", "-", *asked, input=counted.stdout)
    assert (solved.returncode, solved.stderr) == (0, b"")
    assert json.loads(solved.stdout) == run("solve", files.counts, *asked).json
    assert solved.stdout.count(b"\n") == 1


def test_rows_may_come_from_a_pipe_with_a_name(files):
    given = ("count", "/dev/stdin", *COLUMNS, "--prediction", "model")
    counted = shell(*given, input=files.rows.read_bytes())
    assert (counted.returncode, counted.stderr) == (0, b"")
    assert json.loads(counted.stdout) == json.loads(files.counts.read_text("utf-8"))


def test_help_answers_at_once():
    # What makes a command slow to start is kept out of --help: pandas, scipy, HiGHS, TensorFlow.
    code = (
        "import sys; sys.argv = ['fairfl', 'solve', '--help']\n"
        "from fairfl_core.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pandas', 'scipy', 'highspy', 'tensorflow', 'opendp', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("json_flag", [(), ("--json",)])
def test_a_reader_that_goes_away_is_no_error_to_shout_about(files, json_flag):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = shell("solve", files.counts, *json_flag, capture_output=False, stdout=writing,
                      stderr=subprocess.PIPE)  # fmt: skip
    finally:
        os.close(writing)
    assert ended.stderr == b""


def test_json_on_a_terminal_that_speaks_ascii_is_still_json(tmp_path):
    rows = people(100).replace({"clinic": {"north": "Québec"}})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    given = ("count", tmp_path / "rows.csv", *COLUMNS, "--prediction", "model")
    counted = shell(*given, env={"PYTHONIOENCODING": "ascii"})
    assert (counted.returncode, counted.stderr) == (0, b"")
    solved = shell("solve", "-", input=counted.stdout, env={"PYTHONIOENCODING": "ascii"})
    assert (solved.returncode, solved.stderr) == (0, b"")
    names = {client["name"] for client in json.loads(counted.stdout)["clients"]}
    assert names == {"Québec", "south", "east"}
