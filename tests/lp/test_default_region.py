"""One default region for commands, Python and federation, by what is at hand."""

import numpy as np
import pandas as pd
import pytest

from fairfl_core import FairPostprocessor
from fairfl_core.lp.program import FairnessProgram
from fairfl_core.lp.regions import default_region, default_region_sentence
from tests.cli.running import run
from tests.helpers.scored import scored_network


@pytest.mark.parametrize(
    ("notion", "labels", "scores", "region"),
    [
        ("eo", 2, True, "exact"),
        ("eo-full", 2, True, "exact"),
        ("eo", 4, True, "simplex"),
        ("sp", 2, False, "simplex"),
        ("eo-full", 2, False, "kernel"),
    ],
)
def test_it_goes_by_scores_and_labels(notion, labels, scores, region):
    assert default_region(notion, labels, scores=scores) == region


@pytest.mark.parametrize("labels", [2, 3])
def test_all_doors_take_it(labels, tmp_path):
    people = scored_network(2, 2, labels, rows=80)
    counts = people.counts
    wanted = default_region("eo", labels, scores=True)
    assert FairnessProgram(people, "eo").region == wanted
    assert FairnessProgram(counts, "eo").region == "simplex"
    names = np.array(people.labels)
    site, sex = np.array(people.clients)[people.client], np.array(people.groups)[people.group]
    fair = FairPostprocessor().fit(
        people.scores, names[people.label], sensitive_features=sex, client=site
    )
    assert fair.region is None and fair.region_ == wanted == fair.predictor_.region
    rows = pd.DataFrame({"site": site, "sex": sex, "y": names[people.label]})
    columns = [f"p_{name}" for name in people.labels]
    rows[columns] = people.scores
    rows.to_csv(tmp_path / "rows.csv", index=False)
    counts.write(tmp_path / "counts.json")
    who = ("--client", "site", "--group", "sex", "--label", "y", "--scores", ",".join(columns))
    for command in (("solve",), ("map", "--epsilons", "0.5")):
        for source, region in (((tmp_path / "rows.csv", *who), wanted), (("counts",), "simplex")):
            given = (tmp_path / "counts.json",) if source == ("counts",) else source
            output = run(command[0], *given, *command[1:])
            assert default_region_sentence(region) in " ".join(output.out.split())
            if command == ("solve",):
                assert run("solve", *given, "--json").json["region"] == region
    asked = run("solve", tmp_path / "rows.csv", *who, "--region", "kernel")
    assert "as none was asked for" not in " ".join(asked.out.split())
