"""Prove in exact arithmetic that a fair predictor keeps its limits, and that none is better.

``python verify_predictor.py predictor.json counts.json`` imports nothing of fairfl; numbers are the
decimals in the files. Every limit is rows: coefficients times expected answers, at most a number.
(a) The lottery's answers on these counts are put into every row. (b) "certificate" holds multipliers
of rows. By weak duality no lottery of the region that keeps them exceeds multipliers times right-hand
sides, plus the best rule's gain after what the rows charge for it, summed over cells (client, group).
Of a confidence the rows that bind are taken as given: "rows" of the certificate. Where its "rates" are
"shrunk" people count as if 100 of their group came from all clients, as the predictor was fitted. The
solver rounds: weights, rows and what is stated may miss by 1e-9, and the bound may lie 1e-9 above.
"""

import hashlib
import json
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

TOLERANCE = Fraction(1, 10**9)
PROVED = {"floor", "keep", "limits", "ratio_global", "ratio_local", "ratio_leave_out", "utility"}
REGIONS = ("simplex", "kernel", "exact")


class NotProvedError(ValueError):
    """What is asked, or the lottery, is nothing that this file proves."""


def exact(number):
    """A number of a file, as the decimal that is written there."""
    return Fraction(number if isinstance(number, int) else str(number))


def digest(value):
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def counts_digest(counts):
    """The digest of the people counted, however the file writes them."""
    return digest([counts.get("grouping"), [*map(list, read_points(counts, "labels").items())]])


def fingerprint(predictor):
    """The digest of all that a predictor's file holds but the fingerprint, and when it was made."""
    sealed = {k: v for k, v in predictor["certificate"].items() if k != "fingerprint"}
    return digest({**predictor, "made": None, "certificate": sealed})


def read_points(counts, rates):
    """People of every cell (client, group), as points (score, model's answer, people by label)."""
    size, cells, found = range(len(counts["labels"])), {}, {}
    for c, client in enumerate(counts["clients"]):
        for a, group in enumerate(client["counts"]):
            if counts["format"] != "fairfl-score-counts/1":  # by label and the model's answer
                group = [(0, j, [row[j] for row in group]) for j in size]
            cells[c, a] = [(r, j, [exact(n) for n in many]) for r, j, many in sorted(group)]
    for (c, a), own in (
        cells.items() if rates == "shrunk" else ()
    ):  # as if 100 people came from all clients
        pool = [point for cell, points in cells.items() if cell[1] == a for point in points]
        n, lent = ([sum(m[y] for _, _, m in part) for y in size] for part in (own, pool))
        kept = [n[y] / (n[y] + 100) for y in size]
        parts = (own, kept), (pool, [kept[y] * 100 / (lent[y] or 1) for y in size])
        points = [(r, j, [m[y] * w[y] for y in size]) for part, w in parts for r, j, m in part]
        found[c, a] = sorted(points)
    return found or cells


def read_problem(predictor, counts):
    """Points of every cell, gains [label][answer] of the utility, and the rows of every limit."""
    policy, labels = predictor.get("policy") or {}, predictor["labels"]
    region, size = predictor["region"], range(len(labels))
    names = [[one["name"] for one in file["clients"]] for file in (predictor, counts)]
    alike = all(predictor[key] == counts[key] for key in ("groups", "labels", "favourable"))
    more = sorted(set(policy) - PROVED - {"without_group"})
    cuts = "score" in counts["format"] and len(labels) == 2 and not policy.get("without_group")
    certain = predictor.get("guarantee") and "rows" not in predictor["certificate"]
    for refused, why in (
        (names[0] != names[1] or not alike, "clients, groups or labels of the two files differ"),
        (more or region not in REGIONS, f"not proved: {', '.join(more) or region}"),
        (region == "exact" and not cuts, "rules of scores need two labels and --score-counts"),
        (certain, "not proved: a confidence for the overall limit, or of scores"),
        ("counts" in counts.get("missing_group", {}), "not proved: people without a group"),
    ):
        if refused:
            raise NotProvedError(why)
    points = read_points(counts, predictor["certificate"]["rates"])
    people = {i: [sum(m[y] for _, _, m in ps) for y in size] for i, ps in points.items()}
    behind = [sum(n[y] for n in people.values()) for y in size]
    utility, n, there = policy.get("utility", "accuracy"), sum(behind), sum(b > 0 for b in behind)
    each = [n if utility == "accuracy" else b * there for b in behind]
    gain = [[Fraction(y == k and b > 0) / (b or 1) for k in size] for y, b in enumerate(each)]
    if isinstance(utility, dict):
        at = [utility["labels"].index(label) for label in labels]
        gain = [[exact(utility["gain"][y][k]) / n for k in at] for y in at]
    return points, gain, list(read_rows(predictor, counts, points, people))


def read_rows(predictor, counts, points, people):
    """Every limit: what it is, a number, and {(cell, label, answer): coefficient} of at most it."""
    labels, policy = predictor["labels"], predictor.get("policy") or {}
    size, favourable = range(len(labels)), labels.index(predictor["favourable"])
    answers = size if len(labels) > 2 else [favourable]
    given = {"eo": [(y, y) for y in size], "eop": [(favourable, favourable)]}
    given["eo-full"] = [(y, k) for y in size for k in answers]
    rates = (given | {"sp": [(None, k) for k in answers]})[predictor["notion"]]
    names, groups = [one["name"] for one in predictor["clients"]], range(len(predictor["groups"]))
    clients, alone, epsilon = range(len(names)), [[a] for a in groups], predictor["epsilon"]
    scopes = {"global": [clients], "local": [[c] for c in clients]}
    asked = [("gap", epsilon["global"], clients, alone, rates)]
    asked += [("gap", epsilon["local"][n], [c], alone, rates) for c, n in enumerate(names)]
    for text in policy.get("limits", []):
        grouping, scope, limit = text.rsplit(":", 2)
        columns = [counts["grouping"]["columns"].index(c.strip()) for c in grouping.split("*")]
        parts = defaultdict(list)
        for a, values in enumerate(counts["grouping"]["groups"]):
            parts[tuple(values[i] for i in columns)].append(a)
        asked += [("gap", limit, one, list(parts.values()), rates) for one in scopes[scope]]
    meant = [rate for rate in rates if rate[0] is not None or rate[1] == favourable]
    of = size if rates[0][0] is None else [rates[0][0]]
    many = [sum(people[c, a][y] for c in clients for y in of) for a in groups]
    large = [[a] for a in groups if many[a] >= exact(policy.get("ratio_leave_out", 0)) * sum(many)]
    for scope in [scope for scope in scopes if policy.get(f"ratio_{scope}") is not None]:
        asked += [("ratio", policy[f"ratio_{scope}"], one, large, meant) for one in scopes[scope]]
    for kind, label in [(k, label) for k in ("floor", "keep") for label in policy.get(k, {})]:
        rate = [(labels.index(label), labels.index(label))]
        asked += [(kind, policy[kind][label], [c], [[a]], rate) for c in clients for a in groups]
    for kind, limit, scope, parts, compared in asked:
        what = f"a {kind} {'overall' if scope is clients else f'in {names[scope[0]]!r}'}"
        for y, k in compared if kind != "gap" or exact(limit) < 1 else ():
            found = []
            for part in parts:
                cells = [((c, a), z) for c in scope for a in part for z in size if y in (None, z)]
                n = sum(people[cell][label] for cell, label in cells)
                found += [{(*one, k): 1 / n for one in cells}] if n else []
            if kind in ("floor", "keep") and found:
                own = sum(m[y] for _, j, m in points[cells[0][0]] if j == y) / n
                level = own - exact(limit) if kind == "keep" else exact(limit)
                yield what, -level, {key: -value for key, value in found[0].items()}
            for high, low in permutations(found, 2):
                most, times = (0, exact(limit)) if kind == "ratio" else (exact(limit), 1)
                terms = {key: times * value for key, value in high.items()}
                yield what, most, terms | {key: -value for key, value in low.items()}
    for row in predictor["certificate"].get("rows", ()) if predictor.get("guarantee") else ():
        terms = {((c, a), len(labels) + j, k): exact(v) for c, a, j, k, v in row["terms"]}
        yield "a row of the confidence", exact(row["at_most"]), terms


def answer_of(rule, labels, score, predicted):
    """What a rule of the exact region answers: it turns the model's answer, or cuts the score."""
    if "answers" in rule:
        return labels.index(rule["answers"][predicted])
    (zero, sign), (cut, other) = rule["theta"], rule["b"]
    if zero or other or sign not in (1, -1):
        raise NotProvedError("a rule is neither a cut of the score nor one of answers")
    return int(sign * score > cut)


def read_answers(predictor, points):
    """What the lottery answers, {(cell, label, answer): people}; it must be one of its region.

    After the labels, for rows of a confidence, the chances of answers: by the model's answer what is
    beyond the least of these, then the least, since to answer whatever the model says is a rule.
    """
    labels, found, far = predictor["labels"], defaultdict(Fraction), predictor["region"] == "exact"
    blind, size = (predictor.get("policy") or {}).get("without_group"), range(len(labels))
    for (c, a), mine in points.items():
        lotteries = predictor["clients"][c]["rules" if far else "lottery"]
        weights = [[rule["probability"] for rule in lotteries[a]]] if far else lotteries[a]
        weights = [list(map(exact, row)) for row in weights]
        if blind and lotteries[a] != lotteries[0]:
            raise NotProvedError("groups of a client have different lotteries")
        if any(min(row) < 0 or abs(sum(row) - 1) > TOLERANCE for row in weights):
            raise NotProvedError("the weights of a lottery are negative or do not sum to one")
        for score, j, many in mine:
            given = [answer_of(rule, labels, score, j) for rule in lotteries[a]] if far else size
            for (k, chance), y in product(zip(given, weights[0 if far else j], strict=True), size):
                found[(c, a), y, k] += many[y] * chance
        for j, k in () if far else product(size, size):
            least = min(row[k] for row in weights)
            beyond = weights[j][k] - least
            found |= {((c, a), len(labels) + j, k): beyond, ((c, a), 2 * len(labels), k): least}
            if predictor["region"] == "simplex" and j != k and beyond > TOLERANCE:
                raise NotProvedError(
                    "a lottery is no mixture of the model's answer and fixed ones"
                )
    return found


def best_rule(region, cells, points, gain, charge):
    """The largest gain of a rule in cells that share it, after what the rows charge."""
    size = range(len(gain))
    worth = [[-sum(charge[i, len(gain) + j, k] for i in cells) for k in size] for j in size]
    fixed = [-sum(charge[i, 2 * len(gain), k] for i in cells) for k in size]
    cuts, below, last = [0], 0, None  # by how much the second answer is better below a score
    for cell in cells:
        for score, j, many in points[cell]:
            more = [sum(many[y] * (gain[y][k] - charge[cell, y, k]) for y in size) for k in size]
            worth[j], fixed = ([old[k] + more[k] for k in size] for old in (worth[j], fixed))
            cuts += [below] * (score != last)
            below, last = below + more[1] - more[0], score
    best = sum(map(max, worth)) if region == "kernel" else sum(worth[j][j] for j in size)
    if region == "exact":  # also the answers turned round, and every cut
        best = max(best, worth[0][1] + worth[1][0], fixed[0] + max(cuts), fixed[1] - min(cuts))
    return max(best, *fixed)


def verify(predictor, counts):
    """Return what fails, in sentences (none: it is proved), and the figures."""
    try:
        certificate, failed = predictor["certificate"], []
        if certificate["fingerprint"] != fingerprint(predictor):
            failed.append("the predictor was changed after it was sealed: other fingerprint")
        if certificate["counts"] != counts_digest(counts):
            failed.append("these are not the counts that it was proved on: other digest")
        points, gain, rows = read_problem(predictor, counts)
        answers, size = read_answers(predictor, points), range(len(gain))
        excess = [sum(v * answers[key] for key, v in row.items()) - most for _, most, row in rows]
        worst = max(excess, default=0)
        if worst > TOLERANCE:
            failed.append(f"{rows[excess.index(worst)][0]} is broken by {float(worst):.3g}")
        total = [[sum(answers[cell, y, k] for cell in points) for k in size] for y in size]
        value = sum(gain[y][k] * total[y][k] for y in size for k in size)
        right = sum(total[y][y] for y in size) / sum(map(sum, total))
        if abs(right - exact(predictor["reached"]["accuracy"])) > TOLERANCE:
            failed.append("the accuracy stated is not the lottery's")
        bound, charge, blocks = Fraction(0), defaultdict(Fraction), defaultdict(list)
        for at, dual in certificate["duals"]:
            bound += max(exact(dual), 0) * rows[at][1]
            for key, coefficient in rows[at][2].items():
                charge[key] += max(exact(dual), 0) * coefficient
        for i in points:  # without the group a client's groups share their rule
            blocks[i[0] if (predictor.get("policy") or {}).get("without_group") else i].append(i)
        for cells in blocks.values():
            bound += best_rule(predictor["region"], cells, points, gain, charge)
        if bound - value > TOLERANCE:
            failed.append(f"a lottery better by {float(bound - value):.3g} is not ruled out")
        figures = {"value": value, "bound": bound, "gap": bound - value, "worst_excess": worst}
        more = {"limits": len(rows)} | {key: certificate[key] for key in ("rates", "fingerprint")}
        return failed, {name: float(number) for name, number in figures.items()} | more
    except NotProvedError as error:
        return [str(error)], {}
    except Exception as error:
        return [f"a file is not as fairfl writes it, or lacks its certificate ({error!r})"], {}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Give two files: python verify_predictor.py predictor.json counts.json")
    problems, numbers = verify(*(json.loads(Path(at).read_text("utf-8")) for at in sys.argv[1:3]))
    print("\n".join(f"NOT PROVED: {one}." for one in problems) or "PROVED.", json.dumps(numbers))
    sys.exit(bool(problems))
