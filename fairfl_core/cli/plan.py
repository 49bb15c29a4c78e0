"""`plan`: which people to see next, so that what is not sure yet is settled."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import Json, print_json, print_table, read_counts, say, working
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.monitoring.plan import plan_people
from fairfl_core.predictors.kinds import read_predictor

_MOST = 20


def plan(
    predictor: Annotated[Path, typer.Argument(help="A predictor (simplex or kernel).")],
    counts: Annotated[
        Path, typer.Argument(help="Counts of people it was not fitted on (fairfl-counts/1).")
    ],
    policy: Annotated[
        Path | None, typer.Option(help="Judge by the limits of this file instead of its own.")
    ] = None,
    fitted: Annotated[
        Path | None,
        typer.Option(
            help="Counts it was fitted on: says what limits with 95 % confidence would cost then."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Plan the fewest more people that settle every limit that is not sure yet.

    Says how many more of which client, group and label, how many limits each step settles, and,
    with --fitted, what certainty would cost with so many more people.

    Example: `fairfl plan predictor.json test-counts.json`
    """
    with working("Planning"):
        fair, people = read_predictor(predictor), read_counts(counts)
        asked = None if policy is None else PolicyFile.read(policy)
        found = plan_people(evaluate(fair, people, asked))
        value = found.to_json()
        if fitted is not None:
            value["certainty"] = _certainty(found.times, fitted, asked or PolicyFile.of(fair))
    if as_json:
        print_json(value)
        return
    if not found.cells:
        say("Every limit is settled already: nobody more is needed.")
        return
    say(
        f"{found.total:,} more people would settle all {len(found.cost)} limits that are not sure yet "
        f"({found.people:,.0f} now)."
    )
    print_table(
        "Whom to see next",
        {
            "client": [cell.client or "any" for cell in found.cells],
            "group": [cell.group for cell in found.cells],
            "label": [cell.label or "any" for cell in found.cells],
            "now": [f"{cell.have:,}" for cell in found.cells],
            "more": [f"{cell.more:,}" for cell in found.cells],
        },
        _MOST,
    )
    steps = "; ".join(f"{n:,} people settle {many}" for n, many in found.curve[1:][:_MOST])
    say(f"In the cheapest order: {steps}.")
    if "certainty" in value:
        before, after = value["certainty"]["now"], value["certainty"]["then"]
        say(
            f"Limits with 95 % confidence: {before:.1%} right now, {after:.1%} with so many people."
        )


def _certainty(times: float, path: Path, asked: PolicyFile) -> dict[str, float]:
    """The accuracy of the same limits with a confidence: now, and as if with more people."""
    fitted = read_counts(path)
    sure = FairnessProgram(fitted, asked.notion, guarantee=Guarantee())
    limits = asked.limits(fitted.clients)
    return {
        "now": sure.solve(**limits).accuracy,
        "then": sure.as_if(times).solve(**limits).accuracy,
        "times": times,
    }
