"""How a client applies a fair predictor: the same person always gets the same answer."""

from hashlib import blake2b
from math import exp


def answer(predictor, client, group, seen, row_id, salt=None):
    """The fair answer for one person; `predictor` is json.load of the file.

    `seen` is the model's answer; where the region is exact, its scores in the order of
    predictor["labels"]; of a mixture (predictor["folds"] above 1) a list of that of each fold
    model. The group is not looked at after --without-group. `salt` is the secret text of a predictor
    that has one: predictor["draw"]["salt_check"]. What cannot be answered is a ValueError.
    """
    labels, folds = predictor["labels"], predictor.get("folds", 1)
    mine = predictor["clients"][place(client, [c["name"] for c in predictor["clients"]], "client")]
    blind = (predictor.get("policy") or {}).get("without_group")
    group = 0 if blind else place(group, predictor["groups"], "group")
    if row_id is None or row_id != row_id or not str(row_id).strip():
        raise ValueError("a person has no row id; give each one.")
    secret = (predictor.get("draw") or {}).get("salt_check")
    if secret != (salt and hashed(b"fairfl salt", salt).hex()):
        raise ValueError(
            "give the salt that the predictor was made with, or none where it has none."
        )
    if folds > 1:
        if not isinstance(seen, list | tuple) or len(seen) != folds:
            raise ValueError(f"the predictor mixes {folds} fold models; give a list of theirs.")
        seen = seen[int(draw(mine["name"], "fold\x1f" + whole(row_id), salt) * folds)]
    if "lottery" in mine:
        predicted = place(seen, labels, "prediction")
        chances = mine["lottery"][group][predicted]
    else:
        predicted, chances = chances_by_scores(predictor, mine, group, seen)
    order = sorted(range(len(labels)), key=lambda k: k != predicted)  # its own answer first
    luck, total = draw(mine["name"], whole(row_id), salt), 0.0
    for k in order[:-1]:
        total += chances[k]
        if luck < total:
            return labels[k]
    return labels[order[-1]]


def draw(client, text, salt=None):
    """A number in [0, 1) that belongs to this person; FNV-1a, mixed as splitmix64 does, or keyed."""
    whose = f"{client}\x1f{text}".encode()
    if len(whose) > 1000:
        raise ValueError(f"a row id is {len(whose)} bytes long; use ids of at most 1000 bytes.")
    if salt:
        return (int.from_bytes(hashed(whose, salt), "big") >> 11) / 2**53
    state = 0xCBF29CE484222325
    for byte in whose:
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor % 2**64
    return ((state ^ state >> 31) >> 11) / 2**53


def hashed(text, salt):
    """The keyed hash that nobody without the salt can foresee."""
    return blake2b(text, key=blake2b(salt.encode()).digest(), digest_size=8).digest()


def whole(value):
    """A name or an id as text: 17, 17.0 and "17.0" are the same."""
    before, point, after = str(value).partition(".")
    same = point and after and not after.strip("0") and before.removeprefix("-").isdecimal()
    return before if same else str(value)


def place(name, names, what):
    """Where a client, a group or a label stands among those the predictor knows."""
    text = whole(int(name) if isinstance(name, float) and name.is_integer() else name)
    if text not in names:
        raise ValueError(f'the {what} "{text}" is not one the predictor was fitted for.')
    return names.index(text)


def chances_by_scores(predictor, mine, group, scores):
    """The model's answer, and how probable each answer is in the exact region."""
    labels, maps = range(len(predictor["labels"])), predictor.get("calibration")
    listed = isinstance(scores, list | tuple) and len(scores) == len(labels)
    if not listed or not all(0 <= r <= 1 for r in scores) or abs(sum(scores) - 1) > 0.01:
        raise ValueError(f"{scores} are not probabilities of all labels that sum to one.")
    predicted = max(labels, key=lambda y: scores[y])
    if "bins" in mine:
        bins = mine["bins"][predicted]
        second = bins["chances"][sum(edge < scores[1] for edge in bins["edges"])]
        return predicted, [1 - second, second]
    if maps:
        shift = maps["shift"][predictor["clients"].index(mine)]
        parts = [max(between(scores[y], *maps["knots"][group][y]), 1e-4) for y in labels]
        parts = [parts[y] * round(exp(shift[y] - max(shift)), 12) for y in labels]
        scores = [round(part / sum(parts), 12) for part in parts]  # a threshold may be a score
    chances = [0.0 for _ in labels]
    for rule in mine["rules"][group]:
        if "answers" in rule:
            chosen = predictor["labels"].index(rule["answers"][predicted])
        else:
            values = list(rule["b"])
            for y in labels:
                row = rule["weights"][y] if "weights" in rule else None
                for k in labels if row else (y,):
                    values[k] += scores[y] * (row[k] if row else rule["theta"][y])
            chosen = values.index(max(values))
        chances[chosen] += rule["probability"]
    return predicted, chances


def between(score, at, becomes):
    """A recalibrated score: straight lines between the knots, level beyond them."""
    if score <= at[0] or score >= at[-1]:
        return becomes[0] if score <= at[0] else becomes[-1]
    right = next(k for k in range(len(at)) if at[k] > score)
    slope = (becomes[right] - becomes[right - 1]) / (at[right] - at[right - 1])
    return becomes[right - 1] + slope * (score - at[right - 1])
