"""What is asked of a federation once its model is trained: the limits, the region, the noise."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.regions import default_region, region_kind, region_names
from fairfl_core.privacy.mechanisms import Mechanism

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """Limits, and how they are to be met.

    Attributes
    ----------
    notion, region : str
        Where no region is asked for it is the simplex, or the kernel where the notion needs it;
        ``exact`` is solved from histograms of the scores of two labels.
    eps_global, eps_local : float
        The overall gap, and the gap inside each client.
    guarantee : Guarantee, optional
        With what confidence the limits are to hold on new people.
    policy : Policy
        What else is asked.
    privacy : Mechanism, optional
        The noise that clients add to their tables before these leave.
    """

    notion: str = "eo"
    region: str = ""
    eps_global: float = 1.0
    eps_local: float = 1.0
    guarantee: Guarantee | None = None
    policy: Policy = Policy()
    privacy: Mechanism | None = None

    def __post_init__(self) -> None:
        if not self.region and self.notion in notion_names():
            region = default_region(self.notion, labels=2, scores=False)
            object.__setattr__(self, "region", region)
        for name, known, what in (
            (self.notion, notion_names(), "notion"),
            (self.region, region_names(), "region"),
        ):
            if name not in known:
                raise InputError(f'there is no {what} "{name}"; choose one of {", ".join(known)}.')
        if self.policy.without_group and self.needs_scores:
            raise InputError(
                "without the group the exact region needs every client's own bins, which are not "
                "part of the protocol; choose the region kernel or simplex."
            )

    @property
    def needs_scores(self) -> bool:
        """Whether the region looks at scores."""
        return region_kind(self.region).needs_scores

    @property
    def statistic(self) -> str:
        """What clients are asked for."""
        return "histogram" if self.needs_scores else "counts"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a file."""
        return {
            "notion": self.notion,
            "region": self.region,
            "eps_global": self.eps_global,
            "eps_local": self.eps_local,
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "policy": None if self.policy.is_plain else self.policy.to_json(),
            "privacy": None if self.privacy is None else asdict(self.privacy),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Question":
        """Take what `to_json` gave."""
        privacy = value["privacy"]
        plain = {name: value[name] for name in ("notion", "region", "eps_global", "eps_local")}
        return cls(
            **plain,
            guarantee=Guarantee.from_json(value["guarantee"]),
            policy=Policy.from_json(value["policy"]),
            privacy=None if privacy is None else Mechanism(**privacy),
        )
