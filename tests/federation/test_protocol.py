"""The whole way in memory: the same answer as in one place, and no row that ever leaves."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.federation.demo import compare
from fairfl_core.federation.messages import KINDS, Parcel, check_leaving
from fairfl_core.federation.one_place import run_in_one_place
from fairfl_core.federation.question import Question
from fairfl_core.federation.server import Server
from fairfl_core.federation.study import Study
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.predictors.load import read_predictor
from fairfl_core.privacy.mechanisms import Mechanism
from fairfl_core.training.methods import METHODS
from tests.federation.hospitals import (
    NAMES,
    QUESTION,
    STUDY,
    THREE,
    folders_of,
    grid_of,
    open_hospitals,
    server,
)
from tests.training import toy  # noqa: F401  (it makes itself known)

MANY = (400, 331, 317)
EXACT = replace(QUESTION, region="exact")
WAYS = {
    "simplex": (STUDY, QUESTION),
    "kernel": (STUDY, replace(QUESTION, region="kernel", notion="sp")),
    "confidence": (STUDY, Question("eop", "simplex", 0.3, 0.4, guarantee=Guarantee(0.9))),
    "exact": (STUDY, EXACT),
    "one round": (STUDY, replace(EXACT, one_round=True)),
    "three labels": (THREE, EXACT),
    "folds": (replace(STUDY, folds=3), EXACT),
    "toy": (
        replace(STUDY, method="toy", settings={"notion": "eo"}, class_weighting=True),
        QUESTION,
    ),
}


@pytest.fixture(scope="module", params=WAYS)
def way(request, tmp_path_factory):
    """One way gone by a federation in memory, and in one place."""
    study, question = WAYS[request.param]
    folder = tmp_path_factory.mktemp("federation")
    paths = open_hospitals(folder, study, MANY)
    grid = grid_of(paths)
    found = server(paths, folder / "out", study=study, question=question, grid=grid)
    outcome = found.run()
    one = run_in_one_place(folders_of(paths), study, question)
    return study, paths, grid, found, outcome, one


def test_it_is_the_same_as_in_one_place(way):
    study, paths, _, found, outcome, one = way
    assert outcome.solution.accuracy == pytest.approx(one.solution.accuracy, abs=1e-8)
    assert outcome.solution.gaps.overall == pytest.approx(one.solution.gaps.overall, abs=1e-8)
    assert outcome.solution.counts.folds == one.solution.counts.folds == study.models
    assert np.allclose(outcome.evaluation.confusion, one.evaluation.confusion, atol=1e-6)
    for model, trained in enumerate(one.trained):
        assert outcome.runs[model].best_done == trained.chosen
        assert np.allclose(outcome.runs[model].loss, trained.loss, atol=1e-9)
        for place, path in enumerate(paths):
            with np.load(path / "runs" / found.roster.run / "scores.npz") as kept:
                scores = kept[f"model {model}"]
            inside = (trained.person >= one.starts[place]) & (
                trained.person < one.starts[place + 1]
            )
            mine = scores[trained.person[inside] - one.starts[place]]
            assert np.abs(mine - trained.scores[inside]).max() < 1e-5


def test_no_array_with_as_many_rows_as_a_client_has_people_ever_leaves_it(way):
    study, paths, grid, found, *_ = way
    sent = 0
    for node, _, reply in grid.exchanges:
        rows = MANY[node - 100]
        parts = {rows, *(round(rows * share) for share in (*study.split, 0.8))}
        parts |= {size + off for size in parts for off in (-1, 1)}
        for name, array in reply.arrays.items():
            sent += 1
            assert not parts & set(array.shape), (reply.kind, name, array.shape)
            assert max(array.shape, default=0) < min(parts)
    assert sent > 20


def test_each_client_gets_its_own_part_and_applies_it(way):
    study, paths, grid, found, outcome, _ = way
    for place, (name, path) in enumerate(zip(NAMES, paths, strict=True)):
        run = path / "runs" / found.roster.run
        mine = read_predictor(run / "predictor.json")
        assert mine.clients == (name,)
        assert not any(
            other in (run / "predictor.json").read_text() for other in set(NAMES) - {name}
        )
        answers = (run / "answers.csv").read_text().splitlines()
        assert len(answers) == MANY[place] + 1
        assert answers[0] == "row,group,part,model,fair_answer"


def test_the_result_is_whole(way):
    study, _, _, found, outcome, _ = way
    folder = found.folder
    assert ClientCounts.read(folder / "counts.json").clients == NAMES
    assert read_predictor(folder / "predictor.json").clients == NAMES
    assert (folder / "result.json").stat().st_size > 1000


def test_the_log_tells_everything_that_travelled_in_plain_words(way):
    study, paths, grid, found, *_ = way
    for place, path in enumerate(paths):
        lines = (path / "log.txt").read_text(encoding="utf-8").splitlines()
        mine = [one for one in grid.exchanges if one[0] == 100 + place]
        assert len(lines) == 2 * len(mine)
        for (_, asked, reply), received, sent in zip(mine, lines[::2], lines[1::2], strict=True):
            assert f"received from the server: {asked.kind} ({asked.bytes:,} bytes)" in received
            assert f"sent to the server: {reply.kind} ({reply.bytes:,} bytes)" in sent
            assert KINDS[reply.kind].tells[1:] in sent
            for name in reply.arrays:
                assert name.replace("_", " ") in sent


def test_shapes_do_not_depend_on_how_many_people_there_are(tmp_path):
    shapes = []
    for rows in (MANY, tuple(size + 57 for size in MANY)):
        paths = open_hospitals(tmp_path / str(rows[0]), rows=rows)
        grid = grid_of(paths)
        server(paths, tmp_path / f"out{rows[0]}", grid=grid).run()
        shapes.append(
            [
                (reply.kind, name, array.shape)
                for _, _, reply in grid.exchanges
                for name, array in reply.arrays.items()
            ]
        )
    assert shapes[0] == shapes[1]


def test_a_row_for_each_person_is_stopped_at_the_door(tmp_path):
    for arrays in ({"scores": np.zeros((24, 2))}, {"group": np.zeros(24)}):
        with pytest.raises(InputError, match="nothing was sent"):
            check_leaving(Parcel("corners", {}, arrays), STUDY, {120, 24})
    check_leaving(Parcel("corners", {}, {"group": np.zeros(23)}), STUDY, {120, 24})
    with pytest.raises(InputError, match="as many rows"):
        check_leaving(Parcel("turn", {}, {"sent/secret": np.zeros((3, 24))}), STUDY, {120, 24})


def test_noise_is_added_on_the_client_and_paid_for_once(tmp_path):
    paths = open_hospitals(tmp_path, rows=MANY)
    question = replace(QUESTION, privacy=Mechanism(epsilon=2.0))
    grid = grid_of(paths)
    outcome = server(paths, tmp_path / "out", question=question, grid=grid).run()
    counts = outcome.solution.counts
    assert counts.noisy
    told = [reply for _, _, reply in grid.exchanges if reply.kind == "counts"]
    assert [reply.header["budget"] for reply in told] == [2.0] * 3
    assert "spends epsilon = 2 per client" in (paths[0] / "log.txt").read_text()
    kinds = [(reply.kind, name) for _, _, reply in grid.exchanges for name in reply.arrays]
    assert not [name for _, name in kinds if "held_out" in name]  # nothing else of the same people
    assert outcome.evaluation.counts.noisy
    # Asked again, the same table comes, and nothing more is spent.
    again = server(paths, tmp_path / "out", question=question).run()
    assert np.array_equal(again.solution.counts.table, counts.table)


def test_rounds_are_not_asked_for_under_noise():
    with pytest.raises(InputError, match="--one-round"):
        replace(EXACT, privacy=Mechanism(epsilon=1.0))


def test_one_round_under_noise(tmp_path):
    paths = open_hospitals(tmp_path, rows=MANY)
    question = replace(EXACT, one_round=True, privacy=Mechanism(epsilon=1.0))
    outcome = server(paths, tmp_path / "out", question=question).run()
    assert outcome.verdict is None and outcome.predictor.needs_scores


def test_a_question_survives_its_file():
    for _, question in WAYS.values():
        assert Question.from_json(question.to_json()) == question


def test_a_folder_is_of_one_study(tmp_path):
    paths = open_hospitals(tmp_path)
    server(paths, tmp_path / "out")
    with pytest.raises(InputError, match="another study"):
        Server(replace(STUDY, seed=1), QUESTION, grid_of(paths), tmp_path / "out")


def test_a_study_survives_its_file(tmp_path):
    for study in (STUDY, THREE, replace(STUDY, folds=4, settings={"epochs": 2})):
        study.write(tmp_path)
        assert Study.read(tmp_path) == study
        assert Study.read(tmp_path).fingerprint == study.fingerprint


@pytest.mark.parametrize("method", METHODS)
def test_every_registered_method_runs_across_machines(tmp_path, method):
    study = replace(STUDY, method=method)
    paths = open_hospitals(tmp_path, study, MANY)
    server(paths, tmp_path / "out", study=study).run()
    found = compare(folders_of(paths), study, QUESTION, tmp_path / "out", 0.0)
    assert found.agrees, found.to_json()["largest_difference"]
