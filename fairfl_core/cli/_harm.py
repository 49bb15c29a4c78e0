"""What `evaluate` tells of those who are worse off, and of rates that nobody asked about."""

from typing import TYPE_CHECKING

from fairfl_core._io.frames import records
from fairfl_core.cli._shell import print_table, say

if TYPE_CHECKING:
    from fairfl_core.evaluation.all_rates import AllRates
    from fairfl_core.evaluation.harm import Harm
    from fairfl_core.evaluation.verdict import Verdict

__all__ = ["show_alarms", "show_closed", "show_rates", "show_verdict", "show_worse_off"]

_MOST = 15  # alarms shown to a person; all of them are in the JSON
_CLOSED = 5


def show_verdict(verdict: "Verdict | None") -> None:
    """The verdict's word and why; or that no limit was asked for."""
    if verdict is None:
        say("No limit was asked for, so there is nothing to be met.")
    else:
        say(f"{verdict.word.upper()}. {verdict.why}")


def show_worse_off(harm: "Harm") -> None:
    """The worst of it in a sentence; nothing where nobody is worse off."""
    if harm.alarms:
        say(f"{harm.title.upper()}. {harm.sentence()}")


def show_alarms(harm: "Harm") -> None:
    """The alarms, worst first; nothing where there is none."""
    show_worse_off(harm)
    many = len(harm.lost)
    if not many:
        return
    title = "Recognised less often" + (f" ({_MOST} of {many})" if many > _MOST else "")
    print_table(
        title,
        ["where", "group", "label", "before", "after", "95 %", "n", "beyond chance"],
        [
            [
                alarm.where,
                alarm.group,
                alarm.label or "",
                f"{alarm.before:.1%}",
                f"{alarm.after:.1%}",
                f"{alarm.low:.1%} to {alarm.high:.1%}",
                f"{alarm.n:,}",
                "yes" if alarm.beyond_chance else "noise" if alarm.noisy else "may be chance",
            ]
            for alarm in harm.lost[:_MOST]
        ],
    )


def show_closed(harm: "Harm") -> None:
    """How the largest gaps were closed."""
    for gap in harm.closed[:_CLOSED]:
        say(gap.sentence())


def show_rates(rates: "AllRates") -> None:
    """Every rate over all clients, every notion, and why not all can be equal.

    Of more than two labels the favourable one is printed; all are in the JSON.
    """
    from fairfl_core.evaluation.before_after import NOT_ASSESSABLE

    favourable = rates.measures[0].label
    shown = [
        row
        for row in records(rates.columns())
        if row["client"] is None and row["label"] in (favourable, None)
    ]
    print_table(
        f"Every rate of “{favourable}”, overall",
        ["rate", "group", "before", "after", "95 %", "n"],
        [
            [
                row["rate"],
                row["group"],
                *(
                    (
                        _share(row["before"]),
                        _share(row["after"]),
                        f"{_share(row['after_low'])} to {_share(row['after_high'])}",
                    )
                    if row["assessable"]
                    else (NOT_ASSESSABLE, NOT_ASSESSABLE, "")
                ),
                f"{row['n']:,.0f}",
            ]
            for row in shown
        ],
    )
    notions = [
        f"{one.notion} {_gap(one.before)} to {_gap(one.after)} ({one.word})"
        for one in rates.notions_of()
    ]
    say(f"Overall gap of every notion, before to after: {'; '.join(notions)}.")
    say(rates.base.sentence())


def _share(value: float | None) -> str:
    return "none" if value is None or value != value else f"{value:.1%}"


def _gap(value: float) -> str:
    return "none" if value != value else f"{value:.3f}"
