"""`review`: the options of a review, solved again from its file."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import Json, print_json, print_table, say, working
from fairfl_core.errors import InputError

__all__ = ["review"]


def review(
    file: Annotated[Path, typer.Argument(help="A fairfl-review/1 file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the report here: a name ending in .html or .pdf.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve every option of a review again, and set them side by side.

    The first option is the one under review; the report says which is recommended, and why.

    Example: `fairfl review review.json --out report.pdf`
    """
    from fairfl_core._io.whole import write_whole
    from fairfl_core.review import board_of, html_of, pdf_of, read_review, solve_option

    if out is not None and out.suffix not in (".html", ".pdf"):
        raise InputError(f"{out}: a report is .html or .pdf; give a name that ends so.")
    given = read_review(file)
    with working(f"Solving {len(given.options)} options"):
        results = [solve_option(option) for option in given.options]
        board = board_of(results, solve_option, question=given.question)
    if out is not None:
        write_whole(out, pdf_of(board) if out.suffix == ".pdf" else html_of(board))
    if as_json:
        columns = {
            column.name: dict(zip(board.rows, column.cells, strict=True))
            for column in board.columns
        }
        print_json(
            {
                "format": "fairfl-review-result/1",
                "question": board.question,
                "verdict": board.verdict,
                "recommended": board.recommended,
                "reasons": list(board.reasons),
                "options": columns,
                "out": None if out is None else str(out),
            }
        )
        return
    names = [column.name for column in board.columns]
    rows = [
        [title, *(column.cells[place] for column in board.columns)]
        for place, title in enumerate(board.rows)
    ]
    print_table(board.question, ["", *names], rows)
    say(f"Recommended: {board.recommended}. {' '.join(board.reasons)}")
    if out is not None:
        say(f"Report written to {out}.")
