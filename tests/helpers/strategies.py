"""Count tables of every shape, with empty cells, tiny cells and bad models among them."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.lp.policy import Floor, GroupingLimit, Policy, Precision
from fairfl_core.lp.utility import ACCURACY, BALANCED, Utility

CROSSED = Grouping(("sex", "race"), (("m", "x"), ("m", "y"), ("f", "x"), ("f", "y")))
POLICIES = ("nothing", "floors", "ratios", "shares", "groupings", "without_group", "all")
SCOPES = ("global", "local")
shares = st.integers(0, 1000).map(lambda share: share / 1000)
epsilons = st.one_of(st.sampled_from([0.0, 1e-8, 0.01, 1.0]), st.floats(0, 0.6))


@st.composite
def count_tables(draw, clients=(1, 4), groups=(2, 4), labels=(2, 4), decent=False, most=30):
    """Tables; `decent` ones have people in every cell and a model better than chance."""
    k, a, n = (draw(st.integers(*bounds)) for bounds in (clients, groups, labels))
    table = draw(hnp.arrays(np.int64, (k, a, n, n), elements=st.integers(0, most)))
    if decent:
        table += (most + 1) * n * np.eye(n, dtype=np.int64)
    empty = table.sum(axis=(1, 2, 3)) == 0
    table[empty, 0, 0, 0] = 1
    names = _names(k, a, n)
    return ClientCounts(table, *names, draw(st.sampled_from(names[2])))


@st.composite
def notion_and_region(draw):
    notion = draw(st.sampled_from(["sp", "eop", "eo", "eo-full"]))
    region = "kernel" if notion == "eo-full" else draw(st.sampled_from(["simplex", "kernel"]))
    return notion, region


@st.composite
def questions(draw, kind):
    """Counts, notion and region, both limits, and a policy that asks for such a kind of thing."""
    crossed = kind in ("groupings", "all")
    groups = (4, 4) if crossed else (2, 3)
    counts = draw(count_tables(clients=(1, 3), groups=groups, labels=(2, 3)))
    if crossed:
        counts = replace(counts, grouping=CROSSED)
    local = [draw(epsilons) for _ in counts.clients]
    return counts, draw(notion_and_region()), draw(epsilons), local, draw(policies(counts, kind))


@st.composite
def policies(draw, counts, kind):
    """Any mixture of what a kind has."""
    labels, asked = counts.labels, {}

    def some(made):
        return tuple(one for one in made if draw(st.booleans()))

    if kind in ("floors", "without_group", "all"):
        rates, losses = (draw(st.lists(shares, min_size=3, max_size=3)) for _ in "12")
        floors = [Floor(label, rate) for label, rate in zip(labels, rates, strict=False)]
        floors += [Floor(label, keeps=loss) for label, loss in zip(labels, losses, strict=False)]
        asked["floors"] = some(floors)
    if kind in ("ratios", "all"):
        ratios = st.one_of(st.none(), st.sampled_from([0.5, 0.8, 1.0]))
        asked |= {"ratio_global": draw(ratios), "ratio_local": draw(ratios)}
        gain = draw(hnp.arrays(int, (len(labels),) * 2, elements=st.integers(-20, 20)))
        gain = gain + 45 * np.eye(len(labels), dtype=int)  # to be right is worth most
        costs = Utility("gains", labels, tuple(map(tuple, gain.tolist())))
        asked["utility"] = draw(st.sampled_from([ACCURACY, BALANCED, costs]))
    if kind in ("shares", "all"):
        rate, share = draw(st.sampled_from([0.3, 0.6, 0.8, 0.95])), draw(shares)
        asked["precision"] = some(Precision(labels[-1], scope, rate) for scope in SCOPES)
        asked |= {f"capacity_{scope}": draw(st.sampled_from([None, share])) for scope in SCOPES}
    if crossed := counts.grouping:
        limit = st.builds(
            GroupingLimit,
            st.sampled_from(["*".join(crossed.columns), *crossed.columns]),
            st.sampled_from(SCOPES),
            epsilons,
        )
        asked["limits"] = tuple(draw(st.lists(limit, min_size=1, max_size=3)))
    if kind in ("without_group", "all"):
        asked["without_group"] = kind == "without_group" or draw(st.booleans())
    return Policy(**asked)


def synthetic(clients, groups, labels, rows=400, seed=0):
    """A network whose model is decent and differs between groups and clients."""
    rng = np.random.default_rng(seed)
    table = np.zeros((clients, groups, labels, labels), dtype=np.int64)
    for cell in np.ndindex(clients, groups):
        people = rng.multinomial(rows // groups, rng.dirichlet(np.full(labels, 3.0)))
        for y in range(labels):
            chances = 0.4 * rng.dirichlet(np.full(labels, 0.7)) + 0.6 * np.eye(labels)[y]
            table[cell][y] = rng.multinomial(people[y], chances)
    return ClientCounts(table, *_names(clients, groups, labels))


def biased(clients, labels, rows=2000, seed=0):
    """Two groups in a network whose overall limits bind, whatever holds inside the clients.

    Everywhere the model recognises early labels better in one group and late labels better in the
    other; and clients where one group is at home lean the same way.
    """
    rng = np.random.default_rng(seed)
    lean = np.cos(np.pi * np.arange(labels) / (labels - 1))
    share = rng.uniform(0.2, 0.8, clients)
    people = np.rint(rows * np.stack([share, 1 - share], axis=1)).astype(int)
    side = np.array([0.1, -0.1]) + 0.4 * (share - 0.5)[:, None]
    right = 0.75 + side[..., None] * lean + rng.normal(0, 0.05, (clients, 2, labels))
    right = np.clip(right, 0.05, 0.95)[..., None]
    of_label = rng.multinomial(people, rng.dirichlet(np.full(labels, 3.0), (clients, 2)))
    wrong = rng.dirichlet(np.full(labels, 0.7), (clients, 2, labels))
    chances = right * np.eye(labels) + (1 - right) * wrong
    return ClientCounts(rng.multinomial(of_label, chances), *_names(clients, 2, labels))


def _names(*sizes):
    return [tuple(f"{k}{i}" for i in range(size)) for k, size in zip("cgl", sizes, strict=True)]
