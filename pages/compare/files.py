"""A view as an option, a report, a model card, a study: what Compare and Explore give as files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from fairfl_core.errors import FairflError, InputError
from fairfl_core.explore.file import LIMITS, About, KeptOption, explore_file
from fairfl_core.intake import Reading
from fairfl_core.report.board import Board, board_of, rests_on
from fairfl_core.report.model_card import card_of_result
from fairfl_core.report.review import UPLOADED, Option, Result, Review
from fairfl_core.report.text import noun_of, titles
from pages.compare import text
from pages.shared import own_data, state
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.results import (
    COARSE,
    clients_of,
    is_dear,
    predictor_of,
    programs_of,
    study_of,
    summary_of,
    unseen_of,
)
from pages.shared.view import NO_LIMIT, View, policy_file_of, read_view, write_view
from pages.shared.widgets import csv_for_people, download, progress

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

    `reading` is how the uploaded file was read that the option is of, where it is known.
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


def predictor_json(view: View, link: str = "") -> str:
    """The fair predictor of the first chosen run, as `fairfl-predictor/1`."""
    return json.dumps(predictor_of(view).to_json(), ensure_ascii=False)


def clients_csv(view: View, link: str = "") -> str:
    """The clients' table."""
    return csv_for_people(clients_of(view))


def policy_toml(view: View, link: str = "") -> str:
    """What the view asks for, as `fairfl-policy/1`."""
    return policy_file_of(view).to_toml()


TAKE_ALONG: tuple[tuple[str, Callable[[View, str], str], str], ...] = (
    (text.MODEL_CARD, model_card, "fairfl-model-card.html"),
    (text.PREDICTOR, predictor_json, "fairfl-predictor.json"),
    (text.CLIENTS, clients_csv, "fairfl-clients.csv"),
    (text.POLICY, policy_toml, "policy.toml"),
)


def take_along(view: View, key: str, link: str = "") -> None:
    """Draw one button a file; a setting that cannot be solved gives a file that says why."""

    def made(make: Callable[[View, str], str]) -> str:
        try:
            return make(view, link)
        except FairflError as error:
            return str(error)

    for label, make, file in TAKE_ALONG:
        download(label, partial(made, make), file, f"{key}-{file}", width="stretch")
    _study(view, key)


_MADE = "study-file"  # in the session: the view, what was kept, and the file made of them


def _study(view: View, key: str) -> None:
    """Draw the button that makes the file, then the one that takes it along."""
    kept = tuple(state.options())
    made = st.session_state.get(_MADE)
    if made is not None and made[:2] == (view, kept):
        html = made[2]
    elif st.button(text.MAKE_STUDY, key=f"{key}-make-study", help=text.MAKE_STUDY_TIP):
        with progress(text.MAKING_STUDY) as on_progress:
            html = study_html(view, kept, on_progress)
        st.session_state[_MADE] = (view, kept, html)
    else:
        return
    download(text.STUDY, html, "fairfl-study.html", f"{key}-study", type="primary")


def study_html(
    view: View,
    kept: Sequence[View],
    on_progress: Callable[[float], None] | None = None,
    limits: Sequence[float] | None = None,
) -> str:
    """The file of a view; unless given a coarser grid and one run where every solve takes long.

    Every client gets the same limit in it. Of the settings kept those are in it that differ from
    the view in their limits alone.
    """
    dear = is_dear(view)
    one = replace(view.of_seed(view.seeds[0]) if dear else view, own_limits=())
    experiment = experiment_of(view.data)
    result = result_of(one)
    noun = noun_of(experiment)
    beside = [
        (letter, other)
        for letter, other in zip(LETTERS, kept, strict=False)
        if replace(other, eps_global=view.eps_global, eps_local=view.eps_local) == view
    ]
    named = (
        titles([result_of(other, letter).option for letter, other in beside], noun)
        if beside
        else []
    )
    about = About(
        title=experiment.manifest["title"],
        noun=noun,
        rests=rests_on(result),
        start=(view.eps_global, view.eps_local),
        kept=[
            KeptOption(letter, title, (other.eps_global, other.eps_local))
            for (letter, other), title in zip(beside, named, strict=True)
        ],
    )
    return explore_file(
        about,
        list(zip(one.seeds, programs_of(one), strict=True)),
        [unseen_of(one, seed) for seed in one.seeds],
        limits=limits or ((*COARSE, NO_LIMIT) if dear else LIMITS),
        on_progress=None if on_progress is None else lambda done, of: on_progress(done / of),
    )
