"""What changed: who comes (base rates), or what alike people are answered (the model)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core.fairness.intervals import at_once, mover, normal_quantile
from fairfl_core.fairness.notions import Notion

__all__ = ["Drift", "drift_of"]

_LEVEL = 0.95
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Drift:
    """The change of a gap against the baseline, in its two parts (Kitagawa's decomposition).

    Attributes
    ----------
    from_base_rates : float
        Through how often each label is found in either group.
    from_model : float
        Through how often people of one label get the answer. Of a rate that is taken given the
        label this is all of it.
    base_rates, model : bool
        Whether the labels' shares, or the answers given the label, changed beyond chance in one of
        the two groups; all intervals hold at once with 95 %.
    """

    from_base_rates: float
    from_model: float
    base_rates: bool
    model: bool

    def sentence(self) -> str:
        """Which of the two it is, as far as counts can tell."""
        parts = f"{self.from_model:+.3f} through the answers, {self.from_base_rates:+.3f} through who comes"
        if self.model and self.base_rates and not self.from_base_rates:
            what = (
                "The model drifted: people of one label are answered differently than before; other "
                "people come, too, which this rate does not depend on"
            )
        elif self.model and self.base_rates:
            what = "Both drifted: alike people are answered differently, and other people come"
        elif self.model:
            what = "The model drifted: people of one label are answered differently than before"
        elif self.base_rates:
            what = "Base rates drifted: other people come, and alike people are answered as before"
        else:
            what = "Neither base rates nor the model's answers changed beyond chance, so which it is cannot be told"
        return f"{what} (the gap changed by {parts})."

    def to_json(self) -> dict[str, Any]:
        """The form that `fairfl watch --json` prints."""
        return vars(self).copy()


def drift_of(
    baseline: NDArray[Any],
    recent: NDArray[Any],
    pair: tuple[int, int],
    notion: Notion,
    rate: int,
) -> Drift | None:
    """Tell one client's drift between the baseline and since a break.

    Parameters
    ----------
    baseline, recent : ndarray, shape (groups, labels, answers)
    pair : (lower, higher) group
    notion, rate
        The rate whose gap broke.

    Returns
    -------
    Drift or None
        None where somebody of either group is not counted with a label before or since.
    """
    tables = np.stack([np.asarray(part, float)[list(pair)] for part in (baseline, recent)])
    people = tables.sum(axis=3)  # (time, group, label)
    n = people.sum(axis=2)
    if (n == 0).any():
        return None
    share = people / n[..., None]
    answer = int(notion.asked[rate].argmax())
    answered = np.divide(tables[..., answer], people, out=np.zeros_like(people), where=people > 0)
    given = notion.given[rate] > 0
    behind = share * given / np.maximum((share * given).sum(axis=2, keepdims=True), 1e-12)
    # The middle of both times weighs the other part's change.
    by_base = (np.diff(behind, axis=0)[0] * answered.mean(axis=0)).sum(axis=1)
    by_model = (behind.mean(axis=0) * np.diff(answered, axis=0)[0]).sum(axis=1)
    labels = share.shape[2]
    level = at_once(_LEVEL, 2 * (labels + int(given.sum())))
    whole = np.broadcast_to(n[..., None], share.shape)
    return Drift(
        float(by_base[1] - by_base[0]),
        float(by_model[1] - by_model[0]),
        _changed(share, whole, level),
        _changed(answered[..., given], people[..., given], level),
    )


def _changed(rate: Floats, n: Floats, level: float) -> bool:
    """Whether some rate, (time, ...), changed beyond chance."""
    there = (n > 0).all(axis=0)
    z = normal_quantile(1 - (1 - level) / 2)
    low, high = mover(rate[1][there], n[1][there], rate[0][there], n[0][there], z)
    return bool(((low > 0) | (high < 0)).any())
