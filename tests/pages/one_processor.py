"""Print what the first pages tell, as JSON: run under the settings of another processor."""

import json
import sys

from fairfl_core._io.plain import to_plain
from pages.shared.catalogue import bundled
from pages.shared.results import summary_of
from pages.shared.view import read_view


def main():
    """Compute the summary of the view that each experiment starts with."""
    start = [read_view({"experiment": name}, bundled())[0] for name in bundled().names]
    json.dump({repr(view): to_plain(summary_of(view)) for view in start}, sys.stdout)


if __name__ == "__main__":
    main()
