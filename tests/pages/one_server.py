"""One server's life: visits come in as JSON, what each visitor saw goes out as JSON.

    python -m tests.pages.one_server < visits.json > seen.json

A visit is a page and the settings of its link. What is seen is the page to the letter: every
element in its order with all it was told, tables as CSV, charts as Plotly gets them.
"""

import json
import logging
import re
import sys

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import TOP, unfolded

TICKET = re.compile(r"^deferred_file_id: .*\n", re.MULTILINE)  # new for every visitor


def seen(page, link):
    """Everything that a new visitor sees who opens a page by its link."""
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=600)
    app.query_params.update({name: str(value) for name, value in link.items()})
    app.switch_page(f"pages/{page}.py")
    return [told(element) for element in elements(unfolded(app.run(), whole=False)._tree)]


def elements(block):
    """The elements of a page, in their order."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from elements(child)
        else:
            yield child


def told(element):
    """An element as text."""
    if element.type in ("dataframe", "table"):
        return f"{element.type}\n{element.value.to_csv()}"
    return f"{element.type}\n{TICKET.sub('', str(element.proto))}"


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, that nobody listens
    json.dump([seen(page, link) for page, link in json.load(sys.stdin)], sys.stdout)
