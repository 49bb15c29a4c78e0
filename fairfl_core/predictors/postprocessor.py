"""A fair classifier with scikit-learn's manners, for pipelines and model selection."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from fairfl_core._io.names import as_name, in_order, listed
from fairfl_core.data.coding import CodedPeople, check_two
from fairfl_core.data.columns import Coded, Grouping, code_names, cross
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData, check_scores
from fairfl_core.errors import InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import EpsLocal, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.model_scores import (
    Column,
    ModelScores,
    Table,
    as_column,
    as_columns,
    as_target,
    declared_classes,
    method_of,
    name_of,
)
from fairfl_core.predictors.predictor import Predictor

__all__ = ["FairPostprocessor"]

EVERYONE = "all"  # the client of all where none is given
_GROUP = "sensitive_features"


class FairPostprocessor(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The most accurate fair answers that a model's scores allow, in every client and overall.

    Give it a classifier and features, as fairlearn's `ThresholdOptimizer`, or no estimator and a
    model's probabilities in place of features. Columns and tables may be NumPy's, pandas',
    polars' or Arrow's.

    Parameters
    ----------
    notion : str
        What is compared between groups: ``"sp"``, ``"eop"``, ``"eo"`` or ``"eo-full"``; also
        by fairlearn's names, such as ``"demographic_parity"`` and ``"equalized_odds"``.
    region : str, optional
        ``"exact"`` looks at scores, ``"simplex"`` (the paper's) and ``"kernel"`` at answers only.
        If None, exact for two labels and the simplex for more.
    estimator : estimator, optional
        The model whose answers are made fair. If None, `X` holds a model's probabilities. It is
        fitted on the rows that the fair answers are chosen on: a model that knows these rows by
        heart looks better there than it is, so of such a model give one that was fitted on other
        rows, with `prefit`.
    prefit : bool
        Whether the estimator is fitted already and stays as it is.
    predict_method : {"auto", "predict_proba", "decision_function", "predict"}
        What the estimator is asked; of ``"auto"`` the first of these that it has.
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
    random_state : int, RandomState or None
        Seed of the draw where `predict` is given no row ids.

    Attributes
    ----------
    classes_ : ndarray
        The labels, as they were given.
    estimator_ : estimator
        The fitted model; only where an estimator was given.
    score_columns_ : tuple of str or None
        The columns that were taken for the labels' scores, in the order of `classes_`; None where
        the scores had no names.
    group_columns_ : tuple of str
        The sensitive features; of several, groups are their crossings.
    region_ : str
        The region it was fitted in.
    predictor_ : Predictor
        What was fitted; `predictor_.write(path)` saves it for `fairfl predict`.
    accuracy_, gap_global_ : float
        What it reaches on the people it was fitted on.

    Notes
    -----
    Under `sklearn.set_config(enable_metadata_routing=True)` pipelines, `cross_validate` and
    `GridSearchCV` hand `sensitive_features`, `client` and `row_id` on without further requests.

    Examples
    --------
    >>> fair = FairPostprocessor("eop", estimator=LogisticRegression())  # doctest: +SKIP
    >>> fair.fit(X, y, sensitive_features=sex, client=hospital)  # doctest: +SKIP
    >>> fair.predict(new, sensitive_features=new_sex, client=new_hospital)  # doctest: +SKIP
    """

    # What scikit-learn's routers hand on, once routing is enabled.
    __metadata_request__fit = {"sensitive_features": True, "client": True}
    __metadata_request__predict = {"sensitive_features": True, "client": True, "row_id": True}
    __metadata_request__predict_proba = {"sensitive_features": True, "client": True}
    __metadata_request__score = {"sensitive_features": True, "client": True}

    def __init__(
        self,
        notion: str = "eo",
        region: str | None = None,
        *,
        estimator: Any = None,
        prefit: bool = False,
        predict_method: str = "auto",
        eps_global: float = 0.05,
        eps_local: EpsLocal = 0.05,
        rates: str | None = None,
        confidence: float | None = None,
        favourable: Any = None,
        policy: Policy | None = None,
        random_state: Any = 0,
    ) -> None:
        self.notion = notion
        self.region = region
        self.estimator = estimator
        self.prefit = prefit
        self.predict_method = predict_method
        self.eps_global = eps_global
        self.eps_local = eps_local
        self.rates = rates
        self.confidence = confidence
        self.favourable = favourable
        self.policy = policy
        self.random_state = random_state

    def fit(
        self,
        X: Table,
        y: Column,
        *,
        sensitive_features: Table | None = None,
        client: Column | None = None,
        classes: Sequence[Any] | None = None,
        sample_weight: Column | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the estimator, if there is one, and the fair lottery on people with labels.

        Parameters
        ----------
        X : table
            Features of every row, for the estimator. Without one the model's probabilities, shape
            (rows, labels) or one column: a table's columns are taken by their names where these
            tell the label (``ill``, ``p_ill``, ``P(ill)``), else in the order of `classes`, which
            must then be given. An array's are in the order of `classes`: sorted unless given, as
            scikit-learn's `predict_proba` has them. Of two labels one column will do: that of the
            label it is named after, else the second's.
        y : column
            The true labels.
        sensitive_features : column or table
            The group of every row; several columns are crossed.
        client : column, optional
            The client of every row; all are one client, called "all", if None.
        classes : sequence, optional
            Without an estimator, the labels in the order of the score columns: the `classes_` of
            the model.
        sample_weight : column, optional
            What each row counts for (a survey's weights), also to an estimator that takes them.
            Rows are counted then, so that the region is one that looks at answers.
        **fit_params
            For the estimator's `fit`.
        """
        if y is None:
            raise InputError(
                "FairPostprocessor requires y to be passed, but the target y is None; give the "
                "true labels."
            )
        truth = as_target(y)
        groups = _groups(sensitive_features)
        rows = {**groups, "client": _clients(client, len(truth))}
        if sample_weight is not None:
            rows["sample_weight"] = as_column(sample_weight, "sample_weight").astype(float)
        for what, column in rows.items():
            if len(column) != len(truth):
                raise InputError(
                    f"{what} has {len(column)} rows, y has {len(truth)}; give one a row."
                )
        given = self._fit_estimator(X, y, sample_weight, fit_params)
        if given is None:
            given = ModelScores.of(X)
            self.classes_ = np.unique(truth)
        names = tuple(as_name(label) for label in self.classes_)
        if len(names) < 2:
            raise InputError("y has fewer than two labels; fairness of answers needs two or more.")
        if len(given.matrix) != len(truth):
            raise InputError(
                f"there are {len(given.matrix)} scores for {len(truth)} labels; give one a row."
            )
        codes = np.searchsorted(self.classes_, truth)
        if (codes == len(names)).any() or (self.classes_[codes] != truth).any():
            raise InputError(f"y holds labels that the estimator does not know ({listed(names)}).")
        self._column_labels_ = given.column_labels(names, declared_classes(classes, names))
        matrix = given.ordered(self._column_labels_, names)
        if self.estimator is None:  # of an estimator the order is known
            given.check(self._column_labels_, names, codes, matrix)
            self.n_features_in_ = given.matrix.shape[1]
        self.score_columns_ = given.names_of(self._column_labels_, names)
        self.group_columns_ = tuple(groups)
        weight = rows.get("sample_weight")
        coded = _people(rows["client"], groups, codes, matrix, names, self.score_columns_, weight)
        favourable = names[-1] if self.favourable is None else as_name(self.favourable)
        people: ScoredData | ClientCounts = (
            ScoredData.from_coded(coded, favourable)
            if weight is None
            else _counted(coded, favourable)
        )
        program = FairnessProgram(
            people,
            self.notion,
            self.region,
            rates=self.rates,
            guarantee=None if self.confidence is None else Guarantee(self.confidence),
            policy=self.policy or Policy(),
        )
        solution = program.solve(self.eps_global, self.eps_local)
        named = {"client": name_of(client), "group": _joined(groups), "label": name_of(y)}
        self.predictor_: Predictor = replace(
            predictor_of(solution),
            score_columns=self.score_columns_,
            columns={what: name for what, name in named.items() if name} or None,
        )
        self.region_ = solution.region
        self.accuracy_ = self.predictor_.reached.accuracy
        self.gap_global_ = self.predictor_.reached.gap_global
        return self

    def _fit_estimator(
        self, X: Table, y: Column, sample_weight: Column | None, fit_params: dict[str, Any]
    ) -> ModelScores | None:
        """Fit the estimator unless it is, and take its scores; None where there is no estimator."""
        if self.estimator is None:
            if fit_params:
                raise InputError(
                    f"fit has no {listed(list(fit_params))}: without an estimator there is nobody "
                    "to hand it to."
                )
            return None
        self.estimator_ = self.estimator
        if not self.prefit:
            given = dict(fit_params)
            if get_config()["enable_metadata_routing"]:
                weights = {} if sample_weight is None else {"sample_weight": sample_weight}
                given = process_routing(self, "fit", **fit_params, **weights).estimator.fit
            elif sample_weight is not None and has_fit_parameter(self.estimator, "sample_weight"):
                given["sample_weight"] = sample_weight
            self.estimator_ = clone(self.estimator).fit(X, y, **given)
        self.classes_ = np.asarray(getattr(self.estimator_, "classes_", np.unique(as_target(y))))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self._asked(X)

    def _asked(self, X: Table) -> ModelScores:
        """What the estimator says of rows."""
        method = method_of(self.estimator_, self.predict_method)
        return ModelScores.of_estimator(self.estimator_, X, method, self.classes_)

    def predict_proba(
        self,
        X: Table,
        *,
        sensitive_features: Table | None = None,
        client: Column | None = None,
    ) -> NDArray[np.float64]:
        """How probable each answer is for every row, before any draw: (rows, labels)."""
        seen = self._seen(X, sensitive_features, client)
        return self.predictor_.probabilities(*seen)

    def predict(
        self,
        X: Table,
        *,
        sensitive_features: Table | None = None,
        client: Column | None = None,
        row_id: Column | None = None,
        salt: str | None = None,
        random_state: Any = None,
    ) -> NDArray[Any]:
        """Draw an answer for every row.

        With `row_id` the same person always gets the same answer, and with a secret `salt` nobody
        can foresee it (see `Predictor.with_salt`). Without, the same rows do, by `random_state`;
        where that is None, by the estimator's own.
        """
        seen = self._seen(X, sensitive_features, client)
        if row_id is None:
            seed = self.random_state if random_state is None else random_state
            if isinstance(seed, np.random.RandomState):
                seed = seed.randint(2**31)
            drawn = self.predictor_.sample(*seen, seed=seed)
        else:
            fair = self.predictor_ if salt is None else self.predictor_.with_salt(salt)
            drawn = fair.decide(*seen, row_id=as_column(row_id, "row_id"), salt=salt)
        place = {name: k for k, name in enumerate(self.predictor_.labels)}
        return self.classes_[[place[name] for name in drawn]]

    def score(
        self,
        X: Table,
        y: Column,
        *,
        sensitive_features: Table | None = None,
        client: Column | None = None,
        sample_weight: Column | None = None,
    ) -> float:
        """Tell the expected accuracy: the mean probability that a row's answer is its label.

        It does not depend on a draw; the accuracy of `predict` has this mean.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features, client=client)
        right = as_target(y)[:, None] == self.classes_
        weight = None if sample_weight is None else as_column(sample_weight, "sample_weight")
        return float(np.average((chances * right).sum(axis=1), weights=weight))

    def _seen(
        self, X: Table, sensitive_features: Table | None, client: Column | None
    ) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """Client and group of every row, and what the predictor looks at."""
        check_is_fitted(self, "predictor_")
        names = tuple(as_name(label) for label in self.classes_)
        given = ModelScores.of(X) if self.estimator is None else self._asked(X)
        columns = given.column_labels_again(self._column_labels_, self.predictor_)
        matrix = given.ordered(columns, names)
        group = None
        if self.predictor_.needs_group:
            group = _names(self._same_columns(_groups(sensitive_features)))
        answers = np.array(self.predictor_.labels, object)[matrix.argmax(axis=1)]
        looked_at = matrix if self.predictor_.needs_scores else answers
        if client is None and self.predictor_.clients != (EVERYONE,):
            raise InputError(
                "give client, the client of every row "
                f"({', '.join(self.predictor_.clients)}); it was fitted with them."
            )
        return _clients(client, len(matrix)), group, looked_at

    def _same_columns(self, groups: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The sensitive features in the order in which they were crossed."""
        if set(groups) == set(self.group_columns_):
            return {name: groups[name] for name in self.group_columns_}
        if len(groups) != len(self.group_columns_):
            raise InputError(
                f"{_GROUP} has the columns {listed(list(groups))}, and it was fitted with "
                f"{listed(self.group_columns_)}; give these."
            )
        return groups

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn what is used here, and what the estimator asks for."""
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.estimator is not None:
            to_fit = MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=self.estimator, method_mapping=to_fit)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _groups(sensitive_features: Table | None) -> dict[str, NDArray[Any]]:
    if sensitive_features is None:
        raise InputError(
            f"give {_GROUP}, the group of every row. Pipelines, cross_validate and GridSearchCV "
            "hand it on to fit and score after sklearn.set_config(enable_metadata_routing=True). "
            "Nothing hands it on to predict: ask the search's best_estimator_, and leave `scoring` "
            "out."
        )
    return as_columns(sensitive_features, _GROUP)


def _joined(groups: dict[str, NDArray[Any]]) -> str | None:
    """The sensitive features' columns as `--group` takes them; None where they had no names."""
    return None if any(name.startswith(_GROUP) for name in groups) else ",".join(groups)


def _crossed(groups: dict[str, NDArray[Any]]) -> Coded:
    return cross([code_names(column, name) for name, column in groups.items()], tuple(groups))


def _names(groups: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The group of every row by name."""
    coded = _crossed(groups)
    return np.array(coded.names, object)[coded.codes]


def _clients(client: Column | None, rows: int) -> NDArray[Any]:
    """The client of every row."""
    if client is None:
        return np.full(rows, EVERYONE, object)
    named = as_column(client, "client")
    if len(named) != rows:
        raise InputError(f"there are {len(named)} clients for {rows} rows; give one a row.")
    return named


def _people(
    client: NDArray[Any],
    groups: dict[str, NDArray[Any]],
    label: NDArray[np.int64],
    scores: NDArray[np.float64],
    labels: tuple[str, ...],
    score_columns: tuple[str, ...] | None,
    weight: NDArray[np.float64] | None,
) -> CodedPeople:
    """Put columns of people together."""
    by_client, by_group = code_names(client, "client"), _crossed(groups)
    clients = in_order(by_client.names)
    seen = in_order(by_group.names) if len(groups) == 1 else by_group.names
    names = check_two(seen, " and ".join(groups), "group")
    return CodedPeople(
        client=np.asarray(by_client.among(clients), np.int64),
        group=np.asarray(by_group.among(names), np.int64),
        label=label,
        prediction=scores.argmax(axis=1),
        scores=scores,
        clients=clients,
        groups=names,
        labels=labels,
        grouping=Grouping.of_names(tuple(groups), names) if len(groups) > 1 else None,
        score_columns=score_columns,
        weight=weight,
    )


def _counted(coded: CodedPeople, favourable: str) -> ClientCounts:
    """Count people by their weights."""
    weight = coded.weight
    if weight is None or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise InputError("sample_weight holds numbers from 0 on, not all of them 0; correct it.")
    check_scores(coded.scores, coded.labels)
    return ClientCounts.from_people(coded, favourable)
