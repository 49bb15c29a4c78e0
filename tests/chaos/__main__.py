"""Make trouble on purpose and see what holds: `python -m tests.chaos`; a short form is part of the tests.

Prints one table; with `--out` it is written into a document between two marks. Ends with 1 where
a promise was not kept, and says which.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from tests.chaos.class_at_once import class_at_once
from tests.chaos.commands import all_commands
from tests.chaos.readers import spoilt_files
from tests.chaos.table import Trouble, markdown
from tests.chaos.training import killed_training
from tests.helpers.serving import has_nginx

EVERY = 5.0  # seconds between two moves of a visitor
BEGIN, END = "<!-- chaos: begin -->", "<!-- chaos: end -->"


def trouble(stops: int, files: int, people: int, seconds: float, seed: int) -> list[Trouble]:
    """All of it: `stops` of each kind and command, `files` mutated files for each reader.

    Training is stopped an eighth as often, as it takes so much longer.
    """
    with tempfile.TemporaryDirectory() as folder:
        troubles = [*all_commands(Path(folder), stops, seed)]
        if trainings := stops // 8:
            troubles.append(killed_training(Path(folder), trainings, seed))
        troubles += spoilt_files(files, seed)
    if people and has_nginx():
        troubles.append(class_at_once(people, seconds, every=EVERY))
    return troubles


def main() -> None:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--stops", type=int, default=8, help="of each kind and command")
    parser.add_argument("--files", type=int, default=10_000, help="mutated ones for each reader")
    parser.add_argument("--people", type=int, default=40, help="at once on two replicas")
    parser.add_argument("--seconds", type=float, default=60, help="for which they are there")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="document whose table is made anew")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit speaks of pages that do not run
    troubles = trouble(options.stops, options.files, options.people, options.seconds, options.seed)
    table = markdown(troubles)
    print(table)
    if options.out:
        before, rest = options.out.read_text("utf-8").split(BEGIN)
        after = rest.split(END)[1]
        options.out.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
    for one in troubles:
        for line in one.broken[:5]:
            print(f"{one.name}: {line}", file=sys.stderr)
    sys.exit(any(one.broken for one in troubles))


if __name__ == "__main__":
    main()
