"""HAM10000: which of four kinds of skin lesion a picture shows."""

from pathlib import Path

import numpy as np

from fairfl_core.data.datasets._declaration import Dataset, Form, People, Raw, codes_of
from fairfl_core.errors import InputError

_WHERE = (
    "get the images and HAM10000_metadata.csv from https://doi.org/10.7910/DVN/DBW86T or "
    "https://www.kaggle.com/datasets/kmader/skin-cancer-mnist-ham10000"
)
_COLUMNS = ("lesion_id", "image_id", "dx", "age", "sex")
_LABELS = ("cancer or pre-cancer", "benign growth", "mole", "blood vessel")
_DIAGNOSES = {"akiec": 0, "bcc": 0, "mel": 0, "bkl": 1, "df": 1, "nv": 2, "vasc": 3}
_GROUPS = ("women", "men")
# Ages are given in steps of five years (0 for infants), so every cut lies between two steps.
_CUTS = (35, 45, 55, 65)
_BANDS = ("under 35", "35 to 44", "45 to 54", "55 to 64", "65 and over")


def _read_small(folder: Path) -> Raw:
    """The 28 x 28 copy: DermaMNIST's pixels in the order of the metadata."""
    import pandas as pd

    table = pd.read_csv(folder / "ham10000_metadata.csv")
    with np.load(folder / "ham10000_28x28.npz", allow_pickle=False) as arrays:
        images, names = arrays["images"], arrays["image_id"]
    if not np.array_equal(names, table["image_id"].to_numpy(str)):
        raise InputError(
            f"{folder / 'ham10000_28x28.npz'}: its images are not in the order of "
            f"ham10000_metadata.csv; {_WHERE}."
        )
    return Raw(table, images)


def _read_originals(folder: Path) -> Raw:
    """The published JPEG files, anywhere below the folder: central square, made 28 x 28."""
    import pandas as pd
    from PIL import Image

    table = pd.read_csv(folder / "HAM10000_metadata.csv")
    paths = {path.stem: path for path in folder.rglob("ISIC_*.jpg")}
    absent = [name for name in table["image_id"] if name not in paths]
    if absent:
        raise InputError(f"{folder / absent[0]}.jpg: {len(absent):,} images are absent; {_WHERE}.")
    images = np.empty((len(table), 28, 28, 3), np.uint8)
    for row, name in enumerate(table["image_id"]):
        with Image.open(paths[name]) as image:
            side = (image.width - image.height) // 2
            square = image.convert("RGB").crop((side, 0, side + image.height, image.height))
            images[row] = np.asarray(square.resize((28, 28)))
    return Raw(table, images)


def _arrange(raw: Raw, grouping: str) -> People:
    """Leave out rows of unknown sex or age, and number lesions so that their images stay together."""
    assert raw.images is not None
    no_sex = ~raw.table["sex"].isin(["female", "male"])
    no_age = raw.table["age"].isna() & ~no_sex
    kept = ~(no_sex | no_age)
    table = raw.table[kept].reset_index(drop=True)
    return People(
        inputs=raw.images[kept.to_numpy()],
        label=codes_of(table["dx"], _DIAGNOSES),
        group=codes_of(table["sex"], {"female": 0, "male": 1}),
        client=np.searchsorted(_CUTS, table["age"].to_numpy(), side="right").astype(np.int16),
        unit=table["lesion_id"].astype("category").cat.codes.to_numpy(np.int32),
        labels=_LABELS,
        groups=_GROUPS,
        clients=_BANDS,
        origin={
            "grouping": grouping,
            "left_out": {"unknown sex": int(no_sex.sum()), "unknown age": int(no_age.sum())},
        },
    )


HAM10000 = Dataset(
    name="ham10000",
    title="HAM10000 (skin lesions)",
    source="https://doi.org/10.7910/DVN/DBW86T",
    licence="CC BY-NC 4.0 (non-commercial)",
    citation="P. Tschandl, C. Rosendahl and H. Kittler, Scientific Data 5:180161, 2018",
    columns=_COLUMNS,
    features=("the image, 28 x 28 pixels in three colours",),
    label=(
        "dx: akiec, bcc, mel (cancer or pre-cancer); bkl, df (benign growth); nv (mole); "
        "vasc (blood vessel)"
    ),
    labels=_LABELS,
    favourable="cancer or pre-cancer",
    client="`age` in five bands, cut at 35, 45, 55 and 65 years",
    group="`sex`",
    groupings={"sex": _GROUPS},
    notion="eo",
    forms=(
        Form(
            files={
                "ham10000_metadata.csv": (
                    "06aee5e603d313ba69de38263053c792a1dff030eb9c44a96ceb477ceefb99a5"
                ),
                "ham10000_28x28.npz": (
                    "ac454e4a6026cc34c9a824c1d219ced95516caee522f061732147510ff32968e"
                ),
            },
            rows=10_015,
            read=_read_small,
            sample="all images, cropped to the central square and reduced to 28 x 28 (DermaMNIST)",
        ),
        Form(
            files={"HAM10000_metadata.csv": ""},
            rows=10_015,
            read=_read_originals,
            sample="all images, central square of the original reduced to 28 x 28",
        ),
    ),
    arrange=_arrange,
    noun="age band",
    missed=20.0,  # needless biopsies
    rows_are="images of skin lesions (all images of a lesion are on the same side of every split)",
    where=_WHERE,
)
