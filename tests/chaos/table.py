"""What one kind of trouble did: a row of the table."""

from dataclasses import dataclass, field


@dataclass
class Trouble:
    """A kind of trouble, how often it was made, and what went wrong of it.

    Attributes
    ----------
    name : str
    promise : str
        What must hold each time.
    tries : int
    broken : list of str
        A line for each time the promise was not kept.
    """

    name: str
    promise: str
    tries: int = 0
    broken: list[str] = field(default_factory=list)

    def tried(self, *, kept: bool, otherwise: str = "") -> None:
        """Count one try, and say what happened where the promise was not kept."""
        self.tries += 1
        if not kept:
            self.broken.append(otherwise)


def markdown(troubles: list[Trouble]) -> str:
    """The table, as it stands in docs/reliability.md."""
    lines = ["| trouble | what must hold | tries | not kept |", "|---|---|---|---|"]
    lines += [
        f"| {one.name} | {one.promise} | {one.tries:,} | {len(one.broken)} |" for one in troubles
    ]
    return "\n".join(lines)
