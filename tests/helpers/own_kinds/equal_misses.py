"""A notion of one's own: groups are missed equally often."""

from fairfl_core.fairness.notions import NotionKind, Rate


class EqualMisses(NotionKind):
    """Equal shares of the favourable label that are missed."""

    name = "misses"
    title = "Equal misses"
    meaning = "Among people who truly are “{favourable}”, every group is missed equally often."

    def rates(self, labels, favourable):
        return tuple(Rate(label, favourable) for label in labels if label != favourable)
