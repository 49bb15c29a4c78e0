"""Weighted people, against numbers that are computed row by row, and scipy's."""

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.fairness.intervals import gap_interval
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.cli.running import run
from tests.helpers.oracles import optimum

COLUMNS = {"client": "state", "group": "sex", "label": "covered", "prediction": "said"}


def people(n=900, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "state": rng.choice(["CA", "NM", "WY"], n),
            "sex": rng.choice(["f", "m"], n),
            "covered": rng.choice(["no", "yes"], n),
        }
    )
    wrong = rng.random(n) < np.where(frame["sex"] == "f", 0.3, 0.15)
    frame["said"] = frame["covered"].where(~wrong, np.where(frame["covered"] == "no", "yes", "no"))
    return frame.assign(weight=rng.gamma(1.5, 60, n).round())


def weighted_optimum(frame, eps_global, eps_local):
    """The simplex for eop by a dense program, of sums of weights."""
    names = [sorted(set(frame[column])) for column in COLUMNS.values()]
    codes = [
        [own.index(value) for value in frame[column]]
        for own, column in zip(names, COLUMNS.values(), strict=True)
    ]
    table = np.zeros([len(own) for own in names])
    np.add.at(table, tuple(codes), frame["weight"])
    counts = ClientCounts(table, *names[:3], noisy=True)
    return optimum(counts, "eop", "simplex", eps_global, eps_local)


@pytest.mark.parametrize(("eps_global", "eps_local"), [(0.01, 0.01), (1, 0.03), (0.02, 1)])
def test_the_optimum_of_weighted_people_is_scipys(eps_global, eps_local):
    frame = people()
    counts = ClientCounts.from_table(frame, **COLUMNS, weight="weight")
    solution = FairnessProgram(counts, "eop").solve(eps_global, eps_local)
    assert solution.accuracy == pytest.approx(
        weighted_optimum(frame, eps_global, eps_local), abs=1e-9
    )


def test_rates_and_intervals_are_those_of_the_effective_number():
    frame = people()
    counts = ClientCounts.from_table(frame, **COLUMNS, weight="weight")
    w = frame["weight"]
    assert counts.n == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert counts.weighting.total == w.sum()
    judged = evaluate(predictor_of(FairnessProgram(counts, "eop").solve()), counts)
    rate, n = np.zeros((3, 2, 1)), np.zeros((3, 2, 1))
    for (c, state), (a, sex) in (
        ((c, s), (a, g)) for c, s in enumerate(counts.clients) for a, g in enumerate("fm")
    ):
        mine = frame[(frame["state"] == state) & (frame["sex"] == sex)]
        mine = mine[mine["covered"] == "yes"]
        rate[c, a] = np.average(mine["said"] == "yes", weights=mine["weight"])
        n[c, a] = mine["weight"].sum() ** 2 / (mine["weight"] ** 2).sum()
    np.testing.assert_allclose(judged.rates, rate)
    np.testing.assert_allclose(judged.effective, n)
    np.testing.assert_allclose(judged.local_interval, gap_interval(rate, n))
    # A gap told of weighted people is wider than if each stood for one.
    alike = evaluate(judged_by(frame), ClientCounts.from_table(frame, **COLUMNS))
    assert np.all(np.subtract(*judged.global_interval) < np.subtract(*alike.global_interval))


def judged_by(frame):
    counts = ClientCounts.from_table(frame, **COLUMNS)
    return predictor_of(FairnessProgram(counts, "eop").solve())


@pytest.mark.parametrize("weight", [1.0, 7.0])
def test_equal_weights_are_none(weight):
    frame = people(300).assign(weight=weight)
    plain = ClientCounts.from_table(frame, **COLUMNS)
    counts = ClientCounts.from_table(frame, **COLUMNS, weight="weight")
    np.testing.assert_allclose(counts.table, plain.table, rtol=1e-12)
    np.testing.assert_allclose(counts.weighting.squares, plain.n_label, rtol=1e-12)
    program, other = (FairnessProgram(one, "eo") for one in (counts, plain))
    assert program.solve(0.02, 0.05).accuracy == pytest.approx(other.solve(0.02, 0.05).accuracy)


def test_weighted_counts_come_back_from_their_file(tmp_path):
    counts = ClientCounts.from_table(people(), **COLUMNS, weight="weight")
    read = ClientCounts.read(counts.write(tmp_path / "counts.json"))
    np.testing.assert_array_equal(read.table, counts.table)
    np.testing.assert_array_equal(read.weighting.squares, counts.weighting.squares)
    assert read.remarks() == counts.remarks()
    one = read.select_clients(["NM"])
    assert one.weighting.squares.shape == (1, 2, 2)


def test_weights_on_the_command_line(tmp_path):
    people().to_csv(tmp_path / "rows.csv", index=False)
    named = ("--client", "state", "--group", "sex", "--label", "covered", "--prediction", "said")
    rows = (tmp_path / "rows.csv", *named, "--weight", "weight")
    ended = run("count", *rows, "--out", tmp_path / "counts.json")
    assert "effective number" in " ".join(ended.out.split())
    asked = ("--notion", "eop", "--eps-local", "0.03", "--json")
    by_counts = run("solve", tmp_path / "counts.json", *asked).json
    by_rows = run("solve", *rows, *asked, "--out", tmp_path / "fair.json").json
    assert by_counts == by_rows
    assert by_rows["accuracy"] == pytest.approx(weighted_optimum(people(), 1, 0.03), abs=1e-9)
    judged = run("evaluate", tmp_path / "fair.json", *rows, "--json").json
    assert judged["accuracy"] == pytest.approx(by_rows["accuracy"])
    sure = ("--confidence", "0.9", "--eps-local", "0.3")
    said = " ".join(run("solve", *rows, *sure).out.split())
    assert "as far as the weights are right" in said


@pytest.mark.parametrize("wrong", ["-1", "", "much", "inf"])
def test_wrong_weights_end_in_a_sentence(tmp_path, wrong):
    frame = people(50).astype({"weight": object})
    frame.loc[6, "weight"] = wrong
    frame.to_csv(tmp_path / "rows.csv", index=False)
    named = ("--client", "state", "--group", "sex", "--label", "covered", "--prediction", "said")
    ended = run("count", tmp_path / "rows.csv", *named, "--weight", "weight")
    assert ended.code == 2 and "data row 7: the weight" in ended.err, ended


def test_what_takes_no_weights_says_so(tmp_path):
    frame = people(200)
    with pytest.raises(InputError, match="all weights are 0"):
        ClientCounts.from_table(frame.assign(weight=0), **COLUMNS, weight="weight")
    counts = ClientCounts.from_table(frame, **COLUMNS, weight="weight")
    with pytest.raises(InputError, match="overall limit"):
        FairnessProgram(counts, "eop", guarantee=Guarantee(0.9)).solve(0.3, 1.0)
    counts.write(tmp_path / "c.json")
    ended = run("privatize", tmp_path / "c.json", "--epsilon", "1", "--out", tmp_path / "n.json")
    assert ended.code == 2 and "--weight" in ended.err


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1e12])
def test_only_the_ratio_of_weights_counts(size):
    """Squares of very small weights are 0, of very large ones no number: neither is asked for."""
    rows = {
        "site": ["a"] * 4,
        "sex": ["f", "f", "m", "m"],
        "y": ["0", "1", "0", "1"],
        "said": ["0", "1", "1", "1"],
    }
    named = {"client": "site", "group": "sex", "label": "y", "prediction": "said"}
    one, other = (
        ClientCounts.from_table(
            rows | {"w": [k * unit for k in (1, 2, 3, 4)]}, **named, weight="w"
        )
        for unit in (1, size)
    )
    np.testing.assert_allclose(other.table, one.table, rtol=1e-12)
    with pytest.raises(InputError, match="larger than"):
        ClientCounts.from_table(rows | {"w": [1, 2, 3, 1e300]}, **named, weight="w")
