"""What a client tells once a model is chosen: statistics, and how its predictor does.

Apart from `client`, so that a turn of training does not load what it does not need.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.json_files import write_json
from fairfl_core.data.answers import Answers
from fairfl_core.federation.client import scaler_of, state_of
from fairfl_core.federation.desk import Desk
from fairfl_core.federation.loader import Refusal
from fairfl_core.federation.messages import Parcel, prefixed
from fairfl_core.lp.exact.histograms import ScoreHistogram
from fairfl_core.lp.exact.remote import priced
from fairfl_core.lp.rate_estimates import measured
from fairfl_core.predictors.hashed_draws import fold_draws
from fairfl_core.predictors.load import read_predictor
from fairfl_core.privacy.histogram_noise import release_histogram
from fairfl_core.privacy.mechanisms import Mechanism, release
from fairfl_core.training.methods import make_method
from fairfl_core.training.trainers import make_trainer

__all__ = ["ANSWERS"]

Arrays = dict[str, NDArray[Any]]
Told = tuple[dict[str, Any], Arrays]


def _score(desk: Desk, parcel: Parcel) -> None:
    """Score every row by each model that was chosen, and keep the scores here."""
    method = make_method(desk.study.method, desk.study.settings)
    scores = []
    for model, done in enumerate(parcel.header["chosen"]):
        state = state_of(f"model {model}", parcel)
        federation = desk.federation(model, scaler_of(f"scaler {model}", parcel))
        worker = make_trainer(federation, desk.study.recipe)
        theta = method.model(state, desk.memory(model, int(done)))
        rows = np.arange(len(federation.people), dtype=np.int32)
        scores.append(worker.scores(np.asarray(theta, np.float32), rows))
    desk.keep_scores(scores)


def _counts(desk: Desk, parcel: Parcel) -> Told:
    mechanism = _consented(desk, "counts", parcel)
    _score(desk, parcel)
    counts = desk.fitted().counts
    if mechanism is None:
        return {}, {"counts": counts.table[0]}
    return _noised(
        desk, parcel, mechanism, lambda: {"counts": release(counts, mechanism).table[0]}
    )


def _histogram(desk: Desk, parcel: Parcel) -> Told:
    mechanism = _consented(desk, "histogram", parcel)
    _score(desk, parcel)
    histogram = ScoreHistogram.of(desk.fitted(), int(parcel.header["bins"]))
    if mechanism is None:
        return {}, {"histogram": histogram.table[0]}
    return _noised(
        desk,
        parcel,
        mechanism,
        lambda: {"histogram": release_histogram(histogram, mechanism).table[0]},
    )


def _corners(desk: Desk, parcel: Parcel) -> Told:
    _consented(desk, "corners", parcel)
    _score(desk, parcel)
    people = desk.fitted()
    corners = measured(people).listed()
    rules, table = corners.rules, corners.table
    if len(rules) >= len(people):
        raise Refusal(
            f"{len(people):,} held-out people have {len(rules):,} cuts of the score worth "
            "trying: to list them would be to list people; nothing was sent.",
            "it has too few people to list cuts of the score; ask with --one-round",
        )
    arrays: Arrays = {
        "group": rules.group,
        "weights": rules.weights,
        "b": rules.b,
        "answers": rules.answers,
        "confusion": table.confusion,
        "kept": table.kept,
    }
    while len(arrays["group"]) in desk.sizes():  # by chance; told twice, a corner is the same
        arrays = {name: np.concatenate([its, its[-1:]]) for name, its in arrays.items()}
    return {}, {"counts": people.counts.table[0]} | arrays


def _price(desk: Desk, parcel: Parcel) -> Told:
    _consented(desk, "price", parcel)
    gain = np.asarray(parcel.arrays["gain"], float)[None]
    both = priced(desk.fitted(), gain, full=bool(parcel.header["full"]))
    arrays: Arrays = {}
    for how, new in zip(("plain", "refined"), both, strict=True):
        arrays |= {
            f"{how}/weights": new.rules.weights,
            f"{how}/b": new.rules.b,
            f"{how}/confusion": new.table.confusion,
            f"{how}/kept": new.table.kept,
        }
    return {}, arrays


def _consented(desk: Desk, statistic: str, parcel: Parcel) -> Mechanism | None:
    """Whether this client allows what is asked, and with which noise."""
    asked = parcel.header.get("privacy")
    mechanism = None if asked is None else Mechanism(**asked)
    if statistic not in desk.folder.statistics:
        raise Refusal(
            f'the server asked for "{statistic}", which this client does not allow '
            "(statistics under [consent] in client.toml).",
            f'it does not allow "{statistic}"',
        )
    most = desk.folder.largest_epsilon
    noiseless = mechanism is None or statistic in ("corners", "price")
    if most and (noiseless or (mechanism is not None and mechanism.spent > most)):
        raise Refusal(
            f"the server asked for a table with less noise than this client allows (a budget "
            f"of at most {most:g}, largest_epsilon in client.toml); nothing was sent.",
            f"it spends a privacy budget of at most {most:g} on a table",
        )
    return mechanism


def _noised(desk: Desk, parcel: Parcel, mechanism: Mechanism, draw: Callable[[], Arrays]) -> Told:
    """A table with noise by OpenDP; asked for again, the same one at no further cost."""
    asked = json.dumps([parcel.kind, dict(parcel.header)], sort_keys=True, default=str)
    question = hashlib.sha256(asked.encode()).hexdigest()[:16]
    arrays = desk.released(question)
    if arrays is None:
        arrays = draw()
        desk.keep_release(question, arrays)
    header = {"budget": mechanism.spent, "spent": mechanism.sentence()}
    return header, {name: np.asarray(array) for name, array in arrays.items()}


# -------------------------------------------------------------------- the fair predictor


def _predictor(desk: Desk, parcel: Parcel) -> Told:
    """Keep this client's part, answer every row with it, and tell how test people fare."""
    path = desk.runs / "predictor.json"
    write_json(path, parcel.header["predictor"])
    predictor = read_predictor(path)
    if predictor.clients != (desk.folder.name,):
        raise Refusal(
            "the server sent a predictor that is not this client's own part; it was not used.",
            "the predictor it got is not its own",
        )
    people, ids = desk.own.people, desk.own.row_id
    scores, names = np.stack(desk.scores()), np.full(len(people), desk.folder.name)
    which = fold_draws(names, np.array(ids), desk.study.models)
    mine = scores[which, np.arange(len(people))]
    labels = np.array(desk.study.labels, object)
    seen = mine if predictor.needs_scores else labels[mine.argmax(axis=1)]
    group = np.array(desk.study.groups, object)[people.group]
    desk.write_answers(predictor.decide(names, group, seen, row_id=np.array(ids)))
    return _held_out(desk, parcel, predictor)


def _held_out(desk: Desk, parcel: Parcel, predictor: Any) -> Told:
    people, asked = desk.unseen(), parcel.header.get("privacy")
    if asked is not None:
        if desk.study.folds or predictor.needs_scores:
            return {}, {}  # more than one table would have to leave, and be paid for
        mechanism, counts = _consented(desk, "counts", parcel), people.counts
        assert mechanism is not None
        return _noised(
            desk, parcel, mechanism, lambda: {"counts": release(counts, mechanism).table[0]}
        )
    desk.check_plain_tables()
    shape = (1, *desk.study.table)
    own = people.under_lottery(np.broadcast_to(np.eye(shape[2]), shape))
    arrays = {"counts": people.counts.table[0]}
    for who, answers in (("fair", predictor.answers_to(people)), ("own", own)):
        arrays |= prefixed(who, _first(answers))
    return {}, arrays


def _first(answers: Answers) -> Arrays:
    """The answers of the one client there is."""
    return {name: np.asarray(array)[0] for name, array in vars(answers).items()}


ANSWERS: dict[str, Callable[[Desk, Parcel], Told]] = {
    "counts": _counts,
    "histogram": _histogram,
    "corners": _corners,
    "price": _price,
    "predictor": _predictor,
}
