"""What a model says of people as scores: a table's columns, or an estimator's own method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import column_or_1d

from fairfl_core._io.names import as_name, listed
from fairfl_core.data.score_columns import (
    check_order,
    check_probability,
    label_by_name,
    order_columns,
    paired,
)
from fairfl_core.errors import InputError
from fairfl_core.predictors.predictor import Predictor

__all__ = [
    "Column",
    "ModelScores",
    "Table",
    "as_column",
    "as_columns",
    "as_target",
    "declared_classes",
    "method_of",
    "name_of",
]

Column: TypeAlias = Any  # an array, a list, or a column of pandas, polars or Arrow
Table: TypeAlias = Any
METHODS = ("predict_proba", "decision_function", "predict")


def method_of(estimator: Any, asked: str) -> str:
    """The estimator's method to call; of "auto" the first of `METHODS` that it has."""
    if asked not in ("auto", *METHODS):
        raise InputError(f'there is no predict_method "{asked}"; it is auto or {listed(METHODS)}.')
    found = [name for name in METHODS if asked in ("auto", name) and hasattr(estimator, name)]
    if not found:
        raise InputError(
            f"{type(estimator).__name__} has no {METHODS[0] if asked == 'auto' else asked}; give "
            "another predict_method, or another estimator."
        )
    return found[0]


@dataclass(frozen=True, eq=False)
class ModelScores:
    """A model's scores, shape (rows, columns), and the columns' names where they have some."""

    matrix: NDArray[np.float64]
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, scores: Table) -> "ModelScores":
        """Take scores of any library; names that only number the columns are none."""
        table = nw.from_native(scores, allow_series=True, pass_through=True)
        names: tuple[str, ...] | None = None
        if isinstance(table, nw.DataFrame):
            names = tuple(map(str, table.columns))
        elif isinstance(table, nw.Series) and table.name is not None:
            names = (str(table.name),)
        native = isinstance(table, nw.DataFrame | nw.Series)
        matrix = np.asarray(table.to_numpy() if native else scores, float)
        matrix = matrix.reshape(-1, 1) if matrix.ndim == 1 else matrix
        if names is not None and len(names) > 1:
            numbered = [str(place) for place in range(len(names))]
            if [name.removeprefix("column_") for name in names] == numbered:
                names = None
        return cls(matrix, names)

    @classmethod
    def of_estimator(
        cls, estimator: Any, X: Any, method: str, classes: NDArray[Any]
    ) -> "ModelScores":
        """Take what a fitted estimator says of rows, one column for each of `classes`.

        `method` is the one to call: ``predict_proba`` as it is, ``decision_function`` through the
        logistic function (of more than two classes the softmax), ``predict`` of a classifier as 1
        for its answer and 0 for the others, of a regressor as the second class's probability.
        """
        values = np.asarray(getattr(estimator, method)(X))
        if method == "decision_function":
            from scipy.special import expit, softmax

            values = expit(values) if values.ndim == 1 else softmax(values, axis=1)
        elif method == "predict" and not is_regressor(estimator):
            values = (values[:, None] == classes).astype(float)
        matrix = values.astype(float)
        matrix = np.column_stack([1 - matrix, matrix]) if matrix.ndim == 1 else matrix
        if matrix.ndim != 2 or matrix.shape[1] != len(classes):
            raise InputError(
                f"{method} of the estimator gives an array of shape {values.shape} for "
                f"{len(classes)} classes; give an estimator with one column a class."
            )
        return cls(matrix, None)

    def one_label(self, labels: tuple[str, ...], usual: str) -> str:
        """The label that a lone column is the probability of."""
        if len(labels) != 2:
            raise self._wrong_number(labels)
        return (self.names and label_by_name(self.names[0], labels)) or usual

    def column_labels(
        self, labels: tuple[str, ...], classes: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        """The label of each column: by name, or by the order of `classes`."""
        if self.matrix.shape[1] == 1:
            return (self.one_label(labels, (classes or labels)[-1]),)
        if self.matrix.shape[1] != len(labels):
            raise self._wrong_number(labels)
        if self.names is None:
            return classes or labels
        found = order_columns(self.names, classes or labels, ordered=classes is not None)
        if found is None:
            raise InputError(
                f"the names of the score columns {listed(self.names)} do not tell which label "
                f"each is of ({listed(labels)}); give `classes`, the labels in the order of the "
                "columns, or name each column after its label."
            )
        return tuple((classes or labels)[found.index(name)] for name in self.names)

    def column_labels_again(
        self, fitted: tuple[str, ...], predictor: Predictor
    ) -> tuple[str, ...]:
        """The label of each column of further people's scores, `fitted` being those of the first."""
        labels = predictor.labels
        if self.matrix.shape[1] == 1:
            return (self.one_label(labels, fitted[0] if len(fitted) == 1 else labels[-1]),)
        if self.matrix.shape[1] != len(labels):
            raise self._wrong_number(labels)
        if self.names is not None:
            by_column = {
                column: label for label, column in predictor.pair_scores(self.names).items()
            }
            return tuple(by_column[name] for name in self.names)
        if predictor.score_columns is not None and fitted != labels:
            raise InputError(
                "the scores have no names, and it was fitted where column "
                f"{paired(predictor.score_columns, labels)}; give a table with these names."
            )
        return fitted if len(fitted) == len(labels) else labels

    def _wrong_number(self, labels: Sequence[str]) -> InputError:
        return InputError(
            f"the scores have {self.matrix.shape[1]} columns for the labels {listed(labels)}; give "
            "one for each label, or of two labels the second's alone."
        )

    def ordered(self, columns: tuple[str, ...], labels: tuple[str, ...]) -> NDArray[np.float64]:
        """One column of scores for each label; `columns` are the labels of the given ones."""
        if len(columns) == 1:
            chance = self.matrix[:, 0]
            pair = [1 - chance, chance]
            return np.column_stack(pair if columns[0] == labels[1] else pair[::-1])
        return self.matrix[:, [columns.index(label) for label in labels]]

    def names_of(
        self, columns: tuple[str, ...], labels: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """The name of each label's column; None where one is missing."""
        if self.names is None or len(columns) == 1:
            return None
        return tuple(self.names[columns.index(label)] for label in labels)

    def check(
        self,
        columns: tuple[str, ...],
        labels: tuple[str, ...],
        truth: NDArray[np.int64],
        matrix: NDArray[np.float64],
    ) -> None:
        """Refuse an order of labels that people's own contradict; `matrix` is in that of labels."""
        answer = matrix.argmax(axis=1)
        if len(columns) == 1:
            other = labels[1 - labels.index(columns[0])]
            name = "scores" if self.names is None else self.names[0]
            check_probability(truth, answer, name, columns[0], other)
            return
        names = self.names_of(columns, labels)
        if names is None:
            names = tuple(f"[:, {columns.index(label)}]" for label in labels)
        how = "Give `classes`, the labels in the order of the columns."
        check_order(truth, answer, names, labels, how)


def declared_classes(
    classes: Sequence[Any] | None, labels: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The classes as names, after checking that they are the labels."""
    if classes is None:
        return None
    names = tuple(as_name(label) for label in classes)
    if sorted(names) != sorted(labels):
        raise InputError(
            f"`classes` are {listed(names)}, and y holds {listed(labels)}; give the labels of y "
            "in the order of the score columns."
        )
    return names


def as_column(values: Column, what: str) -> NDArray[Any]:
    """A column of any library as an array."""
    column = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(column, nw.DataFrame):
        if len(column.columns) != 1:
            raise InputError(f"{what} has {len(column.columns)} columns; give one.")
        column = column[column.columns[0]]
    array = column.to_numpy() if isinstance(column, nw.Series) else np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what} must be one column; it has {array.ndim} dimensions.")
    return array


def as_target(y: Column) -> NDArray[Any]:
    """The labels as an array; of a table with one column that column, as scikit-learn takes it."""
    column = nw.from_native(y, allow_series=True, pass_through=True)
    native = isinstance(column, nw.DataFrame | nw.Series)
    return np.asarray(column_or_1d(column.to_numpy() if native else y, warn=True))


def as_columns(values: Table, what: str) -> dict[str, NDArray[Any]]:
    """One column or several, by name; those without one are called `what` and numbered."""
    table = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(table, nw.DataFrame):
        return {str(name): table[name].to_numpy() for name in table.columns}
    if not isinstance(table, nw.Series) and np.ndim(values) == 2:
        matrix = np.asarray(values, object)
        return {f"{what} {k + 1}": matrix[:, k] for k in range(matrix.shape[1])}
    return {name_of(values) or what: as_column(values, what)}


def name_of(values: Column) -> str | None:
    """The name that a column has; None where it has none."""
    column = nw.from_native(values, allow_series=True, pass_through=True)
    named = isinstance(column, nw.Series) and column.name not in (None, "")
    return str(column.name) if named else None
