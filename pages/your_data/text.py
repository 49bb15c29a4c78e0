"""What the page Your data says."""

import shlex
from collections.abc import Mapping, Sequence

from fairfl_core._io import numbers as format
from fairfl_core._io.names import plain
from fairfl_core.data.score_columns import columns_by_name
from fairfl_core.evaluation.methods import MODEL_GAPS, ModelSetting
from fairfl_core.intake import Check, ColumnRoles

TITLE = "#### Bring your model's predictions, then explore them"
STEPS = ("**1 · File**", "**2 · Columns**", "**3 · Check**")
# A part of the page, as it is named where it fails.
PICTURE = "The picture"

# -------------------------------------------------------------------- 1, the file
KIND = "What do you bring?"
KINDS = {"table": "Table", "counts": "Counts only"}
TABLE_FILE = "CSV or Parquet, one row a person"
COUNTS_FILES = "Counts (JSON), one file or one a client; or a federation's result.json"
NEEDED = "What is needed?"
NEEDED_TABLE = """\
One row a person, with columns for

- the **client**: hospital, site, state
- the **group** that fairness compares: sex, race
- the **true label**
- what the **model** gave: its answer, a score for each label, or one probability

If there are any: split (fit or test), fold of cross-fitted predictions, row id, further models."""
NEEDED_COUNTS = """\
No record leaves a client: each counts at home, and adds noise if it wants to."""
COUNT_COMMAND = """\
fairfl count rows.csv --client hospital --group sex --label diagnosis \\
    --prediction prediction --labels healthy,ill --groups man,woman --out counts.json
fairfl privatize counts.json --epsilon 1 --out noisy.json   # if noise is wanted"""
EXAMPLES = "Made-up people in five hospitals, to look at or to upload:"
EXAMPLE_FILE, FOLDS_FILE = "Example (CSV)", "Example, cross-fitted (CSV)"
TRY_EXAMPLE = "Try the example"
PRIVATE = "Who sees it?"
PROMISE = (
    "Only this session: no other visitor can see it, and no link leads to it. **Remove** lets go of "
    "the set and all that was computed from it. The file goes at once when you take it out with ×, "
    "else after you have closed the page, when the server next ends sessions. While it is sent, a "
    "file above 1 MB passes through a temporary file of the server. With counts, no record of a "
    "person leaves your clients at all."
)
REMOVE = "Remove"

# -------------------------------------------------------------------- 2, the columns
NO_FILE_YET = "Guessed from the file's first rows; you confirm."
CHOOSE = "Choose a column"
CLIENT, CLIENT_TIP = "Client", "The hospital, site or state: one that trains with the others."
GROUP, GROUP_TIP = "Group", "What fairness compares, like sex or race."
LABEL = "True label"
FAVOURABLE, FAVOURABLE_TIP = "Favourable label", "The good outcome; equal opportunity looks at it."
GIVEN = "The model gave"
GIVEN_AS = {
    "answer": "its answer",
    "scores": "a score for each label",
    "probability": "one probability",
}
ANSWER = "The model's answer"
SCORES_ARE = "The scores are"
SCORES_TIP = (
    "Probabilities of a person sum to one. Logits are turned into probabilities by a softmax, "
    "votes by each label's share of them."
)
PROBABILITY, PROBABILITY_OF = "Probability", "It is the probability of"
THRESHOLD = "The model answers it from"
THRESHOLD_TIP = "The threshold that the model's answers used: 0.5 unless someone chose another."
MORE = "More columns"
CROSSED, CROSSED_TIP = (
    "Group crossed with",
    "More columns of the group: every combination that somebody has, like “woman · Black”, is then "
    "a group of its own.",
)
SPLIT, NO_SPLIT = "Split", "none: split inside each client"
SPLIT_TIP = (
    "A column that says validation (or fit) or test; without one, half of each client's people "
    "are set aside with a fixed seed."
)
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
MODELS, NO_MODELS = "Other models to compare with it", "none"
MODELS_TIP = (
    "Columns of further models' answers or, where there are two labels, of their probability of the "
    "favourable one. Each is drawn beside the first: accuracy against the gap on new people."
)
JOIN = "Join names that differ only in case or spaces"
JOIN_TIP = "The predictor then knows only the joined name: write it so when you apply it."
NO_COLUMNS = "Counts have no columns."

# -------------------------------------------------------------------- 3, the check
NOTHING_YET = "What to know before you trust a number."
CHECK, READING = "Check", "Reading, splitting and counting"
TRUST = "**Before you trust a number**"
EVERY_CHECK = "All checks ({})"
OPEN = "Open in Explore"
WATCH = "After the decision: watch month by month"
MOST_SHOWN = 2  # sentences that need a look; the others stand with all checks

# -------------------------------------------------------------------- details
TRAVELLED = "What travelled in the run, message by message"
TRAVELLED_COLUMNS = ("time (UTC)", "way", "message", "bytes", "purpose", "tables in it")
RUN_PREDICTOR = "The predictor that the run handed out"
APPLY = "Apply the fair predictor at a client"
PREDICTOR_FILE, SCRIPT_FILE = "Fair predictor (JSON)", "Without a package (Python)"
AT_A_CLIENT = "With the limits that Explore shows. From a shell, where the package is installed:"
ONLY_THE_PACKAGE = (
    "Without the group the exact region answers by bins of the score: only the package does."
)
WITHOUT_ID = (
    "# The table has no id column: each run draws anew. With --row-id COLUMN the same person "
    "always\n# gets the same answer."
)
_USUAL = ColumnRoles("hospital", "sex", "diagnosis", "prediction", row_id="patient")


def here_now(title: str) -> str:
    """Which set this session holds."""
    return f"Here now: {plain(title.removeprefix('Your data: '))}"


def columns_read(roles: ColumnRoles) -> str:
    """Which columns were read as what, one line each."""
    model = (
        roles.prediction or roles.probability or ", ".join(column for _, column in roles.scores)
    )
    read = {
        CLIENT: roles.client,
        GROUP: " × ".join(roles.group_columns),
        LABEL: roles.label,
        GIVEN: model,
    }
    return "\n".join(f"- {name}: **{plain(column)}**" for name, column in read.items())


def further(roles: ColumnRoles) -> str:
    """Which of the further columns are in use; they are chosen behind a button."""
    used = {
        CROSSED: ", ".join(roles.crossed_with),
        SPLIT: roles.split,
        FOLD: roles.fold,
        ROW_ID: roles.row_id,
        "Other models": ", ".join(roles.models),
    }
    return " · ".join(f"{name}: {plain(column)}" for name, column in used.items() if column)


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


def first_checks(of: Sequence[Check]) -> str:
    """What needs a look, and what was read: the least to know."""
    look = [check for check in of if check.look]
    read = [check for check in of if not check.look][:1]
    return checks([*look[:MOST_SHOWN], *read])


def people(*, noise: bool) -> str:
    """What the picture counts; noised counts are no people."""
    return "Noised counts" if noise else "People"


def people_title(clients: int, shown: int, *, noise: bool) -> str:
    """The title of the picture of who is in the set."""
    of = "" if shown == clients else f", the {shown} largest of {clients:,}"
    return f"{people(noise=noise)} by client and group{of}"


WAYS = {"sent": "to {}", "received": "from {}"}  # as the server's log tells it
OF_GROUP = "group {}"


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


# -------------------------------------------------------------------- several models

MODELS_TITLE = "Your models side by side"
GAP, AT = "Gap", "Compare at a gap of at most"
AXIS_GAP = "gap on new people, {}"
AXIS_ACCURACY = "accuracy on new people (%)"
AS_IT_IS = "as it is"
HOVER = "%{customdata[0]}<br>limit: %{customdata[1]}<br>gap %{x:.3f}, %{y:.1f} %<extra></extra>"


def limit(setting: ModelSetting) -> str:
    """Under which limit a setting stands."""
    return AS_IT_IS if setting.epsilon is None else f"{setting.epsilon:g}"


def headline(
    best: Mapping[str, ModelSetting | None], which: str, gap: float, *, overlap: bool
) -> str:
    """Who is how accurate at a gap, the most accurate first, and whether that is certain."""
    there = sorted(
        (one for one in best.values() if one is not None), key=lambda one: -one.evaluation.accuracy
    )
    not_there = [f"“{plain(name)}”" for name, one in best.items() if one is None]
    words = [f"At a gap of at most {gap:g} ({MODEL_GAPS[which]}, new people):"]
    parts = [f"**“{plain(one.model)}” is right for {_accuracy(one)}**" for one in there[:1]]
    parts += [f"“{plain(one.model)}” for {_accuracy(one)}" for one in there[1:]]
    parts += [f"{name} does not reach this gap" for name in not_there]
    words.append("; ".join(parts) + ".")
    if overlap:
        n = f"{there[0].unseen:,.0f}"
        words.append(
            f"Some of these intervals overlap: {n} new people are too few to rank them all."
        )
    return " ".join(words)


def _accuracy(setting: ModelSetting) -> str:
    low, high = (format.percent(limit) for limit in setting.evaluation.accuracy_interval)
    return f"{format.percent(setting.evaluation.accuracy)} ({low} to {high})"


def reading(models: Sequence[Sequence[ModelSetting]], which: str) -> str:
    """How to read the picture: who was fitted on, who was judged, what the bars are."""
    first = models[0][0]
    return (
        f"Accuracy against the gap ({MODEL_GAPS[which]}) of {first.unseen:,.0f} new people, the same "
        f"for every model; each was made fair on {first.fitted:,.0f} others. Bars are 95 % "
        "intervals. Up and to the left is better."
    )
