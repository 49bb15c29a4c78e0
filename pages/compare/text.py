"""What the Review page says."""

from pages.shared.outside_text import plain

# Parts of the page, as they are named where one fails.
SIDE_BY_SIDE, PICTURE, LOADING = "The options side by side", "The picture", "The review file"

TITLE = "#### Up to four settings side by side, for people to decide between"
NOTHING_KEPT = (
    "Nothing is kept yet. On **Explore**, set the limits and press **Keep as an option**; up to four "
    "settings of the same people are then compared here, noted on, and taken into the report."
)
TO_EXPLORE = "Go to Explore"
QUESTION, QUESTION_TIP = (
    "The question that is to be decided",
    "It stands on top of the report and in the review file.",
)
NOTE = "Notes of the reviewers"
USE, LET_GO = "Set it", "Let it go"
FIRST = (
    "Option A is under review; the report recommends one of all, or none, by harm, limits and "
    "cost."
)
PICTURE_READING = (
    "**Gaps of the options on unseen people**: circles overall, squares in the worst client, bars "
    "95 % intervals. The accuracy stands beside the name."
)
TAKE = "**Take along**"
HTML_FILE, PDF_FILE = "Report on the options (HTML)", "Report on the options (PDF)"
REVIEW_FILE = "Review (fairfl-review/1)"
LOAD, LOAD_TIP = (
    "Load a review file",
    "A fairfl-review/1 file: its options, notes and question take the place of those here.",
)
SHELL = (
    "From a shell the same file gives the same numbers: `fairfl review FILE --out report.pdf`, with "
    "`--rows TABLE` where the people are uploaded ones: the review holds the table's fingerprint "
    "and how it was read, never the table."
)
AXIS_GAP = "gap between groups<br>on unseen people (difference of rates)"
OVERALL, WORST = "overall gap", "worst client's gap"


def heading(name: str, *, recommended: bool) -> str:
    """An option's heading."""
    return f"**{plain(name)}**" + (" :blue-badge[recommended]" if recommended else "")


def decision(sentence: str) -> str:
    """Which option the rule prefers, if any."""
    return f"**{plain(sentence, 300)}**"


def why(reasons: tuple[str, ...]) -> str:
    """Why, line by line."""
    return "\n".join(f"- {plain(reason, 600)}" for reason in reasons)


def refused(why_not: str) -> str:
    """A file that is not taken."""
    return plain(f"Not taken: {why_not}", longest=700)


# -------------------------------------------------------------------- files

REPORT_HTML, REPORT_PDF, MODEL_CARD = "Report (HTML)", "Report (PDF)", "Model card (HTML)"
PREDICTOR, CLIENTS = "Predictor (JSON)", "Clients (CSV)"
