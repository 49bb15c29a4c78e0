"""Print what the first pages tell, as JSON: run under the settings of another processor."""

import json
import logging
import sys
from dataclasses import asdict

from fairfl_core.data.experiments import list_experiments
from pages.shared.catalogue import bundled
from pages.shared.results import summary_of
from pages.shared.view import read_view


def main():
    """Compute the summary of every view that a visit begins with."""
    logging.disable(logging.WARNING)  # Streamlit's, that no server runs
    views = [read_view({"experiment": name}, bundled())[0] for name in list_experiments()]
    told = {repr(view): asdict(summary_of(view)) for view in views}
    json.dump(told, sys.stdout, default=lambda array: array.tolist())


if __name__ == "__main__":
    main()
