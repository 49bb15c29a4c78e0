"""declearn's fair methods on one seed of a federation: run by the environment that has declearn.

Server and clients are declearn's own, with its websockets between them, in one event loop. The
model is the recipe's (64 and 32 hidden units), trained as the recipe says: Adam .001, batches of
512, an epoch a round. Answers are those of the last round's weights, not of the round with the
least loss that declearn would send: before a method has become fair its loss is least.

    python declearn_methods.py FEDERATION.npz RUNS METHOD=KNOB [METHOD=KNOB ...]

Reads inputs, group, client, label and split (0 is training) and writes RUNS/METHOD_KNOB.npz, each
when it is done: the answers of everyone held out.
"""

import asyncio
import logging
import os
import socket
import sys
import time
import warnings
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TQDM_DISABLE"] = "1"

import keras
import numpy as np
from declearn.communication import NetworkClientConfig, NetworkServerConfig
from declearn.fairness.core import FairnessInMemoryDataset
from declearn.fairness.fairbatch import FairbatchControllerServer
from declearn.fairness.fairfed import FairfedControllerServer
from declearn.fairness.fairgrad import FairgradControllerServer
from declearn.main import FederatedClient, FederatedServer
from declearn.main.config import FLOptimConfig, FLRunConfig
from declearn.model.tensorflow import TensorflowModel

ROUNDS = 15
NOTION = "demographic_parity"
CONTROLLERS = {
    "fairfed": lambda beta: FairfedControllerServer(NOTION, beta=beta),
    "fedfb": lambda alpha: FairbatchControllerServer(NOTION, alpha=alpha, fedfb=True),
    "fairbatch": lambda alpha: FairbatchControllerServer(NOTION, alpha=alpha),
    "fairgrad": lambda eta: FairgradControllerServer(NOTION, eta=eta),
}


def network(inputs: int) -> keras.Model:
    layers = [
        keras.layers.Input((inputs,)),
        keras.layers.Dense(64, "relu"),
        keras.layers.Dense(32, "relu"),
        keras.layers.Dense(1, "sigmoid"),
    ]
    return keras.Sequential(layers)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def trained(people: dict[str, np.ndarray], method: str, knob: float) -> TensorflowModel:
    """The server's model after the last round."""
    keras.utils.set_random_seed(0)
    port = free_port()
    model = TensorflowModel(network(people["inputs"].shape[1]), loss="binary_crossentropy")
    server = FederatedServer(
        model,
        NetworkServerConfig(protocol="websockets", host="127.0.0.1", port=port),
        FLOptimConfig.from_params(
            aggregator="averaging",
            client_opt={"lrate": 0.001, "modules": ["adam"]},
            server_opt=1.0,
            fairness=CONTROLLERS[method](knob),
        ),
    )
    clients = []
    number = int(people["client"].max()) + 1
    for client in range(number):
        rows = (people["client"] == client) & (people["split"] == 0)
        data = FairnessInMemoryDataset(
            people["inputs"][rows],
            s_attr=people["group"][rows][:, None],
            target=people["label"][rows].astype(np.float32),
            expose_classes=True,
            seed=0,
        )
        network_client = NetworkClientConfig(
            protocol="websockets", server_uri=f"ws://127.0.0.1:{port}", name=f"client{client}"
        )
        clients.append(FederatedClient(network_client, train_data=data))
    config = FLRunConfig.from_params(
        rounds=ROUNDS,
        register={"min_clients": number, "max_clients": number, "timeout": 60},
        training={"batch_size": 512, "n_epoch": 1, "drop_remainder": False},
        evaluate={"batch_size": 8192, "frequency": 10 * ROUNDS},
        fairness={"batch_size": 8192},
    )

    async def together() -> None:
        await asyncio.gather(server.async_run(config), *(client.async_run() for client in clients))

    asyncio.run(together())
    return server.model


def main() -> None:
    logging.disable(logging.INFO)
    warnings.filterwarnings("ignore")
    source, folder, *asked = sys.argv[1:]
    with np.load(source, allow_pickle=False) as file:
        people = {name: file[name] for name in file.files}
    held_out = people["split"] > 0
    batch = (people["inputs"][held_out], people["label"][held_out].astype(np.float32), None)
    for word in asked:
        method, _, knob = word.partition("=")
        start = time.process_time()
        chance = trained(people, method, float(knob)).compute_batch_predictions(batch)[1].ravel()
        seconds = time.process_time() - start
        path = Path(folder) / f"{method}_{knob}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".tmp").open("wb") as file:
            np.savez_compressed(file, answer=(chance >= 0.5).astype(np.uint8), seconds=seconds)
        path.with_suffix(".tmp").rename(path)
        print(f"{path}: {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
