"""Mutated files and links: each is read, or refused with a sentence; nothing else.

Tables and counts are spoilt in `tests/intake/test_intake_fuzz.py` and `tests/cli/test_anything.py`.

`FILES=10000 pytest tests/chaos` makes so many for each reader.
"""

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairfl_core.data import experiments
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import FairflError
from fairfl_core.lp.histograms import ScoreHistogram, read_histogram, write_histogram
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.utility import BALANCED
from fairfl_core.predictors.kinds import predictor_of, read_predictor
from fairfl_core.report.review import Option, Review, parse_review
from pages.shared.catalogue import catalogue
from pages.shared.view import read_view, write_view
from tests.cli.running import contents

FILES = int(os.environ.get("FILES", "60"))
TOKENS = (
    *(b"NaN", b"Infinity", b"1e999", b"-1", b"null", b"{}", b"[]", b'""', b"\xff\xfe", b"\x00"),
    *(b"=1+1", b"99999999999999999999", b"\xe2\x80\xae", b"\\ud800", b",,,,", b";", b"\n", b'"'),
    *(b"[[[[[[[[", b"true"),
)
WORDS = (
    *("1", "-1", "nan", "inf", "yes", "", "%00", "9" * 40, "sp,simplex,inf,-inf", "ab"),
    *("[]", "{", "é"),
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


@pytest.fixture(scope="module")
def exact():
    scored = ScoredData.from_experiment(experiments.open("adult"), 0, "validation")
    return scored, predictor_of(FairnessProgram(scored, "sp", "exact").solve(0.05, 0.05))


@pytest.fixture(params=["histograms", "predictors", "reviews"])
def reader(request, exact, tmp_path) -> tuple[list[bytes], Callable[[bytes], object]]:
    """Good files of a kind, and how one is read."""
    path = tmp_path / "p.json"

    def at_path(read: Callable[[Path], object]) -> Callable[[bytes], object]:
        return lambda data: path.write_bytes(data) and read(path)

    scored, predictor = exact
    if request.param == "histograms":
        write_histogram(ScoreHistogram.of(scored), path)
        return [path.read_bytes()], at_path(read_histogram)
    if request.param == "predictors":
        kinds = [contents()["predictor.json"].encode(), json.dumps(predictor.to_json()).encode()]
        return kinds, at_path(read_predictor)
    asked = {"notion": "sp", "region": "exact", "rates": "labels", "seeds": (0, 1)}
    limits = {"eps_global": 0.01, "eps_local": 0.05, "note": "tight"}
    option = Option("A", "adult", "adult", "0" * 64, **asked, **limits)
    review = json.dumps(Review("Which?", (option,)).to_json()).encode()
    return [review], lambda data: parse_review(data, "review.json")


def test_a_spoilt_file_is_read_or_refused_with_a_sentence(reader):
    good, read = reader
    draw = random.Random(1)
    for data in good:
        read(data)  # unspoilt, it is read
    for place in range(FILES):
        data = mutated(good[place % len(good)], draw)
        try:
            read(data)
        except FairflError as error:
            assert str(error).endswith(".") and "\n" not in str(error), (error, data)


def test_a_view_comes_of_every_spoilt_link():
    draw = random.Random(1)
    asked = {"experiment": "adult", "own": "doctorate=0.1", "confidence": "0.95-each-measured"}
    policy = Policy(floors=(Floor(label="over 50K", keeps=0.1),), utility=BALANCED)
    view = replace(read_view(asked, catalogue())[0], policy=policy)
    good = write_view(view, catalogue())  # every name a link may have
    for _ in range(FILES):
        pairs = dict(good)
        for name in draw.sample(sorted(pairs), draw.randint(1, 3)):
            pairs[name] = draw.choice(
                (*WORDS, mutated(pairs[name].encode(), draw).decode("utf-8", "replace"))
            )
        read_view(pairs, catalogue())
