"""Watching: no false alarm while limits are kept, and the broken one told, in time."""

import contextlib
import json
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.lp.policy_file import PolicyFile
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.monitoring.months import differences, month_from_json, ordered, read_months
from fairfl_core.monitoring.watch import Watch, beginnings, confidence_sequence, drift_of, evidence
from fairfl_core.predictors.kinds import predictor_of
from tests.cli.running import run

POLICY = PolicyFile("eop", 1.0, 0.05)
NAMES = ("north", "south"), ("women", "men"), ("well", "ill"), "ill"


def month(rng, n=600, recognised=((0.80, 0.80), (0.80, 0.80)), ill=0.4):
    """Counts of one month: Pr(ill) and Pr(said ill | ill) by client and group."""
    table = np.zeros((2, 2, 2, 2), int)
    for c in range(2):
        for a in range(2):
            sick = rng.binomial(n, ill)
            found = rng.binomial(sick, recognised[c][a])
            false = rng.binomial(n - sick, 0.1)
            table[c, a] = [[n - sick - false, false], [sick - found, found]]
    return ClientCounts(table, *NAMES)


BROKEN = ((0.80, 0.80), (0.70, 0.86))


def a_year(seed=0, *, from_month=7):
    """Twelve months; the south breaks its limit from a month on."""
    rng = np.random.default_rng(seed)
    return [
        (f"2026-{m:02d}", month(rng, recognised=BROKEN if m >= from_month else ((0.8, 0.8),) * 2))
        for m in range(1, 13)
    ]


def written(folder, months):
    folder.mkdir()
    for period, counts in months:
        counts.write(folder / f"month-{period}.json")
    return folder


# ------------------------------------------------------------------ the statistics


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.45, 0.7, 0.9])
@pytest.mark.parametrize("people", [(30, 30), (5, 60)])
def test_evidence_has_a_mean_of_at_most_one_at_the_limit(rate, people):
    """Exactly, over everything that two groups' counts may be; any rate and any shares."""
    limit = 0.1
    chances = [
        binom.pmf(np.arange(n + 1), n, p)
        for n, p in zip(people, (rate, rate + limit), strict=True)
    ]
    low, high = (np.arange(n + 1) / n for n in people)
    difference = (high[None] - low[:, None]).ravel()
    weight = np.full(difference.size, people[0] * people[1] / sum(people))
    log_e, _ = evidence(difference[None], weight[None], np.full(difference.size, limit))
    mean = np.exp(log_e[0]) @ np.outer(*chances).ravel()
    assert 0.5 < mean <= 1 + 1e-12


def test_beginnings_share_one_chance_of_error():
    total = np.exp(beginnings(500)).sum()
    assert total == pytest.approx(1 - 1 / 501)


def test_the_confidence_sequence_covers_in_all_months_at_once():
    rng = np.random.default_rng(2)
    n, truth, draws = 40, 0.2, 2000
    high, low = (rng.binomial(n, p, (60, draws)) / n for p in (0.6, 0.4))
    middle, width = confidence_sequence(high - low, np.full((60, draws), n / 2), 0.05)
    missed = (np.abs(middle - truth) > width).any(axis=0).mean()
    assert missed <= 0.05


def test_at_most_one_in_twenty_ever_raises_an_alarm_where_weekly_intervals_do_often():
    from benchmarks.watch import false_alarms

    mine, usual = false_alarms(60, 3, 50)
    assert mine <= 0.05
    assert usual >= 0.2


def test_a_gap_of_limit_and_a_twentieth_is_told_within_the_people_stated():
    """docs/after-the-decision.md: five clients, 14,000 people of the client."""
    from benchmarks.watch import people_to_detect

    assert np.mean(people_to_detect(20, 5, 200) <= 14_000) >= 0.9


# ------------------------------------------------------------------ the watch


def test_the_south_is_told_from_month_seven_on_and_nobody_before(tmp_path):
    folder = written(tmp_path / "months", a_year())
    base = month(np.random.default_rng(9), n=2000)
    for m in range(1, 13):
        seen = Watch(POLICY, base, read_months([folder])[:m])
        broken = [one.client for one in seen.broken]
        assert broken in ([], ["south"])
        if m < 7:
            assert broken == [] and seen.code in (0, 3)
    assert broken == ["south"]
    (one,) = seen.broken
    assert seen.code == 1
    assert seen.periods[one.since] >= "2026-06" and seen.periods[one.broke] <= "2026-11"
    assert (one.lower, one.higher) == ("women", "men")
    assert one.drift.model and not one.drift.base_rates
    assert "south" in seen.sentence_of(one) and "2026" in seen.sentence_of(one)


def test_rates_are_those_counted_by_hand():
    base = month(np.random.default_rng(3))
    seen = Watch(POLICY, base, [month_from_json(base.to_json(), "month-2026-01.json")])
    table = base.table
    for c, one in enumerate(seen.scopes):
        rate = table[c, :, 1, 1] / table[c, :, 1].sum(axis=1)
        assert one.gap[-1] == pytest.approx(abs(rate[0] - rate[1]))
        assert one.people[-1] == table[c, :, 1].sum()


def test_base_rates_may_drift_without_an_alarm():
    """Everybody's share of the ill doubles; recognition stays: no limit of eop breaks."""
    rng = np.random.default_rng(4)
    months = [(f"2026-{m:02d}", month(rng, ill=0.2 + 0.04 * m)) for m in range(1, 13)]
    found = [month_from_json(c.to_json(), f"m-{p}.json") for p, c in months]
    assert Watch(POLICY, month(rng, n=3000, ill=0.2), found).broken == []


def test_drift_of_base_rates_and_of_the_model_are_told_apart():
    rng = np.random.default_rng(5)
    before = month(rng, n=4000).table[0]
    notion = Watch(POLICY, month(rng), [month_from_json(month(rng).to_json(), "1")]).notion
    other_people = month(rng, n=4000, ill=0.6).table[0]
    base = drift_of(before, other_people, (0, 1), notion, 0)
    assert (base.base_rates, base.model) == (True, False)
    other_model = month(rng, n=4000, recognised=((0.65, 0.8),) * 2).table[0]
    model = drift_of(before, other_model, (0, 1), notion, 0)
    assert (model.base_rates, model.model) == (False, True)
    gap = [t[1, 1, 1] / t[1, 1].sum() - t[0, 1, 1] / t[0, 1].sum() for t in (before, other_model)]
    assert model.from_model + model.from_base_rates == pytest.approx(gap[1] - gap[0])


def test_people_without_a_label_count_for_statistical_parity_only():
    rng = np.random.default_rng(6)
    counts = month(rng)
    value = month_from_json(counts.to_json(), "m-2026-01.json").to_json()
    value["clients"][0]["waiting"] = [[0, 100], [100, 0]]
    (late,) = ordered([month_from_json(json.loads(json.dumps(value)))])
    plain = Watch(PolicyFile("sp", 1.0, 0.05), counts, [month_from_json(counts.to_json(), "1")])
    parity = Watch(PolicyFile("sp", 1.0, 0.05), counts, [late])
    assert parity.scopes[0].people[-1] == plain.scopes[0].people[-1] + 200
    assert parity.scopes[0].gap[-1] > plain.scopes[0].gap[-1]
    other = Watch(POLICY, counts, [late])
    assert other.scopes[0].people[-1] == counts.table[0, :, 1].sum()
    assert any("no label yet" in note and "left out" in note for note in other.notes)


def test_a_predictor_is_watched_by_what_its_lottery_answers():
    rng = np.random.default_rng(7)
    base = month(rng, n=3000, recognised=((0.7, 0.85),) * 2)
    predictor = predictor_of(FairnessProgram(base, "eop", "kernel").solve(1.0, 0.02))
    months = [month_from_json(base.to_json(), "m-2026-01.json")]
    seen = Watch(predictor, base, months)
    assert seen.scopes[0].gap[-1] == pytest.approx(0.02, abs=1e-6)
    raw = Watch(PolicyFile("eop", 1.0, 0.02), base, months)
    assert raw.scopes[0].gap[-1] > 0.1


def test_solving_again_keeps_the_limits_on_the_people_since_the_break():
    months = [month_from_json(c.to_json(), f"m-{p}.json") for p, c in a_year()]
    seen = Watch(POLICY, month(np.random.default_rng(9), n=2000), months)
    solution, _ = seen.solve_again()
    since = seen.broken[0].since
    assert solution.counts.n == sum(c.n for _, c in a_year()[since:])
    assert solution.gaps.local_worst <= 0.05 + 1e-9
    assert solution.accuracy <= solution.model_accuracy


# ------------------------------------------------------------------ what is refused, in a sentence


def test_two_files_of_one_month_are_refused(tmp_path):
    counts = month(np.random.default_rng(0))
    for name in ("a-2026-01.json", "b-2026-01.json"):
        counts.write(tmp_path / name)
    with pytest.raises(
        InputError, match=r"a-2026-01\.json and .*b-2026-01\.json are both of 2026-01"
    ):
        read_months([tmp_path])


def test_months_come_by_the_size_of_their_numbers():
    value = month(np.random.default_rng(0)).to_json()
    for names in (
        ("2026-9", "2026-10", "2026-11"),
        ("2026-W9", "2026-W10"),
        ("week 9", "week 10"),
    ):
        months = [month_from_json(value, f"months/{name}.json") for name in reversed(names)]
        assert [one.period for one in ordered(months)] == list(names)


def test_a_file_that_tells_no_month_is_refused(tmp_path):
    """Such as the baseline, in the same folder."""
    month(np.random.default_rng(0)).write(tmp_path / "counts.json")
    with pytest.raises(InputError, match=r"counts\.json: the name tells no week or month"):
        read_months([tmp_path])


@pytest.mark.parametrize("what", ["groups", "labels"])
def test_other_groups_or_labels_are_refused(what):
    counts = month(np.random.default_rng(0))
    value = counts.to_json()
    value[what] = ["x", "y"]
    value["favourable"] = value["labels"][1]
    with pytest.raises(InputError, match=f"the {what} are"):
        _ = Watch(POLICY, counts, [month_from_json(value, "m-2026-01.json")]).scopes


def test_new_and_gone_clients_are_told_and_the_others_go_on():
    counts = month(np.random.default_rng(0))
    value = counts.to_json()
    value["clients"][1]["name"] = "west"
    seen = Watch(POLICY, counts, [month_from_json(value, "m-2026-01.json")])
    assert [one.client for one in seen.scopes] == ["north", "south"]
    assert any('"west" is new in 2026-01' in note for note in seen.notes)
    assert any('"south" is gone' in note for note in seen.notes)


def test_cumulative_exports_are_told_apart_and_may_not_shrink():
    rng = np.random.default_rng(0)
    one, other = month(rng), month(rng)
    both = ClientCounts(one.table + other.table, *NAMES)
    months = [month_from_json(c.to_json(), f"m-2026-0{k}.json") for k, c in enumerate((one, both))]
    assert (differences(months)[1].table[:, :, :-1] == other.table).all()
    with pytest.raises(InputError, match="shrink"):
        differences(months[::-1])


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A folder with a policy, a baseline and a year of months."""
    monkeypatch.chdir(tmp_path)
    POLICY.write("policy.toml")
    month(np.random.default_rng(9), n=2000).write("counts.json")
    written(tmp_path / "months", a_year())
    return tmp_path


def test_the_command_tells_and_ends_as_the_gate_does(asked):
    ended = run("watch", "policy.toml", "months", "--baseline", "counts.json", "--json")
    value = json.loads(ended.out)
    assert ended.code == 1 and value["verdict"] == "not met"
    by_client = {one["client"]: one for one in value["limits"]}
    assert by_client["south"]["broke"] and not by_client["north"]["broke"]
    some = [f"months/month-2026-0{m}.json" for m in range(1, 4)]
    early = run("watch", "policy.toml", *some, "--baseline", "counts.json")
    assert early.code == 3 and "NOT SURE YET" in early.out
    again = run("watch", "policy.toml", "months", "--baseline", "counts.json", "--out", "p.json")
    assert again.code == 1 and "Solved again" in again.out
    assert run("verify", "p.json", "p-counts.json").code == 0


def test_a_tampered_predictor_is_refused(asked):
    how = ("--notion", "eop", "--eps-local", "0.05", "--out", "p.json")
    assert run("solve", "counts.json", *how).code == 0
    value = json.loads((asked / "p.json").read_text())
    value["epsilon"]["local"]["south"] = 0.5
    (asked / "p.json").write_text(json.dumps(value))
    ended = run("watch", "p.json", "months", "--baseline", "counts.json")
    assert ended.code == 2 and "changed after it was sealed" in ended.err


def rows_of(months):
    for period, counts in months:
        for (c, a, y, j), n in np.ndenumerate(counts.table):
            names = counts.clients[c], counts.groups[a], counts.labels[y], counts.labels[j]
            yield from [(period, *names)] * n
    yield from [("2026-12", "north", "women", None, "ill")] * 50


QUERY = "SELECT month AS period, client, sex, truth, said AS answer FROM answers"
HOW = ("--group", "sex", "--label", "truth", "--baseline", "counts.json")


def same_as_files(url):
    kept = ("--save", "kept", "--json")
    value = json.loads(
        run("watch", "policy.toml", "--sql", QUERY, "--connection", url, *kept, *HOW).out
    )
    how = ("--baseline", "counts.json", "--json")
    files = json.loads(run("watch", "policy.toml", "months", *how).out)
    assert value["limits"] == files["limits"]
    assert any(note.startswith("50 of") for note in value["notes"])
    assert json.loads(run("watch", "policy.toml", "kept", *how).out) == value


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT nonsense FROM answers", "the database answered"),
        ("SELECT month AS period FROM answers", 'no column "client"'),
        (QUERY + " WHERE 0", "no rows"),
    ],
)
def test_what_a_database_refuses_is_told_in_a_sentence(asked, query, told):
    with sqlite(rows_of(a_year()[:1])):
        ended = run("watch", "policy.toml", "--sql", query, "--connection", URL, *HOW)
    assert ended.code == 2
    assert told in ended.err and "Traceback" not in ended.err


URL = "sqlite:///answers.db"


def sqlite(rows):
    pytest.importorskip("adbc_driver_sqlite")
    base = sqlite3.connect("answers.db")
    base.execute("CREATE TABLE answers (month, client, sex, truth, said)")
    base.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", rows)
    base.commit()
    return contextlib.closing(base)


def test_a_sqlite_database_gives_what_files_give(asked):
    with sqlite(rows_of(a_year())):
        same_as_files(URL)


def test_months_with_a_slash_are_kept_in_files(asked):
    query = QUERY.replace("SELECT month", "SELECT replace(month, '-', '/')")
    with sqlite(rows_of(a_year()[:2])):
        how = ("--sql", query, "--connection", URL, "--save", "kept", *HOW)
        assert run("watch", "policy.toml", *how).code == 3
    assert sorted(Path("kept").iterdir())[0].name == "month-2026-01.json"


def test_a_postgresql_database_gives_what_files_give(asked, tmp_path):
    """Started for the test, where it is installed; it refuses to run as root."""
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    places = [os.environ["PATH"], *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]  # Debian's
    tools = [shutil.which(name, path=os.pathsep.join(places)) for name in ("initdb", "postgres")]
    if None in tools:
        pytest.skip("PostgreSQL is not installed.")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    nobody = pwd.getpwnam("nobody")
    as_whom = {"user": nobody.pw_uid, "group": nobody.pw_gid} if os.getuid() == 0 else {}
    if as_whom:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    data, quiet = str(folder / "data"), {"capture_output": True, "cwd": folder, **as_whom}
    begun = subprocess.run([tools[0], "-D", data, "-U", "watch", "-A", "trust"], **quiet)
    assert begun.returncode == 0, begun.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [tools[1], "-D", data, "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **as_whom)
    url = f"postgresql://watch@127.0.0.1:{port}/postgres"
    try:
        for _ in range(100):
            try:
                base = dbapi.connect(url)
                break
            except Exception:
                time.sleep(0.1)
        with base, base.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE answers (month text, client text, sex text, truth text, said text)"
            )
            names = ("month", "client", "sex", "truth", "said")
            columns = zip(*rows_of(a_year()), strict=True)
            cursor.adbc_ingest(
                "answers",
                pa.table(dict(zip(names, map(list, columns), strict=True))),
                mode="append",
            )
            base.commit()
        same_as_files(url)
    finally:
        server.terminate()
        server.wait()
        log.close()
        shutil.rmtree(folder)
