"""Words stand in text files, so that a language is added by adding files; nothing else speaks."""

import ast
import re

import pytest

from tests.pages.conftest import TOP

SOURCES = sorted((TOP / "pages").rglob("*.py"))
# Numbers as text, names of a link's values, and the report's style are no sentences.
NOT_WORDS = {"format.py", "codecs.py"}
SPEAKING = re.compile(r"[a-zé]{2,}[,;:.]? [a-z]{2,}", re.IGNORECASE)
# Style sheets, scripts, types, names with underscores, words of Plotly's.
CODE = re.compile(r"[{}=#_\[]|rgba\(|^(top|bottom|middle) (left|center|right)$")
MARKUP = re.compile(r"%\{[^}]*\}|<[/!]?[a-z][^>]*>")  # placeholders of a hover text, HTML


def speaks(value):
    words = MARKUP.sub(" . ", value)
    return bool(SPEAKING.search(words)) and not CODE.search(words)


def is_text(path):
    return path.name == "text.py" or path.name.endswith("_text.py") or path.name in NOT_WORDS


def docstrings(tree):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value
        # A message for who reads the log or the traceback, not for a visitor.
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log.")
        ):
            yield from ast.walk(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(TOP)))
def test_no_sentence_outside_a_text_file(path):
    if is_text(path):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    apart = {id(node) for node in docstrings(tree)}
    said = [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart
        if speaks(node.value)
    ]
    assert not said


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(TOP)))
def test_words_and_figures_compute_no_rate(path):
    """A sentence knows results, not how they come about; a figure is given what it draws."""
    if not is_text(path) and "figures" not in path.name:
        return
    solving = tuple(
        f"fairfl_core.solving.{name}" for name in ("answer_program", "build", "program")
    )
    names = {
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert not [name for name in names if name and name.startswith((*solving, "streamlit"))]


def test_a_sentence_would_be_noticed():
    assert speaks("Nothing binds here") and speaks("<b>no limit</b> on %{x:.3f} unseen people")
    assert not speaks("clients-csv") and not speaks("h1 { font-size: 1rem }")
