"""The numbers we quote are those the paper prints: against its own LaTeX, where that is at hand."""

import re
from pathlib import Path

import pytest

from fairfl_core.evaluation.methods import PAPER
from fairfl_core.training.recipes import SCENARIOS as DRAWN
from research.paper.printed import TABLE_2, TABLE_4, TABLE_4_FEDAVG

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "paper"
DATASETS = {"Adult": "adult", "PublicCoverage": "public_coverage", "HM10000": "ham10000"}
NUMBER = r"(\d+\.?\d*)"

at_hand = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the paper is not in {FOLDER}")


@pytest.fixture(scope="module")
def latex():
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt")))


def rows_of(latex, label):
    """The rows of the table with this label, as lists of cells."""
    end = latex.index(rf"\label{{{label}}}")
    start = latex.rindex(r"\begin{table", 0, end)
    body = latex[start : latex.index(r"\end{table", end)].partition(r"\midrule")[2]
    return [re.split(r"(?<!\\)&", row) for row in body.split(r"\\") if "&" in row]


def measured(row):
    return (row.local, row.overall, row.accuracy)


@at_hand
def test_table_2_is_the_papers(latex):
    dataset, seen = "", {}
    for first, framework, *cells in rows_of(latex, "table:acc_with_baselines"):
        if "multirow" in first:
            name = re.search(r"\{(\w+) \((?:SP|EOp|EO)\)\}", first).group(1)
            dataset = DATASETS[name]
        framework = re.search(r"textit\{(.*?)\}", framework).group(1)
        figures = [tuple(map(float, re.findall(NUMBER, cell))) for cell in cells]
        seen[dataset, framework] = [(mean, deviation) for mean, deviation in figures]
    assert {(name, row) for name, rows in TABLE_2.items() for row in rows} == set(seen)
    for (name, framework), (local, overall, percent) in seen.items():
        row = TABLE_2[name][framework]
        assert [(one.mean, one.deviation) for one in measured(row)] == [
            local,
            overall,
            pytest.approx([part / 100 for part in percent]),
        ]


@at_hand
def test_table_3_is_the_papers(latex):
    head, rounds, seconds = rows_of(latex, "table:one_round_time")[-3:]
    frameworks = re.findall(r"textit\{(.*?)\}", "&".join(head))
    columns = [
        (dataset, framework)
        for dataset, part in (("adult", frameworks[:5]), ("public_coverage", frameworks[5:]))
        for framework in part
    ]
    assert len(columns) == len(rounds) - 1 == len(seconds) - 1 == 10
    for (dataset, framework), many, long in zip(columns, rounds[1:], seconds[1:], strict=True):
        printed = PAPER["table_3"][dataset][framework]
        assert printed["rounds"] == float(re.search(NUMBER, many).group(1))
        assert printed["seconds"] == float(re.search(NUMBER, long).group(1))


@at_hand
def test_table_4_is_the_papers(latex):
    rows = rows_of(latex, "Table_with_privacy")
    for (name, *cells), (epsilon, row) in zip(
        rows, (TABLE_4 | {0.0: TABLE_4_FEDAVG}).items(), strict=True
    ):
        named = {r"\infty": float("inf"), "FedAvg": 0.0}
        found = re.search(r"\\infty|FedAvg|[\d.]+", name).group()
        assert epsilon == (named[found] if found in named else float(found))
        local, overall, percent = map(float, cells)
        assert [one.mean for one in measured(row)] == [
            local,
            overall,
            pytest.approx(percent / 100),
        ]
        assert all(one.deviation is None for one in measured(row))


@at_hand
def test_what_the_paper_says_of_its_scenarios(latex):
    text = latex[latex.index("Impact of Data Heterogeneity") : latex.index("Privacy Protection")]
    for scenario, printed in enumerate(PAPER["scenarios"].values(), start=1):
        assert f"{100 * printed['loss']:.1f}\\%" in text
        assert f"{printed['before']} \\rightarrow {printed['after']}" in text
        assert f"[{', '.join(map(str, printed['shares']))}]" in text
        assert f"Scenario~{scenario}" in text
    for eps_global, eps_local in PAPER["asked"].values():
        assert f"(\\epsilon_0={eps_global:g}, \\epsilon_c={eps_local:g})" in latex.replace("$", "")


def test_we_draw_the_scenarios_that_the_paper_describes():
    assert {f"ham10000_{name}": shares for name, shares in DRAWN.items()} == {
        name: tuple(printed["shares"]) for name, printed in PAPER["scenarios"].items()
    }
