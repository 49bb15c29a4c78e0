"""What training seldom comes to: other systems, scenarios in words, no direction for all."""

import os

import numpy as np
import pandas as pd

from fairfl_core import datasets
from fairfl_core.cli.train import _client_rows, _clients_in_words
from fairfl_core.datasets import Raw
from fairfl_core.federated.at_once import turns_at_once
from fairfl_core.federated.fcfl import pareto_mix
from fairfl_core.federated.flower.folders import adult_example
from fairfl_core.federated.recipes import recipe
from tests.datasets.test_as_computed import adult
from tests.federated.tiny import as_adult


def test_where_nobody_says_which_cores_are_ours_all_are(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert [turns_at_once(9, threads) for threads in (1, 2, 4, 9)] == [6, 3, 1, 1]
    assert turns_at_once(2, 1) == 2
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert turns_at_once(9, 1) == 1


def test_a_scenarios_clients_are_as_large_as_it_says():
    one, people = recipe("ham10000_scenario1"), as_adult()
    clients = tuple(f"c{place}" for place in range(len(one.shares)))
    assert _client_rows(people, one, clients) == dict.fromkeys(clients, one.size)
    told = f"{len(one.shares)} clients of {one.size:,} rows with these shares of women, drawn anew"
    assert _clients_in_words(one, "by age").startswith(told)
    plain = recipe("adult")
    assert _clients_in_words(plain, "by age") == "by age"
    rows = _client_rows(people, plain, people.clients)
    assert list(rows.values()) == [int((people.client == c).sum()) for c in range(len(rows))]


def test_where_no_weights_help_everybody_the_nearest_row_is_taken(monkeypatch):
    import scipy.optimize

    def unsolved(*_, **__):
        return scipy.optimize.OptimizeResult(status=2, x=None)

    monkeypatch.setattr(scipy.optimize, "linprog", unsolved)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.4]])
    assert pareto_mix(rows, np.array([0.1, 0.9])).tolist() == [0, 1, 0]
    assert pareto_mix(rows, np.array([0.9, 0.1])).tolist() == [1, 0, 0]


def test_the_example_of_adult_is_parted_by_education(monkeypatch):
    table = pd.DataFrame(adult(60, np.random.default_rng(0)))
    monkeypatch.setattr(datasets, "raw", lambda name, source=None: Raw(table))
    study, parts = adult_example()
    assert (study.rounds, study.batch, study.learning_rate) == (5, 512, 0.01)
    assert sum(map(len, parts.values())) == 60 and list(parts) == list(study.clients)
    degree = table[table["education"] != "HS-grad"]
    found = parts[study.clients[-1]]
    assert len(found) == len(degree)
    gain = np.log1p(degree["capital-gain"].astype(float)).round(6)
    assert found["capital-gain"].tolist() == gain.tolist()
    assert study.features.categories["race"] == ("Black", "White")
    assert set(found["group"]) == {"men", "women"}
