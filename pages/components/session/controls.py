"""The widgets that pages share; each takes its value from `state` and gives it back."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from fairfl_core.fairness.notions import notion_names
from fairfl_core.people import experiments
from fairfl_core.solving.build import default_rates
from fairfl_core.solving.rate_estimates import RATES
from pages.components.session import own_data, state
from pages.components.shared import report, words
from pages.components.shared.results import GRID, Choice, experiment_of, has_scores, regions_of

__all__ = [
    "NO_LIMIT", "PRESETS", "START", "epsilon_control", "epsilons", "large_type", "move_to",
    "own_epsilons", "preset_buttons", "set_own_epsilon", "setting_of_the_moment", "sidebar",
]  # fmt: skip

NO_LIMIT = 1.0
START = {"eps_global": 0.01, "eps_local": 0.05}
PRESETS = {
    "No limit": (NO_LIMIT, NO_LIMIT),
    "Local only": (NO_LIMIT, 0.01),
    "Global only": (0.01, NO_LIMIT),
    "Both at 0.01": (0.01, 0.01),
}
ALL = "all"
STYLE = Path(__file__).parents[1] / "shared" / "style.css"


# -------------------------------------------------------------------- sidebar


def sidebar() -> Choice:
    """Which experiment, notion, region and seed: the same on every page."""
    _through_the_door()
    own_data.forget_uploads()
    st.html(STYLE)
    with st.sidebar:
        name = _select(
            "experiment",
            "Experiment",
            [*own_data.names(), *experiments.list_experiments()],
            lambda each: experiment_of(each).manifest["title"],
            after=_another_experiment,
        )
        experiment = experiment_of(name)
        st.caption(_about(experiment))
        paper = experiment.notion
        mark = "" if own_data.is_own(name) else " (the paper's)"
        notion = _select(
            "notion",
            "Fairness notion",
            notion_names(),
            lambda each: words.NOTIONS[each][0] + (mark if each == paper else ""),
            start=paper,
        )
        st.caption(words.NOTIONS[notion][1].format(favourable=words.plain(experiment.favourable)))
        region = _select(
            "region",
            "Region",
            regions_of(name, notion),
            lambda each: words.REGIONS[each][0],
            explain="What the lottery may mix. On the fitted people a larger region is never worse.",
            after=lambda: state.put("rates", default_rates(state.get("region", ""))),
        )
        st.caption(words.REGIONS[region][1])
        rates = "labels"
        if has_scores(name):
            rates = _select(
                "rates",
                "Rates",
                RATES,
                lambda each: (
                    words.RATES[each][0]
                    + (" (recommended)" if each == default_rates(region) else "")
                ),
                start=default_rates(region),
                explain="Where the program takes its rates from. What was reached and what held on "
                "unseen people is always counted by labels.",
            )
            st.caption(words.RATES[rates][1])
        runs = len(experiment.seeds)
        seed = _select(
            "seed",
            "Seed",
            [ALL, *(map(str, experiment.seeds) if runs > 1 else ())],
            lambda each: _run(each, runs),
            explain="Each run splits the people anew, trains anew and is solved on its own.",
        )
        large = state.get("large", False, lambda text: text == "True")
        st.toggle(
            "Large type",
            key=state.take_from("large", large),
            on_change=state.give_back,
            args=("large",),
            help="For a lecture hall.",
        )
        report.take_along(setting_of_the_moment(name, experiment))
    if large:
        st.html("<style>html { font-size: 20px; }</style>")
    linked = "" if own_data.is_own(name) else name  # a link cannot bring an uploaded set along
    state.write_link(
        {
            "experiment": linked,
            "notion": notion,
            "region": region,
            "rates": rates,
            "seed": seed,
            "large": large,
        }
    )
    return Choice(name, notion, region, _seeds(experiment, seed), rates)


def _run(seed: str, runs: int) -> str:
    if seed != ALL:
        return f"run {seed}"
    return f"all {runs} runs (mean)" if runs > 1 else "the only run"


def _through_the_door() -> None:
    """Make sure that app.py has run: it lays out the app.

    Seeing a folder called pages, Streamlit runs the first page ever asked of a server by itself,
    as it did before `st.navigation` was; from the second on it goes through app.py.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def setting_of_the_moment(
    name: str, experiment: experiments.Experiment
) -> Callable[[], report.Setting]:
    """A function that tells the setting when it is called, outside any run of the page.

    The sidebar is not re-run when a slider in a fragment moves, so the values are read late, from
    this session's own dictionary.
    """
    kept = state.kept()
    base = st.context.url or ""

    def now() -> report.Setting:
        chosen = Choice(
            name,
            kept["notion"],
            kept["region"],
            _seeds(experiment, kept["seed"]),
            kept.get("rates", "labels"),
        )
        own = _own_from(kept.get("own", ""), experiment.clients)
        eps = {each: kept.get(each, start) for each, start in START.items()}
        names = ("experiment", "notion", "region", "rates", "seed", "own", *START)
        link = report.link_to(base, state.link_of({each: kept.get(each) for each in names}))
        if own_data.is_own(name):
            link = "none: an uploaded set lives in one session only"
        return report.Setting(
            chosen, eps["eps_global"], eps["eps_local"], tuple(own.items()), link
        )

    return now


def _seeds(experiment: experiments.Experiment, seed: str) -> tuple[int, ...]:
    return tuple(experiment.seeds) if seed == ALL else (int(seed),)


def _select(
    name: str,
    label: str,
    options: Sequence[str],
    words_for: Callable[[str], str],
    *,
    start: str | None = None,
    explain: str | None = None,
    after: Callable[[], None] | None = None,
) -> str:
    """A select box over names; a value that is no option any more falls back to the start."""
    value = state.get(name, start or options[0])
    if value not in options:
        value = start if start in options else options[0]
        state.put(name, value)

    def moved() -> None:
        state.give_back(name)
        if after:
            after()

    st.selectbox(
        label,
        options,
        format_func=words_for,
        key=state.take_from(name, value),
        on_change=moved,
        help=explain,
    )
    return value


def _about(experiment: experiments.Experiment) -> str:
    dataset = experiment.manifest["dataset"]
    return words.plain(
        f"{words.count(dataset['rows_used'])} people in {len(experiment.clients)} clients; "
        f"{dataset['sample']}. Groups: {', '.join(experiment.groups)}.",
        longest=260,
    )


def _another_experiment() -> None:
    """Its own notion, all its seeds, no client's own epsilon, nothing pinned."""
    state.put("notion", experiment_of(state.get("experiment", "")).notion)
    state.put("seed", ALL)
    state.put("own", "")
    state.put("pinned", "")


def large_type() -> bool:
    """Whether letters are to be large."""
    return bool(state.get("large", False))


# -------------------------------------------------------------------- epsilons


def epsilons() -> tuple[float, float]:
    """Two tolerances, each by a slider and by an exact number."""
    left, right = st.columns(2)
    with left:
        eps_global = epsilon_control(
            "eps_global", "Gap allowed overall, ε0", "Between groups, all clients together."
        )
    with right:
        eps_local = epsilon_control(
            "eps_local", "Gap allowed inside each client, εc", "Between groups, in every client."
        )
    state.write_link({"eps_global": f"{eps_global:g}", "eps_local": f"{eps_local:g}"})
    return eps_global, eps_local


def epsilon_control(name: str, label: str, meaning: str, start: float | None = None) -> float:
    """A slider that is fine near zero, and a number beside it for any other value."""
    value = state.get(name, START.get(name, NO_LIMIT) if start is None else start, _tolerance)
    options = [*GRID, NO_LIMIT]
    nearest = min(options, key=lambda option: abs(option - value))
    shown = state.kept().setdefault(f"{name}_shown", [])
    shown[:] = [*shown[-9:], (nearest, value)]
    slider, number = st.columns([3, 1], vertical_alignment="bottom")
    slider.select_slider(
        label,
        options,
        format_func=words.epsilon,
        key=state.take_from(f"{name}_slider", nearest),
        help=meaning,
        on_change=_tolerance_moved,
        args=(name,),
    )
    number.number_input(
        f"{label}, as a number",
        0.0,
        1.0,
        step=0.005,
        format="%.4g",
        key=state.take_from(name, value),
        on_change=_tolerance_moved,
        args=(name,),
        label_visibility="collapsed",
    )
    return value


def _tolerance_moved(name: str) -> None:
    """Take what was moved, the slider or the number.

    While a page is being repainted the browser still holds the number of an earlier setting and
    sends it along with the slider's next move: such an echo is no wish of the visitor.
    """
    slider, number = (st.session_state[f"widget_{each}"] for each in (f"{name}_slider", name))
    shown = state.kept()[f"{name}_shown"]
    echo = number in [each for _, each in shown]
    state.put(name, slider if echo and slider != shown[-1][0] else number)


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def preset_buttons() -> None:
    """Common settings at one click, and the way back."""
    with st.container(horizontal=True):
        for name, pair in PRESETS.items():
            st.button(name, on_click=_set, args=pair, key=f"preset-{name}")
        st.button("Reset", on_click=_reset, key="preset-reset", type="tertiary")


def _set(eps_global: float, eps_local: float) -> None:
    state.put("eps_global", eps_global)
    state.put("eps_local", eps_local)


def _reset() -> None:
    _set(**START)
    state.put("own", "")


def move_to(chart: str) -> Callable[[], None]:
    """A callback that takes the clicked cell of a heat map as the new tolerances."""

    def moved() -> None:
        points = st.session_state[chart].selection.points
        picked = [cell for cell in map(_cell_of, points) if cell is not None]
        # A second click on a cell takes Plotly's selection away: the person meant that cell.
        cell = picked[-1] if picked else state.get("clicked", None)
        if cell is not None:
            state.put("clicked", cell)
            _set(*cell)

    return moved


def _cell_of(point: Mapping[str, Any]) -> tuple[float, float] | None:
    """The two tolerances of a clicked point; the browser sends a list, or a numbered object."""
    data = point.get("customdata")
    values = list(data.values()) if isinstance(data, Mapping) else list(np.ravel(data))
    return (float(values[0]), float(values[1])) if len(values) >= 2 else None


# -------------------------------------------------------------------- clients' own epsilons


def own_epsilons(clients: Sequence[str]) -> dict[str, float]:
    """The epsilons that single clients were given; kept as text ``NM=0.05;TX=0.1``."""
    text = state.get("own", "")
    state.write_link({"own": text})
    return _own_from(text, clients)


def _own_from(text: str, clients: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for piece in text.split(";"):
        name, _, value = piece.rpartition("=")
        if name in clients:
            try:
                found[name] = _tolerance(value)
            except ValueError:
                continue
    return found


def set_own_epsilon(clients: Sequence[str], name: str, value: float | None) -> None:
    """Give one client its own epsilon, or (None) take it back."""
    own = own_epsilons(clients)
    own.pop(name, None)
    if value is not None:
        own[name] = value
    state.put("own", ";".join(f"{client}={epsilon:g}" for client, epsilon in own.items()))
