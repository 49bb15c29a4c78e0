"""What certainty costs at every stop of the sliders, shipped computed.

    python -m pages.components.shared.shipped_prices [EXPERIMENT ...]

computes it anew (`make summaries`), for the views that visits begin with: three programs a stop,
the dearest part of a move. A file has the hash of the scores it was computed from: with others,
and between the stops, prices are computed as they are asked for.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core._io.plain import from_plain, to_plain
from fairfl_core.errors import InputError
from pages.components.session import own_data
from pages.components.session.cache import cached
from pages.components.session.catalogue import experiment_of
from pages.components.shared.results import LEVELS, many_margins
from pages.components.shared.shipped import FOLDER, scores_of, start_views
from pages.components.view import NO_LIMIT, View

__all__ = ["main", "price_at"]

Floats = NDArray[np.float64]
log = logging.getLogger(__name__)
FORMAT = "fairfl-prices/1"
DIGITS = 7  # of an accuracy, of which four are shown


def price_at(view: View) -> list[float] | None:
    """What each certainty costs at a view's limits; None where nothing is shipped."""
    if own_data.is_own(view.experiment) or not {view.eps_global, view.eps_local} <= set(LEVELS):
        return None
    costs = _shipped(view.data).get(_anywhere(view))
    if costs is None:
        return None
    place = LEVELS.index(view.eps_global), LEVELS.index(view.eps_local)
    return [float(cost) for cost in costs[place]]


def _anywhere(view: View) -> View:
    return replace(view, eps_global=NO_LIMIT, eps_local=NO_LIMIT)


@cached(16)
def _shipped(name: str) -> dict[View, Floats]:
    """By view without limits: costs by overall limit, limit inside each client, certainty."""
    path = FOLDER / "certainty" / f"{name}.json"
    if not path.exists():
        return {}
    try:
        found = read_json(path)
        own = FORMAT, scores_of(experiment_of(name)), list(LEVELS)
        if (found["format"], found["scores"], found["levels"]) != own:
            return {}
        return {
            from_plain(View, one["view"]): np.array(one["costs"], float) for one in found["prices"]
        }
    except (InputError, KeyError, TypeError, ValueError) as error:
        log.warning("%s is not used: %s", path, error)
        return {}


def main(names: list[str]) -> None:
    """Compute what is shipped, and write it."""
    from pages.components.shared.certainty import (  # which asks this file first
        certainty_possible,
        computed_costs,
        priced,
    )

    views = [view for view in start_views() if certainty_possible(view) and not many_margins(view)]
    for name in sorted({view.data for view in views} & set(names or [one.data for one in views])):
        prices = [
            {"view": to_plain(_anywhere(view)), "costs": _everywhere(view, computed_costs)}
            for view in dict.fromkeys(priced(view) for view in views if view.data == name)
        ]
        told = {"format": FORMAT, "scores": scores_of(experiment_of(name)), "levels": LEVELS}
        print(write_json(FOLDER / "certainty" / f"{name}.json", told | {"prices": prices}))


def _everywhere(view: View, costs: Callable[[View], list[float]]) -> list[list[list[float]]]:
    return [
        [
            [round(cost, DIGITS) for cost in costs(replace(view, eps_global=across, eps_local=up))]
            for up in LEVELS
        ]
        for across in LEVELS
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
