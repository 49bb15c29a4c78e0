"""A hospital's people (made up) and the network: nothing here knows of Flower or fairfl."""

import numpy as np
import torch
from torch import nn

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
    features = np.column_stack([marker, age, woman]).astype(np.float32)
    part = rng.permutation(np.arange(people) % 5)  # 0-1 train, 2-3 fit, 4 new
    return features, ill.astype(np.int64), np.where(woman, "woman", "man"), part


class Net(nn.Module):
    """A multilayer perceptron of one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, features):
        """Return the logits of both labels."""
        return self.layers(features)


def make_model() -> Net:
    """Return the first model, the same on every machine."""
    torch.manual_seed(0)
    return Net()


def train_model(model: Net, features, label) -> None:
    """Train one epoch."""
    optimizer, loss = torch.optim.Adam(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
    inputs, truth = torch.from_numpy(features), torch.from_numpy(label)
    for batch in torch.arange(len(truth)).split(64):
        optimizer.zero_grad()
        loss(model(inputs[batch]), truth[batch]).backward()
        optimizer.step()


def predict(model: Net, features):
    """Return the probability of illness."""
    with torch.no_grad():
        return torch.softmax(model(torch.from_numpy(features)), dim=1)[:, 1].numpy()
