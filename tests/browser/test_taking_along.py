"""What leaves the app: links, the report, the predictor, tables."""

import csv
import json

from fairfl_core.people import experiments
from fairfl_core.predictors.answer_predictor import FairPredictor
from tests.browser.driving import INSIDE, OVERALL, PATIENCE

PAPERS = {"experiment": "adult", "split": "paper", "region": "simplex", "seed": 0}
ELSEWHERE = {"experiment": "public_coverage", "notion": "sp", "region": "kernel", "seed": "1"}


def test_link_reopens_the_view(regular, visit):
    first = regular.open(**ELSEWHERE)
    first.changes(lambda: first.press(OVERALL))
    first.changes(lambda: first.press(INSIDE, "ArrowLeft"))
    second = visit().follow(first.page.url)
    assert second.headline == first.headline
    assert second.link == first.link
    assert second.epsilons == first.epsilons


def test_predictor_table_and_report(regular, browser, tmp_path):
    """From one page: every download is of the view set at that moment."""
    visitor = regular.open(**PAPERS)
    said = visitor.changes(lambda: visitor.press(OVERALL))
    made = visitor.download("Predictor (JSON)", tmp_path)
    predictor = FairPredictor.from_json(json.loads(made.read_text()))
    assert predictor.eps_global == float(visitor.link["eps_global"])
    clients = experiments.open("adult").clients
    assert predictor.clients == clients
    with visitor.download("Clients (CSV)", tmp_path).open(newline="") as file:
        assert [row["client"] for row in csv.DictReader(file)] == list(clients)
    button = visitor.page.locator(".st-key-explore-clients-csv button")
    visitor.page.locator(".st-key-fold-explore-clients summary").click()  # it is made now
    button.wait_for()
    visitor.settle()  # what is offered while a page is being made is another's when it is done
    with visitor.page.expect_download() as begun:
        button.click()
    begun.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(clients)
    text = _stands_alone(browser, visitor.download("Report (HTML)", tmp_path))
    assert said in text
    assert experiments.open("adult").manifest["scores"]["sha256"] in text
    assert "localhost" not in text  # a link that nobody else could follow


def _stands_alone(browser, report) -> str:
    """Open a report without a network: nothing is asked for, all is drawn; its text."""
    context = browser.new_context(offline=True)
    context.set_default_timeout(PATIENCE)
    asked, wrong = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda line: line.type == "error" and wrong.append(line.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    page = context.new_page()
    page.goto(report.as_uri())
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .main-svg').length >= 2")
    text = page.locator("body").inner_text()
    drawn = page.locator(".js-plotly-plot .scatterlayer .point").count()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert wrong == []
    assert drawn > 0 and wide <= 0
    return text
