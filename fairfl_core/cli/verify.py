"""`verify`: prove in exact arithmetic that a predictor keeps its limits and is optimal."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core._io.files import read_json
from fairfl_core.cli._shell import Json, print_json, say
from fairfl_core.lp.histograms import FORMAT, read_histogram
from fairfl_core.predictors.certificate import score_counts
from fairfl_core.predictors.verify_predictor import verify as prove

NOT_PROVED = 1
_NO_CERTIFICATE = (
    "the predictor has no certificate: none is made for rules without chance, capacity, precision, "
    "rates from scores, people without a group, and rules of scores for more than two labels or "
    "without the group; with anything else make it again with `fairfl solve --out`"
)
_SHRUNK = (
    "Rates are shrunk, as the predictor was fitted: limits are kept on these counts with 100 people of "
    "the same group from all clients added to every group of a client."
)
_NO_CONFIDENCE = (
    "of limits with a confidence only those inside clients are proved, in the regions simplex and "
    "kernel; an overall limit's margin is a cone, and every cut of a score has a margin of its own"
)


def verify(
    predictor: Annotated[Path, typer.Argument(help="A predictor of `fairfl solve --out`.")],
    counts: Annotated[
        Path,
        typer.Argument(
            help="The counts it was fitted on; of the region exact the file of --score-counts, or "
            "the histogram."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Prove that a predictor keeps its limits on these counts, and that no lottery is better.

    The proof is by weak duality, in fractions, by a script without dependencies that you can run
    yourself: docs/verify_predictor.py. Ends with 1 where something is not proved, and says what.

    Example: `fairfl verify predictor.json counts.json`
    """
    value, figures = read_json(predictor), {}
    if isinstance(value, dict) and value.get("certificate") is None:
        failed = [_NO_CERTIFICATE]
        if value.get("guarantee") is not None:
            failed = [_NO_CONFIDENCE]
    else:
        failed, figures = prove(value, _evidence(counts))
    if as_json:
        print_json({"proved": not failed, "failed": failed} | figures)
    else:
        for sentence in failed:
            say(f"NOT PROVED: {sentence}.")
        if figures:
            _show(figures, proved=not failed)
            if figures["rates"] == "shrunk":
                say(_SHRUNK)
            if value.get("guarantee") is not None:
                say(
                    "The confidence's rows are taken as given: the proof is no proof of its margins."
                )
    if failed:
        raise typer.Exit(NOT_PROVED)


def _evidence(path: Path) -> Any:
    """The counts as the checker reads them: a histogram becomes counts by score."""
    value = read_json(path)
    is_histogram = isinstance(value, dict) and value.get("format") == FORMAT
    return score_counts(read_histogram(path)) if is_histogram else value


def _show(figures: dict[str, Any], *, proved: bool) -> None:
    if proved:
        say(
            f"PROVED. The lottery keeps every limit on these counts ({figures['limits']} rows, "
            f"1e-9 allowed; at worst {figures['worst_excess']:.1e} beyond one), and no lottery of "
            "its region that keeps them is better than the bound."
        )
    say(
        f"Reached {figures['value']:.10f}, bound {figures['bound']:.10f}: "
        f"{figures['gap']:.1e} apart (1e-9 allowed)."
    )
    say(f"Fingerprint {figures['fingerprint']}.")
