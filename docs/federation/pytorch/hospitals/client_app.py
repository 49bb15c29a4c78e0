"""Flower's ClientApp: trains on a hospital's people; one call makes it fair."""

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from fairfl_core.federation import fairfl_client, received_model
from hospitals.task import HOSPITALS, load_people, make_model, predict, train_model

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train the server's model on this hospital's people."""
    features, label, _, part = load_people(int(context.node_config["partition-id"]))
    model, mine = make_model(), part < 2
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    train_model(model, features[mine], label[mine])
    metrics = MetricRecord({"num-examples": int(mine.sum())})
    arrays = ArrayRecord(model.state_dict())
    return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """Judge the server's model on people it was not trained on."""
    features, label, _, part = load_people(int(context.node_config["partition-id"]))
    model, held_out = make_model(), part >= 2
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    right = (predict(model, features[held_out]) > 0.5) == label[held_out]
    metrics = MetricRecord({"accuracy": float(right.mean()), "num-examples": len(right)})
    return Message(RecordDict({"metrics": metrics}), reply_to=message)


def scores(context: Context) -> dict:
    """Score this hospital's people by the trained model: some to solve on, some to judge on."""
    features, label, group, part = load_people(int(context.node_config["partition-id"]))
    model, rows = make_model(), part >= 2
    model.load_state_dict(received_model(context).to_torch_state_dict())
    return {
        "label": label[rows],
        "group": group[rows],
        "score": predict(model, features[rows]),
        "split": ["new" if one == 4 else "fit" for one in part[rows]],
    }


fairfl_client(
    app, scores, name=lambda context: HOSPITALS[int(context.node_config["partition-id"])]
)
