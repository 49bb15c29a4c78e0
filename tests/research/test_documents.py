"""Commands that write a document or sweep methods: what is made, in which order, and where it goes."""

import re
from types import SimpleNamespace

import pytest

from fairfl_core.data import datasets
from fairfl_core.evaluation import methods
from fairfl_core.evaluation.methods import GAPS
from fairfl_core.training.methods import METHODS
from fairfl_core.training.recipes import recipe
from research import post_processed, shipping
from research.holding import document
from research.paper import reproduction
from research.sweeps import sweep_of
from tests.cli.running import run_research as run
from tests.training.tiny import as_adult


def test_the_evidence_that_limits_hold_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr(document, "holding", lambda on_progress: "# They hold\n")
    ended = run("holding", "--out", tmp_path / "holding.md")
    assert ended.code == 0 and (tmp_path / "holding.md").read_text() == "# They hold\n"
    assert "".join(ended.out.split()).endswith("holding.md:written.")


def test_the_reproduction_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduction, "reproduction", lambda: "# As the paper\n")
    ended = run("reproduce", "--out", tmp_path / "new.md")
    assert ended.code == 0 and (tmp_path / "new.md").read_text() == "# As the paper\n"
    assert "".join(ended.out.split()).endswith("new.md:written.")


def test_methods_stand_in_a_table_for_each_experiment(monkeypatch):
    def row(experiment, method):
        gaps = dict(zip(GAPS, (0.01234, 0.5, 0.25), strict=False))
        means = SimpleNamespace(mean=lambda: 0.84567)
        return SimpleNamespace(
            experiment=experiment,
            method=method,
            setting="sp 1",
            seeds=(0, 1, 2),
            accuracy=means,
            gap=gaps.__getitem__,
        )

    rows = {"adult": ["fedavg", "ours"], "other": ["fedavg"]}
    monkeypatch.setattr(methods, "method_experiments", lambda: list(rows))
    monkeypatch.setattr(
        methods, "method_rows", lambda name: [row(name, method) for method in rows[name]]
    )
    lines = [" ".join(re.findall(r"[\w.,%]+", line)) for line in run("methods").out.splitlines()]
    figures = "sp 1 3 84.57% 0.0123 0.5000 0.2500"
    assert [line for line in lines if "test people" in line or figures in line] == [
        "adult, on test people",
        f"fedavg {figures}",
        f"ours {figures}",
        "other, on test people",
        f"fedavg {figures}",
    ]
    assert "ours" not in run("methods", "--experiment", "other").out


@pytest.fixture
def swept(monkeypatch):
    """Which methods are shipped, with what; the sweeps themselves are `test_sweep.py`'s matter."""
    calls = []

    def ship_fedavg(sweeper, people, made_by, notions, *, seeds, folder):
        calls.append(("fedavg", sweeper, made_by, notions, seeds, folder))

    def ship_method(sweeper, people, made_by, sweeps, *, seeds, tuning_seeds, folder):
        calls.append((sweeps, sweeper, made_by, tuning_seeds, seeds, folder))
        return SimpleNamespace(path="trained.json", settings=[1, 2, 3])

    def ship_post_processed(name, experiment, notions, seeds, folder):
        calls.append((name, experiment, notions, seeds, folder))
        return SimpleNamespace(path="fitted.json", settings=[1, 2])

    monkeypatch.setattr(datasets, "open", lambda name, source: as_adult())
    monkeypatch.setattr(shipping, "ship_fedavg", ship_fedavg)
    monkeypatch.setattr(shipping, "ship_method", ship_method)
    monkeypatch.setattr(post_processed, "ship_post_processed", ship_post_processed)
    return calls


def test_a_sweep_ships_each_kind_of_method_in_its_own_way(swept, tmp_path):
    where = ("--runs", tmp_path / "runs", "--out", tmp_path / "out")
    wanted = ("--method", "ours_exact", "--method", "fairfed", "--method", "fedavg")
    words = ("--notion", "sp", "--seeds", "0,3", "--tuning-seeds", "5")
    ended = run("sweep", "adult", *wanted, *words, *where)
    assert ended.code == 0, ended.err
    first, fitted, trained = swept
    out, known = tmp_path / "out", recipe("adult")
    assert (first[0], first[2:]) == ("fedavg", (known, ["sp"], [0, 3], out))
    assert fitted == ("ours_exact", "adult", ["sp"], [0, 3], out)
    assert trained[0] == [sweep_of("fairfed", "adult", "sp")]
    assert trained[2:] == (known, [5], [0, 3], out) and trained[1] is first[1]
    assert ended.out.splitlines() == [
        "fitted.json: 2 settings of 2 seeds.",
        "trained.json: 3 settings of 2 seeds.",
    ]


def test_a_sweep_is_of_both_notions_and_all_methods_unless_said(swept, tmp_path, monkeypatch):
    monkeypatch.delitem(METHODS, "toy", raising=False)  # which other tests make known
    where = ("--runs", tmp_path / "runs", "--out", tmp_path / "out")
    run("sweep", "adult", "--method", "fairfed", *where)
    ((sweeps, _, _, tuning, seeds, _),) = swept  # without FedAvg, which nobody asked for
    assert [one.notion for one in sweeps] == ["sp", "eop"]
    assert seeds == list(range(10)) and tuning == [0, 1]
    swept.clear()
    assert run("sweep", "adult", *where).code == 0
    assert swept[0][0] == "fedavg" and len(swept) > 8
