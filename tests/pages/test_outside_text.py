"""Text from outside is only text, wherever it goes; `tests/browser` asks a real page."""

import csv
import io
import re
from html import unescape

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core._io.names import JOINER, Target, only_text, plain
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from pages.shared.widgets import csv_for_people

ANY = st.text(max_size=40) | st.text(alphabet=":-<>=~$@w./ ;,'\"\\{}[]#*_`|+＝1a\t\n", max_size=30)


def unmarked(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text.replace(JOINER, "")).strip("\u2068\u2069")


@given(ANY)
def test_nothing_is_lost_in_markdown_and_html(text):
    line = " ".join(text.split()).strip("\u2068\u2069").replace(JOINER, "")
    assert unmarked(plain(line, 200)) == line
    assert unescape(only_text(text, Target.HTML)) == text
    assert "<" not in only_text(text, Target.HTML) and "<" not in only_text(text, Target.FIGURE)


@given(ANY)
def test_no_cell_of_a_csv_is_a_formula_whatever_parts_the_cells(text):
    made = csv_for_people(pd.DataFrame({"name": [text], "n": [-5]}))
    read = [cell for row in csv.reader(io.StringIO(made, newline="")) for cell in row]
    # A spreadsheet of another dialect knows neither these quotes nor this sign between cells.
    for delimiter in ",;\t|":
        read += re.split(rf"[\r\n{re.escape(delimiter)}]", made)
    for cell in map(str.strip, read):
        assert cell == "-5" or not cell.startswith(("=", "@", "＝", "+", "＋", "＠", "－", "-"))


@pytest.mark.parametrize("name", ["x;=1+1", "＝1+1", "=1", "@a", "\t=1", "+1", "-1 b"])
def test_what_was_left_as_a_formula(name):
    assert only_text(name, Target.CSV).startswith("'") and "=1" not in re.split(
        ";", only_text(name, Target.CSV)
    )
    assert only_text("a = b", Target.CSV) == "a = b"


@pytest.mark.parametrize("name", ["\u200b", "\u2060\u200d", "\u3164", "\u2800 ", "\u00ad"])
def test_a_name_of_nothing_to_see_is_refused(name):
    rows = pd.DataFrame({"c": ["a", name], "g": ["x", "y"], "l": ["0", "1"], "p": ["0", "1"]})
    with pytest.raises(InputError, match="nothing is to be seen"):
        ClientCounts.from_table(rows, client="c", group="g", label="l", prediction="p")
