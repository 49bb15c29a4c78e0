"""`fairfl check`: the sentences of the page, from a shell."""

import json

import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.intake import (
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    open_table,
)
from tests.cli.running import COLUMNS, make_files, people, run


@pytest.fixture
def files(tmp_path):
    return make_files(tmp_path)


def test_it_says_what_the_page_says(files):
    rows = people().rename(columns={"model": "prediction"})
    rows.to_csv(files.rows, index=False)
    table = open_table("rows.csv", files.rows.read_bytes())
    want = experiment_from_table(table, guess_roles(table))
    output = run("check", files.rows, "--json").json
    assert output["checks"] == [
        {"sentence": one.sentence, "look": one.look} for one in want.checks
    ]
    assert output["columns"]["client"] == "clinic" and "client" in output["guessed"]
    assert output["labels"] == ["no", "yes"] and output["clients"] == 3
    said = " ".join(run("check", files.rows).out.split())
    for one in want.checks:
        assert " ".join(one.sentence.split()) in said
    named = run("check", files.rows, "--client", "sex", "--group", "clinic", "--json").json
    assert named["columns"]["client"] == "sex" and "client" not in named["guessed"]
    assert named["groups"] == ["east", "north", "south"]


def test_columns_are_crossed_and_counts_are_checked(files):
    rows = people()
    rows.assign(race=["A", "B"] * (len(rows) // 2)).to_csv(files.rows, index=False)
    given = ("--client", "clinic", "--label", "diagnosis", "--prediction", "model")
    output = run("check", files.rows, *given, "--group", "sex,race", "--json").json
    assert output["groups"] == ["f · A", "f · B", "m · A", "m · B"]
    counts = experiment_from_counts([("counts.json", files.counts.read_bytes())])
    output = run("check", files.counts, "--json").json
    assert output["columns"] is None
    assert output["checks"] == json.loads(
        json.dumps([{"sentence": one.sentence, "look": one.look} for one in counts.checks])
    )


def test_what_the_page_refuses_is_refused(files):
    files.rows.write_text("a\n1\n2\n")
    ended = run("check", files.rows)
    assert ended.code == 2 and "name it with --" in ended.err
    ended = run("check", files / "nothing.csv")
    assert ended.code == 2 and "no such file" in ended.err
    make_files(files.folder)
    for more, says in (("town", '"town"'), ("sex", "chosen for two things")):
        ended = run("check", files.rows, "--client", more, "--group", "sex")
        assert ended.code == 2 and says in ended.err
        assert ended.err.count("rows.csv: ") == 1, ended.err


def test_scores_and_a_probability_are_named_as_for_count(files):
    """What `count` takes to say what the model gave, `check` takes, too, and counts alike."""
    table = people(300)
    total = table["score_no"] + table["score_yes"]
    table = table.assign(a=table["score_no"] / total, b=table["score_yes"] / total)
    table.drop(columns=["score_no", "score_yes"]).to_csv(files / "rows.csv", index=False)
    for model in (
        ("--scores", "a,b", "--labels", "no,yes"),
        ("--probability", "b", "--probability-of", "yes"),
        ("--probability", "a", "--probability-of", "no", "--threshold", "0.4"),
    ):
        output = run("check", files.rows, *COLUMNS, *model, "--json").json
        counted = run("count", files.rows, *COLUMNS, *model, "--out", files / "c.json")
        assert counted.went_well
        right = f"{ClientCounts.read(files / 'c.json').model_accuracy:.1%}"
        assert any(
            f"The model is right for {right}" in one["sentence"] for one in output["checks"]
        )
        shown = " ".join(run("check", files.rows, *COLUMNS, *model).out.split())
        assert ("score of no │ a │ named" in shown) == ("--scores" in model)
        assert ("probability of" in shown.split("3 clients")[0]) == ("--probability" in model)
        columns = output["columns"]
        assert not columns["prediction"] and "prediction" not in output["guessed"]
    named = files.rows.read_text().replace(",yes", ",ill").replace(",no", ",well")
    files.rows.write_text(named)
    for model, says in (
        (("--probability", "b"), "--probability-of"),
        (("--scores", "a,b"), "--labels"),
        (("--scores", "a"), "score column"),
        (("--probability", "b", "--probability-of", "ill", "--prediction", "model"), "or one"),
    ):
        ended = run("check", files.rows, *COLUMNS, *model)
        assert ended.code == 2 and says in ended.err, ended
