"""What is said of a visitor's models side by side."""

from collections.abc import Mapping, Sequence

from fairfl_core._io import numbers as format
from fairfl_core.evaluation.own_models import MODEL_GAPS, ModelSetting
from pages.shared.outside_text import plain

PART, TITLE = "Your models side by side", "#### Your models side by side"
GAP, AT = "Gap", "Compare at a gap of at most"
AXIS_ACCURACY = "accuracy on unseen people (%)"
AS_IT_IS = "as it is"
HOVER = "%{customdata[0]}<br>limit: %{customdata[1]}<br>gap %{x:.3f}, %{y:.2f} %<extra></extra>"
HEADINGS = {
    "model": "model",
    "region": "region",
    "epsilon": "limit of every gap",
    "fitted": "fitted on (n)",
    "unseen": "unseen (n)",
    "accuracy": "accuracy",
    "accuracy_low": "95 % from",
    "accuracy_high": "95 % to",
    "gap_global": "gap, overall",
    "gap_global_low": "gap 95 % from",
    "gap_global_high": "gap 95 % to",
    "gap_local_mean": "gap, mean client",
    "gap_local_worst": "gap, worst client",
}


def gap_choice(which: str) -> str:
    """A gap in the select box."""
    return MODEL_GAPS[which].capitalize()


def axis_gap(which: str) -> str:
    """What the horizontal axis shows."""
    return f"gap on unseen people, {MODEL_GAPS[which]}"


def limit(setting: ModelSetting) -> str:
    """Under which limit a setting stands."""
    return AS_IT_IS if setting.epsilon is None else f"{setting.epsilon:g}"


def headline(
    best: Mapping[str, ModelSetting | None], which: str, gap: float, *, overlap: bool
) -> str:
    """Who is how accurate at a gap, the most accurate first, and whether that can be told."""
    there = sorted(
        (one for one in best.values() if one is not None), key=lambda one: -one.evaluation.accuracy
    )
    never = [f"“{plain(name)}”" for name, one in best.items() if one is None]
    said = [f"At a gap of at most {format.gap(gap)} ({MODEL_GAPS[which]}, unseen people):"]
    parts = [f"**“{plain(one.model)}” is right for {_accuracy(one)}**" for one in there[:1]]
    parts += [f"“{plain(one.model)}” for {_accuracy(one)}" for one in there[1:]]
    parts += [f"{name} never gets there" for name in never]
    said.append("; ".join(parts) + ".")
    if overlap:
        people = f"{there[0].unseen:,.0f}"
        said.append(
            f"Some of these limits overlap: {people} unseen people are too few to rank them all."
        )
    return " ".join(said)


def _accuracy(setting: ModelSetting) -> str:
    low, high = (format.percent(limit) for limit in setting.evaluation.accuracy_interval)
    return f"{format.percent(setting.evaluation.accuracy)} ({low} to {high})"


def reading(models: Sequence[Sequence[ModelSetting]], which: str) -> str:
    """How to read the picture: who was fitted on, who was judged, what the bars are."""
    first = models[0][0]
    return (
        f"**Accuracy against the gap ({MODEL_GAPS[which]}) on {first.unseen:,.0f} unseen people**, "
        f"the same for every model; each was made fair on {first.fitted:,.0f} others. One line a "
        "model: its limits that none of its others beats, the model as it is among them; bars are "
        "95 % limits of the accuracy. Up and to the left is better."
    )
