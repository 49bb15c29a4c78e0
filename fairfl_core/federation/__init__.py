"""Fairness for federated models on Flower: for any app, and for our own training.

`fair_rounds` (server) and `fairfl_client` (client) are the two calls that any Flower app adds once
its model is trained. `wire` names everything that may leave a client, with its shape and purpose;
`message_log` writes it down in plain words. Our own training is such an app: `study` is what all
agreed on, `training_client` and `training_server` are its ClientApp and its ServerApp.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfl_core.federation.client import fairfl_client, received_model
    from fairfl_core.federation.folders import Consent
    from fairfl_core.federation.server import FairRounds, fair_rounds
    from fairfl_core.federation.wire import FederationStopped

__all__ = [
    "Consent",
    "FairRounds",
    "FederationStopped",
    "fair_rounds",
    "fairfl_client",
    "received_model",
]

_MODULES = {
    "Consent": "folders",
    "FairRounds": "server",
    "FederationStopped": "wire",
    "fair_rounds": "server",
    "fairfl_client": "client",
    "received_model": "client",
}


def __getattr__(name: str) -> Any:
    """Load a promised name from its module; Flower is imported then, not before."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
