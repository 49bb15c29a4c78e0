"""`holding`: whether limits hold on unseen people."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import progress_bar, say

__all__ = ["holding"]


def holding(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("docs/holding.md"),
) -> None:
    """Write the evidence that limits hold on unseen people, from the shipped scores.

    Example: `python -m research holding --out docs/holding.md`
    """
    from fairfl_core._io.files import write_whole
    from research.holding.document import holding as document

    with progress_bar("Measuring") as on_progress:
        text = document(on_progress=on_progress)
    write_whole(out, text)
    say(f"{out}: written.")
