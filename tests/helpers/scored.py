"""People with scores of every shape: ties, tiny and empty cells, models that are wrong."""

import numpy as np
from hypothesis import strategies as st

from fairfl_core.data.scored import ScoredData
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import measured


def as_people(client, group, label, scores, clients, groups, favourable=None):
    labels = tuple(f"l{y}" for y in range(scores.shape[1]))
    return ScoredData(
        np.asarray(client),
        np.asarray(group),
        np.asarray(label),
        scores,
        scores.argmax(axis=1),
        tuple(f"c{c}" for c in range(clients)),
        tuple(f"g{a}" for a in range(groups)),
        labels,
        favourable or labels[-1],
    )


@st.composite
def scored_people(draw, clients=(1, 3), groups=(2, 3), labels=(2, 4), most=60):
    """A few people; scores on a coarse grid, so that many are tied."""
    k, a, n = (draw(st.integers(*bounds)) for bounds in (clients, groups, labels))
    size, seed = draw(st.integers(k, most)), draw(st.integers(0, 2**32))
    units, trust = draw(st.sampled_from([2, 8, 1024])), draw(st.sampled_from([0.0, 0.5, 1.0]))
    return few_people(k, a, n, size, seed, units, trust, f"l{draw(st.integers(0, n - 1))}")


def few_people(clients, groups, labels, size, seed, units, trust, favourable=None):
    """People whose scores are multiples of 1 / `units`; a share of labels, `trust`, follows them."""
    rng = np.random.default_rng(seed)
    scores = rng.multinomial(units, rng.dirichlet(np.full(labels, 0.8)), size) / units
    client = np.concatenate([np.arange(clients), rng.integers(0, clients, size - clients)])
    trusted = rng.random(size) < trust
    drawn = (rng.random((size, 1)) > scores.cumsum(axis=1)[:, :-1]).sum(axis=1)
    label = np.where(trusted, drawn, rng.integers(0, labels, size))
    group = rng.integers(0, groups, size)
    return as_people(client, group, label, scores, clients, groups, favourable)


def scored_network(clients, groups, labels, rows=400, seed=0, sharp=1.5):
    """A network whose scores are calibrated and whose base rates differ between cells."""
    rng = np.random.default_rng(seed)
    client, group = np.divmod(np.arange(clients * rows) // (rows // groups), groups)
    client = np.minimum(client, clients - 1)
    tilt = rng.normal(0, 0.7, (clients, groups, labels))
    logits = sharp * rng.normal(0, 1, (len(client), labels)) + tilt[client, group]
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (rng.random((len(client), 1)) > scores.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return as_people(client, group, label, scores, clients, groups)


def exact_program(people, notion="eo", *, rates="labels", **how):
    """The exact region over scores as they are: not recalibrated, unless they already are."""
    if people.calibration is None:
        people = measured(people, rates)
    return FairnessProgram(people, notion, "exact", rates=rates, **how)
