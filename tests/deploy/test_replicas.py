"""Two replicas behind nginx, by deploy/replicas.sh: visitors stay where they are, and a dead one is replaced."""

import asyncio
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.helpers.crowd import alone, crowd
from tests.helpers.protocol import INSIDE, Visitor
from tests.helpers.serving import Replicas, has_nginx

pytestmark = pytest.mark.skipif(not has_nginx(), reason="deploy/replicas.sh needs nginx")
LINK = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}


@pytest.fixture(scope="module")
def replicas():
    with Replicas() as started:
        yield started
        assert "Traceback" not in started.log, started.log
        everybody = started.pids
    assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in everybody)  # all of it ends


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


def test_a_class_goes_on_while_a_replica_dies(replicas):
    """Every headline as it is to one alone; `benchmarks/load.py --kill` does it with forty, and measures."""
    killed, other = replicas.pids

    def kill_soon(_):
        asyncio.get_running_loop().call_later(3, replicas.kill_one)

    seen = asyncio.run(
        crowd(replicas.address, 8, 12, every=1.5, on_all_there=kill_soon, steps=3, **LINK)
    )
    assert not seen.trouble and len(seen.moves) >= 12
    assert max(seen.reloads) == 1  # once, for those of the dead replica
    assert not asyncio.run(alone(replicas.address, seen.headlines, **LINK))
    end = time.monotonic() + 120
    while len(now := replicas.pids) < 2 and time.monotonic() < end:
        time.sleep(0.2)
    assert len(now) == 2 and killed not in now and other in now, (now, replicas.log)
