"""Seeds that were trained apart make the experiment that training them together makes."""

import json

import pytest

from fairfl_core.data import save_experiment
from fairfl_core.errors import InputError
from research.join import join_experiments
from tests.cli.running import run_research as run
from tests.data.test_cross_fitted import fold_models
from tests.data.test_experiments import DESCRIPTION, seed_scores


def paper_split(folder, seeds, **changes):
    return save_experiment.save(
        folder, DESCRIPTION | changes, [seed_scores(seed) for seed in seeds]
    )


def cross_fitted(folder, seeds, **changes):
    models = [fold_models(seed) for seed in seeds]
    return save_experiment.save_cross_fitted(folder, DESCRIPTION | changes, models, "tiny")


@pytest.mark.parametrize("made", [paper_split, cross_fitted])
def test_joined_is_what_all_at_once_would_be(tmp_path, made):
    whole = made(tmp_path / "once" / "tiny", [0, 1, 2, 7])
    parts = [made(tmp_path / "a" / "tiny", [1, 7]), made(tmp_path / "b" / "tiny", [2, 0])]
    joined = join_experiments(tmp_path / "a" / "tiny", parts)  # onto one of its own parts
    assert joined.seeds == (0, 1, 2, 7)
    assert joined.manifest["scores"]["sha256"] == whole.manifest["scores"]["sha256"]
    apart = {"scores"}  # the file's name: the old scores stand there until the manifest changes
    assert {name: value for name, value in joined.manifest.items() if name not in apart} == {
        name: value for name, value in whole.manifest.items() if name not in apart
    }
    assert len(list((tmp_path / "a" / "tiny").glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("seeds", "changes", "says"),
    [
        ([0], {}, "seed 0 is in two"),
        ([1], {"training": {"rounds": 6}}, "training rounds"),
        ([1], {"groups": ["a", "c"]}, "groups"),
    ],
)
def test_what_is_not_the_same_training_is_refused(tmp_path, seeds, changes, says):
    first = paper_split(tmp_path / "a" / "tiny", [0], training={"rounds": 5})
    other = paper_split(tmp_path / "b" / "tiny", seeds, **({"training": {"rounds": 5}} | changes))
    with pytest.raises(InputError, match=says):
        join_experiments(tmp_path / "c" / "tiny", [first, other])
    assert not (tmp_path / "c").exists()


def test_from_a_shell(tmp_path):
    for folder, seed in (("a", 0), ("b", 1)):
        paper_split(tmp_path / folder / "tiny", [seed])
    folders = [tmp_path / "a" / "tiny", tmp_path / "b" / "tiny"]
    said = " ".join(run("join", *folders, "--out", tmp_path / "c" / "tiny").out.split())
    manifest = json.loads((tmp_path / "c" / "tiny" / "manifest.json").read_text())
    accuracy = manifest["figures"]["test"]["accuracy"]
    assert f"{manifest['scores']['rows']:,} scores of 2 seeds" in said
    assert f"on test {accuracy['mean']:.1%} (spread {accuracy['spread']:.1%})" in said
    assert run("join", folders[0], "--out", tmp_path / "c").code == 2
