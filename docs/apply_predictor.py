"""How a client applies a fair predictor: the same person always gets the same answer."""


def draw(client, row_id):
    """A number in [0, 1) that belongs to this person; FNV-1a, mixed as splitmix64 does."""
    state = 0xCBF29CE484222325
    for byte in f"{client}\x1f{row_id}".encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor % 2**64
    return ((state ^ state >> 31) >> 11) / 2**53


def answer(predictor, client, group, seen, row_id):
    """The fair answer for one person; `predictor` is json.load of the file.

    `seen` is the model's answer; where the region is exact, its scores in the order of
    predictor["labels"]. One made with --without-group answers all groups alike: give any of
    predictor["groups"].
    """
    labels, groups = predictor["labels"], predictor["groups"]
    mine = next(each for each in predictor["clients"] if each["name"] == client)
    if "rules" in mine:
        prediction = labels[max(range(len(labels)), key=lambda y: seen[y])]
        chances = chances_by_scores(predictor, mine, groups.index(group), seen)
    else:
        prediction = seen
        chances = mine["lottery"][groups.index(group)][labels.index(prediction)]
    order = sorted(range(len(labels)), key=lambda k: labels[k] != prediction)  # its own first
    luck, total = draw(client, row_id), 0.0
    for place in order[:-1]:
        total += chances[place]
        if luck < total:
            return labels[place]
    return labels[order[-1]]


def chances_by_scores(predictor, mine, group, scores):
    """How probable each answer is in the exact region: recalibrated scores, then rules."""
    labels, maps = range(len(scores)), predictor["calibration"]
    said = max(labels, key=lambda y: scores[y])
    if maps:
        shift = maps["shift"][predictor["clients"].index(mine)]
        parts = [max(between(scores[y], *maps["knots"][group][y]), 1e-4) for y in labels]
        parts = [parts[y] * 2.718281828459045 ** shift[y] for y in labels]
        scores = [part / sum(parts) for part in parts]
    chances = [0.0 for _ in labels]
    for rule in mine["rules"][group]:
        if "answers" in rule:
            chosen = predictor["labels"].index(rule["answers"][said])
        elif "theta" in rule:
            values = [rule["b"][k] + scores[k] * rule["theta"][k] for k in labels]
            chosen = values.index(max(values))
        else:
            worth = [[scores[y] * rule["weights"][y][k] for y in labels] for k in labels]
            values = [rule["b"][k] + sum(worth[k]) for k in labels]
            chosen = values.index(max(values))
        chances[chosen] += rule["probability"]
    return chances


def between(score, at, becomes):
    """A recalibrated score: straight lines between the knots, level beyond them."""
    if score <= at[0] or score >= at[-1]:
        return becomes[0] if score <= at[0] else becomes[-1]
    right = next(k for k in range(len(at)) if at[k] > score)
    slope = (becomes[right] - becomes[right - 1]) / (at[right] - at[right - 1])
    return becomes[right - 1] + slope * (score - at[right - 1])
