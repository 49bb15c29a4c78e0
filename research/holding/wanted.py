"""What was wanted of cross-fitting and of the guarantee before it was measured, and what came."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fairfl_core.data.experiments import CROSS_FITTED, PAPER_SPLIT
from fairfl_core.evaluation.study import Study
from research.held_out_curve import pooled_debiased
from research.holding.coverage import Coverage
from research.holding.evidence import (
    ASKED,
    GUARANTEES,
    Evidence,
    cross_fitting_settings,
)
from research.holding.held_out import above, of_seeds
from research.holding.settings import Half, Setting
from research.holding.tables import (
    accuracy_of,
    by_half,
    confidence_of,
    limits_of,
    table,
)

__all__ = ["WANTED_OF", "Wish", "in_short", "shortfalls", "wanted_table", "wishes"]

WANTED_OF = _STATES, _BANDS = ("public_coverage", "ham10000")
_LIMITS = (1.0, 0.10)  # no overall limit, .10 inside every client
_DEAR = 0.5  # of what the model adds to a constant answer: below it certainty is said to be dear


@dataclass(frozen=True)
class Wish:
    """A figure that was to reach a bound.

    Attributes
    ----------
    text : str
        What was wanted.
    figure : callable
        The figure of some seeds.
    bound : float or None
        None where a figure was only to be reported.
    at_least : bool
        Whether the bound is to be reached from above.
    digits : int
    """

    text: str
    figure: Callable[[Half], float]
    bound: float | None
    at_least: bool = False
    digits: int = 3

    def reached(self, half: Half) -> str:
        """Yes, no, or nothing where nothing was asked."""
        if self.bound is None:
            return ""
        value = self.figure(half)
        return "yes" if (value >= self.bound if self.at_least else value <= self.bound) else "no"


def wanted_table(evidence: Mapping[str, Evidence]) -> list[str]:
    """Wanted, measured and whether it was reached: all seeds, even ones, odd ones."""
    rows = [
        (
            wish.text,
            by_half(lambda half, wish=wish: f"{wish.figure(half):.{wish.digits}f}"),  # type: ignore[misc]
            by_half(wish.reached) if wish.bound is not None else "told",
        )
        for wish in wishes(evidence)
    ]
    return table(("wanted", "measured", "reached"), rows)


def wishes(evidence: Mapping[str, Evidence]) -> list[Wish]:
    """All that was wanted of the experiments there are."""
    return [
        *(_of_states(evidence[_STATES]) if _STATES in evidence else []),
        *(_of_bands(evidence[_BANDS]) if _BANDS in evidence else []),
    ]


def _of_states(states: Evidence) -> list[Wish]:
    exact = Setting("exact", "labels", *ASKED)
    guarded = Setting("exact", "labels", *_LIMITS, GUARANTEES["each"])
    covered = states.resampled[CROSS_FITTED]
    test = states.held_out[CROSS_FITTED][guarded]
    asked = "PublicCoverage, (.01, .01), cross-fitted"
    confident = "PublicCoverage, exact, confidence .95 each, limit .10"
    return [
        Wish(
            f"{asked}, exact, labels: debiased gap of the larger 25 states at most .025",
            lambda half: _debiased(states, CROSS_FITTED, exact, half),
            0.025,
        ),
        *(
            Wish(
                f"{asked}, {setting.region}, {setting.rates}: debiased gap less that of "
                f"{PAPER_SPLIT}, below 0",
                lambda half, setting=setting: (  # type: ignore[misc]
                    _debiased(states, CROSS_FITTED, setting, half)
                    - _debiased(states, PAPER_SPLIT, setting, half)
                ),
                0.0,
            )
            for setting in cross_fitting_settings()
        ),
        Wish(
            f"{asked}, exact, labels: accuracy less that of {PAPER_SPLIT}, in points, not below 0",
            lambda half: (
                100
                * (
                    accuracy_of(of_seeds(states.held_out[CROSS_FITTED][exact], half))
                    - accuracy_of(of_seeds(states.held_out[PAPER_SPLIT][exact], half))
                )
            ),
            0.0,
            at_least=True,
            digits=2,
        ),
        *_of_coverage(confident, covered, guarded),
        Wish(
            f"{confident}: cost against no guarantee at most .3 points",
            lambda half: _cost(covered, guarded, half),
            0.3,
            digits=2,
        ),
        Wish(
            f"{confident}: at most 2 % of states significantly above it on test",
            lambda half: 100 * above(of_seeds(test, half), guarded.eps_local).share,
            2.0,
            digits=1,
        ),
    ]


def _of_coverage(text: str, covered: Mapping[Setting, Coverage], guarded: Setting) -> list[Wish]:
    return [
        Wish(
            f"{text}: mean coverage at least .97",
            lambda half: covered[guarded].of(half).mean,
            0.97,
            at_least=True,
        ),
        Wish(
            f"{text}: no client below .80",
            lambda half: covered[guarded].of(half).least_share,
            0.80,
            at_least=True,
            digits=2,
        ),
    ]


def _of_bands(bands: Evidence) -> list[Wish]:
    guarded = Setting("simplex", "labels", *_LIMITS, GUARANTEES["each"])
    covered = bands.resampled[CROSS_FITTED]
    text = "HAM10000, simplex, confidence .95 each, limit .10"
    return [
        _of_coverage(text, covered, guarded)[0],
        Wish(
            f"{text}: cost, in points", lambda half: _cost(covered, guarded, half), None, digits=2
        ),
    ]


def _debiased(evidence: Evidence, protocol: str, setting: Setting, half: Half) -> float:
    study: Study = evidence.held_out[protocol][setting]
    return pooled_debiased(of_seeds(study, half))[0]


def _cost(covered: Mapping[Setting, Coverage], guarded: Setting, half: Half) -> float:
    """Points of accuracy on the population that the guarantee takes."""
    none = covered[replace(guarded, guarantee=None)].of(half).accuracy
    return float(100 * (none - covered[guarded].of(half).accuracy).mean())


def in_short(evidence: Evidence) -> list[str]:
    """One sentence a region: what a limit of .10 does with and without a confidence."""
    covered, held_out = evidence.resampled[CROSS_FITTED], evidence.held_out[CROSS_FITTED]
    return [
        _sentence(evidence, setting, covered, held_out)
        for setting in covered
        if (setting.eps_global, setting.eps_local) == _LIMITS
        and setting.guarantee == GUARANTEES["each"]
    ]


def _sentence(
    evidence: Evidence,
    guarded: Setting,
    covered: Mapping[Setting, Coverage],
    held_out: Mapping[Setting, Study],
) -> str:
    none, each = covered[guarded.unguarded], covered[guarded]
    real = [above(held_out[one], one.eps_local) for one in (guarded.unguarded, guarded)]
    before, after = none.accuracy.mean(), each.accuracy.mean()
    text = (
        f"- **{evidence.name}, {guarded.region}**: it holds in {100 * none.mean:.1f} % of clients "
        f"and draws, with confidence .95 for each in {100 * each.mean:.1f} %, at "
        f"{100 * (before - after):.2f} points ({100 * before:.2f} to {100 * after:.2f} %). Real "
        f"test people show {real[0].clients} of {real[0].judged} clients above it beyond chance, "
        f"with the confidence {real[1].clients}."
    )
    constant = evidence.constant_accuracy
    left = (after - constant) / (before - constant) if before > constant else 1.0
    if left < _DEAR:
        text += (
            " At this size certainty costs what the data lack: of what the lottery adds to one "
            f"answer a client ({100 * constant:.2f} %) {100 * max(left, 0):.0f} % are left."
        )
    return text


def shortfalls(evidence: Evidence) -> list[str]:
    """Where a confidence was asked for and resampling shows less, over all draws."""
    lines = []
    for protocol, covered in evidence.resampled.items():
        for setting, one in covered.items():
            if setting.guarantee is None:
                continue
            local = one.together if setting.guarantee.scope == "all" else one.mean
            parts = {"inside clients": local, "overall": one.overall_held}
            lines += [
                f"- {evidence.name}, people as in {protocol}, {setting.region}, limit "
                f"{limits_of(setting)}, {confidence_of(setting)}: {where} {share:.3f}"
                for where, share in parts.items()
                if round(share, 9) < setting.guarantee.confidence
            ]
    return lines
