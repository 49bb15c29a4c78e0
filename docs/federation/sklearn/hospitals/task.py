"""A hospital's people (made up) and the model: nothing here knows of Flower or fairfl."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

HOSPITALS = ("St Mary", "Charité", "Clinic 3")


def load_people(partition: int, people: int = 6000):
    """Return a hospital's features, diagnoses, sexes, and which people the model is trained on."""
    rng = np.random.default_rng([7, partition])
    woman = rng.random(people) < 0.35 + 0.1 * partition
    ill = rng.random(people) < 0.3 + 0.1 * woman
    marker = rng.normal(
        2.4 * ill - (0.4 + 0.2 * partition) * woman * ill
    )  # harder to see in women
    age = rng.normal(0, 1, people) + 0.4 * ill
    features = np.column_stack([marker, age, woman])
    part = rng.permutation(np.arange(people) % 5)  # 0-1 train, 2-3 fit, 4 new
    return features, ill.astype(int), np.where(woman, "woman", "man"), part


def make_model():
    """Return a model of zeros, which every round goes on from."""
    model = LogisticRegression(max_iter=1, warm_start=True)
    model.classes_ = np.array([0, 1])
    set_parameters(model, [np.zeros((1, 3)), np.zeros(1)])
    return model


def set_parameters(model, parameters):
    """Put the server's parameters into the model."""
    model.coef_, model.intercept_ = (np.array(array) for array in parameters)


def get_parameters(model):
    """Return the model's parameters."""
    return [model.coef_, model.intercept_]


def train_model(model, features, label):
    """Train for one step; that it has not converged is the point of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, label)
