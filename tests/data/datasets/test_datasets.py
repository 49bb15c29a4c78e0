"""Datasets: what they declare, how a copy is found and checked, what opening gives."""

import hashlib
import io
import sys
import urllib.error
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl_core.data import datasets
from fairfl_core.data.datasets import _declaration, adult, ham10000, public_coverage
from fairfl_core.errors import InputError

SHARED = Path(__file__).resolve().parents[4] / "shared" / "datasets"
needs_data = pytest.mark.skipif(
    not (SHARED / "adult.parquet").is_file(),
    reason="needs the copies of the datasets, which are not at ../shared/datasets",
)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A newcomer's machine: no copy anywhere, an empty cache."""
    monkeypatch.setattr(_declaration, "_SHARED", tmp_path / "absent")
    monkeypatch.delenv("FAIRFL_DATA", raising=False)
    monkeypatch.setenv("FAIRFL_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_unknown_names_are_sentences():
    with pytest.raises(InputError, match="choose one of: adult, public_coverage, ham10000"):
        datasets.open("compas")
    with pytest.raises(InputError, match='no grouping "age"; choose one of: white, race'):
        datasets.open("public_coverage", grouping="age")


@needs_data
def test_adult_has_all_rows_two_clients_and_the_known_sizes():
    people = datasets.open("adult")
    assert len(people) == 48_842
    assert dict(zip(people.clients, np.bincount(people.client), strict=True)) == {
        "doctorate": 594,
        "no doctorate": 48_248,
    }
    doctorate = people.client == 0
    assert (people.group[doctorate] == people.groups.index("women")).sum() == 113
    assert (people.label == people.labels.index("over 50K")).mean() == pytest.approx(0.2393, 1e-3)
    assert np.isfinite(people.inputs).all()


@needs_data
def test_public_coverage_has_fifty_states_and_two_groupings():
    people = datasets.open("public_coverage")
    assert len(people) == 449_350
    assert len(people.clients) == 50
    assert "PR" not in people.clients
    sizes = dict(zip(people.clients, np.bincount(people.client), strict=True))
    assert (sizes["WY"], sizes["CA"]) == (758, 55_422)
    assert (people.group == people.groups.index("white")).mean() == pytest.approx(0.7171, abs=1e-4)
    assert "40 % sample" in people.origin["sample"]
    assert people.origin["left_out"] == {"Puerto Rico": 5_966}
    race = datasets.open("public_coverage", grouping="race")
    assert len(race.groups) >= 4
    assert (np.bincount(race.group, minlength=len(race.groups)) > 0).all()
    white = race.group == race.groups.index("white")
    assert np.array_equal(white, people.group == people.groups.index("white"))


@needs_data
def test_ham10000_leaves_out_unknowns_and_keeps_lesions_whole():
    people = datasets.open("ham10000")
    assert people.origin["left_out"] == {"unknown sex": 57, "unknown age": 10}
    assert len(people) == 10_015 - 67
    assert np.bincount(people.client).tolist() == [1121, 1735, 2484, 1809, 2799]
    assert np.bincount(people.label).tolist() == [1952, 1204, 6650, 142]
    for codes in (people.client, people.group, people.label):
        pairs = np.unique(np.stack([people.unit, codes]), axis=1)
        assert len(np.unique(pairs[0])) == pairs.shape[1], "a lesion in two"


@needs_data
def test_the_uci_files_give_the_same_people_as_the_compact_copy(tmp_path):
    table = pd.read_parquet(SHARED / "adult.parquet")
    parts = {"adult.data": ("train", ""), "adult.test": ("test", ".")}
    for name, (split, dot) in parts.items():
        rows = table[table["split"] == split].drop(columns="split").astype(str)
        rows["income"] += dot
        text = "\n".join(", ".join(row) for row in rows.itertuples(index=False)) + "\n\n"
        (tmp_path / name).write_text(("|1x3 Cross validator\n" if dot else "") + text)
    md5 = hashlib.md5((tmp_path / "adult.data").read_bytes()).hexdigest()
    assert md5 == "5d7c39d7b8804f071cdd1f2a7c460872"  # the original's
    ours, uci = datasets.open("adult"), datasets.open("adult", source=tmp_path)
    for field in ("inputs", "label", "group", "client"):
        assert np.array_equal(getattr(ours, field), getattr(uci, field))


@needs_data
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("adult", "adult.parquet"),
        ("public_coverage", "acs_public_coverage.parquet"),
        ("ham10000", "ham10000_28x28.npz"),
    ],
)
def test_a_truncated_copy_is_refused_by_name(name, file, tmp_path):
    for wanted in datasets.declaration(name).forms[0].files:
        content = (SHARED / wanted).read_bytes()
        (tmp_path / wanted).write_bytes(
            content[: len(content) // 2] if wanted == file else content
        )
    with pytest.raises(InputError, match=rf"{file}: is not the known copy .* get ") as caught:
        datasets.open(name, source=tmp_path)
    assert "https://" in str(caught.value) or "pip install" in str(caught.value)


def test_a_folder_without_the_file_says_what_it_needs(tmp_path):
    with pytest.raises(InputError, match=r"holds no copy of adult: it needs adult\.parquet, or"):
        datasets.open("adult", source=tmp_path)


def test_a_named_folder_is_never_silently_replaced_by_another(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path))
    with pytest.raises(InputError, match="from FAIRFL_DATA"):
        datasets.open("adult")


def test_ham10000_cannot_be_downloaded_and_says_where_it_is(nowhere):
    with pytest.raises(InputError, match=r"ham10000_28x28\.npz: not found; .*DVN/DBW86T"):
        datasets.open("ham10000")


ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 0, 0, 40, United-States, "


def fake_archive(rows: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("adult.data", (ROW + "<=50K\n") * rows)
        archive.writestr("adult.test", "|comment\n" + (ROW + ">50K.\n") * rows)
    return file.getvalue()


def test_adult_is_downloaded_into_the_cache_and_checked(nowhere, monkeypatch):
    asked = []

    def answer(url, timeout):
        asked.append(url)
        return io.BytesIO(fake_archive(3))

    monkeypatch.setattr(adult.urllib.request, "urlopen", answer)
    for _ in range(2):
        with pytest.raises(InputError, match=r"adult\.data: has 6 rows, expected 48,842; get"):
            datasets.open("adult")
    assert len(asked) == 1, "the second time it is in the cache"
    assert (nowhere / "cache" / "adult" / "adult.test").is_file()
    table = adult._read_uci(nowhere / "cache" / "adult").table
    assert set(table["income"]) == {"<=50K", ">50K"}
    assert set(table["occupation"]) == {"?"}


def test_no_network_is_a_sentence(nowhere, monkeypatch):
    def refuse(url, timeout):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(adult.urllib.request, "urlopen", refuse)
    with pytest.raises(InputError, match=r"adult\.data: could not be downloaded .*--source PATH"):
        datasets.open("adult")


def test_folktables_is_asked_for_by_name_when_absent(nowhere, monkeypatch):
    monkeypatch.setitem(sys.modules, "folktables", None)
    with pytest.raises(InputError, match="pip install folktables"):
        datasets.open("public_coverage")


def test_the_original_pictures_are_read_by_name(tmp_path):
    from PIL import Image

    (tmp_path / "part_1").mkdir()
    names = ["ISIC_0000002", "ISIC_0000001"]
    for level, name in zip((200, 50), names, strict=True):
        Image.new("RGB", (600, 450), (level, 0, 0)).save(tmp_path / "part_1" / f"{name}.jpg")
    table = pd.DataFrame({"image_id": names})
    table.to_csv(tmp_path / "HAM10000_metadata.csv", index=False)
    images = ham10000._read_originals(tmp_path).images
    assert images.shape == (2, 28, 28, 3)
    assert images[0, 0, 0, 0] > 150 > images[1, 0, 0, 0]
    # Of a wide picture the square in the middle: what stands left and right of it is cut off.
    banded = np.zeros((450, 600, 3), np.uint8)
    banded[:, :75, 1] = banded[:, 525:, 2] = 255
    Image.fromarray(banded).save(tmp_path / "part_1" / f"{names[0]}.jpg", quality=95)
    square = ham10000._read_originals(tmp_path).images[0]
    assert square[:, 1:-1].max() < 25
    (tmp_path / "part_1" / "ISIC_0000001.jpg").unlink()
    with pytest.raises(InputError, match=r"ISIC_0000001\.jpg: 1 images are absent; get"):
        ham10000._read_originals(tmp_path)


def test_races_and_sexes_of_the_census_are_coded_as_they_are_called():
    """Every code of RAC1P once for men and once for women, under each grouping."""
    codes = {name: values[0] for name, values in public_coverage._CATEGORIES.items()}
    people = [(sex, race) for sex in (1, 2) for race in range(1, 10)]
    table = pd.DataFrame(
        [codes | {"AGEP": 40, "PINCP": 9, "SEX": sex, "RAC1P": race} for sex, race in people]
    ).assign(PUBCOV=[0, 1] * 9, state="NM")
    table = pd.concat([table, table[:1].assign(state="PR")], ignore_index=True)
    raced = [
        "white",
        "Black",
        *["American Indian or Alaska Native"] * 3,
        *["Asian or Pacific Islander"] * 2,
        "another race",
        "two or more races",
    ]
    coarse = ["white", "Black", *["other"] * 3, *["Asian or Pacific Islander"] * 2, *["other"] * 2]
    for grouping, names in (
        ("white", ["white", *["non-white"] * 8] * 2),
        ("race", raced * 2),
        ("sex_race", [f"{sex} · {race}" for sex in ("men", "women") for race in coarse]),
    ):
        found = public_coverage._arrange(datasets._declaration.Raw(table), grouping)
        assert [found.groups[code] for code in found.group] == names
        assert {found.clients[code] for code in found.client} == {"NM"}
        assert [found.labels[code] for code in found.label] == ["not covered", "covered"] * 9
        assert found.origin["left_out"] == {"Puerto Rico": 1}
