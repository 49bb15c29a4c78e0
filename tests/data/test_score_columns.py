"""Which score column is which label's: by name, by what a person says, never by chance."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.score_columns import (
    check_order,
    columns_by_name,
    event_of,
    label_by_name,
    order_columns,
)
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError

WHO = {"client": "clinic", "group": "sex", "label": "diagnosis"}


def people(n=400, seed=0):
    """Seven in ten are well; the model is right for nine in ten; "yes" is its score of ill."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.3
    said = np.where(rng.random(n) < 0.9, ill, ~ill)
    yes = np.where(said, rng.uniform(0.6, 0.9, n), rng.uniform(0.1, 0.4, n)).round(3)
    return pd.DataFrame(
        {
            "clinic": rng.choice(["north", "south"], n),
            "sex": rng.choice(["f", "m"], n),
            "diagnosis": np.where(ill, "ill", "well"),
            "no": 1 - yes,
            "yes": yes,
        }
    )


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (("well", "ill"), ("ill", "well")),
        (("p_well", "p_ill"), ("ill", "well")),
        (("Score WELL", "score_Ill"), ("ill", "well")),
        (("P(well)", "P(ill)"), ("ill", "well")),
        (("P(y=well|x)", "P(Y = ill | x)"), ("ill", "well")),
        (("prob_well", "prob_ill"), ("ill", "well")),
        (("well_proba", "ill_proba"), ("ill", "well")),
        (("p1", "p0"), ("0", "1")),
        (("p_1", "p_-1"), ("-1", "1")),
        (("score >50K", "score <=50K"), ("<=50K", ">50K")),
        (("p_covered", "p_not covered"), ("not covered", "covered")),
        (("first_well", "first_ill"), ("ill", "well")),
        (("well_2", "ill_2"), ("ill", "well")),
        (("well2", "ill2"), ("ill", "well")),
        (("b", "a", "c"), ("a", "b", "c")),
    ],
)
def test_names_tell(columns, labels):
    reversed_pairs = columns[1::-1] + columns[2:]
    assert columns_by_name(columns, labels) == reversed_pairs
    assert columns_by_name(reversed_pairs, labels) == reversed_pairs


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (("no", "yes"), ("ill", "well")),
        (("p0", "p1"), ("1", "2")),  # p1 is not the score of 1 where p0 is no label's
        (("p_ill", "other"), ("ill", "well")),
        (("score_a", "score_A"), ("A", "a ")),
        (("pregnant", "well"), ("regnant", "well")),
    ],
)
def test_names_that_do_not_tell_all_tell_nothing(columns, labels):
    assert columns_by_name(columns, labels) is None
    assert order_columns(columns, labels, ordered=False) is None
    assert order_columns(columns, labels, ordered=True) == columns


def test_the_label_of_one_probability():
    assert label_by_name("p_ill", ("ill", "well")) == "ill"
    assert label_by_name("score", ("ill", "well")) is None
    assert event_of(("False", "True")) == "True" and event_of(("1", "0")) == "1"
    assert event_of(("ill", "well")) is None


@given(st.data())
def test_the_order_that_fits_is_never_refused(data):
    """Whoever pairs each label with the column that is most often its own hears no complaint."""
    n = data.draw(st.integers(2, 5))
    label = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=80)))
    answer = np.array([data.draw(st.sampled_from([y, y, y, 0])) for y in label])
    names = [f"l{k}" for k in range(n)]
    best = (label == answer).mean()
    largest = np.bincount(label).max() / len(label)
    if best >= largest:
        check_order(label, answer, [f"c{k}" for k in range(n)], names)


def test_an_order_against_the_peoples_own_labels_is_refused_and_the_right_one_said():
    rng = np.random.default_rng(1)
    label = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
    said = np.where(rng.random(300) < 0.9, label, rng.integers(0, 3, 300))
    turn = np.array([1, 2, 0])  # the first label's score stands in the second column
    with pytest.raises(InputError) as refused:
        check_order(label, turn[said], ["x", "y", "z"], ["a", "b", "c"])
    for part in ("less often than its largest label alone", "--scores x,y,z --labels c,a,b."):
        assert part in str(refused.value)
    chance = rng.integers(0, 2, 400)  # a useless model of two even labels is nobody's mistake
    for seed in range(20):
        coin = np.random.default_rng(seed).integers(0, 2, 400)
        check_order(chance, coin, ["x", "y"], ["a", "b"])


@pytest.mark.parametrize("take", [ClientCounts.from_table, ScoredData.from_table])
def test_a_table_is_taken_by_name_by_order_or_not(take):
    rows = people()
    with pytest.raises(InputError, match="such as --labels well,ill"):
        take(rows, scores=["no", "yes"], **WHO)
    with pytest.raises(InputError, match="--scores no,yes --labels well,ill"):
        take(rows, scores=["no", "yes"], labels=["ill", "well"], **WHO)
    right = take(rows, scores=["no", "yes"], labels=["well", "ill"], **WHO).counts
    assert right.model_accuracy > 0.85
    named = rows.rename(columns={"no": "P(well)", "yes": "P(ill)"})
    for columns in (["P(well)", "P(ill)"], ["P(ill)", "P(well)"]):
        found = take(named, scores=columns, **WHO)
        assert found.score_columns == ("P(ill)", "P(well)") and found.labels == ("ill", "well")
        assert found.counts.model_accuracy == right.model_accuracy
    pairs = take(rows, scores={"ill": "yes", "well": "no"}, **WHO)
    assert pairs.score_columns == ("yes", "no")
    assert pairs.counts.model_accuracy == right.model_accuracy


def test_an_arrays_columns_are_in_the_order_of_the_labels():
    rows = people()
    arrays = rows["clinic"], rows["sex"], rows["diagnosis"]
    right = ClientCounts.from_arrays(*arrays, scores=rows[["yes", "no"]].to_numpy())
    assert right.labels == ("ill", "well") and right.model_accuracy > 0.85
    assert right.score_columns is None
    turned = rows[["no", "yes"]].to_numpy()
    again = ClientCounts.from_arrays(*arrays, scores=turned, labels=["well", "ill"])
    assert again.model_accuracy == right.model_accuracy
    with pytest.raises(InputError, match="less often than its largest label"):
        ClientCounts.from_arrays(*arrays, scores=turned)
