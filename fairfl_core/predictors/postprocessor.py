"""A fair predictor with scikit-learn's manners: fit, predict, predict_proba, get_params."""

from typing import Any, Self, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fairfl_core._io.names import as_name, listed
from fairfl_core.errors import InputError
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.predictors.load import predictor_of
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.solving.build import build_program
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.limits import EpsLocal
from fairfl_core.solving.policy import NOTHING_MORE, Policy

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
    region : str
        ``"exact"`` looks at scores, ``"simplex"`` (the paper's) and ``"kernel"`` at answers only.
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
        region: str = "exact",
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
        self, scores: Table, y: Column, *, sensitive_features: Column, client: Column | None = None
    ) -> Self:
        """Fit the fair lottery on people with labels.

        Parameters
        ----------
        scores : table of float, shape (rows, labels), or column of float
            The model's probabilities, labels in sorted order (or in the order of the columns'
            names, where these are the labels); of two labels one column will do, the second's.
        y : column
            The true labels.
        sensitive_features : column
            The group of every row.
        client : column, optional
            The client of every row; all are one client if None.
        """
        truth = _column(y, "y")
        self.classes_ = np.unique(truth)
        names = tuple(as_name(label) for label in self.classes_)
        if len(names) < 2:
            raise InputError("y has fewer than two labels; fairness of answers needs two or more.")
        matrix = self._scores(scores, len(truth))
        places = {f"score {place}": matrix[:, place] for place in range(len(names))}
        rows = places | {
            "label": np.array(names, object)[np.searchsorted(self.classes_, truth)],
            "group": _same_length(sensitive_features, "sensitive_features", truth),
            "client": self._clients(client, len(truth)),
        }
        people = ScoredPeople.from_table(
            rows,
            client="client",
            group="group",
            label="label",
            scores=list(places),
            labels=names,
            favourable=None if self.favourable is None else as_name(self.favourable),
        )
        guarantee = None if self.confidence is None else Guarantee(self.confidence)
        program = build_program(
            people,
            self.notion,
            self.region,
            rates=self.rates,
            guarantee=guarantee,
            policy=self.policy or NOTHING_MORE,
        )
        solution = program.solve(self.eps_global, self.eps_local)
        self.predictor_: Predictor = predictor_of(solution)
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
        matrix = self._scores(scores, None)
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

    def _scores(self, scores: Table, rows: int | None) -> NDArray[np.float64]:
        """One column of scores for each label, in the order of `classes_`."""
        labels = [as_name(label) for label in self.classes_]
        table = nw.from_native(scores, allow_series=True, pass_through=True)
        if isinstance(table, nw.DataFrame) and set(map(str, table.columns)) == set(labels):
            matrix = np.column_stack([table[name].to_numpy() for name in labels])
        elif isinstance(table, nw.DataFrame | nw.Series):
            matrix = np.asarray(table.to_numpy(), float)
        else:
            matrix = np.asarray(scores, float)
        matrix = np.asarray(matrix, float)
        if matrix.ndim == 1 or matrix.shape[1] == 1:
            second = matrix.reshape(-1)
            matrix = np.column_stack([1 - second, second])
        if matrix.shape[1] != len(labels):
            raise InputError(
                f"the scores have {matrix.shape[1]} columns for the labels {listed(labels)}; give "
                "one for each label, or of two labels the second's alone."
            )
        if rows is not None and len(matrix) != rows:
            raise InputError(f"there are {len(matrix)} scores for {rows} labels; give one a row.")
        return matrix


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
