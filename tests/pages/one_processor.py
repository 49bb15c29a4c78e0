"""Print what the first pages tell, as JSON: run under the settings of another processor."""

import json
import logging
import sys
from dataclasses import asdict, replace

from pages.shared.catalogue import bundled
from pages.shared.results import summary_of
from pages.shared.view import read_view

FIGURES = (
    "n",
    "accuracy",
    "overall",
    "overall_interval",
    "local_mean",
)


def told_of(summary):
    """Every number of a summary: figures are computed where they are read."""
    output = asdict(replace(summary, reached=None, unseen=None))
    for side in ("reached", "unseen"):
        figures = getattr(summary, side)
        output[side] = {name: getattr(figures, name) for name in FIGURES}
        output[side]["worst"] = asdict(figures.worst)
    return output


def main():
    """Compute the summary of views that visits begin with, of one run."""
    logging.disable(logging.WARNING)  # Streamlit's, that no server runs
    names = ("adult", "public_coverage", "ham10000")
    views = [read_view({"experiment": name, "seed": "0"}, bundled())[0] for name in names]
    output = {repr(view): told_of(summary_of(view)) for view in views}
    json.dump(output, sys.stdout, default=lambda array: array.tolist())


if __name__ == "__main__":
    main()
