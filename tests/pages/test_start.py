"""What `fairfl app --warm` computes is what visitors are shown, without computing it again."""

from pathlib import Path

import pytest

from fairfl_core.errors import FairflError
from pages.shared import results, start

APP = Path(__file__).resolve().parents[2] / "app.py"


def test_a_visitor_finds_everything_computed(opened, monkeypatch):
    monkeypatch.setattr(start, "list_experiments", lambda: ["adult"])
    start.open_every_experiment(APP)

    def no_more(*_, **__):
        raise AssertionError("computed again")

    for name in ("FairnessProgram", "run_study", "summarise"):
        monkeypatch.setattr(results, name, no_more)
    opened(experiment="adult", as_it_starts=True)


def test_one_that_cannot_be_opened_is_a_sentence(tmp_path):
    (tmp_path / "app.py").write_text("raise ValueError('no')\n")
    with pytest.raises(FairflError, match="cannot be opened .*start without --warm"):
        start.open_every_experiment(tmp_path / "app.py")
