"""Bundled datasets by their declarations: each client takes its own share of the same copy."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data import datasets
from fairfl_core.errors import InputError
from fairfl_core.federation.client import Client
from fairfl_core.federation.demo import compare
from fairfl_core.federation.desk import Desk
from fairfl_core.federation.folders import declared_study, write_folders
from fairfl_core.federation.grid import MemoryGrid
from fairfl_core.federation.loader import ClientFolder, load_people
from fairfl_core.federation.server import Server
from fairfl_core.training.data import TRAINING, federate
from fairfl_core.training.scaling import Moments
from tests.federation.hospitals import QUESTION
from tests.training import tiny


@pytest.fixture
def declared(monkeypatch, tmp_path):
    """Folders of a study of the tiny people, who stand in for a bundled dataset."""

    def make(people, name, **choices):
        monkeypatch.setattr(datasets, "open", lambda name, source, grouping=None: people)
        study = replace(declared_study(name), rounds=2, **choices)
        server, *clients = write_folders(tmp_path / name, study)
        return study, server, [ClientFolder.read(path) for path in clients]

    return make


def test_a_declared_dataset_agrees_with_one_place(declared, tmp_path):
    study, server, folders = declared(tiny.as_adult(), "adult")
    assert (study.features.inputs, study.features.moments) == (4, 4)
    nodes = {place: Client(folder.path).answer for place, folder in enumerate(folders)}
    Server(study, QUESTION, MemoryGrid(nodes), server / "results").run()
    found = compare(folders, study, QUESTION, server / "results", 0.0)
    assert found.agrees and found.scores < 1e-12


def test_pictures_are_scaled_by_everybodys_pixels(declared):
    people = replace(tiny.pictures(), labels=("low", "middle", "cancer or pre-cancer"))
    study, _, folders = declared(people, "ham10000")
    assert (study.model, study.features.inputs) == ("cnn", 3)
    before, parts = [], []
    for folder in folders:
        desk = Desk(folder, study, "ab" * 8)
        desk.begin(list(before), [])
        before.append(desk.units)
        rows = int(desk.training_counts().sum()) * desk.pixels
        parts.append(Moments(rows, *np.split(desk.moments()[0], 2)))
    together = federate(people, study.recipe, study.seed)
    known = people.inputs[together.split == TRAINING].reshape(-1, 3)
    scaler = Moments.pooled(parts).scaler(least=1.0)
    assert np.allclose(scaler.shift, known.mean(axis=0), atol=1e-9)
    assert np.allclose(scaler.spread, known.std(axis=0), atol=1e-9)


def test_another_dataset_or_declaration_is_refused(declared):
    study, _, folders = declared(tiny.as_adult(), "adult")
    for data, other in (
        ({"dataset": "ham10000"}, study),
        ({"dataset": "adult"}, replace(study, labels=("no", "over 50K"))),
        ({"table": "people.csv"}, study),
    ):
        with pytest.raises(InputError) as refused:
            load_people(replace(folders[0], data=data), other)
        assert refused.value.told
