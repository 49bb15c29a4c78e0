"""How often each verdict is given where the true gaps are known.

    python -m benchmarks.verdicts [DRAWS]

People are drawn anew each time: with a favourable label, `people` women and as many men in every
client. The model recognises fewer women, and the answers judged recognise more of them, so that
each client's true gap is what is said and nobody is hurt. Wanted: *not met* at the limit, and *met*
with one client at 1.5 times the limit, in at most 5 of 100 draws each; harm in at most 5 as well.
"""

import sys
from collections import Counter

import numpy as np

from fairfl_core.data.answers import Answers
from fairfl_core.data.counts import ClientCounts
from fairfl_core.evaluation.evaluation import Evaluation, evaluate_answers
from fairfl_core.evaluation.verdict import HARMFUL, MET, NOT_MET, verdict_of
from fairfl_core.fairness.notions import Notion

MEN, WOMEN = 0.8, 0.5  # the model's recognition of the favourable label
OTHERS = 100  # of each group without it, four in five recognised


def drawn(rng: np.random.Generator, gaps: np.ndarray, people: int) -> Evaluation:
    """Draw people of clients with these true gaps, and judge their answers by eop."""
    clients = len(gaps)
    before = rng.binomial(people, [[WOMEN, MEN]] * clients)
    more = (MEN - gaps - WOMEN) / (1 - WOMEN)  # of the women who were not recognised
    gained = np.zeros_like(before)
    gained[:, 0] = rng.binomial(people - before[:, 0], more)
    others = rng.binomial(OTHERS, 0.8, (clients, 2))
    table = np.zeros((clients, 2, 2, 2), int)
    table[..., 1, 1], table[..., 1, 0] = before, people - before
    table[..., 0, 0], table[..., 0, 1] = others, OTHERS - others
    names = tuple(f"c{c}" for c in range(clients))
    counts = ClientCounts(table, names, ("women", "men"), ("l0", "l1"))
    after = table.astype(float)
    after[..., 1, 1] += gained
    after[..., 1, 0] -= gained
    both_right = np.einsum("cayy->cay", table).astype(float)
    answers = Answers(after, lambda: after, gained.astype(float), both_right)
    return evaluate_answers(answers, counts, Notion.of("eop", counts.labels, "l1"))


def words(gaps: np.ndarray, people: int, limit: float, draws: int, seed: int = 0) -> Counter[str]:
    """How often each word is given to clients with these true gaps."""
    rng = np.random.default_rng(seed)
    asked = np.full(len(gaps), limit)
    found: Counter[str] = Counter()
    for _ in range(draws):
        verdict = verdict_of([drawn(rng, gaps, people)], 1.0, asked)
        found[verdict.word if verdict else ""] += 1
    return found


def main(draws: int) -> None:
    """Print how often verdicts are wrong, and how often they are given where they are right."""
    print(
        "| clients | people | limit | not met, at the limit | met, one at 1.5 x | harm | met, at 0 |"
    )
    print("|---|---|---|---|---|---|---|")
    for clients in (1, 5, 50):
        for people in (10, 100, 1000, 10_000):
            for limit in (0.05, 0.1):
                at_limit = np.full(clients, limit)
                one_above = np.zeros(clients)
                one_above[0] = 1.5 * limit
                found = [
                    words(gaps, people, limit, draws)
                    for gaps in (at_limit, one_above, np.zeros(clients))
                ]
                harm = max(one[HARMFUL] for one in found)
                shares = [found[0][NOT_MET], found[1][MET], harm, found[2][MET]]
                cells = " | ".join(f"{share / draws:.3f}" for share in shares)
                print(f"| {clients} | {people:,} | {limit:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
