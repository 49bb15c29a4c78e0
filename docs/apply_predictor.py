"""How a client applies a fair predictor: the same person always gets the same answer."""


def draw(client, row_id):
    """A number in [0, 1) that belongs to this person; FNV-1a, mixed as splitmix64 does."""
    state = 0xCBF29CE484222325
    for byte in f"{client}\x1f{row_id}".encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor % 2**64
    return ((state ^ state >> 31) >> 11) / 2**53


def answer(predictor, client, group, prediction, row_id):
    """The fair answer for one person; `predictor` is json.load of the file.

    One made with --without-group answers all groups alike: give any of predictor["groups"].
    """
    labels, groups = predictor["labels"], predictor["groups"]
    mine = next(each for each in predictor["clients"] if each["name"] == client)
    chances = mine["lottery"][groups.index(group)][labels.index(prediction)]
    order = sorted(range(len(labels)), key=lambda k: labels[k] != prediction)  # its own first
    luck, total = draw(client, row_id), 0.0
    for place in order[:-1]:
        total += chances[place]
        if luck < total:
            return labels[place]
    return labels[order[-1]]
