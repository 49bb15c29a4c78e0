"""The lottery: drawn, decided by row id, written and read."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.fairness.notions import Notion, gaps
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.hashed_draws import row_draws
from fairfl_core.predictors.kinds import FairPredictor
from tests.data.test_counts import rows_of
from tests.helpers.strategies import count_tables, epsilons, notion_and_region, synthetic


def fitted(counts, notion="eo", region="kernel", epsilon=0.02):
    solution = FairnessProgram(counts, notion, region).solve(epsilon, epsilon)
    return FairPredictor.from_solution(solution)


@pytest.mark.parametrize("region", ["simplex", "kernel"])
def test_what_is_drawn_converges_to_what_is_expected(region):
    counts = synthetic(3, 2, 3, rows=60_000)
    fair = fitted(counts, "eo", region)
    rows = rows_of(counts)
    answers = fair.sample(rows.client, rows.group, rows.prediction, seed=7)
    drawn = ClientCounts.from_table(
        rows.assign(answer=answers),
        client="client",
        group="group",
        label="label",
        prediction="answer",
        labels=counts.labels,
    )
    expected = evaluate(fair, counts).confusion
    deviation = np.sqrt(np.maximum(expected * (1 - expected / counts.n_label[..., None]), 1))
    assert (np.abs(drawn.table - expected) <= 5 * deviation).all()
    assert drawn.model_accuracy == pytest.approx(evaluate(fair, counts).accuracy, abs=0.005)


def test_the_seed_decides_the_draw_and_the_id_the_decision():
    counts = synthetic(3, 2, 2, rows=2000)
    fair, rows = fitted(counts), rows_of(counts)
    columns = (rows.client, rows.group, rows.prediction)
    one, same, other = (fair.sample(*columns, seed=seed) for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()
    ids = [f"patient-{i}" for i in range(len(rows))]
    decided = fair.decide(*columns, row_id=ids)
    order = np.random.default_rng(0).permutation(len(rows))
    again = fair.decide(
        *(column.to_numpy()[order] for column in columns), row_id=np.array(ids)[order]
    )
    assert (decided[order] == again).all()


def test_a_tighter_epsilon_changes_no_answer_that_need_not_change():
    """The walk begins with the model's own answer: who keeps it at a high price keeps it."""
    counts = synthetic(1, 2, 2, rows=4000, seed=2)
    rows = rows_of(counts)
    columns, ids = (rows.client, rows.group, rows.prediction), np.arange(len(rows))
    kept = []
    for epsilon in (0.02, 0.06):
        fair = fitted(counts, "eop", "simplex", epsilon)
        kept.append(fair.decide(*columns, row_id=ids) == rows.prediction.to_numpy())
    assert (~kept[1] & kept[0]).sum() == 0


@given(count_tables(), notion_and_region(), epsilons)
def test_json_there_and_back_is_the_same_lottery(counts, chosen, epsilon):
    fair = fitted(counts, *chosen, epsilon)
    back = FairPredictor.from_json(json.loads(json.dumps(fair.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(back.lottery, fair.lottery)
    assert back.to_json() == fair.to_json()


@given(st.lists(st.text(min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=20))
def test_the_draw_of_a_row_id_is_the_documented_hash(ids):
    def by_hand(client, text):
        state = 0xCBF29CE484222325
        for byte in f"{client}\x1f{text}".encode():
            state = ((state ^ byte) * 0x100000001B3) % 2**64
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % 2**64
        return ((state ^ (state >> 31)) >> 11) / 2**53

    found = row_draws(["clinic"] * len(ids), np.array(ids, dtype=object))
    assert found.tolist() == [by_hand("clinic", text) for text in ids]


def test_draws_do_not_depend_on_the_kind_of_id():
    few = [3, 14, 15]
    expected = row_draws(["c"] * 3, few)
    for kind in ("int32", "float64", "str", "object", "category", "double[pyarrow]"):
        same = row_draws(["c"] * 3, pd.Series(few).astype(kind))
        np.testing.assert_array_equal(same, expected)
    assert row_draws(["c"] * 2, [3.0, 18.5])[0] == row_draws(["c"], ["3.0"])[0] == expected[0]
    assert len(set(row_draws(["c"] * 3, [1e19, 2e19, np.inf]))) == 3


def test_clients_that_number_their_rows_alike_are_not_drawn_together():
    """Else row 1 of every client has the same luck, and luck no longer evens out."""
    people = np.tile([[[40, 10], [15, 35]], [[30, 2], [25, 25]]], (50, 1, 1, 1))
    names = tuple(f"c{i:02}" for i in range(50))
    counts = ClientCounts(people, names, ("f", "m"), ("no", "yes"))
    fair, rows = fitted(counts, "eo", "simplex", 0.0), rows_of(counts)
    rows = rows.sort_values("client", kind="stable")
    ids = rows.groupby("client").cumcount()
    answers = fair.decide(rows.client, rows.group, rows.prediction, row_id=ids)
    drawn = ClientCounts.from_table(
        rows.assign(answer=answers),
        client="client",
        group="group",
        label="label",
        prediction="answer",
    )
    notion = Notion.of("eo", counts.labels, counts.favourable)
    gap = gaps(notion.answered(drawn.table), notion.people(drawn.n_label)).overall
    assert gap < 5 * evaluate(fair, counts).one_draw[0] < 0.06


def test_what_it_was_not_fitted_for_is_refused():
    counts = synthetic(2, 2, 2)
    fair = fitted(counts)
    with pytest.raises(InputError, match='row 2: the client "c9" is not one'):
        fair.sample(["c0", "c9"], ["g0", "g0"], ["l0", "l0"], seed=0)
    with pytest.raises(InputError, match='the group "x" is not one'):
        fair.sample(["c0"], ["x"], ["l0"], seed=0)
    with pytest.raises(InputError, match='the prediction "maybe" is not one'):
        fair.sample(["c0"], ["g0"], ["maybe"], seed=0)
    with pytest.raises(InputError, match="differ in number"):
        fair.sample(["c0", "c0"], ["g0"], ["l0"], seed=0)
    with pytest.raises(InputError, match="differ in number"):
        fair.decide(["c0", "c0"], ["g0"] * 2, ["l0"] * 2, row_id=[1])
    with pytest.raises(InputError, match="row 2 has no row id"):
        fair.decide(["c0", "c0"], ["g0"] * 2, ["l0"] * 2, row_id=["a", None])
    with pytest.raises(InputError, match='the client "c2" of the counts'):
        evaluate(fair, synthetic(3, 2, 2))
    with pytest.raises(InputError, match='the group "g2" of the counts'):
        evaluate(fair, synthetic(2, 3, 2))
    three = fitted(synthetic(2, 2, 3))
    with pytest.raises(InputError, match='lack the label "l2"'):
        evaluate(three, counts)


def test_a_predictor_serves_some_of_its_clients_in_any_order():
    counts = synthetic(4, 2, 2)
    fair = fitted(counts)
    whole = evaluate(fair, counts)
    some = evaluate(fair, counts.select_clients(["c3", "c1"]))
    np.testing.assert_allclose(some.gaps.local, whole.gaps.local[[3, 1]], atol=1e-12)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda v: v.update(format="fairfl-predictor/2"), '"format" is not'),
        (lambda v: v.update(extra=1), 'unknown key "extra"'),
        (lambda v: v.pop("labels"), 'lacks the key "labels"'),
        (lambda v: v["clients"][0].pop("name"), 'lacks the key "name"'),
        (lambda v: v["clients"][0]["lottery"][0].pop(), "one entry per prediction"),
        (lambda v: v["clients"][0]["lottery"][0].__setitem__(0, [0.5, 0.4]), "sum to one"),
        (lambda v: v["clients"][0]["lottery"][0].__setitem__(0, [1.5, -0.5]), "not a probability"),
        (lambda v: v["clients"][1].update(name="c0"), "stands twice"),
        (lambda v: v["epsilon"].update({"global": 7}), "between 0 and 1"),
        (lambda v: v.update(notion="kind"), 'no notion "kind"'),
        (lambda v: v.update(folds=0), "whole number of fold models"),
        (lambda v: v.update(folds=1.5), "whole number of fold models"),
        (lambda v: v.update(folds=True), "whole number of fold models"),
        (lambda v: v.update(favourable="kind"), 'no favourable label "kind"'),
    ],
)
def test_a_spoilt_file_is_refused_in_a_sentence(spoil, sentence):
    value = fitted(synthetic(2, 2, 2)).to_json()
    spoil(value)
    with pytest.raises(InputError, match=sentence):
        FairPredictor.from_json(value)
