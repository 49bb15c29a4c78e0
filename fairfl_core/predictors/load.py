"""Predictors of any region: from a solution, and from a file."""

from pathlib import Path
from typing import cast

from fairfl_core._io.json_files import read_json
from fairfl_core.errors import InputError
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.predictors.score_predictor import ScorePredictor
from fairfl_core.solving.exact.program import ExactSolution
from fairfl_core.solving.regions import region_kind, region_names
from fairfl_core.solving.solution import AnswerSolution, Solution

__all__ = ["predictor_of", "read_predictor"]


def predictor_of(solution: Solution) -> FairPredictor | ScorePredictor:
    """The predictor that a solved program of any region found."""
    if solution.needs_scores:
        return ScorePredictor.from_solution(cast(ExactSolution, solution))
    return FairPredictor.from_solution(cast(AnswerSolution, solution))


def read_predictor(path: str | Path) -> FairPredictor | ScorePredictor:
    """Read a `fairfl-predictor/1` file of any region."""
    value = read_json(path)
    region = value.get("region") if isinstance(value, dict) else None
    scores = region in region_names() and region_kind(str(region)).needs_scores
    try:
        return ScorePredictor.from_json(value) if scores else FairPredictor.from_json(value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
