"""Which column is what: guessed from headers and first rows, for a person to confirm."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fairfl_core._io.files import check_keys
from fairfl_core._io.names import shown
from fairfl_core.data.score_columns import SCORE_KINDS, columns_by_name, event_of, label_by_name
from fairfl_core.data.splits import is_split
from fairfl_core.data.tables import TableFile
from fairfl_core.errors import InputError

# Words that stand in headers, most telling first.
_WORDS = {
    "client": "client hospital clinic site centre center institution silo node bank branch state "
    "region country department ward",
    "split": "split partition subset",
    "prediction": "prediction pred predicted y_pred yhat y_hat answer said decision output",
    "label": "label y_true truth true target actual outcome diagnosis y class gold observed",
    "group": "group sex gender race ethnicity ethnic age_group age_band sensitive protected "
    "attribute",
}
_ROW_ID = "row_id id person patient subject participant person_id patient_id case record row"
_SCORE = re.compile(r"score|prob|proba|logit|softmax|confidence|^p[_ ]?\d|^p_", re.IGNORECASE)
_MOST_NAMES = 50  # a group or a label has few values


@dataclass(frozen=True)
class ColumnRoles:
    """Which column holds what; an empty text is a column that is not there, or not known.

    The model gave its answer (`prediction`), or one score for each label (`scores`, pairs of a
    label and its column; `scores_are` tells what kind of numbers), or the `probability` of the
    label `probability_of`, which it answered from `threshold` on. `fold` needs `split` and
    `row_id`; `row_id` alone names the person in what is taken along. The group's column may be
    crossed with others. `models` are columns of further models, to compare with the first: their
    answers or, of two labels, the probability of the favourable one.
    """

    client: str
    group: str
    label: str
    prediction: str = ""
    scores: tuple[tuple[str, str], ...] = ()
    split: str = ""
    fold: str = ""
    row_id: str = ""
    crossed_with: tuple[str, ...] = ()
    probability: str = ""
    probability_of: str = ""
    threshold: float = 0.5
    scores_are: str = "probabilities"
    models: tuple[str, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether a first model is named."""
        return bool(self.prediction or self.scores or self.probability)

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Every column of the group."""
        return (self.group, *self.crossed_with)


def guess_roles(upload: TableFile) -> ColumnRoles:
    """The likeliest columns by header, else by how many different values they have.

    A role that no column fits stays empty: a person will say.
    """
    left = list(upload.columns)
    roles: dict[str, Any] = {}
    for role, words in _WORDS.items():
        column = _by_header(left, words.split())
        if column:
            roles[role] = column
            left.remove(column)
    roles |= _guess_folds(upload, roles, left)
    row_id = _by_header(left, _ROW_ID.split())
    roles |= {"row_id": row_id} if row_id else {}
    left = [column for column in left if column not in roles.values()]
    scores = [column for column in left if _SCORE.search(column)]
    left = [column for column in left if column not in scores]
    for role in ("label", "group", "client"):
        if role not in roles:
            roles[role] = _by_values(upload, left, role)
            left = [column for column in left if column != roles[role]]
    found = ColumnRoles(**roles)
    if found.prediction or not found.label:
        return found
    labels = sorted(set(upload.sample[found.label]) - {""})
    pairs = guess_scores(labels, scores)
    if pairs:
        return replace(found, scores=pairs)
    if len(scores) == 1 and len(labels) == 2:
        of = label_by_name(scores[0], labels) or event_of(labels) or ""
        return replace(found, probability=scores[0], probability_of=of)
    if len(scores) == len(labels):
        return replace(found, scores=tuple((label, "") for label in labels))  # a person will pair
    return replace(found, prediction=_by_values(upload, left, "label"))


def _guess_folds(upload: TableFile, roles: dict[str, str], left: Sequence[str]) -> dict[str, str]:
    """A fold column with the column of row ids; one that says test in it is a split."""
    fold = _by_header(left, ["fold"])
    if not fold:
        return {}
    values = {value.strip().casefold() for value in upload.sample[fold]}
    if is_split(values):
        return {} if "split" in roles else {"split": fold}
    row_id = _by_header([column for column in left if column != fold], _ROW_ID.split())
    return {"fold": fold, "row_id": row_id} if row_id and "split" in roles else {}


def guess_scores(labels: Sequence[str], columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pair each label with the score column named after it; empty where names do not tell.

    Columns that look like scores are asked first, then all of them: a column may have just the
    label's name.
    """
    scores = [column for column in columns if _SCORE.search(column)]
    for among in (scores, columns):
        named = _named_after(labels, among)
        if named is not None:
            return tuple(zip(labels, named, strict=True))
    return ()


def _named_after(labels: Sequence[str], columns: Sequence[str]) -> tuple[str, ...] | None:
    """For each label the one column named after it; None unless each has its own."""
    fits = [[column for column in columns if label_by_name(column, (label,))] for label in labels]
    if not labels or any(len(own) != 1 for own in fits):
        return None
    return columns_by_name([own[0] for own in fits], labels)


def _bare(text: str) -> str:
    return re.sub(r"\W|_", "", text).casefold()


def _by_header(columns: Sequence[str], words: Sequence[str]) -> str:
    """The column that a word names: alone, else as a part of its header."""
    words_of = {column: re.split(r"[\W_]+", column.casefold()) for column in columns}
    for word in words:
        for column in columns:
            if _bare(column) == _bare(word):
                return column
    for word in words:
        for column in columns:
            if word in words_of[column] and not _SCORE.search(column):
                return column
    return ""


def _by_values(upload: TableFile, columns: Sequence[str], role: str) -> str:
    """A client column has more values than a group's, and both fewer than there are rows."""
    rows = max(map(len, upload.sample.values()), default=0)
    different = {column: len(set(upload.sample[column])) for column in columns}
    fits = [column for column in columns if 2 <= different[column] <= min(_MOST_NAMES, rows)]
    if not fits:
        return ""
    return max(fits, key=different.get) if role == "client" else min(fits, key=different.get)  # type: ignore[arg-type]


_LONGEST = 4000  # letters of a column's name


@dataclass(frozen=True)
class Reading:
    """All that a person chose for a file beside the file itself.

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
    usual = asdict(ColumnRoles("", "", ""))
    lists = [name for name, default in usual.items() if isinstance(default, tuple)]
    if not isinstance(value, dict) or not all(isinstance(value.get(one), list) for one in lists):
        raise InputError('"columns" must say which column is what; write it as the app does.')
    check_keys(value, set(usual), set(), '"columns"')
    threshold = value["threshold"]
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not 0 <= threshold <= 1:
        raise InputError('"threshold" must be a number from 0 to 1; correct it.')
    if value["scores_are"] not in SCORE_KINDS:
        raise InputError(f'"scores_are" must be one of {", ".join(SCORE_KINDS)}; correct it.')
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in value["scores"]):
        raise InputError('"scores" must be pairs of a label and its column; correct them.')
    taken: dict[str, Any] = {"threshold": float(threshold)}
    for name in usual.keys() - {"threshold"}:
        given = value[name]
        if name == "scores":
            taken[name] = tuple((_text(label, name), _text(one, name)) for label, one in given)
        elif name in lists:
            taken[name] = tuple(_text(one, name) for one in given)
        else:
            taken[name] = _text(given, name)
    return ColumnRoles(**taken)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InputError(
            f'"{shown(what)}" must be text of at most {_LONGEST:,} letters; shorten it.'
        )
    return value
