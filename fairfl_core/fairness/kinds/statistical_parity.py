"""Statistical parity: equal shares of each answer."""

from fairfl_core.fairness.notions import NotionKind, Rate, register_notion

__all__ = ["StatisticalParity"]


@register_notion
class StatisticalParity(NotionKind):
    """Pr(answer | group) equal for every answer (the paper, definition of SP; its LP, not its typo)."""

    name = "sp"
    title = "Statistical parity"
    aliases = ("demographic_parity", "selection_rate_parity")
    meaning = "Every group gets each answer equally often, whatever is true of them."

    def rates(self, labels: tuple[str, ...], favourable: str) -> tuple[Rate, ...]:
        """Pr(answer) for every answer."""
        answers = labels if len(labels) > 2 else (favourable,)
        return tuple(Rate(answer, None) for answer in answers)
