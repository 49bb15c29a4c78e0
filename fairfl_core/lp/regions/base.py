"""What a region is before it meets people, and which regions there are."""

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from fairfl_core.budget import MEGABYTE, afford
from fairfl_core.data.calibration import Calibration
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion
from fairfl_core.lp.regions.answers import AnswerRules
from fairfl_core.lp.rule_table import RuleTable

if TYPE_CHECKING:
    from fairfl_core.lp.exact.histograms import ScoreHistogram
    from fairfl_core.lp.exact.rules import ScoreRules
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Policy
    from fairfl_core.lp.rate_estimates import Measured

__all__ = [
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
    rules: "AnswerRules | ScoreRules"
    table: RuleTable
    calibration: Calibration | None = None
    measured: "Measured | None" = None


class RegionKind(ABC):
    """What a region is before it meets people; a new one is one new file.

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

    def serves(self, notion: Notion) -> bool:
        """Whether it can serve a notion."""
        return self.refusal(notion) is None

    def answer_rules(self, labels: tuple[str, ...]) -> AnswerRules:
        """Its rules for these labels, where they look at the model's answer only."""
        counted = ", ".join(name for name in region_names(scores=False))
        raise InputError(
            f'the region "{self.name}" looks at scores, which counts do not hold; choose one of '
            f"{counted}, or give the scores."
        )

    def rules(
        self,
        people: "FittedOn",
        rates: str,
        guarantee: "Guarantee | None",
        policy: "Policy",
    ) -> RegionRules:
        """Return its rules on these people, and what each does.

        The default is that of regions whose rules look at the model's answer: see `answer_rules`.
        """
        from fairfl_core.lp.rate_estimates import counts_by

        if not isinstance(people, ScoredData | ClientCounts):
            raise InputError(
                f'the region "{self.name}" looks at the model\'s answers: give counts, or the table '
                "of scores, not a histogram of them."
            )
        counts = counts_by(people, rates)
        rules = self.answer_rules(counts.labels)
        if guarantee is not None:
            rules = rules.with_constants()
        _check_size(counts, len(rules.block))
        table = rules.table(counts.table)
        return RegionRules(counts=counts, people=people, rates=rates, rules=rules, table=table)


def _check_size(counts: ClientCounts, rules: int) -> None:
    """Refuse a program whose rules would not fit into memory."""
    clients, groups, labels, _ = counts.table.shape
    # Each rule holds a confusion matrix of floats; ten copies at the worst moment (measured).
    afford(
        10 * 8 * clients * groups * rules * labels**2 / MEGABYTE,
        f"a program of {clients:,} clients, {groups} groups and {labels} labels with "
        f"{rules:,} rules a group",
        "choose the paper's region, another notion, or join labels, groups or clients",
    )


_KINDS: dict[str, RegionKind] = {}


def register_region(kind: type[RegionKind]) -> type[RegionKind]:
    """Make a region known by its name; used as a decorator."""
    _KINDS[kind.name] = kind()
    return kind


def region_names(*, scores: bool = True, notion: Notion | None = None) -> tuple[str, ...]:
    """Every region that is known: those that people without scores, or a notion, allow."""
    return tuple(
        name
        for name, kind in _KINDS.items()
        if (scores or not kind.needs_scores) and (notion is None or kind.serves(notion))
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
