"""Several people at once: nobody gets another's numbers. `benchmarks/browser.py` does it in full."""

import itertools

from tests.browser.driving import INSIDE, OVERALL

ROUNDS = 8
PEOPLE = (
    {"experiment": "adult", "seed": "0"},
    {"experiment": "adult", "notion": "eo", "region": "kernel", "seed": "1"},
    {"experiment": "public_coverage", "seed": "0"},
    {"experiment": "public_coverage", "seed": "0", "eps_local": "0.15"},
)
MOVES = (
    (OVERALL, "ArrowRight"),
    (INSIDE, "ArrowRight"),
    (OVERALL, "ArrowLeft"),
    (INSIDE, "ArrowRight"),
    (OVERALL, "ArrowRight"),
)


def test_sessions_are_not_mixed_up(regular, tab):
    crowd = [tab().open(**settings) for settings in PEOPLE]
    moves = itertools.cycle(MOVES)
    for _ in range(ROUNDS):
        for visitor in crowd:  # nobody waits for another, nor for the answer
            visitor.press(*next(moves))
    for visitor in crowd:
        visitor.rest()
    said = [(visitor.page.url, visitor.headline) for visitor in crowd]
    for visitor, settings in zip(crowd, PEOPLE, strict=True):
        assert {"experiment": settings["experiment"], "seed": settings["seed"]}.items() <= (
            visitor.link.items()
        )
        assert not visitor.trouble()
    assert [(link, regular.follow(link).headline) for link, _ in said] == said
