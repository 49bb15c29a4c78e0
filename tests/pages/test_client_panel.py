"""One client in a drawer of Explore: its own numbers, its rule in words, a limit of its own."""

import re

import numpy as np
import pytest

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.all_rates import impact_ratios_of
from fairfl_core.evaluation.harm import harm_of
from pages.shared.results import predictor_of, study_of
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.test_explore import popover
from tests.pages.visible import visible, visible_text

DISASTER = {"experiment": "ham10000", "notion": "eo", "eps_global": 1, "eps_local": 0.05}
ADULT = {"experiment": "adult", "seed": 0, "eps_local": 0.1, "eps_global": 0.1}


@pytest.fixture(scope="module")
def of_middle(opened, link, core):
    """The place of a client in the middle, and its drawer."""
    at = len(core.clients) // 2
    return at, opened(**link, client=core.clients[at])


def test_the_client_in_two_sentences(of_middle, core):
    at, app = of_middle

    def of(what):
        return core.mean(what)[at]

    gaps = of(lambda e: e.before.gaps.local), of(lambda e: e.gaps.local)
    low, high = (of(lambda e, end=end: e.local_interval[end]) for end in (0, 1))
    output = next(line for line in visible(app) if "on new people the gap is" in line)
    assert output.startswith(f"Asked {format.epsilon(core.solutions[0].eps_local[at])}; ")
    assert f"the gap is {format.before_after(*gaps, format.round_gap)} (between " in output
    people = of(lambda e: e.counts.n_client)
    assert (
        f"between {format.round_gap(low)} and {format.round_gap(high)}, on {people:,.0f} p"
        in output
    )
    accuracy = of(lambda e: e.before.client_accuracy), of(lambda e: e.client_accuracy)
    assert f"Accuracy {format.before_after(*accuracy, format.round_percent)}" in output
    own = harm_of(core.unseen).by_client.get(core.clients[at])
    assert own is None or own.describe(2)[:100] in visible_text(app)
    assert f"[{core.clients[at]}]" in visible(app)


def test_its_compared_rates(of_middle, core):
    at, app = of_middle
    table = popover(app, "client-rates-table-open").dataframe[0].value
    for r, rate in enumerate(core.solutions[0].notion.rates):
        for a, group in enumerate(core.solutions[0].counts.groups):
            named = table["rate of"].str.contains(f"“{rate.answer}”", regex=False)
            row = table[named & (table["group"] == group)].iloc[0]
            if not np.any([e.people[at, a, r] for e in core.unseen]):
                assert row["people"] == 0 and np.isnan(row["rate"])
                continue
            expected = [
                np.round(core.mean(lambda e, a=a, r=r: e.people[at, a, r])),
                core.mean(lambda e, a=a, r=r: e.before.rates[at, a, r]),
                core.mean(lambda e, a=a, r=r: e.rates[at, a, r]),
            ]
            shown = [row["people"], row["rate, before"], row["rate"]]
            np.testing.assert_allclose(shown, expected, atol=6e-5)


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_the_lottery_in_words_is_the_predictors(opened, region):
    """Read the shares from the page and mix the rules by hand: Pr(answer | model's answer)."""
    link = {"experiment": "adult", "region": region, "rates": "labels", "seed": 1}
    said = visible(opened(**link, client="no doctorate"))
    output = [line for line in said if " in 100" in line]
    predictor = predictor_of(view_of(**link))
    assert [line.split(" – ")[0] for line in output] == ["- women", "- men"]
    for place, line in enumerate(output):
        shares = {
            rule.strip(): float(share) / 100
            for rule, share in re.findall(r"([^–;]+): ([\d.]+) in 100", line)
        }
        if region == "exact":
            assert sum(shares.values()) == pytest.approx(1, abs=0.002)
            continue
        lottery = predictor.lottery[1, place]
        for j, label in enumerate(predictor.labels):
            keeps = shares.get(f"keeps “{label}”", 0)
            if region == "simplex":
                keeps = shares.get("keeps the model's answer", 0)
                keeps += shares.get(f"always “{label}”", 0)
            assert keeps == pytest.approx(lottery[j, j], abs=0.001)


def test_a_client_of_other_people_is_told_and_lets_go(opened):
    app = opened(**ADULT, client="Atlantis")
    said = visible_text(app)
    assert "Ignored in the link: client = “Atlantis” (expected: one of doctorate" in said
    assert "[Atlantis]" not in said
    app = opened(**ADULT, client="doctorate")
    app.selectbox(key="widget_experiment").set_value("ham10000").run()
    assert "[doctorate]" not in visible(healthy(app)) and linked(app, "client") is None


def test_its_own_limit_changes_its_own_and_is_in_the_link(opened):
    app = opened(**ADULT | {"eps_local": 0.2}, client="doctorate")
    app.toggle(key="widget_own_on").set_value(True).run()
    assert linked(healthy(app), "own") == "doctorate=0.2"
    app.select_slider(key="widget_own_value").set_value(0.01).run()
    assert linked(healthy(app), "own") == "doctorate=0.01"
    assert any(line.startswith("Asked 0.01; on new people") for line in visible(app))
    app.toggle(key="widget_own_on").set_value(False).run()
    assert linked(app, "own") is None


# -------------------------------------------------------------------- every rate, ratios


def test_a_crossing_is_compared_by_each_of_its_columns_too(opened):
    asked = {"experiment": "public_coverage_sex_race", "seed": 0, "notion": "sp"}
    app = popover(opened(**asked, client="WY"), "client-ratios")
    table = next(one.value for one in app.table if "impact ratio" in one.value.columns)
    of = impact_ratios_of(study_of(view_of(**asked)).evaluations(unseen=True)).table()
    rows = of[of["client"].isna() | (of["client"] == "WY")].to_dict("records")
    assert list(table["people"]) == [format.count(row["n"]) for row in rows]
    few = [not row["assessable"] for row in rows]
    assert few == [row["n"] < 30 for row in rows] and any(few)
    for cell, row, small in zip(table["impact ratio"], rows, few, strict=True):
        assert (cell == "not assessable") == small
        if not small:
            shown = float(cell.split()[0])
            assert abs(shown - row["impact_ratio"]) < 0.006
            assert ("▼" in cell) == (row["impact_ratio"] < 0.8) == (shown < 0.8)
