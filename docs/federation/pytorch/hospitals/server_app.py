"""Flower's ServerApp: FedAvg over the hospitals; one call makes the answers fair."""

from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from fairfl_core.federation import fair_rounds
from hospitals.task import make_model

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train, then solve for fair answers."""
    result = FedAvg().start(
        grid=grid,
        initial_arrays=ArrayRecord(make_model().state_dict()),
        num_rounds=int(context.run_config["num-server-rounds"]),
    )
    fair_rounds(
        grid,
        arrays=result.arrays,
        notion="eo",
        region="exact",
        eps_global=0.05,
        eps_local=0.1,
        out=str(context.run_config["out"]),
    )
