"""The view and its link: a round trip for every view, and no text that raises."""

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.data import experiments
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.utility import BALANCED, Utility
from pages.shared.catalogue import bundled
from pages.shared.codecs import (
    FLAG,
    SHARE,
    Unusable,
    asked,
    between,
    certainty,
    free_text,
    in_order,
    numbers,
    one_of,
    per_name,
    seeds,
    whole,
)
from pages.shared.view import (
    Catalogue,
    View,
    changed,
    options_of,
    read_option,
    read_view,
    write_option,
    write_view,
)


class Made:
    """An experiment as a view sees it, with names as bad as can be."""

    labels, favourable, folds, grouping = ("no", "yes"), "yes", 1, None

    def __init__(self, notion, seeds, clients, has_scores, folds=1):
        self.notion, self.seeds, self.clients = notion, seeds, clients
        self.has_scores, self.folds = has_scores, folds


MADE = {
    "adult": Made("sp", (0, 1, 2), ("doctorate", "no doctorate"), True),
    "adult_folds": Made("sp", (0, 1, 2, 3), ("doctorate", "no doctorate"), True, folds=4),
    "own": Made("eo", (0,), ("a=b", "x;y", "100 %", "%3B", "ü", "=", ";"), False),
}
CATALOGUE = Catalogue(("adult", "own"), MADE.__getitem__, {"adult": "adult_folds"}.get)
NAMES = [one.metadata["link"] or one.name for one in fields(View)]
texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["nan", "inf", "-inf", "1e999", "-0", "0x1", "True", "all", "0", "٣", "=;="]),
)
shares = st.floats(0, 1)
guarantees = st.builds(
    Guarantee,
    st.floats(0.5, 0.999, exclude_min=True),
    st.sampled_from(["each", "all"]),
    st.sampled_from(["measured", "proved"]),
)


@st.composite
def views(draw):
    view = read_view({"experiment": draw(st.sampled_from(CATALOGUE.names))}, CATALOGUE)[0]
    for field in ("data", "notion", "region"):
        value = draw(st.sampled_from(options_of(field, view, CATALOGUE)))
        view = changed(view, CATALOGUE, **{field: value})
    view = changed(view, CATALOGUE, guarantee=draw(st.none() | guarantees))
    value = draw(st.sampled_from(options_of("rates", view, CATALOGUE)))
    view = changed(view, CATALOGUE, rates=value)
    made = MADE[view.data]
    some = draw(st.dictionaries(st.sampled_from(made.clients), shares))
    return replace(
        view,
        seeds=draw(st.sampled_from([made.seeds, *((seed,) for seed in made.seeds)])),
        eps_global=draw(shares) + 0.0,
        eps_local=draw(shares) + 0.0,
        own_limits=in_order({k: v + 0.0 for k, v in some.items()}, made.clients),
    )


@given(views())
def test_a_link_reads_as_the_view_it_was_written_from(view):
    link = write_view(view, CATALOGUE)
    assert read_view(link, CATALOGUE) == (view, ())
    assert read_option(write_option(view, CATALOGUE), CATALOGUE) == view


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(NAMES), texts))
def test_no_text_raises_and_what_is_not_used_is_told(link):
    view, ignored = read_view(link, CATALOGUE)
    assert read_view(write_view(view, CATALOGUE), CATALOGUE) == (view, ())
    for one in ignored:
        assert link[one.name] == one.text and one.expected
    start = read_view({"experiment": view.experiment}, CATALOGUE)[0]
    if {one.name for one in ignored} >= set(link) - {"experiment"}:
        assert view == start


@given(texts)
def test_a_pin_is_whole_or_refused(text):
    try:
        pin = read_option(text, CATALOGUE)
    except Unusable:
        return
    assert read_view(write_view(pin, CATALOGUE), CATALOGUE) == (pin, ())


@given(views(), views(), st.sets(st.sampled_from([one.name for one in fields(View)])))
def test_whatever_is_changed_every_setting_still_fits(view, other, names):
    now = changed(view, CATALOGUE, **{name: getattr(other, name) for name in names})
    assert read_view(write_view(now, CATALOGUE), CATALOGUE) == (now, ())
    assert changed(view, CATALOGUE) == view


def test_what_follows_a_change_begins_anew():
    link = {"notion": "eo", "region": "simplex", "rates": "scores", "seed": "1"}
    view = read_view(link | {"own": "doctorate=0.2"}, CATALOGUE)[0]
    moved = changed(view, CATALOGUE, experiment="own")
    assert (moved.notion, moved.seeds, moved.own_limits, moved.rates) == ("eo", (0,), (), "labels")
    assert moved.eps_local == view.eps_local
    exact = changed(changed(view, CATALOGUE, data="adult"), CATALOGUE, region="exact")
    assert exact.rates == "shrunk" and exact.own_limits == view.own_limits
    assert changed(view, CATALOGUE, notion="eo-full").region == "exact"


def test_programs_and_maps_do_not_depend_on_limits():
    view = read_view({"own": "doctorate=0.2", "eps_global": "0.3"}, CATALOGUE)[0]
    other = replace(view, eps_global=0.0, eps_local=0.5, own_limits=())
    assert view.without_limits() == other.without_limits()
    assert view.without_limits() != replace(view, rates="scores").without_limits()
    assert view.limits(("doctorate", "x")) == {
        "eps_global": 0.3,
        "eps_local": {"doctorate": 0.2, "x": 0.05},
    }


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_every_bundled_experiment_has_a_start(name):
    catalogue = Catalogue(tuple(experiments.list_experiments()), experiments.open)
    view, ignored = read_view({"experiment": name}, catalogue)
    assert not ignored and view.notion == experiments.open(name).notion


def test_a_view_starts_where_limits_hold_best():
    """Cross-fitted where that is bundled; by scores with two labels, by answers with more."""
    start = {name: read_view({"experiment": name}, bundled())[0] for name in bundled().names}
    two, four = start["adult"], start["ham10000"]
    assert (two.data, two.region, two.rates) == ("adult_cross_fitted", "exact", "labels")
    assert two.guarantee is None and four.region == "simplex"
    assert start["ham10000_scenario1"].data == "ham10000_scenario1"


CODECS = (
    one_of((1.0, 0.05, "x")),
    FLAG,
    whole(2, 6),
    numbers(0, 100, 6),
    SHARE,
    free_text(5),
    seeds((0, 3)),
    per_name(("a", "b=c")),
)


@settings(max_examples=300)
@given(st.sampled_from(CODECS), texts)
def test_what_a_codec_reads_fits_and_is_written_so_that_it_reads_again(codec, text):
    try:
        value = codec.read(text)
    except Unusable as error:
        assert str(error)
        return
    assert codec.fits(value)
    written = codec.write(value)
    assert not written or codec.read(written) == value


@pytest.mark.parametrize(
    ("codec", "refused", "says"),
    [
        (one_of("abcdefg"), "h", "one of a, b, c, d, e, f, …"),
        (one_of((1, 2), ("one", "two")), "1", "one of one, two"),
        (certainty(possible=True), "0.95-each", "a confidence like 0.95-each-measured"),
        (certainty(possible=False), "0.95-each-measured", "nothing here"),
        (whole(2, 6000), "1", "a whole number from 2 to 6,000"),
        (numbers(0, 100, 2), "1,2,3", "up to 2 whole numbers from 0 to 100"),
        (SHARE, "1.001", "a number from 0 to 1"),
        (between(0.5, 8.0), "8.1", "a number from 0.5 to 8"),
        (free_text(5), "abcdef", "at most 5 letters"),
        (seeds((0, 3)), "1", "one of all, 0, 3"),
        (per_name(("a", "b")), "c=0.1", "pairs like “name=0.05”, each with a name there is"),
    ],
)
def test_a_text_that_cannot_be_taken_is_told_what_can(codec, refused, says):
    with pytest.raises(Unusable) as error:
        codec.read(refused)
    assert str(error.value) == says


# -------------------------------------------------------------------- what is asked beside the limits

LABELS = ("no", "yes: maybe", "ü=;&")


@st.composite
def policies(draw):
    floors = [
        Floor(label, draw(st.floats(0, 1)))
        if draw(st.booleans())
        else Floor(label, keeps=draw(st.floats(0, 1)))
        for label in draw(st.lists(st.sampled_from(LABELS), unique=True))
    ]
    ratio = st.one_of(st.none(), st.floats(0.01, 1))
    gain = tuple(
        tuple(draw(st.floats(-5, 5)) + 20.0 * (y == k) for k in range(3)) for y in range(3)
    )
    utility = draw(
        st.sampled_from([Utility("accuracy"), BALANCED, Utility("my own", LABELS, gain)])
    )
    return Policy(tuple(floors), draw(ratio), draw(ratio), utility=utility)


@given(policies())
def test_a_link_keeps_a_policy(policy):
    codec = asked(LABELS, sure=False)
    text = codec.write(policy)
    assert (codec.read(text) if text else Policy()) == policy
    assert codec.fits(policy)
    assert asked(LABELS, sure=True).fits(policy) == (not policy.has_ratios)
    assert asked(("other", "labels"), sure=False).fits(policy) == (
        not policy.floors and not policy.utility.labels
    )


@given(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                '{"floor":{"no":2}}',
                '{"floor":[]}',
                "[]",
                "null",
                "1",
                '{"utility":{"labels":[],"gain":[]}}',
                '{"floor":{"nobody":0.5}}',
                '{"limits":["race"]}',
                "{" * 5000,
                "[" * 3999,
            ]
        ),
    )
)
def test_any_text_is_a_policy_or_refused(text):
    codec = asked(LABELS, sure=False)
    try:
        assert isinstance(codec.read(text), Policy)
    except Unusable as error:
        assert str(error)
