"""The same question, the same answer: what a page says does not depend on who asked what before.

    SETTINGS=300 pytest tests/pages/test_same_question.py

The optimum is not unique, and a program that was solved before could start where it was left:
which of several equally good lotteries is shown must depend on neither. Two servers are asked the
same after different histories, with another number of threads and other hashes, and have to show
the same pages to the letter.
"""

import json
import logging
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, product, zip_longest
from urllib.parse import quote

from streamlit.testing.v1 import AppTest

from fairfl_core.data import experiments
from fairfl_core.fairness.notions import notion_names
from fairfl_core.lp.regions import region_names
from pages.shared.catalogue import catalogue
from pages.shared.results import GRID
from pages.shared.view import NO_LIMIT, read_view
from tests.pages.conftest import TOP
from tests.pages.visible import charts, visible

SETTINGS = int(os.environ.get("SETTINGS", 18))
# Asked first, because they are quick: every region, split and kind of rates, and fifty clients.
QUICK = (
    {"experiment": "public_coverage", "split": "paper", "region": "simplex", "seed": "3"},
    {"experiment": "public_coverage", "region": "kernel", "seed": "0"},
    {"experiment": "adult", "region": "exact", "seed": "0"},
    {"experiment": "adult", "split": "paper", "notion": "eo", "region": "exact", "seed": "1"},
    {
        "experiment": "ham10000",
        "split": "paper",
        "region": "kernel",
        "rates": "shrunk",
        "seed": "2",
    },
    {"experiment": "adult", "region": "kernel", "confidence": "0.95-each-measured", "seed": "1"},
)
EACH = min(5, SETTINGS // len(QUICK))  # share a program: all but the first find it warm
CERTAINTIES = ("", "0.95-each-measured", "0.95-all-measured", "0.95-each-proved")


def programs(count, draw):
    """The links of so many programs: the quick ones, then any that can be asked for."""
    kinds = {
        "experiment": experiments.list_experiments(),
        "split": ("cross-fitted", "paper"),
        "notion": notion_names(),
        "region": region_names(),
        "confidence": CERTAINTIES,
        "seed": ("0", "1", "2"),
    }
    every = [dict(zip(kinds, values, strict=True)) for values in product(*kinds.values())]
    can_be_asked = (link for link in draw.sample(every, len(every)) if is_whole(link))
    return list(islice(chain(QUICK, can_be_asked), count))


def is_whole(link):
    """Whether all of a link can be used."""
    return not read_view(link, catalogue())[1]


def with_limits(link, draw):
    """A link with limits: the map's, others, none at all, and sometimes a client's own."""
    overall, inside, own = (
        draw.choice((*GRID, NO_LIMIT, round(draw.uniform(0, 0.3), 3))) for _ in range(3)
    )
    asked = link | {"eps_global": str(overall), "eps_local": str(inside)}
    client = draw.choice(experiments.open(link["experiment"]).clients)
    return asked | ({"own": f"{quote(client)}={own}"} if draw.random() < 0.25 else {})


def histories(settings, draw):
    """Two servers' visits: as listed; and in any order, with others in between who ask for more."""
    busy = []
    for link in draw.sample(settings, len(settings)):
        if draw.random() < 0.3:
            busy.append(with_limits(without_limits(link), draw))
        busy.append(link)
    return settings, busy


def without_limits(link):
    limits = ("eps_global", "eps_local", "own")
    return {name: value for name, value in link.items() if name not in limits}


def server(visits, threads):
    """A server of its own in which these visits are made."""
    environment = {
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONHASHSEED": str(threads),
    }
    return subprocess.run(
        [sys.executable, "-m", "tests.pages.test_same_question"],
        cwd=TOP,
        env=os.environ | environment,
        input=json.dumps(visits),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )


def shown(visits, threads):
    """What a server shows for each visit."""
    pages = json.loads(server(visits, threads).stdout)
    return {repr(visit): page for visit, page in zip(visits, pages, strict=True)}


def test_two_servers_with_different_histories_show_the_same_pages():
    draw = random.Random(0)
    links = [with_limits(p, draw) for p in programs(SETTINGS // EACH, draw) for _ in range(EACH)]
    with ThreadPoolExecutor(2) as both:
        one, other = both.map(shown, histories(links, draw), (1, 2))
    assert len(one) == SETTINGS
    # What takes longer than its budget is refused, which is no answer: few may, and both do.
    refused = [visit for visit, page in one.items() if over_budget(page)]
    assert len(refused) <= SETTINGS // 50, refused
    print(f"{SETTINGS} settings, {len(refused)} past their budget")
    trouble = {
        visit: boxes
        for visit, page in one.items()
        if visit not in refused and (boxes := troubled(page))
    }
    assert not trouble, trouble
    differing = [visit for visit, page in one.items() if page != other[visit]]
    assert not differing, f"{len(differing)} of {SETTINGS} pages differ:\n" + "\n".join(
        difference(visit, one[visit], other[visit]) for visit in differing[:5]
    )


def over_budget(page):
    """Whether a page says that something takes too long."""
    return any("seconds of work it has here" in line for line in page)


def troubled(page):
    """The lines that say that something went wrong."""
    return [line for line in page if "cannot be shown" in line or "has encountered" in line]


def difference(visit, one, other):
    """The first element of a page that two servers show differently."""
    pairs = ((a, b) for a, b in zip_longest(one, other, fillvalue="nothing") if a != b)
    return "\n".join((visit, *(text[:400] for text in next(pairs))))


def seen(link):
    """Everything that a new visitor sees who opens Explore by a link, and what is drawn."""
    app = AppTest.from_file(str(TOP / "app.py"), default_timeout=600)
    app.query_params.update(link)
    app.run()
    return [*visible(app), *(json.dumps(data) for data in charts(app).values())]


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, that nobody listens
    json.dump([seen(link) for link in json.load(sys.stdin)], sys.stdout)
