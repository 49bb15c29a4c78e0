"""What the page Watch says."""

from fairfl_core._io.numbers import plural
from fairfl_core.monitoring.watch import ScopeWatch, Watch

TITLE = "#### Are limits still kept?"
BRING, BRING_TIP = (
    "Your months",
    "Counts of the answers that people got: the baseline (of the decision) and one file a week or "
    "month, named after it, such as month-2026-07.json (fairfl-counts/1 or fairfl-month/1).",
)
BASELINE, MONTHS = "Baseline: counts of the decision", "Months: one file each"
OWN_BASELINE = "Without a file the baseline is the set of *Your data*."
EXAMPLE = "Invented year"
SO_FAR, MONTH, ALLOWED, FOUND = "gap so far", "each month", "allowed", "found"
KEY = (SO_FAR, MONTH, ALLOWED, "95 %, all months at once", FOUND)
PICTURE, NEXT = "The picture", "What to do next"
AGAIN = "Solve again from these months"
PREDICTOR = "New predictor (JSON)"
NO_BASELINE = "Give the baseline's counts too, or bring a set on Your data first."
TOO_LARGE = "{name} is larger than 4 MB; counts of a month are small: check the file."
TOO_MANY = "There are {many} files; at most 520 are watched at once (ten years of weeks)."


def where(one: ScopeWatch) -> str:
    """A client, or all of them."""
    return "overall" if one.client is None else one.client


def headline(watch: Watch) -> str:
    """Who broke a limit first and when it was found, or how long nobody has."""
    if watch.broken:
        first, periods = watch.broken[0], watch.periods
        assert first.broke is not None and first.since is not None
        return f"{where(first)} since {periods[first.since]}, found in {periods[first.broke]}."
    many = plural(len(watch.months), "month")
    return f"no limit broke in {many}, {watch.periods[0]} to {watch.periods[-1]}."


def broken(watch: Watch, one: ScopeWatch) -> str:
    """Who broke which limit, when, on how many people, and what drifted."""
    said = watch.sentence_of(one)
    drift = "" if one.drift is None else f" {one.drift.sentence()}"
    return f"{said[0].upper()}{said[1:]}{drift}"


def spoken(watch: Watch, one: ScopeWatch) -> str:
    """A client's picture, for those who hear it."""
    months = plural(len(watch.months), "month")
    return f"Gap of {where(one)} over {months} with its limit: {one.word}."
