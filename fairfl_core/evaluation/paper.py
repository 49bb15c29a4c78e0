"""What the paper prints, and what differs here: `data/methods/paper.toml`, as values.

Accuracies are shares here (the tables print per cent); everything else is as printed.
"""

import tomllib
from dataclasses import dataclass
from typing import Any

from fairfl_core._io.files import APP_ROOT

_PRINTED = tomllib.loads((APP_ROOT / "data/methods/paper.toml").read_text(encoding="utf-8"))

FEDAVG = "FedAvg"
GRID: tuple[float, ...] = tuple(_PRINTED["grid"])
ASKED: dict[str, tuple[float, float]] = {
    name: (overall, local) for name, (overall, local) in _PRINTED["asked"].items()
}
LOSS_RATIO: dict[str, float] = _PRINTED["loss_ratio"]
DIFFERENCES: dict[str, tuple[str, ...]] = {
    name: tuple(sentences) for name, sentences in _PRINTED["differences"].items()
}
CHOICES: tuple[str, ...] = tuple(_PRINTED["choices"])
CHANGES: tuple[str, ...] = tuple(_PRINTED["changes"])


@dataclass(frozen=True)
class Capabilities:
    """A row of Table 1: which fairness, how many labels, which notions, by which approach."""

    level: str
    multi_class: bool
    notions: tuple[str, ...]
    approach: str


@dataclass(frozen=True)
class Measured:
    """A mean over runs, and the deviation printed after its ± (none where none is printed)."""

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class Row:
    """One framework or setting: its mean local gap, its global gap, its accuracy, and where."""

    local: Measured
    overall: Measured
    accuracy: Measured
    where: str

    @classmethod
    def of(cls, printed: dict[str, list[float]], where: str) -> "Row":
        """Take a row as it is printed."""
        accuracy = Measured(*(percent / 100 for percent in printed["accuracy"]))
        return cls(Measured(*printed["local"]), Measured(*printed["overall"]), accuracy, where)


@dataclass(frozen=True)
class Convergence:
    """Rounds (printed as "about", or as `more_than` so many) and seconds, on 16 cores of 4 GHz."""

    rounds: int
    seconds: float
    more_than: bool = False

    @property
    def rounds_printed(self) -> str:
        """The rounds, as the table prints them."""
        return f"over {self.rounds:,}" if self.more_than else f"{self.rounds:,}"


@dataclass(frozen=True)
class Scenario:
    """What section 7 says of a map of Figure 2 (HAM10000, five clients).

    Attributes
    ----------
    shares : tuple of float
        Share of women in each client.
    loss : float
        Share of the initial accuracy that is lost when both limits go from .30 to .05.
    before, after : float
        Accuracy at epsilon_c = .05 with epsilon_0 = .30, and with epsilon_0 = .05.
    """

    shares: tuple[float, ...]
    loss: float
    before: float
    after: float


def _tuples(printed: dict[str, Any]) -> dict[str, Any]:
    """Arrays as tuples, for values that nobody changes."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in printed.items()
    }


TABLE_1 = {name: Capabilities(**_tuples(row)) for name, row in _PRINTED["table_1"].items()}
TABLE_2 = {
    dataset: {name: Row.of(row, "Table 2") for name, row in rows.items()}
    for dataset, rows in _PRINTED["table_2"].items()
}
TABLE_3 = {
    dataset: {name: Convergence(**row) for name, row in rows.items()}
    for dataset, rows in _PRINTED["table_3"].items()
}
_TABLE_4 = {name: Row.of(row, "Table 4") for name, row in _PRINTED["table_4"].items()}
TABLE_4_FEDAVG = _TABLE_4.pop(FEDAVG)
TABLE_4 = {float(epsilon): row for epsilon, row in _TABLE_4.items()}
TABLE_4_ASKED = ASKED["Ours"]  # it names no limits; section 7 knows no other than these
SCENARIOS = {name: Scenario(**_tuples(row)) for name, row in _PRINTED["scenarios"].items()}
