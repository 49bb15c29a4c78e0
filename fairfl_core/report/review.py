"""A review as a file, `fairfl-review/1`: the question, up to four options, and notes on each.

An option holds everything its numbers depend on, so that whoever has the file and the experiment
gets the same numbers (`fairfl review FILE`). An uploaded set is named by the hash of its file, and
the review says how it was read: whoever has that file too (`--rows TABLE`) gets them as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairfl_core._io.files import check_keys, parse_json, read_json, write_json
from fairfl_core._io.names import shown
from fairfl_core.data import experiments
from fairfl_core.data.counts import ClientCounts
from fairfl_core.data.experiments import Experiment
from fairfl_core.data.scored import FoldedData, ScoredData, fitted_people, unseen_people
from fairfl_core.errors import InputError, about
from fairfl_core.evaluation.before_after import LEVEL
from fairfl_core.evaluation.checks import LimitCheck, check_limits
from fairfl_core.evaluation.evaluation import Evaluation
from fairfl_core.evaluation.study import Study, Summary, run_study, summarise
from fairfl_core.fairness.intervals import at_once
from fairfl_core.intake import Reading
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Policy
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.rate_estimates import rate_names
from fairfl_core.lp.regions import region_kind
from fairfl_core.predictors.metadata import FittedOn

FORMAT = "fairfl-review/1"
MOST = 4  # options of a review
UPLOADED = "uploaded"  # what the people of an uploaded file are called
_LARGEST = 2_000_000  # bytes
_LONGEST = 4000  # letters of a note or a question
_TEXTS = ("name", "experiment", "data", "sha256", "notion", "region", "rates", "note")


@dataclass(frozen=True)
class Option:
    """One setting that people may decide for.

    Attributes
    ----------
    name : str
        What it is called among the options: A, B, C, D.
    experiment, data : str
        Whose people, and how they are parted (the experiment that is opened).
    sha256 : str
        Of the scores, or of the uploaded file.
    notion, region, rates, guarantee, policy, seeds, eps_global, eps_local, own_limits
        What is asked, as in a `View`.
    note : str
        What reviewers say of it.
    """

    name: str
    experiment: str
    data: str
    sha256: str
    notion: str
    region: str
    rates: str
    seeds: tuple[int, ...]
    eps_global: float
    eps_local: float
    own_limits: tuple[tuple[str, float], ...] = ()
    guarantee: Guarantee | None = None
    policy: Policy = Policy()
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form a review carries."""
        return {
            **{name: getattr(self, name) for name in _TEXTS},
            "seeds": list(self.seeds),
            "epsilon": {
                "global": self.eps_global,
                "local": self.eps_local,
                "own": dict(self.own_limits),
            },
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "policy": None if self.policy.is_plain else self.policy.to_json(),
        }

    @classmethod
    def from_json(cls, value: Any) -> "Option":
        """Read an option; refuses what is not one."""
        if not isinstance(value, dict):
            raise InputError("an option must be a JSON object; write it as the app does.")
        check_keys(value, {*_TEXTS, "seeds", "epsilon", "guarantee", "policy"}, set(), "an option")
        texts = {name: _text(value[name], name) for name in _TEXTS}
        epsilon, seeds = value["epsilon"], value["seeds"]
        if not isinstance(epsilon, dict):
            raise InputError('"epsilon" of an option must be an object; write global and local.')
        check_keys(epsilon, {"global", "local", "own"}, set(), '"epsilon" of an option')
        own = epsilon["own"]
        if not isinstance(own, dict) or not isinstance(seeds, list) or not seeds:
            raise InputError('"own" limits and "seeds" of an option cannot be read; correct them.')
        return cls(
            **texts,
            seeds=tuple(_seed(seed) for seed in seeds),
            eps_global=_share(epsilon["global"]),
            eps_local=_share(epsilon["local"]),
            own_limits=tuple((_text(name, "own"), _share(eps)) for name, eps in own.items()),
            guarantee=Guarantee.from_json(value["guarantee"]),
            policy=Policy() if value["policy"] is None else Policy.from_json(value["policy"]),
        )


@dataclass(frozen=True)
class Review:
    """The question that is to be decided, and its options.

    `reading` tells how the uploaded file was read, where the options are of one.
    """

    question: str
    options: tuple[Option, ...] = ()
    reading: Reading | None = None

    def __post_init__(self) -> None:
        if len(self.options) > MOST:
            raise InputError(f"a review has at most {MOST} options; leave some out.")

    def to_json(self) -> dict[str, Any]:
        """The `fairfl-review/1` form."""
        return {
            "format": FORMAT,
            "question": self.question,
            "options": [option.to_json() for option in self.options],
            "reading": None if self.reading is None else self.reading.to_json(),
        }

    @classmethod
    def from_json(cls, value: Any) -> "Review":
        """Read a review; refuses what is not one."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise InputError(f'this is no {FORMAT} file; give one that "Compare" wrote.')
        newer = {"reading"}  # files of earlier versions lack it
        check_keys(value, {"format", "question", "options"} | newer, newer, "the review")
        if not isinstance(value["options"], list) or not value["options"]:
            raise InputError("the review has no option; keep at least one.")
        options = tuple(Option.from_json(option) for option in value["options"])
        reading = value.get("reading")
        return cls(
            _text(value["question"], "question"),
            options,
            None if reading is None else Reading.from_json(reading),
        )

    def write(self, path: str | Path) -> Path:
        """Write the file, whole or not at all."""
        return write_json(path, self.to_json())


def read_review(path: str | Path) -> Review:
    """Read a `fairfl-review/1` file."""
    value = read_json(path)
    with about(path):
        return Review.from_json(value)


def parse_review(data: bytes, name: str) -> Review:
    """The review of an uploaded file, which is small: a few pages of notes and figures."""
    if len(data) > _LARGEST:
        raise InputError(
            f"{name}: is larger than {_LARGEST // 1_000_000} MB, which no review is; choose the "
            "file that the page Compare wrote."
        )
    return Review.from_json(parse_json(data, name))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InputError(
            f'"{shown(what)}" must be text of at most {_LONGEST:,} letters; shorten it.'
        )
    return value


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError("a limit of an option is not a number from 0 to 1; correct it.")
    return float(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError('"seeds" of an option must be whole numbers; correct them.')
    return value


# ------------------------------------------------------------------- solved and judged


@dataclass(frozen=True, eq=False)
class Result:
    """An option, and what came of it."""

    option: Option
    study: Study
    summary: Summary
    experiment: Experiment

    @cached_property
    def judged(self) -> list[Evaluation]:
        """The evaluations that it is judged by: on new people where there are any."""
        return self.study.evaluations(unseen=self.study.has_held_out)

    @cached_property
    def checks(self) -> list[LimitCheck]:
        """Every client's gap with who stands behind it."""
        return check_clients(self.judged)

    @cached_property
    def client_columns(self) -> dict[str, Any]:
        """The figures of its clients, on the people it is judged by."""
        return self.study.client_columns(unseen=self.study.has_held_out)


def check_clients(runs: Sequence[Evaluation]) -> list[LimitCheck]:
    """Every client's gap with who stands behind it; intervals that hold for all at once."""
    clients = max(one.compared_clients for one in runs)
    asked = np.append(1.0, np.zeros(len(runs[0].counts.clients)))
    return check_limits(runs, at_once(LEVEL, clients), asked) if clients else []


def solve_option(option: Option, uploaded: Experiment | None = None) -> Result:
    """Solve an option afresh, and judge it on unseen people.

    Its people are those of the bundled experiment it names, or `uploaded` ones.
    """
    experiment = _bundled(option) if option.data != UPLOADED else uploaded
    if experiment is None:
        raise InputError(
            f"option {option.name} is of an uploaded table, which a review does not hold; give "
            "that table too (--rows)."
        )
    if experiment.manifest["scores"]["sha256"] != option.sha256:
        use = "give that file" if option.data == UPLOADED else "use the same version of fairfl"
        raise InputError(
            f"the data of {shown(experiment.manifest['title'])} are not those option {option.name} "
            f"was made with (sha256 differs); {use}."
        )
    programs = [(seed, _program(option, experiment, seed)) for seed in option.seeds]
    unseen = [_unseen(option, experiment, seed) for seed in option.seeds]
    local = dict.fromkeys(experiment.clients, option.eps_local) | dict(option.own_limits)
    study = run_study(programs, unseen, option.eps_global, local)
    return Result(option, study, summarise(study), experiment)


def fingerprint_of(result: Result) -> str | None:
    """The fingerprint of the first run's predictor and its certificate; None without one."""
    option, experiment, first = result.option, result.experiment, result.study.first
    fitted_on = FittedOn(
        experiment.manifest["name"], option.sha256, first.seed, experiment.fit_split
    )
    program = _program(option, experiment, first.seed)
    predictor = replace(first.predictor, fitted_on=fitted_on).certified_by(program)
    certificate = predictor.to_json().get("certificate")
    return None if certificate is None else certificate["fingerprint"]


def _bundled(option: Option) -> Experiment:
    if option.data not in experiments.list_experiments(protocol=None):
        raise InputError(
            f'option {option.name} is of "{shown(option.data)}", which is not among the '
            "experiments here; use the version of fairfl that has it."
        )
    return experiments.open(option.data)


def _program(option: Option, experiment: Experiment, seed: int) -> FairnessProgram:
    looks = region_kind(option.region).needs_scores or option.rates not in rate_names(scores=False)
    return FairnessProgram(
        fitted_people(experiment, seed)
        if looks
        else experiment.counts(seed, experiment.fit_split),
        option.notion,
        option.region,
        rates=option.rates,
        guarantee=option.guarantee,
        policy=option.policy,
    )


def _unseen(
    option: Option, experiment: Experiment, seed: int
) -> ClientCounts | ScoredData | FoldedData | None:
    """Those it is judged on; None where only counts of the fitted people came."""
    if not experiment.has_held_out:
        return None
    if experiment.folds == 1 and not region_kind(option.region).needs_scores:
        return experiment.counts(seed, "test")
    return unseen_people(experiment, seed)
