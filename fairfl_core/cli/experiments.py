"""`experiments`: what is bundled, with its size, hash and figures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["experiments"]


def experiments(
    folder: Annotated[Path | None, typer.Option(help="Look in this folder instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the bundled experiments, each verified against the hash in its manifest.

    Example: fairfl experiments
    """
    from fairfl_core.people import experiments as room

    where = folder or room.FOLDER
    rows = [summary(room.open(name, where).manifest) for name in room.list_experiments(where)]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        _show(rows)
    else:
        typer.echo(f"{where}: no experiments here; `fairfl train adult` makes one.")


def summary(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """One experiment in a few plain values."""
    test = manifest["figures"]["test"]
    return {
        "name": manifest["name"],
        "title": manifest["title"],
        "notion": manifest["notion"],
        "sample": manifest["dataset"]["sample"],
        "rows": manifest["scores"]["rows"],
        "people": manifest["dataset"]["rows_used"],
        "clients": len(manifest["clients"]),
        "groups": len(manifest["groups"]),
        "labels": len(manifest["labels"]),
        "seeds": len(manifest["seeds"]),
        "bytes": manifest["scores"]["bytes"],
        "sha256": manifest["scores"]["sha256"],
        "test_accuracy": test["accuracy"],
        "test_balanced_accuracy": test["balanced_accuracy"],
    }


def _show(rows: list[dict[str, Any]]) -> None:
    """One line each, then what each is; plain text, so that a pipe sees it whole."""
    form = "{:<19}{:>10}{:>8}{:>6}{:>8}  {:<8}{:>12}{:>12}"
    typer.echo("FedAvg on test rows: mean and spread over seeds, in per cent.\n")
    typer.echo(
        form.format(
            "experiment", "rows", "clients", "seeds", "size", "sha256", "accuracy", "balanced"
        )
    )
    for row in rows:
        typer.echo(
            form.format(
                row["name"],
                f"{row['rows']:,}",
                row["clients"],
                row["seeds"],
                f"{row['bytes'] / 1e6:.1f} MB",
                row["sha256"][:8],
                _percent(row["test_accuracy"]),
                _percent(row["test_balanced_accuracy"]),
            )
        )
    typer.echo("")
    for row in rows:
        note = "" if row["sample"] == "all rows" else f"; {row['sample']}"
        typer.echo(f"{row['name']}: {row['title']} ({row['notion']}{note})")


def _percent(value: dict[str, float]) -> str:
    return f"{value['mean'] * 100:.1f} ± {value['spread'] * 100:.1f}"
