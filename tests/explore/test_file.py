"""The Explore screen as a file: what it holds is what the core says, and names are only text."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.explore.file import LIMITS, About, KeptOption, explore_file
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from tests.helpers.strategies import count_tables

GRID = (0.0, 0.05, 0.2, 1.0)
HOSTILE = "</script><img src=x onerror=hit()>"


def two_clinics(first: str = "North") -> ClientCounts:
    """Counts in which every cell differs from its neighbours."""
    table = np.arange(1, 17).reshape(2, 2, 2, 2) * 7
    return ClientCounts(table, (first, "South"), ("men", "women"), ("well", "ill"), "ill")


def made(counts: ClientCounts, unseen: ClientCounts | None = None, **more) -> str:
    about = About(title=more.pop("title", "Clinics"), noun="clinic", rests=[("Data", "made")])
    program = FairnessProgram(counts, "eo", "simplex", policy=more.pop("policy", Policy()))
    return explore_file(about, [(0, program)], [unseen], limits=GRID, **more)


def data_of(html: str) -> dict:
    (packed,) = re.findall(r'id="study">([^<]*)</script>', html)
    return json.loads(gzip.decompress(b64decode(packed)))


@pytest.mark.parametrize("judged", ["new", "fitted"])
def test_every_cell_holds_what_the_core_says_of_these_limits(judged):
    counts = two_clinics()
    unseen = replace(counts, table=counts.table[::-1] + 3) if judged == "new" else None
    study = data_of(made(counts, unseen))
    program = FairnessProgram(counts, "eo", "simplex")
    assert study["map"]["limits"] == list(GRID)
    for y, inside in enumerate(GRID):
        for x, overall in enumerate(GRID):
            cell = study["cells"][y * len(GRID) + x]
            solution = program.solve(overall, inside)
            found = evaluate(predictor_of(solution), unseen or counts)
            assert study["map"]["accuracy"][y][x] == pytest.approx(
                100 * solution.accuracy, abs=0.006
            )
            gaps = cell["gaps"]["clients"]
            assert [row["name"] for row in gaps] == ["North", "South"]
            for c, row in enumerate(gaps):
                assert row["n"] == found.counts.n_client[c]
                assert row["asked"] == inside
                assert row["after"] == pytest.approx(found.gaps.local[c], abs=6e-5)
                assert row["before"] == pytest.approx(found.before.gaps.local[c], abs=6e-5)
            for c, row in enumerate(cell["found"]["ill"]["clients"]):
                ill = found.counts.labels.index("ill")
                recognised = found.confusion[c, :, ill, ill] / found.confusion[c, :, ill].sum(
                    axis=-1
                )
                assert [one["after"] for one in row["groups"]] == pytest.approx(
                    100 * recognised, abs=0.006
                )
            price = cell["price"]["clients"][1]
            right = found.confusion[1, :, [0, 1], [0, 1]].sum() / found.confusion[1].sum()
            before = found.before.confusion[1, :, [0, 1], [0, 1]].sum() / found.confusion[1].sum()
            assert price["points"] == pytest.approx(100 * (right - before), abs=6e-4)
            word = "no limit asked" if found.verdict is None else found.verdict.word
            if judged == "fitted" and found.verdict is not None:
                word = "not sure yet"  # nobody new has been judged
            assert cell["verdict"][1].endswith(word)


@given(counts=count_tables())
@settings(max_examples=15)
def test_any_counts_make_a_file(counts):
    study = data_of(made(counts))
    assert len(study["cells"]) == len(GRID) ** 2
    assert all(len(cell["numbers"]) == 4 for cell in study["cells"])


def test_names_are_only_text_and_nothing_else_may_run():
    html = made(two_clinics(HOSTILE), title=HOSTILE)
    assert HOSTILE not in html and "<img" not in html
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    for tag in ("script", "style"):
        (source,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        digest = b64encode(sha256(source.encode()).digest()).decode()
        assert parts[f"{tag}-src"] == f"'sha256-{digest}'"
    assert not re.search(r"https?://(?!www\.w3\.org/)", html)
    assert data_of(html)["cells"][0]["gaps"]["clients"][0]["name"] == HOSTILE


def test_where_limits_and_floors_collide_a_cell_is_empty():
    floors = Policy(floors=(Floor("ill", keeps=0.0), Floor("well", keeps=0.0)))
    study = data_of(made(two_clinics(), policy=floors))
    empty = [cell is None for cell in study["cells"]]
    accuracy = np.ravel(study["map"]["accuracy"])
    assert any(empty) and not all(empty)
    assert [value is None for value in accuracy] == empty


def test_kept_options_stand_on_the_map_and_the_grid_is_the_sliders():
    counts = two_clinics()
    program = FairnessProgram(counts, "eo", "simplex")
    kept = [KeptOption("C", "0.05 overall", (0.05, 1.0))]
    about = About("Clinics", "clinic", [], start=(0.2, 0.05), kept=kept)
    study = data_of(explore_file(about, [(0, program)], [None], limits=GRID))
    assert study["map"]["here"] == [2, 1]
    assert study["map"]["kept"] == [["C", 1, 3]]
    assert study["options"] == [["C", "0.05 overall", 0.05, 1.0]]
    assert len(LIMITS) == 22 and LIMITS[-1] == 1


def test_limits_that_do_not_ascend_are_refused():
    program = FairnessProgram(two_clinics(), "eo", "simplex")
    about = About("Clinics", "clinic", [])
    for limits in ((0.1, 0.0, 1.0), (0.1,), (0.1, 0.1)):
        with pytest.raises(InputError, match="must ascend"):
            explore_file(about, [(0, program)], [None], limits=limits)
