"""One column of a probability is as good as two of scores, in every command that reads a table."""

import json

import pytest

from tests.cli.running import COLUMNS, people, run


@pytest.fixture
def tables(tmp_path):
    """The same people with two scores, with one probability, and with the model's answers."""
    frame = people()
    yes = frame["score_yes"] / (frame["score_no"] + frame["score_yes"])
    frame = frame.assign(p_yes=yes.round(4), p_no=(1 - yes.round(4)).round(4))
    frame["said"] = frame["p_yes"].ge(0.5).map({True: "yes", False: "no"})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


ONE, TWO = ("--probability", "p_yes"), ("--scores", "p_no,p_yes")


def test_count_solve_and_histogram_take_it(tables):
    counts = [json.loads(run("count", tables, *COLUMNS, *how).out) for how in (ONE, TWO)]
    assert counts[0] == counts[1]
    said = json.loads(run("count", tables, *COLUMNS, "--prediction", "said").out)
    assert said == counts[0]
    asked = ("--notion", "eop", "--eps-local", "0.03", "--json")
    solved = [run("solve", tables, *COLUMNS, *how, *asked).json for how in (ONE, TWO)]
    assert solved[0]["region"] == "exact"
    for name in ("accuracy", "gap", "price"):
        assert solved[0][name] == solved[1][name]
    files = [tables.with_name(f"{place}.json") for place in (0, 1)]
    for how, out in zip((ONE, TWO), files, strict=True):
        assert run("histogram", tables, *COLUMNS, *how, "--out", out).code == 0
    assert files[0].read_text() == files[1].read_text()
    fair = tables.with_name("fair.json")
    run("solve", tables, *COLUMNS, *ONE, *asked, "--out", fair)
    judged = run("evaluate", fair, tables, *COLUMNS, *ONE, "--json").json
    assert judged["accuracy"] == pytest.approx(
        run("evaluate", fair, tables, *COLUMNS, *TWO, "--json").json["accuracy"]
    )
    grid = run("map", tables, *COLUMNS, *ONE, "--epsilons", "0.1,1", "--json")
    assert grid.went_well


def test_a_threshold_and_a_name_that_does_not_tell(tables):
    frame = tables.read_text().replace("p_yes", "chance")
    tables.write_text(frame)
    given = ("count", tables, *COLUMNS, "--probability", "chance")
    known = json.loads(run(*given).out)  # of no and yes it is the probability of yes
    assert known == json.loads(run(*given, "--probability-of", "yes").out)
    higher = json.loads(run(*given, "--threshold", "0.7").out)
    answered = [
        sum(g[y][1] for c in one["clients"] for g in c["counts"] for y in (0, 1))
        for one in (known, higher)
    ]
    assert answered[1] < answered[0]
    for more, says in (
        (("--threshold", "2"), "between 0 and 1"),
        (("--probability-of", "maybe"), '"maybe"'),
        (("--scores", "p_no,chance"), "one of the three"),
        (("--probability-of", "no"), "Say which label"),
    ):
        ended = run(*given, *more)
        assert ended.code == 2 and says in ended.err, ended
    for more in (("--threshold", "0.3"), ("--probability-of", "yes")):  # not left unread
        ended = run("count", tables, *COLUMNS, "--prediction", "said", *more)
        assert ended.code == 2 and f"{more[0]} goes with --probability" in ended.err, ended
    one = run("count", tables, *COLUMNS, "--scores", "p_no")
    assert one.code == 2 and "--probability" in one.err
