"""Predictors of any region: from a solution, and from a file."""

from pathlib import Path
from typing import Any

from fairfl_core.lp.regions import region_kind, region_names
from fairfl_core.lp.solution import Solution
from fairfl_core.predictors.answer_predictor import FairPredictor
from fairfl_core.predictors.predictor import Predictor
from fairfl_core.predictors.score_predictor import BinPredictor, ScorePredictor

__all__ = ["predictor_from_json", "predictor_of", "read_predictor"]


def predictor_of(solution: Solution) -> Predictor:
    """The predictor that a solved program of any region found."""
    if not solution.needs_scores:
        return FairPredictor.from_solution(solution)
    if solution.policy.without_group:
        return BinPredictor.from_solution(solution)
    return ScorePredictor.from_solution(solution)


def read_predictor(path: str | Path) -> Predictor:
    """Read a `fairfl-predictor/1` file of any region."""
    return Predictor.read(path)


def predictor_from_json(value: Any) -> Predictor:
    """Check and take a `fairfl-predictor/1` object of any region."""
    return _kind(value if isinstance(value, dict) else {}).from_json(value)


def _kind(value: dict[str, Any]) -> type[FairPredictor | ScorePredictor | BinPredictor]:
    """Which predictor a file holds, by what it looks at."""
    region, policy = value.get("region"), value.get("policy")
    if not (region in region_names() and region_kind(str(region)).needs_scores):
        return FairPredictor
    blind = isinstance(policy, dict) and policy.get("without_group") is True
    return BinPredictor if blind else ScorePredictor
