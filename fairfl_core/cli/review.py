"""`review`: the options of a review, solved again from its file."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import read_whole, write_whole
from fairfl_core.cli._shell import Json, print_json, print_table, say, working
from fairfl_core.data.experiments import Experiment
from fairfl_core.errors import InputError
from fairfl_core.intake import take_in
from fairfl_core.report.board import board_of
from fairfl_core.report.render import html_of, pdf_of
from fairfl_core.report.review import UPLOADED, Review, read_review, solve_option
from fairfl_core.report.text import ROWS


def review(
    file: Annotated[Path, typer.Argument(help="A fairfl-review/1 file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the report here: a name ending in .html or .pdf.")
    ] = None,
    rows: Annotated[
        list[Path] | None,
        typer.Option(help="The uploaded table (or counts, once a file) that the review is of."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve every option of a review again, and set them side by side.

    The report says which is recommended, if any, and why; the model as it is stands first.
    A review of an uploaded table holds the table's fingerprint and how it was read, never the
    table: give it with --rows.

    Example: `fairfl review review.json --out report.pdf`
    """
    if out is not None and out.suffix not in (".html", ".pdf"):
        raise InputError(f"{out}: a report is .html or .pdf; give a name that ends so.")
    given = read_review(file)
    with working(f"Solving {len(given.options)} options"):
        solve = partial(solve_option, uploaded=_uploaded(given, file, rows or []))
        results = [solve(option) for option in given.options]
        board = board_of(results, question=given.question)
    if out is not None:
        write_whole(out, pdf_of(board) if out.suffix == ".pdf" else html_of(board))
    if as_json:
        columns = {
            column.name: {title: column.cells[code].in_one_line for code, title in ROWS}
            for column in board.columns
        }
        print_json(
            {
                "format": "fairfl-review-result/1",
                "question": board.question,
                "verdict": results[0].summary.verdict and results[0].summary.verdict.to_json(),
                "verdicts": {
                    result.option.name: result.summary.verdict and result.summary.verdict.to_json()
                    for result in results
                },
                "recommended": board.recommended or None,
                "reasons": list(board.reasons),
                "options": columns,
                "out": None if out is None else str(out),
            }
        )
        return
    cells = {
        column.name: [column.cells[code].in_one_line for code, _ in ROWS]
        for column in board.columns
    }
    print_table(board.question, {"": [title for _, title in ROWS], **cells})
    say(f"{board.decision} {' '.join(board.reasons)}")
    if out is not None:
        say(f"Report written to {out}.")


def _uploaded(given: Review, file: Path, rows: list[Path]) -> Experiment | None:
    """The people of an uploaded file, read again as it was read for the review."""
    if not rows:
        return None
    if all(option.data != UPLOADED for option in given.options):
        raise InputError(f"{file}: the review is of bundled data; leave --rows out.")
    if given.reading is None:
        raise InputError(
            f"{file}: the review does not say how its table was read, as those of earlier versions; "
            "save it again on the page Compare."
        )
    return take_in([(path.name, read_whole(path)) for path in rows], given.reading).experiment
