"""The least accuracy cost of local and global fairness in federated learning.

The way of the data, one direction only::

    dataset -> federated training -> scores (an experiment) -> counts -> program
    -> solution -> predictor -> evaluation -> figure, sentence, file

The names below are promised to users; each is loaded when it is first asked for.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfl_core.data.counts import ClientCounts
    from fairfl_core.data.scored import FoldedData, ScoredData
    from fairfl_core.errors import InfeasibleError, InputError
    from fairfl_core.evaluation.evaluation import Evaluation, evaluate
    from fairfl_core.evaluation.verdict import Verdict
    from fairfl_core.lp.frontier import Frontier, frontier
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.policy import Floor, Policy
    from fairfl_core.lp.program import FairnessProgram
    from fairfl_core.lp.solution import Solution
    from fairfl_core.predictors.kinds import read_predictor
    from fairfl_core.predictors.postprocessor import FairPostprocessor
    from fairfl_core.predictors.predictor import Predictor
    from fairfl_core.privacy.mechanisms import Mechanism

__all__ = [
    "ClientCounts",
    "Evaluation",
    "FairPostprocessor",
    "FairnessProgram",
    "Floor",
    "FoldedData",
    "Frontier",
    "Guarantee",
    "InfeasibleError",
    "InputError",
    "Mechanism",
    "Policy",
    "Predictor",
    "ScoredData",
    "Solution",
    "Verdict",
    "evaluate",
    "frontier",
    "read_predictor",
]

__version__ = "0.2.0"

_ROOMS = {
    "ClientCounts": "data.counts",
    "Evaluation": "evaluation.evaluation",
    "FairPostprocessor": "predictors.postprocessor",
    "FairnessProgram": "lp.program",
    "Floor": "lp.policy",
    "FoldedData": "data.scored",
    "Frontier": "lp.frontier",
    "Guarantee": "lp.guarantee",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "Mechanism": "privacy.mechanisms",
    "Policy": "lp.policy",
    "Predictor": "predictors.predictor",
    "ScoredData": "data.scored",
    "Solution": "lp.solution",
    "Verdict": "evaluation.verdict",
    "evaluate": "evaluation.evaluation",
    "frontier": "lp.frontier",
    "read_predictor": "predictors.kinds",
}

# Names of 0.2 that are no longer promised: where each still is, and what stands in its place.
_OLD = {
    "ExactProgram": ("lp.program", "exact_program", 'FairnessProgram with region="exact"'),
    "FairPredictor": ("predictors.kinds", "FairPredictor", "Predictor"),
    "ScorePredictor": ("predictors.kinds", "ScorePredictor", "Predictor"),
    "ScoredPeople": ("data.scored", "ScoredData", "ScoredData"),
    "SolveError": ("errors", "SolveError", "fairfl_core.errors.SolveError"),
    "build_program": ("lp.program", "FairnessProgram", "FairnessProgram"),
}


def __getattr__(name: str) -> Any:
    """Load a promised name from its room; one that was promised before, with a warning."""
    if name in _OLD:
        room, now, instead = _OLD[name]
        warnings.warn(
            f"fairfl_core.{name} goes in the next release; use {instead}.",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(import_module(f"{__name__}.{room}"), now)
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
