"""Clients: one at a time, with a limit of its own."""

import pytest

from fairfl_core.people import experiments
from fairfl_core.solving.program import FairnessProgram
from pages.components.clients import text
from pages.components.shared.format import plain
from tests.pages.conftest import healthy, linked


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_every_experiments_clients_can_be_looked_at(opened, name):
    clients = experiments.open(name).clients
    app = opened("clients", experiment=name, seed=0, client=clients[-1])
    assert app.selectbox(key="widget_client").value == clients[-1]


def test_its_own_limit_changes_its_own_and_is_in_the_link(opened):
    app = opened("clients", experiment="adult", seed=0, client="doctorate", eps_local=0.2)
    app.toggle(key="widget_own_on").set_value(True).run()
    assert linked(app, "own") == "doctorate=0.2"
    app.select_slider(key="widget_own_value").set_value(0.01).run()
    healthy(app)
    assert linked(app, "own") == "doctorate=0.01"
    assert any("asked 0.01" in text.value for text in app.markdown)
    assert any("What its own limit does to everyone" in text.value for text in app.markdown)
    app.toggle(key="widget_own_on").set_value(False).run()
    assert linked(app, "own") is None


def test_the_lottery_in_words_is_the_lottery():
    counts = experiments.open("adult").counts(0, "validation")
    for region in ("simplex", "kernel"):
        solution = FairnessProgram(counts, "sp", region).solve(0.01, 0.01)
        said = text.lottery(solution.beta[1, 1], solution.region, "men")
        keeps = solution.region.lottery(solution.beta)[1, 1]
        if region == "simplex":
            assert len(said) == 1 and "**men**" in said[0]
            assert f"{100 * solution.beta[1, 1, 0]:.1f}".removesuffix(".0") in said[0]
        else:
            assert f"{100 * keeps[1, 1]:.1f}".removesuffix(".0") in said[1]


def test_names_are_text_never_markup():
    assert plain("<b>x</b> **y** $z$ :red[q]") == (r"\<b\>x\</b\> \*\*y\*\* \$z\$ \:red\[q\]")
    assert len(plain("a" * 500)) == 60
