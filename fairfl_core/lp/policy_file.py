"""A policy as a file: what is asked, who decided it and when (`fairfl-policy/1`, TOML)."""

import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from fairfl_core._io.files import check_keys, read_whole, write_whole
from fairfl_core._io.names import listed
from fairfl_core.errors import InputError, about, check_type
from fairfl_core.fairness.notions import notion_kind
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy, check_epsilon

__all__ = ["FORMAT", "PolicyFile", "today"]

FORMAT = "fairfl-policy/1"
_LONGEST = 1 << 16  # bytes of a file
_TEXTS = ("decided_by", "note")
_NUMBERS = ("eps_global", "eps_local")
_OPTIONAL = {*_TEXTS, *_NUMBERS, "eps_local_client", "decided_on", "guarantee", "policy"}


def today() -> date:
    """The date that a policy is decided on (UTC)."""
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class PolicyFile:
    """All that is asked of a predictor, whatever people and region; what does not stand there is not asked.

    Attributes
    ----------
    notion : str
    eps_global, eps_local : float
        The gap allowed overall and inside each client; 1 asks for nothing.
    eps_local_client : tuple of (str, float)
        Clients with a limit of their own.
    guarantee : Guarantee or None
        With what confidence limits are to hold on unseen people.
    policy : Policy
        What is asked beyond the epsilons.
    decided_by, note : str
    decided_on : date or None
    """

    notion: str
    eps_global: float = 1.0
    eps_local: float = 1.0
    eps_local_client: tuple[tuple[str, float], ...] = ()
    guarantee: Guarantee | None = None
    policy: Policy = Policy()
    decided_by: str = ""
    decided_on: date | None = None
    note: str = ""

    def __post_init__(self) -> None:
        notion_kind(self.notion)
        kinds = (Guarantee, type(None))
        check_type(self.guarantee, kinds, "the guarantee", "a Guarantee or None")
        check_type(self.policy, Policy, "the policy", "a Policy")
        for name in _NUMBERS:
            object.__setattr__(self, name, check_epsilon(getattr(self, name), name))
        own = tuple(
            (name, check_epsilon(eps, f'eps_local of "{name}"'))
            for name, eps in self.eps_local_client
        )
        object.__setattr__(self, "eps_local_client", own)

    def limits(self, clients: tuple[str, ...]) -> dict[str, Any]:
        """Both epsilons, as `Program.solve` takes them."""
        for name, _ in self.eps_local_client:
            if name not in clients:
                raise InputError(
                    f'the limit of the client "{name}" is about nobody here; name one of '
                    f"{listed(clients)}."
                )
        by_client = dict.fromkeys(clients, self.eps_local) | dict(self.eps_local_client)
        return {"eps_global": self.eps_global, "eps_local": by_client}

    @property
    def beyond_gaps(self) -> tuple[str, ...]:
        """What is asked beyond the gaps' limits, by kind."""
        policy = self.policy
        asked = {"floors": policy.floors, "ratios": policy.has_ratios}
        asked["precision or capacity"] = policy.has_shares
        asked["limits of further groupings"] = policy.limits
        return tuple(name for name, given in asked.items() if given)

    # ---------------------------------------------------------------- TOML

    def to_toml(self) -> str:
        """The `fairfl-policy/1` form."""
        import tomli_w

        value: dict[str, Any] = {"format": FORMAT, "notion": self.notion}
        value |= {name: getattr(self, name) for name in _NUMBERS}
        value |= {name: getattr(self, name) for name in _TEXTS if getattr(self, name)}
        if self.decided_on is not None:
            value["decided_on"] = self.decided_on
        if self.eps_local_client:
            value["eps_local_client"] = dict(self.eps_local_client)
        if self.guarantee is not None:
            value["guarantee"] = self.guarantee.to_json()
        if not self.policy.is_plain:
            value["policy"] = self.policy.to_json()
        return tomli_w.dumps(value)

    @classmethod
    def from_toml(cls, data: bytes) -> "PolicyFile":
        """Check and take that form."""
        try:
            value = tomllib.loads(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError("is not text in UTF-8, so it is not TOML; check the file.") from error
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InputError(f"is not TOML ({error}); correct it there.") from error
        if value.get("format") != FORMAT:
            raise InputError(f'has no format = "{FORMAT}"; write that line first.')
        check_keys(value, {"format", "notion", *_OPTIONAL}, _OPTIONAL, "the policy")
        for name in ("notion", *_TEXTS):
            if not isinstance(value.get(name, ""), str):
                raise InputError(f"{name} must be a text in quotes.")
        decided = value.get("decided_on")
        if isinstance(decided, datetime):
            decided = decided.date()
        if not (decided is None or isinstance(decided, date)):
            raise InputError("decided_on must be a date such as 2026-11-18, without quotes.")
        own = value.get("eps_local_client", {})
        if not isinstance(own, dict):
            raise InputError("eps_local_client must be a table of clients and numbers.")
        return cls(
            notion=value["notion"],
            **{name: value[name] for name in (*_NUMBERS, *_TEXTS) if name in value},
            eps_local_client=tuple(own.items()),
            guarantee=Guarantee.from_json(value.get("guarantee")),
            policy=Policy.from_json(value.get("policy")),
            decided_on=decided,
        )

    @classmethod
    def of(cls, solved: Any) -> "PolicyFile":
        """What a predictor, or a solution, was asked for; each client's limit is its own."""
        most = max(solved.eps_local)
        return cls(
            solved.notion,
            solved.eps_global,
            most,
            tuple(
                (name, eps)
                for name, eps in zip(solved.clients, solved.eps_local, strict=True)
                if eps != most
            ),
            solved.guarantee,
            solved.policy,
        )

    @classmethod
    def read(cls, path: str | Path) -> "PolicyFile":
        """Read a policy file; "-" is standard input."""
        data = read_whole(path, _LONGEST, "a policy is short: check the file")
        with about(path):
            return cls.from_toml(data)

    def write(self, path: str | Path) -> Path:
        """Write it, whole or not at all."""
        return write_whole(path, self.to_toml())

    def decided(self, by: str, on: date | None = None) -> "PolicyFile":
        """The same policy as somebody decided it, today unless given."""
        return replace(self, decided_by=by, decided_on=on or today())
