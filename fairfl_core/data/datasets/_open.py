"""Finding a copy of a dataset, checking it, and reading it."""

import hashlib
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from fairfl_core._io.extras import extra
from fairfl_core.data.datasets._declaration import Dataset, Form, People, Raw
from fairfl_core.errors import InputError

__all__ = ["cache_folder", "open_people", "open_raw", "sha256_of"]

# Developers and CI have the copies beside the repository; a newcomer does not.
_SHARED = Path(__file__).resolve().parents[4] / "shared" / "datasets"


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where downloads are kept: FAIRFL_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("FAIRFL_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairfl"


def open_people(dataset: Dataset, source: str | Path | None, grouping: str | None) -> People:
    """Open a checked copy of `dataset` and arrange its rows into clients, groups and labels."""
    grouping = grouping or next(iter(dataset.groupings))
    if grouping not in dataset.groupings:
        raise InputError(
            f'{dataset.name} has no grouping "{grouping}"; '
            f"choose one of: {', '.join(dataset.groupings)}."
        )
    folder, form = _find(dataset, source)
    hashes = _checked_hashes(dataset, form, folder)
    raw = _read(dataset, form, folder)
    people = dataset.arrange(raw, grouping)
    origin = {
        "dataset": dataset.name,
        "source": dataset.source,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "sample": form.sample,
        "files": hashes,
        "rows": len(raw.table),
        "rows_used": len(people),
        **people.origin,
    }
    return replace(people, favourable=dataset.favourable, origin=origin)


def open_raw(dataset: Dataset, source: str | Path | None = None) -> Raw:
    """The rows of a checked copy as its file has them."""
    folder, form = _find(dataset, source)
    _checked_hashes(dataset, form, folder)
    return _read(dataset, form, folder)


def _find(dataset: Dataset, source: str | Path | None) -> tuple[Path, Form]:
    """The first folder with a whole copy: the one named, FAIRFL_DATA, shared, cache, download."""
    if source is not None:
        return _named(dataset, Path(source), "--source")
    if named := os.environ.get("FAIRFL_DATA"):
        return _named(dataset, Path(named), "FAIRFL_DATA")
    cache = cache_folder() / dataset.name
    for folder in (_SHARED, cache):
        if form := _form_in(dataset, folder):
            return folder, form
    if dataset.fetch is None:
        raise InputError(
            f"{_listed(dataset.forms[0])}: not found; "
            f"{dataset.where}, then give its folder with --source PATH or FAIRFL_DATA."
        )
    cache.mkdir(parents=True, exist_ok=True)
    dataset.fetch(cache)
    form = _form_in(dataset, cache)
    if form is None:
        raise InputError(
            f"{cache}: the download left no whole copy of {dataset.name}; {dataset.where}."
        )
    return cache, form


def _named(dataset: Dataset, path: Path, how: str) -> tuple[Path, Form]:
    folder = path.parent if path.is_file() else path
    form = _form_in(dataset, folder)
    if form is None:
        wanted = ", or ".join(_listed(form) for form in dataset.forms)
        raise InputError(
            f"{path} (from {how}) holds no copy of {dataset.name}: it needs {wanted}; "
            f"{dataset.where}."
        )
    return folder, form


def _form_in(dataset: Dataset, folder: Path) -> Form | None:
    whole = (f for f in dataset.forms if all((folder / name).is_file() for name in f.files))
    return next(whole, None)


def _listed(form: Form) -> str:
    return " and ".join(form.files)


def _checked_hashes(dataset: Dataset, form: Form, folder: Path) -> dict[str, str]:
    hashes = {name: sha256_of(folder / name) for name in form.files}
    for name, known in form.files.items():
        if known and hashes[name] != known:
            raise InputError(
                f"{folder / name}: is not the known copy (sha256 {hashes[name][:12]}..., expected "
                f"{known[:12]}...), so it is truncated or changed; {dataset.where}."
            )
    return hashes


def _read(dataset: Dataset, form: Form, folder: Path) -> Raw:
    with extra("train"):
        import_module("pandas")
    try:
        raw = form.read(folder)
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{folder / next(iter(form.files))}: cannot be read ({reason}); {dataset.where}."
        ) from error
    missing = [name for name in dataset.columns if name not in raw.table.columns]
    if missing:
        raise InputError(
            f"{folder / next(iter(form.files))}: has no column {', '.join(missing)}; "
            f"{dataset.where}."
        )
    if len(raw.table) != form.rows:
        raise InputError(
            f"{folder / next(iter(form.files))}: has {len(raw.table):,} rows, "
            f"expected {form.rows:,}; {dataset.where}."
        )
    return raw
