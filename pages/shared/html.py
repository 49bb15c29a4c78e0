"""Files that stand alone: HTML with its style inside, in which names are only text."""

from collections.abc import Sequence
from html import escape

__all__ = ["html_document", "html_list", "html_paragraphs", "html_sections", "html_table"]

CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b2733; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { border-bottom: 1px solid #d0d7de; padding: .3rem .5rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } .note { color: #57606a; font-size: .9rem; }
.alarm { border-left: .5rem solid #d55e00; background: #fbefe7; padding: .2rem 1rem; }
pre { background: #f4f6f8; padding: .8rem; overflow-x: auto; font-size: .8rem; }
@page { size: A4; margin: 13mm 14mm; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } h2 { break-after: avoid; }
               table { font-size: 8pt; } tr, figure { break-inside: avoid; } }
"""


def html_document(title: str, before: str, sections: dict[str, str]) -> str:
    """A whole file: a title, what comes before the sections, and the sections (of safe HTML)."""
    body = html_sections(sections)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>"
        f"<h1>{escape(title)}</h1>{before}{body}</body></html>"
    )


def html_sections(sections: dict[str, str]) -> str:
    """Sections with their headings."""
    return "".join(
        f"<section><h2>{escape(name)}</h2>{content}</section>"
        for name, content in sections.items()
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of text; the names in it are only text."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in rows
    )
    thead = f"<thead><tr>{head}</tr></thead>" if header else ""
    return f"<table>{thead}<tbody>{body}</tbody></table>"


def html_list(sentences: Sequence[str]) -> str:
    """Sentences one below the other."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def html_paragraphs(sentences: Sequence[str]) -> str:
    """Sentences, one paragraph each."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
