"""Forty people for a minute. How fast they are answered is told by `benchmarks/load.py`."""

import pytest

from tests.chaos.__main__ import EVERY
from tests.chaos.class_at_once import class_at_once
from tests.helpers.serving import has_nginx


@pytest.mark.skipif(not has_nginx(), reason="deploy/replicas.sh needs nginx")
def test_forty_people_for_a_minute_while_a_replica_dies():
    trouble = class_at_once(people=40, seconds=60, every=EVERY)
    assert trouble.tries > 2 * 40 and not trouble.broken, trouble.broken
