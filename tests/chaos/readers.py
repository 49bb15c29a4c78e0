"""Mutated files for every reader: each is read, or refused with a sentence; nothing else."""

import io
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import FairflError
from fairfl_core.intake import ColumnRoles, experiment_from_counts, experiment_from_table
from fairfl_core.lp.exact.histogram_file import read_histogram, write_histogram
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from fairfl_core.predictors.load import predictor_of, read_predictor
from fairfl_core.report.review import Option, Review, parse_review
from pages.shared.catalogue import catalogue
from pages.shared.view import read_view, write_view
from tests.chaos.table import Trouble
from tests.cli.running import contents, people

TOKENS = (
    b"NaN",
    b"Infinity",
    b"1e999",
    b"-1",
    b"null",
    b"{}",
    b"[]",
    b'""',
    b"\xff\xfe",
    b"\x00",
    b"=1+1",
    b"99999999999999999999",
    b"\xe2\x80\xae",
    b"\\ud800",
    b",,,,",
    b";",
    b"\n",
    b'"',
    b"[[[[[[[[",
    b"true",
)
WORDS = (
    "1",
    "-1",
    "nan",
    "inf",
    "yes",
    "",
    "%00",
    "9" * 40,
    "sp,simplex,inf,-inf",
    "ab",
    "[]",
    "{",
    "é",
)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A file with one to three things done to it: cut, doubled, changed, or something put in."""
    spoilt = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        start = draw.randrange(len(spoilt) + 1)
        end = min(len(spoilt), start + draw.randint(0, 40))
        spoilt[start:end] = draw.choice(
            (b"", bytes(spoilt[start:end]) * 2, draw.choice(TOKENS), draw.randbytes(3))
        )
    return bytes(spoilt)


def readers() -> Iterator[tuple[str, list[bytes], Callable[[bytes], object]]]:
    """Of every reader: its name, good files, and how it reads one."""
    good = {name: content.encode() for name, content in contents().items()}
    parquet = io.BytesIO()
    people().to_parquet(parquet)
    roles = ColumnRoles(client="clinic", group="sex", label="diagnosis", prediction="model")
    yield (
        "tables (CSV, Parquet)",
        [good["rows.csv"][:4000], parquet.getvalue()],
        lambda data: experiment_from_table(_opened(data), roles),
    )
    yield "counts", [good["counts.json"]], lambda data: experiment_from_counts([("c", data)])
    scored = ScoredData.from_experiment(experiments.open("adult"), 0, "validation")
    exact = predictor_of(FairnessProgram(scored, "sp", "exact").solve(0.05, 0.05))
    binned = _written(lambda path: write_histogram(ScoreHistogram.of(scored), path))
    yield "histograms", [binned], _at_path(read_histogram)
    kinds = [good["predictor.json"], _json(exact.to_json())]
    yield "predictors", kinds, _at_path(read_predictor)
    asked = {"notion": "sp", "region": "exact", "rates": "labels", "seeds": (0, 1)}
    limits = {"eps_global": 0.01, "eps_local": 0.05, "note": "tight"}
    option = Option("A", "adult", "adult", "0" * 64, **asked, **limits)
    review = _json(Review("Which?", (option,)).to_json())
    yield "reviews", [review], lambda data: parse_review(data, "review.json")


def _opened(data: bytes):
    from fairfl_core.data.tables.tables import open_table

    return open_table("t.parquet" if data.startswith(b"PAR1") else "t.csv", data)


def _json(value) -> bytes:
    import json

    return json.dumps(value).encode()


def _at_path(read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A reader of files as a reader of bytes."""

    def take(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.json"
            path.write_bytes(data)
            return read(path)

    return take


def _written(write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "p.json")
        return (Path(folder) / "p.json").read_bytes()


def spoilt_files(times: int, seed: int) -> Iterator[Trouble]:
    """Each reader on `times` mutated files."""
    draw = random.Random(seed)
    for name, good, read in readers():
        trouble = Trouble(f"spoilt {name}", "read, or refused with a sentence")
        for data in good:
            read(data)  # unspoilt, it is read
        for place in range(times):
            data = mutated(good[place % len(good)], draw)
            try:
                read(data)
                trouble.tried(kept=True)
            except FairflError as error:
                said = str(error)
                trouble.tried(kept=said.endswith(".") and "\n" not in said, otherwise=said)
            except Exception as error:  # noqa: BLE001
                trouble.tried(kept=False, otherwise=f"{type(error).__name__}: {error}")
        yield trouble
    yield _links(times, draw)


def _links(times: int, draw: random.Random) -> Trouble:
    """Links in which parameters were changed: a view comes of each, and what it ignored is named."""
    trouble = Trouble("spoilt links", "a view, and what was ignored by name")
    asked = {"experiment": "adult", "own": "doctorate=0.1", "confidence": "0.95-each-measured"}
    view = read_view(asked, catalogue())[0]
    policy = Policy(floors=(Floor(label="over 50K", keeps=0.1),), utility=BALANCED)
    good = write_view(replace(view, policy=policy), catalogue())  # every name a link may have
    for _ in range(times):
        pairs = dict(good)
        for name in draw.sample(sorted(pairs), draw.randint(1, 3)):
            pairs[name] = draw.choice(
                (*WORDS, mutated(pairs[name].encode(), draw).decode("utf-8", "replace"))
            )
        try:
            read_view(pairs, catalogue())
            trouble.tried(kept=True)
        except Exception as error:  # noqa: BLE001
            trouble.tried(
                kept=False, otherwise=f"{urlencode(pairs)}: {type(error).__name__}: {error}"
            )
    return trouble
