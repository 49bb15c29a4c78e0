"""What every dataset declares, and made-up rows arranged by it, as they were approved; see `helpers/approved.py`."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core import datasets
from fairfl_core.datasets import Raw, _open
from fairfl_core.datasets._columns import codes_of, one_hot
from tests.helpers.approved import check, declared, refusal, tell

APPROVED = Path(__file__).with_name("as_computed")


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_a_declaration_is_what_was_approved(name):
    check(APPROVED / f"{name}.txt", tell(declared=vars(datasets.declaration(name))))


def adult(rows, rng):
    return {
        "age": rng.integers(17, 90, rows),
        "workclass": rng.choice(["Private", "?", "State-gov"], rows),
        "fnlwgt": rng.integers(1e4, 1e6, rows),
        "education": rng.choice(["Doctorate", "HS-grad", "Bachelors"], rows),
        "education-num": rng.integers(1, 17, rows),
        "marital-status": rng.choice(["Never-married", "Divorced"], rows),
        "occupation": rng.choice(["Sales", "?", "Tech-support"], rows),
        "relationship": rng.choice(["Husband", "Wife"], rows),
        "race": rng.choice(["White", "Black"], rows),
        "sex": rng.choice(["Male", "Female"], rows),
        "capital-gain": rng.integers(0, 9000, rows),
        "capital-loss": rng.integers(0, 900, rows),
        "hours-per-week": rng.integers(1, 99, rows),
        "native-country": rng.choice(["United-States", "Cuba"], rows),
        "income": rng.choice(["<=50K", ">50K"], rows),
    }


def ham10000(rows, rng):
    return {
        "lesion_id": [f"HAM_{k // 2:07d}" for k in range(rows)],
        "image_id": [f"ISIC_{k:07d}" for k in range(rows)],
        "dx": rng.choice(["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"], rows),
        "dx_type": rng.choice(["histo", "consensus"], rows),
        "age": rng.choice([5.0, 30.0, 45.0, 60.0, 75.0, np.nan], rows),
        "sex": rng.choice(["male", "female", "unknown"], rows),
        "localization": rng.choice(["back", "face"], rows),
    }


def public_coverage(rows, rng):
    declared = datasets.declaration("public_coverage").columns
    table = {name: rng.integers(1, 3, rows).astype(float) for name in declared}
    return table | {
        "AGEP": rng.integers(16, 64, rows).astype(float),
        "PINCP": rng.integers(0, 29_000, rows).astype(float),
        "ST": rng.choice([1, 6, 36, 48, 72], rows).astype(float),
        "RAC1P": rng.integers(1, 10, rows).astype(float),
        "PUBCOV": rng.integers(1, 3, rows).astype(float),
    }


MADE = {"adult": adult, "ham10000": ham10000, "public_coverage": public_coverage}


@pytest.mark.parametrize("name", MADE)
def test_rows_are_arranged_as_was_approved(name):
    rng, declared = np.random.default_rng(5), datasets.declaration(name)
    table = pd.DataFrame(MADE[name](60, rng))
    table = table[[column for column in declared.columns if column in table]]
    images = rng.integers(0, 255, (60, 28, 28, 3), dtype=np.uint8) if name == "ham10000" else None
    shown = {}
    for grouping in declared.groupings:
        shown[grouping] = declared.arrange(Raw(table, images), grouping)
    check(APPROVED / f"{name}, arranged.txt", tell(**shown))


def test_refusals_are_what_was_approved(tmp_path):
    pd.DataFrame({"age": [1]}).to_parquet(tmp_path / "adult.parquet")
    for name in ("ham10000_metadata.csv", "ham10000_28x28.npz"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    declared = datasets.declaration("adult")
    (form,) = [one for one in declared.forms if "adult.parquet" in one.files]
    tries = {
        "copy": lambda: datasets.raw("adult", source=tmp_path),
        "pictures": lambda: datasets.raw("ham10000", source=tmp_path / "ham10000_28x28.npz"),
        "columns": lambda: _open._read(declared, form, tmp_path),
        "no table": lambda: _open._read(
            datasets.declaration("ham10000"), datasets.declaration("ham10000").forms[0], tmp_path
        ),
        "rows": lambda: _open._read(replace(declared, columns=("age",)), form, tmp_path),
        "code": lambda: codes_of(pd.Series(["a", "b"], name="x"), {"a": 0}),
        "category": lambda: one_hot(pd.Series(["a", "b"], name="x"), ["a"]),
        "name": lambda: datasets.declaration("moon"),
        "grouping": lambda: datasets.open("adult", source=tmp_path, grouping="moon"),
        "nothing": lambda: datasets.open("ham10000", source=tmp_path / "nowhere"),
    }
    told = tell(**{name: refusal(one) for name, one in tries.items()})
    check(
        APPROVED / "refusals.txt",
        re.sub(r"sha256 [0-9a-f]{12}", "sha256 ", told.replace(str(tmp_path), "FOLDER")),
    )


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("datasets"))
