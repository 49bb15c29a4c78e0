"""What the page Your data says."""

import shlex
from collections.abc import Sequence

from fairfl_core.intake import Check, ColumnRoles
from fairfl_core.people.score_columns import columns_by_name
from pages.shared import text as shared
from pages.shared.outside_text import plain

# Parts of the page, as they are named where one fails.
UPLOAD, HEADLINE, CHECKS = "The upload", "The headline", "The checks"
TAKE_ALONG = "What to take along"

TITLE = "#### Bring your model's predictions and leave with a fair predictor."
PROMISE = (
    "Your file stays in the memory of this server, for this session only: it is not written to "
    "disk, no other visitor can see it, and it is gone when you close the page or bring another. "
    "With counts, no record of a person leaves your clients at all."
)
ANOTHER_CHOSEN = "#### Your set is here, but the sidebar shows another experiment."
CHOOSE_YOURS = "Choose your set"
ANOTHER_SET, REMOVE = "Bring another set, or remove this one", "Remove this set now"
ONLY_COUNTS = f"**{shared.NO_CHECK.capitalize()}**: there are only counts."
LINKS = {
    "pages/explore.py": "See the map and every client's gap",
    "pages/clients.py": "One client at a time",
    "pages/privacy.py": "What noise would do",
}
CHECKS_TITLE = "#### Before you trust a number"
PEOPLE_TABLE = "People by client and group"
TRAVELLED, TRAVELLED_TABLE = "What travelled", "What travelled in the run, message by message"
RUN_PREDICTOR = "The predictor that the run handed out"
TRAVELLED_COLUMNS = ("time (UTC)", "way", "message", "bytes", "purpose", "tables in it")
TAKE_ALONG_TITLE = "#### Take it along"
WHAT_IS_WHAT = (
    "The **predictor** is what you deploy. The **model card** says what was requested, reached "
    "and held out. The **report** is to show."
)
PREDICTOR_FILE, CARD_FILE = "Fair predictor (JSON)", "Model card (HTML)"
REPORT_FILE = "Full report (HTML)"
AT_A_CLIENT = "**At a client**, from a shell:"
ONLY_THE_PACKAGE = (
    "Without the group the exact region answers by bins of the score: only the package does."
)
ANY_PYTHON = "or in any Python, without a package:"

# Bringing a set.
KIND = "What do you bring?"
KINDS = {"table": "A table of predictions", "counts": "Counts only"}
TAKE_IN, READING = "Take it in and check it", "Reading, splitting and counting"
TABLE_FILE = (
    "CSV or Parquet, one row a person: client, group, true label, the model's answer, its scores or "
    "one probability"
)
NOTHING_AT_HAND = (
    "**Nothing at hand?** 2,100 made-up people in five hospitals, as one model answers them or "
    "cross-fitted:"
)
TRY_EXAMPLE, EXAMPLE_FILE = "Try it with the example", "Example table (CSV)"
FOLDS_FILE = "Cross-fitted (CSV)"
WHICH_COLUMN = "**Which column is what?** Guessed from the names; please confirm."
CLIENT, CLIENT_TIP = "Client", "The hospital, site or state: one that trains with the others."
GROUP, GROUP_TIP = "Group", "What fairness compares, like sex or race."
CROSSED, CROSSED_TIP = (
    "Crossed with",
    "More columns of the group: every combination that somebody has, like “woman · Black”, is then "
    "a group of its own.",
)
LABEL, SPLIT = "True label", "Split"
SPLIT_TIP = (
    "A column that says validation (or fit) or test; without one, half of each client's people "
    "are set aside with a fixed seed."
)
NO_SPLIT = "none: split inside each client"
FOLD, NO_FOLD = "Fold", "none: one model"
FOLD_TIP = (
    "Of cross-fitted predictions: the fold whose model, which never saw the person, gave the row. "
    "People of split fit have one row, test people one of every fold. More people then stand "
    "behind each limit."
)
ROW_ID, NO_ROW_ID = "Row id", "none"
ROW_ID_TIP = (
    "Names the person inside a client: the same person then always gets the same answer. With "
    "folds it pairs a test person's rows."
)
CHOOSE = "Choose a column"
GIVEN = "The model gave"
GIVEN_AS = {
    "answer": "its answer",
    "scores": "a score for each label",
    "probability": "one probability",
}
SCORES_ARE = "The scores are"
SCORES_TIP = (
    "Probabilities of a person sum to one. Logits are turned into probabilities by a softmax, "
    "votes by each label's share of them."
)
PROBABILITY, PROBABILITY_OF = "Probability", "It is the probability of"
THRESHOLD = "The model answers it from"
THRESHOLD_TIP = "The threshold that the model's answers used: 0.5 unless someone chose another."
FAVOURABLE, FAVOURABLE_TIP = "Favourable label", "The good outcome; equal opportunity looks at it."
ANSWER = "The model's answer"
MODELS, NO_MODELS = "Other models to compare with it", "none"
MODELS_TIP = (
    "Columns of further models' answers or, where there are two labels, of their probability of the "
    "favourable one. Each is drawn beside the first: accuracy against the gap on unseen people."
)
JOIN = "Join names that differ only in case or spaces"
JOIN_TIP = "The predictor then knows only the joined name: write it so when you apply it."
COUNTS_FILES = (
    "`fairfl-counts/1` files: one for all clients, or one a client; or the `result.json` of a "
    "federation's run"
)
COUNTS_AT_HOME = "**No private record leaves a client**: each makes its counts at home."
COUNTS_EXAMPLES = "Examples, of made-up people; upload both to see them merged:"
COUNT_COMMAND = """\
fairfl count rows.csv --client hospital --group sex --label diagnosis \\
    --prediction prediction --labels healthy,ill --groups man,woman --out counts.json
fairfl privatize counts.json --epsilon 1 --out noisy.json   # if noise is wanted"""

WITHOUT_ID = (
    "# The table has no id column: each run draws anew. With --row-id COLUMN the same person "
    "always\n# gets the same answer."
)
_USUAL = ColumnRoles("hospital", "sex", "diagnosis", "prediction", row_id="patient")


def refused(why: str) -> str:
    """Why something is not taken."""
    return plain(f"Not taken: {why}", longest=700)


def score_of(label: str) -> str:
    """The label of a select box for a score."""
    return f"Score of “{plain(label, 30)}”"


def checks(of: Sequence[Check]) -> str:
    """What intake found, what needs a look first."""
    ordered = sorted(of, key=lambda check: not check.look)
    return "\n".join(
        f"- {'**Look:** ' if check.look else ''}{plain(check.sentence, longest=900)}"
        for check in ordered
    )


def way(of: str, whom: str) -> str:
    """Which way a message went, as the server's log tells it."""
    return f"to {whom}" if of == "sent" else f"from {whom}"


def people_of_group(group: str) -> str:
    """A column of the table of people."""
    return f"group {group}"


def predict_command(columns: ColumnRoles | None, file: str, folds: int) -> str:
    """The command that applies the predictor, with the columns' own names."""
    columns = columns or _USUAL
    names = {"client": columns.client, "group": ",".join(columns.group_columns)}
    names |= _looked_at(columns, folds)
    names |= {"fold": columns.fold} if columns.fold else {}
    names |= {"row-id": columns.row_id} if columns.row_id else {}
    options = " ".join(f"--{name} {shlex.quote(value)}" for name, value in names.items())
    command = f"fairfl predict {file} new-rows.csv {options} --out fair.csv"
    return command if columns.row_id else f"{command}\n{WITHOUT_ID}"


def _looked_at(columns: ColumnRoles, folds: int) -> dict[str, str]:
    """The options that say what the model gave, as the table has it."""
    if columns.probability:
        threshold = {} if columns.threshold == 0.5 else {"threshold": f"{columns.threshold:g}"}
        of = {"probability": columns.probability, "probability-of": columns.probability_of}
        return of | threshold
    if columns.scores:
        labels, names = zip(*columns.scores, strict=True)
        scores = {"scores": ",".join(names)}
        if columns_by_name(names, labels) is None:
            scores["labels"] = ",".join(labels)
        usual = columns.scores_are == _USUAL.scores_are
        return scores if usual else scores | {"scores-are": columns.scores_are}
    answer = columns.prediction or _USUAL.prediction
    if folds > 1 and not columns.fold:
        answer = ",".join(f"{answer}_{fold}" for fold in range(folds))
    return {"prediction": answer}
