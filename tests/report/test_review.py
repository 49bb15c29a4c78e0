"""A review: its file, its options solved again, what is recommended, and the report."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader
from typer.testing import CliRunner

from fairfl_core.cli import load
from fairfl_core.data import experiments
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.report.board import board_of, recommended, worst_gap_is_smaller
from fairfl_core.report.render import comparison_html, html_of, pdf_of, typst_text
from fairfl_core.report.review import Option, Review, parse_review, read_review, solve_option
from fairfl_core.report.text import ROWS
from tests.pages.reading import together

HOSTILE = '<script>alert(1)</script> #set page(width: 1cm) $x$ [a](b) "\\" */ مست'
SHOWN = ("verdict", "worst", "found", "accuracy", "pays")


def option_of(data, notion, *limits, experiment=None, name="A"):
    sha256 = experiments.open(data).manifest["scores"]["sha256"]
    setting = (experiment or data, data, sha256, notion, "simplex", "labels", (0,))
    return Option(name, *setting, *limits)


@pytest.fixture(scope="module")
def option():
    return option_of("adult", "sp", 0.01, 0.05)


@pytest.fixture(scope="module")
def results(option):
    return [
        solve_option(one)
        for one in (option, replace(option, name="B", eps_local=0.2, note=HOSTILE))
    ]


@pytest.fixture(scope="module")
def board(results):
    return board_of(results, question=f"Which? {HOSTILE}")


def skin():
    """The skin lesions: five age bands, some of few people."""
    first = option_of("ham10000", "eo", 1.0, 0.05)
    return [first, replace(first, name="B", eps_global=0.05)]


def states(*limits):
    data = "public_coverage_cross_fitted"
    first = option_of(data, "eop", 0.05, 0.05, experiment="public_coverage")
    return [
        replace(first, name=name, eps_global=eps, eps_local=eps)
        for name, eps in zip("ABCD", limits, strict=False)
    ]


# -------------------------------------------------------------------- the file


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


def _with(**change):
    return lambda v: v | {"options": [v["options"][0] | change]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v | {"format": "fairfl-review/2"}, "no fairfl-review/1 file"),
        (lambda v: v | {"options": []}, "no option"),
        (lambda v: v | {"options": v["options"] * 5}, "at most 4"),
        (lambda v: v | {"options": [3]}, "must be a JSON object"),
        (lambda v: v | {"more": 1}, "unknown key"),
        (lambda v: v | {"question": 7}, "must be text"),
        (lambda v: v | {"question": "x" * 4001}, "at most 4,000 letters"),
        (lambda v: v | {"reading": {"more": 1}}, "unknown key"),
        (_with(seeds=["x"]), "whole numbers"),
        (_with(seeds=[]), "cannot be read"),
        (_with(epsilon=3), "must be an object"),
        (_with(epsilon={"global": 2, "local": 0, "own": {}}), "from 0 to 1"),
        (_with(epsilon={"global": 1, "local": 0, "own": []}), "cannot be read"),
        (_with(guarantee=3), "must be null or an object"),
        (_with(policy=3), "must be null or an object"),
    ],
)
def test_what_is_no_review_is_refused_in_a_sentence(option, tmp_path, change, says):
    path = tmp_path / "review.json"
    path.write_text(json.dumps(change(Review("Which?", (option,)).to_json())))
    with pytest.raises(InputError, match=says):
        read_review(path)


def test_a_file_too_large_for_a_review_is_not_read(option):
    data = json.dumps(Review("Which?", (option,)).to_json()).encode()
    assert parse_review(data.ljust(2_000_000), "r.json").options == (option,)
    with pytest.raises(InputError, match=r"^r\.json: is larger than 2 MB, which no review is"):
        parse_review(data.ljust(2_000_001), "r.json")


# -------------------------------------------------------------------- numbers


def test_numbers_are_the_cores_own(board):
    experiment = experiments.open("adult")
    counts, test = (experiment.counts(0, split) for split in ("validation", "test"))
    program = FairnessProgram(counts, "sp", "simplex", rates="labels")
    fair = [evaluate(predictor_of(program.solve(0.01, local)), test) for local in (0.05, 0.2)]
    one = fair[0].before
    for column, e in zip(board.columns, (one, *fair), strict=True):
        worst = int(np.nanargmax(e.gaps.local))
        cells = column.cells
        assert cells["accuracy"].text == f"{100 * e.accuracy:.1f} %"
        assert cells["accuracy"].mark.value == pytest.approx(e.accuracy)
        assert cells["worst"].text == f"{e.gaps.local[worst]:.2f} in {counts.clients[worst]}"
        assert cells["worst"].mark.value == pytest.approx(e.gaps.local[worst])
        assert cells["overall"].text == f"{e.gaps.overall:.2f}"
        found = np.einsum("cayy->cay", e.confusion) / e.counts.n_label
        label = counts.labels.index(counts.favourable)
        enough = np.where(e.counts.n_label >= 10, found, np.nan)[:, :, label]
        c, a = np.unravel_index(np.nanargmin(enough), enough.shape)
        assert cells["found"].text.endswith(f"{100 * enough[c, a]:.1f} %")
        assert cells["found"].note == f"{counts.groups[a]}, {counts.clients[c]}"
        assert cells["found"].mark.value == pytest.approx(enough[c, a])
    for column, e, local in zip(board.options, fair, (0.05, 0.2), strict=True):
        assert column.cells["cost"].text == f"{100 * (one.accuracy - e.accuracy):.1f} points"
        assert column.cells["worst"].mark.limit == local
        assert column.cells["accuracy"].mark.before == pytest.approx(one.accuracy)
    assert len({column.cells["accuracy"].mark.value for column in board.columns}) == 3


def test_only_what_was_kept_is_told_in_order(board):
    assert [column.name for column in board.columns] == ["The model as it is", "A", "B"]
    assert [column.title for column in board.options] == [
        "0.01 overall, 0.05 inside",
        "0.01 overall, 0.20 inside",
    ]
    words = html_of(board)
    assert not re.search("Twice|Four times|nobody left worse off|No limit", words)


def test_options_are_named_by_what_differs(option):
    others = [
        replace(option, name="B", notion="eop"),
        replace(option, name="C", own_limits=(("doctorate", 0.3),)),
    ]
    named = board_of([solve_option(one) for one in (option, *others)]).options
    assert [one.title for one in named] == [
        "Statistical parity",
        "Equal opportunity",
        "doctorate 0.30, Statistical parity",
    ]
    single = board_of([solve_option(replace(option, eps_global=0.05))]).options
    assert [one.title for one in single] == ["0.05 both"]


# -------------------------------------------------------------------- what is recommended


def test_none_is_recommended_where_every_option_harms(board):
    """Statistical parity on Adult: every option costs some group a label, beyond chance."""
    assert not any(column.recommended for column in board.columns) and board.recommended == ""
    assert board.decision == "None of these can be recommended: each is not met."
    assert all("✕ not met" in one and "hurt" in one for one in board.reasons[:2])
    assert board.decision in html_of(board)


def test_what_is_recommended_is_no_cross_and_mends_the_worst_gap():
    """Fifty states by their answers: some limit hurts nobody beyond chance."""
    results = [solve_option(one) for one in states(0.05, 0.1, 0.01)]
    board, chosen = board_of(results), recommended(results)
    assert chosen is not None and board.recommended == chosen.option.name
    verdict = chosen.summary.verdict
    assert verdict.shape in "●○" and not verdict.hurt and worst_gap_is_smaller(chosen)
    assert board.decision.startswith(f"We recommend {board.recommended}: ")
    column = next(one for one in board.columns if one.recommended)
    assert column.name == board.recommended
    assert column.cells["worst"].mark.value < board.columns[0].cells["worst"].mark.value
    assert "<em>recommended</em>" in comparison_html(board)


@pytest.mark.parametrize("limits", [(0.02, 1.0), (0.3, 1.0), (1.0, 0.05), (1.0, 1.0)])
@pytest.mark.parametrize("notion", ["eop", "eo"])
def test_an_option_that_leaves_the_worst_gap_is_never_recommended(notion, limits):
    for data in ("ham10000", "public_coverage"):
        result = solve_option(option_of(data, notion, *limits))
        runs = result.study.evaluations(unseen=True)
        after, before = (
            np.nanmax(np.nanmean([e.gaps.local for e in each], axis=0))
            for each in (runs, [e.before for e in runs])
        )
        if (
            after >= before
            or result.summary.verdict is None
            or result.summary.verdict.shape == "✕"
        ):
            assert recommended([result]) is None


# -------------------------------------------------------------------- the report


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.fetched = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data)


def words_of(html):
    reader = _Text()
    reader.feed(html)
    return reader


def pages_of(pdf):
    return [together(page.extract_text()) for page in PdfReader(BytesIO(pdf)).pages]


def test_both_files_have_the_boards_numbers_and_the_decision_on_page_one(board):
    html, pages = words_of(html_of(board)), pages_of(pdf_of(board))
    said = " ".join(html.text)
    assert html.fetched == [] and "script" not in html.tags
    assert together(board.decision) in pages[0] and "Nameandsignature" in pages[0]
    assert "Annex" in pages[-1] and "Annex" not in "".join(pages[:2])
    for column in board.columns:
        for code in SHOWN:
            cell = column.cells[code]
            for part in (cell.text, cell.note):
                assert part in said and together(part) in pages[0], part
    for detail in board.details:
        for table in detail.tables:
            for cell in (cell for row in table.rows for cell in row):
                assert cell in said and together(cell) in "".join(pages[1:])
    for table in board.annex[1:]:
        for row in table.rows:
            assert together("".join(row)) in "".join(pages) and all(cell in said for cell in row)


def test_nothing_typed_is_markup(board):
    said = " ".join(words_of(html_of(board)).text)
    assert said.count(HOSTILE) >= 2 and "<script" not in html_of(board)
    pages = pages_of(pdf_of(board))
    assert together("<script>alert(1)</script> #set page(width: 1cm) $x$ [a](b)") in pages[0]


@given(st.text())
def test_any_text_is_a_string_of_typst(text):
    """It ends where it is meant to: no sign of it closes the string or begins something."""
    written = typst_text(text)
    assert written.startswith('#"') and written.endswith('";')
    inner = written[2:-2]
    assert not re.search(r'(?<!\\)(\\\\)*"', inner) and not re.search(r"[\x00-\x1f]", inner)
    assert len(re.search(r"\\*$", inner)[0]) % 2 == 0


def test_no_statement_is_about_fewer_than_ten_people():
    """On the skin lesions some groups of some age bands have fewer."""
    results = [solve_option(one) for one in skin()]
    harm = results[0].summary.harm
    assert (harm.recognition.before.n[1:] < 10).any()
    board = board_of(results, question="Which?")
    people = [
        int(row[table.header.index("people")].replace(",", ""))
        for table in (*board.annex, *(t for d in board.details for t in d.tables))
        if "people" in table.header
        for row in table.rows
    ]
    assert people and min(people) >= 10
    said = " ".join(words_of(html_of(board)).text)
    output = re.findall(r"n = ([\d,]+)|(\d+) (?:wo)?men (?:and|with|stand)", said)
    assert output and min(int((a or b).replace(",", "")) for a, b in output) >= 10
    few = [
        (harm.scopes[s], harm.groups[a])
        for s, a in np.argwhere(
            harm.recognition.before.n[:, :, harm.labels.index(board.label)] < 10
        )
    ]
    assert few and not {f"{a}, {c}" for c, a in few} & {row.where for row in board.found}


def test_long_notes_and_many_clients_leave_page_one_one_page():
    options = [
        replace(one, note="A long note of a reviewer who has much to say. " * 40)
        for one in states(0.05, 0.1, 0.2, 0.3)
    ]
    results = [solve_option(one) for one in options]
    board = board_of(results, question="Which of these four? " * 20)
    first, second, *_ = pages_of(pdf_of(board))
    assert "Nameandsignature" in first and second.startswith("A:")
    assert board.annex[0].title == "Notes of the reviewers"


# -------------------------------------------------------------------- from a shell


def test_from_a_shell(option, results, tmp_path):
    other = replace(option, name="B", eps_local=0.2)
    path = Review("Which?", (option, other)).write(tmp_path / "review.json")
    report = tmp_path / "report.pdf"
    words = ["review", str(path), "--json", "--out", str(report)]
    output = json.loads(CliRunner().invoke(load(["review"]), words, standalone_mode=False).stdout)
    board = board_of(results)
    for column in board.columns:
        assert output["options"][column.name] == {
            title: column.cells[code].in_one_line for code, title in ROWS
        }
    assert set(output) == {
        *("format", "question", "verdict", "verdicts", "recommended", "reasons"),
        *("options", "out"),
    }
    assert output["recommended"] is None and output["verdicts"]["B"]["word"] == "not met"
    assert output["verdict"]["word"] == "not met" and output["verdict"]["why"]
    assert report.read_bytes()[:5] == b"%PDF-"
    Review("Which?", (replace(option, sha256="0" * 64),)).write(path)
    ended = CliRunner().invoke(load(["review"]), ["review", str(path)], standalone_mode=False)
    assert "sha256 differs" in str(ended.exception)
    Review("Which?", (replace(option, data="moon"),)).write(path)
    ended = CliRunner().invoke(load(["review"]), ["review", str(path)], standalone_mode=False)
    assert "not among the experiments here" in str(ended.exception)
