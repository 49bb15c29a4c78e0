"""`evaluate`: what a predictor does on counts, with intervals."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fairfl_core._io.frames import records
from fairfl_core.cli._options import (
    DecidedBy,
    PolicyIn,
    SavePolicy,
    Source,
    TableOptions,
    say_scores,
    scores_json,
)
from fairfl_core.cli._shell import (
    MOST_ROWS,
    Json,
    number,
    print_json,
    print_table,
    print_text,
    read_counts,
    say,
    split_names,
    with_options,
    write_apart,
)
from fairfl_core.errors import InputError, about
from fairfl_core.evaluation.all_rates import AllRates, ImpactRatios, all_rates_of, impact_ratios_of
from fairfl_core.evaluation.before_after import NOT_ASSESSABLE
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.evaluation import evaluate as judge
from fairfl_core.evaluation.harm import Harm
from fairfl_core.evaluation.study import effect_of
from fairfl_core.evaluation.verdict import PASSED, Gate, Verdict
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.utility import Achieved
from fairfl_core.predictors.kinds import read_predictor
from fairfl_core.predictors.predictor import People, Predictor

_CLOSED = 5
_FORMATS = ("text", "json", "junit", "github")


@with_options
def evaluate(
    predictor: Annotated[Path, typer.Argument(help="A fairfl-predictor/1 file.")],
    source: Source,
    columns: TableOptions,
    policy: PolicyIn = None,
    save_policy: SavePolicy = None,
    decided_by: DecidedBy = "",
    require: Annotated[
        str | None,
        typer.Option(
            help="met: end with 1 where the verdict is worse, with 3 where it is undecided."
        ),
    ] = None,
    allow_unsure: Annotated[
        bool, typer.Option("--allow-unsure", help="With --require: end with 0 where it cannot.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", help="text, json, junit (XML) or github (annotations).")
    ] = "text",
    leave_out: Annotated[
        float, typer.Option(help="Leave groups of less than this share out of impact ratios.")
    ] = 0.0,
    as_json: Json = False,
) -> int:
    """Judge a predictor on people it was not fitted on: do its limits hold, who is worse off.

    A predictor of the region exact is judged on a table of scores, with its columns (--client,
    --group, --label, --scores). A mixture of fold models is judged on test people who have one
    row for each fold (--fold, --row-id): by what is expected over the model drawn.

    With --policy it is judged by the limits of a policy file instead of its own. --require makes
    a gate of it for a build server, whose --format may be junit or github.

    Example: `fairfl evaluate predictor.json test-counts.json`
    """
    if form not in _FORMATS:
        raise InputError(f'--format takes one of {", ".join(_FORMATS)}, not "{form}".')
    fair = read_predictor(predictor)
    asked = None if policy is None else PolicyFile.read(policy)
    if save_policy is not None:
        write_apart(save_policy, policy, predictor, source)
        found = asked or PolicyFile.of(fair)
        (found.decided(decided_by) if decided_by else found).write(save_policy)
    people = _people(fair, columns, source)
    with about(source):
        _check_models(fair, people.folds)
        evaluation = judge(fair, people, asked)
    verdict = evaluation.verdict
    gate = None
    if require is not None or form in ("junit", "github"):
        notion = evaluation.notion.name
        gate = Gate.of(verdict, notion, require or "met", allow_unsure=allow_unsure)
    code = PASSED if gate is None or require is None else gate.code
    if gate is not None and form in ("junit", "github"):
        print_text(gate.to_junit() if form == "junit" else gate.to_github(str(predictor)))
        return code
    harm, rates = evaluation.harm, all_rates_of([evaluation])
    ratios = impact_ratios_of([evaluation], leave_out=leave_out)
    utility = fair.policy.utility
    reached = [
        utility.achieved(part.confusion, evaluation.counts)
        for part in (evaluation, evaluation.before)
    ]
    achieved = Achieved(utility.name, *reached)
    if as_json or form == "json":
        heading = fair.to_json()
        carried = ("epsilon", "region", "guarantee", "policy", "reached")
        kept = {key: heading[key] for key in carried}
        more = {
            "verdict": None if verdict is None else verdict.to_json(),
            "harm": harm.to_json(),
            "alarms": [alarm.to_json() for alarm in harm.alarms],
            "all_rates": rates.to_json(),
            "impact_ratios": ratios.to_json(),
            "utility": achieved.to_json(),
        }
        print_json(evaluation.to_json() | kept | more | scores_json(people))
    else:
        show_alarms(harm)
        show_verdict(verdict)
        _show_besides(verdict)
        change = evaluation.accuracy - evaluation.before.accuracy
        effect = effect_of(change, harm).describe(f"{100 * abs(change):.2f} points")
        own = evaluation.before.accuracy
        say(f"Accuracy {evaluation.accuracy:.1%}, the model's own {own:.1%}: {effect}.")
        say_scores(people)
        _show(fair, evaluation)
        for gap in harm.closed[:_CLOSED]:
            say(gap.sentence())
        show_rates(rates)
        _show_ratios(ratios)
    return code


def _people(fair: Predictor, columns: TableOptions, source: Path) -> People:
    """The people to judge on; their labels are the predictor's unless others are declared."""
    if columns.favourable not in (None, fair.favourable):
        raise InputError(
            f'the predictor\'s favourable label is "{fair.favourable}"; leave out --favourable.'
        )
    if not columns.is_table(fair.region):
        return read_counts(source)
    given, declared = split_names(columns.scores), split_names(columns.labels)
    pairs = None  # where their number is wrong, which the table is asked about
    if given is not None and len(given) == len(declared or fair.labels):
        pairs = fair.pair_scores(given, declared)
    names = columns.labels or (None if columns.prediction else ",".join(fair.labels))
    return replace(columns, labels=names, favourable=fair.favourable).unseen(source, pairs)


def _show_besides(verdict: Verdict | None) -> None:
    """What the policy asks beyond gaps, worst first."""
    besides = () if verdict is None else verdict.besides
    if not besides:
        return
    print_table(
        "Asked besides gaps",
        {
            "where": [one.where for one in besides],
            "what": [one.what for one in besides],
            "asked": [f"{'≥' if one.at_least else '≤'} {one.bound:g}" for one in besides],
            "here": [number(one.value) for one in besides],
            "between": [f"{number(one.low)} and {number(one.high)}" for one in besides],
            "n": [f"{one.n:,}" for one in besides],
            "": [one.state for one in besides],
        },
        MOST_ROWS,
    )


def _show_ratios(ratios: ImpactRatios) -> None:
    overall = [row for row in records(ratios.columns()) if row["client"] is None]
    for comparison in ratios.comparisons:
        of = f" by {comparison.grouping}" if comparison.grouping else ""
        rows = [row for row in overall if row["grouping"] in (None, comparison.grouping)]
        low, high = "selection_rate_low", "selection_rate_high"
        print_table(
            f"Impact ratios{of}, overall: screening, not compliance",
            {
                "group": [str(row["group"]) for row in rows],
                "n": [f"{row['n']:,.0f}" for row in rows],
                "selected before": [number(row["selection_rate_before"]) for row in rows],
                "selected": [number(row["selection_rate"]) for row in rows],
                "95 % between": [f"{number(row[low])} and {number(row[high])}" for row in rows],
                "impact ratio": [
                    "left out"
                    if row["left_out"]
                    else (number(row["impact_ratio"]) if row["assessable"] else NOT_ASSESSABLE)
                    for row in rows
                ],
            },
        )


def _check_models(fair: Predictor, folds: int) -> None:
    """Refuse people who are answered by other models than those the predictor mixes."""
    if folds == fair.folds:
        return
    raise InputError(
        f"the predictor is for {_models(fair.folds)}, but these people are answered by "
        f"{_models(folds)}; "
        + (
            "give every test person one row for each fold, with --fold and --row-id."
            if fair.folds > 1
            else "give the people as its model answers them, without --fold."
        )
    )


def _models(folds: int) -> str:
    return "one model" if folds == 1 else f"a mixture of {folds} fold models"


def _show(fair: Predictor, evaluation: Evaluation) -> None:
    counts, reached = evaluation.counts, fair.reached
    largest = max((gap for gap in reached.gap_local if gap is not None), default=None)
    columns = {
        "": ["accuracy", "model's own", "overall gap", "largest local gap"],
        "asked": ["", "", f"{fair.eps_global:g}", f"{max(fair.eps_local):g}"],
        f"fitted (n = {reached.n:,.0f})": [
            f"{reached.accuracy:.1%}",
            f"{reached.model_accuracy:.1%}",
            number(reached.gap_global),
            number(largest),
        ],
        f"here (n = {counts.n:,.0f})": [
            f"{evaluation.accuracy:.1%}",
            f"{evaluation.before.accuracy:.1%}",
            _overall(evaluation),
            _worst(evaluation),
        ],
    }
    print_table(f"{fair.notion}, {fair.region}", columns)
    if evaluation.unknown is not None:
        low, high = evaluation.unknown
        say(
            "Whatever groups the rows without one have, the overall gap is between "
            f"{number(low[0])} and {number(high[0])}, a client's at most "
            f"{number(np.nanmax(high[1:]))}."
        )
    for sentence in counts.remarks():
        say(sentence)
    debiased = evaluation.debiased(evaluation.larger_half)
    say(
        f"Local gap once chance is taken out, {debiased.clients} larger "
        f"client{'s' * (debiased.clients != 1)}: "
        f"{number(debiased.gap)}{' (indistinguishable from fair)' if debiased.gap < 0 else ''}."
    )
    by_client = evaluation.client_columns() | evaluation.chance_columns()
    clients = records({"client": counts.clients, **by_client})
    clients.sort(key=lambda row: -1.0 if row["gap"] is None else row["gap"], reverse=True)
    clients = clients[:MOST_ROWS]
    print_table(
        "Clients, largest gap first",
        {
            "client": [row["client"] for row in clients],
            "n": [f"{row['n']:,.0f}" for row in clients],
            "gap": [number(row["gap"]) for row in clients],
            "95 %, each on its own": [
                f"{number(row['gap_low'])} to {number(row['gap_high'])}" for row in clients
            ],
            "one draw": [number(row["gap_one_draw"]) for row in clients],
            "chance alone": [number(row["noise_floor"]) for row in clients],
        },
    )
    changed = zip(counts.groups, evaluation.changed, strict=True)
    say("Answers changed: " + ", ".join(f"{group} {share:.1%}" for group, share in changed) + ".")


def _overall(evaluation: Evaluation) -> str:
    low, high = evaluation.reported_interval()
    return f"{number(evaluation.gaps.overall)} ({number(low)} to {number(high)})"


def _worst(evaluation: Evaluation) -> str:
    gaps, worst = evaluation.gaps, evaluation.gaps.worst
    if worst is None:
        return "none"
    low, high = evaluation.reported_interval(worst)
    several = evaluation.compared_clients
    chosen = f", worst of {several:,}" if several > 1 else ""
    name = evaluation.counts.clients[worst]
    return f"{number(gaps.local[worst])} ({number(low)} to {number(high)}) {name}{chosen}"


def show_verdict(verdict: Verdict | None) -> None:
    """The verdict's word and why; or that no limit was asked for."""
    if verdict is None:
        say("No limit was asked for, so there is nothing to be met.")
    else:
        say(f"{verdict.word.upper()}. {verdict.why}")


def show_worse_off(harm: Harm) -> None:
    """The worst of it in a sentence; nothing where nobody is worse off."""
    if harm.alarms:
        say(f"{harm.title.upper()}. {harm.sentence()}")


def show_alarms(harm: Harm) -> None:
    """The alarms, worst first; nothing where there is none."""
    show_worse_off(harm)
    if not harm.lost:
        return
    beyond = {True: "yes", False: "may be chance"}
    print_table(
        "Recognised less often",
        {
            "where": [one.where for one in harm.lost],
            "group": [one.group for one in harm.lost],
            "label": [one.label or "" for one in harm.lost],
            "before": [f"{one.before:.1%}" for one in harm.lost],
            "after": [f"{one.after:.1%}" for one in harm.lost],
            "95 %": [f"{one.low:.1%} to {one.high:.1%}" for one in harm.lost],
            "n": [f"{one.n:,}" for one in harm.lost],
            "beyond chance": [
                "noise" if one.noisy and not one.beyond_chance else beyond[one.beyond_chance]
                for one in harm.lost
            ],
        },
        MOST_ROWS,
    )


def show_rates(rates: AllRates) -> None:
    """Every rate over all clients, every notion, and why not all can be equal.

    Of more than two labels the favourable one is printed; all are in the JSON.
    """
    favourable = rates.measures[0].label
    shown = [
        row
        for row in records(rates.columns())
        if row["client"] is None and row["label"] in (favourable, None)
    ]

    def share(row: dict[str, Any], name: str) -> str:
        return _share(row[name]) if row["assessable"] else NOT_ASSESSABLE

    print_table(
        f"Every rate of “{favourable}”, overall",
        {
            "rate": [row["rate"] for row in shown],
            "group": [row["group"] for row in shown],
            "before": [share(row, "before") for row in shown],
            "after": [share(row, "after") for row in shown],
            "95 %": [
                f"{_share(row['after_low'])} to {_share(row['after_high'])}"
                if row["assessable"]
                else ""
                for row in shown
            ],
            "n": [f"{row['n']:,.0f}" for row in shown],
        },
    )
    notions = [
        f"{one.notion} {number(one.before)} to {number(one.after)} ({one.word})"
        for one in rates.notions_of()
    ]
    say(f"Overall gap of every notion, before to after: {'; '.join(notions)}.")
    say(rates.base.sentence())


def _share(value: float | None) -> str:
    return "none" if value is None or value != value else f"{value:.1%}"
