"""The document of the reproduction says what the shipped scores give."""

import re
from pathlib import Path

import pytest

from fairfl_core.paper.reproduction import PAPER, _experiment
from fairfl_core.people import experiments

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"


def numbers(row):
    return [float(text) for text in re.findall(r"-?\d+\.\d+", row)]


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
        assert numbers(new) == pytest.approx(numbers(old), abs=0.11)


def test_the_papers_own_figures_are_the_papers():
    assert PAPER["adult"].row("both") == (81.0, 0.039, 0.003)
    assert PAPER["public_coverage"].row("FedAvg") == (77.8, 0.103, 0.062)
    assert PAPER["ham10000"].row("global only") == (74.9, 0.241, 0.048)
