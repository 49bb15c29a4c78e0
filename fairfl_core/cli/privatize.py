"""`privatize`: add noise to counts before they leave a client."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import Counts, Json, print_json, read_counts, say, working

__all__ = ["privatize"]


def privatize(
    counts: Counts,
    epsilon: Annotated[float, typer.Option(help="Privacy budget (for paper: what it calls so).")],
    out: Annotated[Path, typer.Option(help="File to write.")],
    mechanism: Annotated[str, typer.Option(help="histogram or paper.")] = "histogram",
    neighbours: Annotated[str, typer.Option(help="replace-one or add-remove.")] = "replace-one",
    seed: Annotated[
        int | None, typer.Option(help="Rehearse with seeded noise; never publish that.", min=0)
    ] = None,
    as_json: Json = False,
) -> None:
    """Add Laplace noise to every client's counts and say what budget that spends.

    Example: `fairfl privatize counts.json --mechanism histogram --epsilon 1
    --neighbours replace-one --out noisy.json`
    """
    from fairfl_core.errors import InputError
    from fairfl_core.privacy.mechanisms import Mechanism, release, what_if

    chosen = Mechanism(name=mechanism, epsilon=epsilon, neighbours=neighbours)
    table = read_counts(counts)
    with working("Adding noise"):
        try:
            noisy = release(table, chosen) if seed is None else what_if(table, chosen, seed=seed)
        except InputError as error:
            raise InputError(f"{counts}: {error}") from error
    noisy.write(out)
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
            }
        )
        return
    say(f"{out}: {chosen.sentence()}")
    if seed is not None:
        say(
            f"Seed {seed}: a rehearsal. Who knows the seed can take the noise off: do not publish."
        )
    if chosen.name == "paper" and len(table.labels) > 2:
        say("Wrong answers are known only in sum: use the simplex with eo or eop on this file.")
