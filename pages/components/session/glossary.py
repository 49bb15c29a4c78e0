"""The product's name, and the words of the app with their meaning one hover away: on every page."""

from html import escape

from pages.components.learn.glossary_text import WORDS
from pages.components.session import text

__all__ = ["brand"]


def brand() -> str:
    """One line: what this is, and the words used in it."""
    meanings = dict(WORDS)
    terms = ", ".join(
        f'<span class="fairfl-term" tabindex="0">{escape(word)}'
        f'<span role="tooltip">{escape(meanings[entry])}</span></span>'
        for word, entry in text.TERMS.items()
    )
    return (
        f'<div class="fairfl-brand"><b>{escape(text.NAME)}</b> · {escape(text.ONE_LINE)}<br>'
        f"{escape(text.WORDS)} {terms}</div>"
    )
