"""`solve`: from counts to the most accurate fair predictor and its price."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fairfl_core._io.files import write_json
from fairfl_core.cli import COLLISION
from fairfl_core.cli._options import (
    PolicyOptions,
    ProgramOptions,
    Source,
    TableOptions,
    read_program,
    say_scores,
    scores_json,
)
from fairfl_core.cli._shell import (
    MOST_ROWS,
    Json,
    number,
    print_json,
    print_table,
    read_salt,
    say,
    with_options,
    working,
    write_apart,
)
from fairfl_core.cli.evaluate import show_worse_off
from fairfl_core.errors import InfeasibleError, InputError
from fairfl_core.evaluation.advice import price_of_prohibition
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.evaluation.harm import Harm
from fairfl_core.evaluation.study import effect_of
from fairfl_core.evaluation.verdict import Verdict
from fairfl_core.lp.regions import default_region_sentence
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.certificate import evidence_of
from fairfl_core.predictors.kinds import predictor_of
from fairfl_core.predictors.without_chance import without_chance


@with_options
def solve(
    context: typer.Context,
    source: Source,
    options: PolicyOptions,
    how: ProgramOptions,
    columns: TableOptions,
    eps_global: Annotated[float, typer.Option(help="Overall gap allowed, epsilon_0.")] = 1.0,
    eps_local: Annotated[
        float, typer.Option(help="Gap allowed inside each client, epsilon_c.")
    ] = 1.0,
    eps_local_client: Annotated[
        list[str] | None,
        typer.Option(help="NAME=EPSILON for one client; may be given several times."),
    ] = None,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="Of two labels: the best rules without chance (a threshold for each client and "
            "group), printed beside the lottery's; --out writes these.",
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the predictor here.")] = None,
    salt_file: Annotated[
        Path | None,
        typer.Option(
            help="File with a secret text that the draw by row id is keyed with; without one "
            "whoever chooses row ids can choose answers."
        ),
    ] = None,
    score_counts: Annotated[
        Path | None,
        typer.Option(
            help="Region exact: write people by recalibrated score here, for `fairfl verify`."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the most accurate lottery within the gaps allowed, and what each limit costs.

    The region exact, and rates from scores, need the table of scores and its columns
    (--client, --group, --label, --scores) instead of counts. Exact is the default where these
    are given and there are two labels, else the simplex.

    Example: `fairfl solve counts.json --notion eo --eps-global 0.01
    --eps-local 0.01 --out predictor.json`
    """
    for path in filter(None, (out, score_counts)):
        write_apart(path, source, salt_file)
    asked = options.asked(context, eps_global, eps_local, _own_limits(eps_local_client or []))
    salt = None if salt_file is None else read_salt(salt_file)
    with working("Solving"):
        program = read_program(source, columns, how, asked)
        limits = asked.limits(program.counts.clients)
        try:
            solution = program.solve(**limits)
        except InfeasibleError as error:
            if not as_json:
                raise
            print_json(error.infeasible.to_json())
            raise typer.Exit(COLLISION) from None
        price = price_of_prohibition(program, solution) if asked.policy.without_group else None
        fair = predictor_of(solution)
        plain = without_chance(fair, program.people) if deterministic else None
    if out is not None or score_counts is not None:
        evidence = evidence_of(program)
        fair = fair.certified_by(program, evidence)
        if score_counts is not None:
            if evidence is None or evidence["format"] != "fairfl-score-counts/1":
                raise InputError(
                    "--score-counts: counts by score are written for the region exact with two "
                    "labels and with the group; the other regions are proved by the counts "
                    "themselves."
                )
            write_json(score_counts, evidence)
    if out is not None:
        named = {what: getattr(columns, what) for what in ("client", "group", "label")}
        known = {what: column for what, column in named.items() if column is not None}
        # Rules without chance have no certificate: a lottery is better.
        written = replace(fair if plain is None else plain.predictor, columns=known or None)
        (written if salt is None else written.with_salt(salt)).write(out)
    verdict = _verdict(solution)
    if as_json:
        more: dict[str, Any] = {"verdict": None if verdict is None else verdict.to_json()}
        if asked.policy.without_group:
            more["prohibition"] = None if price is None else price.to_json()
        if plain is not None:
            more["deterministic"] = plain.to_json()
        print_json(solution.to_json() | scores_json(program.counts) | more)
    else:
        # A histogram holds no person, so nobody can be judged by it.
        judged = program.people if program.can_judge else None
        harm = None if judged is None else evaluate(fair, judged).harm
        _show(solution, harm, verdict, out, by_default=how.region is None)
        if plain is not None:
            say(plain.sentence())
            show_worse_off(evaluate(plain.predictor, program.people).harm)
        if price is not None:
            say(
                f"With the group these limits would allow {price.with_group:.1%}: not to look at it "
                f"{'costs' if price.cost >= 0 else 'gains'} {100 * abs(price.cost):.2f} points here "
                f"({price.people:,.0f} {solution.counts.whom}, those it was fitted on)."
            )


def _verdict(solution: Solution) -> Verdict | None:
    """Of limits that nobody new has been judged by yet; None where none was asked for."""
    if min(solution.eps_global, *solution.eps_local) >= 1 and not solution.policy.asks_for_rows:
        return None
    return Verdict((), solution.guarantee, unseen=False, noisy=solution.counts.has_noise)


def _own_limits(given: list[str]) -> dict[str, float]:
    """Clients' own limits, each written NAME=EPSILON."""
    found: dict[str, float] = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            eps = float(value)
        except ValueError:
            eps, equals = 0.0, ""
        if not equals or not name:
            raise InputError(f'--eps-local-client "{text}" is not NAME=EPSILON, like NM=0.05.')
        if name in found:
            raise InputError(f'--eps-local-client: "{name}" is given twice; keep one.')
        found[name] = eps
    return found


def _show(
    solution: Solution,
    harm: Harm | None,
    verdict: Verdict | None,
    out: Path | None,
    *,
    by_default: bool,
) -> None:
    counts, gaps = solution.counts, solution.gaps
    change = solution.accuracy - solution.model_accuracy
    points = f"{100 * abs(change):.2f} points"
    if harm is None:
        effect = f"{points} {'less' if change < 0 else 'more'}"
        say("A histogram does not say who is worse off: judge it with `fairfl evaluate`.")
    else:
        show_worse_off(harm)
        effect = effect_of(change, harm).describe(points)
    if verdict is not None:
        say(f"{verdict.word.upper()}. {verdict.why} Judge it with `fairfl evaluate`.")
    say(
        f"Accuracy {solution.accuracy:.1%}, the model's own {solution.model_accuracy:.1%}: "
        f"{effect} (n = {counts.n:,.0f}, the {'noised ' * counts.has_noise}counts it was fitted on)."
    )
    say_scores(counts)
    if by_default:
        say(default_region_sentence(solution.region))
    if solution.guarantee is not None:
        local = solution.eps_local[solution.eps_local < 1]
        limit = float(local.max()) if local.size else solution.eps_global
        say(f"On unseen people {solution.guarantee.promise(local.size, limit)}.")
    for sentence in (*counts.remarks(), *solution.remarks()):
        say(sentence)
    for sentence in _asked(solution):
        say(sentence)
    unit = _unit(solution)
    say(
        f"Overall gap {number(gaps.overall)} (asked {solution.eps_global:g}); overall price "
        f"{solution.price_global:.3f} {unit} per hundredth."
    )
    order = sorted(
        range(len(counts.clients)),
        key=lambda c: (-solution.price_local[c], -np.nan_to_num(gaps.local[c])),
    )
    print_table(
        "Clients, dearest first",
        {
            "client": [counts.clients[c] for c in order],
            "n": [f"{counts.n_client[c]:,.0f}" for c in order],
            "gap": [number(gaps.local[c]) for c in order],
            "asked": [f"{solution.eps_local[c]:g}" for c in order],
            "price per hundredth": [f"{solution.price_local[c]:.4f} {unit}" for c in order],
        },
        MOST_ROWS,
    )
    for cell in solution.not_assessable[:MOST_ROWS]:
        with_label = f' with label "{cell.label}"' if cell.label is not None else ""
        say(f'Not assessable: nobody of group "{cell.group}"{with_label} in "{cell.client}".')
    if len(solution.not_assessable) > MOST_ROWS:
        say(f"... and {len(solution.not_assessable) - MOST_ROWS} more cells that nobody is in.")
    if out is not None:
        say(f"Predictor written to {out}.")


def _unit(solution: Solution) -> str:
    """What prices are in, per hundredth of epsilon."""
    name = solution.utility.name
    return "points of accuracy" if name == "accuracy" else f"hundredths of the utility {name}"


def _asked(solution: Solution) -> list[str]:
    """What the policy asked for, and what came of it."""
    policy, utility = solution.policy, solution.utility
    sentences = [f"Kept in every client and group: {floor}." for floor in policy.floors]
    for ratio, where in ((policy.ratio_global, "overall"), (policy.ratio_local, "in each client")):
        if ratio is not None:
            sentences.append(f"No group's rate is below {ratio:g} of the highest {where}.")
    sentences += [f"Kept besides: {limit}." for limit in policy.limits]
    sentences += [f"Precision kept: {one}." for one in policy.precision]
    for share, where in (
        (policy.capacity_global, "all people"),
        (policy.capacity_local, "each client's people"),
    ):
        if share is not None:
            sentences.append(f"At most {share:g} of {where} are answered favourably.")
    if policy.without_group:
        sentences.append(
            "One rule for all groups of a client: the predictor does not ask for a group."
        )
    if utility.name != "accuracy":
        sentences.append(
            f"Utility {utility.name}: {utility.value:.4f}, the model's own answers "
            f"{utility.model_value:.4f}."
        )
    return sentences
