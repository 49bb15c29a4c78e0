"""`reproduce`: the paper's tables beside ours."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import say, working

__all__ = ["reproduce"]


def reproduce(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("docs/reproduction.md"),
) -> None:
    """Write the reproduction of the paper's experiments from the shipped scores.

    Example: `python -m research reproduce --out docs/reproduction.md`
    """
    from fairfl_core._io.files import write_whole
    from research.paper.reproduction import reproduction

    with working("Reproducing"):
        text = reproduction()
    write_whole(out, text)
    say(f"{out}: written.")
