"""`methods`: every method side by side, on test people."""

from typing import Annotated

import typer

from fairfl_core.cli._shell import print_json, print_table

__all__ = ["methods"]


def methods(
    experiment: Annotated[
        str | None, typer.Option(help="Its name, e.g. adult; all unless given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list in JSON.")] = False,
) -> None:
    """Compare every method shipped: accuracy and gaps on test people, rounds, seconds, bytes.

    Figures are means over seeds, recomputed from the answers in data/methods. Compare methods
    where their gaps agree, not at equal settings.

    Example: `python -m research methods --experiment adult --json`
    """
    from fairfl_core.errors import InputError
    from fairfl_core.evaluation.methods import GAPS, method_experiments, method_rows

    known = method_experiments()
    if experiment is not None and experiment not in known:
        raise InputError(
            f'no methods are shipped for "{experiment}"; they are for: {", ".join(known)}.'
        )
    names = known if experiment is None else [experiment]
    rows = [row for name in names for row in method_rows(name)]
    if as_json:
        print_json([row.to_json() for row in rows])
        return
    columns = ["method", "setting", "seeds", "accuracy", "global", "local", "worst"]
    for name in names:
        lines = [
            [
                row.method,
                row.setting,
                str(len(row.seeds)),
                f"{row.accuracy.mean():.2%}",
                *(f"{row.gap(gap):.4f}" for gap in list(GAPS)[:3]),
            ]
            for row in rows
            if row.experiment == name
        ]
        print_table(f"{name}, on test people", columns, lines)
