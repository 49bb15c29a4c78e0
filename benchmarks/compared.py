"""CPU seconds of a call, and a table that is printed row by row as it grows."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table


def seconds(call, times=1):
    """CPU seconds of a call, the best of `times`, and what it gave."""
    best, found = np.inf, None
    for _ in range(times):
        begun = time.process_time()
        found = call()
        best = min(best, time.process_time() - begun)
    return best, found


class Rows:
    """A table of a title and columns."""

    def __init__(self, title, *columns):
        self.table = Table(title=title, title_justify="left")
        for column in columns:
            self.table.add_column(column, justify="left" if column == "what" else "right")

    def add(self, *cells):
        """One row."""
        self.table.add_row(*map(str, cells))
        print(*cells, flush=True)

    def show(self):
        """Print the whole table."""
        Console(width=120).print(self.table)
