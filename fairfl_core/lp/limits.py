"""The limits that a program is asked to keep: one epsilon overall, one in each client."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core.errors import InputError

__all__ = ["EpsLocal", "check_epsilon", "eps_per_client"]

Floats = NDArray[np.float64]
EpsLocal = float | Sequence[float] | Floats | Mapping[str, float]


def check_epsilon(value: float, name: str) -> float:
    """Return the tolerance as a float in [0, 1], or say that it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise InputError(f"{name} is {value}, but a tolerance lies between 0 and 1; choose one.")
    return number


def eps_per_client(clients: Sequence[str], eps_local: EpsLocal) -> Floats:
    """One epsilon_c per client from one number, a sequence in their order, or a mapping."""
    if isinstance(eps_local, Mapping):
        known = set(clients)  # of twenty thousand, who are each looked up once
        unknown = [name for name in eps_local if name not in known]
        lacking = [name for name in clients if name not in eps_local]
        if unknown or lacking:
            name, what = (unknown[0], "is not a client") if unknown else (lacking[0], "has none")
            raise InputError(
                f'eps_local by client: "{name}" {what}; the clients are '
                f"{', '.join(list(clients)[:8])}{' ...' if len(clients) > 8 else ''}."
            )
        eps_local = [eps_local[name] for name in clients]
    if np.ndim(cast(Floats, eps_local)) == 0:
        return np.full(len(clients), check_epsilon(cast(float, eps_local), "eps_local"))
    values = list(cast(Sequence[float], eps_local))
    if len(values) != len(clients):
        raise InputError(
            f"eps_local has {len(values)} values for {len(clients)} clients; give one each."
        )
    pairs = zip(clients, values, strict=True)
    return np.array([check_epsilon(value, f'eps_local of "{name}"') for name, value in pairs])
