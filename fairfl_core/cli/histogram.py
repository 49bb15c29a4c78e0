"""`histogram`: what a client sends for the exact region in one round."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._options import TableOptions, say_scores, scores_json
from fairfl_core.cli._shell import Json, print_json, say, with_options, working, write_apart
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.lp.histograms import (
    ScoreHistogram,
    join_histograms,
    read_histogram,
    write_histogram,
)
from fairfl_core.privacy.mechanisms import Mechanism, names_note, release_histogram


@with_options
def histogram(
    sources: Annotated[
        list[Path], typer.Argument(help="A table of scores, or histograms of clients to join.")
    ],
    out: Annotated[Path, typer.Option(help="File to write.")],
    columns: TableOptions,
    bins: Annotated[int, typer.Option(help="Bins of the score; an even number.")] = 16,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Add noise worth this privacy budget; names are protected if --labels and "
            "--groups declare them."
        ),
    ] = None,
    declared: Annotated[
        bool,
        typer.Option(
            "--declared", help="The names in histograms to join were declared, not found."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Count people by client, group, label and bin of their score: all the exact region needs.

    For two labels, where rounds are dear: `fairfl solve` takes the file with --region exact. Each
    client may make its own; several are joined by naming them all.

    Example: `fairfl histogram scores.csv --client clinic --group sex
    --label diagnosis --scores no,yes --out histogram.json`
    """
    write_apart(out, *sources)
    with working("Counting"):
        made, people = _made(sources, columns, bins)
        spent = None
        if epsilon is not None:
            mechanism = Mechanism(name="histogram", epsilon=epsilon)
            made, spent = release_histogram(made, mechanism), mechanism.spent
    write_histogram(made, out)
    summary = {"out": str(out), "n": float(made.table.sum()), "clients": len(made.clients)}
    summary |= {"bins": made.bins, "noisy": made.noisy, "spent": spent}
    given = {"groups": columns.groups, "labels": columns.labels}
    found = [field for field, names in given.items() if not declared and not (names and people)]
    if spent is not None:
        summary["names_protected"] = not found
    if as_json:
        print_json(summary if people is None else summary | scores_json(people))
        return
    if people is not None:
        say_scores(people)
    noise = f"; noise worth a privacy budget of {spent:g} was added" if spent is not None else ""
    say(
        f"{out}: {made.table.sum():,.0f} {'noised counts' if made.noisy else 'people'} in {len(made.clients)} clients, {made.bins} bins "
        f"each{noise}. Next: fairfl solve {out} --region exact"
    )
    if spent is not None:
        say(names_note(made, found))


def _made(
    sources: list[Path], columns: TableOptions, bins: int
) -> "tuple[ScoreHistogram, ScoredData | None]":
    """The histogram, and the people it was counted from if it was not joined of others."""
    if all(path.suffix == ".json" for path in sources):
        return join_histograms([read_histogram(path) for path in sources]), None
    if len(sources) > 1:
        raise InputError("give one table of scores, or histograms (.json) of several clients.")
    columns.check_complete("exact")
    if columns.prediction or columns.fold:
        raise InputError(
            "a histogram is of one model's scores; leave out --prediction and --fold."
        )
    people = columns.scored(sources[0])
    return ScoreHistogram.of(people, bins), people
