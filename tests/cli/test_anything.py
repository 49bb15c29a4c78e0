"""Anything at all is read or refused: a value or an InputError, never another exception."""

import copy
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairfl_core._io.files import read_json
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.evaluation.evaluation import evaluate
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.predictors.kinds import (
    FairPredictor,
    ScorePredictor,
    predictor_from_json,
    predictor_of,
)
from tests.cli.running import people

FUZZ = settings(max_examples=120, derandomize=True)

# Whatever is read, the answer is a value or an InputError, never another exception.

names = st.one_of(
    st.sampled_from(["f", "m", "no", "yes", "north", "", " ", "\ud800", "\0", "1", "1.0"]),
    st.text(max_size=3),
)
numbers = st.one_of(
    st.integers(-2, 9),
    st.sampled_from(
        [2**53, 2**53 + 1, 2**63, -(2**70), 10**400, 0.5, -0.0, 1e-320, 1e308, float("inf")]
    ),
    st.floats(),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, names)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)

COUNTS = {
    "format": "fairfl-counts/1",
    "labels": ["no", "yes"],
    "favourable": "yes",
    "groups": ["f", "m"],
    "clients": [
        {"name": "north", "counts": [[[9, 2], [3, 8]], [[7, 1], [1, 9]]]},
        {"name": "south", "counts": [[[5, 4], [4, 6]], [[6, 1], [2, 5]]]},
    ],
}
TRUE = ClientCounts.from_json(COUNTS)
PREDICTOR = FairPredictor.from_solution(FairnessProgram(TRUE).solve(0.01, 0.05)).to_json()


def scored(n=60, seed=3):
    """People with scores, under the same names."""
    rng = np.random.default_rng(seed)
    yes = rng.random(n)
    rows = {
        "client": rng.choice(["north", "south"], n),
        "group": rng.choice(["f", "m"], n),
        "label": np.where(rng.random(n) < yes, "yes", "no"),
        "no": 1 - yes,
        "yes": yes,
    }
    names = {name: name for name in ("client", "group", "label")}
    return ScoredData.from_table(rows, **names, scores=["no", "yes"])


SCORED = scored()
EXACT = [
    predictor_of(FairnessProgram(SCORED, notion, "exact", rates=rates).solve(0.01, 0.05)).to_json()
    for notion, rates in (("eo", "scores"), ("eo-full", "shrunk"))
]
BLIND = Policy(without_group=True)
BINS = predictor_of(
    FairnessProgram(SCORED, "eo", "exact", policy=BLIND).solve(0.01, 0.05)
).to_json()


def places(value, path=()):
    """Every place in a JSON value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def renamed(value, old, new):
    """The same value with one name changed wherever it stands."""
    if isinstance(value, dict):
        return {new if key == old else key: renamed(part, old, new) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part, old, new) for part in value]
    return new if value == old and isinstance(value, str) else value


@st.composite
def mutated(draw, value):
    """A valid value with one to three places changed, taken away, doubled or renamed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        how = draw(
            st.sampled_from(["name", "number", "number", "number", "any", "drop", "double"])
        )
        if how == "name":
            old = draw(st.sampled_from(["north", "south", "f", "m", "no", "yes"]))
            value = renamed(value, old, draw(names))
            continue
        kind = int | float if how == "number" else object
        found = [path for path in places(value) if isinstance(at(value, path), kind)]
        if not found:
            continue
        *above, last = draw(st.sampled_from(found))
        inner = at(value, above)
        if how == "drop":
            del inner[last]
        elif how != "double":
            inner[last] = draw(numbers if how == "number" else anything)
        elif isinstance(inner, list):
            inner.append(copy.deepcopy(inner[last]))
        else:
            inner[draw(names)] = inner[last]
    return value


def goes_out_as_it_came_in(read, value):
    """Take a value; if it is taken, it can be written and read again."""
    try:
        taken = read(value)
    except InputError as error:
        assert str(error).endswith("."), error
        return None
    text = json.dumps(taken.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")
    again = read(json.loads(text))
    assert again.to_json() == taken.to_json()
    return taken


@FUZZ
@given(anything)
@example({"format": "fairfl-counts/1"})
@example({"format": "fairfl-predictor/1"})
def test_any_json_value_is_taken_or_refused(value):
    for read in (ClientCounts.from_json, predictor_from_json):
        goes_out_as_it_came_in(read, value)


@FUZZ
@given(mutated(COUNTS) | mutated(COUNTS | {"noisy": True}))
def test_spoilt_counts_are_taken_or_refused(value):
    counts = goes_out_as_it_came_in(ClientCounts.from_json, value)
    if counts is not None:
        assert counts.table.min() >= 0 and np.isfinite(counts.table).all()
        assert len(set(counts.clients)) == len(counts.clients) >= 1
        assert len(counts.groups) >= 2 and len(counts.labels) >= 2
        if counts.n > 0:  # noise may leave nobody
            solution = FairnessProgram(counts).solve(0.01, 0.05)
            json.dumps(solution.to_json(), allow_nan=False)


@settings(FUZZ, max_examples=200)
@given(st.sampled_from([PREDICTOR, *EXACT, BINS]).flatmap(mutated))
def test_spoilt_predictors_are_taken_or_refused(value):
    """Whatever is taken can be written, judged and asked for an answer, or says why not."""
    predictor = goes_out_as_it_came_in(predictor_from_json, value)
    if predictor is None:
        return
    seen = [[0.5, 0.5]] if predictor.needs_scores else ["yes"]
    try:
        found = evaluate(predictor, SCORED)
        predictor.sample(["north"], ["f"] if predictor.needs_group else None, seen, seed=1)
    except InputError:
        return
    assert ((found.confusion >= 0) & np.isfinite(found.confusion)).all()
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize("answers", [[{}, {}], [[], []], [None, None], ["no", {}], "no", {}, 3])
def test_answers_that_are_no_labels(answers):
    value = copy.deepcopy(EXACT[0])
    value["clients"][0]["rules"][0] = [{"probability": 1.0, "answers": answers}]
    with pytest.raises(InputError, match="needs one of the labels for each answer"):
        ScorePredictor.from_json(value)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, True, "1", None])
def test_a_number_that_is_none(number):
    value = copy.deepcopy(PREDICTOR)
    value["reached"]["n"] = number
    with pytest.raises(InputError, match='"reached", "n"'):
        FairPredictor.from_json(value)


@settings(FUZZ, max_examples=200)
@given(
    st.one_of(
        st.binary(max_size=40),
        st.text(max_size=40).map(str.encode),
        st.text('[]{}":,.0123456789eE+-nulltrfas\\u ', max_size=30).map(str.encode),
        anything.map(json.dumps).map(str.encode),
        st.tuples(st.binary(max_size=3), st.integers(0, 400)).map(
            lambda cut: json.dumps(COUNTS).encode()[: cut[1]] + cut[0]
        ),
    )
)
@example(b"[" * 2000 + b"]" * 2000)
@example(b'{"a":' * 2000)
@example(b"[" + b"9" * 5000 + b"]")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_json_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.json")
        path.write_bytes(content)
        try:
            value = read_json(path)
        except InputError as error:
            assert str(path) in str(error)
            return
    assert value == json.loads(content.decode("utf-8-sig")), content


cells = st.one_of(
    st.sampled_from(["f", "m", "no", "yes", "north", "1", "1.0", "007", "NA", "nan", "", " "]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
)
tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=5)
)


def as_text(rows, separator, end):
    return end.join(separator.join(row) for row in rows)


@settings(FUZZ, max_examples=150)
@given(
    st.one_of(
        st.builds(
            as_text,
            tables,
            st.sampled_from([",", ",", ";", "\t"]),
            st.sampled_from(["\n", "\r\n", "\r"]),
        ),
        st.text('fm01,,,\n\n"\r ;\0é.', max_size=60),
        st.lists(st.text('fm01,,,"', min_size=5, max_size=9), max_size=6).map("\n".join),
    ),
    st.sampled_from(
        [
            "clinic,sex,diagnosis,model\n",
            "sex,clinic,diagnosis,model,x\n",
            "clinic,sex,diagnosis,score_0,score_1\n",
            "",
        ]
    ),
)
def test_any_small_table_is_counted_or_refused(text, header):
    answer = {"scores": ["score_0", "score_1"]} if "score" in header else {"prediction": "model"}
    wanted = {"client": "clinic", "group": "sex", "label": "diagnosis"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_bytes((header + text).encode("utf-8"))
        names = [*wanted.values(), *([] if "scores" in answer else ["model"])]
        try:
            rows = read_rows(open_table_at(path), names, answer.get("scores", []))
            counts = ClientCounts.from_table(rows, **wanted, **answer)
        except InputError:
            return
    assert counts.n == len(rows) > 0
    json.dumps(counts.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")


@settings(FUZZ, max_examples=60)
@given(
    st.data(),
    st.sampled_from(
        [
            st.integers(0, 2),
            st.booleans(),
            st.floats(),
            st.none() | st.text(max_size=2),
            st.binary(max_size=2),
            st.dates(),
            st.lists(st.integers(0, 1), max_size=2),
            st.decimals(0, 2, places=1),
            st.dictionaries(st.just("a"), st.integers()),
        ]
    ),
)
def test_any_parquet_column_is_counted_or_refused(data, kind):
    rows = people(6)
    column = data.draw(st.sampled_from(["clinic", "sex", "diagnosis", "model", "score_yes"]))
    rows[column] = pd.Series(data.draw(st.lists(kind, min_size=6, max_size=6)), dtype=object)
    wanted = {"client": "clinic", "group": "sex", "label": "diagnosis"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        try:
            rows.to_parquet(path)
        except Exception:  # Arrow cannot hold it, so nobody can bring it
            return
        for answer in ({"prediction": "model"}, {"scores": ["score_no", "score_yes"]}):
            names = [*wanted.values(), *([] if "scores" in answer else ["model"])]
            try:
                rows = read_rows(open_table_at(path), names, answer.get("scores", []))
                counts = ClientCounts.from_table(rows, **wanted, **answer)
            except InputError:
                continue
            assert counts.n == 6
