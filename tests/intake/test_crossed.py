"""Several columns for the group, on intake: crossed, merged, remembered."""

import json
from dataclasses import replace

import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.intake import (
    ColumnRoles,
    experiment_from_counts,
    experiment_from_table,
    open_table,
)
from tests.data.test_grouping import COLUMNS, people
from tests.intake.test_intake import csv_of, refused

ROLES = ColumnRoles("site", "sex", "truth", "said", crossed_with=("race",))


def taken(table, roles=ROLES, **options):
    return experiment_from_table(open_table("rows.csv", csv_of(table)), roles, **options)


def test_every_combination_that_somebody_has_is_a_group():
    experiment = taken(people()).experiment
    core = ClientCounts.from_table(people(), group=["sex", "race"], **COLUMNS)
    assert experiment.groups == core.groups and experiment.grouping == core.grouping
    tables = [experiment.counts(0, split) for split in ("validation", "test")]
    assert (tables[0].table + tables[1].table == core.table).all()
    for counts in tables:
        assert counts.grouping == core.grouping
    codes, names = tables[0].coarsen("race")
    assert names == ("Black", "other", "white") and codes.tolist() == [0, 2, 0, 1, 2]


def test_names_alike_are_joined_before_they_are_crossed():
    table = people()
    table.loc[::2, "race"] = table["race"][::2].str.upper()
    assert len(taken(table).experiment.groups) == 10
    assert len(taken(table, join=True).experiment.groups) == 5


def test_what_cannot_be_crossed():
    table = people()
    refused(lambda: taken(table, replace(ROLES, crossed_with=("sex",))), "chosen for two things")
    refused(lambda: taken(table, replace(ROLES, crossed_with=("truth",))), "chosen for two things")


# -------------------------------------------------------------------- counts files


def of_client(name, table=None, group=("sex", "race")):
    table = people() if table is None else table
    mine = table[table["site"] == name]
    return ClientCounts.from_table(mine, group=list(group), **COLUMNS)


def as_file(counts):
    return counts.clients[0], json.dumps(counts.to_json()).encode()


def test_clients_may_lack_a_combination_and_their_files_are_merged():
    table = people()
    lacking = table[(table["site"] != "s0") | (table["sex"] != "man") | (table["race"] != "Black")]
    files = [of_client(name, lacking) for name in ("s0", "s1")]
    assert len(files[0].groups) == 4 and len(files[1].groups) == 5
    experiment = experiment_from_counts([as_file(one) for one in files]).experiment
    merged = experiment.counts(0, "validation")
    core = ClientCounts.from_table(lacking, group=["sex", "race"], **COLUMNS)
    assert set(merged.groups) == set(core.groups)
    order = [merged.groups.index(name) for name in core.groups]
    assert (merged.table[:, order] == core.table).all()
    assert [merged.grouping.groups[place] for place in order] == list(core.grouping.groups)
    assert experiment.grouping == merged.grouping


@pytest.mark.parametrize("column", ["sex", "race"])
def test_a_value_that_only_one_client_has_is_asked_about(column):
    table = people()
    table.loc[(table["site"] == "s0") & (table[column] == "woman"), column] = "Woman"
    table.loc[(table["site"] == "s0") & (table[column] == "white"), column] = "White"
    wrong = "Woman" if column == "sex" else "White"
    files = [as_file(of_client(name, table)) for name in ("s0", "s1")]
    refused(lambda: experiment_from_counts(files), f'values of "{column}" "{wrong}"', "--groups")


def test_clients_cross_the_same_columns():
    files = [as_file(of_client("s0")), as_file(of_client("s1", group=("race", "sex")))]
    refused(lambda: experiment_from_counts(files), "s0 crosses", '"race", "sex"', "--group")
    plain = as_file(of_client("s1", group=["sex"]))
    refused(lambda: experiment_from_counts([files[0], plain]), "groups", "--groups")
    renamed = replace(of_client("s1"), groups=("woman · other", "b", "c", "man · Black", "e"))
    refused(lambda: experiment_from_counts([files[0], as_file(renamed)]), "calls", "another file")
