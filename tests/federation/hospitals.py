"""Three made-up hospitals with folders of their own, and a network in memory between them."""

from dataclasses import replace

import numpy as np

from fairfl_core._io.atomic import write_whole
from fairfl_core.federation.client import Client
from fairfl_core.federation.grid import MemoryGrid
from fairfl_core.federation.loader import ClientFolder
from fairfl_core.federation.question import Question
from fairfl_core.federation.server import Server
from fairfl_core.federation.study import Features, Study, toml_of

NAMES = ("North", "South", "East")
STUDY = Study(
    title="made-up hospitals",
    labels=("healthy", "ill"),
    favourable="ill",
    groups=("man", "woman"),
    clients=NAMES,
    features=Features(numbers=("age", "marker"), categories={"ward": ("a", "b", "c")}),
    rounds=3,
    batch=32,
    learning_rate=0.05,
)
THREE = replace(STUDY, labels=("healthy", "ill", "worse"), favourable="worse")
QUESTION = Question(notion="eo", eps_global=0.05, eps_local=0.1)


def table(seed: int, rows: int, labels=STUDY.labels) -> str:
    """A table of people: the illness is harder to see in women."""
    rng = np.random.default_rng(seed)
    lines = ["patient,age,marker,ward,sex,diagnosis"]
    for place in range(rows):
        woman = rng.random() < 0.3 + 0.1 * seed
        ill = rng.integers(len(labels))
        marker = rng.normal(1.5 * ill) - (0.4 + 0.3 * seed) * woman
        age, ward = rng.normal(50, 15), "abc"[rng.integers(3)]
        sex = STUDY.groups[int(woman)]
        lines.append(f"p{place},{age:.3f},{marker:.4f},{ward},{sex},{labels[ill]}")
    return "\n".join(lines) + "\n"


def settings(name: str, **more: object) -> str:
    value = {
        "format": "fairfl-client/1",
        "name": name,
        "server": "127.0.0.1:8000",
        "data": {"table": "people.csv", "label": "diagnosis", "group": "sex", "row_id": "patient"},
    }
    return toml_of(value | more)


def open_hospitals(folder, study=STUDY, rows=(160, 131, 117)):
    """A folder for each hospital; their paths."""
    paths = []
    for place, name in enumerate(study.clients):
        path = folder / name.lower()
        path.mkdir(parents=True)
        study.write(path)
        write_whole(path / "client.toml", settings(name))
        write_whole(path / "people.csv", table(place, rows[place], study.labels))
        paths.append(path)
    return paths


def grid_of(paths, wrong=None):
    """A network of these folders; `wrong` maps a place to what it does instead of answering.

    Every message opens the folder anew, as a process of its own would.
    """
    wrong = wrong or {}

    def node(place):
        def answer(parcel):
            honest = lambda: Client(paths[place]).answer(parcel)  # noqa: E731
            return wrong[place](parcel, honest) if place in wrong else honest()

        return answer

    return MemoryGrid({100 + place: node(place) for place in range(len(paths))})


def server(paths, folder, *, study=STUDY, question=QUESTION, wrong=None, grid=None, **more):
    more.setdefault("patience", 0.05)
    return Server(study, question, grid or grid_of(paths, wrong), folder, **more)


def folders_of(paths):
    return [ClientFolder.read(path) for path in paths]
