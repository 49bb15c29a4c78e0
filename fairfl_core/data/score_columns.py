"""Which score column is the score of which label.

Names tell where every column is named after another label: ``ill``, ``p_ill``, ``score_ill``,
``P(ill)``. Where they do not, a person says: by the order of declared labels, or by pairs. Either
way the people's own labels are asked: an order by which the model is worse than its largest label,
while another order makes it better than that, is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.names import listed, shown
from fairfl_core.errors import InputError, check_type

Ints = NDArray[np.integer[Any]]
_WORD = r"(?:p|pr|probs?|proba|probability|scores?|logits?|votes?|predict proba)"
_BEFORE = re.compile(rf"{_WORD}(?: of)?[ .:(\[]+(.+?)[)\] ]*")
_AFTER = re.compile(rf"(.+?)[ .:]{_WORD}")
_NUMBERED = re.compile(rf"{_WORD}(\d+)")
_GIVEN = re.compile(r"(?:(?:y|label|class) ?= ?)?(.+?)(?: ?\| ?\w+)?")  # y = ill | x
# How often a row must speak for another order: McNemar's statistic, by chance 1 in 1,000.
_BEYOND_CHANCE = 10.83
# Two labels of which the second is the event that a lone probability is of.
_EVENTS = (("0", "1"), ("false", "true"), ("no", "yes"), ("negative", "positive"))


def order_columns(
    columns: Sequence[str] | Mapping[str, str], labels: Sequence[str], *, ordered: bool
) -> tuple[str, ...] | None:
    """Put score columns into the order of the labels; None where nothing tells which is whose.

    Parameters
    ----------
    columns : sequence of str, or mapping from label to column
        One column a label. A mapping is taken as it is.
    labels : sequence of str
    ordered : bool
        Whether a person gave the labels in the order of the columns, for names that do not tell.
    """
    if isinstance(columns, Mapping):
        unknown = [label for label in labels if label not in columns]
        if unknown or len(columns) != len(labels):
            raise InputError(
                f"the scores are given for {listed(list(columns))}, and the labels are "
                f"{listed(labels)}; give one column for each label."
            )
        return tuple(columns[label] for label in labels)
    return columns_by_name(columns, labels) or (tuple(columns) if ordered else None)


def columns_by_name(columns: Sequence[str], labels: Sequence[str]) -> tuple[str, ...] | None:
    """Score columns in the order of the labels they are named after; None unless all are."""
    wanted = [_plain(label) for label in labels]
    for names, as_labels in (
        (list(columns), list(labels)),
        ([_plain(column) for column in columns], wanted),
        ([_bare(column) for column in columns], wanted),
        *(([_bare(name) for name in rest], wanted) for rest in _without_common(columns)),
    ):
        if len(set(names)) == len(names) and sorted(names) == sorted(as_labels):
            return tuple(columns[names.index(label)] for label in as_labels)
    return None


def label_by_name(column: str, labels: Sequence[str]) -> str | None:
    """The label that one column of a probability is named after; None where its name is silent."""
    named = [label for label in labels if _plain(label) in (_plain(column), _bare(column))]
    return named[0] if len(named) == 1 else None


def event_of(labels: Sequence[str]) -> str | None:
    """The label that a lone probability is of where the two say it: 1 of 0 and 1, yes of no and yes."""
    by_name = {_plain(label): label for label in labels}
    event = next((yes for no, yes in _EVENTS if {no, yes} == by_name.keys()), None)
    return None if event is None else by_name[event]


def _plain(text: str) -> str:
    """A name whose case, blanks and underscores do not matter."""
    return re.sub(r"[\s_]+", " ", text).strip().casefold()


def _bare(text: str) -> str:
    """A name without the word that says it is a score: p_ill, ill score, P(y = ill | x), p1."""
    plain = _plain(text)
    found = _BEFORE.fullmatch(plain) or _AFTER.fullmatch(plain) or _NUMBERED.fullmatch(plain)
    if found is None:
        return plain
    within = _GIVEN.fullmatch(found[1]) if "(" in plain or "[" in plain else None
    return (within or found)[1].strip()


def _without_common(columns: Sequence[str]) -> list[list[str]]:
    """The names without the words that all begin with, or end with, or both: no_0 and yes_0."""
    words = [re.sub(r"(?<=\D)(?=\d+$)", " ", _plain(column)).split() for column in columns]
    most = min(map(len, words), default=0) - 1
    first = next((k for k in range(most) if len({w[k] for w in words}) > 1), most)
    last = next((k for k in range(most) if len({w[-1 - k] for w in words}) > 1), most)
    cuts = [(0, last), (first, 0), (first, min(last, most - first))]
    return [
        [" ".join(w[begin : len(w) - end]) for w in words]
        for begin, end in dict.fromkeys(cuts)
        if begin or end
    ]


# -------------------------------------------------------------------- sentences


def paired(columns: Sequence[str], labels: Sequence[str]) -> str:
    """Say which column is the score of which label, for a sentence."""
    pairs = zip(columns, labels, strict=True)
    first, *others = [f'"{shown(column)}" is the score of "{label}"' for column, label in pairs]
    return ", ".join([first, *(other.replace("is the score of", "of") for other in others)])


def says_scores(columns: Sequence[str], labels: Sequence[str]) -> str:
    """The line that a command prints of its scores."""
    return f"Scores: column {paired(columns, labels)}."


# -------------------------------------------------------------------- what the people say


@dataclass(frozen=True)
class _Better:
    """An order of the columns that fits the people's labels where the one given does not."""

    right: float
    largest: float
    right_otherwise: float
    order: tuple[int, ...]  # of each label, the column that would be its score

    def __str__(self) -> str:
        return (
            f"is right for {self.right:.1%} of the people, less often than its largest label "
            f"alone ({self.largest:.1%})"
        )


def _better_order(label: Ints, answer: Ints, labels: int) -> _Better | None:
    """Find an order by which the model beats its largest label, where by this one it does not."""
    table = np.bincount(label * labels + answer, minlength=labels**2).reshape(labels, labels)
    people, most = table.sum(), table.sum(axis=1).max()
    right = table.trace()
    if right >= most:
        return None
    from scipy.optimize import linear_sum_assignment

    own, other = linear_sum_assignment(table, maximize=True)
    otherwise = table[own, other].sum()
    moved = own != other
    lost, won = table.diagonal()[moved].sum(), table[own, other][moved].sum()
    if otherwise <= most or (won - lost) ** 2 < _BEYOND_CHANCE * (won + lost):
        return None
    right, most, otherwise = right / people, most / people, otherwise / people
    return _Better(float(right), float(most), float(otherwise), tuple(other.tolist()))


def check_order(
    label: Ints, answer: Ints, columns: Sequence[str], labels: Sequence[str], how: str = ""
) -> None:
    """Refuse columns by whose order the model is worse than its largest label, another's not.

    Parameters
    ----------
    label, answer : array of int
        Each person's label, and the place of the largest score, in the order of `columns`.
    columns, labels : sequence of str
        One column for each label, in the same order.
    how : str
        What to do where the names do not tell; by default to give the labels in another order.
    """
    better = _better_order(label, answer, len(labels))
    if better is None:
        return
    otherwise = [columns[place] for place in better.order]
    if columns_by_name(columns, labels) == tuple(columns):
        how = "Correct the columns' names, or the labels."
    by_column = [labels[better.order.index(place)] for place in range(len(labels))]
    raise InputError(
        f"if column {paired(columns, labels)}, the model {better}; it would be right for "
        f"{better.right_otherwise:.1%} if column {paired(otherwise, labels)}. "
        + (how or f"Pair them so: --scores {','.join(columns)} --labels {','.join(by_column)}.")
    )


def check_probability(label: Ints, answer: Ints, column: str, of: str, other: str) -> None:
    """Refuse one probability by which the model is worse than its largest label, if not turned.

    `answer` are codes like those of `label`; `of` is the label that the column was taken for.
    """
    better = _better_order(label, answer, 2)
    if better is not None:
        raise InputError(
            f'if column "{shown(column)}" is the probability of "{of}", the model {better}; it '
            f'would be for {better.right_otherwise:.1%} if it is that of "{other}". Say which '
            "label it is of."
        )


def suggest_order(label: Ints, answer: Ints, columns: Sequence[str], labels: Sequence[str]) -> str:
    """The sentence that asks which column is whose, with the order that fits these people best."""
    from scipy.optimize import linear_sum_assignment

    n = len(labels)
    table = np.bincount(label * n + answer, minlength=n**2).reshape(n, n)
    own, other = linear_sum_assignment(table, maximize=True)
    by_column = [labels[place] for place in np.argsort(other)]
    return (
        f"the names of the score columns {listed(columns)} do not tell which label each is of "
        f"({listed(labels)}); name the labels in the order of the columns, such as --labels "
        f"{','.join(by_column)} (then the model is right for "
        f"{table[own, other].sum() / table.sum():.1%}), or name each column after its label."
    )


Floats = NDArray[np.float64]
SCORE_KINDS = ("probabilities", "logits", "votes")
_FEW = 20  # rows: fewer whole numbers may all differ by chance


def check_column(values: Floats, header: str, kind: str = "probabilities") -> None:
    """Refuse a column that cannot hold such numbers; cells without a number are not looked at."""
    there = values[~np.isnan(values)]
    name = f'column "{shown(header)}"'
    if not len(there):
        raise InputError(
            f"{name} holds no number, so it is no score; choose the column of the model's numbers."
        )
    low, high = float(there.min()), float(there.max())
    whole = bool((there == np.round(there)).all())
    if whole and len(there) > _FEW and len(np.unique(there)) == len(there):
        raise InputError(
            f"{name} holds {len(there):,} whole numbers of which no two are the same: it looks "
            "like an id, and no score; choose the column of the model's numbers."
        )
    if kind == "probabilities" and (low < 0 or high > 1):
        raise InputError(
            f"{name} runs from {low:,.6g} to {high:,.6g}, and a probability lies between 0 and 1; "
            "choose another column, or say what its numbers are (logits, votes)."
        )
    if kind == "votes" and low < 0:
        raise InputError(
            f"{name} holds {low:,.6g}, and nobody has fewer votes than none; say what its numbers "
            "are, or choose another column."
        )


def as_probabilities(scores: Floats, kind: str) -> Floats:
    """A probability for each label: softmax of logits, each label's share of votes.

    Probabilities are returned as they are; `check_scores` tells whether they sum to one.
    """
    if kind not in SCORE_KINDS:
        raise InputError(f'scores are one of {listed(SCORE_KINDS)}, not "{shown(kind)}".')
    if kind == "logits":
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
    if kind == "votes":
        cast = scores.sum(axis=1, keepdims=True)
        return np.asarray(
            np.divide(scores, cast, out=np.full_like(scores, np.nan), where=cast > 0)
        )
    return scores


def of_one_probability(
    chance: Floats, label: str, labels: Sequence[str], threshold: float = 0.5
) -> Floats:
    """Scores of both labels from the probability of one of them, shape (people, 2).

    The model answers `label` from `threshold` on. Where that is not a half, the odds are divided
    by the threshold's own, so that the larger score is the answer that was given; the order of
    people stays, and every rule of the exact region looks at nothing else.
    """
    if len(labels) != 2:
        raise InputError(
            f"one probability tells of two labels, and there are {len(labels)} "
            f"({listed(labels, 4)}); give a score for each label."
        )
    if label not in labels:
        raise InputError(f'"{shown(label)}" is none of the labels {listed(labels)}; name one.')
    check_type(threshold, (int, float), "the threshold", "a number between 0 and 1")
    if not 0 < threshold < 1:
        raise InputError(f"the threshold {threshold:g} is not between 0 and 1; give one that is.")
    answered = chance >= threshold
    for_it, against = chance * (1 - threshold), (1 - chance) * threshold
    shifted = for_it / (for_it + against)
    # Of equal scores the first label would be the answer, whichever was meant.
    half = np.nextafter(0.5, [0.0, 1.0])
    shifted = np.where(answered, np.maximum(shifted, half[1]), np.minimum(shifted, half[0]))
    shifted = np.where(np.isnan(chance), np.nan, shifted)
    pair = [1 - shifted, shifted]
    return np.stack(pair if labels[1] == label else pair[::-1], axis=1)
