"""Same file, same answer: what the page *Your data* and the shell make of one table."""

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.tables import open_table_at, read_rows
from fairfl_core.errors import InputError
from fairfl_core.intake import ColumnRoles, experiment_from_table, open_table
from tests.cli.running import run

HEADER = ("site", "sex", "label", "said", "score_a", "score_b")
NAMES = {"client": "site", "group": "sex", "label": "label"}
ASKED = ("--client", "site", "--group", "sex", "--label", "label")
BY_ANSWER = ColumnRoles("site", "sex", "label", "said")
BY_SCORES = ColumnRoles("site", "sex", "label", "", (("a", "score_a"), ("b", "score_b")))


@dataclass(frozen=True)
class Dialect:
    """How a table is written in text."""

    delimiter: str = ","
    decimal: str = "."
    end: str = "\n"
    mark: bytes = b""
    quoting: int = csv.QUOTE_MINIMAL

    def written(self, rows):
        out = io.StringIO()
        writer = csv.writer(
            out, delimiter=self.delimiter, lineterminator=self.end, quoting=self.quoting
        )
        writer.writerow(HEADER)
        for *names, first, second in rows:
            scores = (f"{score}".replace(".", self.decimal) for score in (first, second))
            writer.writerow([*names, *scores])
        return self.mark + out.getvalue().encode()


dialects = st.builds(
    Dialect,
    delimiter=st.sampled_from([";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf", b"\n\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
) | st.builds(Dialect, mark=st.sampled_from([b"", b"\xef\xbb\xbf"]))
sites = st.sampled_from(
    ["007", "7", "NA", "Zürich", "a,b", "x;y", 'say "no"', "1.0", " b", "null"]
)
people = st.tuples(
    st.sampled_from(["f", "m", "nan"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["a", "b"]),
    st.integers(0, 64).map(lambda part: part / 64),
)


@st.composite
def tables(draw):
    """Rows of people; each client has at least two, so that the page can halve them."""
    rows = []
    for site in draw(st.lists(sites, min_size=1, max_size=3, unique=True)):
        for sex, label, answer, score in draw(st.lists(people, min_size=2, max_size=6)):
            rows.append((site, sex, label, answer, score, 1 - score))
    return draw(st.permutations(rows))


def parquet(rows, **types):
    out = io.BytesIO()
    pd.DataFrame(rows, columns=HEADER).astype(types).to_parquet(out, index=False)
    return out.getvalue()


def on_the_page(name, data, columns):
    """Both halves of what the page counts, and a refusal without the file's name."""
    try:
        found = experiment_from_table(open_table(name, data), columns).experiment
    except InputError as error:
        return str(error).removeprefix(f"{name}: ")
    halves = found.counts(0, "validation"), found.counts(0, "test")
    names = found.clients, found.groups, found.labels
    return ClientCounts(halves[0].table + halves[1].table, *names).to_json()


def in_the_shell(path):
    ended = run("count", path, *ASKED, "--prediction", "said")
    if ended.code:
        return ended.err.removeprefix(f"fairfl: {path}: ").strip()
    return json.loads(ended.out)


def cells(counts):
    return Counter(
        {
            (client["name"], group, label, answer): n
            for client in counts["clients"]
            for group, by_label in zip(counts["groups"], client["counts"], strict=True)
            for label, by_answer in zip(counts["labels"], by_label, strict=True)
            for answer, n in zip(counts["labels"], by_answer, strict=True)
            if n
        }
    )


def check_counted(name, data, columns, rows, predicted):
    """What is counted is what a loop over the rows finds."""
    page = on_the_page(name, data, columns)
    if isinstance(page, dict):
        assert cells(page) == Counter(
            (site.removesuffix(".0"), sex, label, predicted(answer, *scores))
            for site, sex, label, answer, *scores in rows
        )
    else:  # one group, one label, or labels and answers that have no name in common
        assert "at least two" in page or "no name in common" in page


@given(tables(), dialects)
def test_a_table_in_any_dialect(rows, dialect):
    data = dialect.written(rows)
    check_counted("rows.csv", data, BY_ANSWER, rows, lambda answer, a, b: answer)
    if len({label for _, _, label, *_ in rows}) == 2:
        answered = lambda _, a, b: "a" if a >= b else "b"  # noqa: E731
        check_counted("rows.csv", data, BY_SCORES, rows, answered)


@given(tables(), st.sampled_from(["str", "object", "category"]))
def test_a_table_in_parquet(rows, kind):
    data = parquet(rows, site=kind, sex=kind, label=kind, said=kind)
    check_counted("rows.parquet", data, BY_ANSWER, rows, lambda answer, a, b: answer)


# -------------------------------------------------------------------- refused alike

GOOD = "site,sex,label,said\nA,f,a,a\nA,m,b,a\nA,f,b,b\nA,m,a,b\n"
REFUSED = {
    "Latin-1": (GOOD + "Québec,f,a,a\n").encode("latin-1"),
    "a column twice": GOOD.replace("said", "site").encode(),
    "one group": GOOD.replace(",m,", ",f,").encode(),
    "labels and answers that differ": GOOD.replace(",a\n", ",no\n")
    .replace(",b\n", ",yes\n")
    .encode(),
    "lists in Parquet": parquet([([1], "f", "a", "a", 0.5, 0.5)]),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(tmp_path, data):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    page, shell = on_the_page("rows.csv", data, BY_ANSWER), in_the_shell(path)
    assert isinstance(page, str) and page == shell


def test_rows_that_lack_something_are_dropped_by_the_page_and_named_by_the_shell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(GOOD + "A,f,b\nA,,a,a\n")
    page = on_the_page(path.name, path.read_bytes(), BY_ANSWER)
    path.write_text(GOOD)
    assert page == in_the_shell(path)
    path.write_text(GOOD + "A,f,b\n")
    assert "data row 5 has 3 cells where the header has 4" in in_the_shell(path)
    path.write_text(GOOD + "A,,a,a\n")
    assert 'column "sex", data row 5 is empty' in in_the_shell(path)


# -------------------------------------------------------------------- every command


def some_people(n=240):
    rng = np.random.default_rng(4)
    score = rng.integers(0, 1001, n) / 1000
    label = np.where(rng.random(n) < score, "b", "a")
    sex, site = rng.choice(["f", "m"], n), rng.choice(["Köln", "Bonn"], n)
    answer = np.where(score > 0.5, "b", "a")
    return list(
        zip(site, sex, label, answer, (1 - score).round(3).tolist(), score.tolist(), strict=True)
    )


GERMAN = Dialect(";", ",", "\r\n", b"\xef\xbb\xbf")


def test_solve_evaluate_and_predict_read_any_dialect_too(tmp_path):
    rows = some_people()
    files = {
        "plain.csv": Dialect().written(rows),
        "german.csv": GERMAN.written(rows),
        "rows.parquet": parquet(rows),
    }
    output = []
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        table = (tmp_path / name, *ASKED, "--scores", "score_a,score_b")
        fair, out = tmp_path / f"{name}.json", tmp_path / f"fair-{name}"
        limits = ("--eps-global", "0.02", "--eps-local", "0.05", "--region", "exact")
        solved = run("solve", *table, *limits, "--out", fair, "--json").json
        judged = run("evaluate", fair, *table, "--json").json
        who = (fair, tmp_path / name, "--client", "site", "--group", "sex", "--seed", "3")
        answered = run("predict", *who, "--scores", "score_a,score_b", "--out", out, "--json").json
        answers = read_rows(open_table_at(out), ["answer", "site"], ["score_a"]).to_pandas()
        output.append((solved, judged, answered["changed"], answers.astype(str).to_dict("list")))
    assert output[0] == output[1] == output[2]
    german = (tmp_path / "fair-german.csv").read_text("utf-8")
    assert german.startswith("site;sex;") and "0,5" in german
