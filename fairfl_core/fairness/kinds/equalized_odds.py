"""Equalized odds in the paper's form: equal true-positive rates of every label."""

from fairfl_core.fairness.notions import NotionKind, Rate, register_notion

__all__ = ["EqualizedOdds"]


@register_notion
class EqualizedOdds(NotionKind):
    """Pr(y | y, group) equal for every label y: the diagonal of the confusion."""

    name = "eo"
    title = "Equalized odds"
    aliases = ("equalized_odds",)
    meaning = "For each true answer, every group is recognised equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(y | y) for every label."""
        return tuple(Rate(label, label) for label in labels)
