"""Two replicas behind nginx, by deploy/replicas.sh: visitors stay where they are, and a dead one is replaced."""

import asyncio
import time
import urllib.error
import urllib.request

import pytest

from tests.helpers.protocol import INSIDE, Visitor
from tests.helpers.serving import Replicas, has_nginx

pytestmark = pytest.mark.skipif(not has_nginx(), reason="deploy/replicas.sh needs nginx")
LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}


@pytest.fixture(scope="module")
def replicas():
    with Replicas() as started:
        yield started
        assert "Traceback" not in started.log, started.log


def ask(address, cookie=""):
    request = urllib.request.Request(address, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.headers


def test_visitors_are_shared_out_and_stay(replicas):
    async def four():
        visitors = [await Visitor(replicas.address).open(**LINK) for _ in range(4)]
        places = [visitor.replica for visitor in visitors]
        step = visitors[0].sliders[INSIDE].steps[3]
        for visitor in visitors:
            await visitor.move(INSIDE, step)
        said = {visitor.headline for visitor in visitors}
        for visitor in visitors:
            await visitor.close()
        return places, said

    places, said = asyncio.run(four())
    assert set(places) == {"one", "two"}
    assert len(said) == 1 and said != {""}  # every replica says the same


def test_who_knows_a_replica_is_not_given_another(replicas):
    health = f"{replicas.address}/_stcore/health"
    for name in ("one", "two"):
        given = ask(health, f"fairfl_replica={name}").get_all("Set-Cookie") or []
        assert not any("fairfl_replica" in cookie for cookie in given)
    assert any(
        "fairfl_replica" in cookie for cookie in ask(health, "fairfl_replica=none").values()
    )


def test_the_door_forbids_framing_and_tells_no_figures(replicas):
    headers = ask(replicas.address)
    assert headers["X-Frame-Options"] == "DENY" and "frame-ancestors 'none'" in str(headers)
    assert headers["X-Content-Type-Options"] == "nosniff"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        ask(f"{replicas.address}/_stcore/metrics")


def test_a_dead_replica_is_started_again_and_the_other_takes_over(replicas):
    before = replicas.pids
    assert len(before) == 2
    replicas.kill_one()
    for name in ("one", "two"):  # both go on, wherever they were
        ask(f"{replicas.address}/_stcore/health", f"fairfl_replica={name}")
    end = time.monotonic() + 120
    while len(set(replicas.pids) - set(before)) < 1 and time.monotonic() < end:
        time.sleep(0.2)
    assert len(set(replicas.pids) - set(before)) == 1


def test_all_of_it_ends_at_once():
    with Replicas() as started:
        everybody = started.pids
    end = time.monotonic() + 10
    while any(_runs(pid) for pid in everybody) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(_runs(pid) for pid in everybody)


def _runs(pid):
    from pathlib import Path

    return Path(f"/proc/{pid}/cmdline").exists()
