"""A question of the lesson."""

from dataclasses import dataclass

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """What a step asks: its options, which of them is right, and why."""

    step: int
    text: str
    options: tuple[str, ...]
    right: int
    because: str

    @property
    def answer(self) -> str:
        """The right option."""
        return self.options[self.right]
