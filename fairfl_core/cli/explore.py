"""`explore`: the Explore screen as one HTML file that needs no server."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core._io.files import write_whole
from fairfl_core.cli._options import (
    PolicyOptions,
    ProgramOptions,
    Source,
    TableOptions,
    read_program,
    say_scores,
)
from fairfl_core.cli._shell import progress_bar, read_counts, say, with_options
from fairfl_core.errors import InputError
from fairfl_core.explore.file import About, explore_file
from fairfl_core.fairness.notions import notion_kind
from fairfl_core.lp.policy import check_epsilon
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import region_kind
from fairfl_core.report.text import policy, sure


@with_options
def explore(
    context: typer.Context,
    source: Source,
    options: PolicyOptions,
    how: ProgramOptions,
    columns: TableOptions,
    out: Annotated[Path, typer.Option(help="Write the file here: a name ending in .html.")],
    new: Annotated[
        Path | None,
        typer.Option(help="People to judge on, as the source is: counts, or rows (exact)."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Above the pictures; else the source.")] = None,
    noun: Annotated[str, typer.Option(help="What a client is called: hospital.")] = "client",
    eps_global: Annotated[float, typer.Option(help="Overall limit where the file opens.")] = 1.0,
    eps_local: Annotated[
        float, typer.Option(help="Limit inside each client where the file opens.")
    ] = 0.05,
) -> None:
    """Write the Explore screen as one HTML file: 22 x 22 pairs of limits, solved before.

    The file moves without a server and without a network. With --new, or a --split column, every
    pair is judged on new people; else on those the rule was set on.

    Example: `fairfl explore counts.json --new test-counts.json --noun hospital --out study.html`
    """
    if out.suffix != ".html":
        raise InputError(f"{out}: the file is HTML; give a name that ends in .html.")
    for given, name in ((eps_global, "--eps-global"), (eps_local, "--eps-local")):
        check_epsilon(given, name)
    asked = options.asked(context, eps_global, eps_local)
    with progress_bar("Solving 484 pairs of limits") as on_progress:
        program = read_program(source, columns, how, asked)
        if not program.can_judge:
            raise InputError(
                f"{source}: a histogram holds no person to judge by; give the rows, or counts."
            )
        judged_on = new or (source if columns.split else None)
        people = None
        if judged_on is not None:
            scored = columns.is_table(program.region)
            people = columns.unseen(judged_on) if scored else read_counts(judged_on)
        about = About(
            title=title or source.name,
            noun=noun,
            rests=_rests(program, source, judged_on),
            start=(asked.eps_global, asked.eps_local),
        )
        html = explore_file(about, [(0, program)], [people], on_progress=on_progress)
    write_whole(out, html)
    say_scores(program.counts)
    say(f"Written to {out}, {len(html) / 1e6:.1f} MB: open it in any browser.")


def _rests(
    program: FairnessProgram, source: Path, judged_on: Path | None
) -> list[tuple[str, str]]:
    """What the numbers rest on."""
    return [
        ("Data", f"{source.name}: {program.counts.n:,.0f} people the rule was set on"),
        ("Judged on", judged_on.name if judged_on else "the same people: no new ones were given"),
        ("Notion", notion_kind(program.notion.name).title),
        ("Region and rates", f"{region_kind(program.region).title}, {program.rates}"),
        ("Certainty", sure(program.guarantee)),
        ("Also asked", policy(program.policy)),
    ]
