"""What is asked of a lottery: limits, and floors, ratios, groupings and a utility beyond them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.files import check_keys
from fairfl_core._io.names import listed
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError, check_type
from fairfl_core.lp.utility import ACCURACY, Utility

__all__ = [
    "EpsLocal",
    "Floor",
    "GroupingLimit",
    "Policy",
    "Precision",
    "check_epsilon",
    "eps_per_client",
]

Floats = NDArray[np.float64]
EpsLocal = float | Sequence[float] | Floats | Mapping[str, float]
SCOPES = ("local", "global")


def check_epsilon(value: float, name: str) -> float:
    """Return the tolerance as a float in [0, 1], or say that it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise InputError(f"{name} is {value}, but a tolerance lies between 0 and 1; choose one.")
    return number


def eps_per_client(clients: Sequence[str], eps_local: EpsLocal) -> Floats:
    """One epsilon_c per client from one number, a sequence in their order, or a mapping."""
    if isinstance(eps_local, Mapping):
        known = set(clients)  # of twenty thousand, who are each looked up once
        unknown = [name for name in eps_local if name not in known]
        lacking = [name for name in clients if name not in eps_local]
        if unknown or lacking:
            name, what = (unknown[0], "is not a client") if unknown else (lacking[0], "has none")
            raise InputError(
                f'eps_local by client: "{name}" {what}; the clients are '
                f"{', '.join(list(clients)[:8])}{' ...' if len(clients) > 8 else ''}."
            )
        eps_local = [eps_local[name] for name in clients]
    if np.ndim(cast(Floats, eps_local)) == 0:
        return np.full(len(clients), check_epsilon(cast(float, eps_local), "eps_local"))
    values = list(cast(Sequence[float], eps_local))
    if len(values) != len(clients):
        raise InputError(
            f"eps_local has {len(values)} values for {len(clients)} clients; give one each."
        )
    pairs = zip(clients, values, strict=True)
    return np.array([check_epsilon(value, f'eps_local of "{name}"') for name, value in pairs])


def _share(value: Any, what: str, *, open_below: bool = False) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and 0 <= value <= 1 and not (open_below and value == 0)):
        span = "above 0 and at most 1" if open_below else "between 0 and 1"
        raise InputError(f"{what} is {value}; it lies {span}.")
    return float(value)


def _check_scope(scope: str, what: str) -> None:
    if scope not in SCOPES:
        raise InputError(
            f'{what} has the scope "{scope}"; choose local (inside every client) or global '
            "(overall)."
        )


@dataclass(frozen=True)
class Floor:
    """How often a label must be recognised in every client and group, Pr(answer y | label y).

    Attributes
    ----------
    label : str
    rate : float
        At least this; or
    keeps : float or None
        at most so much less than the model's own rate there.
    """

    label: str
    rate: float = 0.0
    keeps: float | None = None

    def __post_init__(self) -> None:
        if self.keeps is None:
            rate = _share(self.rate, f'the floor of "{self.label}"')
            object.__setattr__(self, "rate", rate)
        else:
            keeps = _share(self.keeps, f'what "{self.label}" may lose')
            object.__setattr__(self, "keeps", keeps)

    def is_as_strict_as(self, other: "Floor") -> bool:
        """Whether keeping this floor keeps another one, of the same label and kind."""
        if self.label != other.label or (self.keeps is None) != (other.keeps is None):
            return False
        return self.rate >= other.rate and (self.keeps or 0.0) <= (other.keeps or 0.0)

    def __str__(self) -> str:
        if self.keeps is None:
            return f"at least {self.rate:g} of “{self.label}” recognised"
        return f"“{self.label}” recognised at most {self.keeps:g} less often than by the model"


@dataclass(frozen=True)
class GroupingLimit:
    """A gap allowed between the groups of one grouping, in every client or overall.

    Attributes
    ----------
    grouping : str
        Columns that groups are crossed of, such as ``race`` or ``sex*race``.
    scope : {"local", "global"}
    eps : float
    """

    grouping: str
    scope: str
    eps: float

    def __post_init__(self) -> None:
        _check_scope(self.scope, f"the limit on {self.grouping}")
        eps = _share(self.eps, f"the {self.scope} limit on {self.grouping}")
        object.__setattr__(self, "eps", eps)

    def __str__(self) -> str:
        return f"{self.grouping}:{self.scope}:{self.eps:g}"


@dataclass(frozen=True)
class Precision:
    """How many of those who are answered a label must have it, Pr(label y | answer y).

    Attributes
    ----------
    label : str
    scope : {"local", "global"}
    rate : float
    """

    label: str
    scope: str
    rate: float

    def __post_init__(self) -> None:
        _check_scope(self.scope, f'the precision of "{self.label}"')
        rate = _share(self.rate, f'the {self.scope} precision of "{self.label}"')
        object.__setattr__(self, "rate", rate)

    def __str__(self) -> str:
        return f"{self.label}:{self.scope}:{self.rate:g}"


@dataclass(frozen=True)
class Policy:
    """Everything asked beyond eps_global and eps_local; nothing unless given.

    Attributes
    ----------
    floors : tuple of Floor
        In every client and group with people of the label.
    ratio_global, ratio_local : float or None
        rho: no group's rate is below rho times the highest one, overall or inside each client.
    ratio_leave_out : float
        Groups of a smaller share of all people are left out of ratios.
    limits : tuple of GroupingLimit
        Beside the two epsilons, which mean the groups as they are.
    utility : Utility
        What is made as large as can be.
    precision : tuple of Precision
        How many of those answered a label must have it.
    capacity_global, capacity_local : float or None
        At most this share of all people, or of each client's, is answered favourably.
    without_group : bool
        Whether one rule must serve all groups of a client, as the group is not known.
    """

    floors: tuple[Floor, ...] = ()
    ratio_global: float | None = None
    ratio_local: float | None = None
    ratio_leave_out: float = 0.0
    limits: tuple[GroupingLimit, ...] = ()
    utility: Utility = ACCURACY
    without_group: bool = False
    precision: tuple[Precision, ...] = ()
    capacity_global: float | None = None
    capacity_local: float | None = None

    def __post_init__(self) -> None:
        for name, of in (("floors", Floor), ("limits", GroupingLimit), ("precision", Precision)):
            check_type(getattr(self, name), (tuple, list), name, f"a list of {of.__name__}")
            for one in getattr(self, name):
                check_type(one, of, f"one of {name}", f"a {of.__name__}")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_type(self.utility, Utility, "the utility", "a Utility, such as ACCURACY")
        for kind in ("ratio", "capacity"):
            for scope in ("global", "local"):
                value = getattr(self, f"{kind}_{scope}")
                if value is not None:
                    share = _share(value, f"the {scope} {kind}", open_below=kind == "ratio")
                    object.__setattr__(self, f"{kind}_{scope}", share)
        precise = sorted(self.precision, key=lambda one: (one.label, one.scope))
        object.__setattr__(self, "precision", tuple(precise))
        kinds = [(one.label, one.scope) for one in precise]
        if len(set(kinds)) < len(kinds):
            label = max(kinds, key=kinds.count)[0]
            raise InputError(f'the precision of "{label}" is asked for twice; keep one.')
        _share(self.ratio_leave_out, "the share below which groups are left out")
        # One order: the same floors are the same policy.
        order = sorted(self.floors, key=lambda one: (one.keeps is not None, one.label))
        object.__setattr__(self, "floors", tuple(order))
        for absolute in (True, False):
            labels = [one.label for one in self.floors if (one.keeps is None) is absolute]
            if len(set(labels)) < len(labels):
                raise InputError(
                    f'"{max(labels, key=labels.count)}" has two floors of one kind; keep one.'
                )

    @property
    def asks_for_rows(self) -> bool:
        """Whether rows beside the gaps' own are needed."""
        return bool(self.floors or self.has_ratios or self.limits or self.has_shares)

    @property
    def has_shares(self) -> bool:
        """Whether a precision or a capacity is asked for."""
        capacities = (self.capacity_global, self.capacity_local)
        return bool(self.precision) or any(one is not None for one in capacities)

    @property
    def has_ratios(self) -> bool:
        """Whether a ratio is asked for."""
        return self.ratio_global is not None or self.ratio_local is not None

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked: the paper's own program."""
        return self == Policy()

    def keeps(self, floor: Floor) -> bool:
        """Whether it asks for a floor, or a higher one of the same kind."""
        return any(one.is_as_strict_as(floor) for one in self.floors)

    def check(self, counts: ClientCounts) -> None:
        """Raise a sentence where these people do not have what is named."""
        asked = [("set a floor for", one.label) for one in self.floors]
        asked += [("ask a precision of", one.label) for one in self.precision]
        for what, label in asked:
            if label not in counts.labels:
                raise InputError(
                    f'there is no label "{label}" to {what}; there are {listed(counts.labels)}.'
                )
        for limit in self.limits:
            counts.coarsen(limit.grouping)

    def to_json(self) -> dict[str, Any]:
        """The form that solutions and predictors carry; what is not asked is left out."""
        value: dict[str, Any] = {}
        for name, kept in (("floor", False), ("keep", True)):
            entries = {
                one.label: one.keeps if kept else one.rate
                for one in self.floors
                if (one.keeps is not None) is kept
            }
            value |= {name: entries} if entries else {}
        for name in ("ratio_global", "ratio_local", "capacity_global", "capacity_local"):
            if getattr(self, name) is not None:
                value[name] = getattr(self, name)
        if self.ratio_leave_out:
            value["ratio_leave_out"] = self.ratio_leave_out
        if self.limits:
            value["limits"] = [str(limit) for limit in self.limits]
        if self.precision:
            value["precision"] = [str(one) for one in self.precision]
        if self.utility != ACCURACY:
            value["utility"] = self.utility.to_json()
        return value | ({"without_group": True} if self.without_group else {})

    @classmethod
    def from_json(cls, value: Any) -> "Policy":
        """Check and take that form; null is nothing."""
        if value is None:
            return Policy()
        known = {
            *("floor", "keep", "ratio_global", "ratio_local", "ratio_leave_out"),
            *("limits", "utility", "without_group"),
            *("precision", "capacity_global", "capacity_local"),
        }
        if not isinstance(value, dict):
            raise InputError('"policy" must be null or an object.')
        check_keys(value, known, known, '"policy"')
        floors = []
        for name in ("floor", "keep"):
            given = value.get(name, {})
            if not isinstance(given, dict):
                raise InputError(f'"policy": "{name}" must be an object of labels and numbers.')
            floors += [
                Floor(label, rate) if name == "floor" else Floor(label, keeps=rate)
                for label, rate in given.items()
            ]
        scoped: dict[str, list[str]] = {}
        for name, example in (("limits", "race:local:0.05"), ("precision", "ill:local:0.6")):
            scoped[name] = value.get(name, [])
            is_list = isinstance(scoped[name], list)
            if not (is_list and all(isinstance(one, str) for one in scoped[name])):
                raise InputError(f'"policy": "{name}" must be a list such as ["{example}"].')
        without = value.get("without_group", False)
        if not isinstance(without, bool):
            raise InputError('"policy": "without_group" must be true or false.')
        return cls(
            floors=tuple(floors),
            ratio_global=value.get("ratio_global"),
            ratio_local=value.get("ratio_local"),
            ratio_leave_out=value.get("ratio_leave_out", 0.0),
            limits=tuple(parse_limit(one) for one in scoped["limits"]),
            utility=Utility.from_json(value.get("utility", "accuracy")),
            without_group=without,
            precision=tuple(parse_precision(one) for one in scoped["precision"]),
            capacity_global=value.get("capacity_global"),
            capacity_local=value.get("capacity_local"),
        )


def parse_limit(text: str) -> GroupingLimit:
    """A limit written GROUPING:SCOPE:EPS, such as race:local:0.05."""
    return GroupingLimit(*_parts(text, "the limit", "GROUPING:SCOPE:EPS, like race:local:0.05"))


def parse_precision(text: str) -> Precision:
    """A precision written LABEL:SCOPE:RATE, such as ill:local:0.6."""
    return Precision(*_parts(text, "the precision", "LABEL:SCOPE:RATE, like ill:local:0.6"))


def _parts(text: str, what: str, form: str) -> tuple[str, str, float]:
    named, _, number = text.rpartition(":")
    name, _, scope = named.rpartition(":")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not name or not scope or value != value:
        raise InputError(f'{what} "{text}" is not {form}.')
    return name, scope, value


def parse_floor(text: str, option: str) -> Floor:
    """A floor written LABEL=RATE (``--floor``) or LABEL=DELTA (``--keep``)."""
    label, equals, number = text.rpartition("=")
    try:
        rate = float(number)
    except ValueError:
        equals = ""
    if not equals or not label:
        example = "cancer=0.6" if option == "--floor" else "cancer=0.05"
        raise InputError(f'{option} "{text}" is not LABEL=NUMBER, like {example}.')
    return Floor(label, rate) if option == "--floor" else Floor(label, keeps=rate)
