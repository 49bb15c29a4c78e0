"""What a predictor does on given people: exact expectations, and how sure they are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.frames import long_table, notebook_html, records, to_frame
from fairfl_core._io.numbers import count, gap, gaps, percent
from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InputError, check_type
from fairfl_core.evaluation.before_after import LEVEL, Z, with_overall
from fairfl_core.fairness.intervals import (
    at_once,
    expected_gap,
    gap_bounds,
    gap_interval,
    rate_bounds,
    wilson,
)
from fairfl_core.fairness.notions import (
    Gaps,
    NotAssessable,
    Notion,
    not_assessable,
    number_or_none,
    spread,
)
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.predictors.kinds import FairPredictor
from fairfl_core.predictors.predictor import Asked, People, Predictor

if TYPE_CHECKING:
    import pandas as pd

    from fairfl_core.evaluation.harm import Alarm, Harm
    from fairfl_core.evaluation.verdict import Verdict

FORMAT = "fairfl-evaluation/1"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Debiased:
    """How far apart groups really are inside clients, once chance is taken out.

    A gap squared, less its variance, estimates the true gap squared without bias. `gap` is the
    root of the mean over clients, rates and pairs of groups, with the mean's sign kept: below
    zero means that chance alone explains more than was seen.
    """

    gap: float
    clients: int
    left_out: int


@dataclass(frozen=True, eq=False)
class Scoped:
    """What stands behind rates, everyone first, then each client: (scopes, groups, rates).

    Attributes
    ----------
    answered : ndarray
        Expected people whom each rate counts.
    people : ndarray
        Those it is a share of.
    effective : ndarray
        As many unweighted people as would tell as much.
    """

    answered: Floats
    people: Floats
    effective: Floats

    @cached_property
    def rate(self) -> Floats:
        """Each rate; 0 where nobody is behind it."""
        return np.nan_to_num(_share(self.answered, self.people))

    @cached_property
    def gap(self) -> Floats:
        """The largest gap between two groups over rates; NaN where there is none."""
        return spread(self.answered, self.people)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Answers on people. Everything is computed from expected counts, nothing drawn.

    Attributes
    ----------
    counts : ClientCounts
        The people it is judged on: how many of each client, group and label.
    notion : Notion
    answers : Answers
        What they are answered, in expectation.
    own : Answers
        What the model itself answers them.
    attention : ndarray, shape (clients, groups), optional
        How much of each cell's lottery looks at the model; None for answers of no lottery.
    asked : Asked, optional
        What the predictor was asked for; None for answers of no predictor.
    lottery : ndarray, shape (clients, groups, labels, labels), optional
        Pr(answer k | the model says j), where rows without a group are to be bounded.
    """

    counts: ClientCounts
    notion: Notion
    answers: Answers
    own: Answers
    attention: Floats | None = None
    asked: Asked | None = None
    lottery: Floats | None = None

    # ---------------------------------------------------------------- what is reported first

    @cached_property
    def verdict(self) -> "Verdict | None":
        """Whether the limits asked are met on these people, taken as new ones; in four words.

        None where no limit was asked for.
        """
        from fairfl_core.evaluation.verdict import verdict_of

        if self.asked is None:
            return None
        asked = self.asked
        limits = (asked.eps_global, asked.eps_local, asked.guarantee)
        return verdict_of([self], *limits, policy=asked.policy, harm=self.harm)

    @cached_property
    def harm(self) -> "Harm":
        """What becomes of every label in every client and group."""
        from fairfl_core.evaluation.harm import harm_of

        return harm_of([self])

    @property
    def alarms(self) -> "tuple[Alarm, ...]":
        """Who is worse off, or may be; those first where most people are, beyond chance."""
        return self.harm.alarms

    @property
    def confusion(self) -> Floats:
        """Expected people by client, group, label and answer."""
        return self.answers.confusion

    @property
    def squares(self) -> Floats:
        """Sums of squared answer probabilities, likewise."""
        return self.answers.squares

    # ---------------------------------------------------------------- expectations

    @property
    def scopes(self) -> tuple[str | None, ...]:
        """Where all that is `scoped` is reported: overall (None) first, then in each client."""
        return None, *self.counts.clients

    @cached_property
    def scoped(self) -> "Scoped":
        """The people whom rates count, overall and in each client."""
        n_label, weighting = self.counts.n_label, self.counts.weighting
        people = with_overall(self.notion.people(n_label))
        effective = people
        if weighting is not None:
            own, pooled = (
                weighting.effective(people[1:], self.notion.given, pooled=pooled)
                for pooled in (False, True)
            )
            effective = np.concatenate([pooled[None], own])
        return Scoped(with_overall(self.notion.answered(self.confusion)), people, effective)

    @property
    def people(self) -> Floats:
        """People behind each rate, shape (clients, groups, rates)."""
        return self.scoped.people[1:]

    @property
    def effective(self) -> Floats:
        """As many unweighted people as would tell as much: `people`, unless they are weighted."""
        return self.scoped.effective[1:]

    @property
    def answered(self) -> Floats:
        """Expected people whom each rate counts."""
        return self.scoped.answered[1:]

    @property
    def rates(self) -> Floats:
        """Each cell's rates; NaN where nobody is behind one."""
        return _share(self.answered, self.people)

    @property
    def accuracy(self) -> float:
        """Expected share of right answers."""
        return float(np.einsum("cayy->", self.confusion) / self.counts.n)

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        """Wilson limits of the accuracy."""
        low, high = wilson(np.array(self.accuracy), np.array(self.counts.n), Z)
        return float(low), float(high)

    @property
    def client_accuracy(self) -> Floats:
        """Expected share of right answers in each client."""
        return _share(np.einsum("cayy->c", self.confusion), self.counts.n_client)

    @cached_property
    def gaps(self) -> Gaps:
        """Gaps of the expected rates (the lottery's own chance averaged out)."""
        overall, *local = self.scoped.gap
        return Gaps(float(overall), np.array(local))

    @property
    def changed(self) -> Floats:
        """Expected share of each group's people whose answer is not the model's."""
        return _share(self.answers.turned.sum(axis=0), self.counts.table.sum(axis=(0, 2, 3)))

    # ---------------------------------------------------------------- uncertainty

    @cached_property
    def gap_limits(self) -> tuple[Floats, Floats]:
        """Limits of each gap on its own, the overall one first."""
        return gap_interval(self.scoped.rate, self.scoped.effective, LEVEL)

    @property
    def local_interval(self) -> tuple[Floats, Floats]:
        """Limits of each client's gap, each on its own."""
        low, high = self.gap_limits
        return low[1:], high[1:]

    @property
    def global_interval(self) -> tuple[float, float]:
        """Limits of the global gap."""
        low, high = self.gap_limits
        return float(low[0]), float(high[0])

    @cached_property
    def unknown(self) -> "tuple[Floats, Floats] | None":
        """Least and largest gaps, overall first, whatever groups the rows without one have.

        None unless the counts hold such rows.
        """
        missing = self.counts.missing
        if missing is None or missing.table is None or self.lottery is None:
            return None
        given, asked = self.notion.given, self.notion.asked
        many = np.einsum("cyj,ry->crj", np.asarray(missing.table, float), given)
        chance = np.einsum("cajk,rk->carj", self.lottery, asked)
        many = np.broadcast_to(many[:, None], chance.shape)
        scoped = self.scoped
        local = gap_bounds(*rate_bounds(self.answered, self.people, chance, many))
        flat = [np.moveaxis(part, 0, 2).reshape(*part.shape[1:3], -1) for part in (chance, many)]
        overall = gap_bounds(*rate_bounds(scoped.answered[0], scoped.people[0], *flat))
        low, high = (np.append(first, rest) for first, rest in zip(overall, local, strict=True))
        return low, high

    @property
    def compared_clients(self) -> int:
        """Clients that have a gap."""
        return int((~np.isnan(self.gaps.local)).sum())

    def interval_at_once(self, client: int) -> tuple[float, float]:
        """Limits of one client's gap by intervals that hold for all clients at once.

        They hold for a client that was chosen because its gap is the largest.
        """
        rates, people = np.nan_to_num(self.rates[client]), self.effective[client]
        low, high = gap_interval(rates, people, at_once(LEVEL, self.compared_clients))
        return float(low), float(high)

    def reported_interval(self, client: int | None = None) -> tuple[float, float]:
        """Limits of the gap that is reported of everyone (None), or of the client that is worst.

        The verdict's where it judges them, so that one gap has one interval; else its own, or the
        one that holds for all clients at once.
        """
        name = None if client is None else self.counts.clients[client]
        found = self.verdict and self.verdict.interval_of(name, self.compared_clients)
        if found:
            return found
        return self.global_interval if client is None else self.interval_at_once(client)

    @cached_property
    def one_draw(self) -> Floats:
        """Expected gap in one realised draw, the overall one first: larger, as a lottery has luck."""
        people = self.scoped.people
        # Sums of p_i (1 - p_i): the lottery's own chance, the people held fixed.
        chance = self.notion.answered(np.maximum(self.confusion - self.squares, 0.0))
        variance = np.nan_to_num(_share(with_overall(chance), people**2))
        return expected_gap(self.scoped.rate, variance, people > 0)

    @cached_property
    def noise_floor(self) -> Floats:
        """The gap that a perfectly fair predictor would show on so few people, per client.

        Every group gets the client's pooled rate; the gap is the one expected from sampling
        people alone. Like `gaps` it is in expectation over the lottery: a person counts with
        the probability of their answer, whose variance is the model's own 0-1 one only where
        nothing is drawn.
        """
        people = self.people.sum(axis=1)
        pooled = np.nan_to_num(_share(self.answered.sum(axis=1), people))
        second = np.nan_to_num(_share(self.notion.answered(self.squares).sum(axis=1), people))
        each = np.maximum(second - pooled**2, 0.0)[:, None, :] / np.maximum(self.people, 1e-9)
        mean = np.broadcast_to(pooled[:, None, :], self.people.shape)
        return expected_gap(mean, each, self.people > 0)

    def debiased(self, clients: NDArray[np.int64] | None = None) -> Debiased:
        """The debiased local gap of these clients (positions; default all)."""
        chosen = np.arange(len(self.counts.clients)) if clients is None else clients
        rate, people = self.scoped.rate[1:][chosen], self.people[chosen]
        second = np.nan_to_num(_share(self.notion.answered(self.squares)[chosen], people))
        noise = np.maximum(second - rate**2, 0.0) / np.maximum(people - 1, 1e-9)  # unbiased
        enough = people >= 2  # one person gives no variance, and says nothing
        squares, counted = np.zeros(len(chosen)), np.zeros(len(chosen))
        for a, b in combinations(range(rate.shape[1]), 2):
            usable = enough[:, a] & enough[:, b]
            square = (rate[:, a] - rate[:, b]) ** 2 - noise[:, a] - noise[:, b]
            squares += np.where(usable, square, 0.0).sum(axis=1)
            counted += usable.sum(axis=1)
        used = counted > 0
        if not used.any():
            return Debiased(float("nan"), 0, len(chosen))
        mean = float((squares[used] / counted[used]).mean())
        root = float(np.sign(mean) * np.sqrt(abs(mean)))
        return Debiased(root, int(used.sum()), int((~used).sum()))

    @property
    def larger_half(self) -> NDArray[np.int64]:
        """Positions of the larger half of the clients: small ones have useless variances."""
        order = np.argsort(-self.counts.n_client, kind="stable")
        return np.sort(order[: (len(order) + 1) // 2])

    # ---------------------------------------------------------------- before, tables, JSON

    @cached_property
    def before(self) -> "Evaluation":
        """The model's own answers on the same people."""
        own = np.broadcast_to(np.eye(len(self.counts.labels)), self.counts.table.shape)
        lottery = None if self.lottery is None else own
        return Evaluation(self.counts, self.notion, self.own, self.own, lottery=lottery)

    @property
    def not_assessable(self) -> tuple[NotAssessable, ...]:
        """Cells that cannot be judged because nobody is in them."""
        return not_assessable(self.notion, self.counts)

    def to_frame(self) -> "pd.DataFrame":
        """The table of clients; `group_table` and `rate_table` are the others."""
        return self.client_table()

    def metrics(self) -> dict[str, float]:
        """The figures of all clients by name, for a logger such as MLflow; undefined ones left out."""
        found = {
            "n": self.counts.n,
            "accuracy": self.accuracy,
            "accuracy_low": self.accuracy_interval[0],
            "accuracy_high": self.accuracy_interval[1],
            "accuracy_before": self.before.accuracy,
            "gap_global": self.gaps.overall,
            "gap_global_low": self.global_interval[0],
            "gap_global_high": self.global_interval[1],
            "gap_global_before": self.before.gaps.overall,
            "gap_local_mean": self.gaps.local_mean,
            "gap_local_worst": self.gaps.local_worst,
            "gap_local_worst_before": self.before.gaps.local_worst,
        }
        return {name: float(value) for name, value in found.items() if value == value}

    def plot(self) -> Any:
        """Draw each client's gap before and after with its interval: a Plotly figure."""
        from fairfl_core.explore.charts import client_gaps

        clients = self.counts.clients
        asked = np.ones(len(clients)) if self.asked is None else self.asked.eps_local
        columns = {"client": clients, **self.client_columns(), "eps_local": asked}
        return client_gaps(columns, self.verdict, self.counts.groups)

    def model_card(
        self,
        format: str = "md",
        *,
        title: str = "A fair predictor",
        dataset: str = "the people it was judged on",
        license: str | None = None,
    ) -> str:
        """Write its model card.

        Parameters
        ----------
        format : {"md", "html", "hf"}
            Markdown, one HTML file, or Markdown below the block of metadata that Hugging Face's
            hub reads.
        title, dataset : str
            What the predictor, and the people it was judged on, are called.
        license : str, optional
            For Hugging Face: an identifier such as ``apache-2.0``.
        """
        from fairfl_core.report.model_card import card_of_evaluation

        return card_of_evaluation(self, title=title, dataset=dataset, license=license).write(
            format
        )

    def _repr_html_(self) -> str:
        verdict = [] if self.verdict is None else [f"{self.verdict.word}. {self.verdict.why}"]
        return notebook_html(
            f"Evaluation on {count(self.counts.n)} people: {self.notion.name}",
            [
                *verdict,
                f"{percent(self.accuracy)} right, {percent(self.before.accuracy)} by the model. "
                f"Overall gap {gap(self.gaps.overall)} (95 %: {gaps(*self.global_interval)}), "
                f"{gap(self.before.gaps.overall)} before.",
            ],
            ["client", "people", "accuracy before", "accuracy", "gap before", "gap", "95 %"],
            self.client_rows(),
            len(self.counts.clients),
        )

    def client_rows(self) -> Iterator[tuple[str, ...]]:
        """The client table as text: people, accuracy before and after, gap before, after, limits."""
        figures = zip(*self.client_columns().values(), strict=True)
        for name, (n, *shares, before, after, low, high) in zip(
            self.counts.clients, figures, strict=True
        ):
            accuracy = map(percent, shares)
            yield name, count(n), *accuracy, gap(before), gap(after), gaps(low, high)

    def client_table(self) -> "pd.DataFrame":
        """One row a client: size, accuracy, gap before and after with its limits and floors."""
        columns = self.client_columns() | self.chance_columns()
        return to_frame({"client": self.counts.clients, **columns})

    def client_columns(self) -> dict[str, Floats]:
        """The figures of the client table, each of shape (clients,)."""
        low, high = self.local_interval
        return {
            "n": self.counts.n_client,
            "accuracy_before": self.before.client_accuracy,
            "accuracy": self.client_accuracy,
            "gap_before": self.before.gaps.local,
            "gap": self.gaps.local,
            "gap_low": low,
            "gap_high": high,
        }

    def chance_columns(self) -> dict[str, Floats]:
        """What chance alone does to each client's gap: two further columns of the client table."""
        return {"gap_one_draw": self.one_draw[1:], "noise_floor": self.noise_floor}

    def group_table(self) -> "pd.DataFrame":
        """One row a group over all clients: size, accuracy, share of changed answers."""
        return to_frame({"group": self.counts.groups, **self.group_columns()})

    def group_columns(self) -> dict[str, Floats]:
        """The figures of the group table, each of shape (groups,)."""
        people = self.counts.table.sum(axis=(0, 2, 3))
        return {
            "n": people,
            "accuracy_before": _share(np.einsum("cayy->a", self.before.confusion), people),
            "accuracy": _share(np.einsum("cayy->a", self.confusion), people),
            "changed": self.changed,
        }

    def rate_table(self) -> "pd.DataFrame":
        """One row a client, group and rate: people behind it, before, after, Wilson limits."""
        return to_frame(self.rate_columns())

    def rate_columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the rate table, each of shape (clients x groups x rates,)."""
        low, high = wilson(np.nan_to_num(self.rates), self.effective, Z)
        axes = {
            "client": self.counts.clients,
            "group": self.counts.groups,
            "rate_of": [str(rate) for rate in self.notion.rates],
        }
        figures = {
            "n": self.people,
            "rate_before": self.before.rates,
            "rate": self.rates,
            "rate_low": np.where(self.people > 0, low, np.nan),
            "rate_high": np.where(self.people > 0, high, np.nan),
        }
        return long_table(axes, figures)

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-evaluation/1` form."""
        worst = self.gaps.worst
        low, high = self.reported_interval()
        return self._missing_group() | {
            "format": FORMAT,
            "notion": self.notion.name,
            "n": self.counts.n,
            "noisy": self.counts.noisy,
            "level": LEVEL,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "model_accuracy": self.before.accuracy,
            "gap": {
                "global": number_or_none(self.gaps.overall),
                "global_interval": [number_or_none(low), number_or_none(high)],
                "global_one_draw": number_or_none(self.one_draw[0]),
                "local": dict(
                    zip(self.counts.clients, map(number_or_none, self.gaps.local), strict=True)
                ),
                "local_mean": number_or_none(self.gaps.local_mean),
                "local_left_out": int(np.isnan(self.gaps.local).sum()),
                "local_worst": None
                if worst is None
                else {
                    "client": self.counts.clients[worst],
                    "gap": float(self.gaps.local[worst]),
                    "interval": list(self.reported_interval(worst)),
                    "worst_of": self.compared_clients,
                },
                "local_debiased": {
                    name: vars(value) | {"gap": number_or_none(value.gap)}
                    for name, value in (
                        ("all", self.debiased()),
                        ("larger_half", self.debiased(self.larger_half)),
                    )
                },
            },
            "model_gap": {
                "global": number_or_none(self.before.gaps.overall),
                "local_mean": number_or_none(self.before.gaps.local_mean),
            },
            "clients": records(
                {"client": self.counts.clients, **self.client_columns(), **self.chance_columns()}
            ),
            "groups": records({"group": self.counts.groups, **self.group_columns()}),
            "rates": records(self.rate_columns()),
            "not_assessable": [vars(cell) for cell in self.not_assessable],
        }

    def _missing_group(self) -> dict[str, Any]:
        """The least and the largest gaps, whatever groups the rows without one have."""
        if self.unknown is None or self.counts.missing is None:
            return {}
        overall, *local = [[*map(number_or_none, ends)] for ends in np.transpose(self.unknown)]
        by_client = dict(zip(self.counts.clients, local, strict=True))
        rows = self.counts.missing.rows
        return {"missing_group": {"rows": rows, "gap_global": overall, "gap_local": by_client}}


def evaluate(
    predictor: Predictor, people: People, policy: "PolicyFile | None" = None
) -> Evaluation:
    """Judge a predictor on any people of its clients: fitted, test, noisy or true.

    A predictor of the exact region looks at scores and needs `ScoredData`; to any other one
    their counts say everything. `FoldedData` are answered by a mixture of fold models. With a
    policy it is judged by the notion and limits of that, not by those it was solved for.
    """
    check_type(predictor, Predictor, "the predictor", "one, such as Predictor.from_solution(…)")
    kinds = (ClientCounts, ScoredData, FoldedData)
    check_type(people, kinds, "what holds the people", "ClientCounts, ScoredData or FoldedData")
    name = predictor.notion if policy is None else policy.notion
    notion = Notion.of(name, people.labels, predictor.favourable)
    judged = evaluate_answers(predictor.answers_to(people), people, notion)
    clients = people.counts.clients
    asked = Asked.of(predictor, clients)
    if policy is not None:
        asked = Asked.by_policy(policy, predictor, clients)
    asked.policy.check(people.counts)
    attention, lottery = predictor.attention_to(people), _lottery(predictor, people.counts)
    return replace(judged, attention=attention, asked=asked, lottery=lottery)


def _lottery(predictor: Predictor, counts: ClientCounts) -> Floats | None:
    """The lottery over the model's answers, where rows without a group are to be bounded."""
    if counts.missing is None or counts.missing.table is None:
        return None
    if not isinstance(predictor, FairPredictor):
        raise InputError(
            "the worst case over missing groups is computed for predictors that look at the model's "
            "answer; choose --missing-group drop or own for one that looks at scores."
        )
    return predictor.lottery_for(counts)


def evaluate_answers(answers: Answers, people: People, notion: Notion) -> Evaluation:
    """Judge whatever answers people are given."""
    return Evaluation(people.counts, notion, answers, people.own_answers)


def _share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    whole = np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
