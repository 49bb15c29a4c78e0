"""What files seldom are."""

import pytest

import fairfl_core
from fairfl_core._io.tables import open_table, read_whole_table
from fairfl_core.errors import InputError


def test_a_table_to_be_written_again_has_no_row_that_is_cut_off():
    table = read_whole_table(open_table("rows.csv", b"a,b\n1,x\n2,y\n"))
    assert table.to_pydict() == {"a": ["1", "2"], "b": ["x", "y"]}
    with pytest.raises(InputError, match=r"^rows\.csv: data row 2 has 3 cells where the header"):
        read_whole_table(open_table("rows.csv", b"a,b\n1,x\n2,y,z\n"))


def test_what_the_package_promises_is_all_that_it_lists():
    assert dir(fairfl_core) == sorted(fairfl_core.__all__)
