"""Tables 1 to 3 with every system run here: each row of the paper's has one of ours."""

import re

import pytest

from fairfl_core.evaluation.methods import PAPER, method_experiments, method_rows, rows_of
from research.paper.method_tables import FRAMEWORKS, method_tables
from tests.research.test_reproduction import assert_same, section
from tests.research.test_reproduction import rows_of as lines_of

pytestmark = pytest.mark.skipif(not method_experiments(), reason="no methods are shipped")


@pytest.fixture(scope="module")
def text():
    return method_tables()


def test_every_framework_of_the_tables_has_rows(text):
    for framework in PAPER["table_1"]:
        assert re.search(rf"^\| {re.escape(framework)} \|", text, re.M), framework
    table_2 = text.split("### Table 2: adult (sp)")[1].split("###")[0]
    for framework in PAPER["table_2"]["adult"]:
        assert f"| {framework} |" in table_2, framework
    assert set(PAPER["table_3"]["adult"]) <= set(FRAMEWORKS)


def test_a_figure_of_table_2_is_the_rows_own(text):
    (row,) = rows_of(method_rows("adult"), "fedavg", "sp")
    table_2 = text.split("### Table 2: adult (sp)")[1]
    printed = re.search(r"\| FedAvg \| as trained.*?\| (\d+) \| ([\d.]+) ±", table_2)
    assert printed.group(1) == str(len(row.seeds))
    assert float(printed.group(2)) == pytest.approx(100 * row.accuracy.mean(), abs=0.06)
    assert "84.5 / 0.287 / 0.226" in table_2  # the paper's, beside it


def test_beside_each_row_of_table_2_stand_the_papers_figures_or_nothing(text):
    for part in text.split("### Table 2")[1:]:
        rows = part.split("\n\n")[1].splitlines()[2:]
        beside = {row.split("|")[-2].strip() for row in rows}
        assert "" in beside
        assert all(re.fullmatch(r"([\d.]+ / [\d.]+ / [\d.]+)?", one) for one in beside), beside


def test_the_tables_stand_in_the_document_as_they_come_out_now(text):
    heading = text.splitlines()[0].removeprefix("## ")
    assert_same(lines_of(text), lines_of(section(heading)))
