"""`python -m fairfl_core experiments`."""

import json

import typer
from typer.testing import CliRunner

from fairfl_core import experiments as room
from fairfl_core.cli.experiments import experiments

app = typer.Typer()
app.command()(experiments)


def test_the_list_names_every_experiment_with_its_figures():
    shown = CliRunner().invoke(app, [], env={"COLUMNS": "160"})
    assert shown.exit_code == 0
    for name in room.list_experiments():
        manifest = room.open(name).manifest
        assert name in shown.output
        assert manifest["scores"]["sha256"][:8] in shown.output
        assert f"{manifest['figures']['test']['accuracy']['mean'] * 100:.1f} ±" in shown.output
    assert "40 % sample" in shown.output


def test_json_holds_the_same(tmp_path):
    shown = CliRunner().invoke(app, ["--json"])
    assert [row["name"] for row in json.loads(shown.output)] == room.list_experiments()
    empty = CliRunner().invoke(app, ["--folder", str(tmp_path)])
    assert "no experiments here" in empty.output.replace("\n", " ")
