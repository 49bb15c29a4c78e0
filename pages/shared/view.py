"""The view: everything that a result depends on, as one frozen value.

It goes whole through every page, result, pin, report, download and link; no setting travels
alone. A new setting is one new field of `View`, declared by `_setting`: what it may be given what
is known already, how it begins, what puts it back to its beginning. Reading, writing, changing
and caching follow from that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fairfl_core._io.names import listed
from fairfl_core.data.experiments import Experiment
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import Notion, notion_names
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.rate_estimates import rate_names
from fairfl_core.lp.regions import default_rates, region_kind, region_names
from pages.shared.codecs import (
    SHARE,
    Codec,
    Unusable,
    asked,
    certainty,
    one_of,
    per_name,
    seeds,
)

NO_LIMIT = 1.0  # a gap of one is the largest there is
PAPERS_REGION = "simplex"
START = {"eps_global": 0.01, "eps_local": 0.05}  # where the tolerances begin


@dataclass(frozen=True)
class Catalogue:
    """The experiments a visitor can choose: their names, how one is opened, its companion."""

    names: Sequence[str]
    open: Callable[[str], Experiment]
    cross_fitted: Callable[[str], str | None] = lambda name: None


@dataclass(frozen=True)
class Ignored:
    """A parameter of a link that could not be used, and what could have been."""

    name: str
    text: str
    expected: str


def regions_of(experiment: Experiment, notion: str) -> tuple[str, ...]:
    """The regions that a notion and these people allow."""
    asked = Notion.of(notion, experiment.labels, experiment.favourable)
    return region_names(scores=experiment.has_scores, notion=asked)


def can_be_sure(experiment: Experiment, region: str) -> bool:
    """Whether limits can be asked for with a confidence.

    That needs rates that a bound holds for: see `lp.constraints.margins`.
    """
    return not region_kind(region).needs_scores or len(experiment.labels) == 2


# -------------------------------------------------------------------- the fields


@dataclass(frozen=True)
class _Known:
    """What is known while a view is being made, field by field."""

    catalogue: Catalogue
    settings: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]

    @property
    def experiment(self) -> Experiment:
        """The experiment chosen, in the split chosen: the first of all fields."""
        return self.catalogue.open(self.settings.get("data", self["experiment"]))


def _setting(
    codec: Callable[[_Known], Codec],
    start: Callable[[_Known], Any],
    *,
    link: str = "",
    follows: tuple[str, ...] = (),
    unlimited: Any = MISSING,
) -> Any:
    """Declare a field of the view.

    Parameters
    ----------
    codec, start : callable
        From what is known to what the setting may be, and to what it begins with.
    link : str
        Its name in a link, where that is not the field's.
    follows : tuple of str
        Settings whose change puts this one back to its beginning.
    unlimited
        For what is asked of a solution: the value that asks for nothing. Programs and maps do
        not depend on such a field.
    """
    return field(
        metadata={
            "codec": codec,
            "start": start,
            "link": link,
            "follows": follows,
            "unlimited": unlimited,
        }
    )


def _splits(known: _Known) -> Codec:
    """The ways in which an experiment's people are parted; the cross-fitted one first."""
    name = known["experiment"]
    companion = known.catalogue.cross_fitted(name)
    if companion is None:
        return one_of((name,), ("given",))
    return one_of((companion, name), ("cross-fitted", "paper"))


def _regions(known: _Known) -> tuple[str, ...]:
    return regions_of(known.experiment, known["notion"])


def _best_region(known: _Known) -> str:
    """What holds best on unseen people: with two labels the largest, else the paper's.

    With more labels, and nothing asked of confidence, the larger regions fit their limits closely
    and keep them least: HAM10000's gap without chance is 0.04 in the simplex and 0.15 in the
    kernel (docs/holding.md).
    """
    regions = _regions(known)
    return regions[-1] if len(known.experiment.labels) == 2 else regions[0]


def _certainty(known: _Known) -> Codec:
    return certainty(possible=can_be_sure(known.experiment, known["region"]))


def _rates(known: _Known) -> tuple[str, ...]:
    if known["guarantee"] is not None:
        return ("labels",)
    return rate_names(scores=known.experiment.has_scores)


def _best_rates(known: _Known) -> str:
    """Counted labels where cross-fitting gives people enough, else what the region is best fed."""
    best = default_rates(known["region"], folds=known.experiment.folds)
    return best if best in _rates(known) else _rates(known)[0]


@dataclass(frozen=True)
class View:
    """One setting of everything: two equal views show equal numbers.

    Attributes
    ----------
    experiment, data, notion, region, rates : str
        Whose people, how they are parted (the experiment that is opened), what is called fair,
        what a lottery may mix, where rates come from.
    guarantee : Guarantee or None
        With what confidence the limits are to hold on unseen people.
    policy : Policy
        What is asked beyond the two limits: floors, ratios, what counts as good.
    seeds : tuple of int
        The runs shown; figures are means over them.
    eps_global, eps_local : float
        The gap allowed overall (the paper's epsilon_0) and inside each client (epsilon_c).
    own_limits : tuple of (str, float)
        Clients with a limit of their own, in the place of `eps_local`.
    """

    experiment: str = _setting(
        lambda known: one_of(known.catalogue.names), lambda known: known.catalogue.names[0]
    )
    data: str = _setting(
        _splits, lambda known: _splits(known).options[0], link="split", follows=("experiment",)
    )
    notion: str = _setting(
        lambda known: one_of(notion_names()),
        lambda known: known.experiment.notion,
        follows=("experiment",),
    )
    region: str = _setting(
        lambda known: one_of(_regions(known)), _best_region, follows=("experiment",)
    )
    guarantee: Guarantee | None = _setting(_certainty, lambda known: None, link="confidence")
    policy: Policy = _setting(
        lambda known: asked(
            known.experiment.labels,
            sure=known["guarantee"] is not None,
            columns=known.experiment.grouping.columns if known.experiment.grouping else (),
        ),
        lambda known: Policy(),
        follows=("experiment",),
    )
    rates: str = _setting(
        lambda known: one_of(_rates(known)), _best_rates, follows=("region", "data", "guarantee")
    )
    seeds: tuple[int, ...] = _setting(
        lambda known: seeds(known.experiment.seeds),
        lambda known: known.experiment.seeds,
        link="seed",
        follows=("experiment", "data"),
    )
    eps_global: float = _setting(
        lambda known: SHARE, lambda known: START["eps_global"], unlimited=NO_LIMIT
    )
    eps_local: float = _setting(
        lambda known: SHARE, lambda known: START["eps_local"], unlimited=NO_LIMIT
    )
    own_limits: tuple[tuple[str, float], ...] = _setting(
        lambda known: per_name(known.experiment.clients),
        lambda known: (),
        link="own",
        follows=("experiment",),
        unlimited=(),
    )

    def limits(self, clients: Sequence[str]) -> dict[str, Any]:
        """Both epsilons, as the core's programs take them."""
        by_client = dict.fromkeys(clients, self.eps_local) | dict(self.own_limits)
        return {"eps_global": self.eps_global, "eps_local": by_client}

    def without_limits(self) -> "View":
        """What a program or a map depends on: the view with nothing asked."""
        nothing = {name: one.metadata["unlimited"] for name, one in _FIELDS.items()}
        return replace(
            self, **{name: value for name, value in nothing.items() if value is not MISSING}
        )

    @property
    def answers_by_scores(self) -> bool:
        """Whether its lottery looks at scores: then it is judged on people, not on counts."""
        return region_kind(self.region).needs_scores

    @property
    def needs_scores(self) -> bool:
        """Whether its program looks at more than counts."""
        return self.answers_by_scores or self.rates not in rate_names(scores=False)

    def in_the_papers_split(self, catalogue: Catalogue) -> "View":
        """The same people parted as in the paper, with nothing asked of confidence.

        Runs that the paper's split lacks are left out.
        """
        every = catalogue.open(self.experiment).seeds
        seeds = self.seeds if len(self.seeds) == 1 and self.seeds[0] in every else tuple(every)
        return replace(self, data=self.experiment, seeds=seeds, guarantee=None)

    def of_seed(self, seed: int) -> "View":
        """The same of one run."""
        return replace(self, seeds=(seed,))


_FIELDS: dict[str, Field[Any]] = {one.name: one for one in fields(View)}


def _codec(one: Field[Any], known: _Known) -> Codec:
    codec: Codec = one.metadata["codec"](known)
    return codec


def _link_name(one: Field[Any]) -> str:
    return str(one.metadata["link"] or one.name)


# -------------------------------------------------------------------- reading, writing, changing


def read_view(link: Mapping[str, str], catalogue: Catalogue) -> tuple[View, tuple[Ignored, ...]]:
    """The view of a link's parameters, and what of them could not be used; never raises."""
    settings: dict[str, Any] = {}
    ignored = []
    known = _Known(catalogue, settings)
    for name, one in _FIELDS.items():
        text = link.get(_link_name(one), "")
        try:
            settings[name] = (
                _codec(one, known).read(text) if text else one.metadata["start"](known)
            )
        except Unusable as error:
            settings[name] = one.metadata["start"](known)
            ignored.append(Ignored(_link_name(one), text, str(error)))
    return View(**settings), tuple(ignored)


def write_view(view: View, catalogue: Catalogue) -> dict[str, str]:
    """The parameters that read as this view; an empty text is one that a link leaves out."""
    known = _Known(catalogue, vars(view))
    return {
        _link_name(one): _codec(one, known).write(getattr(view, name))
        for name, one in _FIELDS.items()
    }


def changed(view: View, catalogue: Catalogue, **changes: Any) -> View:
    """The view with some settings changed, and with what follows from that.

    A setting that follows a changed one begins anew, and so does one that fits no longer.
    """
    settings: dict[str, Any] = {}
    known = _Known(catalogue, settings)
    moved: set[str] = set()
    for name, one in _FIELDS.items():
        value = changes.get(name, getattr(view, name))
        anew = name not in changes and moved.intersection(one.metadata["follows"])
        if anew or not _codec(one, known).fits(value):
            value = one.metadata["start"](known)
        settings[name] = value
        if value != getattr(view, name):
            moved.add(name)
    return View(**settings)


def options_of(name: str, view: View, catalogue: Catalogue) -> Sequence[Any]:
    """What a setting that is one of some may be, in this view."""
    codec = _codec(_FIELDS[name], _Known(catalogue, vars(view)))
    if not codec.options:
        raise TypeError(f"{name} is not one of some values")
    return codec.options


# -------------------------------------------------------------------- a kept view


def write_option(option: View, catalogue: Catalogue) -> str:
    """A view that is kept as an option, as one text of a link: a link within the link."""
    return urlencode(write_view(option, catalogue))


def read_option(text: str, catalogue: Catalogue) -> View:
    """The kept view of a text; raises `Unusable` for one that is not whole."""
    try:
        link = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        link = {}
    view, ignored = read_view(link, catalogue)
    if not link or ignored or not set(link) <= set(write_view(view, catalogue)):
        raise Unusable("a view of these people, as “Keep as an option” writes it")
    return view


def policy_file_of(view: View) -> PolicyFile:
    """What a view asks for."""
    return PolicyFile(
        notion=view.notion,
        eps_global=view.eps_global,
        eps_local=view.eps_local,
        eps_local_client=view.own_limits,
        guarantee=view.guarantee,
        policy=view.policy,
    )


def with_policy(view: View, asked: PolicyFile, catalogue: Catalogue) -> View:
    """The view with all that a policy asks; refused where these people do not allow part of it."""
    wanted = {
        "notion": asked.notion,
        "guarantee": asked.guarantee,
        "policy": asked.policy,
        "eps_global": asked.eps_global,
        "eps_local": asked.eps_local,
        "own_limits": asked.eps_local_client,
    }
    asked.limits(catalogue.open(view.data).clients)
    found = changed(view, catalogue, **wanted)
    lost = [name for name, value in wanted.items() if getattr(found, name) != value]
    if lost:
        raise InputError(
            f"these people and this page do not allow what the policy says of {listed(lost)}; "
            "choose other data, or ask with `fairfl solve --policy`."
        )
    return found
