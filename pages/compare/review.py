"""Options of a review: from views and back, solved by what the pages have solved already."""

from collections.abc import Sequence
from dataclasses import replace

from fairfl_core.errors import InputError
from fairfl_core.intake import Reading
from fairfl_core.review import UPLOADED, Board, Option, Result, Review, board_of
from fairfl_core.review import text as words
from pages.shared import own_data, state
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.results import study_of, summary_of
from pages.shared.view import View, read_view, write_view

__all__ = ["board_for", "option_of", "review_of", "view_of"]

LETTERS = "ABCD"


def option_of(view: View, name: str, note: str = "") -> Option:
    """A view as an option; an uploaded set goes by the hash of its file alone."""
    own = own_data.is_own(view.experiment)
    return Option(
        name=name,
        experiment=UPLOADED if own else view.experiment,
        data=UPLOADED if own else view.data,
        sha256=experiment_of(view.data).manifest["scores"]["sha256"],
        notion=view.notion,
        region=view.region,
        rates=view.rates,
        seeds=view.seeds,
        eps_global=view.eps_global,
        eps_local=view.eps_local,
        own_limits=view.own_limits,
        guarantee=view.guarantee,
        policy=view.policy,
        note=note,
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


_SHARED = (
    *("notion", "region", "rates", "seeds", "eps_global", "eps_local"),
    *("own_limits", "guarantee", "policy"),
)


def review_of(views: Sequence[View], question: str) -> Review:
    """Kept views as a review, with their notes."""
    notes = state.notes()
    options = [
        option_of(view, LETTERS[place], notes.get(view, "")) for place, view in enumerate(views)
    ]
    held = own_data.current()
    own = held is not None and any(option.data == UPLOADED for option in options)
    return Review(question, tuple(options), held.intake.reading if held and own else None)


def board_for(review: Review, now: View, link: str = "") -> Board:
    """What is told of a review; of the view set now alone, where nothing is kept."""
    options = review.options or (option_of(now, words.AS_SET),)

    def solve(option: Option) -> Result:
        fields = {name: getattr(option, name) for name in _SHARED}
        view = replace(now, **fields)
        if option.data != UPLOADED:
            view = replace(view, data=option.data)
        return Result(option, study_of(view), summary_of(view), experiment_of(view.data))

    return board_of([solve(one) for one in options], solve, question=review.question, link=link)
