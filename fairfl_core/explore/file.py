"""The Explore screen as one HTML file: every pair of limits solved before, no server, no network.

The file holds what the page would show at each pair of a grid of limits, made by the same functions
and drawn by the same code (`frontend/`). Names and sentences travel as data, gzipped and in base64,
and are put on the screen as text alone; a Content-Security-Policy allows this script and this
style, by their hashes, and nothing else.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl_core import __version__
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.study import Study, Summary, run_study, summarise
from fairfl_core.explore import charts, text
from fairfl_core.lp.frontier import Frontier
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.predictor import People
from fairfl_core.report.text import WORDS

__all__ = ["LIMITS", "About", "KeptOption", "explore_file", "screen_of"]

# Fine near zero, where fairness begins to cost; the last is no limit.
LIMITS = (
    *(0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.09, 0.1),
    *(0.115, 0.13, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3, 1.0),
)
SWEEP = (1.0, 0.3, 0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.03, 0.02, 0.01, 0.0)
_FRONTEND = Path(__file__).parent / "frontend"
Floats = NDArray[np.float64]
Limits = tuple[float, float]


@dataclass(frozen=True)
class KeptOption:
    """A setting kept for Compare: its letter, what it asks in words, and its two limits."""

    letter: str
    title: str
    limits: Limits


@dataclass(frozen=True)
class About:
    """What the file says of itself.

    Attributes
    ----------
    title : str
        The experiment's.
    noun : str
        What a client is called: "age band".
    rests : sequence of (str, str)
        What the numbers rest on: data, terms, split, runs, notion.
    start : (eps_global, eps_local)
        Where the file opens.
    kept : sequence of KeptOption
    """

    title: str
    noun: str
    rests: Sequence[tuple[str, str]]
    start: Limits = (1.0, 0.05)
    kept: Sequence[KeptOption] = ()


def explore_file(
    about: About,
    programs: Sequence[tuple[int, FairnessProgram]],
    unseen: Sequence[People | None],
    *,
    limits: Sequence[float] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> str:
    """Solve every pair of limits and write the file.

    Parameters
    ----------
    about : About
    programs, unseen
        As for `run_study`: one program a run, and the people it is judged on.
    limits : sequence of float
        Ascending, the same in both directions; every client gets the same. Default: `LIMITS`.
    on_progress : callable, optional
        Called with (pairs done, pairs in all).
    """
    limits = [float(limit) for limit in limits or LIMITS]
    if limits != sorted(set(limits)) or len(limits) < 2:
        raise InputError("the limits of the file must ascend, and be two or more.")
    cells: list[dict[str, Any] | None] = []
    accuracy = np.full((len(limits), len(limits)), np.nan)
    for y, eps_local in enumerate(limits):
        for x, eps_global in enumerate(limits):
            try:
                study = run_study(programs, unseen, eps_global, eps_local)
            except InfeasibleError:
                cells.append(None)
            else:
                accuracy[y, x] = np.mean([one.solution.accuracy for one in study.outcomes])
                cells.append(screen_of(study, about.noun))
            if on_progress is not None:
                on_progress(len(cells), len(limits) ** 2)
    if not any(cells):
        raise InfeasibleError("no pair of limits of the grid can be met with these floors.")
    unknown = np.full_like(accuracy, np.nan)
    grid = np.array(limits)
    heat = Frontier(grid, grid, accuracy, unknown, unknown, unknown)
    own = float(np.mean([program.counts.model_accuracy for _, program in programs]))
    return _html(about.title, _study_data(about, heat, own, cells))


def screen_of(study: Study, noun: str) -> dict[str, Any]:
    """Return what the screen shows of one setting, but for the map: words, and charts' data.

    A chart is what `charts` returns, with its view and words.
    """
    summary = summarise(study)
    columns = study.client_columns(unseen=study.has_held_out)
    before = np.asarray(columns["gap_before"], float)

    def chart(picture: str, data: dict[str, Any]) -> dict[str, Any]:
        note = text.clients_note(picture, len(data["clients"]), len(summary.payers))
        spoken = text.clients_spoken(picture, noun, data.get("label", ""))
        return data | {"view": picture, "spoken": spoken, "note": note}

    return {
        "numbers": [list(number) for number in text.numbers(summary, noun)],
        "sentence": text.sentence(summary),
        "verdict": [*text.verdict_chip(summary), text.verdict_why(summary)],
        "harm": [*text.harm_chip(summary), text.harm_lines(summary)],
        "opens": "found" if summary.harm.proved else "gaps",
        "gaps": chart("gaps", charts.gaps(columns, summary.verdict, summary.harm.groups)),
        "price": chart("price", charts.prices(summary, columns)),
        "found": {
            label: chart("found", charts.found(summary, label, before))
            for label in _labels(summary)
        },
    }


def _labels(summary: Summary) -> list[str]:
    """The labels, the favourable one first."""
    harm = summary.harm
    return [harm.favourable, *(label for label in harm.labels if label != harm.favourable)]


def _study_data(
    about: About, heat: Frontier, own: float, cells: Sequence[dict[str, Any] | None]
) -> dict[str, Any]:
    """Return all that the file knows, as one JSON object."""
    limits = heat.eps_global.tolist()
    drawn = charts.map_data(heat, about.start, [option.limits for option in about.kept])
    note = text.map_note(
        coarse=False,
        flat=charts.is_flat(heat, own),
        own_limits=False,
        collides=bool(np.isnan(heat.accuracy).any()),
    )
    costs = [charts.alone(heat, (limit, limit), own) for limit in limits]
    names = {one["name"] for cell in cells if cell for one in cell["gaps"]["clients"]}
    return {
        "title": about.title,
        "noun": about.noun,
        "made": f"Made with fairfl {__version__} on {date.today().isoformat()}.",
        "rests": about.rests,
        "words": WORDS,
        "options": [[one.letter, one.title, *one.limits] for one in about.kept],
        "sweep": [limit for limit in SWEEP if limit in limits],
        "map": drawn
        | {
            "kept": [
                [one.letter, *place[1:]]
                for one, place in zip(about.kept, drawn["kept"], strict=True)
            ],
            "title": "Accuracy by pair of limits",
            "note": note,
            "noun": about.noun,
        },
        # What each limit costs alone, by the limit's place: [name, points], inside and overall.
        "alone": [text.alone(about.noun, cost) for cost in costs],
        "spoken": [[text.map_spoken(about.noun, (i, o)) for _, o in costs] for i, _ in costs],
        "pictures": [
            [name, title]
            for name, title in text.PICTURES.items()
            if name != "map" or names <= charts.STATES
        ],
        "cells": cells,
    }


# -------------------------------------------------------------------- the HTML


def _html(title: str, data: Mapping[str, Any]) -> str:
    from markupsafe import Markup

    from fairfl_core.report.render import environment

    style = "\n".join(_source(name) for name in ("charts.css", "study.css"))
    script = "\n".join(_source(name) for name in ("svg.js", "map.js", "clients.js", "study.js"))
    packed = gzip.compress(json.dumps(data, ensure_ascii=False).encode(), 9, mtime=0)
    return (
        environment()
        .get_template("study.html")
        .render(
            title=title,
            style=Markup(style),
            script=Markup(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
            data=b64encode(packed).decode(),
        )
    )


def _source(name: str) -> str:
    return (_FRONTEND / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return "sha256-" + b64encode(sha256(source.encode()).digest()).decode()
