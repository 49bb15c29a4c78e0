"""Who is worse off, and every rate, in files that stand alone."""

from fairfl_core.evaluation.all_rates import AllRates
from fairfl_core.evaluation.harm import Harm
from pages.shared import harm_text as text
from pages.shared.html import html_list, html_paragraphs, html_table

__all__ = ["html_alarms", "html_rates", "html_recognition"]

MOST = 240  # rows of recognition in a file; alarms come first


def html_alarms(harm: Harm) -> str:
    """The alarms, worst first; one sentence where there is none."""
    said = html_paragraphs(text.alarm_sentences(harm))
    return f"<div class='alarm'>{said}</div>" if harm.alarms else said


def html_recognition(harm: Harm) -> str:
    """How often each label is recognised before and after, and how gaps were closed."""
    table = harm.recognition_table().sort_values("alarm", ascending=False, kind="stable")
    shown = table.head(MOST)
    rows = [
        (
            text.where(row.client),
            row.group,
            row.label,
            f"{row.n:,.0f}",
            text.limits(row.before, row.before_low, row.before_high),
            text.limits(row.after, row.after_low, row.after_high),
            text.alarm_cell(alarm=row.alarm, beyond_chance=row.beyond_chance),
        )
        for row in shown.itertuples()
    ]
    cut = [text.recognition_of(len(shown), len(table))] if len(shown) < len(table) else []
    closed = [gap.sentence() for gap in harm.closed[: text.MOST_CLOSED]]
    return (html_paragraphs(cut) + html_table(text.RECOGNITION_HEADER, rows)) + (
        html_paragraphs([text.CLOSED_PLAIN]) + html_list(closed) if closed else ""
    )


def html_rates(rates: AllRates) -> str:
    """Every rate overall, what becomes of every notion, and why not all can be equal."""
    table = rates.table()
    rows = [text.rate_cells(row) for row in table[table["client"].isna()].itertuples()]
    notions = [text.notion_cells(one) for one in rates.notions_of()]
    return (
        html_table(text.RATE_HEADER, rows)
        + html_paragraphs([text.NOTIONS_PLAIN])
        + html_table(text.NOTION_HEADER, notions)
        + html_paragraphs([rates.base.sentence()])
    )
