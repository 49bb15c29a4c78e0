"""Print what the first pages tell, as JSON: run under the settings of another processor."""

import json
import sys

from pages.components.shared import results, shipped

from fairfl_core._io.plain import to_plain


def main():
    """Compute the summary of every view that a visit begins with."""
    views = shipped.start_views()
    json.dump({repr(view): to_plain(results.computed_summary(view)) for view in views}, sys.stdout)


if __name__ == "__main__":
    main()
