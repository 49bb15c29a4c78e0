"""What is asked of a program."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind

__all__ = ["Setting", "programs_of"]


@dataclass(frozen=True)
class Setting:
    """A region, its rates, its limits (epsilon_0 and one epsilon_c for all), its confidence."""

    region: str
    rates: str
    eps_global: float
    eps_local: float
    guarantee: Guarantee | None = None

    @property
    def unguarded(self) -> "Setting":
        """The same limits, asked for with no confidence."""
        return replace(self, guarantee=None)

    @property
    def needs_scores(self) -> bool:
        """Whether its lottery looks at scores."""
        return region_kind(self.region).needs_scores

    def serves(self, labels: int) -> bool:
        """Whether its confidence can be had: with more labels, not for rules of scores."""
        return self.guarantee is None or labels == 2 or not self.needs_scores


def programs_of(
    people: ScoredData, notion: str, settings: Iterable[Setting]
) -> Iterator[tuple[Setting, FairnessProgram]]:
    """Each setting with its program; recalibrated once, built once for all limits."""
    settings = list(settings)
    if any(setting.needs_scores for setting in settings):
        people = people.calibrated
    programs: dict[Setting, FairnessProgram] = {}
    for setting in settings:
        limitless = replace(setting, eps_global=1.0, eps_local=1.0)
        if limitless not in programs:
            programs[limitless] = FairnessProgram(
                people,
                notion,
                setting.region,
                rates=setting.rates,
                guarantee=setting.guarantee,
            )
        yield setting, programs[limitless]
