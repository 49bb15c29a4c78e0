"""What Compare says."""

from html import escape
from typing import Any

from fairfl_core.lp.guarantee import Guarantee

SIDE_BY_SIDE = "The comparison"  # as it is named where it fails

STARTED = "Two settings to begin with: **keep** your own on Explore."
KEEP_THESE = "Keep these two"
OPEN, OPEN_TIP = "Open", "Open this option on Explore"
REMOVE, REMOVE_TIP = "✕", "Compare without it; its note goes, too"
TO_EXPLORE = "Add another on Explore"
EACH_ITS_OWN = "Notion, region, split and runs are each option's own: open it on Explore."

# -------------------------------------------------------------------- the report

REPORT = "Report"
NOTHING_TO_REPORT = "A report is on settings that somebody kept, and on no others."
QUESTION, QUESTION_TIP = (
    "The question to be decided",
    "It stands on top of the report and in the review file.",
)
REPORT_HTML, REPORT_PDF = "Report (HTML)", "Report (PDF)"
REVIEW_FILE = "Review file (JSON)"
REVIEW_TIP = (
    "Options, notes and question, to be opened here again. From a shell the same file gives the "
    "same numbers: fairfl review FILE --out report.pdf, with --rows TABLE where the people are "
    "uploaded ones."
)
OF_OPTION = "Files of option"
LOAD = "Open a file"
LOAD_TIP = "A fairfl-review/1 file: its options, notes and question take the place of those here."

# -------------------------------------------------------------------- files

MODEL_CARD = "Model card (HTML)"
PREDICTOR, CLIENTS = "Predictor (JSON)", "Clients (CSV)"
MAKE_STUDY, STUDY = "Make one file that still moves", "Study (HTML), ready"
MAKE_STUDY_TIP = "This screen at every pair of limits, solved now: it needs no server later."
MAKING_STUDY = "Solving every pair of limits"
POLICY = "Policy (TOML)"


def decision(sentence: str) -> str:
    """Which option is recommended, if any; as HTML, in which names are only text."""
    return f'<p class="fairfl-sentence" aria-live="polite"><b>{escape(sentence)}</b></p>'


NOTE_ON = "Notes on {}"


PROOF, PROVING = "Proof", "Proving in fractions"
PROOF_TIP = (
    "Exact arithmetic, by a script without dependencies: every limit is kept on the fitted people of "
    "the first run, and no lottery of the region is better. Check it yourself: `fairfl verify`."
)


def proof(
    letter: str, failed: list[str], figures: dict[str, Any], guarantee: Guarantee | None
) -> str:
    """Whether an option is proved optimal."""
    if failed:
        return f"**{letter}** not proved: {failed[0]}."
    fingerprint = figures["fingerprint"][:16]
    shrunk = " on shrunk rates" if figures["rates"] == "shrunk" else ""
    given = ", the confidence's margins as given" if guarantee else ""
    return (
        f"**{letter}** ● proved optimal: {figures['limits']} limits kept{shrunk}{given}, bound − reached = "
        f"{max(figures['gap'], 0.0):.0e}. Fingerprint `{fingerprint}`."
    )
