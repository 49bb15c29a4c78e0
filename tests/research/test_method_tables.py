"""Tables 1 to 3 with every system run here: each row of the paper's has one of ours."""

import json
import re

import numpy as np
import pytest

from fairfl_core.evaluation.methods import PAPER, method_experiments
from research.paper import fcfl_released
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


def test_the_tables_stand_in_the_document_as_they_come_out_now(text):
    heading = text.splitlines()[0].removeprefix("## ")
    assert_same(lines_of(text), lines_of(section(heading)))


def test_each_figure_is_of_the_kept_answers():
    kept = json.loads(fcfl_released.RELEASED.read_text())
    rows = [line for line in fcfl_released.released_table() if re.match(r"\| (sp|eop) \|", line)]
    assert len(rows) == len(kept["rows"]) and {"sp", "eop"} == {r["notion"] for r in kept["rows"]}
    for line, row in zip(rows, kept["rows"], strict=True):
        table = np.array(row["confusion"])
        assert table.sum() == 16281  # the official test split
        _, _, _, _, accuracy, _, gaps, _, _ = line.split("|")
        for client, (right_share, apart) in enumerate(
            zip(accuracy.split(","), gaps.split(","), strict=True)
        ):
            own = table[client]
            right = sum(own[group, label, label] for group in (0, 1) for label in (0, 1))
            assert float(right_share.split("±")[0]) == pytest.approx(
                100 * right / own.sum(), abs=0.051
            )
            seen = own.sum(axis=1) if row["notion"] == "sp" else own[:, 1]
            women, men = seen[:, 1] / seen.sum(axis=1)
            assert float(apart.split("±")[0]) == pytest.approx(men - women, abs=0.00051)
