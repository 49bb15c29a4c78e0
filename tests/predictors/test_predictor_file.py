"""What a predictor's file says of itself, and its draw with and without a secret salt."""

import hashlib
import json
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

import fairfl_core
from fairfl_core import InputError, Predictor, read_predictor
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.hashed_draws import fold_draws, row_draw, row_draws
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.metadata import FittedOn
from tests.cli.running import run
from tests.helpers.scored import scored_network

PEOPLE = scored_network(3, 2, 2, seed=4)
SALT = "0123456789abcdef"
PUBLIC = Predictor.from_solution(FairnessProgram(PEOPLE.counts, "eop").solve(0.02, 0.05))
WHO = (
    np.array(PEOPLE.clients, object)[PEOPLE.client],
    np.array(PEOPLE.groups, object)[PEOPLE.group],
    np.array(PEOPLE.labels, object)[PEOPLE.predicted],
)
IDS = np.arange(len(PEOPLE))


def test_a_file_says_when_by_what_and_from_which_counts_it_was_made(tmp_path):
    counts = PEOPLE.counts.write(tmp_path / "counts.json")
    value = json.loads(PUBLIC.write(tmp_path / "fair.json").read_text())
    assert value["made"] == {
        "fairfl": fairfl_core.__version__,
        "date": date.today().isoformat(),
        "counts_sha256": hashlib.sha256(counts.read_bytes()).hexdigest(),
    }
    assert value["labels"] == list(PEOPLE.labels)
    assert read_predictor(tmp_path / "fair.json").to_json() == value
    assert read_predictor(tmp_path / "fair.json").made == PUBLIC.made


def test_a_file_of_before_opens_and_answers_alike():
    value = PUBLIC.to_json()
    for key in ("made", "draw"):
        del value[key]
    old = Predictor.from_json(value)
    assert old.made is None and old.salt_check is None
    assert (old.decide(*WHO, row_id=IDS) == PUBLIC.decide(*WHO, row_id=IDS)).all()


def test_without_a_salt_the_file_says_so_and_with_one_it_does_not_tell_it(tmp_path):
    assert "can choose answers" in PUBLIC.to_json()["draw"]["note"]
    salted = PUBLIC.with_salt(SALT)
    draw = salted.to_json()["draw"]
    assert SALT not in json.dumps(salted.to_json()) and "choose" not in draw["note"]
    again = Predictor.from_json(salted.to_json())
    wanted = salted.decide(*WHO, row_id=IDS, salt=SALT)
    assert (again.decide(*WHO, row_id=IDS, salt=SALT) == wanted).all()
    assert (wanted != PUBLIC.decide(*WHO, row_id=IDS)).any()
    for fair, salt, says in (
        (salted, None, "give the salt"),
        (salted, SALT + "x", "not the salt"),
        (PUBLIC, SALT, "without a salt"),
    ):
        for answer in (
            lambda fair=fair, salt=salt: fair.decide(*WHO, row_id=IDS, salt=salt),
            lambda fair=fair, salt=salt: fair.decide_one(
                *(column[0] for column in WHO), row_id=1, salt=salt
            ),
            lambda fair=fair, salt=salt: fair.fold_of(WHO[0], IDS, salt=salt),
        ):
            with pytest.raises(InputError, match=says):
                answer()
    for short in ("", "0" * 15, 7):
        with pytest.raises(InputError, match="at least 16 characters"):
            PUBLIC.with_salt(short)


def test_salted_draws_are_uniform_and_each_salts_own():
    client, ids = np.full(20_000, "north"), np.arange(20_000)
    one, other = (row_draws(client, ids, salt=salt) for salt in (SALT, SALT[::-1]))
    public = row_draws(client, ids)
    for draws in (one, other, public):
        counts, _ = np.histogram(draws, bins=20, range=(0, 1))
        assert ((counts - 1000) ** 2 / 1000).sum() < 45  # chi-square of 19, by chance 1 in 1,000
    for pair in ((one, other), (one, public), (public[:-1], public[1:])):
        assert abs(np.corrcoef(*pair)[0, 1]) < 0.03
    key = hashlib.blake2b(SALT.encode()).digest()
    hashed = hashlib.blake2b(b"north\x1f7", key=key, digest_size=8).digest()
    assert (
        one[7] == (int.from_bytes(hashed, "big") >> 11) / 2**53 == row_draw("north", 7, salt=SALT)
    )


def test_one_person_who_cannot_be_answered_is_a_sentence():
    for who, row_id, says in (
        (("nowhere", *(column[0] for column in WHO[1:])), 1, 'client "nowhere"'),
        ((WHO[0][0], "nobody", WHO[2][0]), 1, 'group "nobody"'),
        (tuple(column[0] for column in WHO), None, "no row id"),
        (tuple(column[0] for column in WHO), "x" * 1000, "bytes long"),
    ):
        with pytest.raises(InputError, match=says):
            PUBLIC.decide_one(*who, row_id=row_id)


def test_solve_writes_and_predict_takes_the_salt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.array(PEOPLE.labels, object)
    rows = pd.DataFrame(
        {"site": WHO[0], "sex": WHO[1], "said": WHO[2], "truth": labels[PEOPLE.label], "id": IDS}
    )
    rows.to_csv("rows.csv", index=False)
    (tmp_path / "salt.txt").write_text(SALT + "\n")
    (tmp_path / "short.txt").write_text("short")
    columns = ("--client", "site", "--group", "sex", "--prediction", "said")
    counted = run("count", "rows.csv", *columns, "--label", "truth", "--out", "counts.json")
    assert counted.code == 0, counted.err
    solve = ("solve", "counts.json", "--eps-global", "0.02", "--out", "fair.json")
    assert run(*solve, "--salt-file", "salt.txt").code == 0
    fair = read_predictor("fair.json")
    assert fair.salt_check == PUBLIC.with_salt(SALT).salt_check
    predict = ("predict", "fair.json", "rows.csv", *columns, "--out", "out.csv")
    assert run(*predict, "--row-id", "id", "--salt-file", "salt.txt").code == 0
    wanted = fair.decide(*WHO, row_id=IDS, salt=SALT)
    assert pd.read_csv("out.csv")["answer"].astype(str).tolist() == wanted.tolist()
    for more, says in (
        (("--row-id", "id"), "give the salt"),
        (("--row-id", "id", "--salt-file", "short.txt"), "at least 16 characters"),
        (("--seed", "1", "--salt-file", "salt.txt"), "goes with --row-id"),
        (("--row-id", "id", "--salt-file", "none.txt"), "no such file"),
    ):
        ended = run(*predict, *more)
        assert ended.code != 0 and says in " ".join(ended.err.split()), ended.err


def test_a_file_names_its_columns_where_it_was_fitted_on_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.array(PEOPLE.labels, object)
    scores = {f"p_{label}": PEOPLE.scores[:, k] for k, label in enumerate(PEOPLE.labels)}
    rows = pd.DataFrame({"site": WHO[0], "sex": WHO[1], "truth": labels[PEOPLE.label], **scores})
    rows.to_csv("rows.csv", index=False)
    named = {"client": "site", "group": "sex", "label": "truth"}
    options = [word for what, column in named.items() for word in (f"--{what}", column)]
    ended = run("solve", "rows.csv", *options, "--scores", ",".join(scores), "--out", "fair.json")
    assert ended.code == 0, ended.err
    fair = read_predictor("fair.json")
    assert fair.columns == named and fair.score_columns == tuple(scores)
    for wrong in ([], {"row": "x"}, {"client": 1}):
        with pytest.raises(InputError, match='"columns"'):
            Predictor.from_json(fair.to_json() | {"columns": wrong})


def test_the_model_drawn_is_spread_evenly_and_tells_nothing_of_the_lottery():
    client, ids = np.repeat("clinic", 40_000), np.arange(40_000)
    fold = fold_draws(client, ids, 4)
    assert (np.abs(np.bincount(fold) / 40_000 - 0.25) < 0.01).all()
    luck = row_draws(client, ids)
    for one in range(4):
        assert luck[fold == one].mean() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(fold, fold_draws(client, ids, 4))
    assert (fold_draws(np.repeat("other", 100), ids[:100], 4) != fold[:100]).any()


def test_the_run_it_is_of_is_read_back(tmp_path):
    solution = FairnessProgram(scored_network(2, 2, 2).counts, "eop").solve(0.1, 0.1)
    run = FittedOn("adult", "0" * 64, 3, "fit")
    path = tmp_path / "fair.json"
    value = replace(predictor_of(solution), fitted_on=run).to_json()
    path.write_text(json.dumps(value))
    assert read_predictor(path).fitted_on == run
    earlier = {key: part for key, part in value.items() if key != "fitted_on"}
    path.write_text(json.dumps(earlier))
    assert read_predictor(path).fitted_on is None  # files of earlier versions still open
    for wrong in (
        "run 3",
        {},
        value["fitted_on"] | {"seed": "3"},
        value["fitted_on"] | {"split": 1},
    ):
        path.write_text(json.dumps(value | {"fitted_on": wrong}))
        with pytest.raises(InputError, match="fitted_on"):
            read_predictor(path)
