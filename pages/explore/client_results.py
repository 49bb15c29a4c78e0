"""One client of a study, and what its own limit does to the others."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairfl_core.evaluation.study import Study
from fairfl_core.lp.frontier import FREE


@dataclass(frozen=True, eq=False)
class LimitEffect:
    """Changes that one client's own limit makes: overall, to how many others, and to whom."""

    accuracy: float
    overall: float
    others: int
    table: pd.DataFrame


def rate_table(study: Study, client: str) -> pd.DataFrame:
    """The compared rates of one client, mean over runs, in the notion's order."""
    tables = [each.rate_table() for each in study.evaluations(unseen=study.has_held_out)]
    mine = pd.concat([table[table["client"] == client] for table in tables])
    mean = mine.groupby(["rate_of", "group"], sort=False, as_index=False).mean(numeric_only=True)
    mean["n"] = mean["n"].round()
    order = {str(rate): place for place, rate in enumerate(study.first.solution.notion.rates)}
    return mean.sort_values("rate_of", key=lambda names: names.map(order), kind="stable")


def every_rate(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """The rates of one label, and the accuracy, of those who can be judged, for the figure."""
    mine = table[((table["label"] == label) | table["label"].isna()) & table["assessable"]]
    names = {"rate": "rate_of", "before": "rate_before", "after": "rate"}
    limits = {"after_low": "rate_low", "after_high": "rate_high"}
    return mine.rename(columns=names | limits)


def effect_of_limit(now: Study, without: Study, client: str) -> LimitEffect:
    """Compare a study with the same one in which the client has no limit of its own."""
    unseen = now.has_held_out
    accuracy, overall = (
        [study.over(figure, unseen=unseen).mean for study in (now, without)]
        for figure in (lambda e: e.accuracy, lambda e: e.gaps.overall)
    )
    table = now.client_table(unseen=unseen)[["client", "gap", "price"]]
    table.insert(2, "gap_without", without.client_table(unseen=unseen)["gap"])
    table.insert(3, "change", table["gap"] - table["gap_without"])
    moved = table[np.abs(table["change"].fillna(0.0)) > FREE]
    return LimitEffect(
        accuracy=accuracy[0] - accuracy[1],
        overall=overall[0] - overall[1],
        others=int((moved["client"] != client).sum()),
        table=moved.sort_values("change", key=lambda change: -change.abs()),
    )
