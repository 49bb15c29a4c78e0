"""A review's board, picture and pages, as they were approved; see `helpers/approved.py`."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from fairfl_core.review import UPLOADED, Option, Review, board_of, html_of, solve_option
from fairfl_core.review.file import parse_review
from fairfl_core.review.picture import svg_of
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, Policy
from fairfl_core.solving.utility import BALANCED
from tests.helpers.approved import check, declared, refusal, tell

APPROVED = Path(__file__).with_name("as_computed")


@pytest.fixture(scope="module")
def uploaded():
    upload = open_table("people.csv", example_table().encode())
    scores = (("healthy", "score_healthy"), ("ill", "score_ill"))
    return experiment_from_table(
        upload, replace(guess_roles(upload), prediction="", scores=scores)
    )


@pytest.fixture(scope="module")
def options(uploaded):
    sha256 = uploaded.experiment.manifest["scores"]["sha256"]
    first = Option("A", UPLOADED, UPLOADED, sha256, "eo", "simplex", "labels", (0,), 0.05, 0.1)
    return {
        "plain": first,
        "tight": replace(first, name="B", eps_global=0.0, eps_local=0.02, note="Too dear?"),
        "sure": replace(
            first, name="C", guarantee=Guarantee(0.9, "each"), eps_local=0.3, eps_global=0.2
        ),
        "exact": replace(first, name="D", region="exact", rates="shrunk", notion="eop"),
        "own": replace(first, name="E", own_limits=(("Harbour", 0.01), ("East", 0.3))),
        "floors": replace(
            first, name="F", policy=Policy(floors=(Floor("ill", 0.6),), utility=BALANCED)
        ),
        "ratios": replace(first, name="G", notion="sp", policy=Policy(ratio_local=0.8)),
    }


BOARDS = {
    "two limits": ("plain", "tight"),
    "four options": ("sure", "exact", "own", "floors"),
    "one option": ("ratios",),
}


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_is_what_was_approved(uploaded, options, name):
    def solve(option):
        return solve_option(option, uploaded.experiment)

    asked = [options[one] for one in BOARDS[name]]
    board = board_of([solve(one) for one in asked], solve, question="Which of them?")
    text = re.sub(r"<style>.*?</style>", "", html_of(board), flags=re.DOTALL)
    shown = tell(board=board.to_json(), verdict=board.verdict, reasons=board.reasons)
    picture = svg_of(board).replace("><", ">\n<")
    check(
        APPROVED / f"{name}.txt",
        f"{shown}\n{picture}\n{text if name == 'two limits' else ''}",
        close=1e-5,
    )


def test_files_and_refusals_are_what_was_approved(options):
    whole = Review("Which?", tuple(options.values())[:3])
    value, option = whole.to_json(), options["own"].to_json()

    def spoilt(**change):
        return lambda: Review.from_json(value | change)

    def other(**change):
        return spoilt(options=[option | change])

    tries = {
        "format": spoilt(format="moon"),
        "none": spoilt(options=[]),
        "many": spoilt(options=[option] * 5),
        "more": spoilt(more=1),
        "question": spoilt(question="x" * 4001),
        "no text": spoilt(question=3),
        "option": spoilt(options=[3]),
        "seeds": other(seeds=[]),
        "a seed": other(seeds=[-1]),
        "no seed": other(seeds=[True]),
        "epsilon": other(epsilon=3),
        "limit": other(epsilon={"global": 2, "local": 0, "own": {}}),
        "own": other(epsilon={"global": 1, "local": 0, "own": []}),
        "guarantee": other(guarantee=3),
        "policy": other(policy=3),
        "large": lambda: parse_review(b" " * 2_000_001, "x.json"),
        "data": lambda: solve_option(replace(options["own"], data="moon")),
        "table": lambda: solve_option(options["own"]),
        "reading": spoilt(reading={"more": 1}),
    }
    told = {name: refusal(one) for name, one in tries.items()}
    check(APPROVED / "files.txt", tell(file=value, refused=told))


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("review"))
