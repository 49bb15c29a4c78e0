"""Every number of Your data is the core's own."""

import numpy as np

from fairfl_core.intake import example_table, experiment_from_table, guess_roles, open_table
from fairfl_core.people import experiments
from tests.pages.conftest import unfolded


def test_people_by_client_and_group(opened):
    app = opened("your_data")
    app.button(key="try-example").click().run()
    app.button(key="take-table").click().run()
    file = open_table("example.csv", example_table().encode())
    experiment = experiment_from_table(file, guess_roles(file)).experiment
    people = sum(experiment.counts(0, s).table.sum(axis=(2, 3)) for s in experiments.SPLITS)
    table = next(d.value for d in unfolded(app).dataframe if "group woman" in d.value)
    assert list(table["client"]) == list(experiment.clients)
    np.testing.assert_array_equal(table["n"], people.sum(axis=1))
    for a, group in enumerate(experiment.groups):
        np.testing.assert_array_equal(table[f"group {group}"], people[:, a])
