"""What the visitor has set: kept over pages, and written into the address bar.

Streamlit forgets a widget when its page is left. So the view, the options and the settings of
single pages live here, in one dictionary of the session; a widget takes its value from it and
gives it back when moved. A fresh session reads the address bar first, so that a copied link
reopens the same view; so does one whose visitor went back. What a link says that cannot be used
is collected, to be shown in one line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urlsplit

import streamlit as st

from fairfl_core.report.review import MOST
from pages.shared import own_data
from pages.shared.catalogue import catalogue
from pages.shared.codecs import FLAG, Codec, Unusable
from pages.shared.view import (
    Ignored,
    View,
    changed,
    read_option,
    read_view,
    write_option,
    write_view,
)

T = TypeVar("T")
# What pages may write into links beside the view; a test keeps this whole.
OF_PAGES = (
    *("bring", "budget", "client", "details", "draw", "draws", "few", "few_name"),
    *("floor_label", "k", "label", "large", "leave_out", "mechanism", "missed", "picture"),
    *("neighbours", "points", "present", "question", "screen", "shares"),
    *("size", "step", "of", "by", "gap", "at", "tab"),
    *("apart", "curve", "scenario_notion", "scenario_rates", "scenario_region", "scenario_seed"),
)
OF_OLD_PAGES = (  # gone
    *("back", "both", "certainty_drawn", "map_drawn", "order", "regions_drawn", "welcome"),
)
OF_STEPS = (  # the lesson's
    *("step2_bea", "step2_dan_ill", "step3_case", "step4_limit", "step5_limit", "step6_again"),
    *("step6_dice", "step7_limit", "step7_people", "step9_fpr", "step9_men", "step9_tpr"),
    *("step9_women", "step10_harm", "step10_truth"),
)
_KEY, _VIEW, _OPTIONS, _NOTES, _IGNORED = "kept", "view", "options", "notes", "ignored"
_BETWEEN = "|"  # between the options of a link, which write it otherwise
_WRITTEN = "written"  # the address bar's link as this session last left it
_MOVED = "moved"  # whether a widget was moved since the link was last written
_ENTRY = "entry"  # view and options as the page was opened with them
_PAGE, _SHOWN = "page", "shown"  # the page that runs, and the one that ran whole last
NO_SUCH_SETTING = "nothing: there is no setting of this name"
SOMETHING = "a value"
_LINKED = "linked"  # by name, what settings of the page that runs say in its link
_GONE = "gone"  # whether the link's set was another session's
_OWN = "yours"  # what a link calls an uploaded set


def kept() -> dict[str, Any]:
    """All settings of this session: the very dictionary."""
    settings: dict[str, Any] = st.session_state.setdefault(_KEY, {})
    return settings


# -------------------------------------------------------------------- the view, and options


def view() -> View:
    """The view as it is set now; a fresh session's is the link's."""
    settings = kept()
    if _VIEW not in settings:
        given, held = st.query_params.to_dict(), own_data.current()
        link = dict(given)
        if link.get("experiment") == _OWN:
            link["experiment"] = "" if held is None else held.name
            settings[_GONE] = held is None
        settings[_VIEW], unused = read_view(link, catalogue())
        _ignore(*unused, *_unknown(given, settings[_VIEW]))
    found: View = settings[_VIEW]
    return found


def follow_link() -> None:
    """Take the settings of the link again where the visitor went back to an earlier one.

    Then the address is another than this session wrote last, and no widget was moved. A link that
    differs while something was moved is only late: the browser had not yet got the last one.
    """
    settings, now = kept(), _link_now()
    if settings.get(_MOVED) or settings.get(_WRITTEN) in (None, now):
        return
    if now:
        _read_again()
    else:  # back to how the page was opened
        settings[_VIEW], settings[_OPTIONS] = settings[_ENTRY]


def _read_again() -> None:
    """Let go of what links of this page tell: it is read anew."""
    linked = {*_link_now(), *kept().get(_LINKED, ())} & {*OF_PAGES, *OF_STEPS}
    for name in (_VIEW, _OPTIONS, _WRITTEN, _ENTRY, *linked):
        kept().pop(name, None)


def change(**changes: Any) -> None:
    """Change fields of the view (from a callback, before widgets are made)."""
    kept()[_VIEW] = changed(view(), catalogue(), **changes)
    kept().pop(_GONE, None)
    _touched()


def options() -> tuple[View, ...]:
    """The views kept as options, A first; those of other people are let go."""
    settings = kept()
    if _OPTIONS not in settings:
        settings[_OPTIONS] = ()
        text = st.query_params.get(_OPTIONS, "")
        if text:
            try:
                read = [read_option(one, catalogue()) for one in text.split(_BETWEEN)]
                settings[_OPTIONS] = tuple(dict.fromkeys(read))[:MOST]
            except Unusable as error:
                _ignore(Ignored(_OPTIONS, text, str(error)))
    mine = tuple(one for one in settings[_OPTIONS] if one.experiment == view().experiment)
    settings[_OPTIONS] = mine
    return mine


def keep(*views: View) -> None:
    """Keep views whole as options, beside those there, as far as there is room."""
    kept()[_OPTIONS] = tuple(dict.fromkeys((*options(), *views)))[:MOST]
    _touched()


def let_go(*views: View) -> None:
    """Keep some views no longer; their notes go, too."""
    kept()[_OPTIONS] = tuple(one for one in options() if one not in views)
    for one in views:
        notes().pop(one, None)
    _touched()


def notes() -> dict[View, str]:
    """What reviewers say of each option; in this session and in review files, never in a link."""
    words: dict[View, str] = kept().setdefault(_NOTES, {})
    return words


def publish() -> None:
    """Write the link into the address bar if something was moved; not over one whose set is gone.

    The last thing of a run: what was moved is known by then, and written at once, for each writing
    is a step of the browser's Back. So is opening a page, which therefore writes nothing.
    """
    settings, now = kept(), _link_now()
    settings.setdefault(_ENTRY, (view(), options()))
    if settings.pop(_MOVED, False) and not data_is_gone() and address() != now:
        now = address()
        st.query_params.from_dict(now)
    settings[_WRITTEN] = now
    settings[_SHOWN] = settings.get(_PAGE)


def address() -> dict[str, str]:
    """The link of everything that is set on this page, whether or not it is written."""
    linked = _link() | kept().get(_LINKED, {})
    return {name: text for name, text in linked.items() if text}


def link(*without: str) -> str:
    """The whole address of everything that is set on this page, some settings left out."""
    linked = {name: text for name, text in address().items() if name not in without}
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(linked)}"


def link_for_others(*without: str) -> str:
    """The same where others can open it; empty for an uploaded set or a server reached from here alone."""
    alone = own_data.is_own(view().experiment) or here_only(st.context.url or "")
    return "" if alone else link(*without)


def here_only(url: str) -> bool:
    """Whether an address leads to this machine from this machine alone."""
    host = urlsplit(url).hostname
    if host in (None, "", "localhost"):
        return True
    try:
        address = ip_address(str(host))
    except ValueError:  # a name: somebody gave it for others to use
        return False
    return address.is_loopback or address.is_unspecified


def _link() -> dict[str, str]:
    link = write_view(view(), catalogue())
    link[_OPTIONS] = _BETWEEN.join(write_option(one, catalogue()) for one in options())
    if own_data.is_own(view().experiment):  # a link cannot bring an uploaded set along
        link |= {"experiment": _OWN, _OPTIONS: ""}
    return link


def data_is_gone() -> bool:
    """Whether the link speaks of an uploaded set that this session does not have.

    Then there is nothing to show until the visitor brings it again, or chooses another.
    """
    view()
    return bool(kept().get(_GONE))


# -------------------------------------------------------------------- settings of single pages


@dataclass(frozen=True)
class Setting(Generic[T]):
    """A setting that is no part of the view: its name, what it may be, how it begins.

    Without a codec it never comes from a link, nor goes into one.
    """

    name: str
    start: T
    codec: Codec | None = None


LARGE_TYPE = Setting("large", False, FLAG)


def get(setting: Setting[T]) -> T:
    """The value as kept, else from the link, else the start; one that fits no longer is let go.

    The page's link tells what the page has asked for; a setting at its start is left out.
    """
    settings, codec = kept(), setting.codec
    if setting.name not in settings:
        settings[setting.name] = setting.start
        text = st.query_params.get(setting.name, "")
        if codec is not None and text:
            try:
                settings[setting.name] = codec.read(text)
            except Unusable as error:
                _ignore(Ignored(setting.name, text, str(error)))
    elif codec is not None and not codec.fits(settings[setting.name]):
        settings[setting.name] = setting.start
    value: T = settings[setting.name]
    if codec is not None:
        text = "" if value == setting.start else codec.write(value)
        settings.setdefault(_LINKED, {})[setting.name] = text
    return value


def put(setting: Setting[T], value: T) -> None:
    """Change a setting (from a callback, before widgets are made)."""
    kept()[setting.name] = value
    _touched()


def forget(belongs: Callable[[str], bool]) -> None:
    """Put the settings of these names back to their start."""
    for name in [name for name in kept() if belongs(name)]:
        del kept()[name]


def leave_out(belongs: Callable[[str], bool]) -> None:
    """Let the page's link tell nothing of these names; the settings stay."""
    linked = kept().setdefault(_LINKED, {})
    for name in [name for name in linked if belongs(name)]:
        del linked[name]


def large_type() -> bool:
    """Whether letters are to be large, as in a lecture hall."""
    return get(LARGE_TYPE)


# -------------------------------------------------------------------- widgets


def enter(page: str) -> None:
    """Tell which page runs, before it does; one that comes with a link is as the link says."""
    settings = kept()
    if page != settings.get(_PAGE):
        for name in (_MOVED, _WRITTEN, _ENTRY, _LINKED):
            settings.pop(name, None)
        if _PAGE in settings and _link_now():
            _read_again()
    settings[_PAGE] = page


def widget(name: str, value: Any) -> str:
    """Set the widget of a setting to its value; returns the widget's key.

    On a page that was just opened always: under this key stands the value of the widget that the
    page before had, and the one here would begin with its own.
    """
    key, settings = f"widget_{name}", kept()
    opened = settings.get(_PAGE) != settings.get(_SHOWN)
    if opened or st.session_state.get(key) != value:
        st.session_state[key] = value
    return key


def bound(setting: Setting[T], then: Callable[[], None] | None = None) -> dict[str, Any]:
    """What binds a widget to a setting: its key, and a callback that keeps what was moved.

    `then` is called after a move.
    """
    value, key = get(setting), f"widget_{setting.name}"

    def moved() -> None:
        put(setting, st.session_state[key])
        if then is not None:
            then()

    return {"key": widget(setting.name, value), "on_change": moved}


def bound_field(name: str) -> dict[str, Any]:
    """What binds a widget to a field of the view."""
    key = widget(name, getattr(view(), name))
    return {"key": key, "on_change": lambda: change(**{name: st.session_state[key]})}


# -------------------------------------------------------------------- the link


def ignored() -> tuple[Ignored, ...]:
    """What the link said that could not be used, until the visitor moves something."""
    return tuple(kept().get(_IGNORED, ()))


def _unknown(link: Mapping[str, str], seen: View) -> list[Ignored]:
    """Parameters of a link that no page knows (mistyped, or of another version) or that say nothing."""
    known = {*write_view(seen, catalogue()), _OPTIONS, *OF_PAGES, *OF_STEPS, *OF_OLD_PAGES}
    return [
        Ignored(name, text, SOMETHING if name in known else NO_SUCH_SETTING)
        for name, text in link.items()
        if name not in known or not text
    ]


def _ignore(*unused: Ignored) -> None:
    kept().setdefault(_IGNORED, []).extend(unused)


def _touched() -> None:
    kept().pop(_IGNORED, None)
    kept()[_MOVED] = True


def _link_now() -> dict[str, str]:
    return st.query_params.to_dict()
