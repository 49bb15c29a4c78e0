"""The estimator: the same numbers as the program's, with scikit-learn's manners."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fairfl_core import FairPostprocessor, InputError, ScoredData, read_predictor
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import predictor_of


def people(n=900, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 3, n)
    frame = pd.DataFrame(
        {
            "site": rng.choice(["north", "south"], n, p=[0.7, 0.3]),
            "sex": rng.choice(["f", "m"], n),
            "id": np.arange(n),
        }
    )
    score = np.clip(score + 0.15 * (frame["sex"] == "m"), 0.01, 0.99).to_numpy()
    return frame.assign(no=1 - score, yes=score, y=np.where(rng.random(n) < score, "yes", "no"))


ROWS = people()
WHO = {"sensitive_features": ROWS["sex"], "client": ROWS["site"]}


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
@pytest.mark.parametrize("notion", ["sp", "eo"])
def test_it_is_the_programs_predictor(notion, region, tmp_path):
    fair = FairPostprocessor(notion, region, eps_global=0.02, eps_local=0.04)
    fair.fit(ROWS[["no", "yes"]], ROWS["y"], **WHO)
    direct = ScoredData.from_table(
        ROWS, client="site", group="sex", label="y", scores=["no", "yes"], labels=("no", "yes")
    )
    solution = FairnessProgram(direct, notion, region).solve(0.02, 0.04)
    assert fair.accuracy_ == pytest.approx(predictor_of(solution).reached.accuracy, abs=1e-12)
    chances = fair.predict_proba(ROWS[["no", "yes"]], **WHO)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    expected = chances[np.arange(len(ROWS)), (ROWS["y"] == "yes").astype(int)].mean()
    assert expected == pytest.approx(fair.accuracy_, abs=0.02)
    written = read_predictor(fair.predictor_.write(tmp_path / "p.json"))
    drawn = fair.predict(ROWS[["no", "yes"]], row_id=ROWS["id"], **WHO)
    seen = (
        ROWS[["no", "yes"]].to_numpy()
        if written.needs_scores
        else np.where(ROWS["yes"] > ROWS["no"], "yes", "no")
    )
    again = written.decide(ROWS["site"], ROWS["sex"], seen, row_id=ROWS["id"])
    assert drawn.tolist() == again.tolist()


def test_any_library_and_any_form_give_the_same():
    fair = FairPostprocessor("sp", eps_global=0.02, eps_local=0.05)
    arrow = pa.Table.from_pandas(ROWS)
    ways = [
        (ROWS[["yes", "no"]], ROWS["y"], ROWS["sex"], ROWS["site"]),  # by name
        (ROWS[["no", "yes"]].to_numpy(), ROWS["y"].to_numpy(), list(ROWS["sex"]), ROWS["site"]),
        (ROWS["yes"], list(ROWS["y"]), ROWS["sex"], ROWS["site"]),
        (arrow.select(["no", "yes"]), arrow["y"], arrow["sex"], arrow["site"]),
    ]
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        frame = pl.from_pandas(ROWS)
        ways.append((frame[["no", "yes"]], frame["y"], frame["sex"], frame["site"]))
    found = []
    for scores, y, sex, site in ways:
        fair.fit(scores, y, sensitive_features=sex, client=site)
        found.append(fair.predict_proba(scores, sensitive_features=sex, client=site))
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], atol=1e-12)


def test_labels_stay_what_they_were_and_one_client_is_enough():
    y = (ROWS["y"] == "yes").astype(int)
    fair = FairPostprocessor("sp", "kernel", eps_global=0.01, eps_local=1, favourable=1)
    fair.fit(ROWS["yes"], y, sensitive_features=ROWS["sex"])
    assert fair.classes_.tolist() == [0, 1] and fair.gap_global_ <= 0.01 + 1e-9
    drawn = fair.predict(ROWS["yes"], sensitive_features=ROWS["sex"])
    assert drawn.dtype == y.to_numpy().dtype and set(drawn) == {0, 1}
    np.testing.assert_array_equal(drawn, fair.predict(ROWS["yes"], sensitive_features=ROWS["sex"]))


def test_what_does_not_fit_is_a_sentence():
    fair = FairPostprocessor("sp")
    for scores, y, sex, says in (
        (ROWS["yes"], ["a"] * len(ROWS), ROWS["sex"], "fewer than two labels"),
        (ROWS[["no", "yes", "id"]], ROWS["y"], ROWS["sex"], "3 columns for the labels"),
        (ROWS["yes"][:5], ROWS["y"], ROWS["sex"], "5 scores for 900 labels"),
        (ROWS["yes"], ROWS["y"], ROWS["sex"][:7], "7 rows, y has 900"),
        (ROWS["yes"], ROWS["y"], None, "enable_metadata_routing"),
        (ROWS["yes"], None, ROWS["sex"], "requires y"),
        (ROWS["yes"], ROWS["y"], ["one"] * len(ROWS), "at least two"),
    ):
        with pytest.raises(InputError, match=says):
            fair.fit(scores, y, sensitive_features=sex)
    with pytest.raises(InputError, match="5 clients for 900 rows"):
        fair.fit(ROWS["yes"], ROWS["y"], sensitive_features=ROWS["sex"], client=ROWS["site"][:5])


def test_score_columns_meet_the_right_labels():
    """The labels sort as ill, well; the model's columns are no (well) and yes (ill)."""
    rows = ROWS.assign(diagnosis=ROWS["y"].map({"no": "well", "yes": "ill"}))
    fair = FairPostprocessor("sp", "kernel", eps_global=0.05, eps_local=0.2)
    right = np.where(rows["yes"] > rows["no"], "ill", "well") == rows["diagnosis"]
    truth = rows["diagnosis"]
    named = rows[["no", "yes"]].rename(columns={"no": "p_well", "yes": "P(ill)"})
    array = rows[["no", "yes"]].to_numpy()
    for scores, classes, columns in (
        (named, None, ("P(ill)", "p_well")),
        (named[["P(ill)", "p_well"]], None, ("P(ill)", "p_well")),
        (rows[["no", "yes"]], ["well", "ill"], ("yes", "no")),
        (array, ["well", "ill"], None),
        (pd.DataFrame(array), ["well", "ill"], None),
        (array[:, ::-1], None, None),
        (named["P(ill)"], None, None),
        (named["p_well"], None, None),
        (rows["no"], None, None),
    ):
        fair.fit(scores, truth, classes=classes, **WHO)
        assert fair.predictor_.reached.model_accuracy == pytest.approx(right.mean(), abs=1e-12)
        assert fair.score_columns_ == columns == fair.predictor_.score_columns
        assert fair.predict_proba(scores, **WHO)[truth == "ill", 0].mean() > 0.5
    for scores, classes, says in (
        (rows[["no", "yes"]], None, "do not tell which label"),
        (rows[["no", "yes"]], ["ill", "well"], 'column "no" is the score of "ill"'),
        (array, None, r'column "\[:, 0\]" is the score of "ill"'),
        (rows["yes"], None, 'if column "yes" is the probability of "well"'),
        (array, ["well", "sick"], "`classes` are"),
    ):
        with pytest.raises(InputError, match=says):
            fair.fit(scores, truth, classes=classes, **WHO)


def test_new_scores_are_taken_as_the_fitted_ones_were():
    rows = ROWS.assign(diagnosis=ROWS["y"].map({"no": "well", "yes": "ill"}))
    fair = FairPostprocessor("sp", "exact", eps_global=0.05, eps_local=0.2)
    fair.fit(rows[["no", "yes"]], rows["diagnosis"], classes=["well", "ill"], **WHO)
    wanted = fair.predict_proba(rows[["no", "yes"]], **WHO)
    np.testing.assert_array_equal(fair.predict_proba(rows[["yes", "no"]], **WHO), wanted)
    named = rows.rename(columns={"no": "p_well", "yes": "p_ill"})
    np.testing.assert_array_equal(fair.predict_proba(named[["p_ill", "p_well"]], **WHO), wanted)
    for scores, says in (
        (rows[["no", "yes"]].to_numpy(), "have no names"),
        (rows[["no", "yes"]].set_axis(["a", "b"], axis=1), "fitted where column"),
    ):
        with pytest.raises(InputError, match=says):
            fair.predict_proba(scores, **WHO)
    fair.fit(rows[["no", "yes"]].to_numpy(), rows["diagnosis"], classes=["well", "ill"], **WHO)
    np.testing.assert_array_equal(
        fair.predict_proba(rows[["no", "yes"]].to_numpy(), **WHO), wanted
    )
