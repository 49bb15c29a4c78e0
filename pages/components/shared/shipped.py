"""What a first page tells, shipped computed: the summaries of the views that visits begin with.

    python -m pages.components.shared.shipped

computes them anew (`make summaries`). A file has the name of the experiment it was computed from
and the hash of its scores: with others it is not used, but computed as any view's.
"""

import logging
from pathlib import Path
from typing import Any

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core._io.places import TOP
from fairfl_core._io.plain import from_plain, to_plain
from fairfl_core.errors import InputError
from fairfl_core.evaluation.summary import Summary
from fairfl_core.people.experiments import Experiment
from pages.components.session import own_data
from pages.components.session.cache import cached
from pages.components.session.catalogue import bundled, experiment_of
from pages.components.view import View, read_view

__all__ = ["FOLDER", "main", "read_shipped", "scores_of", "shipped_summary", "start_views"]

log = logging.getLogger(__name__)
FORMAT = "fairfl-summaries/1"
FOLDER = TOP / "data" / "summaries"


def start_views() -> list[View]:
    """What every bundled experiment is first seen as, and the same as in the paper."""
    everything = bundled()
    views = [read_view({"experiment": name}, everything)[0] for name in everything.names]
    return list(dict.fromkeys(one for view in views for one in (view, view.as_the_paper())))


def shipped_summary(view: View) -> Summary | None:
    """The summary of a view that a visit begins with; None for all others."""
    if own_data.is_own(view.experiment):
        return None
    shipped = _shipped(view.data).get(view)
    try:
        return None if shipped is None else from_plain(Summary, shipped)
    except InputError as error:  # of another version: computed as all others are
        log.warning("the summary of %s is not used: %s", view.data, error)
        return None


@cached(16)
def _shipped(name: str) -> dict[View, Any]:
    return read_shipped(experiment_of(name))


def read_shipped(experiment: Experiment, folder: Path = FOLDER) -> dict[View, Any]:
    """What is shipped of an experiment, as JSON has it: nothing where it is of other scores."""
    path = folder / f"{experiment.name}.json"
    if not path.exists():
        return {}
    try:
        found = read_json(path)
        if (found["format"], found["scores"]) != (FORMAT, scores_of(experiment)):
            return {}
        return {from_plain(View, one["view"]): one["summary"] for one in found["summaries"]}
    except (InputError, KeyError, TypeError) as error:
        log.warning("%s is not used: %s", path, error)
        return {}


def main() -> None:
    """Compute what is shipped, and write it."""
    from pages.components.shared.results import computed_summary  # which asks this file first

    for name in sorted({view.data for view in start_views()}):
        experiment = experiment_of(name)
        summaries = [
            {"view": to_plain(view), "summary": to_plain(computed_summary(view))}
            for view in start_views()
            if view.data == name
        ]
        told = {"format": FORMAT, "scores": scores_of(experiment), "summaries": summaries}
        print(write_json(FOLDER / f"{name}.json", told))


def scores_of(experiment: Experiment) -> str:
    """The hash of the scores that results were computed from."""
    return str(experiment.manifest["scores"]["sha256"])


if __name__ == "__main__":
    main()
