"""What the paper prints, as `data/methods/paper.toml` has it; accuracies are shares here."""

from dataclasses import dataclass

from fairfl_core.evaluation.methods import PAPER

FEDAVG = "FedAvg"


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


TABLE_2 = {
    dataset: {name: Row.of(row, "Table 2") for name, row in rows.items()}
    for dataset, rows in PAPER["table_2"].items()
}
_TABLE_4 = {name: Row.of(row, "Table 4") for name, row in PAPER["table_4"].items()}
TABLE_4_FEDAVG = _TABLE_4.pop(FEDAVG)
TABLE_4 = {float(epsilon): row for epsilon, row in _TABLE_4.items()}
TABLE_4_ASKED = PAPER["asked"]["Ours"]  # it names no limits; section 7 knows no other than these
