"""Options for people to decide between: kept, compared, noted on, and reported on.

Review (a file) -> Option -> Result (solved and judged) -> Board (plain values) -> HTML, PDF
"""

from fairfl_core.report.board import Board, Table, board_of
from fairfl_core.report.render import comparison_css, comparison_html, html_of, pdf_of
from fairfl_core.report.review import (
    FORMAT,
    MOST,
    UPLOADED,
    Option,
    Result,
    Review,
    read_review,
    solve_option,
)

__all__ = [
    "FORMAT",
    "MOST",
    "UPLOADED",
    "Board",
    "Option",
    "Result",
    "Review",
    "Table",
    "board_of",
    "comparison_css",
    "comparison_html",
    "html_of",
    "pdf_of",
    "read_review",
    "solve_option",
]
