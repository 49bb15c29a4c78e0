"""Names in a private release: declared ones tell nothing, found ones tell who is there.

Noise hides how many people a cell holds, not that the cell is there. A group that one person alone
belongs to would be released by name, whatever the budget. So groups and labels are declared before
anyone looks at the table, and those that nobody has are released as noise on zero. Clients' names
are public: each client releases its own table.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairfl_core._io.names import as_name, check_names, listed, positions
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.grouping import Grouping
from fairfl_core.errors import InputError
from fairfl_core.lp.exact.histograms import ScoreHistogram

__all__ = ["declare_names", "names_note"]


def declare_names(
    counts: ClientCounts,
    *,
    groups: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    favourable: str | None = None,
) -> ClientCounts:
    """Give counts exactly the declared groups and labels, zero where nobody is.

    Parameters
    ----------
    counts : ClientCounts
        Before noise.
    groups, labels : sequence of str, optional
        Every name that could occur, in the order of the release; those of the counts if None.
    favourable : str, optional
        Needed with `labels`, unless it is the last of them: the counts' own may have been found.
    """
    named = {
        field: getattr(counts, field) if given is None else tuple(map(as_name, given))
        for field, given in (("groups", groups), ("labels", labels))
    }
    places = []
    for field, names in named.items():
        check_names(names, field)
        place = positions(getattr(counts, field), names)
        if (place < 0).any():
            stranger = getattr(counts, field)[int(np.argmax(place < 0))]
            raise InputError(
                f'the counts hold "{stranger}", which is not among the declared {field} '
                f"({listed(names)}); declare every name that could occur."
            )
        places.append(place)
    kept = counts.favourable if labels is None else named["labels"][-1]
    if favourable is None and kept != counts.favourable:
        raise InputError(
            f'the favourable label of the counts is "{counts.favourable}", and "{kept}" is the '
            "last of the declared labels; say which it is with --favourable."
        )
    group, label = places
    shape = (len(counts.clients), *(len(named[field]) for field in ("groups", "labels", "labels")))
    table = np.zeros(shape, counts.table.dtype)
    table[np.ix_(np.arange(shape[0]), group, label, label)] = counts.table
    grouping = counts.grouping
    if grouping is not None and groups is not None:
        grouping = Grouping.of_names(grouping.columns, named["groups"])
    return replace(
        counts,
        table=table,
        groups=named["groups"],
        labels=named["labels"],
        favourable=kept if favourable is None else as_name(favourable),
        grouping=grouping,
    )


def names_note(counts: ClientCounts | ScoreHistogram, found: Sequence[str]) -> str:
    """Say whether the names of a release are protected.

    `found` are those that were not declared: "groups", "labels", both or none.
    """
    if not found:
        return (
            "Groups and labels are declared, so their names tell nothing of who is in the table; "
            "clients' names are public."
        )
    names = [f"{field} {listed(getattr(counts, field))}" for field in found]
    return (
        f"Names are not protected: that the table holds the {' and the '.join(names)} is released "
        "without noise. Declare all that could occur with --groups and --labels, or say --declared "
        "if they were declared when people were counted."
    )
