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

    Example: python -m fairfl_core experiments
    """
    from fairfl_core import experiments as room

    where = folder or room.FOLDER
    rows = [summary(room.open(name, where).manifest) for name in room.list_experiments(where)]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        _show(rows)
    else:
        typer.echo(f"{where}: no experiments here; `python -m fairfl_core train adult` makes one.")


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
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Experiments (FedAvg on test, mean and spread over seeds)")
    for heading, justify in (
        ("experiment", "left"),
        ("notion", "left"),
        ("rows", "right"),
        ("clients", "right"),
        ("seeds", "right"),
        ("size", "right"),
        ("sha256", "left"),
        ("accuracy", "right"),
        ("balanced", "right"),
    ):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(
            row["name"],
            row["notion"],
            f"{row['rows']:,}",
            str(row["clients"]),
            str(row["seeds"]),
            f"{row['bytes'] / 1e6:.1f} MB",
            row["sha256"][:8],
            _percent(row["test_accuracy"]),
            _percent(row["test_balanced_accuracy"]),
        )
    console = Console()
    console.print(table)
    for row in rows:
        note = "" if row["sample"] == "all rows" else f" ({row['sample']})"
        console.print(f"{row['name']}: {row['title']}{note}", highlight=False, soft_wrap=True)


def _percent(value: dict[str, float]) -> str:
    return f"{value['mean'] * 100:.1f} ± {value['spread'] * 100:.1f} %"
