"""Who is worse off comes first on a page and is never green; its numbers are the core's own."""

import re

import numpy as np
import pytest

from fairfl_core.evaluation.all_rates import all_rates_of
from fairfl_core.evaluation.harm import harm_of
from fairfl_core.people.shares import wilson
from tests.pages.conftest import healthy, unfolded, view_of
from tests.pages.core_numbers import CoreNumbers
from tests.pages.reading import specs

DISASTER = {"experiment": "ham10000", "notion": "eo", "eps_global": 1, "eps_local": 0.05}
CANCER = "cancer or pre-cancer"
# A client that gains accuracy by its limit while a label nearly disappears in it.
GAIN = {"experiment": "adult", "region": "exact", "seed": 0, "eps_global": 1, "eps_local": 0.05}


@pytest.fixture(scope="module")
def core():
    return CoreNumbers.of(view_of(**DISASTER))


@pytest.fixture(scope="module")
def harm(core):
    return harm_of(core.unseen)


def unmarked(markdown):
    return re.sub(r"\\(.)|\*\*", lambda sign: sign[1] or "", markdown)


def lines(app):
    return [unmarked(line.value) for line in app.markdown]


def recognised(core, client, group, label, side):
    """Share of a group's people with a label who are told it, mean over runs that have any."""
    shares, people = [], []
    for run in core.unseen:
        counts = run.counts
        c, a = counts.clients.index(client), counts.groups.index(group)
        y = counts.labels.index(label)
        n = counts.table[c, a, y].sum()
        confusion = run.confusion if side == "after" else run.own.confusion
        if n:
            shares.append(confusion[c, a, y, y] / n)
            people.append(n)
    return np.mean(shares), round(np.mean(people))


# -------------------------------------------------------------------- Explore


def test_the_disaster_is_the_first_thing_that_explore_says(opened, core, harm):
    app = opened(**DISASTER)
    said = lines(app)
    first = next(place for place, line in enumerate(said) if line)
    assert said[first].startswith(":red-badge[▼ SOMEONE IS WORSE OFF")
    headline = next(place for place, line in enumerate(said) if line.startswith("#### "))
    verdict = next(place for place, line in enumerate(said) if "red-badge[✕ MET BUT HARM" in line)
    assert first < verdict < headline
    _, told, in_all = said[first].split("\n\n")
    worst = next(iter(harm.by_client.values()))
    assert told.startswith(f"- Overall: {worst.lost[0].brief()}")
    lost = worst.lost[0]  # most people: told first, and beyond chance
    assert lost.label == CANCER and lost.beyond_chance and lost.n >= 10
    names = [line.removeprefix("- ").split(":")[0] for line in told.splitlines()]
    assert names == ["Overall" if name is None else name for name in list(harm.by_client)[:3]]
    sure = sum(one.beyond_chance for one in harm.alarms)
    assert in_all.startswith(
        f"In all {len(harm.alarms)} alarms in 5 of 5 clients, {sure} of them beyond chance."
    )


def test_nothing_is_green_and_nobody_gains(opened):
    for page, more in (("", {}), ("clients", {"client": "doctorate"})):
        app = opened(page, **GAIN, **more)
        said = lines(app)
        assert not any("green" in line for line in said)
        for text in said:
            for word in re.findall(r"\bgains[^.;]*", text):
                assert word.startswith("gains on average") and ", but " in text
        assert any("but “up to 50K” is recognised in 5.9 % of women" in line for line in said)
        # A rise of accuracy is green unless it is told to be otherwise.
        rising = [m for m in app.metric if m.delta.startswith("+")]
        assert len(rising) == (1 if page else 0)
        for metric in rising:
            assert metric.delta == "+6.3 points on average against no limit"
            assert metric.color == "orange" or metric.proto.color == metric.proto.ORANGE


def test_every_alarm_is_in_the_table(opened, harm):
    app = opened(**DISASTER)
    (table,) = [
        t.value
        for t in unfolded(app).dataframe
        if "recognised before" in t.value
        and "after" in t.value
        and "beyond chance" in t.value
        and "alarm" not in t.value
    ]
    rows = [tuple(row) for row in table[["where", "group", "label"]].to_numpy()]
    assert rows == [
        (one.where.replace("Overall", "overall"), one.group, one.label) for one in harm.lost
    ]
    for name, part in (("recognised before", "before"), ("after", "after"), ("people", "n")):
        assert list(table[name]) == pytest.approx([getattr(x, part) for x in harm.lost], abs=1e-4)
    assert list(table["beyond chance"]) == [one.beyond_chance for one in harm.lost]


@pytest.mark.parametrize("label", [CANCER, "benign growth"])
def test_the_picture_of_recognition_is_the_cores(opened, core, harm, label):
    app = opened(**DISASTER)
    app.selectbox(key="widget_label").set_value(label).run()
    healthy(app)
    (spec,) = specs(app, "explore-recognition")
    clients = [name.split("<br>")[0] for name in spec["layout"]["yaxis"]["ticktext"]]
    assert [name.removeprefix("▼ ") for name in clients] == ["overall", *harm.clients]
    drawn = {}
    for trace in spec["data"]:
        for k, told in enumerate(trace.get("customdata") or []):
            x, symbol = numbers(trace["x"])[k], trace["marker"]["symbol"][k]
            drawn[told[0], told[1]] = (told[2], x, told[3], symbol)
    for client in core.clients:
        for group in ("women", "men"):
            before, n = recognised(core, client, group, label, "before")
            after, _ = recognised(core, client, group, label, "after")
            shown = drawn[client, group]
            assert shown[:3] == pytest.approx((100 * before, 100 * after, n), abs=1e-9)
            fell, rose = after < before - 5e-4, after > before + 5e-4
            looks = "triangle-left-open" if fell else "triangle-right" if rose else "circle"
            assert shown[3] == looks
    alarmed = {one.client for one in harm.lost if one.label == label}
    assert {name.removeprefix("▼ ") for name in clients if name.startswith("▼")} == {
        "overall" if client is None else client for client in alarmed
    }
    closed = [one for one in harm.closed if one.rate.answer == label]
    said = "\n".join(lines(app))
    assert all(one.sentence() in said for one in closed[:4])


def numbers(data):
    import base64

    if isinstance(data, dict):
        return np.frombuffer(base64.b64decode(data["bdata"]), data["dtype"])
    return [value for value in data if value is not None]


@pytest.mark.parametrize(
    ("eps", "badge"),
    [((0.1, 1), "red-badge[✕ MET BUT HARMFUL"), ((0.1, 0.1), "red-badge[✕ MET BUT HARMFUL")],
)
def test_harm_is_never_green(opened, eps, badge):
    """By recognising men with an income less often."""
    asked = {"notion": "sp", "seed": 0, "eps_global": eps[0], "eps_local": eps[1]}
    for page in ("", "clients"):
        said = lines(opened(page, experiment="adult", **asked))
        assert any(f":{badge}" in line for line in said)
        assert not any("green-badge" in line for line in said)
        assert any("WORSE OFF" in line for line in said)


@pytest.mark.parametrize(
    ("badge", "asked"),
    [
        # Blue: met, but an alarm is open that may be chance.
        ("blue-badge[● MET]", {"as_it_starts": True, "eps_global": 0.15, "eps_local": 1}),
        (
            "orange-badge[○ NOT SURE YET]",
            {"as_it_starts": True, "eps_global": 0.2, "eps_local": 0.2},
        ),
        ("red-badge[✕ NOT MET]", {"region": "exact", "seed": 2, "eps_global": 0, "eps_local": 0}),
    ],
)
def test_each_verdict_has_its_shape_and_colour(opened, badge, asked):
    said = lines(opened(experiment="adult", notion="sp", **asked))
    found = [line for line in said if any(f"-badge[{shape}" in line for shape in "●○✕")]
    assert len(found) == 1 and f":{badge}" in found[0]


NO_LIMIT = {"eps_global": 1, "eps_local": 1}


def test_no_limit_has_no_verdict_and_raises_no_alarm(opened):
    said = lines(opened(experiment="adult", notion="sp", seed=0, region="exact", **NO_LIMIT))
    assert not any("WORSE OFF" in line for line in said)
    assert not any(f"-badge[{shape}" in line for shape in "●○✕" for line in said)


# -------------------------------------------------------------------- Clients


def test_a_clients_alarm_and_headline(opened, harm):
    app = opened("clients", **DISASTER, client="under 35")
    said = lines(app)
    first = next(place for place, line in enumerate(said) if line)
    title, told, elsewhere = said[first].split("\n\n")
    assert title == ":orange-badge[▽ SOMEONE MAY BE WORSE OFF HERE]"  # on few people
    assert told == f"under 35: {harm.by_client['under 35'].told(4)}"
    others = ", ".join(name for name in harm.clients if name != "under 35")
    assert elsewhere == f"Someone is worse off in other clients: {others}."
    headline = next(line for line in said if line.startswith("#### "))
    # Against no limit, where few are told of cancer either; a gain is told with who pays for it.
    lost = harm.by_client["under 35"].lost[0]
    assert f": it gains on average 0.43 points, but {lost.brief()}" in headline
    app = opened("clients", **GAIN, client="doctorate")
    headline = next(line for line in lines(app) if line.startswith("#### "))
    assert headline.endswith(
        "it gains on average 6.3 points, but “up to 50K” is recognised in 5.9 % of women, was "
        "75.0 % (n = 8: too few people to rule out chance)."
    )


def by_hand(core, client, label, name, group, side):
    """A rate from its definition, mean over runs that have anybody behind it; overall if None."""
    shares, people = [], []
    for run in core.unseen:
        counts = run.counts
        chosen = [c for c, one in enumerate(counts.clients) if client in (None, one)]
        confusion = run.confusion if side == "after" else run.own.confusion
        table = sum(confusion[c, counts.groups.index(group)] for c in chosen)
        y = counts.labels.index(label) if label else 0
        answered, have = table[:, y].sum(), table[y].sum()
        part, whole = {
            "selection rate": (answered, table.sum()),
            "true-positive rate": (table[y, y], have),
            "false-positive rate": (answered - table[y, y], table.sum() - have),
            "precision": (table[y, y], answered),
            "F1": (2 * table[y, y], answered + have),
            "accuracy": (np.trace(table), table.sum()),
        }[name]
        if whole >= (0.5 if name == "precision" else 1e-9):
            shares.append(part / whole)
            people.append(whole / 2 if name == "F1" else whole)
    if not shares:
        return float("nan"), float("nan"), float("nan"), 0
    ends = [
        wilson(np.array(s), np.array(n), 1.959964) for s, n in zip(shares, people, strict=True)
    ]
    low, high = np.mean(ends, axis=0)
    return np.mean(shares), low, high, np.mean(people)


def test_every_rate_of_a_client_and_overall(opened, core):
    app = opened("clients", **DISASTER, client="65 and over")
    tables = [t.value for t in unfolded(app).dataframe if "people, before" in t.value]
    assert [set(table["where"]) for table in tables] == [{"65 and over"}, {"overall"}]
    for client, table in zip(("65 and over", None), tables, strict=True):
        assert len(table) == 2 * (5 * 4 + 1)
        for _, row in table.iterrows():
            label = row["label"] if isinstance(row["label"], str) else None
            for side, where, n in (
                ("before", "before, ", "people, before"),
                ("after", "after, ", "people"),
            ):
                share, low, high, people = by_hand(
                    core, client, label, row["rate"], row["group"], side
                )
                assert row[side] == pytest.approx(share, abs=6e-5, nan_ok=True)
                assert row[n] == pytest.approx(people, abs=0.51)
                ends = row[f"{where}95 % from"], row[f"{where}95 % to"]
                assert ends == pytest.approx((low, high), abs=1e-4, nan_ok=True)


def test_every_notion_and_why_not_all(opened, core):
    rates = all_rates_of(core.unseen)
    app = opened("clients", **DISASTER, client="65 and over")
    tables = [t.value for t in app.table if "this setting" in t.value]
    assert len(tables) == 2
    for client, table in zip(("65 and over", None), tables, strict=True):
        for (_, row), one in zip(table.iterrows(), rates.notions_of(client), strict=True):
            low, high = one.limits
            assert row["gap after (95 %)"] == f"{one.after:.3f} ({low:.3f} to {high:.3f})"
            low, high = one.before_limits
            assert row["gap before (95 %)"] == f"{one.before:.3f} ({low:.3f} to {high:.3f})"
        assert rates.base.sentence(client) in lines(app)


def test_a_client_without_alarms_names_the_others(opened):
    core = CoreNumbers.of(view_of("public_coverage", seed=3, eps_local=0.02))
    harm = harm_of(core.unseen)
    fine = next((name for name in core.clients if name not in harm.clients), None)
    assert fine and harm.clients
    app = opened("clients", experiment="public_coverage", seed=3, eps_local=0.02, client=fine)
    assert not any("WORSE OFF" in line for line in lines(app))
    others = [unmarked(line.value) for line in app.caption]
    assert any(line.startswith(f"{harm.title} in other clients: ") for line in others)
