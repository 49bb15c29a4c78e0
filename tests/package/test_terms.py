"""The terms of the data stand wherever the data do: in NOTICE, in the datasheet, on the page."""

import pytest

from fairfl_core.data import experiments
from pages.shared.text import about
from tests.package.conftest import TOP

BUNDLED = experiments.list_experiments(protocol=None)


def said(experiment):
    """What the sidebar says, without the marks that keep names from being Markdown."""
    return about(experiment).replace("\\", "")


@pytest.mark.parametrize("name", BUNDLED)
def test_the_page_says_the_terms_of_the_experiment(name):
    experiment = experiments.open(name)
    licence = experiment.manifest["dataset"]["licence"]
    assert f"Terms of the data: {licence}." in said(experiment)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_notice_has_terms_for_the_experiment(name):
    dataset = experiments.open(name).manifest["dataset"]
    notice = (TOP / "NOTICE").read_text(encoding="utf-8")
    begins = f"data/experiments/{dataset['dataset']} and every folder there that begins with"
    (paragraph,) = (part for part in notice.split("\n\n") if part.startswith(begins))
    assert name.startswith(dataset["dataset"])
    assert dataset["licence"].split(" (")[0].split(",")[0] in paragraph


def test_non_commercial_is_said_aloud():
    scores = [name for name in BUNDLED if name.startswith("ham10000")]
    assert len(scores) >= 4
    for name in scores:
        assert "non-commercial" in said(experiments.open(name))
    for file in ("NOTICE", "README.md", "data/README.md"):
        text = (TOP / file).read_text(encoding="utf-8").lower()
        assert "non-commercial use only" in text, file
