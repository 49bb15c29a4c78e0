"""A review: its file, its options solved again, what is told of them, and the two pages."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

from fairfl_core.cli import app as cli
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.people import experiments
from fairfl_core.predictors.load import predictor_of
from fairfl_core.review import Option, Review, board_of, html_of, pdf_of, read_review, solve_option
from fairfl_core.review.picture import svg_of
from fairfl_core.review.render import annex_page
from fairfl_core.solving.build import build_program
from fairfl_core.solving.guarantee import Guarantee
from fairfl_core.solving.policy import Floor, Policy

HOSTILE = "<script>alert(1)</script> #set page(width: 1cm) $x$ [a](b) \u0645\u0633\u062a"


@pytest.fixture(scope="module")
def option():
    sha256 = experiments.open("adult").manifest["scores"]["sha256"]
    return Option("A", "adult", "adult", sha256, "sp", "simplex", "labels", (0,), 0.01, 0.05)


@pytest.fixture(scope="module")
def board(option):
    asked = [option, replace(option, name="B", eps_local=0.2, note=HOSTILE)]
    results = [solve_option(one) for one in asked]
    return board_of(results, solve_option, question=f"Which? {HOSTILE}")


def test_a_file_gives_the_same_review_again(option, tmp_path):
    policy = Policy(floors=(Floor("over 50K", 0.4), Floor("up to 50K", keeps=0.1)))
    other = replace(
        option,
        name="B",
        own_limits=(("doctorate", 0.2),),
        guarantee=Guarantee(),
        policy=policy,
        note=HOSTILE,
    )
    review = Review("Which?", (option, other))
    assert read_review(review.write(tmp_path / "review.json")) == review


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v | {"format": "fairfl-review/2"}, "no fairfl-review/1 file"),
        (lambda v: v | {"options": []}, "no option"),
        (lambda v: v | {"options": v["options"] * 5}, "at most 4"),
        (lambda v: v | {"more": 1}, "unknown key"),
        (lambda v: v | {"question": 7}, "must be text"),
        (lambda v: v | {"options": [v["options"][0] | {"seeds": ["x"]}]}, "whole numbers"),
        (lambda v: v | {"options": [v["options"][0] | {"epsilon": 3}]}, "must be an object"),
        (
            lambda v: (
                v
                | {
                    "options": [
                        v["options"][0] | {"epsilon": {"global": 2, "local": 0, "own": {}}}
                    ]
                }
            ),
            "from 0 to 1",
        ),
    ],
)
def test_what_is_no_review_is_refused_in_a_sentence(option, tmp_path, change, says):
    path = tmp_path / "review.json"
    path.write_text(json.dumps(change(Review("Which?", (option,)).to_json())))
    with pytest.raises(InputError, match=says):
        read_review(path)


def test_numbers_are_the_cores_own(option, board):
    experiment = experiments.open("adult")
    counts, test = (experiment.counts(0, split) for split in ("validation", "test"))
    program = build_program(counts, "sp", "simplex", rates="labels")
    for column, local in ((0, 0.05), (1, 0.2)):
        names = [one.name for one in board.columns]
        mine = board.columns[names.index("AB"[column])]
        cells = dict(zip(board.rows, mine.cells, strict=True))
        fair = evaluate(predictor_of(program.solve(0.01, local)), test)
        assert cells["Accuracy, unseen people"] == f"{100 * fair.accuracy:.1f} %"
        cost = 100 * (fair.before.accuracy - fair.accuracy)
        assert cells["Cost against the model as it is"] == f"{cost:.1f} points"
        assert cells["Overall gap (95 %)"].startswith(f"{fair.gaps.overall:.3f} (")
        worst = int(np.nanargmax(fair.gaps.local))
        told = f"{counts.clients[worst]}: {fair.gaps.local[worst]:.3f} ("
        assert cells["Worst client's gap (95 %)"].startswith(told)


def test_none_is_recommended_where_every_option_harms(board):
    """Statistical parity on Adult: every option costs some group a label, beyond chance."""
    assert not any(column.recommended for column in board.columns) and board.recommended == ""
    assert board.decision == "None of these can be recommended."
    assert all("✕ met but harmful" in reason for reason in board.reasons)
    assert "None of these can be recommended." in html_of(board)
    assert [column.under_review for column in board.columns].count(True) == 1
    assert len(board.columns) == 4 and board.columns[-1].name == "No limit"
    assert not board.columns[-1].recommended  # nothing asked is the measure, never the advice
    assert len(board.reasons) == 3 and "alarms beyond chance" in board.reasons[0]
    assert all("559.0" not in cell for table in board.annex for row in table.rows for cell in row)


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_two_pages_then_the_annex_and_nothing_typed_is_markup(board):
    assert annex_page(board) == 3
    assert pdf_of(board).startswith(b"%PDF-")
    reader = _Text()
    reader.feed(html_of(board))
    words = " ".join(reader.text)
    assert "script" not in reader.tags and HOSTILE in words and "localhost" not in words
    for column in board.columns:
        assert all(cell in words for cell in column.cells)


def test_the_picture_has_each_gap_at_its_place_and_none_that_is_not_known(board):
    first, *others = board.columns
    unknown = replace(first, picture=first.picture | {"worst": None})
    drawn = svg_of(replace(board, columns=(unknown, *others)))
    circles, squares = (
        [float(place) for place in re.findall(pattern, drawn)][1:]  # after the legend's
        for pattern in (r'<circle cx="([\d.]+)"', r'<rect x="([\d.]+)"')
    )
    overall = [column.picture["overall"] for column in board.columns]
    worst = [column.picture["worst"] for column in others]
    ends = [
        x for c in (unknown, *others) for x in (c.picture["overall_high"], c.picture["worst_high"])
    ]
    most = max(0.1, *overall, *worst, *ends)
    assert circles == pytest.approx([190 + 420 * gap / most for gap in overall])
    assert squares == pytest.approx([185 + 420 * gap / most for gap in worst])


def test_long_notes_and_many_clients_leave_it_at_two_pages():
    sha256 = experiments.open("public_coverage").manifest["scores"]["sha256"]
    first = Option(
        *("A", "public_coverage", "public_coverage", sha256, "eop", "simplex", "labels", (0,)),
        *(0.01, 0.05),
        note="A long note of a reviewer who has much to say. " * 40,
    )
    results = [
        solve_option(replace(first, name=name, eps_local=eps))
        for name, eps in (("A", 0.05), ("B", 0.1), ("C", 0.2), ("D", 0.3))
    ]
    board = board_of(results, solve_option, question="Which of these four? " * 20)
    assert annex_page(board) == 3
    assert sorted(column.name for column in board.columns) == ["A", "B", "C", "D", "No limit"]
    assert board.annex[0].title == "Notes of the reviewers"


def test_what_is_recommended_is_no_cross_and_mends_the_worst_gap():
    """Fifty states by their answers: nobody is hurt beyond chance; two are not sure yet."""
    sha256 = experiments.open("public_coverage_cross_fitted").manifest["scores"]["sha256"]
    data = "public_coverage_cross_fitted"
    setting = ("public_coverage", data, sha256, "eop", "simplex", "labels", (0,))
    results = [
        solve_option(Option(name, *setting, eps, eps))
        for name, eps in (("A", 0.05), ("B", 0.1), ("C", 0.01))
    ]
    board = board_of(results, solve_option)
    verdicts = {one.option.name: one.summary.verdict for one in results}
    assert board.recommended in verdicts and board.decision.startswith("Recommended: ")
    chosen = verdicts[board.recommended]
    assert chosen.word in ("met", "not sure yet") and not chosen.hurt and not chosen.grown
    assert board.reasons[0].startswith("Harm:") and len(board.reasons) >= 4
    assert [column.recommended for column in board.columns].count(True) == 1
    worse = replace(chosen, limits=tuple(replace(o, gap=0.6, before=0.5) for o in chosen.limits))
    assert not worse.is_recommendable


def test_from_a_shell(option, board, tmp_path):
    other = replace(option, name="B", eps_local=0.2)
    path = Review("Which?", (option, other)).write(tmp_path / "review.json")
    report = tmp_path / "report.pdf"
    words = ["review", str(path), "--json", "--out", str(report)]
    told = json.loads(CliRunner().invoke(cli, words, standalone_mode=False).stdout)
    for column in board.columns:
        assert tuple(told["options"][column.name].values()) == column.cells
    assert told["recommended"] is None and told["verdicts"]["B"]["word"] == "met but harmful"
    assert told["verdict"]["word"] == "met but harmful" and told["verdict"]["why"]
    assert board.recommended == "" and report.read_bytes()[:5] == b"%PDF-"
    broken = replace(option, sha256="0" * 64)
    Review("Which?", (broken,)).write(path)
    ended = CliRunner().invoke(cli, ["review", str(path)], standalone_mode=False)
    assert "sha256 differs" in str(ended.exception)
