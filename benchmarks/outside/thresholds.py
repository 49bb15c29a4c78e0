"""fairlearn's and OxonFair's thresholds on given scores: run by the environment that has them.

    python thresholds.py SCORES.npz ANSWERS.npz EPSILON [EPSILON ...]

Reads score, group, client, label and split (0 is fitted on, 1 is unseen) and writes, for each
rival, everyone's chance of the favourable answer by epsilon, shape (epsilons, people).
"""

import logging
import sys
import warnings

import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from oxonfair import FairPredictor
from oxonfair import group_metrics as metrics
from sklearn.base import BaseEstimator, ClassifierMixin

Rows = dict[str, np.ndarray]


class Given(ClassifierMixin, BaseEstimator):
    """A model that was fitted elsewhere: its input is its score."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, scores: np.ndarray, label: np.ndarray) -> "Given":
        """Nothing is left to fit."""
        return self

    def predict_proba(self, scores: np.ndarray) -> np.ndarray:
        """Chances of both labels."""
        return np.column_stack([1 - scores[:, 0], scores[:, 0]])


def fairlearn(fitted: Rows, people: Rows, epsilon: float) -> np.ndarray:
    """Group thresholds with a lottery at them, for a gap of at most epsilon."""
    optimizer = ThresholdOptimizer(
        estimator=Given(),
        constraints="demographic_parity",
        objective="accuracy_score",
        prefit=True,
        predict_method="predict_proba",
        tol=epsilon or None,
    )
    scores = fitted["score"][:, None]
    optimizer.fit(scores, fitted["label"], sensitive_features=fitted["group"])
    chances = optimizer._pmf_predict(people["score"][:, None], sensitive_features=people["group"])
    return chances[:, 1]


def fairlearn_by_client(fitted: Rows, people: Rows, epsilon: float) -> np.ndarray:
    """Each client fits thresholds of its own on its own people."""
    chances = np.zeros(len(people["score"]))
    for client in np.unique(people["client"]):
        mine = people["client"] == client
        own = {name: column[fitted["client"] == client] for name, column in fitted.items()}
        chances[mine] = fairlearn(
            own, {name: column[mine] for name, column in people.items()}, epsilon
        )
    return chances


def oxonfair(fitted: Rows, people: Rows, epsilon: float) -> np.ndarray:
    """The most accurate group thresholds whose gap is at most epsilon; nothing is drawn."""

    def table(rows: Rows) -> dict[str, np.ndarray]:
        data = np.column_stack([1 - rows["score"], rows["score"]])
        return {"data": data, "target": rows["label"], "groups": rows["group"]}

    predictor = FairPredictor(None, table(fitted))
    predictor.fit(metrics.accuracy, metrics.demographic_parity, epsilon)
    return np.asarray(predictor.predict(table(people)), float)


RIVALS = {
    "fairlearn_pooled": fairlearn,
    "fairlearn_by_client": fairlearn_by_client,
    "oxonfair_pooled": oxonfair,
}


def main() -> None:
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    source, answers, *words = sys.argv[1:]
    with np.load(source, allow_pickle=False) as file:
        people = {name: file[name] for name in file.files}
    fitted = {name: column[people["split"] == 0] for name, column in people.items()}
    chances = {
        name: np.stack([rival(fitted, people, float(word)) for word in words])
        for name, rival in RIVALS.items()
    }
    np.savez_compressed(answers, **chances)


if __name__ == "__main__":
    main()
