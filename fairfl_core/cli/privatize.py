"""`privatize`: add noise to counts before they leave a client."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import write_json
from fairfl_core.cli._shell import (
    Counts,
    Json,
    print_json,
    read_counts,
    say,
    split_names,
    working,
    write_apart,
)
from fairfl_core.errors import about
from fairfl_core.privacy.mechanisms import Mechanism, declare_names, names_note, release, what_if


def privatize(
    counts: Counts,
    epsilon: Annotated[float, typer.Option(help="Privacy budget (for paper: what it calls so).")],
    out: Annotated[Path, typer.Option(help="File to write.")],
    mechanism: Annotated[str, typer.Option(help="histogram or paper.")] = "histogram",
    neighbours: Annotated[str, typer.Option(help="replace-one or add-remove.")] = "replace-one",
    groups: Annotated[
        str | None,
        typer.Option(help="Declare all groups that could occur, found or not; A,B."),
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Declare all labels that could occur, found or not; A,B.")
    ] = None,
    favourable: Annotated[
        str | None, typer.Option(help="With --labels: the favourable one. Default: the last.")
    ] = None,
    declared: Annotated[
        bool,
        typer.Option(
            "--declared",
            help="The names in the counts were declared when people were counted, not found.",
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Rehearse with seeded noise; never publish that.", min=0)
    ] = None,
    as_json: Json = False,
) -> None:
    """Add Laplace noise to every client's counts and say what budget that spends.

    Noise hides how many people there are, not the names of groups and labels: declare these, or
    the release says that they are not protected.

    Example: `fairfl privatize counts.json --mechanism histogram --epsilon 1
    --neighbours replace-one --groups f,m --labels no,yes --out noisy.json`
    """
    write_apart(out, counts)
    chosen = Mechanism(name=mechanism, epsilon=epsilon, neighbours=neighbours)
    table = read_counts(counts)
    given = {"groups": split_names(groups), "labels": split_names(labels)}
    found = [] if declared else [field for field, names in given.items() if names is None]
    with working("Adding noise"), about(counts):
        table = declare_names(table, **given, favourable=favourable)
        noisy = release(table, chosen) if seed is None else what_if(table, chosen, seed=seed)
    note = names_note(table, found)
    write_json(out, noisy.to_json() | {"note": f"{chosen.sentence()} {note}"})
    if as_json:
        print_json(
            {
                "out": str(out),
                "mechanism": chosen.name,
                "neighbours": chosen.neighbours,
                "epsilon": chosen.epsilon,
                "spent": chosen.spent,
                "scale": chosen.scale,
                "seed": seed,
                "names_protected": not found,
            }
        )
        return
    say(f"{out}: {chosen.sentence()}")
    say(note)
    if seed is not None:
        say(
            f"Seed {seed}: a rehearsal. Who knows the seed can take the noise off: do not publish."
        )
    if chosen.name == "paper" and len(table.labels) > 2:
        say("Wrong answers are known only in sum: use the simplex with eo or eop on this file.")
