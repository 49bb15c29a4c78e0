"""The certificate of a predictor: what is proved is true, and what was tampered with is refused."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.histograms import ScoreHistogram
from fairfl_core.lp.policy import Floor, Policy, parse_limit
from fairfl_core.lp.program import FairnessProgram, exact_program
from fairfl_core.lp.utility import BALANCED, Utility
from fairfl_core.predictors.certificate import score_counts
from fairfl_core.predictors.kinds import predictor_from_json, predictor_of
from fairfl_core.predictors.verify_predictor import fingerprint, verify
from tests.cli.running import run

CHECKER = Path(__file__).parents[2] / "docs" / "verify_predictor.py"
MANY = int(os.environ.get("FAIRFL_TAMPERED", "40"))  # the note of a release says what 1,000 gave


def some_counts(rng, clients=3, groups=2, labels=2, scale=40, grouping=None):
    size = (clients, groups, labels, labels)
    lean = 2 * np.eye(labels) * rng.gamma(1, 1, (clients, groups, labels, 1))
    table = rng.poisson(scale * (rng.gamma(1, 1, size) + lean)) + 1
    names = [
        tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip("cgy", size, strict=False)
    ]
    return ClientCounts(table, *names, grouping=grouping)


def some_people(seed, clients=3, n=900):
    rng = np.random.default_rng(seed)
    client, group = rng.integers(0, clients, n), rng.integers(0, 2, n)
    z = rng.normal(0.5 * group - 0.3 + 0.1 * client, 1)
    label = (rng.random(n) < 1 / (1 + np.exp(-1.5 * z))).astype(int)
    second = np.round(1 / (1 + np.exp(-(z + rng.normal(0, 0.5, n)))), 3)
    scores = np.stack([1 - second, second], axis=1)
    names = tuple(f"c{i}" for i in range(clients)), ("a", "b"), ("no", "yes"), "yes"
    return ScoredData(client, group, label, scores, scores.argmax(axis=1), *names)


def certified(program, eps_global, eps_local, evidence):
    """The file, the counts beside it and the solution."""
    solution = program.solve(eps_global, eps_local)
    predictor = predictor_of(solution).certified_by(program, evidence)
    return json.loads(json.dumps([predictor.to_json(), evidence])), solution


CROSSED = Grouping(("sex", "race"), (("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")))
COSTS = Utility("costs", ("y0", "y1", "y2"), ((0, -1, -1), (-5, 0, -1), (-2, -1, 0)))
RATIOS = Policy(ratio_global=0.8, ratio_local=0.6, ratio_leave_out=0.2)
EVERYTHING = Policy(
    floors=(Floor("y1", 0.3), Floor("y2", keeps=0.3)),
    ratio_global=0.8,
    limits=(parse_limit("race:local:0.05"), parse_limit("sex:global:0.02")),
    utility=BALANCED,
)


KINDS = [
    ("eo", "simplex", (4, 2, 2), Policy()),
    ("eop", "kernel", (4, 3, 2), Policy()),
    ("sp", "simplex", (3, 2, 3), Policy(utility=COSTS)),
    ("eo-full", "kernel", (3, 3, 3), Policy()),
    ("sp", "simplex", (4, 4, 2), RATIOS),
    ("eo", "kernel", (3, 4, 3), EVERYTHING),
    ("eo", "simplex", (3, 3, 2), Policy(without_group=True)),
    ("sp", "kernel", (3, 2, 3), Policy(without_group=True)),
]


@pytest.mark.parametrize("rates", ["labels", "shrunk"])
@pytest.mark.parametrize(("notion", "region", "shape", "policy"), KINDS)
def test_a_solution_of_counts_is_proved(notion, region, shape, policy, rates):
    grouping = CROSSED if shape[1] == 4 else None
    counts = some_counts(np.random.default_rng(1), *shape, grouping=grouping)
    program = FairnessProgram(counts, notion, region, rates=rates, policy=policy)
    (file, evidence), solution = certified(program, 0.05, 0.08, counts.to_json())
    failed, figures = verify(file, evidence)
    assert failed == []
    assert abs(figures["gap"]) <= 1e-9
    assert figures["value"] == pytest.approx(solution.utility.value, abs=1e-9)
    assert figures["bound"] == pytest.approx(solution.utility.value, abs=1e-9)


@pytest.mark.parametrize("rates", ["labels", "shrunk"])
@pytest.mark.parametrize("notion", ["eo", "sp"])
def test_a_solution_of_scores_is_proved_over_every_cut(notion, rates):
    people = some_people(2)
    program = FairnessProgram(people, notion, "exact", rates=rates)
    (file, evidence), solution = certified(program, 0.02, 0.04, score_counts(people))
    failed, figures = verify(file, evidence)
    assert failed == []
    assert figures["bound"] == pytest.approx(solution.bound.upper, abs=1e-9)


def test_a_solution_of_a_histogram_is_proved():
    histogram = ScoreHistogram.of(some_people(3))
    program = exact_program(histogram.measured(), "eop")
    (file, evidence), _ = certified(program, 0.02, 0.04, score_counts(histogram))
    assert verify(file, evidence)[0] == []


def test_a_lottery_that_looks_at_the_group_is_not_proved_where_it_may_not():
    counts = some_counts(np.random.default_rng(14))
    program = FairnessProgram(counts, "eo", "kernel", policy=Policy(without_group=True))
    (file, evidence), _ = certified(program, 0.05, 0.05, counts.to_json())
    row = file["clients"][0]["lottery"][1][0]
    row[:] = row[::-1]
    file["certificate"]["fingerprint"] = fingerprint(file)
    assert "different lotteries" in verify(file, evidence)[0][0]


def test_a_lottery_outside_the_region_is_not_proved():
    """The kernel's lottery reaches more than the simplex: it must not pass for one of that."""
    counts = some_counts(np.random.default_rng(5), labels=3)
    (file, evidence), _ = certified(
        FairnessProgram(counts, "eo", "kernel"), 0.1, 0.1, counts.to_json()
    )
    file["region"] = "simplex"
    file["certificate"]["fingerprint"] = fingerprint(file)
    assert "no mixture" in verify(file, evidence)[0][0]


def tampered(rng, file, evidence, how):
    """One weight, count, limit or label changed."""
    file, evidence = copy.deepcopy([file, evidence])
    client = int(rng.integers(len(file["clients"])))
    group = int(rng.integers(len(file["groups"])))
    by = float(rng.choice([1e-6, 1e-3, 0.05]))
    if how == "weight":
        entry = file["clients"][client]
        if "rules" in entry:
            entry["rules"][group][-1]["probability"] -= by
            entry["rules"][group][0]["probability"] += by * (len(entry["rules"][group]) > 1)
        else:
            row = entry["lottery"][group][int(rng.integers(len(file["labels"])))]
            larger = int(np.argmax(row))  # the row still sums to one
            row[larger] -= by
            row[larger - 1] += by
    elif how == "count":
        cells = evidence["clients"][client]["counts"][group]
        cell = cells[int(rng.integers(len(cells)))]
        cell = cell[2] if isinstance(cell[-1], list) else cell
        cell[int(rng.integers(len(cell)))] += 1
    elif how == "limit":
        name = file["clients"][client]["name"]
        file["epsilon"]["local"][name] = max(file["epsilon"]["local"][name] - by, 0.0)
    else:
        whose = file if rng.random() < 0.5 else evidence
        whose["labels"] = whose["labels"][::-1]
    return file, evidence


def is_true(file, evidence):
    """Whether the file's claim holds, by the program itself: its limits, and nothing better."""
    counts = ClientCounts.from_json(evidence)
    predictor = predictor_from_json(file)
    answers = np.einsum("cayj,cajk->cayk", counts.table, predictor.lottery)
    try:
        best = FairnessProgram(counts, file["notion"], file["region"]).solve(
            file["epsilon"]["global"], file["epsilon"]["local"]
        )
    except InfeasibleError:
        return False
    rates = np.einsum("cayy->cay", answers) / counts.n_label
    pooled = np.einsum("cayy->ay", answers) / counts.n_label.sum(axis=0)
    inside = np.abs(rates[:, 0] - rates[:, 1]).max(axis=1)
    kept = (inside <= best.eps_local + 1.1e-9).all()
    kept &= np.abs(pooled[0] - pooled[1]).max() <= best.eps_global + 1.1e-9
    return kept and np.einsum("cayy->", answers) / counts.n >= best.accuracy - 1.1e-9


def drawn(rng, turn):
    """Limits at random on people at random, of every kind in turn: the file and its counts."""
    while True:
        limits = rng.uniform(0, 0.1, 2).round(3).tolist()
        if turn % 5 == 0:
            people = some_people(int(rng.integers(2**31)), clients=int(rng.integers(1, 4)))
            program = FairnessProgram(people, rng.choice(["eo", "eop", "sp"]), "exact")
            evidence = score_counts(people)
        else:
            notion, region, shape, policy = KINDS[turn % len(KINDS)]
            grouping = CROSSED if shape[1] == 4 else None
            counts = some_counts(rng, int(rng.integers(1, 4)), *shape[1:], grouping=grouping)
            program = FairnessProgram(counts, notion, region, policy=policy)
            evidence = counts.to_json()
        try:
            return certified(program, *limits, evidence)[0]
        except InfeasibleError:  # floors against limits
            continue


def test_what_was_tampered_with_is_refused_and_what_was_not_is_accepted():
    """Of every region, with floors, ratios, utilities, groupings and without the group."""
    rng = np.random.default_rng(6)
    accepted = refused = 0
    for turn in range(MANY):
        file, evidence = drawn(rng, turn)
        accepted += verify(file, evidence)[0] == []
        changed = tampered(rng, file, evidence, ("weight", "count", "limit", "label")[turn % 4])
        refused += verify(*changed)[0] != [] or changed == (file, evidence)
    print(f"{accepted} accepted, {refused} refused")
    assert (accepted, refused) == (MANY, MANY)


def test_where_the_seal_is_made_anew_only_what_is_true_is_accepted():
    rng = np.random.default_rng(6)
    refused = 0
    for turn in range(MANY // 2):
        counts = some_counts(rng, clients=int(rng.integers(1, 4)))
        program = FairnessProgram(counts, "eo", "simplex" if turn % 2 else "kernel")
        limits = rng.uniform(0, 0.1, 2).round(3).tolist()
        (file, evidence), _ = certified(program, *limits, counts.to_json())
        how = "weight" if turn % 4 < 2 else "limit"
        changed = tampered(rng, file, evidence, how)
        changed[0]["certificate"]["fingerprint"] = fingerprint(changed[0])
        problems = verify(*changed)[0]
        assert problems or is_true(*changed)
        refused += problems != []
    print(f"{refused} of {MANY // 2} refused by arithmetic alone")
    assert refused >= MANY // 4  # every weight


def test_the_file_survives_being_read_and_written_and_a_changed_one_loses_its_certificate():
    counts = some_counts(np.random.default_rng(7))
    (file, evidence), _ = certified(
        FairnessProgram(counts, "eo", "simplex"), 0.05, 0.05, counts.to_json()
    )
    assert predictor_from_json(file).to_json() == file
    changed = copy.deepcopy(file)
    changed["epsilon"]["global"] = 0.04
    assert predictor_from_json(changed).certificate is None
    without = {key: value for key, value in file.items() if key != "certificate"}
    assert predictor_from_json(without).certificate is None
    assert "no certificate" in verify(without, evidence)[0][0] or verify(without, evidence)[0]


def test_what_the_checker_does_not_know_is_refused_not_passed_over():
    counts = some_counts(np.random.default_rng(10))
    (file, evidence), _ = certified(
        FairnessProgram(counts, "eo", "simplex"), 0.05, 0.05, counts.to_json()
    )
    file["policy"] = {"capacity_global": 0.1}
    file["certificate"]["fingerprint"] = fingerprint(file)
    assert "not proved: capacity_global" in verify(file, evidence)[0][0]


@pytest.mark.parametrize("wrong", [{}, [], None, 5, {"certificate": {"fingerprint": "x"}}])
def test_what_is_no_predictor_is_refused_in_a_sentence(wrong):
    counts = some_counts(np.random.default_rng(8)).to_json()
    failed, _ = verify(wrong, counts)
    assert len(failed) == 1


def test_the_script_runs_alone_without_fairfl(tmp_path):
    counts = some_counts(np.random.default_rng(9))
    (file, evidence), _ = certified(
        FairnessProgram(counts, "sp", "kernel"), 0.02, 0.05, counts.to_json()
    )
    for name, value in (("p.json", file), ("c.json", evidence)):
        (tmp_path / name).write_text(json.dumps(value))
    command = [sys.executable, "-I", "-S", str(CHECKER.resolve()), "p.json", "c.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("PROVED.")
    file["clients"][0]["lottery"][0][0][0] += 1e-6
    (tmp_path / "p.json").write_text(json.dumps(file))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "NOT PROVED" in done.stdout


def test_the_command_says_what_is_proved_of_which_rates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = some_people(15)
    columns = {"client": people.clients, "group": people.groups, "label": people.labels}
    rows = pd.DataFrame({n: np.array(v)[getattr(people, n)] for n, v in columns.items()})
    rows.assign(p=people.scores[:, 1]).to_csv("rows.csv", index=False)
    named = [word for name in columns for word in (f"--{name}", name)]
    how = (*named, "--probability", "p", "--probability-of", "yes", "--eps-local", "0.05")
    for rates in ("shrunk", "labels"):
        files = ("--out", "p.json", "--score-counts", "c.json", "--rates", rates)
        assert run("solve", "rows.csv", *how, *files).code == 0
        ended = run("verify", "p.json", "c.json")
        assert ended.code == 0 and ended.out.startswith("PROVED.")
        assert ("Rates are shrunk" in ended.out) == (rates == "shrunk")
    value = json.loads(Path("p.json").read_text("utf-8"))
    value["epsilon"]["global"] = 0.5
    Path("p.json").write_text(json.dumps(value), "utf-8")
    ended = run("verify", "p.json", "c.json", "--json")
    assert ended.code == 1 and not json.loads(ended.out)["proved"]


@pytest.mark.parametrize(
    ("region", "labels", "how", "policy"),
    [
        ("simplex", 2, {}, Policy(floors=(Floor("y1", 0.2),))),
        ("kernel", 2, {"scope": "each"}, Policy()),
        ("kernel", 3, {"proof": "proved"}, Policy(floors=(Floor("y1", 0.2),))),
    ],
)
def test_limits_inside_clients_with_a_confidence_are_proved_by_the_rows_as_given(
    region, labels, how, policy
):
    counts = some_counts(np.random.default_rng(11), labels=labels, scale=400)
    guarantee = Guarantee(**how)
    program = FairnessProgram(counts, "eo", region, guarantee=guarantee, policy=policy)
    solution = program.solve(1.0, 0.3)
    predictor = predictor_of(solution).certified_by(program)
    file = json.loads(json.dumps(predictor.to_json()))
    failed, figures = verify(file, counts.to_json())
    assert failed == [] and abs(figures["gap"]) <= 1e-9
    assert file["certificate"]["rows"]
    assert predictor_from_json(file).to_json() == file
    file["certificate"]["rows"][0]["at_most"] -= 1e-6
    file["certificate"]["fingerprint"] = fingerprint(file)
    assert "a row of the confidence" in verify(file, counts.to_json())[0][0]


def test_rows_of_a_confidence_count_only_where_one_was_asked():
    """A row too many would rule out every better lottery."""
    counts = some_counts(np.random.default_rng(12), scale=400)
    program = FairnessProgram(counts, "eo", "simplex", guarantee=Guarantee())
    file = predictor_of(program.solve(1.0, 0.3)).certified_by(program).to_json()
    file["guarantee"] = None
    file["certificate"]["fingerprint"] = fingerprint(file)
    assert verify(file, counts.to_json())[0] != []


@pytest.mark.parametrize(("region", "eps_global"), [("exact", 1.0), ("simplex", 0.3)])
def test_other_confidences_are_not_proved(region, eps_global):
    people = some_people(13)
    program = FairnessProgram(people, "eo", region, guarantee=Guarantee())
    file = predictor_of(program.solve(eps_global, 0.3)).certified_by(program).to_json()
    assert "certificate" not in file
