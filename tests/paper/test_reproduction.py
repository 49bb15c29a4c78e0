"""The document of the reproduction says what the shipped scores give."""

import re
from pathlib import Path

import pytest

from fairfl_core.paper.reproduction import _experiment
from fairfl_core.people import experiments

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"


def numbers(row):
    """Every number with decimals, and one unit of the last digit that is written of it."""
    texts = re.findall(r"-?\d+\.\d+", row)
    return [(float(text), 10.0 ** -len(text.partition(".")[2])) for text in texts]


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_every_experiment_stands_in_the_document_as_it_comes_out_now(name):
    """Made again and compared: a document typed by hand, or an old one, would differ."""
    document = DOCUMENT.read_text(encoding="utf-8")
    made = [row for row in _experiment(experiments.open(name)).splitlines() if row.startswith("|")]
    start = document.index(f"## {name}: ")
    end = document.find("\n## ", start + 1)
    stands = [row for row in document[start:end].splitlines() if row.startswith("|")]
    assert len(made) == len(stands)
    for new, old in zip(made[2:], stands[2:], strict=True):
        assert new.split("|")[1:3] == old.split("|")[1:3]
        for (value, unit), (stood, other) in zip(numbers(new), numbers(old), strict=True):
            assert unit == other
            assert value == pytest.approx(stood, abs=1.01 * unit), new
