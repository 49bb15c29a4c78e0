"""A predictor of fold models: who is answered by which, always the same, and what files say."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.hashed_draws import fold_draws, row_draws
from fairfl_core.predictors.kinds import predictor_of, read_predictor
from fairfl_core.predictors.metadata import FittedOn
from tests.helpers.scored import scored_network


def test_the_model_drawn_is_spread_evenly_and_tells_nothing_of_the_lottery():
    client, ids = np.repeat("clinic", 40_000), np.arange(40_000)
    fold = fold_draws(client, ids, 4)
    assert (np.abs(np.bincount(fold) / 40_000 - 0.25) < 0.01).all()
    luck = row_draws(client, ids)
    for one in range(4):
        assert luck[fold == one].mean() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(fold, fold_draws(client, ids, 4))
    assert (fold_draws(np.repeat("other", 100), ids[:100], 4) != fold[:100]).any()


def test_the_run_it_is_of_is_read_back(tmp_path):
    solution = FairnessProgram(scored_network(2, 2, 2).counts, "eop").solve(0.1, 0.1)
    run = FittedOn("adult", "0" * 64, 3, "fit")
    path = tmp_path / "fair.json"
    value = replace(predictor_of(solution), fitted_on=run).to_json()
    path.write_text(json.dumps(value))
    assert read_predictor(path).fitted_on == run
    earlier = {key: part for key, part in value.items() if key != "fitted_on"}
    path.write_text(json.dumps(earlier))
    assert read_predictor(path).fitted_on is None  # files of earlier versions still open
    for wrong in (
        "run 3",
        {},
        value["fitted_on"] | {"seed": "3"},
        value["fitted_on"] | {"split": 1},
    ):
        path.write_text(json.dumps(value | {"fitted_on": wrong}))
        with pytest.raises(InputError, match="fitted_on"):
            read_predictor(path)
