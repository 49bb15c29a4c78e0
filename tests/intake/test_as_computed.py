"""Tables and counts as people bring them: what is made of them or why not, as it was approved.

See `helpers/approved.py`. One table, spoilt or changed in one way after the other.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.intake import (
    ColumnRoles,
    Reading,
    example_counts,
    example_folds,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    labels_of,
    open_table,
    take_in,
)
from tests.helpers.approved import check, declared, refusal, tell
from tests.helpers.cross_fitted import cross_fitted
from tests.helpers.small import people

APPROVED = Path(__file__).with_name("as_computed")
ANSWERS = ColumnRoles("site", "sex", "truth", "said")
SCORED = ColumnRoles("site", "sex", "truth", scores=(("no", "score_no"), ("yes", "score_yes")))
FOLDS = ColumnRoles("site", "sex", "truth", "said", split="split", fold="fold", row_id="id")


def table(**changes):
    """Test people of the first fold; changes are columns, or functions of the table."""
    made = cross_fitted(fit=0, test=120, folds=1, clients=4).drop(columns=["split", "fold"])
    for name, change in changes.items():
        made[name] = change(made) if callable(change) else change
    return made


def csv(made, **options):
    return made.to_csv(index=False, **options).encode()


def taken(made, roles=None, **options):
    data = made if isinstance(made, bytes) else csv(made)
    upload = open_table("rows.csv", data)
    roles = roles or guess_roles(upload)
    return upload, roles, experiment_from_table(upload, roles, **options)


def told(made, roles=None, **options):
    try:
        upload, roles, found = taken(made, roles, **options)
    except InputError as error:
        return {"refused": str(error)}
    experiment = found.experiment
    seed = experiment.seeds[0]
    return {
        "roles": vars(roles),
        "header": [upload.columns, upload.delimiter],
        "checks": [f"{'LOOK: ' * one.look}{one.sentence}" for one in found.checks],
        "names": [experiment.clients, experiment.groups, experiment.labels, experiment.favourable],
        "fitted": experiment.counts(seed, experiment.fit_split).table,
        "dataset": experiment.manifest["dataset"],
        "folds": [experiment.folds, experiment.has_scores, experiment.has_held_out],
        "models": [one.name for one in found.models],
        "reading": found.reading.to_json(),
    }


def some(column, every, value):
    """A column in which every so manieth cell is another one."""
    return lambda made: made[column].where(np.arange(len(made)) % every > 0, value)


TABLES = {
    "plain": lambda: told(table()),
    "answers": lambda: told(table(), ANSWERS),
    "scores": lambda: told(table(), SCORED, favourable="no"),
    "folds": lambda: told(cross_fitted(fit=90, test=30), FOLDS),
    "example": lambda: told(example_table().encode()),
    "example of folds": lambda: told(example_folds().encode()),
    "semicolons": lambda: told(csv(table(), sep=";", decimal=",")),
    "tabs": lambda: told(csv(table(), sep="\t")),
    "split": lambda: told(table(split=lambda made: ["validation", "test"] * (len(made) // 2))),
    "split with training": lambda: told(
        table(split=lambda made: ["train", "val", "test"] * (len(made) // 3))
    ),
    "no validation": lambda: told(table(split="test")),
    "empty cells": lambda: told(table(sex=some("sex", 10, ""), said=some("said", 7, "")), ANSWERS),
    "case and spaces": lambda: told(table(sex=some("sex", 3, " MAN"))),
    "case and spaces, joined": lambda: told(table(sex=some("sex", 3, " MAN")), join=True),
    "one group": lambda: told(table(sex="man")),
    "one label": lambda: told(table(truth="yes", said="yes"), ANSWERS),
    "unknown answer": lambda: told(table(said=some("said", 9, "maybe")), ANSWERS),
    "tiny client": lambda: told(table(site=some("site", 119, "alone"))),
    "many groups": lambda: told(table(sex=lambda made: [f"g{k % 70}" for k in range(len(made))])),
    "crossed": lambda: told(
        table(age=lambda made: ["old", "young"] * (len(made) // 2)),
        ColumnRoles("site", "sex", "truth", "said", crossed_with=("age",)),
    ),
    "probability": lambda: told(
        table(),
        ColumnRoles(
            "site", "sex", "truth", probability="score_yes", probability_of="yes", threshold=0.6
        ),
    ),
    "two models": lambda: told(
        table(other=some("said", 4, "no")),
        ColumnRoles("site", "sex", "truth", models=("said", "other")),
    ),
    "a model that is silent": lambda: told(
        table(other=some("said", 4, "")),
        ColumnRoles("site", "sex", "truth", "said", models=("other", "score_yes")),
    ),
    "a model of other words": lambda: told(
        table(other="maybe"), ColumnRoles("site", "sex", "truth", "said", models=("other",))
    ),
    "a model twice": lambda: told(
        table(), ColumnRoles("site", "sex", "truth", "said", models=("said",))
    ),
    "too many models": lambda: told(
        table(), ColumnRoles("site", "sex", "truth", models=tuple(f"m{k}" for k in range(12)))
    ),
    "a column twice": lambda: told(table(), ColumnRoles("site", "site", "truth", "said")),
    "no such column": lambda: told(table(), ColumnRoles("site", "sex", "truth", "moon")),
    "no model": lambda: told(table(), ColumnRoles("site", "sex", "truth")),
    "logits": lambda: told(
        table(score_yes=lambda made: made["score_yes"] * 9),
        ColumnRoles("site", "sex", "truth", scores=SCORED.scores, scores_are="logits"),
    ),
    "no probabilities": lambda: told(table(score_yes=0.9), SCORED),
    "words for scores": lambda: told(table(score_yes="high"), SCORED),
    "scores of other labels": lambda: told(
        table(),
        ColumnRoles("site", "sex", "truth", scores=(("no", "score_no"), ("maybe", "score_yes"))),
    ),
    "folds without split": lambda: told(
        cross_fitted(fit=90, test=30), ColumnRoles("site", "sex", "truth", "said", fold="fold")
    ),
    "a person in two folds": lambda: told(
        cross_fitted(fit=90, test=30).assign(split="fit"), FOLDS
    ),
    "ragged": lambda: told(csv(table()) + b"too,few\n"),
    "all ragged": lambda: told(b"site,sex,truth,said\n1,2\n"),
    "twice": lambda: told(b"site,site,truth,said\na,b,c,d\n"),
    "no header": lambda: told(b"\n\n"),
    "empty": lambda: told(b""),
    "zip": lambda: told(b"PK\x03\x04aaaa"),
    "utf-16": lambda: told("site,sex".encode("utf-16")),
    "not utf-8": lambda: told(b"site,sex\n\xff\xfe,a\n"),
    "zeros": lambda: told(b"site,sex\n\x00,a\n"),
    "long name": lambda: told(table(sex=some("sex", 9, "x" * 300))),
    "unseen sign": lambda: told(table(sex=some("sex", 9, "a\u202eb"))),
    "few people": lambda: told(table().head(6)),
    "header only": lambda: told(table().head(0)),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_taken_in_as_was_approved(name):
    check(APPROVED / f"{name}.txt", tell(**TABLES[name]()))


def counts_of(*files, **options):
    return lambda: experiment_from_counts(
        [
            (f"{k}.json", one if isinstance(one, bytes) else json.dumps(one).encode())
            for k, one in enumerate(files)
        ],
        **options,
    )


def test_counts_are_taken_in_as_was_approved():
    all_of_them = people().counts
    whole = all_of_them.to_json()
    parts = [all_of_them.select_clients([name]).to_json() for name in all_of_them.clients[:3]]
    found = counts_of(*parts)()
    shown = {
        "joined": found.experiment.manifest["dataset"],
        "checks": [one.sentence for one in found.checks],
        "noisy": [one.sentence for one in counts_of(whole | {"noisy": True})().checks],
        "favourable": counts_of(whole, favourable="well")().experiment.favourable,
    }
    other = people(3).counts.to_json()
    spoilt = {
        "nothing": (),
        "twice": (whole, whole),
        "labels differ": (parts[0], other),
        "groups differ": (parts[0], people(2, 4).counts.select_clients(["south"]).to_json()),
        "no counts": ({"format": "moon"},),
        "no json": (b"{",),
        "not finite": (b'{"a": NaN}',),
        "a key twice": (b'{"a": 1, "a": 2}',),
        "not utf-8": (b"\xff",),
        "folds differ": (parts[0] | {"folds": 3}, parts[1]),
        "a number": (whole | {"clients": 3},),
        "no people": (whole | {"clients": []},),
    }
    shown["refused"] = {name: refusal(counts_of(*files)) for name, files in spoilt.items()}
    check(APPROVED / "counts.txt", tell(**shown))


def test_examples_and_readings_are_what_was_approved():
    upload = open_table("rows.csv", csv(table()))
    reading = Reading("no", ANSWERS, True)
    again = take_in([("rows.csv", upload.data)], reading)
    files = example_counts()
    shown = tell(
        table=example_table().splitlines()[:8],
        folds=example_folds().splitlines()[:8],
        counts={name: one.table for name, one in files.items()},
        labels=labels_of(upload, "truth"),
        sample=upload.sample.head(3),
        reading=reading.to_json(),
        again=again.experiment.manifest["dataset"],
        refused=[
            refusal(lambda value=value: Reading.from_json(reading.to_json() | value))
            for value in ({"more": 1}, {"favourable": 3}, {"join": 1}, {"roles": 2})
        ],
    )
    check(APPROVED / "examples.txt", shown)


def test_what_the_room_declares_is_what_was_approved():
    """Constants, and what is taken unless told."""
    check(APPROVED / "declared.txt", declared("intake"))
