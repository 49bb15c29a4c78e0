"""Regions: which rules a cell (client, group) may mix, from the paper's to the largest."""

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from fairfl_core.budget import MEGABYTE, afford
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.rate_estimates import Measured, counts_by, measured
from fairfl_core.lp.rules import AnswerRules, RuleTable, ScoreRules

if TYPE_CHECKING:
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.histograms import ScoreHistogram
    from fairfl_core.lp.policy import Policy

__all__ = [
    "AnswerRules",
    "FittedOn",
    "RegionKind",
    "RegionRules",
    "default_rates",
    "default_region",
    "default_region_sentence",
    "region_kind",
    "region_names",
    "register_region",
]

FittedOn: TypeAlias = "ScoredData | ClientCounts | ScoreHistogram | Measured"


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionRules:
    """The rules of a region on some people.

    Attributes
    ----------
    counts : ClientCounts
        What the program sees: counted, or estimated by its `rates`.
    people : ClientCounts or ScoredData
        Whom it is fitted on, with their labels: what was reached is judged on them.
    rates : str
    rules : AnswerRules or ScoreRules
        What the rules are.
    table : RuleTable
        What each does.
    calibration : Calibration, optional
        What scores must go through before a rule looks at them.
    measured : Measured, optional
        Where rules of scores come from; more are found where not all are listed in `table`.
    """

    counts: ClientCounts
    people: ClientCounts | ScoredData
    rates: str
    rules: AnswerRules | ScoreRules
    table: RuleTable
    calibration: Calibration | None = None
    measured: Measured | None = None


class RegionKind(ABC):
    """What a region is before it meets people; a new one is one more class here.

    Attributes
    ----------
    name : str
        Its name on the command line, in files and in links.
    title, meaning : str
        Its name in words, and what its lottery may do, in one sentence.
    needs_scores : bool
        Whether its rules look at scores, so that counts do not suffice.
    default_rates : str
        The rates that delivered best on unseen people: see docs/rates.md.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    needs_scores: ClassVar[bool] = False
    default_rates: ClassVar[str] = "labels"

    def refusal(self, notion: Notion) -> str | None:
        """Why it cannot serve a notion, as a sentence; None where it can."""
        return None

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """Its rules for these labels, where they look at the model's answer only."""
        raise InputError(
            f'the region "{self.name}" looks at scores, which counts do not hold; choose one of '
            f"{', '.join(region_names(scores=False))}, or give the scores."
        )

    def rules(
        self, people: FittedOn, rates: str, guarantee: "Guarantee | None", policy: "Policy"
    ) -> RegionRules:
        """Return its rules on these people, and what each does; here those of `answer_rules`."""
        if not isinstance(people, ScoredData | ClientCounts):
            raise InputError(
                f'the region "{self.name}" looks at the model\'s answers: give counts, or the table '
                "of scores, not a histogram of them."
            )
        counts = counts_by(people, rates)
        rules = self.answer_rules(counts.labels)
        if guarantee is not None:
            rules = rules.with_constants()
        clients, groups, labels, _ = counts.table.shape
        many = len(rules.block)
        # Each rule holds a confusion matrix of floats; ten copies at the worst moment (measured).
        afford(
            10 * 8 * clients * groups * many * labels**2 / MEGABYTE,
            f"a program of {clients:,} clients, {groups} groups and {labels} labels with "
            f"{many:,} rules a group",
            "choose the paper's region, another notion, or join labels, groups or clients",
        )
        table = rules.table(counts.table)
        return RegionRules(counts=counts, people=people, rates=rates, rules=rules, table=table)


_KINDS: dict[str, RegionKind] = {}


def register_region(kind: type[RegionKind]) -> type[RegionKind]:
    """Make a region known by its name; used as a decorator."""
    _KINDS[kind.name] = kind()
    return kind


@register_region
class Simplex(RegionKind):
    """The model's own answer and each constant one, mixed by beta_0 ... beta_N (equation (8)).

    The region of the paper's eo and eop program.
    """

    name = "simplex"
    title = "simplex (the paper's)"
    meaning = "The lottery keeps the model's answer or gives a fixed one."

    def refusal(self, notion: Notion) -> str | None:
        """It cannot move every Pr(answer | label) on its own."""
        if not notion.counts_errors:
            return None
        return (
            f'the notion "{notion.name}" needs the region "kernel": the simplex has too few rules '
            "to move every Pr(answer | label); choose --region kernel."
        )

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """The model's answer first, then the constants."""
        n = len(labels)
        one = np.eye(n)
        constants = np.broadcast_to(one[:, None, :], (n, n, n))
        return AnswerRules(
            labels=labels,
            response=np.concatenate([one[None], constants]),
            block=np.zeros(n + 1, np.int64),
            keeps=np.arange(n + 1) == 0,
            names=("keeps the model's answer", *(f"always “{label}”" for label in labels)),
        )


@register_region
class Kernel(RegionKind):
    """Rules like "when the model says j, answer k", weight kappa[k given j]; contains the simplex.

    The region of the paper's SP program, for every notion.
    """

    name = "kernel"
    title = "kernel (more freedom)"
    meaning = "The lottery may look at the model's answer before it gives another."

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """For each answer of the model a block of N answers."""
        n = len(labels)
        one = np.eye(n)
        predicted, answer = np.divmod(np.arange(n * n), n)
        return AnswerRules(
            labels=labels,
            response=np.einsum("pj,qk->pqjk", one, one).reshape(n * n, n, n),
            block=predicted,
            keeps=predicted == answer,
            names=tuple(
                f"keeps “{labels[j]}”" if j == k else f"turns “{labels[j]}” into “{labels[k]}”"
                for j, k in zip(predicted, answer, strict=True)
            ),
        )


@register_region
class Exact(RegionKind):
    """Rules argmax over y of theta_y r_y + b_y: of two labels all of them, of more those found.

    Simplex and kernel are within it.
    """

    name = "exact"
    title = "exact (cuts of the recalibrated score)"
    meaning = (
        "The lottery may look at the model's scores, recalibrated. Two labels: the most accuracy "
        "that cuts of them allow on the fitted people. More labels: the best lottery found; that "
        "none has over 0.01 points more is proved only with rates from scores, if these are right."
    )
    needs_scores = True
    default_rates = "shrunk"

    def rules(
        self, people: FittedOn, rates: str, guarantee: "Guarantee | None", policy: "Policy"
    ) -> RegionRules:
        """Return its rules on these people; scores are recalibrated on them, unless they are.

        Two labels: the corners of every cell. More: those that column generation starts with.
        Without the group the scores are taken as they are, in bins: one chance for every bin of a
        client, with a guarantee mixtures of cuts at the edges of the bins.
        """
        from fairfl_core.lp import bins
        from fairfl_core.lp.column_generation import first_rules
        from fairfl_core.lp.histograms import ScoreHistogram

        if isinstance(people, ClientCounts):
            raise InputError(
                "the exact region looks at scores, which counts do not hold; give the table of "
                "scores."
            )
        if policy.without_group:
            if not isinstance(people, ScoredData):
                raise InputError(
                    "without the group the exact region needs everybody's scores, which a histogram "
                    "does not hold; give the table of scores."
                )
            parts = bins.ScoreBins.of(people, bins.BINS)
            rules = (bins.BinRules.free if guarantee is None else bins.BinRules.cuts)(
                people.labels, parts
            )
            return RegionRules(
                counts=counts_by(people, rates),
                people=people,
                rates=rates,
                rules=rules,
                table=rules.table(parts.counted(people, rates)),
            )
        scored: ScoredData | None = None
        if isinstance(people, ScoredData):
            scored = people.calibrated
            points = measured(scored, rates)
        else:
            points = people.measured() if isinstance(people, ScoreHistogram) else people
        table = points.listed if len(points.counts.labels) == 2 else first_rules(points)
        assert table.scores is not None
        return RegionRules(
            counts=points.counts,
            people=points.counts if scored is None else scored,
            rates=points.rates,
            rules=table.scores,
            table=table,
            calibration=scored.calibration if scored else None,
            measured=points,
        )


def region_names(*, scores: bool = True, notion: Notion | None = None) -> tuple[str, ...]:
    """Every region that is known: those that people without scores, or a notion, allow."""
    return tuple(
        name
        for name, kind in _KINDS.items()
        if (scores or not kind.needs_scores) and (notion is None or kind.refusal(notion) is None)
    )


def region_kind(name: str) -> RegionKind:
    """The region of a name, or a sentence that lists those there are."""
    if name not in _KINDS:
        raise InputError(f'there is no region "{name}"; choose one of {", ".join(_KINDS)}.')
    return _KINDS[name]


def default_region(notion: str, labels: int, *, scores: bool) -> str:
    """The region where none is asked for, by what is at hand: see docs/rates.md.

    Of two labels with scores: exact, whose gaps on unseen people are those of the simplex within
    what seeds differ by, or within the limit, at more accuracy. Else the simplex, which has the
    smallest gaps on unseen people; the kernel for a notion that the simplex cannot serve.

    Parameters
    ----------
    notion : str
    labels : int
        How many there are.
    scores : bool
        Whether people's scores are at hand, or histograms of them; else counts.
    """
    if scores and labels == 2:
        return "exact"
    names = tuple(map(str, range(labels)))
    return region_names(scores=False, notion=Notion.of(notion, names, names[-1]))[0]


def default_region_sentence(region: str) -> str:
    """Say which region was taken where none was asked for."""
    return (
        f"Region {region}, as none was asked for: exact where scores of two labels are given, "
        "else the simplex, or the kernel where the notion needs it."
    )


def default_rates(region: str, guarantee: "Guarantee | None" = None, folds: int = 1) -> str:
    """The rates that a region is best fed.

    Counted labels where a guarantee is about them, and where cross-fitting gives people enough.
    """
    if guarantee is not None or folds > 1:
        return "labels"
    return region_kind(region).default_rates
