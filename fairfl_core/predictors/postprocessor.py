"""A fair predictor with scikit-learn's manners: fit, predict, predict_proba, get_params."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fairfl_core._io.names import as_name, listed
from fairfl_core.data.score_columns import (
    check_order,
    check_probability,
    label_by_name,
    order_columns,
    paired,
)
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.limits import EpsLocal
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.predictor import Predictor

__all__ = ["FairPostprocessor"]

EVERYONE = "everyone"  # the client of all where none is named
Column: TypeAlias = Any  # an array, a list, or a column of pandas, polars or Arrow
Table: TypeAlias = Any


class FairPostprocessor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """The most accurate fair answers that a model's scores allow, in every client and overall.

    A post-processor: what it is given in place of features are the scores of a model that is
    trained already. Columns and tables may be NumPy's, pandas', polars' or Arrow's.

    Parameters
    ----------
    notion : str
        What is compared between groups: ``"sp"``, ``"eop"``, ``"eo"`` or ``"eo-full"``.
    region : str, optional
        ``"exact"`` looks at scores, ``"simplex"`` (the paper's) and ``"kernel"`` at answers only.
        If None, exact for two labels and the simplex for more: see `default_region`.
    eps_global, eps_local : float
        Gaps allowed overall (the paper's epsilon_0) and inside each client (epsilon_c); 1 asks
        for nothing. `eps_local` may be a mapping from client to limit.
    rates : str, optional
        Where rates come from: ``"labels"``, ``"scores"`` or ``"shrunk"``; the region's own if None.
    confidence : float, optional
        Ask that all limits hold at once on unseen people with this confidence.
    favourable : label, optional
        The answer that people want, for notions that ask; the last label if None.
    policy : Policy, optional
        What else is asked: floors, ratios, a utility, one rule for all groups.
    random_state : int
        Seed of the draw where `predict` is given no row ids.

    Attributes
    ----------
    classes_ : ndarray
        The labels, as they were given.
    score_columns_ : tuple of str or None
        The columns that were taken for the labels' scores, in the order of `classes_`; None where
        the scores had no names.
    region_ : str
        The region it was fitted in.
    predictor_ : Predictor
        What was fitted; `predictor_.write(path)` saves it for `fairfl predict`.
    accuracy_, gap_global_ : float
        What it reaches on the people it was fitted on.

    Examples
    --------
    >>> fair = FairPostprocessor("eop", eps_global=0.01, eps_local=0.05)
    >>> fair.fit(scores, y, sensitive_features=sex, client=hospital)  # doctest: +SKIP
    >>> fair.predict(new, sensitive_features=new_sex, client=new_hospital)  # doctest: +SKIP
    """

    def __init__(
        self,
        notion: str = "eo",
        region: str | None = None,
        *,
        eps_global: float = 0.05,
        eps_local: EpsLocal = 0.05,
        rates: str | None = None,
        confidence: float | None = None,
        favourable: Any = None,
        policy: Policy | None = None,
        random_state: int = 0,
    ) -> None:
        self.notion = notion
        self.region = region
        self.eps_global = eps_global
        self.eps_local = eps_local
        self.rates = rates
        self.confidence = confidence
        self.favourable = favourable
        self.policy = policy
        self.random_state = random_state

    def fit(
        self,
        scores: Table,
        y: Column,
        *,
        sensitive_features: Column,
        client: Column | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Fit the fair lottery on people with labels.

        Parameters
        ----------
        scores : table of float, shape (rows, labels), or column of float
            The model's probabilities. A table's columns are taken by their names where these tell
            the label (``ill``, ``p_ill``, ``P(ill)``), else in the order of `classes`, which must
            then be given. An array's are in the order of `classes`: sorted unless given, as
            scikit-learn's `predict_proba` has them. Of two labels one column will do: that of the
            label it is named after, else the second's.
        y : column
            The true labels.
        sensitive_features : column
            The group of every row.
        client : column, optional
            The client of every row; all are one client if None.
        classes : sequence, optional
            The labels in the order of the score columns: the `classes_` of the model.
        """
        truth = _column(y, "y")
        self.classes_ = np.unique(truth)
        names = tuple(as_name(label) for label in self.classes_)
        if len(names) < 2:
            raise InputError("y has fewer than two labels; fairness of answers needs two or more.")
        given = _Scores.of(scores)
        if len(given.matrix) != len(truth):
            raise InputError(
                f"there are {len(given.matrix)} scores for {len(truth)} labels; give one a row."
            )
        self._column_labels_ = given.column_labels(names, _declared(classes, names))
        matrix = given.ordered(self._column_labels_, names)
        codes = np.searchsorted(self.classes_, truth)
        given.check(self._column_labels_, names, codes, matrix)
        self.score_columns_ = given.names_of(self._column_labels_, names)
        places = {name: f"score {place}" for place, name in enumerate(names)}
        rows = {column: matrix[:, k] for k, column in enumerate(places.values())} | {
            "label": np.array(names, object)[codes],
            "group": _same_length(sensitive_features, "sensitive_features", truth),
            "client": self._clients(client, len(truth)),
        }
        people = ScoredData.from_table(
            rows,
            client="client",
            group="group",
            label="label",
            scores=places,
            labels=names,
            favourable=None if self.favourable is None else as_name(self.favourable),
        )
        guarantee = None if self.confidence is None else Guarantee(self.confidence)
        program = FairnessProgram(
            people,
            self.notion,
            self.region,
            rates=self.rates,
            guarantee=guarantee,
            policy=self.policy or Policy(),
        )
        solution = program.solve(self.eps_global, self.eps_local)
        self.predictor_: Predictor = replace(
            predictor_of(solution), score_columns=self.score_columns_
        )
        self.region_ = solution.region
        self.accuracy_ = self.predictor_.reached.accuracy
        self.gap_global_ = self.predictor_.reached.gap_global
        self.n_features_in_ = matrix.shape[1]
        return self

    def predict_proba(
        self,
        scores: Table,
        *,
        sensitive_features: Column | None = None,
        client: Column | None = None,
    ) -> NDArray[np.float64]:
        """How probable each answer is for every row, before any draw: (rows, labels)."""
        return self.predictor_.probabilities(*self._seen(scores, sensitive_features, client))

    def predict(
        self,
        scores: Table,
        *,
        sensitive_features: Column | None = None,
        client: Column | None = None,
        row_id: Column | None = None,
    ) -> NDArray[Any]:
        """Draw an answer for every row.

        With `row_id` the same person always gets the same answer; without, the same rows do,
        by `random_state`.
        """
        seen = self._seen(scores, sensitive_features, client)
        if row_id is None:
            drawn = self.predictor_.sample(*seen, seed=self.random_state)
        else:
            drawn = self.predictor_.decide(*seen, row_id=_column(row_id, "row_id"))
        place = {name: k for k, name in enumerate(self.predictor_.labels)}
        return self.classes_[[place[name] for name in drawn]]

    def _seen(
        self, scores: Table, sensitive_features: Column | None, client: Column | None
    ) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """Client and group of every row, and what the predictor looks at."""
        check_is_fitted(self, "predictor_")
        names = tuple(as_name(label) for label in self.classes_)
        given = _Scores.of(scores)
        columns = given.column_labels_again(self._column_labels_, self.predictor_)
        matrix = given.ordered(columns, names)
        group = None if sensitive_features is None else _column(sensitive_features, "groups")
        answers = np.array(self.predictor_.labels, object)[matrix.argmax(axis=1)]
        looked_at = matrix if self.predictor_.needs_scores else answers
        return self._clients(client, len(matrix)), group, looked_at

    def _clients(self, client: Column | None, rows: int) -> NDArray[Any]:
        if client is None:
            return np.full(rows, EVERYONE, object)
        named = _column(client, "client")
        if len(named) != rows:
            raise InputError(f"there are {len(named)} clients for {rows} rows; give one a row.")
        return named


@dataclass(frozen=True, eq=False)
class _Scores:
    """A model's scores, shape (rows, columns), and the columns' names where they have some."""

    matrix: NDArray[np.float64]
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, scores: Table) -> "_Scores":
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


def _declared(classes: Sequence[Any] | None, labels: tuple[str, ...]) -> tuple[str, ...] | None:
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


def _column(values: Column, what: str) -> NDArray[Any]:
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


def _same_length(values: Column, what: str, like: NDArray[Any]) -> NDArray[Any]:
    column = _column(values, what)
    if len(column) != len(like):
        raise InputError(f"{what} has {len(column)} rows, y has {len(like)}; give one a row.")
    return column
