"""Clients: one at a time, with a limit of its own."""

import re

import pytest

from fairfl_core.people import experiments
from pages.shared.outside_text import JOINER, plain
from pages.shared.results import predictor_of
from tests.pages.conftest import healthy, linked, view_of


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


@pytest.mark.parametrize("region", ["simplex", "kernel", "exact"])
def test_the_lottery_in_words_is_the_predictors(opened, region):
    """Read the shares from the page and mix the rules by hand: Pr(answer | model's answer)."""
    app = opened(
        "clients", experiment="adult", region=region, rates="labels", seed=1, client="no doctorate"
    )
    told = [line.value for line in app.markdown if " in 100" in line.value]
    predictor = predictor_of(view_of("adult", region=region, rates="labels", seed=1))
    assert [line.split("** – ")[0] for line in told] == ["- **women", "- **men"]
    for place, line in enumerate(told):
        shares = {
            rule: float(share) / 100
            for rule, share in re.findall(r"([^–;]+): ([\d.]+) in 100", line.replace("\\", ""))
        }
        if region == "exact":
            assert sum(shares.values()) == pytest.approx(1, abs=0.002)
            continue
        lottery = predictor.lottery[1, place]
        for j, label in enumerate(predictor.labels):
            keeps = shares.get(f" keeps “{label}”", 0)
            if region == "simplex":
                keeps = shares.get(" keeps the model's answer", 0)
                keeps += shares.get(f" always “{label}”", 0)
            assert keeps == pytest.approx(lottery[j, j], abs=0.001)


def test_names_are_text_never_markup():
    marked = r"\<b\>x\</b\> \*\*y\*\* \$z\$ \:" + JOINER + r"red\[q\]"
    assert plain("<b>x</b> **y** $z$ :red[q]") == marked
    assert len(plain("a" * 500)) == 60
