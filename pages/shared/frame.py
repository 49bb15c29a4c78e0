"""What every page has: navigation's right side (Settings, Copy link, Present), the link, sign-in."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import segno
import streamlit as st

from fairfl_core._io.names import plain
from fairfl_core.fairness.notions import notion_kind
from fairfl_core.lp.regions import default_rates, region_kind
from pages.shared import own_data, state, text, theme
from pages.shared.catalogue import catalogue, experiment_of
from pages.shared.codecs import FLAG, whole
from pages.shared.view import View, options_of
from pages.shared.widgets import lazy

PRESENT = state.Setting("present", False, FLAG)
SCREEN = state.Setting("screen", 1, whole(1, 20))
_LEFT = "left-hall"


@contextmanager
def frame(
    settings: Callable[[], None] | None = None, *, brings_data: bool = False, hall: bool = False
) -> Iterator[View]:
    """Lay out what every page has; yields the view to show.

    Parameters
    ----------
    settings : callable, optional
        Draws the page's own part of the Settings popover; `view_settings` on pages that show the
        view. Without one the popover offers large type alone.
    brings_data : bool
        Whether this is the page on which an uploaded set that is gone can be brought again.
    hall : bool
        Whether the page has screens for a hall; on other pages *Present* opens Explore's.
    """
    state.follow_link()
    in_hall = hall and presenting()
    theme.style(large=state.large_type(), presenting=in_hall)
    require_sign_in()
    if state.data_is_gone():
        _gone(brings_data=brings_data)
        yield state.view()
        return
    if not in_hall:
        _tools(settings, hall=hall)
    line = st.container()
    yield state.view()
    state.publish()
    if state.ignored():
        line.caption(text.ignored(state.ignored()))


def _tools(settings: Callable[[], None] | None, *, hall: bool) -> None:
    with st.container(key="frame-tools", horizontal=True, gap="small"):
        for label, key, icon, draw in (
            (text.SETTINGS, "settings", "tune", lambda: _settings(settings)),
            (text.COPY_LINK, "copy-link", "link", _link),
        ):
            lazy(st.popover, label, key, draw, icon=f":material/{icon}:", type="tertiary")
        pressed = st.button(
            text.PRESENT,
            key="present",
            icon=":material/slideshow:",
            type="tertiary",
            help=text.PRESENT_TIP,
            on_click=state.put,
            args=(PRESENT, True),
        )
        if pressed and not hall:
            st.switch_page("pages/explore/page.py")


def _settings(of_the_page: Callable[[], None] | None) -> None:
    """The page's own settings, and those of every page."""
    if of_the_page is not None:
        of_the_page()
    st.toggle(text.LARGE_TYPE, help=text.LARGE_TYPE_TIP, **state.bound(state.LARGE_TYPE))
    sign_out()


def _link() -> None:
    """The address of exactly this setting, with a button that copies it."""
    if own_data.is_own(state.view().experiment):
        st.caption(text.NOTHING_TO_SCAN)
        return
    st.code(state.link(), language=None, wrap_lines=True)
    st.caption(text.COPY_TIP)


def _gone(*, brings_data: bool) -> None:
    """Say that the link's set is gone; another is never shown in its place unasked."""
    st.warning(text.DATA_GONE)
    with st.container(horizontal=True, vertical_alignment="center"):
        if not brings_data:
            st.page_link("pages/your_data/page.py", label=text.BRING_AGAIN)
        st.button(text.SHOW_ANOTHER, key="show-another", on_click=state.change)
    if not brings_data:
        st.stop()


def experiment_choice(*, width: int | str = "stretch") -> None:
    """The box to choose an experiment in; its label is only heard."""
    _select(
        "experiment",
        text.EXPERIMENT,
        lambda name: experiment_of(name).manifest["title"],
        label_visibility="collapsed",
        width=width,
    )


def view_settings() -> None:
    """What is called fair, what may be mixed, from which rates, in which split and runs."""
    view = state.view()
    experiment = experiment_of(view.data)
    mark = "" if own_data.is_own(view.experiment) else text.THE_PAPERS
    _select(
        "notion",
        text.NOTION,
        lambda name: text.notion_title(name) + (mark if name == experiment.notion else ""),
        help=text.NOTION_TIP,
    )
    st.caption(notion_kind(view.notion).meaning.format(favourable=plain(experiment.favourable)))
    _select("region", text.REGION, text.region_title, help=text.REGION_TIP)
    st.caption(region_kind(view.region).meaning)
    if len(options_of("rates", view, catalogue())) > 1:
        best = default_rates(view.region, folds=experiment.folds)
        _select(
            "rates",
            text.RATES,
            lambda name: text.RATE_KINDS[name][0] + (text.RECOMMENDED if name == best else ""),
            help=text.RATES_TIP,
        )
    if len(options_of("data", view, catalogue())) > 1:
        _select(
            "data",
            text.SPLIT,
            lambda name: experiment_of(name).protocol,
            help=f"{text.SPLIT_TIP} {text.split_meaning(experiment)}",
        )
    every = experiment.seeds
    if len(every) > 1:
        _select("seeds", text.SEEDS, lambda one: text.runs(one, every), help=text.SEEDS_TIP)
    st.caption(text.about(experiment))


def _select(name: str, label: str, title: Callable[[Any], str], **more: Any) -> None:
    """A select box over a field of the view."""
    options: Any = options_of(name, state.view(), catalogue())
    st.selectbox(label, options, format_func=title, **more, **state.bound_field(name))


# -------------------------------------------------------------------- in a hall


def presenting() -> bool:
    """Whether the page is shown to a hall."""
    if st.session_state.pop(_LEFT, False):  # inside a fragment: the whole page is to run again
        st.rerun()
    return state.get(PRESENT)


def screen(titles: Sequence[str]) -> int:
    """Which of some screens is shown, with what goes to the others; counted from 0."""
    now = min(state.get(SCREEN), len(titles))
    presenter(
        back=lambda: state.put(SCREEN, now - 1) if now > 1 else None,
        onward=lambda: state.put(SCREEN, now + 1) if now < len(titles) else None,
        words=text.SCREEN.format(now, len(titles), titles[now - 1]),
    )
    return now - 1


def presenter(back: Any, onward: Any, words: str) -> None:
    """What a presenter needs, in a corner: back, next, a code to scan, and the way out."""
    with st.container(key="presenter", horizontal=True, vertical_alignment="center"):
        st.caption(words)
        st.button(text.BACKWARD, key="backward", on_click=back, help=text.BACKWARD_TIP)
        st.button(text.ONWARD, key="onward", on_click=onward, help=text.ONWARD_TIP)
        with st.popover(text.SCAN):
            _code()
        st.button(text.LEAVE, key="leave", type="tertiary", on_click=_leave)


def _leave() -> None:
    state.put(PRESENT, False)
    st.session_state[_LEFT] = True


def _code() -> None:
    """A code to this very setting, where others can reach this server."""
    if own_data.is_own(state.view().experiment):
        st.caption(text.NOTHING_TO_SCAN)
        return
    link = state.link_for_others(PRESENT.name)
    if not link:
        st.caption(text.NOT_REACHABLE)
        return
    # As a picture of its own: Streamlit lets no SVG through in HTML.
    st.html(f'<img class="fairfl-code" alt="{text.SCAN_ALT}" src="{code_of(link)}">')
    st.caption(text.SCAN_TIP)


def code_of(link: str) -> str:
    """The code of a link as the address of a picture; black on white in light and dark."""
    code = segno.make(link, error="l", micro=False)
    return code.svg_data_uri(scale=6, border=4, light="white", encode_minimal=False)


# -------------------------------------------------------------------- sign-in

log = logging.getLogger(__name__)
_SIGNED_IN = "is_logged_in"  # is there only where sign-in is set up


def require_sign_in() -> None:
    """Show a page to nobody who has not signed in."""
    if st.user.get(_SIGNED_IN, True):
        return
    st.markdown(text.SIGN_IN_FIRST)
    if st.button(text.SIGN_IN, type="primary", key="sign-in"):
        try:
            st.login()
        except Exception:  # Authlib is not there, or the secrets lack something
            log.exception("sign-in is not set up as it must be")
            st.warning(text.CANNOT_SIGN_IN)
    st.stop()


def sign_out() -> None:
    """Who is signed in, and the way out; nothing where nobody had to."""
    if st.user.get(_SIGNED_IN):
        who = st.user.get("email") or st.user.get("name") or st.user.get("sub") or ""
        st.caption(plain(text.signed_in(str(who))))
        st.button(text.SIGN_OUT, key="sign-out", on_click=st.logout)


def clients() -> None:
    """Open Explore with the client's panel."""
    _go("pages/explore/page.py")


def review() -> None:
    """Open Compare with the options of the link."""
    _go("pages/compare/page.py")


def _go(page: str) -> None:
    state.view(), state.options()
    st.switch_page(page, query_params=st.query_params.to_dict())
