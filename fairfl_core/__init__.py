"""The least accuracy cost of local and global fairness in federated learning.

The way of the data, one direction only::

    dataset -> federated training -> scores (an experiment) -> counts -> program
    -> solution -> predictor -> evaluation -> figure, sentence, file

The names below are promised to users; each is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfl_core.data.counts import ClientCounts
    from fairfl_core.data.scored import ScoredData
    from fairfl_core.errors import InputError, SolveError
    from fairfl_core.evaluation.evaluation import Evaluation, evaluate
    from fairfl_core.evaluation.verdict import Verdict
    from fairfl_core.lp.frontier import frontier
    from fairfl_core.lp.guarantee import Guarantee
    from fairfl_core.lp.program import FairnessProgram
    from fairfl_core.predictors.answer_predictor import FairPredictor
    from fairfl_core.predictors.load import read_predictor
    from fairfl_core.predictors.postprocessor import FairPostprocessor
    from fairfl_core.predictors.score_predictor import ScorePredictor
    from fairfl_core.privacy.mechanisms import Mechanism

__all__ = [
    "ClientCounts",
    "Evaluation",
    "FairPostprocessor",
    "FairPredictor",
    "FairnessProgram",
    "Guarantee",
    "InputError",
    "Mechanism",
    "ScorePredictor",
    "ScoredData",
    "SolveError",
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
    "FairPredictor": "predictors.answer_predictor",
    "FairnessProgram": "lp.program",
    "Guarantee": "lp.guarantee",
    "InputError": "errors",
    "Mechanism": "privacy.mechanisms",
    "ScorePredictor": "predictors.score_predictor",
    "ScoredData": "data.scored",
    "SolveError": "errors",
    "Verdict": "evaluation.verdict",
    "evaluate": "evaluation.evaluation",
    "frontier": "lp.frontier",
    "read_predictor": "predictors.load",
}


def __getattr__(name: str) -> Any:
    """Load a promised name from its room."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
