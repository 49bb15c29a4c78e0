"""What a predictor was asked for, as those who judge it need it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.predictors.predictor import Predictor

__all__ = ["Asked"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Asked:
    """What a predictor was asked for, in the order of the clients it is judged on.

    Attributes
    ----------
    eps_global : float
    eps_local : ndarray, shape (clients,)
    guarantee : Guarantee or None
    policy : Policy
    """

    eps_global: float
    eps_local: Floats
    guarantee: Guarantee | None = None
    policy: Policy = Policy()

    @classmethod
    def of(cls, predictor: Predictor, clients: tuple[str, ...]) -> "Asked":
        """What a predictor says of itself."""
        local = dict(zip(predictor.clients, predictor.eps_local, strict=True))
        asked = np.array([local[name] for name in clients], float)
        return cls(predictor.eps_global, asked, predictor.guarantee, predictor.policy)

    @classmethod
    def by_policy(
        cls, policy: PolicyFile, predictor: Predictor, clients: tuple[str, ...]
    ) -> "Asked":
        """What a policy asks of a predictor, whatever that was solved for.

        The confidence that the predictor was solved with counts where it is about the same notion,
        as strict limits and as large a confidence; else people alone must tell.
        """
        limits = policy.limits(clients)
        asked = np.array([limits["eps_local"][name] for name in clients], float)
        own, solved = cls.of(predictor, clients), predictor.guarantee
        is_as_strict = own.eps_global <= policy.eps_global and bool((own.eps_local <= asked).all())
        wanted = policy.guarantee
        is_as_sure = solved is not None and (
            wanted is None
            or (solved.confidence >= wanted.confidence and solved.scope in ("all", wanted.scope))
        )
        holds = predictor.notion == policy.notion and is_as_strict and is_as_sure
        return cls(policy.eps_global, asked, solved if holds else None, policy.policy)

    @property
    def is_nothing(self) -> bool:
        """Whether no limit of any kind was asked for."""
        return self.eps_global >= 1 and bool((self.eps_local >= 1).all()) and self.policy.is_plain
