"""What a collision says would do, against a linear program written from the definitions alone."""

import numpy as np
import pytest

from fairfl_core.errors import InfeasibleError
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.program import FairnessProgram
from tests.helpers.scored import scored_network


@pytest.mark.parametrize("seed", range(50, 54))
@pytest.mark.parametrize("rates", ["labels", "scores"])
def test_three_labels_find_what_their_kernel_does(seed, rates):
    """The exact region contains the kernel: what helps there helps here.

    Told was "no wider gap would help" where rules that did had not been asked for.
    """
    people = scored_network(2, 2, 3, rows=60, seed=seed).calibrated
    rng = np.random.default_rng(seed)
    floors = tuple(Floor(label, rate=float(rng.uniform(0.35, 0.95))) for label in people.labels)
    chosen = {"rates": rates, "policy": Policy(floors=floors)}
    asked = (0.01, 0.01)
    collisions = {}
    for region in ("kernel", "exact"):
        program = FairnessProgram(people, "eo", region, **chosen)
        try:
            program.solve(*asked)
        except InfeasibleError as error:
            collisions[region] = error.infeasible
            if error.infeasible.least_local is None:
                with pytest.raises(InfeasibleError):
                    program.solve(1.0, 1.0)
            else:
                program.solve(
                    min(error.infeasible.least_global + 1e-6, 1.0),
                    min(error.infeasible.least_local + 1e-6, 1.0),
                )
    if "exact" not in collisions:
        return
    exact, kernel = collisions["exact"], collisions["kernel"]
    assert exact.certain == (rates == "scores") and kernel.certain
    if kernel.least_local is not None:
        assert exact.least_local is not None
        assert exact.least_local <= kernel.least_local + 1e-6
    for label, floor in kernel.highest_floor.items():
        assert exact.highest_floor[label] >= floor - 1e-6
    if not exact.certain:
        assert "found" in exact.sentence() and "would help" not in exact.sentence()
