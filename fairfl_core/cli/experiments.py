"""`experiments`: what is bundled, with its protocol, size, hash and figures."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core.data import experiments as room
from fairfl_core.data.experiments import Experiment


def experiments(
    folder: Annotated[Path | None, typer.Option(help="Look in this folder instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the bundled experiments, each verified against the hash in its manifest.

    Example: fairfl experiments
    """
    where = folder or room.FOLDER
    names = room.list_experiments(where, protocol=None)
    rows = [summary(room.open(name, where)) for name in names]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        _show(rows)
    else:
        typer.echo(f"{where}: no experiments here; `fairfl train adult` makes one.")


def summary(experiment: Experiment) -> dict[str, Any]:
    """One experiment in a few plain values."""
    manifest = experiment.manifest
    test = manifest["figures"]["test"]
    return {
        "name": experiment.name,
        "title": manifest["title"],
        "protocol": experiment.protocol,
        "folds": experiment.folds,
        "method": experiment.method,
        "notion": experiment.notion,
        "sample": manifest["dataset"]["sample"],
        "rows": manifest["scores"]["rows"],
        "people": manifest["dataset"]["rows_used"],
        "clients": len(experiment.clients),
        "groups": len(experiment.groups),
        "labels": len(experiment.labels),
        "seeds": len(experiment.seeds),
        "bytes": manifest["scores"]["bytes"],
        "sha256": manifest["scores"]["sha256"],
        "test_accuracy": test["accuracy"],
        "test_balanced_accuracy": test["balanced_accuracy"],
    }


def _show(rows: list[dict[str, Any]]) -> None:
    """One line each, then what each is; plain text, so that a pipe sees it whole."""
    head = ("experiment", "protocol", "method", "rows", "clients", "seeds", "size", "sha256")
    name = max(len(one) for one in (head[0], *(row["name"] for row in rows))) + 2
    form = f"{{:<{name}}}" + "{:<18}{:<8}{:>10}{:>8}{:>6}{:>9}  {:<8}{:>12}{:>12}"
    typer.echo("The method's own model on test rows: mean and spread over seeds, in per cent.\n")
    typer.echo(form.format(*head, "accuracy", "balanced"))
    for row in rows:
        typer.echo(
            form.format(
                row["name"],
                row["protocol"],
                row["method"],
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
        notes = [row["notion"], *([f"{row['folds']} folds"] if row["folds"] > 1 else [])]
        notes += [] if row["sample"] == "all rows" else [row["sample"]]
        typer.echo(f"{row['name']}: {row['title']} ({'; '.join(notes)})")


def _percent(value: dict[str, float]) -> str:
    return f"{value['mean'] * 100:.1f} ± {value['spread'] * 100:.1f}"
