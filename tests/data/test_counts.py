"""Counting rows, and the JSON form."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import FoldedData, ScoredData
from fairfl_core.errors import InputError
from tests.helpers.strategies import count_tables, synthetic


def rows_of(counts, seed=0):
    """The people behind a table, one row each, shuffled."""
    cells = np.repeat(np.argwhere(counts.table >= 0), counts.table.ravel(), axis=0)
    np.random.default_rng(seed).shuffle(cells)
    names = (counts.clients, counts.groups, counts.labels, counts.labels)
    columns = ("client", "group", "label", "prediction")
    return pd.DataFrame(
        {
            name: np.array(of, dtype=object)[cells[:, i]]
            for i, (name, of) in enumerate(zip(columns, names, strict=True))
        }
    )


COLUMNS = {"client": "client", "group": "group", "label": "label", "prediction": "prediction"}


@given(count_tables(), st.sampled_from(["object", "str", "category"]))
def test_rows_counted_are_the_table_they_came_from(counts, dtype):
    found = ClientCounts.from_table(
        rows_of(counts).astype(dtype),
        **COLUMNS,
        clients=counts.clients,
        groups=counts.groups,
        labels=counts.labels,
        favourable=counts.favourable,
    )
    np.testing.assert_array_equal(found.table, counts.table)
    assert (found.clients, found.groups, found.labels, found.favourable) == (
        counts.clients,
        counts.groups,
        counts.labels,
        counts.favourable,
    )


@given(count_tables())
def test_json_there_and_back(counts):
    text = json.dumps(counts.to_json(), allow_nan=False)
    back = ClientCounts.from_json(json.loads(text))
    np.testing.assert_array_equal(back.table, counts.table)
    assert back.table.dtype == np.int64
    assert back.to_json() == counts.to_json()


def test_scores_count_as_their_largest_and_ties_as_the_first():
    found = ClientCounts.from_arrays(
        client=["a"] * 4,
        group=["f", "m", "f", "m"],
        label=["no", "yes", "yes", "no"],
        scores=[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.4, 0.6]],
    )
    assert found.labels == ("no", "yes") and found.favourable == "yes"
    np.testing.assert_array_equal(found.table[0], [[[1, 0], [1, 0]], [[0, 1], [0, 1]]])


def test_a_label_written_in_two_ways_is_one_label():
    found = ClientCounts.from_arrays(
        client=[1, 2], group=["f", "m"], label=[0.0, 1.0], prediction=["1", "0.0"]
    )
    assert found.labels == ("0", "1") and found.clients == ("1", "2")


def test_names_may_be_declared_as_the_numbers_they_are():
    found = ClientCounts.from_arrays(
        client=[7, 7],
        group=[1, 0],
        label=[0, 1],
        prediction=[1, 1],
        clients=[7],
        groups=[0, 1],
        labels=[1, 0],
        favourable=1,
    )
    assert found.labels == ("1", "0") and found.favourable == "1"


def test_more_people_than_can_be_counted_are_refused():
    with pytest.raises(InputError, match="more people than can be counted"):
        ClientCounts(np.full((2, 2, 2, 2), 2**52), ("a", "b"), ("f", "m"), ("n", "y"))


def test_declared_names_give_the_order_and_the_empty_places():
    found = ClientCounts.from_arrays(
        client=["a"],
        group=["m"],
        label=["yes"],
        prediction=["yes"],
        groups=["m", "f"],
        labels=["yes", "no", "perhaps"],
        favourable="yes",
    )
    assert found.table.shape == (1, 2, 3, 3) and found.table[0, 0, 0, 0] == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"groups": ["f"]}, 'row 2: the group "m" is not declared'),
        ({"labels": ["no", "maybe"]}, 'the label "yes" is not declared'),
        ({"clients": ["b", "c"]}, 'the client "a" is not declared'),
        ({"client": ["a", None]}, 'column "client", data row 2 is empty'),
        ({"group": ["f", " "]}, 'column "group", data row 2 is empty'),
        ({"label": ["no", np.nan]}, 'column "label", data row 2 is empty'),
        ({"prediction": None}, "either a prediction column or score columns"),
        ({"prediction": ["no", "yes", "no"]}, "differ in length"),
        ({"prediction": None, "scores": [[0.1, 0.9], [np.nan, 1]]}, '"score_0", data row 2'),
        ({"prediction": None, "scores": [[0.1, 0.9], [0.1, np.inf]]}, "not a finite number"),
        ({"prediction": None, "scores": [[0.1], [0.9]]}, "1 score columns but 2 labels"),
        ({"prediction": None, "scores": [0.1, 0.9]}, "must be a matrix"),
        ({"favourable": "maybe"}, '"maybe" is not one of the labels'),
        ({"group": ["f", "f"]}, "holds 1 group; fairness compares at least two"),
        ({k: [] for k in COLUMNS}, "no rows"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused_in_a_sentence(change, sentence):
    rows = {
        "client": ["a", "a"],
        "group": ["f", "m"],
        "label": ["no", "yes"],
        "prediction": ["no", "yes"],
    }
    with pytest.raises(InputError, match=sentence):
        ClientCounts.from_arrays(**(rows | change))


def test_names_are_the_callers_own_not_repaired():
    """A group called NA or a client called 007 is what it says."""
    found = ClientCounts.from_arrays(
        client=["007", "7"], group=["NA", "None"], label=["nan", "inf"], prediction=["inf", "nan"]
    )
    assert found.clients == ("007", "7") and found.groups == ("NA", "None")
    assert set(found.labels) == {"nan", "inf"}


def test_select_clients_gives_some_clients_in_the_order_asked():
    counts = synthetic(3, 2, 2)
    some = counts.select_clients(["c2", "c0"])
    np.testing.assert_array_equal(some.table, counts.table[[2, 0]])
    with pytest.raises(InputError, match='no client "c9"'):
        counts.select_clients(["c9"])


@pytest.mark.parametrize("kind", [ClientCounts, ScoredData, FoldedData])
def test_a_misspelt_column_is_a_wrong_argument_as_everywhere_in_python(kind):
    rows = {"site": ["a"], "sex": ["f"], "y": ["1"], "said": ["1"]}
    named = {"client": "site", "group": "sex", "label": "y"}
    with pytest.raises(TypeError, match="predicted"):
        kind.from_table(rows, **named, predicted="said")
    with pytest.raises(TypeError, match="client"):
        kind.from_table(rows, group="sex", label="y", prediction="said")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"said": ["1"]}, "columns differ in length"),  # would be everybody's answer
        ({"sex": ["f", "m", "f"]}, "columns differ in length"),
        ({"sex": (name for name in "fm")}, "is no list or array"),
        ({"sex": "fm"}, "is no list or array"),
    ],
)
def test_columns_of_a_mapping_are_lists_of_one_length(change, says):
    rows = {"site": ["a", "a"], "sex": ["f", "m"], "y": ["0", "1"], "said": ["0", "1"]} | change
    with pytest.raises(InputError, match=says):
        ClientCounts.from_table(rows, client="site", group="sex", label="y", prediction="said")


def test_a_column_is_named_by_a_text():
    rows = pd.DataFrame([["a", "f", "0", "0"], ["a", "m", "1", "1"]])
    with pytest.raises(InputError, match="named by a text, not by 0"):
        ClientCounts.from_table(rows, client=0, group=1, label=2, prediction=3)
