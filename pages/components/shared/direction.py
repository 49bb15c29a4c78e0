"""Names written from right to left, inside sentences that are not."""

import unicodedata

__all__ = ["isolated"]

_FIRST_STRONG, _POP = "\u2068", "\u2069"


def isolated(name: str) -> str:
    """The name, set apart where it is written from right to left: numbers after it stay put."""
    turned = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"{_FIRST_STRONG}{name}{_POP}" if turned else name
