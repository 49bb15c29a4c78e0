"""What is asked beyond the two limits, to and from the text of a link."""

import json
from dataclasses import dataclass

from fairfl_core.errors import InputError
from fairfl_core.solving.policy import Policy
from pages.components.codecs import Unusable

__all__ = ["Asked"]

_LONGEST = 4000  # letters: a table of gains for eight labels takes about 600


@dataclass(frozen=True)
class Asked:
    """A policy for these labels, written as its JSON; a link says nothing for nothing.

    Attributes
    ----------
    labels : tuple of str
        Floors and utilities name them.
    sure : bool
        Whether a confidence is asked for: it cannot be had for ratios.
    columns : tuple of str
        What groups are crossed of, where they are: limits name some of them.
    """

    labels: tuple[str, ...]
    sure: bool
    columns: tuple[str, ...] = ()

    def read(self, text: str) -> Policy:
        """The policy, if these people have what it names."""
        try:
            value = json.loads(text) if len(text) <= _LONGEST else None
            policy = Policy.from_json(value) if isinstance(value, dict) else None
        except (ValueError, RecursionError, InputError):
            policy = None
        if policy is None or not self.fits(policy):
            raise Unusable("what is asked beyond the limits, as this page writes it")
        return policy

    def write(self, value: Policy) -> str:
        """Its JSON, without blanks; nothing where nothing is asked."""
        if value.is_plain:
            return ""
        return json.dumps(value.to_json(), ensure_ascii=False, separators=(",", ":"))

    def fits(self, value: object) -> bool:
        """Whether its labels are still there, and a confidence does not stand against it."""
        if not isinstance(value, Policy):
            return False
        named = {floor.label for floor in value.floors} | set(value.utility.labels)
        whole = not value.utility.labels or len(value.utility.labels) == len(self.labels)
        open_to_ratios = not (self.sure and (value.has_ratios or value.limits))
        columns = {part for limit in value.limits for part in limit.grouping.split("*")}
        known = named <= set(self.labels) and columns <= set(self.columns)
        return known and whole and open_to_ratios
