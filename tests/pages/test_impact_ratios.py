"""The table of impact ratios on the Clients page: the core's own, row by row."""

import numpy as np
from pages.components.clients import text

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.impact_ratios import impact_ratios_of
from pages.shared.outside_text import plain
from pages.shared.results import study_of
from tests.pages.conftest import view_of

ADULT = {"experiment": "adult", "seed": 0, "eps_local": 0.1, "eps_global": 0.1}


def test_the_table_is_the_cores(opened):
    app = opened("clients", **ADULT, client="doctorate")
    table = next(one.value for one in app.table if "impact ratio" in one.value.columns)
    study = study_of(view_of(**ADULT))
    ratios = impact_ratios_of(study.evaluations(unseen=True))
    at = [0, 1 + study.first.solution.counts.clients.index("doctorate")]
    groups = ratios.groups
    ratio, before = groups.ratio()[at].ravel(), groups.rates.before.share[at].ravel()
    assert len(np.unique(ratio.round(2))) > 1
    shown = [float(cell.split()[0]) for cell in table["impact ratio"]]
    np.testing.assert_allclose(shown, ratio, atol=0.006)
    assert list(table["selected before"]) == [format.percent(value) for value in before]
    assert list(table["people"]) == [format.count(n) for n in groups.rates.after.n[at].ravel()]
    marked = ["▼" in cell for cell in table["impact ratio"]]
    assert marked == [value < 0.8 for value in ratio]


def test_small_groups_are_named_and_left_out_on_request():
    study = study_of(view_of(**ADULT))
    ratios = impact_ratios_of(study.evaluations(unseen=True), leave_out=0.4)  # women are a third
    assert ratios.left_out == ("women",)
    assert "Left out" in text.ratios_reading(ratios, unseen=True)
    assert "women" in text.ratios_reading(ratios, unseen=True)
    rows = ratios.table().to_dict("records")
    assert [text.ratio_cells(row)[-1] for row in rows if row["group"] == "women"] == ["–"] * 3
    plain = impact_ratios_of(study.evaluations(unseen=True))
    assert "Left out" not in text.ratios_reading(plain, unseen=True)


def test_a_crossing_is_compared_by_each_of_its_columns_too(opened):
    asked = {"experiment": "public_coverage_sex_race", "seed": 0, "notion": "sp"}
    app = opened("clients", **asked, client="WY")
    table = next(one.value for one in app.table if "impact ratio" in one.value.columns)
    ratios = impact_ratios_of(study_of(view_of(**asked)).evaluations(unseen=True))
    of = ratios.table()
    rows = of[of["client"].isna() | (of["client"] == "WY")].to_dict("records")
    assert list(table["people"]) == [format.count(row["n"]) for row in rows]
    few = [not row["assessable"] for row in rows]
    assert few == [row["n"] < 30 for row in rows] and any(few)
    for cell, row, small in zip(table["impact ratio"], rows, few, strict=True):
        if small:
            assert cell == "not assessable"
        else:
            shown = float(cell.split()[0])
            assert abs(shown - row["impact_ratio"]) < 0.006
            assert ("▼" in cell) == (row["impact_ratio"] < 0.8) == (shown < 0.8)
    names = list(table["group"])
    alone = [plain(f"sex: {name}") for name in ratios.comparisons[1].groups]
    assert names[8:10] == [plain(name) for name in ratios.groups.groups[:2]]
    assert [name for name in names if name in alone] == alone * 2
    said = " ".join(one.value for one in app.caption)
    small = next(row["group"] for row in rows if not row["assessable"])
    assert "Not assessable, with fewer than 30 people here:" in said and small in said
