"""The model card of a view, as a file to take along."""

from pathlib import Path

from fairfl_core.report.model_card import card_of_result
from pages.compare.review import result_of
from pages.shared import own_data
from pages.shared.catalogue import experiment_of
from pages.shared.view import View

APPLY = Path(__file__).resolve().parents[2] / "docs" / "apply_predictor.py"


def model_card(view: View, link: str = "") -> str:
    """One HTML file that stands alone."""
    only_ours = view.answers_by_scores and view.policy.without_group  # rules that only we apply
    code = "" if only_ours else APPLY.read_text(encoding="utf-8")
    return card_of_result(result_of(view), data=_data(view), link=link, code=code).write("html")


def _data(view: View) -> tuple[str, ...]:
    """What intake said of an uploaded set; where a bundled one comes from."""
    if own_data.is_own(view.experiment):
        checks = own_data.find(view.experiment).intake.checks
        return tuple(check.sentence for check in checks)
    dataset = experiment_of(view.data).manifest["dataset"]
    return (f"{dataset['source']}, {dataset['licence']}.",)
