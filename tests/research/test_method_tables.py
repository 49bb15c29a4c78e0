"""Tables 1 to 3 with every system run here: each row of the paper's has one of ours."""

import re

import pytest

from fairfl_core.evaluation.methods import PAPER, method_experiments
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
