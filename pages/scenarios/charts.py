"""Pictures of the Scenarios page that are HTML; maps and clients are drawn by the components."""

from collections.abc import Sequence
from html import escape

from pages.scenarios import text
from pages.shared.theme import CIVIDIS

_TALL = 2.4  # height of a whole bar, in letters


def share_bars(shares: Sequence[float], group: str) -> str:
    """Bars of a group's share in each client, as HTML in which names are only text."""
    bars = "".join(
        f'<div><b>{text.share(share)}</b><i style="height:{_TALL * share:.2f}em"></i>{client}</div>'
        for client, share in enumerate(shares, 1)
    )
    return f'<div class="fairfl-bars" role="img" aria-label="{escape(text.share_of(group))}">{bars}</div>'


def colour_key(words: str, low: float, high: float) -> str:
    """What a map shows and its scale, as HTML: the lowest accuracy, the colours, the highest."""
    colours = ",".join(colour for _, colour in CIVIDIS)
    bar = (
        "display:inline-block;width:8rem;height:.7rem;margin:0 .4rem;vertical-align:middle;"
        f"background:linear-gradient(90deg,{colours})"
    )
    return (
        f'<div class="fairfl-title"><div>{escape(words)}</div><span>{text.of_scale(low)}'
        f'<i style="{bar}"></i>{text.of_scale(high)}</span></div>'
    )
