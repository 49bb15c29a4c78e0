"""Why precision and error rates cannot all be equal: one line of arithmetic, for the lesson.

With a share p of a group truly ill, of whom TPR are told so, and FPR of the healthy too, the precision
is p TPR / (p TPR + (1 - p) FPR). Groups with other p have other precision at equal error rates,
unless nobody healthy is told ill (Chouldechova 2017; Kleinberg, Mullainathan, Raghavan 2017).
"""

__all__ = ["equalising_rate", "precision"]


def precision(ill: float, true_positive: float, false_positive: float) -> float:
    """Of those told ill, how many are; NaN where nobody is told so."""
    right, wrong = ill * true_positive, (1 - ill) * false_positive
    return right / (right + wrong) if right + wrong > 0 else float("nan")


def equalising_rate(ill: float, true_positive: float, wanted: float) -> float:
    """The false-positive rate that gives a group this precision; NaN where none in [0, 1] does."""
    if ill >= 1 or wanted <= 0:
        return float("nan")
    rate = ill * true_positive * (1 - wanted) / ((1 - ill) * wanted)
    return rate if rate <= 1 else float("nan")
