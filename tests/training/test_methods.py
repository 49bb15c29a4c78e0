"""Methods by name, and their settings."""

import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from fairfl_core.errors import InputError
from fairfl_core.training import method as methods
from fairfl_core.training.fedavg import FedAvg
from fairfl_core.training.method import make_method, register, settings_from


@dataclass(frozen=True)
class Knobs(FedAvg):
    title: ClassVar[str] = "Knobs"

    beta: float = 1.0
    hard: bool = False


@pytest.fixture(autouse=True)
def knobs(monkeypatch):
    monkeypatch.setitem(methods.METHODS, "knobs", f"{__name__}:Knobs")


def test_an_unknown_method_names_the_known_ones():
    with pytest.raises(InputError, match='no method "models"; choose one of: fedavg, .*knobs'):
        make_method("models", {})


def test_a_name_is_given_once():
    register("knobs", f"{__name__}:Knobs")
    with pytest.raises(InputError, match="choose another name"):
        register("knobs", "elsewhere:Knobs")


def test_settings_have_the_type_of_the_default():
    words = ["epochs=2", "beta=0.5", "hard=True", "weighting=uniform"]
    settings = settings_from("knobs", words)
    assert settings == {"epochs": 2, "beta": 0.5, "hard": True, "weighting": "uniform"}
    assert make_method("knobs", settings) == Knobs("uniform", 2, 0.5, True)
    assert settings_from("knobs", []) == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gamma=1"], 'Knobs has no setting "gamma"; it has: weighting, epochs, beta, hard'),
        (["epochs"], '--setting "epochs" is not like name=value'),
        (["epochs=1.5"], 'epochs is a whole number, not "1.5"'),
        (["beta=much"], 'beta is a number, not "much"'),
        (["beta=nan"], 'beta is a number, not "nan"'),
        (["hard=perhaps"], 'hard is true or false, not "perhaps"'),
        (["beta=1", "beta=2"], '"beta" is given twice'),
        (["weighting=squares"], "neither rows nor uniform"),
        (["epochs=0"], "epochs must be at least 1"),
    ],
)
def test_wrong_settings_are_sentences(words, sentence):
    with pytest.raises(InputError, match=sentence):
        settings_from("knobs", words)


def test_looking_a_method_up_imports_no_tensorflow():
    code = (
        "import sys; from fairfl_core.training.method import METHODS, make_method;"
        "[make_method(name, {}) for name in METHODS]; sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
