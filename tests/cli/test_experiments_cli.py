"""`fairfl experiments`."""

import json
import warnings

from fairfl_core.data import experiments as room
from fairfl_core.data.save_experiment import save, save_cross_fitted
from tests.data.test_cross_fitted import fold_models
from tests.data.test_experiments import DESCRIPTION, seed_scores

with warnings.catch_warnings():  # Typer 0.20 touches a name that click 8.5 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from fairfl_core.cli.experiments import experiments


def test_the_list_names_every_experiment_with_its_figures(capsys):
    experiments()
    shown = capsys.readouterr().out
    names = room.list_experiments(protocol=None)
    assert len(names) > len(room.list_experiments())
    for name in names:
        manifest = room.open(name).manifest
        line = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert manifest["scores"]["sha256"][:8] in line
        assert f"{manifest['scores']['rows']:,}" in line
        assert room.open(name).protocol in line
        assert manifest["training"]["method_title"] in line
        assert f"{manifest['figures']['test']['accuracy']['mean'] * 100:.1f} ±" in line
    assert "40 % sample" in shown
    table, notes = shown.split("\n\n")[1:]  # a sentence, the table, what each is
    head, *lines = table.splitlines()
    assert len(lines) == len(names) == len(notes.splitlines())
    assert head.split() == [
        *("experiment", "protocol", "method", "rows", "clients", "seeds", "size", "sha256"),
        *("accuracy", "balanced"),
    ]
    places = [head.index("sha256"), head.index("protocol")]
    assert all(line[place - 1] == " " != line[place] for line in lines for place in places)


def test_json_holds_the_same(capsys):
    experiments(as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == room.list_experiments(protocol=None)
    folds = {row["name"]: row["folds"] for row in rows}
    assert folds["adult"] == 1
    assert folds["adult_cross_fitted"] == 4


def test_an_empty_folder_says_how_to_fill_it(tmp_path, capsys):
    experiments(folder=tmp_path)
    assert "`fairfl train adult` makes one" in capsys.readouterr().out


def test_folds_are_told_where_there_are_at_least_two(tmp_path, capsys):
    """Two fold models are the fewest there can be."""
    save(tmp_path / "tiny", DESCRIPTION, [seed_scores(1)])
    save_cross_fitted(tmp_path / "tiny_two", DESCRIPTION, [fold_models(1, 2)], "tiny")
    save_cross_fitted(tmp_path / "tiny_three", DESCRIPTION, [fold_models(1, 3)], "tiny")
    experiments(folder=tmp_path)
    notes = capsys.readouterr().out.split("\n\n")[2].splitlines()
    assert sorted(notes) == [
        "tiny: made up (eo)",
        "tiny_three: made up (eo; 3 folds)",
        "tiny_two: made up (eo; 2 folds)",
    ]
