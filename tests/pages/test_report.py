"""What can be taken along: a report that stands alone, the predictor, the table."""

import json
from html.parser import HTMLParser

import pytest
from pages.components.shared import text
from pages.components.shared.downloads import clients_csv, predictor_json
from pages.components.shared.report import html_report

from fairfl_core.people import experiments
from fairfl_core.predictors.answer_predictor import FairPredictor
from pages.shared.charts import csv_for_people
from pages.shared.results import summary_of
from tests.pages.conftest import view_of

LINK = "http://localhost:8501/clients?experiment=adult&own=doctorate%3D0.1"


@pytest.fixture(scope="module")
def view():
    return view_of("adult", eps_global=0.02, eps_local=0.03, own="doctorate=0.1")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.sources, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data)


def test_the_report_stands_alone_and_says_what_it_is_of(view):
    report = html_report(view, LINK)
    reader = Reader()
    reader.feed(report)
    assert reader.sources == []  # nothing is fetched
    words = " ".join(reader.text)
    assert experiments.open("adult").manifest["scores"]["sha256"] in words
    assert LINK in words
    plain_headline = text.headline(summary_of(view)).replace("**", "").replace("\\", "")
    assert plain_headline in words
    assert "doctorate 0.10" in words and "What this does not say" in words
    assert report.count("Plotly.newPlot") == 2


def test_names_in_the_report_are_text(view, monkeypatch):
    experiment = experiments.open("adult")
    monkeypatch.setitem(experiment.manifest, "title", "<script>alert(1)</script>")
    monkeypatch.setattr("pages.components.shared.report.experiment_of", lambda name: experiment)
    report = html_report(view, LINK)
    assert "<script>alert(1)" not in report and "&lt;script&gt;alert(1)" in report


def test_the_predictor_and_the_table(view):
    fair = FairPredictor.from_json(json.loads(predictor_json(view)))
    assert dict(zip(fair.clients, fair.eps_local, strict=True)) == {
        "doctorate": 0.1,
        "no doctorate": 0.03,
    }
    lines = clients_csv(view).splitlines()
    assert (
        lines[0].startswith("client,n,accuracy_before,accuracy,gap_before,gap,")
        and len(lines) == 3
    )


def test_a_spreadsheet_is_not_handed_formulas():
    import pandas as pd

    table = pd.DataFrame(
        {"=name": ["=1+1", "@x", "-y", "+z", "plain"], "value": [-1.5, 2, 3, 4, 5]}
    )
    text = csv_for_people(table)
    assert text.splitlines()[:3] == ["'=name,value", "'=1+1,-1.5", "'@x,2.0"]
    assert "'-y" in text and "'+z" in text and "plain,5.0" in text
