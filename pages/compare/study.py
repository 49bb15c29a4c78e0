"""The Explore screen of a setting as one HTML file, made where somebody asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from fairfl_core.explore.file import LIMITS, About, KeptOption, explore_file
from fairfl_core.report.board import rests_on
from fairfl_core.report.text import WORDS, noun_of, titles
from pages.compare import text
from pages.compare.review import LETTERS, result_of
from pages.shared import state
from pages.shared.catalogue import experiment_of
from pages.shared.charts import progress
from pages.shared.results import COARSE, is_dear, programs_of, unseen_of
from pages.shared.view import NO_LIMIT, View

_MADE = "study-file"  # in the session: the view, what was kept, and the file made of them


def offer_study(view: View, key: str) -> None:
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
    st.download_button(
        text.STUDY,
        html,
        file_name="fairfl-study.html",
        mime="text/html",
        key=f"{key}-study",
        on_click="ignore",
        type="primary",
    )


def study_html(
    view: View,
    kept: Sequence[View],
    on_progress: Callable[[float], None] | None = None,
    limits: Sequence[float] | None = None,
) -> str:
    """The file of a view; unless told a coarser grid and one run where every solve takes long.

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
        words=WORDS,
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
