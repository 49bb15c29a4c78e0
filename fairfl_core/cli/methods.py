"""`methods`: every method side by side, on test people."""

from typing import Annotated

import typer

from fairfl_core.cli._shell import say

__all__ = ["methods"]


def methods(
    experiment: Annotated[
        str | None, typer.Option(help="Its name, e.g. adult; all unless said.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list in JSON.")] = False,
) -> None:
    """Compare every method shipped: accuracy and gaps on test people, rounds, seconds, bytes.

    Figures are means over seeds, recomputed from the answers in data/methods. Compare methods
    where their gaps agree, not at equal settings.

    Example: `fairfl methods --experiment adult --json`
    """
    import json

    from fairfl_core.errors import InputError
    from fairfl_core.evaluation.methods import method_experiments, method_rows

    known = method_experiments()
    if experiment is not None and experiment not in known:
        raise InputError(
            f'no methods are shipped for "{experiment}"; they are for: {", ".join(known)}.'
        )
    names = known if experiment is None else [experiment]
    rows = [row for name in names for row in method_rows(name)]
    if as_json:
        say(json.dumps([row.to_json() for row in rows], ensure_ascii=False, allow_nan=False))
        return
    say(
        f"{'experiment':<16} {'method':<24} {'setting':<26} seeds accuracy  global   local   worst"
    )
    for row in rows:
        gaps = [row.gap(name) for name in ("gap_global", "gap_local_mean", "gap_local_worst")]
        say(
            f"{row.experiment:<16} {row.method:<24} {row.setting:<26} {len(row.seeds):>5} "
            f"{row.accuracy.mean():>8.2%} " + " ".join(f"{gap:>7.4f}" for gap in gaps)
        )
