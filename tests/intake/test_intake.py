"""What others bring: read, guessed, checked, split, merged; or refused in one sentence."""

import io
import json
import re
import struct
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.scored import ScoredData
from fairfl_core.errors import InputError
from fairfl_core.intake import (
    EXAMPLE,
    ColumnRoles,
    example_counts,
    example_table,
    experiment_from_counts,
    experiment_from_table,
    guess_roles,
    guess_scores,
    labels_of,
    open_table,
)
from fairfl_core.privacy.mechanisms import Mechanism, what_if
from tests.cli.refusing import JARGON, TO_DO

COLUMNS = ColumnRoles("site", "sex", "label", "answer")


def people(rows=400, clients=4, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, rows)
    score = np.clip(rng.normal(0.35 + 0.3 * label, 0.2), 0, 1).round(4)
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(rows)],
            "site": [f"s{i}" for i in rng.integers(0, clients, rows)],
            "sex": np.where(rng.random(rows) < 0.5, "woman", "man"),
            "label": label,
            "answer": (score > 0.5).astype(int),
            "score_0": (1 - score).round(4),
            "score_1": score,
        }
    )


def csv_of(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def parquet_of(frame, **options):
    out = io.BytesIO()
    frame.to_parquet(out, index=False, **options)
    return out.getvalue()


def taken(frame, columns=COLUMNS, **options):
    return experiment_from_table(open_table("rows.csv", csv_of(frame)), columns, **options)


def said(found, look=None):
    return " ".join(c.sentence for c in found.checks if look is None or c.look is look)


def refused(call, *says):
    with pytest.raises(InputError) as caught:
        call()
    sentence = str(caught.value)
    assert "\n" not in sentence and sentence.endswith("."), sentence
    assert not JARGON.search(sentence), sentence
    assert TO_DO.search(sentence), sentence
    for part in says:
        assert part in sentence, sentence


# -------------------------------------------------------------------- reading and guessing


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_common_delimiter(delimiter):
    upload = open_table("rows.csv", csv_of(people(), sep=delimiter))
    assert upload.columns == tuple(people().columns)
    assert guess_roles(upload) == replace(COLUMNS, row_id="id")
    assert (
        experiment_from_table(upload, COLUMNS).experiment.manifest["dataset"]["rows_used"] == 400
    )


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("hospital,sex,diagnosis,answer", ("hospital", "sex", "diagnosis", "answer")),
        ("y_true,y_pred,Race,STATE", ("STATE", "Race", "y_true", "y_pred")),
        (
            "clinic id,gender,target,predicted label",
            ("clinic id", "gender", "target", "predicted label"),
        ),
        (  # by the values the first would be the client, and the second the group
            "sex at birth,the hospital,true class,answer given",
            ("the hospital", "sex at birth", "true class", "answer given"),
        ),
        ("a,b,c,d", ("a", "b", "c", "d")),
    ],
)
def test_columns_are_guessed(header, expected):
    rows = "\n".join(f"v{i % 5},{i % 2},{i % 3},{i % 3}" for i in range(60))
    found = guess_roles(open_table("rows.csv", f"{header}\n{rows}".encode()))
    if header != "a,b,c,d":
        assert (found.client, found.group, found.label, found.prediction) == expected
    else:
        assert {found.client, found.group, found.label, found.prediction} == set(expected)


def test_scores_are_paired_with_labels_by_name_or_by_a_person():
    assert guess_scores(("ill", "well"), ("score_well", "score_ill")) == (
        ("ill", "score_ill"),
        ("well", "score_well"),
    )
    assert guess_scores(("a", "b"), ("prob1", "prob2")) == ()
    rows = "".join(f"s{i % 3},{'fm'[i % 2]},{'ab'[i % 2]},0.2,0.8\n" for i in range(30))
    found = guess_roles(open_table("r.csv", f"site,sex,truth,prob1,prob2\n{rows}".encode()))
    assert found.scores == (("a", ""), ("b", ""))
    assert guess_scores(("a", "b", "c"), ("prob1", "prob2")) == ()
    assert labels_of(open_table("r.csv", csv_of(people())), "label") == ("0", "1")


def test_the_example_is_read_as_it_stands():
    text = example_table()
    assert text == example_table() and text.count("\n") == 2101
    upload = open_table(EXAMPLE, text.encode())
    assert guess_roles(upload) == ColumnRoles(
        "hospital", "sex", "diagnosis", "prediction", row_id="patient"
    )
    found = experiment_from_table(upload, guess_roles(upload))
    assert not said(found, look=True)
    assert found.experiment.clients == ("East", "Harbour", "North", "South", "West")


# -------------------------------------------------------------------- splits


def test_half_of_each_client_is_held_out_with_a_fixed_seed():
    first, again = taken(people()).experiment, taken(people()).experiment
    validation, test = first.counts(0, "validation"), first.counts(0, "test")
    assert (np.abs(validation.n_client - test.n_client) <= 1).all()
    assert validation.n + test.n == 400
    assert (again.counts(0, "test").table == test.table).all()
    assert "drawn with seed 0" in said(taken(people()))


@given(st.lists(st.integers(2, 9), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_odd_person_of_each_client_makes_the_lottery(sizes, random):
    sites = [f"s{client}" for client, size in enumerate(sizes) for _ in range(size)]
    random.shuffle(sites)
    frame = pd.DataFrame({"site": sites, "sex": "m", "label": 0, "answer": 0})
    frame.loc[0, ["sex", "label"]] = "f", 1
    found = taken(frame).experiment
    assert found.counts(0, "validation").n_client.tolist() == [-(-size // 2) for size in sizes]
    assert found.counts(0, "test").n_client.tolist() == [size // 2 for size in sizes]


def test_a_split_column_is_followed_and_training_rows_are_left_out():
    frame = people()
    frame["split"] = np.resize(["train", "Val", "TEST"], len(frame))
    found = taken(frame, ColumnRoles("site", "sex", "label", "answer", split="split"))
    wanted = ClientCounts.from_table(
        frame[frame.split == "TEST"],
        client="site",
        group="sex",
        label="label",
        prediction="answer",
    )
    assert (found.experiment.counts(0, "test").table == wanted.table).all()
    assert "134 in neither validation nor test" in said(found)
    holes = frame.astype(str)
    holes.loc[0, "label"], holes.loc[1, "label"] = "", " "  # one of training, one of validation
    found = taken(holes, ColumnRoles("site", "sex", "label", "answer", split="split"))
    assert found.experiment.counts(0, "validation").n == 132
    assert "2 without a label; 133 in neither validation nor test" in said(found)
    frame["split"] = np.resize(["test", "Test ", "TEST"], len(frame))  # one name, three ways
    refused(
        lambda: taken(frame, ColumnRoles("site", "sex", "label", "answer", split="split")),
        'column "split" has no rows of "validation" (it holds "test")',
    )


def test_scores_are_kept_for_the_exact_region_where_they_are_probabilities():
    scores = (("0", "score_0"), ("1", "score_1"))
    experiment = taken(people(), ColumnRoles("site", "sex", "label", "", scores)).experiment
    found = ScoredData.from_experiment(experiment, 0, "validation")
    assert (found.counts.table == experiment.counts(0, "validation").table).all()
    close = people().assign(score_0=0.5 - 1e-9, score_1=0.5 + 1e-9)  # one number in 32 bits
    experiment = taken(close, ColumnRoles("site", "sex", "label", "", scores)).experiment
    found = ScoredData.from_experiment(experiment, 0, "validation")
    assert (found.counts.table == experiment.counts(0, "validation").table).all()
    assert found.counts.table[..., 0].sum() == 0


@pytest.mark.parametrize(
    ("part", "kept"), [("train", True), ("validation", False), ("test", False)]
)
def test_scores_that_are_looked_at_must_be_probabilities(part, kept):
    frame = people()
    frame["split"] = np.resize(["train", "validation", "test"], len(frame))
    frame.loc[frame.split == part, "score_0"] = 1 - frame["score_0"] / 2
    roles = ColumnRoles("site", "sex", "label", "", (("0", "score_0"), ("1", "score_1")), "split")
    if kept:
        assert taken(frame, roles).experiment.has_scores
        return
    row = int(np.argmax((frame.split == part) & (frame.score_0 + frame.score_1 != 1)))
    refused(lambda: taken(frame, roles), f"data row {row + 1}: the scores", "sum to one")


# -------------------------------------------------------------------- checks


def test_rows_dropped_are_counted_with_their_reason():
    frame = people().astype(str)
    frame.loc[0, "site"], frame.loc[1, "sex"], frame.loc[2, "label"] = "", " ", ""
    frame.loc[3, "answer"] = ""
    data = csv_of(frame) + b"only,three,cells\n"
    found = experiment_from_table(open_table("rows.csv", data), COLUMNS)
    assert "401 rows read, 396 kept" in said(found)
    for why in (
        "1 without a client",
        "1 without a group",
        "1 without a label",
        "1 without an answer",
        "1 with too few or too many cells",
    ):
        assert why in said(found)
    frame.loc[5, "score_1"] = "high"
    scores = (("0", "score_0"), ("1", "score_1"))
    found = experiment_from_table(
        open_table("r.csv", csv_of(frame)), ColumnRoles("site", "sex", "label", "", scores)
    )
    assert "1 with a score that is no number" in said(found)


def test_names_that_differ_only_in_case_or_spaces():
    frame = people()
    frame.loc[:50, "sex"] = frame.loc[:50, "sex"].str.upper() + " "
    assert "differ only in case or spaces" in said(taken(frame), look=True)
    joined = taken(frame, join=True)
    assert len(joined.experiment.groups) == 2 and not said(joined, look=True)
    frame["label"] = np.where(frame.label == 1, "Yes", "No")
    frame["answer"] = np.where(frame.answer == 1, "yes", "no ")
    refused(lambda: taken(frame), "no name in common")
    assert taken(frame, join=True).experiment.labels == ("No", "Yes")


def test_a_client_that_is_a_person_and_a_label_that_is_a_quantity():
    frame = people(30_000)
    refused(lambda: taken(frame, ColumnRoles("id", "sex", "label", "answer")), "id of a person")
    refused(lambda: taken(frame[:900], ColumnRoles("id", "sex", "label", "answer")), "both")
    frame["site"] = np.arange(len(frame)) // 2
    assert "id of a person" in said(taken(frame[:4000]), look=True)
    refused(
        lambda: taken(frame, ColumnRoles("site", "sex", "score_1", "answer")), "looks continuous"
    )
    frame["label"] = frame["answer"] = np.arange(len(frame)) % 12
    assert "looks continuous" in said(
        taken(people().assign(label=np.arange(400) % 12, answer=np.arange(400) % 12)), look=True
    )
    refused(lambda: taken(people(), ColumnRoles("site", "score_1", "label", "answer")), "group")


@pytest.mark.parametrize(("labels", "look"), [(10, False), (11, True), (12, True)])
def test_more_than_ten_numbers_look_continuous_and_names_never_do(labels, look):
    """Ten grades are classes; eleven different numbers are told, however they are written."""
    kinds = np.arange(600) % labels
    for names in (kinds, -kinds, kinds / 2):
        found = taken(people(600).assign(label=names, answer=names))
        assert (f"The label has {labels} different numbers" in said(found, look=True)) == look
    words = [f"grade {kind}" for kind in kinds]
    assert "looks continuous" not in said(taken(people(600).assign(label=words, answer=words)))


def test_class_order():
    swapped = (("0", "score_1"), ("1", "score_0"))
    with pytest.raises(InputError, match="Choose the columns so") as refused:
        taken(people(), ColumnRoles("site", "sex", "label", "", swapped))
    wrong, right = map(float, re.findall(r"right for ([\d.]+)%", str(refused.value)))
    assert wrong < right and wrong + right == pytest.approx(100)
    assert '"score_0" is the score of "0"' in str(refused.value)


def test_favourable_label_and_cells_nobody_is_in():
    frame = people()
    frame = frame[~((frame.site == "s1") & (frame.sex == "woman") & (frame.label == 1))]
    found = taken(frame, favourable="0")
    assert found.experiment.favourable == "0"
    assert "woman with label 1 in s1" in said(found, look=True)


def test_clients_without_both_halves_are_left_out():
    frame = people()
    frame.loc[0, "site"] = "alone"
    found = taken(frame)
    assert "alone" not in found.experiment.clients
    assert "1 of 1 client without people in both" in said(found)


# -------------------------------------------------------------------- hostile files


def parquet_bomb(rows):
    out = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["x"])
    pq.write_table(pa.table({"client": column, "group": column}), out, compression="zstd")
    return out.getvalue()


def long_string_bomb():
    out = io.BytesIO()
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(100_000, np.int32)), ["x" * 10_000_000]
    )
    half = pa.array(np.arange(100_000) % 2)
    table = pa.table({"site": text, "sex": half, "label": half, "answer": half})
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def lying_footer():
    """A footer that says it is two gigabytes long."""
    return b"PAR1" + b"\0" * 100 + struct.pack("<I", 2**31 - 1) + b"PAR1"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("e.csv", b"", "empty"),
        ("e.csv", b"\n\n\n", "empty"),
        ("n.csv", b"a,b\n1,\x002\n", "line 2 holds a NUL byte"),
        ("d.csv", b"client,group,client\n1,2,3\n", '"client" stands twice'),
        ("m.csv", "gr\u00fcn\n".encode() + "gr\u00fcn\n".encode("latin-1"), "line 2 is not UTF-8"),
        ("m.csv", "\n\ngr\u00fcn".encode("latin-1"), "line 3 is not UTF-8"),
        ("m.csv", "gr\u00fcn\ngr\u00fc".encode()[:-1], "line 2 is not UTF-8"),  # cut in a letter
        ("u.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        ("z.csv", b"PK\x03\x04rest", "ZIP archive"),
        ("g.csv", b"\x1f\x8b\x08rest", "gzip"),
        ("b.parquet", b"\x7fELF\x02\x01", "not a Parquet file"),
        ("b.parquet", b"PAR1 and no more", "cut short"),
        ("b.parquet", b"PAR1" + b"\xff" * 200 + b"PAR1", "check the file"),
    ],
)
def test_hostile_files_get_a_sentence(name, data, says):
    refused(lambda: open_table(name, data), name, says)


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        ("l.csv", lambda: b"x" * 2_000_000, "write one person a line"),
        ("w.csv", lambda: b",".join(b"c%d" % i for i in range(10_000)) + b"\n", "10,000 columns"),
        ("f.parquet", lying_footer, "check the file"),
        ("r.parquet", lambda: parquet_bomb(20_000_000), "declares 20,000,000 rows"),
        (
            "c.parquet",
            lambda: parquet_of(pd.DataFrame(np.ones((1, 3000))).add_prefix("c")),
            "columns",
        ),
        (
            "x.parquet",
            lambda: parquet_of(pd.DataFrame({"a": [[1]], "b": [{"c": 1}]})),
            "no column",
        ),
    ],
)
def test_hostile_files_of_any_size_do(name, make, says):
    refused(lambda: open_table(name, make()), name, says)


def test_a_name_of_ten_megabytes_said_a_hundred_thousand_times():
    upload = open_table("s.parquet", long_string_bomb())
    assert len(upload.sample["site"][0]) == 60
    refused(lambda: experiment_from_table(upload, COLUMNS), "10,000,000 letters")


def test_reading_is_given_up_where_most_rows_are_malformed():
    header, good = b"site,sex,label,answer\n", b"a,f,1,1\na,m,0,1\n"
    data = header + good * 300_000 + b"x\n" * 200_000  # beyond what is looked at first
    upload = open_table("m.csv", data)
    refused(lambda: experiment_from_table(upload, COLUMNS), "m.csv", "more than 100,000 rows")
    found = experiment_from_table(open_table("m.csv", header + good * 50 + b"x\n" * 9000), COLUMNS)
    assert "9,100 rows read, 100 kept" in said(found)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("\u202eevil", "U+202E"),
        ("a\u2066b", "U+2066"),
        ("a\x07b", "U+0007"),
        ("x" * 300, "300 letters"),
    ],
)
def test_names_that_act_on_other_text_are_refused(name, says):
    frame = people()
    frame.loc[0, "site"] = name
    refused(lambda: taken(frame), "site", says)


def test_strange_names_are_text():
    frame = people()
    names = [
        "=cmd()",
        "<script>alert(1)</script>",
        "\u0645\u0633\u062a\u0634\u0641\u0649",
        'a "quoted",\nname'[:10],
    ]
    frame["site"] = np.resize(names, len(frame))
    assert set(taken(frame).experiment.clients) == set(names)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (ColumnRoles("site", "site", "label", "answer"), "two things"),
        (ColumnRoles("site", "sex", "label"), "the model's answer"),
        (ColumnRoles("nowhere", "sex", "label", "answer"), "nowhere"),
        (ColumnRoles("site", "sex", "label", "", (("0", "score_0"),)), "no score column"),
        (ColumnRoles("site", "sex", "sex", "answer"), "two things"),
        (ColumnRoles("site", "sex", "label", "id"), "too many values"),
    ],
)
def test_wrong_columns_get_a_sentence(columns, says):
    refused(lambda: taken(people(), columns), says)


# -------------------------------------------------------------------- counts


def as_files(counts):
    return [(name, json.dumps(each.to_json()).encode()) for name, each in counts.items()]


def test_counts_files_are_merged():
    found = experiment_from_counts(as_files(example_counts()))
    experiment = found.experiment
    assert len(experiment.clients) == 5 and experiment.counts(0, "validation").n == 2100
    assert experiment.counts(0, "test") is None and not experiment.has_held_out
    assert "No held-out check possible" in said(found, look=True)


def test_counts_in_another_order_are_the_same_counts():
    four, harbour = example_counts().values()
    turned = ClientCounts(
        harbour.table[:, ::-1, ::-1, ::-1],
        harbour.clients,
        harbour.groups[::-1],
        harbour.labels[::-1],
        harbour.favourable,
    )
    files = as_files({"four": four, "turned": turned})
    mine = experiment_from_counts(files).experiment.counts(0, "validation")
    other = experiment_from_counts(as_files(example_counts())).experiment.counts(0, "validation")
    assert (mine.table == other.table).all() and mine.labels == other.labels


def test_disagreements_are_named():
    four, harbour = example_counts().values()

    def renamed(**names):
        return ClientCounts(
            harbour.table,
            **{
                "clients": harbour.clients,
                "groups": harbour.groups,
                "labels": harbour.labels,
                "favourable": harbour.favourable,
                **names,
            },
        )

    for other, says in (
        (renamed(groups=("man", "girl")), "woman"),
        (renamed(labels=("fine", "ill")), "healthy"),
        (renamed(clients=("North",)), "North"),
        (renamed(favourable="healthy"), "favourable"),
    ):
        refused(
            lambda other=other: experiment_from_counts(as_files({"four": four, "new": other})),
            "new",
            says,
        )


def test_noisy_counts_say_so():
    noisy = what_if(
        example_counts()["example-counts-four.json"],
        Mechanism(name="histogram", epsilon=1.0, neighbours="replace-one"),
        seed=1,
    )
    found = experiment_from_counts(as_files({"noisy.json": noisy}))
    assert found.experiment.counts(0, "validation").noisy
    assert "Noise was added" in said(found)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1]",
        b"{",
        b'{"format": "fairfl-counts/1"}',
        b"[" * 100_000,
        b"\xff\xfe",
        b"1e999",
        b'{"a": 1, "a": 2}',
        b"{" + b",".join(b'"k%d": 1' % i for i in range(50_000)) + b', "k0": 1}',
    ],
)
def test_what_is_no_counts_file_gets_a_sentence(data):
    refused(lambda: experiment_from_counts([("c.json", data)]), "c.json")
