"""The model card of an evaluation: the core's numbers, in three forms; names are only text."""

import json
import re

import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt

from fairfl_core import ClientCounts, FairnessProgram, InputError, Predictor, evaluate
from fairfl_core._io import numbers
from tests.report.test_notebook import EVIL, JUDGED, PEOPLE, Tables

SAID = "a | b <i>x</i> `code` [link](https://x.org) www.x.org *stars* me@x.org $x$ # t"


def card_rows(page):
    read = Tables()
    body = page.partition("<body>")[2].partition("</body>")[0]
    read.feed(body or page)
    return read.tags, read.rows


def as_html(text):
    return MarkdownIt("commonmark").enable("table").render(text)


@pytest.mark.parametrize("write", ["html", "md", "hf"])
def test_every_form_has_the_cores_numbers(write):
    text = JUDGED.model_card(write, title="Triage", dataset="Two clinics")
    page = (
        text if write == "html" else as_html(text.split("---\n", 2)[-1] if write == "hf" else text)
    )
    _, rows = card_rows(page)
    cells = {row[0]: row[1:] for row in rows}
    low, high = JUDGED.global_interval
    assert cells["People"][-1] == f"{JUDGED.counts.n:,.0f}"
    assert cells["Accuracy"][1:] == [
        numbers.percent(JUDGED.before.accuracy),
        numbers.percent(JUDGED.accuracy),
    ]
    overall = f"{numbers.gap(JUDGED.gaps.overall)} (95 %: {numbers.gaps(low, high)})"
    assert cells["Overall gap"] == ["0.02", numbers.gap(JUDGED.before.gaps.overall), overall]
    assert cells["Mean client's gap"][-1] == numbers.gap(JUDGED.gaps.local_mean)
    for c, name in enumerate(JUDGED.counts.clients):
        assert cells[name][0] == f"{JUDGED.counts.n_client[c]:,.0f}"
        assert cells[name][4] == numbers.gap(JUDGED.gaps.local[c])
    assert JUDGED.verdict.word in text and "Two clinics" in page and "read_predictor" in page


@pytest.mark.parametrize("write", ["html", "md"])
def test_what_people_write_is_only_text(write):
    text = JUDGED.model_card(write, title=SAID, dataset=SAID + "\n# not a heading")
    page = text if write == "html" else as_html(text)
    tags, rows = card_rows(page)
    assert not tags & {"script", "a", "i", "b", "em", "img"}
    assert EVIL in {row[0] for row in rows}
    shown = re.sub(r"[\u2060]|<[^>]+>", "", page).replace("&lt;", "<").replace("&gt;", ">")
    assert SAID in shown and "not a heading" in shown
    assert page.count("<h1>") == 1


def test_hugging_faces_block_is_yaml_with_the_numbers():
    text = JUDGED.model_card("hf", title="é: #1", dataset="Clinics: 2", license="mit")
    _, block, body = text.split("---\n", 2)
    found = yaml.safe_load(block)
    assert found["license"] == "mit" and found["library_name"] == "fairfl"
    (model,) = found["model-index"]
    (result,) = model["results"]
    assert model["name"] == "é: #1" and result["dataset"]["name"] == "Clinics: 2"
    values = {one["type"]: one["value"] for one in result["metrics"]}
    assert values["accuracy"] == pytest.approx(JUDGED.accuracy, abs=1e-6)
    assert values["gap_local_worst"] == pytest.approx(JUDGED.gaps.local_worst, abs=1e-6)
    assert body.lstrip().startswith("# ") and json.dumps(found)
    assert "license" not in yaml.safe_load(JUDGED.model_card("hf").split("---\n", 2)[1])


def test_a_wrong_form_is_a_sentence():
    with pytest.raises(InputError, match='no format "pdf" of a model card'):
        JUDGED.model_card("pdf")


def test_answers_of_no_limit_and_many_clients_have_a_card():
    counts = ClientCounts(
        np.full((30, 2, 2, 2), 9), tuple(f"c{k}" for k in range(30)), ("f", "m"), ("no", "yes")
    )
    free = evaluate(Predictor.from_solution(FairnessProgram(counts, "sp").solve()), counts)
    own = free.before  # no predictor, so no limit
    assert "No limit was asked for" in own.model_card() and "c29" in own.model_card()
    assert len(PEOPLE) and "by client" not in own.model_card()
