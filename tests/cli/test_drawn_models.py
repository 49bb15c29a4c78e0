"""Which fold model answers a row without an id: drawn with the seed, the same one every time."""

import numpy as np
import pandas as pd
import pytest

from fairfl_core.predictors.kinds import read_predictor
from tests.cli.running import Files, run
from tests.helpers.cross_fitted import cross_fitted

WHO = ("--client", "site", "--group", "sex")


@pytest.fixture
def files(tmp_path):
    table = cross_fitted()
    table.to_csv(tmp_path / "rows.csv", index=False)
    test = table[table["split"] == "test"]
    wide = test.pivot(index=["site", "sex", "id"], columns="fold", values="said")
    wide = wide.rename(columns="said{}".format).reset_index()
    wide.drop(columns="id").to_csv(tmp_path / "wide.csv", index=False)
    return Files(tmp_path)


def test_each_row_is_answered_by_a_model_that_the_seed_draws(files):
    named = (*WHO, "--label", "truth", "--prediction", "said", "--fold", "fold", "--row-id", "id")
    run("count", files.rows, *named, "--split", "split", "--out", files / "c.json")
    run("solve", files / "c.json", "--out", files / "p.json")
    models = ("--prediction", "said0,said1,said2")
    out = ("--out", files / "o.csv")
    output = run("predict", files / "p.json", files / "wide.csv", *WHO, *models, "--seed", 5, *out)
    assert output.code == 0, output.err
    rows = pd.read_csv(files / "o.csv")
    which = np.random.default_rng([5, 1]).integers(3, size=len(rows))
    own = rows[["said0", "said1", "said2"]].to_numpy()[np.arange(len(rows)), which]
    fair = read_predictor(files / "p.json")
    assert fair.folds == 3 and (own != rows["said0"]).any()
    assert rows["answer"].tolist() == list(fair.sample(rows["site"], rows["sex"], own, seed=5))
