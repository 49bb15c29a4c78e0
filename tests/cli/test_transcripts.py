"""What a person reads holds, number by number, what `--json` says."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from fairfl_core.cli import _shell
from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from tests.cli.running import make_files, run

WIDE = 300


def transcript(*argv):
    """Sentences, and tables as {title: (head, rows)}, of a run on a wide terminal."""
    ended = run(*argv)
    assert ended.went_well, ended
    sentences, tables, rows = [], {}, None
    for line in ended.out.splitlines():
        if line.startswith(("┏", "└")):
            if line[0] == "┏":
                rows = tables[sentences.pop()] = []
        elif line.startswith(("┃", "│")):
            rows.append([cell.strip() for cell in re.split("[┃│]", line)[1:-1]])
        elif not line.startswith("┡"):
            sentences.append(line.strip())
    return sentences, {title: (head, rows) for title, (head, *rows) in tables.items()}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Counts of three clinics with a hole, and a predictor that levels down in two of them."""
    files = make_files(tmp_path_factory.mktemp("transcripts"))
    value = json.loads(files.counts.read_text("utf-8"))
    next(one for one in value["clients"] if one["name"] == "east")["counts"][0] = [[0, 0], [0, 0]]
    files.counts.write_text(json.dumps(value), "utf-8")
    fair = files / "fair.json"
    run("solve", files.counts, "--eps-local", "0.02", "--eps-global", "0.01", "--out", fair)
    return files.counts, fair


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setattr(_shell._out, "_width", WIDE)


def number(value):
    return "none" if value is None else f"{value:.3f}"


def points(after, before):
    return f"{100 * abs(after - before):.2f} points"


# -------------------------------------------------------------------- solve


@pytest.mark.parametrize(
    ("options", "unit", "asked"),
    [
        ((), "points of accuracy", []),
        (
            ("--utility", "balanced", "--ratio-local", "0.8", "--ratio-global", "0.9"),
            "hundredths of the utility balanced",
            [
                "No group's rate is below 0.9 of the highest overall.",
                "No group's rate is below 0.8 of the highest in each client.",
            ],
        ),
        (
            ("--floor", "yes=0.3", "--keep", "no=0.4"),
            "points of accuracy",
            [
                "Kept in every client and group: at least 0.3 of “yes” recognised.",
                "Kept in every client and group: “no” recognised at most 0.4 less often than by "
                "the model.",
            ],
        ),
    ],
)
def test_solve_tells_the_numbers_of_its_json(network, tmp_path, options, unit, asked):
    counts, _ = network
    limits = ("--eps-local", "0.02", "--eps-local-client", "south=0.04", "--eps-global", "0.015")
    found = run("solve", counts, *limits, *options, "--json").json
    sentences, tables = transcript("solve", counts, *limits, *options)
    text = "\n".join(sentences)
    accuracy, own = found["accuracy"], found["model_accuracy"]
    assert f"Accuracy {accuracy:.1%}, the model's own {own:.1%}: " in text
    assert f"{points(accuracy, own)} (n = {found['n']:,}, the counts it was fitted on)." in text
    assert (found["verdict"]["word"], "no new people" in found["verdict"]["why"]) == (
        "not sure yet",
        True,
    )
    assert "NOT SURE YET. There are no new people to judge it on." in text
    assert (
        f"Overall gap {number(found['gap']['global'])} (asked 0.015); overall price "
        f"{found['price']['global']:.3f} {unit} per hundredth."
    ) in sentences
    ((title, (head, rows)),) = tables.items()
    assert title == "Clients, dearest first"
    assert head == ["client", "n", "gap", "asked", "price per hundredth"]
    people = ClientCounts.read(counts)
    n = dict(zip(people.clients, people.table.sum(axis=(1, 2, 3)), strict=True))
    order = sorted(n, key=lambda name: -found["price"]["local"][name])
    assert rows == [
        [
            name,
            f"{n[name]:,.0f}",
            number(found["gap"]["local"][name]),
            f"{found['epsilon']['local'][name]:g}",
            f"{found['price']['local'][name]:.4f} {unit}",
        ]
        for name in order
    ]
    told = [line for line in sentences if line.startswith(("Kept", "No group's"))]
    assert told == asked
    utility = [line for line in sentences if line.startswith("Utility")]
    value = found["utility"]
    assert utility == (
        [
            f"Utility balanced: {value['value']:.4f}, the model's own answers "
            f"{value['model_value']:.4f}."
        ]
        if "balanced" in options
        else []
    )
    for cell in found["not_assessable"]:
        assert (
            f'Not assessable: nobody of group "{cell["group"]}" with label "{cell["label"]}" '
            f'in "{cell["client"]}".'
        ) in sentences
    assert text.count("Not assessable") == len(found["not_assessable"]) == 2
    assert "written" not in text
    out = tmp_path / "fair.json"
    sentences, _ = transcript("solve", counts, *limits, *options, "--out", out)
    assert sentences[-1] == f"Predictor written to {out}." and out.exists()


@pytest.mark.parametrize(
    ("options", "guarantee", "words"),
    [
        (
            ("0.9",),
            Guarantee(0.9, "all"),
            "with 90 % confidence no client's gap exceeds 0.3 (all limits at once, by measured",
        ),
        (
            ("0.8", "--confidence-scope", "each"),
            Guarantee(0.8, "each"),
            "kept with 80 % confidence (by measured margins): of 3 clients one or more may be",
        ),
        (
            ("0.8", "--confidence-proof", "proved"),
            Guarantee(0.8, proof="proved"),
            "no client's gap exceeds 0.3 (all limits at once, proved)",
        ),
    ],
)
def test_a_confidence_asked_for_by_options_is_that_of_the_program(
    network, options, guarantee, words
):
    counts, _ = network
    asked = ("--notion", "eop", "--eps-local", "0.3", "--confidence", *options)
    found = run("solve", counts, *asked, "--json").json
    expected = FairnessProgram(ClientCounts.read(counts), "eop", guarantee=guarantee).solve(
        1.0, 0.3
    )
    without = run("solve", counts, *asked[:4], "--json").json
    assert found["accuracy"] == pytest.approx(expected.accuracy, abs=1e-12)
    assert found["accuracy"] < without["accuracy"] - 1e-4
    assert found["guarantee"] == guarantee.to_json() and without["guarantee"] is None
    sentences, _ = transcript("solve", counts, *asked)
    assert any(words in sentence for sentence in sentences)
    grid = run("map", counts, "--notion", "eop", "--epsilons", "0.3,1", *asked[4:], "--json").json
    assert grid["accuracy"][0][1] == pytest.approx(expected.accuracy, abs=1e-9)


def test_map_tells_the_numbers_of_its_json(network):
    counts, _ = network
    asked = ("map", counts, "--epsilons", "0,0.02,0.3")
    found = run(*asked, "--json").json
    _, tables = transcript(*asked)
    ((head, rows),) = tables.values()
    assert head == ["", *(f"{epsilon:g}" for epsilon in found["epsilons"])]
    assert rows == [
        [f"{epsilon:g}", *(f"{accuracy:.1%}" for accuracy in line)]
        for epsilon, line in zip(found["epsilons"], found["accuracy"], strict=True)
    ]


# -------------------------------------------------------------------- evaluate


def test_evaluate_tells_the_numbers_of_its_json(network):
    counts, fair = network
    found = run("evaluate", fair, counts, "--json").json
    sentences, tables = transcript("evaluate", fair, counts)
    text = "\n".join(sentences)
    accuracy, own, gap = found["accuracy"], found["model_accuracy"], found["gap"]
    assert found["alarms"] and found["harm"]["closed_gaps"]
    assert sentences[0] == f"SOMEONE IS WORSE OFF. {found['harm']['sentence']}"
    assert f"{found['verdict']['word'].upper()}. {found['verdict']['why']}" in " ".join(sentences)
    assert f"Accuracy {accuracy:.1%}, the model's own {own:.1%}: " in text
    assert points(accuracy, own) in text
    debiased = gap["local_debiased"]["larger_half"]
    fairly = " (indistinguishable from fair)" if debiased["gap"] < 0 else ""
    assert (
        f"Local gap once chance is taken out, {debiased['clients']} larger clients: "
        f"{number(debiased['gap'])}{fairly}."
    ) in sentences
    changed = ", ".join(f"{row['group']} {row['changed']:.1%}" for row in found["groups"])
    assert f"Answers changed: {changed}." in sentences
    for closed in found["harm"]["closed_gaps"][:5]:
        assert closed["sentence"] in sentences
    notions = [row for row in found["all_rates"]["notions"] if row["client"] is None]
    moved = [
        f"{row['notion']} {number(row['gap_before'])} to {number(row['gap'])}" for row in notions
    ]
    (line,) = [line for line in sentences if line.startswith("Overall gap of every notion")]
    assert re.findall(r"[\w-]+ \d\.\d{3} to \d\.\d{3}", line) == moved
    assert found["all_rates"]["why_not_all"] in sentences
    assert list(tables) == [
        "Recognised less often",
        "eo, simplex",
        "Clients, largest gap first",
        "Every rate of “yes”, overall",
        "Impact ratios, overall: screening, not compliance",
    ]


def test_the_tables_of_evaluate_are_those_of_its_json(network):
    counts, fair = network
    found = run("evaluate", fair, counts, "--json").json
    _, tables = transcript("evaluate", fair, counts)
    reached, gap = found["reached"], found["gap"]
    low, high = gap["global_interval"]
    worst = gap["local_worst"]
    largest = max(value for value in reached["gap"]["local"].values() if value is not None)
    assert tables["eo, simplex"] == (
        ["", "asked", f"fitted (n = {reached['n']:,})", f"here (n = {found['n']:,})"],
        [
            ["accuracy", "", f"{reached['accuracy']:.1%}", f"{found['accuracy']:.1%}"],
            [
                "model's own",
                "",
                f"{reached['model_accuracy']:.1%}",
                f"{found['model_accuracy']:.1%}",
            ],
            [
                "overall gap",
                "0.01",
                number(reached["gap"]["global"]),
                f"{number(gap['global'])} ({number(low)} to {number(high)})",
            ],
            [
                "largest local gap",
                "0.02",
                number(largest),
                f"{number(worst['gap'])} ({number(worst['interval'][0])} to "
                f"{number(worst['interval'][1])}) {worst['client']}, worst of 2",
            ],
        ],
    )
    lost = [alarm for alarm in found["alarms"] if alarm["kind"] == "recognition"]
    recognition = {
        (row["client"], row["group"], row["label"]): row for row in found["harm"]["recognition"]
    }
    cells = [recognition[one["client"], one["group"], one["label"]] for one in lost]
    assert {one["beyond_chance"] for one in lost} == {True, False}
    assert tables["Recognised less often"][1] == [
        [
            row["client"] or "Overall",
            row["group"],
            row["label"],
            f"{row['before']:.1%}",
            f"{row['after']:.1%}",
            f"{row['after_low']:.1%} to {row['after_high']:.1%}",
            f"{row['n']:,.0f}",
            "yes" if row["beyond_chance"] else "may be chance",
        ]
        for row in cells
    ]
    clients = sorted(found["clients"], key=lambda row: -(row["gap"] or -1))
    assert tables["Clients, largest gap first"][1] == [
        [
            row["client"],
            f"{row['n']:,}",
            number(row["gap"]),
            f"{number(row['gap_low'])} to {number(row['gap_high'])}",
            number(row["gap_one_draw"]),
            number(row["noise_floor"]),
        ]
        for row in clients
    ]
    rates = [
        row
        for row in found["all_rates"]["rates"]
        if row["client"] is None and row["label"] in ("yes", None)
    ]
    assert tables["Every rate of “yes”, overall"][1] == [
        [
            row["rate"],
            row["group"],
            f"{row['before']:.1%}",
            f"{row['after']:.1%}",
            f"{row['after_low']:.1%} to {row['after_high']:.1%}",
            f"{row['n']:,.0f}",
        ]
        for row in rates
    ]
    ratios = [row for row in found["impact_ratios"]["groups"] if row["client"] is None]
    assert tables["Impact ratios, overall: screening, not compliance"][1] == [
        [
            row["group"],
            f"{row['n']:,.0f}",
            number(row["selection_rate_before"]),
            number(row["selection_rate"]),
            f"{number(row['selection_rate_low'])} and {number(row['selection_rate_high'])}",
            number(row["impact_ratio"]),
        ]
        for row in ratios
    ]


def test_where_no_client_has_a_gap_none_is_told(network, tmp_path):
    """Men only in one clinic, women only in another: each is alone, so nothing is compared."""
    counts, fair = network
    value = json.loads(counts.read_text("utf-8"))
    value["clients"] = [one for one in value["clients"] if one["name"] != "east"]
    for absent, client in enumerate(value["clients"]):
        client["counts"][absent] = np.zeros((2, 2), int).tolist()
    (tmp_path / "alone.json").write_text(json.dumps(value), "utf-8")
    found = run("evaluate", fair, tmp_path / "alone.json", "--json").json
    assert found["gap"]["local_worst"] is None and found["gap"]["global"] > 0
    _, tables = transcript("evaluate", fair, tmp_path / "alone.json")
    assert tables["eo, simplex"][1][-1][-1] == "none"
    for row in tables["Clients, largest gap first"][1]:
        assert row[2:] == ["none", "none to none", "none", "none"]


# -------------------------------------------------------------------- compare


def test_compare_prints_what_its_json_says(tmp_path):
    rng = np.random.default_rng(3)
    rows = 900
    truth, sex = rng.random(rows) < 0.4, rng.random(rows) < 0.5
    named = {"site": rng.choice(["north", "south", "east"], rows), "sex": np.where(sex, "w", "m")}
    named["truth"] = np.where(truth, "ill", "well")
    for name, right in (("first", 0.85), ("second", 0.75)):
        says = np.where(rng.random(rows) < right - 0.2 * sex, truth, ~truth)
        named[name] = np.where(says, "ill", "well")
    path = tmp_path / "rows.csv"
    pd.DataFrame(named).to_csv(path, index=False)
    asked = ("--client", "site", "--group", "sex", "--label", "truth", "--notion", "sp")
    asked = ("compare", path, *asked, "--model", "first", "--model", "second")
    own = {(row["model"], row["epsilon"]): row for row in json.loads(run(*asked, "--json").out)}
    _, tables = transcript(*asked)
    ((_, printed),) = tables.values()
    assert {model for model, *_ in printed} == {"first", "second"}
    for model, limit, accuracy, overall, worst in printed:
        row = own[model, None if limit == "as it is" else float(limit)]
        assert accuracy == between(row["accuracy"], row["accuracy_interval"])
        assert overall == between(row["gap_global"], row["gap_global_interval"])
        assert worst == number(row["gap_local_worst"])
        assert len({row["accuracy"], row["gap_global"], row["gap_local_worst"]}) == 3


def between(value, limits):
    return f"{number(value)} ({number(limits[0])}-{number(limits[1])})"
