"""The report on a single setting, beside the model as it is."""

from fairfl_core.report import html_of, pdf_of
from pages.compare.review import board_for
from pages.shared.view import View


def html_report(view: View, link: str = "") -> str:
    """One HTML file that stands alone."""
    return html_of(board_for([view], link=link))


def pdf_report(view: View, link: str = "") -> bytes:
    """The same on paper."""
    return pdf_of(board_for([view], link=link))
