"""Options of a review: from views and back, solved by what the pages have solved already."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fairfl_core.errors import InputError
from fairfl_core.intake import Reading
from fairfl_core.report import UPLOADED, Board, Option, Result, Review, board_of
from pages.shared import own_data
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.results import study_of, summary_of
from pages.shared.view import NO_LIMIT, View, read_view, write_view

LETTERS = "ABCD"
START = 0.05  # the limit of the options that are shown before any is kept
_SHARED = (
    *("notion", "region", "rates", "seeds", "eps_global", "eps_local"),
    *("own_limits", "guarantee", "policy"),
)


def starting_options(view: View) -> tuple[View, View]:
    """What is compared before anything is kept: a limit inside clients, and the same in both."""
    inside = replace(view, eps_global=NO_LIMIT, eps_local=START, own_limits=())
    return inside, replace(inside, eps_global=START)


def board_for(
    views: Sequence[View],
    *,
    question: str = "",
    notes: Mapping[View, str] | None = None,
    link: str = "",
) -> Board:
    """Compare some views, in their order, with the model as it is."""
    words = notes or {}
    results = [
        result_of(view, name, words.get(view, ""))
        for name, view in zip(LETTERS, views, strict=False)
    ]
    return board_of(results, question=question, link=link)


def result_of(view: View, name: str = "A", note: str = "") -> Result:
    """A view solved and judged, as an option."""
    option = option_of(view, name, note)
    return Result(option, study_of(view), summary_of(view), experiment_of(view.data))


def option_of(view: View, name: str, note: str = "") -> Option:
    """A view as an option; an uploaded set goes by the hash of its file alone."""
    own = own_data.is_own(view.experiment)
    return Option(
        name=name,
        experiment=UPLOADED if own else view.experiment,
        data=UPLOADED if own else view.data,
        sha256=experiment_of(view.data).manifest["scores"]["sha256"],
        note=note,
        **{field: getattr(view, field) for field in _SHARED},
    )


def view_of(option: Option, reading: Reading | None = None) -> View:
    """The view of an option, where its people are here; refuses with what is missing.

    `reading` tells how the uploaded file was read that the option is of, where it is told.
    """
    experiment, data = option.experiment, option.data
    if option.experiment == UPLOADED:
        held = own_data.current()
        if held is None:
            raise InputError("the review is of an uploaded table; bring that on Your data first.")
        if reading not in (None, held.intake.reading):
            raise InputError(
                "the uploaded table was read otherwise for the review (columns, the favourable "
                "label or joined names); bring it on Your data as it was."
            )
        experiment = data = held.name
    if experiment not in catalogue().names:
        raise InputError(f'there is no experiment "{experiment}" here; the review is of it.')
    if experiment_of(data).manifest["scores"]["sha256"] != option.sha256:
        raise InputError(
            f"option {option.name} is of other data of that name (sha256 differs); open the review "
            "beside the data it was made with."
        )
    fields = {name: getattr(option, name) for name in _SHARED}
    view = View(experiment=experiment, data=data, **fields)
    again, ignored = read_view(
        {name: text for name, text in write_view(view, catalogue()).items() if text}, catalogue()
    )
    if ignored or again != view:
        raise InputError(f"option {option.name} does not fit its data; correct or leave it out.")
    return view


def review_of(views: Sequence[View], question: str, notes: Mapping[View, str]) -> Review:
    """Kept views as a review, with their notes."""
    options = tuple(
        option_of(view, name, notes.get(view, ""))
        for name, view in zip(LETTERS, views, strict=False)
    )
    held = own_data.current()
    own = held is not None and any(option.data == UPLOADED for option in options)
    return Review(question, options, held.intake.reading if held and own else None)
