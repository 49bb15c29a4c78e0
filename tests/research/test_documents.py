"""Commands that write a document or sweep methods: what is made, in which order, and where it goes."""

from types import SimpleNamespace

import pytest

from fairfl_core.data import datasets
from fairfl_core.training.methods import METHODS
from fairfl_core.training.recipes import recipe
from research import post_processed, shipping
from research.sweeps import sweep_of
from tests.cli.running import run_research as run
from tests.training.tiny import as_adult


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
