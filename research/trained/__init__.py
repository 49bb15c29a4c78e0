"""Fair training methods of other people, registered under their names beside FedAvg."""

from fairfl_core.training.method import register

_METHODS = {
    "fairfed": "fairfed:FairFed",
    "fair_fate": "fair_fate:FairFate",
    "fcfl": "fcfl:FCFL",
    "equifl": "equifl:EquiFL",
    "fedfb": "fedfb:FedFB",
    "reweighing": "reweighing:Reweighing",
}


def register_all() -> None:
    """Make every method of this package known to `make_method`."""
    for name, target in _METHODS.items():
        register(name, f"{__name__}.{target}")
