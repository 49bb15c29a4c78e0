"""The example's three hospitals in folders of their own, and a network in memory between them."""

import os
from pathlib import Path

os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")

from fairfl_core.federation.folders import hospital_example, write_folders
from fairfl_core.federation.question import Question
from fairfl_core.federation.training_client import app
from fairfl_core.federation.training_server import run_study
from tests.federation.local_grid import LocalGrid

__all__ = ["QUESTION", "grid_of", "hospitals", "run_here", "study_of"]

QUESTION = Question("eo", "", 0.05, 0.1)


def study_of(**choices):
    """The example's study, with other choices."""
    return hospital_example()[0].trained(**({"rounds": 2} | choices))


def hospitals(folder: Path, study):
    """Write folders for a study; the server's, and the clients'."""
    people = hospital_example()[1]
    server, *clients = write_folders(folder, study, people=people)
    return server, clients


def grid_of(clients):
    """A network of these folders."""
    nodes = {place + 5: (app, {"folder": str(path)}) for place, path in enumerate(clients)}
    return LocalGrid(nodes)


def run_here(folder: Path, *, question=QUESTION, study=None, **more):
    """A whole run in this process: its result, and the server's folder."""
    study = study or study_of()
    server, clients = hospitals(folder, study)
    grid = grid_of(clients)
    more.setdefault("say", lambda sentence: None)
    result = run_study(grid, study, question, server / "results", patience=1, **more)
    return result, server / "results"
