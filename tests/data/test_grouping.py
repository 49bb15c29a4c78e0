"""Groups crossed of several columns: what they are called, counted, remembered and pooled."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.columns import Grouping, code_column, cross, crossed_name
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.privacy.mechanisms import Mechanism, what_if

COLUMNS = {"client": "site", "label": "truth", "prediction": "said"}
VALUE = st.one_of(
    st.sampled_from(["a", "b", "a · b", "·", "“a”", "”", "“", "a” · “b", " · ", "10", "9"]),
    st.text("ab·“” ", min_size=1, max_size=6),
).filter(str.strip)


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["woman", "man"], rows), rng.choice(["Black", "white", "other"], rows)
    race[(sex == "man") & (race == "other")] = "white"  # nobody is a man and of another race
    truth = rng.choice(["no", "yes"], rows)
    return pd.DataFrame(
        {
            "site": rng.choice(["s0", "s1"], rows),
            "sex": sex,
            "race": race,
            "truth": truth,
            "said": np.where(rng.random(rows) < np.where(sex == "man", 0.9, 0.7), truth, "no"),
            "score_no": (score := rng.random(rows)),
            "score_yes": 1 - score,
        }
    )


def refused(call, *says):
    with pytest.raises(InputError) as caught:
        call()
    for part in says:
        assert str(part) in str(caught.value), str(caught.value)


# -------------------------------------------------------------------- names


@given(st.lists(st.tuples(VALUE, VALUE, VALUE), min_size=1, max_size=6, unique=True))
def test_no_two_crossings_are_called_alike_and_each_can_be_read_again(groups):
    names = [crossed_name(values) for values in groups]
    assert len(set(names)) == len(groups)
    assert Grouping.of_names(["x", "y", "z"], names).groups == tuple(groups)


def test_names_read_well():
    assert crossed_name(["woman", "Black"]) == "woman · Black"
    assert crossed_name(["a · b", "c"]) == "“a · b” · c"
    assert crossed_name(["a · b"]) == "a · b"
    for wrong in ("woman", "woman · Black · old", "“woman · Black", "“woman” · Black"):
        refused(lambda name=wrong: Grouping.of_names(["sex", "race"], [name]), "sex", "race")


# -------------------------------------------------------------------- crossing


@given(st.integers(0, 2**20), st.integers(1, 60))
def test_every_combination_that_somebody_has_and_no_other(seed, rows):
    table = people(rows, seed)
    parts = [code_column(table[column], column) for column in ("race", "sex")]
    crossed = cross(parts, ["race", "sex"])
    seen = sorted(set(zip(table["race"], table["sex"], strict=True)))
    assert crossed.names == tuple(f"{race} · {sex}" for race, sex in seen)
    mine = [crossed.names[code] for code in crossed.codes]
    assert mine == [f"{r} · {s}" for r, s in zip(table["race"], table["sex"], strict=True)]


def test_counts_are_those_of_the_combinations():
    table = people()
    counts = ClientCounts.from_table(table, group=["sex", "race"], **COLUMNS)
    assert counts.groups == (
        "man · Black",
        "man · white",
        "woman · Black",
        "woman · other",
        "woman · white",
    )
    for c, a, y, j in np.ndindex(counts.table.shape):
        sex, race = counts.grouping.groups[a]
        rows = (
            (table["site"] == counts.clients[c])
            & (table["sex"] == sex)
            & (table["race"] == race)
            & (table["truth"] == counts.labels[y])
            & (table["said"] == counts.labels[j])
        )
        assert counts.table[c, a, y, j] == rows.sum()
    alone = ClientCounts.from_table(table, group=["sex"], **COLUMNS)
    assert alone.grouping is None
    same = ClientCounts.from_table(table, group="sex", **COLUMNS)
    assert (alone.table == same.table).all() and alone.groups == same.groups


@pytest.mark.parametrize(
    "grouping", ["sex", "race", "age", "sex*race", "age * sex", "race*age*sex"]
)
def test_coarser_groups_are_those_of_fewer_columns(grouping):
    table = people().assign(age=np.resize(["10", "9", "old"], 400))
    counts = ClientCounts.from_table(table, group=["sex", "race", "age"], **COLUMNS)
    codes, names = counts.coarsen(grouping)
    columns = [column.strip() for column in grouping.split("*")]
    fewer = ClientCounts.from_table(table, group=columns, **COLUMNS)
    assert names == fewer.groups and codes.shape == (len(counts.groups),)
    pooled = np.stack([counts.table[:, codes == a].sum(axis=1) for a in range(len(names))], axis=1)
    np.testing.assert_array_equal(pooled, fewer.table)


def test_a_grouping_that_is_none():
    counts = ClientCounts.from_table(people(), group=["sex", "race"], **COLUMNS)
    refused(lambda: counts.coarsen("age"), '"age"', '"sex", "race"')
    refused(lambda: counts.coarsen("sex*age"), '"age"')
    refused(lambda: counts.coarsen("sex*sex"), "twice")
    refused(lambda: counts.coarsen(""), '"sex", "race"')
    alone = ClientCounts.from_table(people(), group="sex", **COLUMNS)
    refused(lambda: alone.coarsen("sex"), "--group COLUMN,COLUMN")


def test_what_cannot_be_crossed():
    table = people()
    refused(
        lambda: ClientCounts.from_table(table, group=["sex", "age"], **COLUMNS), 'no column "age"'
    )
    refused(
        lambda: ClientCounts.from_table(table, group=["sex", "sex"], **COLUMNS), '"sex"', "twice"
    )
    many = table.assign(a=np.arange(400) % 20, b=np.arange(400) // 20)
    refused(
        lambda: ClientCounts.from_table(many, group=["a", "b"], **COLUMNS),
        '"a", "b"',
        "400 groups",
        "at most 200",
    )
    some = many.assign(b=np.arange(400) // 40)
    assert len(ClientCounts.from_table(some, group=["a", "b"], **COLUMNS).groups) == 200


def test_declared_groups_may_be_nobodys():
    names = ["woman · other", "man · other", "man · Black", "man · white"]
    names += ["woman · Black", "woman · white"]
    counts = ClientCounts.from_table(people(), group=["sex", "race"], groups=names, **COLUMNS)
    assert counts.groups == tuple(names) and counts.grouping.groups[1] == ("man", "other")
    assert counts.table[:, 1].sum() == 0
    for wrong in (["man", *names[1:]], names[:-1]):
        with pytest.raises(InputError):
            ClientCounts.from_table(people(), group=["sex", "race"], groups=wrong, **COLUMNS)


# -------------------------------------------------------------------- remembered


def test_it_is_remembered_wherever_counts_go(tmp_path):
    counts = ClientCounts.from_table(people(), group=["sex", "race"], **COLUMNS)
    value = json.loads(json.dumps(counts.to_json()))
    assert value["grouping"] == {
        "columns": ["sex", "race"],
        "groups": [name.split(" · ") for name in counts.groups],
    }
    assert ClientCounts.from_json(value).grouping == counts.grouping
    assert ClientCounts.read(counts.write(tmp_path / "c.json")).grouping == counts.grouping
    assert counts.select_clients(["s1"]).grouping == counts.grouping
    assert what_if(counts, Mechanism(epsilon=1), seed=0).grouping == counts.grouping
    solution = FairnessProgram(counts, "eo").solve(0.1, 0.1)
    assert solution.counts.grouping == counts.grouping
    plain = ClientCounts.from_json({k: v for k, v in value.items() if k != "grouping"})
    assert plain.grouping is None and "grouping" not in plain.to_json()


WRONG = {
    "no object": ("sex,race", "must be an object"),
    "a key too few": ({"columns": ["sex", "race"]}, '"groups"'),
    "a key too many": ({"columns": [], "groups": [], "more": 1}, '"more"'),
    "no names": ({"columns": [1, 2], "groups": []}, "list of names"),
    "an empty name": ({"columns": ["sex", " "], "groups": []}, "not empty"),
    "no lists": ({"columns": ["sex", "race"], "groups": ["man", "woman"]}, "such lists"),
    "a column twice": ({"columns": ["sex", "sex"], "groups": [["a", "b"]]}, "each once"),
    "no column": ({"columns": [], "groups": [[]]}, "one or more columns"),
    "a value too few": ({"columns": ["sex", "race"], "groups": [["a"]]}, "one value for each"),
    "a group twice": ({"columns": ["sex"], "groups": [["a"], ["a"]]}, "twice"),
    "too few groups": (
        {"columns": ["sex"], "groups": [["a"], ["b"]]},
        "2 groups, but there are 5",
    ),
}


@pytest.mark.parametrize(("grouping", "says"), WRONG.values(), ids=WRONG)
def test_a_grouping_in_a_file_is_checked(grouping, says):
    value = ClientCounts.from_table(people(), group=["sex", "race"], **COLUMNS).to_json()
    refused(lambda: ClientCounts.from_json(value | {"grouping": grouping}), "grouping", says)
