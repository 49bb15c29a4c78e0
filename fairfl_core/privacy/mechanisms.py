"""Noise on a client's table: two mechanisms, and the privacy budget each really spends.

Not end-to-end privacy: training (FedAvg) is not private, and nothing here makes it so. Noise
protects what a client sends *after* training. Column generation would send more and compose; under
privacy only what takes one round is meant to be used: `simplex`, `kernel`, and the exact region on
score histograms (`histograms`). A client must apply
the lottery the server sends; re-solving it with its own raw rates breaks fairness.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import as_name, check_names, listed, positions
from fairfl_core.data.columns import Grouping
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, extra
from fairfl_core.lp.histograms import ScoreHistogram

MECHANISMS = ("histogram", "paper")
NEIGHBOURS = ("replace-one", "add-remove")
LEAST = 1e-6  # an epsilon below it drowns any table, and the noise overflows
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A way of adding noise to one client's counts.

    Attributes
    ----------
    name : {"histogram", "paper"}
        ``histogram``: discrete Laplace noise on every bin of n[a, y, j]. A person is in exactly
        one bin. ``paper``: Laplace noise of scale 1/epsilon, in counts, on the paper's
        statistics: correct answers and people, by group and label (appendix "Differential
        privacy"); it spends more than its epsilon says, and takes the client's size as public.
    epsilon : float
        The budget asked for; for ``paper``, the epsilon that the paper would call it.
    neighbours : {"replace-one", "add-remove"}
        Which two tables must look alike: one person changed, or one person more or fewer.
    """

    name: str = "histogram"
    epsilon: float
    neighbours: str = "replace-one"

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.name, MECHANISMS, "mechanism"),
            (self.neighbours, NEIGHBOURS, "neighbour relation"),
        ):
            if value not in known:
                raise InputError(f'there is no {what} "{value}"; choose {" or ".join(known)}.')
        number = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool)
        if not (number and LEAST <= self.epsilon < np.inf):
            raise InputError(
                f"the privacy epsilon is {self.epsilon}; it must be a number above 0 "
                f"({LEAST:g} or more: less leaves only noise)."
            )

    @property
    def sensitivity(self) -> int:
        """How much one person can move what is sent: L1 distance, in counts."""
        persons = 2 if self.neighbours == "replace-one" else 1
        # In the paper's statistics a rightly answered person is counted twice.
        return persons * (2 if self.name == "paper" else 1)

    @property
    def scale(self) -> float:
        """Scale of the Laplace noise on each number, in counts."""
        return 1 / self.epsilon if self.name == "paper" else self.sensitivity / self.epsilon

    @property
    def spent(self) -> float:
        """The epsilon that the release really spends: sensitivity over scale."""
        return self.sensitivity / self.scale

    def sentence(self) -> str:
        """Return what is and is not promised, for a person."""
        promise = f"epsilon = {self.spent:g} per client ({self.neighbours} neighbours)"
        if self.name == "histogram":
            return f"This release spends {promise}."
        return (
            f"The paper calls this epsilon = {self.epsilon:g}; it really spends {promise}, "
            "and the client's number of rows is assumed public."
        )


def what_if(counts: ClientCounts, mechanism: Mechanism, *, seed: int) -> ClientCounts:
    """Draw noise from a seeded generator: to study what it does, never to publish a table."""
    return _received(counts, mechanism, drawn(_statistics(counts, mechanism), mechanism, seed))


def drawn(sent: Floats, mechanism: Mechanism, seed: int) -> Floats:
    """Seeded noise on numbers that a client would send: for a study, never to publish them."""
    rng = np.random.default_rng(seed)
    if mechanism.name == "histogram":
        return sent + _discrete_laplace(rng, mechanism.scale, sent.shape)
    return sent + rng.laplace(0.0, mechanism.scale, sent.shape)


def release(counts: ClientCounts, mechanism: Mechanism) -> ClientCounts:
    """Publish noisy tables through OpenDP, each client's on its own budget.

    OpenDP's generator cannot be seeded, by design. The budget is OpenDP's own account of it; it
    must equal `mechanism.spent`. Different clients hold different people, so each person's budget
    is spent once (parallel composition).
    """
    return _received(counts, mechanism, published(_statistics(counts, mechanism), mechanism))


def published(sent: Floats, mechanism: Mechanism) -> Floats:
    """OpenDP's noise on numbers that clients send, the first axis being the client."""
    with extra("privacy"):
        import opendp.prelude as dp

    dp.enable_features("contrib")
    whole = mechanism.name == "histogram"
    domain = dp.atom_domain(T="i64") if whole else dp.atom_domain(T=float, nan=False)
    space = dp.vector_domain(domain), dp.l1_distance(T="i64" if whole else float)
    measurement = space >> dp.m.then_laplace(scale=mechanism.scale)
    distance = mechanism.sensitivity if whole else float(mechanism.sensitivity)
    if measurement.map(distance) > mechanism.spent * (1 + 1e-6):
        raise InputError("OpenDP accounts a larger budget than stated; nothing was released.")
    noisy = [
        measurement([int(x) for x in client.ravel()] if whole else client.ravel().tolist())
        for client in sent
    ]
    return np.array(noisy, dtype=float).reshape(sent.shape)


def _statistics(counts: ClientCounts, mechanism: Mechanism) -> Floats:
    """What a client sends: its histogram, or (correct, people) by group and label."""
    if counts.weighting is not None or (counts.missing and counts.missing.table is not None):
        raise InputError(
            "noise hides one person's count of one, and weights, or rows without a group, count "
            "otherwise; count without --weight and --missing-group bound first."
        )
    if counts.noisy:
        raise InputError("these counts are noisy already; add noise to the true counts only.")
    table = counts.table
    if mechanism.name == "histogram":
        return np.asarray(table, float)
    correct = np.einsum("cayy->cay", table)
    return np.stack([correct, table.sum(axis=3)], axis=1).astype(float)


def _received(counts: ClientCounts, mechanism: Mechanism, noisy: Floats) -> ClientCounts:
    """Repair what came: clip to what counts can be, and shape it as a table.

    From the paper's statistics the wrong answers of a label are known only in sum; with more than
    two labels they are spread evenly over the other answers (the simplex with eo or eop, the
    paper's use, does not look at them).
    """
    if mechanism.name == "histogram":
        table = np.maximum(noisy, 0.0)
    else:
        people = np.maximum(noisy[:, 1], 0.0)
        correct = np.clip(noisy[:, 0], 0.0, people)
        labels = len(counts.labels)
        wrong = (people - correct) / (labels - 1)
        one = np.eye(labels)
        table = correct[..., None] * one + wrong[..., None] * (1 - one)
    return replace(counts, table=table, noisy=True)


def _discrete_laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Floats:
    """Integers with Pr(k) proportional to exp(-|k| / scale): the difference of two geometrics."""
    p = -np.expm1(-1 / scale)
    return (rng.geometric(p, shape) - rng.geometric(p, shape)).astype(float)


# ------------------------------------------------------------------- names


def declare_names(
    counts: ClientCounts,
    *,
    groups: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    favourable: str | None = None,
) -> ClientCounts:
    """Give counts exactly the declared groups and labels, zero where nobody is.

    Parameters
    ----------
    counts : ClientCounts
        Before noise.
    groups, labels : sequence of str, optional
        Every name that could occur, in the order of the release; those of the counts if None.
    favourable : str, optional
        Needed with `labels`, unless it is the last of them: the counts' own may have been found.
    """
    named = {
        field: getattr(counts, field) if given is None else tuple(map(as_name, given))
        for field, given in (("groups", groups), ("labels", labels))
    }
    places = []
    for field, names in named.items():
        check_names(names, field)
        place = positions(getattr(counts, field), names)
        if (place < 0).any():
            stranger = getattr(counts, field)[int(np.argmax(place < 0))]
            raise InputError(
                f'the counts hold "{stranger}", which is not among the declared {field} '
                f"({listed(names)}); declare every name that could occur."
            )
        places.append(place)
    kept = counts.favourable if labels is None else named["labels"][-1]
    if favourable is None and kept != counts.favourable:
        raise InputError(
            f'the favourable label of the counts is "{counts.favourable}", and "{kept}" is the '
            "last of the declared labels; say which it is with --favourable."
        )
    group, label = places
    shape = (len(counts.clients), *(len(named[field]) for field in ("groups", "labels", "labels")))
    table = np.zeros(shape, counts.table.dtype)
    table[np.ix_(np.arange(shape[0]), group, label, label)] = counts.table
    grouping = counts.grouping
    if grouping is not None and groups is not None:
        grouping = Grouping.of_names(grouping.columns, named["groups"])
    return replace(
        counts,
        table=table,
        groups=named["groups"],
        labels=named["labels"],
        favourable=kept if favourable is None else as_name(favourable),
        grouping=grouping,
    )


def names_note(counts: ClientCounts | ScoreHistogram, found: Sequence[str]) -> str:
    """Say whether the names of a release are protected.

    `found` are those that were not declared: "groups", "labels", both or none.
    """
    if not found:
        return (
            "Groups and labels are declared, so their names tell nothing of who is in the table; "
            "clients' names are public."
        )
    names = [f"{field} {listed(getattr(counts, field))}" for field in found]
    return (
        f"Names are not protected: that the table holds the {' and the '.join(names)} is released "
        "without noise. Declare all that could occur with --groups and --labels, or say --declared "
        "if they were declared when people were counted."
    )


# ------------------------------------------------------------------- score histograms


def release_histogram(histogram: ScoreHistogram, mechanism: Mechanism) -> ScoreHistogram:
    """Publish noisy histograms through OpenDP, each client's on its own budget."""
    if mechanism.name != "histogram":
        raise InputError(
            'the paper\'s mechanism is for its own statistics; use the mechanism "histogram".'
        )
    if histogram.noisy:
        raise InputError("this histogram is noisy already; add noise to the true one only.")
    # No bin holds fewer than nobody.
    table = cast(Floats, np.maximum(published(histogram.table, mechanism), 0.0))
    return replace(histogram, table=table, noisy=True)
