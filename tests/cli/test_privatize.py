"""The contract of `privatize`: noise, and the budget really spent."""

import json
import sys

import numpy as np
import pytest

from fairfl_core.people.counts import ClientCounts
from tests.cli.running import run


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
            true.clients,
            true.groups,
            true.labels,
            true.favourable,
        )
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
