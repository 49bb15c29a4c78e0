"""The contract of `privatize`: noise, and the budget really spent."""

import json
import sys

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from tests.cli.running import run


def privatized(files, *how, counts=None, out="noisy.json"):
    given = (counts or files.counts, *how, "--out", files / out, "--json")
    said = run("privatize", *given).json
    mechanism = {"mechanism", "neighbours", "epsilon", "spent", "scale"}
    assert set(said) == {"out", "seed", "names_protected", *mechanism}
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
    ended = run("privatize", files.counts, "--epsilon", "1", "--out", files / "released.json")
    assert ended.code == 2 and "opendp" in ended.err
    assert not (files / "released.json").exists()


def one_person_apart(tmp_path):
    """Two tables that differ in one person, who is of a group and has a label of their own."""
    rows = ["site,sex,truth,said"]
    for k in range(40):
        rows.append(f"s{k % 2},{'fm'[k % 3 % 2]},{'well' if k % 5 else 'ill'},well")
    rows.append("s0,f,ill,ill")
    for name, last in (("a", "s0,m,well,well"), ("b", "s0,nonbinary,zoster,well")):
        table, counts = tmp_path / f"{name}.csv", tmp_path / f"{name}.json"
        table.write_text("\n".join([*rows, last]) + "\n")
        columns = (
            "--client",
            "site",
            "--group",
            "sex",
            "--label",
            "truth",
            "--prediction",
            "said",
        )
        assert run("count", table, *columns, "--out", counts).code == 0
        yield counts


DECLARED = ("--groups", "f,m,nonbinary", "--labels", "well,ill,zoster", "--favourable", "ill")


def names_of(path):
    value = json.loads(path.read_text("utf-8"))
    return {key: value[key] for key in ("groups", "labels", "favourable", "note")}


def test_declared_names_are_the_same_whoever_is_in_the_table(tmp_path):
    first, second = one_person_apart(tmp_path)
    released = []
    for counts in (first, second):
        out = tmp_path / f"noisy-{counts.name}"
        output = run("privatize", counts, "--epsilon", "0.01", *DECLARED, "--out", out)
        assert output.code == 0 and "Groups and labels are declared" in " ".join(
            output.out.split()
        )
        released.append(names_of(out))
        again = ClientCounts.read(out)
        assert again.groups == ("f", "m", "nonbinary") and again.table.shape == (2, 3, 3, 3)
    assert released[0] == released[1]
    true = ClientCounts.read(first)
    how = ("--epsilon", "1000000", *DECLARED, "--json")
    said = run("privatize", first, *how, "--out", tmp_path / "same.json").json
    assert said["names_protected"] is True
    same = ClientCounts.read(tmp_path / "same.json")  # noise of no size: zero where nobody is
    ill, well = true.labels.index("ill"), true.labels.index("well")
    kept = np.ix_(range(2), range(2), [1, 0], [1, 0])
    assert (
        same.table[kept] == true.table[np.ix_(range(2), range(2), [ill, well], [ill, well])]
    ).all()
    assert same.table.sum() == true.table.sum()


def test_found_names_are_said_to_be_unprotected(tmp_path):
    first, second = one_person_apart(tmp_path)
    out = tmp_path / "noisy.json"
    for more, found in (
        ((), 'groups "f", "m", "nonbinary" and the labels "ill", "well", "zoster"'),
        (DECLARED[:2], 'labels "ill", "well", "zoster"'),
    ):
        output = run("privatize", second, "--epsilon", "0.01", *more, "--out", out)
        words = " ".join(output.out.split())
        assert (
            output.code == 0
            and f"Names are not protected: that the table holds the {found}" in words
        )
        assert "Names are not protected" in names_of(out)["note"]
        assert (
            run("privatize", second, "--epsilon", "1", *more, "--out", out, "--json").json[
                "names_protected"
            ]
            is False
        )
    output = run("privatize", second, "--epsilon", "0.01", "--declared", "--out", out)
    assert "Groups and labels are declared" in " ".join(output.out.split())
    for more, says in (
        (("--groups", "f,m"), 'hold "nonbinary", which is not among the declared groups'),
        (("--labels", "ill,well,zoster,acne"), "say which it is with --favourable"),
    ):
        refused = run("privatize", second, "--epsilon", "1", *more, "--out", tmp_path / "no.json")
        assert refused.code == 2 and says in " ".join(refused.err.split())
        assert not (tmp_path / "no.json").exists()
