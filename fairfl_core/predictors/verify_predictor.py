"""Prove in exact arithmetic that a fair predictor keeps its limits, and that none is better.

``python verify_predictor.py predictor.json counts.json`` imports nothing of fairfl; every number is
the decimal in the file. (a) The lottery's rates on these counts are compared with every limit.
(b) "certificate" holds a multiplier for every limited rate. By weak duality no lottery of the region
that keeps the limits exceeds, whatever the multipliers are, the best rule's gain at them, summed
over cells (client, group), plus the most that multipliers times rates can be within the limits.
Allowed is the solver's rounding: weights, rates and what is stated may miss by 1e-9 what they must
be, and the bound may lie 1e-9 above what the lottery reaches.
"""

import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path

TOLERANCE = Fraction(1, 10**9)
PROVED = {"floor", "keep", "limits", "ratio_global", "ratio_local", "ratio_leave_out", "utility"}
BROKEN = (KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)


def exact(number):
    """A number of a file, as the decimal that is written there."""
    return Fraction(number if isinstance(number, int) else str(number))


def digest(value):
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def counts_digest(counts):
    """The digest of the people counted, however the file writes them."""
    points = read_points(counts, False, exact)
    return digest([counts.get("grouping"), [[*cell, points[cell]] for cell in points]])


def fingerprint(predictor):
    """The digest of all that a predictor's file holds but the fingerprint, and when it was made."""
    sealed = {k: v for k, v in predictor["certificate"].items() if k != "fingerprint"}
    return digest({**predictor, "made": None, "certificate": sealed})


def read_points(counts, shrunk, number):
    """People of every cell (client, group), as points (score, model's answer, people by label)."""
    size, cells = range(len(counts["labels"])), {}
    for c, client in enumerate(counts["clients"]):
        for a, group in enumerate(client["counts"]):
            if counts["format"] != "fairfl-score-counts/1":  # by label and the model's answer
                group = [(None, j, [row[j] for row in group]) for j in size]
            cells[c, a] = [(r, j, [number(n) for n in many]) for r, j, many in group]
    found = {} if shrunk else cells
    for (c, a), own in cells.items() if shrunk else ():  # as if 100 people came from all clients
        pool = [p for cell, points in cells.items() if cell[1] == a for p in points]
        people = [[sum(m[y] for _, _, m in points) for y in size] for points in (own, pool)]
        share = [n / (n + number(100)) for n in people[0]]
        lent = [share[y] * 100 / (people[1][y] or 1) for y in size]
        parts = [(share, own), (lent, pool)]
        found[c, a] = [(r, j, [w[y] * m[y] for y in size]) for w, ps in parts for r, j, m in ps]
    return found


def chances(predictor, entry, group, score, predicted):
    """The probability of each answer to a person, from a lottery that the region allows."""
    labels = predictor["labels"]
    if predictor["region"] != "exact":
        rows = [[exact(p) for p in row] for row in entry["lottery"][group]]
        if predictor["region"] == "simplex":  # beside the diagonal every column is one number
            fixed = [[row[k] for j, row in enumerate(rows) if j != k] for k in range(len(labels))]
            spread = max(max(column) - min(column) for column in fixed)
            if max(spread, sum(map(min, fixed)) - 1) > TOLERANCE:
                raise ValueError("a lottery is no mixture of the model's answer and fixed ones")
        found = weights = rows[predicted]
    else:
        found, weights = [Fraction(0)] * len(labels), []
        for rule in entry["rules"][group]:
            if "answers" in rule:
                answer = labels.index(rule["answers"][predicted])
            else:
                (zero, sign), (cut, other) = rule["theta"], rule["b"]
                if zero or other or sign not in (1, -1):
                    raise ValueError("a rule is neither a cut of the score nor one of answers")
                answer = int(sign * score > cut)
            weights.append(exact(rule["probability"]))
            found[answer] += weights[-1]
    if min(weights) < 0 or abs(sum(weights) - 1) > TOLERANCE:
        raise ValueError("the weights of a lottery are negative or do not sum to one")
    return found


def read_limits(predictor, counts, tables, number):
    """Every limit: (what, kind, number, (label or None, answer), [(cells, people), ...])."""
    labels, policy = predictor["labels"], predictor.get("policy") or {}
    size, favourable = range(len(labels)), labels.index(predictor["favourable"])
    answers = size if len(labels) > 2 else [favourable]
    given = {"eo": [(y, y) for y in size], "eop": [(favourable, favourable)]}
    given["eo-full"] = [(y, k) for y in size for k in answers]
    rates = (given | {"sp": [(None, k) for k in answers]})[predictor["notion"]]
    names = [client["name"] for client in predictor["clients"]]
    clients, groups = range(len(names)), range(len(predictor["groups"]))
    scopes = {"global": [clients], "local": [[c] for c in clients]}

    def behind(cells, label):
        return sum(sum(r) for i in cells for y, r in enumerate(tables[i]) if label in (None, y))

    alone, epsilon = [[a] for a in groups], predictor["epsilon"]
    asked = [("gap", epsilon["global"], clients, alone, rates)]
    asked += [("gap", epsilon["local"][n], [c], alone, rates) for c, n in enumerate(names)]
    for text in policy.get("limits", []):
        grouping, scope, limit = text.rsplit(":", 2)
        columns = [counts["grouping"]["columns"].index(c.strip()) for c in grouping.split("*")]
        parts = {}
        for a, values in enumerate(counts["grouping"]["groups"]):
            parts.setdefault(tuple(values[i] for i in columns), []).append(a)
        asked += [("gap", limit, one, list(parts.values()), rates) for one in scopes[scope]]
    people = [behind([(c, a) for c in clients], rates[0][0]) for a in groups]
    least = number(policy.get("ratio_leave_out", 0)) * sum(people)
    large = [[a] for a in groups if people[a] >= least]
    meant = [rate for rate in rates if rate[0] is not None or rate[1] == favourable]
    for scope in scopes:
        rho = policy.get(f"ratio_{scope}")
        asked += [("ratio", rho, one, large, meant) for one in scopes[scope] if rho is not None]
    for kind, label in [(k, label) for k in ("floor", "keep") for label in policy.get(k, {})]:
        rate = [(labels.index(label), labels.index(label))]
        asked += [(kind, policy[kind][label], [c], [[a]], rate) for c in clients for a in groups]
    found = []
    for kind, limit, scope, parts, compared in asked:
        for y, k in compared if kind != "gap" or number(limit) < 1 else ():
            members = [[(c, a) for c in scope for a in part] for part in parts]
            members = [(cells, behind(cells, y)) for cells in members if behind(cells, y) > 0]
            if len(members) < (1 if kind in ("floor", "keep") else 2):
                continue
            own = tables[members[0][0][0]][y][y] / members[0][1] if kind == "keep" else 0
            level = own - number(limit) if kind == "keep" else number(limit)
            what = f"a {kind} {'overall' if scope is clients else f'in {names[scope[0]]!r}'}"
            found.append((what, kind, level, (y, k), members))
    return found


def read_problem(predictor, counts, number=exact):
    """Points and tables [label][model's answer] by cell, the utility's gains, and the limits."""
    policy, labels = predictor.get("policy") or {}, predictor["labels"]
    far = predictor["region"] == "exact"
    for key, known in (("region", "simplex kernel exact"), ("notion", "eo eop eo-full sp")):
        if predictor[key] not in known.split():
            raise ValueError(f"the {key} is not known here")
    if predictor.get("guarantee") or far and (len(labels) > 2 or policy.get("without_group")):
        raise ValueError(
            "this is not proved: a confidence, or scores without groups or labels > 2"
        )
    if set(policy) - PROVED - {"without_group"} or "counts" in counts.get("missing_group", {}):
        more = sorted(set(policy) - PROVED) or ["limits on people without a group"]
        raise ValueError("what is asked is not proved: " + ", ".join(more))
    if far and counts["format"] != "fairfl-score-counts/1":
        raise ValueError("rules of scores need the file that --score-counts writes")
    mine, theirs = ([one["name"] for one in file["clients"]] for file in (predictor, counts))
    same = (predictor[key] == counts[key] for key in ("groups", "labels", "favourable"))
    if mine != theirs or not all(same):
        raise ValueError("the clients, groups or labels of the two files differ")
    points = read_points(counts, predictor["certificate"]["rates"] == "shrunk", number)
    size, zero = range(len(labels)), number(0)
    tables = {
        cell: [[sum((m[y] for _, at, m in ps if at == j), zero) for j in size] for y in size]
        for cell, ps in points.items()
    }
    behind = [sum(sum(table[y]) for table in tables.values()) for y in size]
    utility, n, there = policy.get("utility", "accuracy"), sum(behind), sum(b > 0 for b in behind)
    each = [n if utility == "accuracy" else b * there for b in behind]
    gain = [[number(int(y == k and b > 0)) / (b or 1) for k in size] for y, b in enumerate(each)]
    if isinstance(utility, dict):
        at = [utility["labels"].index(label) for label in labels]
        gain = [[number(utility["gain"][y][k]) / n for k in at] for y in at]
    return points, tables, gain, read_limits(predictor, counts, tables, number)


def best_rule(region, block, number=exact):
    """The largest gain of a rule in cells that share it: of each the points and the gains."""
    size = range(len(block[0][1]))
    worth = [[number(0) for _ in size] for _ in size]  # of answering k where the model says j
    for points, gain in block:
        for _, j, many in points:
            worth[j] = [worth[j][k] + sum(many[y] * gain[y][k] for y in size) for k in size]
    if region == "kernel":
        return sum(map(max, worth))
    fixed = [sum(row[k] for row in worth) for k in size]
    best = max(sum(worth[j][j] for j in size), *fixed)
    if region == "exact":  # also the answers turned round, and every cut of the score
        points, gain = sorted(block[0][0], key=lambda point: point[0]), block[0][1]
        best, below = max(best, worth[0][1] + worth[1][0]), number(0)
        for (score, _, many), after in zip(points, [*points[1:], (2,)], strict=True):
            below += sum(many[y] * (gain[y][1] - gain[y][0]) for y in size)
            if after[0] > score:
                best = max(best, fixed[0] + below, fixed[1] - below)
    return best


def bound_of(predictor, problem, duals, number=exact):
    """What no lottery of the region within the limits exceeds, at these multipliers."""
    points, _, utility, limits = problem
    gains = {cell: [list(row) for row in utility] for cell in points}
    total = number(0)
    for (_, kind, level, (label, k), members), given in zip(limits, duals, strict=True):
        plus, minus = (sum(max(sign * number(d), 0) for d in given) for sign in (1, -1))
        most = {"gap": level * plus + max(0, plus - minus), "ratio": max(0, plus - level * minus)}
        total += most.get(kind, plus - level * minus)  # rates lie in [0, 1], of a floor above it
        for (cells, n), dual in zip(members, given, strict=True):
            for cell, y in [(cell, y) for cell in cells for y in range(len(utility)) if dual]:
                gains[cell][y][k] -= number(dual) / n if label in (None, y) else 0
    blocks = {}
    for cell in points:
        blind = (predictor.get("policy") or {}).get("without_group")
        blocks.setdefault(cell[0] if blind else cell, []).append((points[cell], gains[cell]))
    return total + sum(best_rule(predictor["region"], one, number) for one in blocks.values())


def excess(limit, answers):
    """By how much a limit is broken, above 0, under expected answers [label][answer] by cell."""
    _, kind, level, (label, k), members = limit
    rates = [
        sum(row[k] for i in cells for y, row in enumerate(answers[i]) if label in (None, y)) / n
        for cells, n in members
    ]
    low, high = min(rates), max(rates)
    return {"gap": high - low - level, "ratio": level * high - low}.get(kind, level - low)


def verify(predictor, counts):
    """Return what fails, in sentences (none: it is proved), and the figures."""
    try:
        certificate, failed = predictor["certificate"], []
        if certificate["fingerprint"] != fingerprint(predictor):
            failed.append("the predictor was changed after it was sealed: other fingerprint")
        if certificate["counts"] != counts_digest(counts):
            failed.append("these are not the counts that it was proved on: other digest")
        points, _, gain, limits = problem = read_problem(predictor, counts)
        size, answers = range(len(gain)), {}
        for (c, a), cell in points.items():
            answers[c, a] = [[Fraction(0)] * len(gain) for _ in size]
            for score, j, many in cell:
                chance = chances(predictor, predictor["clients"][c], a, score, j)
                for y, k in [(y, k) for y in size for k in size]:
                    answers[c, a][y][k] += many[y] * chance[k]
        worst = max(((excess(one, answers), one[0]) for one in limits), default=(0, ""))
        if worst[0] > TOLERANCE:
            failed.append(f"{worst[1]} is broken by {float(worst[0]):.3g}")
        total = [[sum(cell[y][k] for cell in answers.values()) for k in size] for y in size]
        value = sum(gain[y][k] * total[y][k] for y in size for k in size)
        right, n = sum(total[y][y] for y in size), sum(map(sum, total))
        if abs(right / n - exact(predictor["reached"]["accuracy"])) > TOLERANCE:
            failed.append("the accuracy stated is not the lottery's")
        bound = bound_of(predictor, problem, certificate["duals"])
        if bound - value > TOLERANCE:
            failed.append(f"a lottery better by {float(bound - value):.3g} is not ruled out")
        figures = {"value": value, "bound": bound, "gap": bound - value, "worst_excess": worst[0]}
        figures = {name: float(number) for name, number in figures.items()}
        seal = {"limits": len(limits), "fingerprint": certificate["fingerprint"]}
        return failed, figures | seal
    except BROKEN as error:
        return [f"a file is not as fairfl writes it, or lacks its certificate ({error!r})"], {}
    except ValueError as error:
        return [str(error)], {}


if __name__ == "__main__":
    files = [json.loads(Path(path).read_text("utf-8")) for path in sys.argv[1:3]]
    problems, numbers = verify(*files)
    print("\n".join(f"NOT PROVED: {one}." for one in problems) or "PROVED.", json.dumps(numbers))
    sys.exit(bool(problems))
