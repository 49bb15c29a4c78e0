"""Equal opportunity: equal true-positive rates of the favourable label."""

from fairfl_core.fairness.notions import NotionKind, Rate, register_notion

__all__ = ["EqualOpportunity"]


@register_notion
class EqualOpportunity(NotionKind):
    """Pr(favourable | favourable, group) equal."""

    name = "eop"
    title = "Equal opportunity"
    aliases = ("equal_opportunity", "true_positive_rate_parity")
    meaning = "Among people who truly are “{favourable}”, every group is recognised equally often."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(favourable | favourable)."""
        return (Rate(favourable, favourable),)
