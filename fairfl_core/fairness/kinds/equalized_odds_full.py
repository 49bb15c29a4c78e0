"""Equalized odds in the textbook form: equal rates of every answer, right or wrong."""

from fairfl_core.fairness.notions import NotionKind, Rate, register_notion

__all__ = ["EqualizedOddsFull"]


@register_notion
class EqualizedOddsFull(NotionKind):
    """Pr(k | y, group) equal for every label y and answer k."""

    name = "eo-full"
    title = "Equalized odds, all errors"
    meaning = "For each true answer, every group gets each answer, right or wrong, equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(k | y) for every label and answer."""
        answers = labels if len(labels) > 2 else (favourable,)
        return tuple(Rate(answer, label) for label in labels for answer in answers)
