"""The two calls that any Flower app adds: `fairfl_client` and `fair_rounds`."""

import json
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("flwr")

import pyarrow as pa
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from fairfl_core import Mechanism, ScoredData, evaluate, read_predictor
from fairfl_core._io.files import read_json
from fairfl_core.errors import InputError
from fairfl_core.federation import (
    Consent,
    FederationStopped,
    fair_rounds,
    fairfl_client,
    received_model,
)
from fairfl_core.federation.wire import KINDS, WireMessage, check_leaving
from tests.federation.local_grid import LocalGrid

EVERYTHING = Consent()
NAMES = ("St Mary", "Charité", "Zürich")


def people(seed, rows=800):
    """A table of scores in which the illness is harder to see in women."""
    rng = np.random.default_rng(seed)
    woman, ill = rng.random(rows) < 0.4, rng.random(rows) < 0.45
    score = 0.25 + 0.4 * ill - (0.05 + 0.08 * seed) * woman + 0.18 * rng.normal(size=rows)
    return pd.DataFrame(
        {
            "label": np.where(ill, "ill", "healthy"),
            "group": np.where(woman, "woman", "man"),
            "score": score.clip(0, 1),
            "split": np.where(np.arange(rows) % 2, "fit", "new"),
        }
    )


@pytest.fixture
def tables():
    return {name: people(seed) for seed, name in enumerate(NAMES)}


@pytest.fixture
def rounds(tmp_path):
    """Runs fair rounds over tables by name; keeps the grid, and every sentence that was said."""

    class Rounds:
        said: list[str] = []

        def __call__(self, tables, spoil=None, consent=EVERYTHING, client=None, **asked):
            app = fairfl_client(
                ClientApp(),
                lambda context: given(tables[context.node_config["name"]]),
                folder=lambda context: tmp_path / context.node_config["name"],
                consent=consent,
                **(client or {}),
            )
            nodes = {place + 5: (app, {"name": name}) for place, name in enumerate(tables)}
            self.grid = LocalGrid(nodes)
            if spoil:
                self.grid.spoil = spoil
            self.said = []
            usual = {"eps_global": 0.05, "eps_local": 0.1, "timeout": 1, "out": tmp_path / "out"}
            return fair_rounds(self.grid, **(usual | asked), say=self.said.append)

    def given(table):
        if isinstance(table, Exception):
            raise table
        return table

    return Rounds()


def log_of(tmp_path, name):
    return (tmp_path / name / "log.txt").read_text("utf-8")


def all_new(tables, predictor):
    """The new people of all clients in one table, as the core takes them."""
    parts = []
    for name in predictor.clients:
        new = tables[name][tables[name]["split"] == "new"]
        parts.append(
            new.assign(client=name, score_ill=new["score"], score_healthy=1 - new["score"])
        )
    return ScoredData.from_table(
        pd.concat(parts),
        client="client",
        group="group",
        label="label",
        scores={"healthy": "score_healthy", "ill": "score_ill"},
        clients=predictor.clients,
        favourable="ill",
    )


# -------------------------------------------------------------------- what it comes to


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
@pytest.mark.parametrize("limits", [(0.05, 0.1), (0.0, 0.0)])
def test_the_verdict_and_every_alarm_are_those_of_evaluate(
    rounds, tables, tmp_path, region, limits
):
    result = rounds(tables, region=region, eps_global=limits[0], eps_local=limits[1])
    judged = evaluate(result.predictor, all_new(tables, result.predictor))
    assert result.verdict.to_json() == judged.verdict.to_json()
    assert [one.to_json() for one in result.alarms] == [one.to_json() for one in judged.alarms]
    written = read_json(tmp_path / "out" / "result.json")
    assert written["verdict"] == judged.verdict.to_json()
    assert written["alarms"] == [one.to_json() for one in judged.alarms]
    assert written["evaluation"]["accuracy"] == pytest.approx(judged.accuracy, abs=1e-12)
    assert written["evaluation"]["model_accuracy"] == pytest.approx(judged.before.accuracy)
    for alarm in judged.alarms:
        assert f"Worse off: {alarm.sentence()}" in rounds.said
    assert rounds.said[-1] == f"{judged.verdict.word.upper()}. {judged.verdict.why}"
    if limits == (0.0, 0.0) and region == "simplex":  # everybody answered alike: it harms
        assert judged.verdict.is_harmful and len(judged.alarms) > 3


def test_each_client_keeps_its_own_part_and_a_log(rounds, tables, tmp_path):
    result = rounds(tables)
    for name in NAMES:
        own = read_predictor(tmp_path / name / "predictor.json")
        assert own.clients == (name,)
        output = (tmp_path / name / "predictor.json").read_text("utf-8") + log_of(tmp_path, name)
        assert not any(other in output for other in NAMES if other != name)
        local = result.evaluation.gaps.local[result.predictor.clients.index(name)]
        assert f"the gap is {local:.3f}" in log_of(tmp_path, name)


def test_no_array_that_leaves_has_as_many_rows_as_there_are_people(rounds, tables):
    for region in ("simplex", "exact"):
        rounds(tables, region=region)
        seen = set()
        for reply in rounds.grid.replies:
            for record in reply.content.array_records.values():
                for name, array in record.items():
                    seen.add(name)
                    assert not {400, 800} & set(array.shape)
            assert set(reply.content) <= {"fairfl", "fairfl.arrays"}
            assert len(str(reply.content.config_records["fairfl"]["json"])) < 300
        assert seen <= set().union(*(kind.arrays for kind in KINDS.values()))


def test_an_array_as_long_as_the_people_is_not_sent():
    lengths = {"groups": 2, "labels": 2, "bins": 16}
    table = WireMessage("histogram", {}, {"histogram": np.zeros((2, 2, 16))})
    check_leaving(table, lengths, 17)
    with pytest.raises(InputError, match="never leaves a client"):
        check_leaving(table, lengths, 16)
    with pytest.raises(InputError, match="not part of a counts"):
        check_leaving(WireMessage("counts", {}, {"scores": np.zeros(3)}), lengths, 100)
    with pytest.raises(InputError, match="not part of a counts"):
        check_leaving(WireMessage("counts", {}, {"counts": np.zeros((2, 2, 100))}), lengths, 100)


def test_every_message_is_a_line_in_plain_words(rounds, tables, tmp_path):
    rounds(tables)
    lines = [line for line in log_of(tmp_path, "Zürich").splitlines() if " server: " in line]
    kinds = ["join", "join", "counts", "counts", "predictor", "predictor"]
    assert [re.search(r"server: (\w+)", line)[1] for line in lines] == kinds
    for kind, line in zip(kinds, lines, strict=True):
        words = KINDS[kind].replies if " sent " in line else KINDS[kind].asks
        assert words[1:] in line
    assert "It carries counts (8 numbers)." in lines[3]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_tables_of_any_kind_come_to_the_same(rounds, tables, kind):
    wanted = rounds(tables).solution.to_json()
    if kind == "polars":
        polars = pytest.importorskip("polars")
    make = {
        "pandas": lambda table: table,
        "polars": lambda table: polars.from_pandas(table),
        "arrow": pa.Table.from_pandas,
        "mapping": lambda table: {name: table[name].to_numpy() for name in table},
    }[kind]
    assert (
        rounds({name: make(table) for name, table in tables.items()}).solution.to_json() == wanted
    )


def test_answers_instead_of_scores(rounds, tables):
    wanted = rounds(tables).solution.to_json()
    output = {
        name: table.assign(answer=np.where(table["score"] > 0.5, "ill", "healthy")).drop(
            columns="score"
        )
        for name, table in tables.items()
    }
    assert rounds(output).solution.to_json() == wanted
    with pytest.raises(FederationStopped, match="it has answers and no scores"):
        rounds(output, region="exact")


def test_three_labels_and_a_client_that_lacks_one(rounds):
    rng = np.random.default_rng(3)
    tables = {}
    for name in NAMES:
        label = rng.integers(0, 2 if name == "Zürich" else 3, 600)
        scores = rng.dirichlet([2, 2, 2], 600) + 1.5 * np.eye(3)[label]
        scores /= scores.sum(axis=1, keepdims=True)
        columns = {f"score_{k}": scores[:, k] for k in range(3)}
        group = np.where(rng.random(600) < 0.5, "a", "b")
        split = np.where(rng.random(600) < 0.5, "fit", "new")
        tables[name] = pd.DataFrame({"label": label, "group": group, "split": split, **columns})
    result = rounds(tables)
    assert result.predictor.labels == ("0", "1", "2")
    with pytest.raises(InputError, match="there are 3"):
        rounds(tables, region="exact")


def test_fold_models(rounds, tables):
    folded = {}
    for name, table in tables.items():
        table = table.assign(row_id=[f"p{i}" for i in range(len(table))])
        fit, new = (table[table["split"] == part] for part in ("fit", "new"))
        fit = fit.assign(fold=np.arange(len(fit)) % 2)
        twice = [
            new.assign(fold=fold, score=(new["score"] + 0.1 * fold).clip(0, 1)) for fold in (0, 1)
        ]
        folded[name] = pd.concat([fit, *twice])
    result = rounds(folded)
    assert result.predictor.folds == 2
    assert result.evaluation.counts.n == sum((t["split"] == "new").sum() for t in tables.values())


def test_the_model_reaches_the_scores_function(tables, tmp_path):
    seen = []

    def scores(context):
        seen.append(received_model(context)["w"].numpy().tolist())
        return tables[context.node_config["name"]]

    app = fairfl_client(ClientApp(), scores, folder=tmp_path)
    grid = LocalGrid({1: (app, {"name": "St Mary"}), 2: (app, {"name": "Zürich"})})
    fair_rounds(grid, arrays=ArrayRecord({"w": Array(np.array([1.5]))}), out=None, say=seen.append)
    assert seen[:2] == [[1.5], [1.5]] and "app's own model (" in (tmp_path / "log.txt").read_text()
    del grid.contexts[1].state["fairfl.model"]
    with pytest.raises(FederationStopped, match="could not do what it was asked"):
        fair_rounds(grid, out=None, say=seen.append, timeout=1)


# -------------------------------------------------------------------- noise and consent


def test_noise_is_added_on_the_client_and_spent_once(rounds, tables, tmp_path):
    result = rounds(tables, privacy=Mechanism(epsilon=1.0))
    assert result.solution.counts.noisy and result.verdict.word == "not sure yet"
    sent = {
        reply.content.config_records["fairfl"]["json"]: reply.content.array_records[
            "fairfl.arrays"
        ]
        for reply in rounds.grid.replies
        if "fairfl.arrays" in reply.content.array_records
    }
    assert len(sent) >= 3
    truth = tables["Zürich"].query("split == 'fit'")
    counts = result.solution.counts
    noisy = counts.n_label[counts.clients.index("Zürich")]
    there = pd.crosstab(truth["group"], truth["label"]).loc[[*counts.groups], [*counts.labels]]
    assert abs(noisy.sum() - len(truth)) < 60 and (noisy != there.to_numpy()).any()
    assert "spends epsilon = 1 per client" in log_of(tmp_path, "Zürich")
    assert (
        len(list((tmp_path / "Zürich").glob("released_*.json"))) == 2
    )  # to solve on, to judge on


def test_a_client_that_wants_noise_sends_nothing_without(rounds, tables):
    strict = Consent(largest_epsilon=2.0)
    with pytest.raises(FederationStopped, match="a privacy budget of at most 2"):
        rounds(tables, consent=strict)
    with pytest.raises(FederationStopped, match="a privacy budget of at most 2"):
        rounds(tables, consent=strict, privacy=Mechanism(epsilon=3.0))
    assert not any("fairfl.arrays" in one.content.array_records for one in rounds.grid.replies)
    assert rounds(tables, consent=strict, privacy=Mechanism(epsilon=2.0)).solution.counts.noisy


def test_a_statistic_that_is_not_allowed_is_not_sent(rounds, tables):
    with pytest.raises(FederationStopped, match='it does not allow "histogram"'):
        rounds(tables, region="exact", consent=Consent(statistics=("counts",)))


# -------------------------------------------------------------------- bad input on a client

BAD = {
    "missing column": (
        lambda table: table.drop(columns="group"),
        'no column "group"',
        "its table lacks what was asked for",
    ),
    "no split": (lambda table: table.drop(columns="split"), 'no column "split"', "lacks"),
    "one group": (
        lambda table: table.assign(group="man"),
        'all 800 people are of one group ("man")',
        "its people are all of one group",
    ),
    "other labels": (
        lambda table: table.assign(label=table["label"].replace("ill", "sick")),
        'data row 1 holds "sick"' if people(1)["label"][0] == "ill" else 'holds "sick"',
        "its labels are not those agreed on",
    ),
    "NaN": (
        lambda table: table.assign(score=table["score"].where(table.index != 7)),
        'column "score", data row 8 holds',
        "a score in its table is not a probability",
    ),
    "no probability": (
        lambda table: table.assign(score=7.0),
        "which is no probability",
        "a score in its table is not a probability",
    ),
    "few rows": (
        lambda table: table.iloc[:20],
        "10 people to solve on, and at least 50 are asked for",
        "it has fewer people than asked for",
    ),
    "other split": (
        lambda table: table.assign(split="test"),
        'holds "test"; write "fit"',
        "its table lacks what was asked for",
    ),
    "raises": (
        lambda table: ZeroDivisionError("model lost"),
        "the scores function raised ZeroDivisionError: model lost",
        "its scores function failed",
    ),
    "no table": (
        lambda table: 7,
        "returned int, not a table",
        "its scores function gave no table",
    ),
    "no rows": (lambda table: table.iloc[:0], "has no rows", "its table has no rows"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_there_before_anything_leaves(rounds, tables, tmp_path, what):
    spoil, there, here = BAD[what]
    tables["Charité"] = spoil(tables["Charité"])
    asked = {"labels": ("healthy", "ill"), "min_people": 50, "min_clients": 2}
    result = rounds(tables, **asked)
    assert result.predictor.clients == ("St Mary", "Zürich")
    refused = [line for line in log_of(tmp_path, "Charité").splitlines() if "Refused" in line]
    assert len(refused) == 1 and there in refused[0]
    (lost,) = result.left_out
    assert lost.client == "Charité" and here in lost.reason
    assert sum(lost.sentence() == sentence for sentence in rounds.said) == 1
    node = 5 + list(tables).index("Charité")
    left = [one for one in rounds.grid.replies if one.metadata.src_node_id == node]
    (reply,) = left
    words = json.loads(reply.content.config_records["fairfl"]["json"])
    assert words["kind"] == "refusal" and set(words["header"]) == {"client", "public"}
    assert list(reply.content) == ["fairfl"]


def test_without_min_clients_the_run_stops_and_says_why(rounds, tables):
    tables["Zürich"] = tables["Zürich"].assign(group="man")
    with pytest.raises(FederationStopped, match="its people are all of one group"):
        rounds(tables)


def test_labels_that_the_client_did_not_agree_on(rounds, tables, tmp_path):
    with pytest.raises(FederationStopped, match="its labels are not those agreed on"):
        rounds(tables, labels=("no", "yes"), client={"labels": ("healthy", "ill")})
    assert "not those agreed on here (healthy, ill)" in log_of(tmp_path, "Zürich")


# -------------------------------------------------------------------- hostile replies


def changed(reply, kind=None, header=None, arrays=None):
    """The same reply with other words or arrays in it."""
    words = json.loads(reply.content.config_records["fairfl"]["json"])
    words = {"kind": kind or words["kind"], "header": words["header"] | (header or {})}
    records = {"fairfl": ConfigRecord({"json": json.dumps(words)})}
    found = reply.content.array_records.get("fairfl.arrays", {})
    whole = {name: array.numpy() for name, array in found.items()} | (arrays or {})
    if whole:
        records["fairfl.arrays"] = ArrayRecord({name: Array(its) for name, its in whole.items()})
    return replace_content(reply, RecordDict(records))


def replace_content(reply, content):
    copy = Message(content, dst_node_id=0, message_type=reply.metadata.message_type)
    copy.__dict__["_metadata"] = reply.metadata
    return copy


TABLE = np.array([[[50, 10], [10, 60]], [[40, 20], [10, 30]]])
HOSTILE = {
    "NaN": ({"arrays": {"counts": TABLE * np.nan}}, "not a finite number"),
    "negative": ({"arrays": {"counts": TABLE - 20}}, "counts fewer than no people"),
    "absurd": ({"arrays": {"counts": TABLE * 1000}}, "counts more than the 400 people it has"),
    "fractions": ({"arrays": {"counts": TABLE * 0.33}}, "not whole numbers"),
    "other shape": ({"arrays": {"counts": TABLE[:, :, :1]}}, "has the shape"),
    "more arrays": ({"arrays": {"model": TABLE}}, 'an array "model" that nobody asked for'),
    "another's name": ({"header": {"client": "St Mary"}}, 'in the name of "St Mary"'),
    "another kind": ({"kind": "histogram"}, 'answered "histogram" where "counts" was asked'),
    "an unknown kind": ({"kind": "gift"}, 'answered "gift"'),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_reply_is_refused_by_name(rounds, tables, what):
    change, why = HOSTILE[what]

    def spoil(reply):
        words = json.loads(reply.content.config_records["fairfl"]["json"])
        evil = words["header"]["client"] == "Charité" and words["kind"] == "counts"
        return changed(reply, **change) if evil else reply

    result = rounds(tables, spoil=spoil, min_clients=2)
    (lost,) = result.left_out
    assert lost.client == "Charité" and lost.when == "statistics" and why in lost.reason
    assert result.predictor.clients == ("St Mary", "Zürich")


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"fit": -3}, "a number of people that cannot be"),
        ({"fit": 2**60}, "a number of people that cannot be"),
        ({"labels": "ill"}, "says no labels that can be"),
        ({"client": "Zürich"}, 'it goes by "Zürich", as another node does'),
        ({"client": ""}, "which is no name of this study"),
        ({"client": "a\u202eb"}, "cannot be read"),
    ],
)
def test_who_joins_with_words_that_cannot_be_is_left_out(rounds, tables, header, why):
    tables = {name: tables[name] for name in ("Zürich", "St Mary", "Charité")}

    def spoil(reply):
        words = json.loads(reply.content.config_records["fairfl"]["json"])
        evil = words["header"]["client"] == "Charité" and words["kind"] == "join"
        return changed(reply, header=header) if evil else reply

    result = rounds(tables, spoil=spoil, min_clients=2)
    assert result.predictor.clients == ("St Mary", "Zürich")
    assert why in result.left_out[0].reason


def test_who_is_silent_or_fails_is_left_out(rounds, tables):
    def silent(reply):
        words = json.loads(reply.content.config_records["fairfl"]["json"])
        gone = words["header"]["client"] == "Charité" and words["kind"] == "predictor"
        return None if gone else reply

    result = rounds(tables, spoil=silent, min_clients=2)
    assert result.left_out[0].reason == "no answer in 1 s"
    assert result.evaluation.counts.clients == ("St Mary", "Zürich")
    assert result.predictor.clients == ("Charité", "St Mary", "Zürich")  # the others keep theirs


def test_only_those_expected_take_part(rounds, tables):
    result = rounds(tables, clients=("Zürich", "St Mary"), min_clients=2)
    assert result.predictor.clients == ("Zürich", "St Mary")  # in the order they were named
    assert "which is no name of this study" in result.left_out[0].reason
    with pytest.raises(FederationStopped, match='"Paris" is left out'):
        rounds(tables, clients=(*NAMES, "Paris"))


def test_a_predictor_of_somebody_else_is_not_used(rounds, tables, tmp_path):
    result = rounds(tables)
    part = result.predictor.to_json()
    app, context = rounds.grid.apps[5], rounds.grid.contexts[5]
    from fairfl_core.federation.wire import from_records, to_records

    words = json.loads(rounds.grid.sent[0].content.config_records["fairfl"]["json"])["header"]
    header = words | {"labels": ["healthy", "ill"], "groups": ["man", "woman"], "predictor": part}
    asked = Message(to_records(WireMessage("predictor", header)), 5, "query.fairfl_predictor")
    reply = from_records(app(asked, context).content)
    assert reply.header["public"] == "the predictor it got is not its own" and not reply.arrays


def test_a_message_that_cannot_be_read_is_refused(rounds, tables, tmp_path):
    rounds(tables)
    asked = Message(RecordDict({}), 5, "query.fairfl_counts")
    reply = rounds.grid.apps[5](asked, rounds.grid.contexts[5])
    assert "refusal" in reply.content.config_records["fairfl"]["json"]
    assert "cannot be read" in log_of(tmp_path, "St Mary")


def test_wrong_questions_end_in_a_sentence(rounds, tables):
    for wrong, why in (
        ({"notion": "luck"}, 'no notion "luck"'),
        ({"region": "moon"}, 'no region "moon"'),
        ({"confidence": 2.0}, "the confidence is 2.0"),
        ({"favourable": "sick"}, 'the favourable label "sick" is not one of the labels'),
    ):
        with pytest.raises(InputError, match=why):
            rounds(tables, **wrong)
