"""The ClientApp: Flower's thin skin around `client.Client`.

The folder stands in the node's own configuration, so that a server can name no path.
"""

from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from fairfl_core.federation.client import Client
from fairfl_core.federation.codec import parcel_of, record_of

__all__ = ["app"]

app = ClientApp()


@app.query()
@app.train()
@app.evaluate()
def answer(message: Message, context: Context) -> Message:
    """Answer one message from this node's folder."""
    client = Client(Path(str(context.node_config["folder"])))
    reply = client.answer(parcel_of(message.content))
    return Message(record_of(reply), reply_to=message)
