"""How an uploaded file was read, so that the same file can be taken in again in the same way."""

from dataclasses import asdict, dataclass
from typing import Any

from fairfl_core._io.json_files import check_keys
from fairfl_core._io.names import shown
from fairfl_core.data.score_columns import SCORE_KINDS
from fairfl_core.errors import InputError
from fairfl_core.intake._roles import ColumnRoles

__all__ = ["Reading"]

_LONGEST = 4000  # letters of a column's name
_TEXTS = (
    *("client", "group", "label", "prediction", "split", "fold", "row_id"),
    *("probability", "probability_of", "scores_are"),
)


@dataclass(frozen=True)
class Reading:
    """All that a person said of a file beside the file itself.

    Attributes
    ----------
    favourable : str
    columns : ColumnRoles or None
        Which column is what; None where counts came.
    join : bool
        Whether names that differ only in case or spaces are one.
    """

    favourable: str
    columns: ColumnRoles | None = None
    join: bool = False

    def to_json(self) -> dict[str, Any]:
        """The form a review carries."""
        return {
            "favourable": self.favourable,
            "columns": None if self.columns is None else asdict(self.columns),
            "join": self.join,
        }

    @classmethod
    def from_json(cls, value: Any) -> "Reading":
        """Read it back; refuses what is not one."""
        if not isinstance(value, dict):
            raise InputError(
                "how a file was read must be a JSON object; write it as the app does."
            )
        check_keys(value, {"favourable", "columns", "join"}, set(), "how a file was read")
        if not isinstance(value["join"], bool):
            raise InputError('"join" must be true or false; correct it.')
        columns = None if value["columns"] is None else _columns(value["columns"])
        return cls(_text(value["favourable"], "favourable"), columns, value["join"])


def _columns(value: Any) -> ColumnRoles:
    lists = {"scores", "crossed_with", "models"}
    if not isinstance(value, dict) or not all(isinstance(value.get(one), list) for one in lists):
        raise InputError('"columns" must say which column is what; write it as the app does.')
    check_keys(value, {*_TEXTS, *lists, "threshold"}, set(), '"columns"')
    threshold = value["threshold"]
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise InputError('"threshold" must be a number from 0 to 1; correct it.')
    if not 0 <= threshold <= 1:
        raise InputError('"threshold" must be a number from 0 to 1; correct it.')
    if value["scores_are"] not in SCORE_KINDS:
        raise InputError(f'"scores_are" must be one of {", ".join(SCORE_KINDS)}; correct it.')
    return ColumnRoles(
        **{name: _text(value[name], name) for name in _TEXTS},
        scores=tuple(_pair(pair) for pair in value["scores"]),
        crossed_with=tuple(_text(name, "crossed_with") for name in value["crossed_with"]),
        models=tuple(_text(name, "models") for name in value["models"]),
        threshold=float(threshold),
    )


def _pair(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError('"scores" must be pairs of a label and its column; correct them.')
    label, column = (_text(name, "scores") for name in value)
    return label, column


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InputError(
            f'"{shown(what)}" must be text of at most {_LONGEST:,} letters; shorten it.'
        )
    return value
