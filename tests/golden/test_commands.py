"""Twenty-five commands as a person sees them; `APPROVE=1` writes what they print anew.

Numbers may differ in their last digit, words and layout may not.
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from fairfl_core.cli import _shell
from tests.cli.running import contents, people, run
from tests.helpers.cross_fitted import cross_fitted
from tests.helpers.strategies import synthetic

KEPT = Path(__file__).with_name("commands")
WIDE = 160
WHO = "--client clinic --group sex --label diagnosis"
SCORED = f"{WHO} --scores score_no,score_yes"
FOLDS = "--client site --group sex --label truth --scores score_no,score_yes --split split"
COMMANDS = {
    "count": f"count rows.csv {WHO} --prediction model --out c.json",
    "count-crossed": "count wide.csv --client clinic --group sex,age --label diagnosis "
    "--prediction model --out c.json",
    "check": "check scored.csv",
    "check-untidy": "check untidy.csv",
    "histogram": f"histogram scored.csv {SCORED} --labels no,yes --bins 6 --out h.json",
    "solve": "solve counts.json --eps-global 0.05 --eps-local 0.1",
    "solve-own-limit": "solve counts.json --notion sp --region kernel --eps-local 0.02 "
    "--eps-local-client north=0.3",
    "solve-confidence": "solve counts.json --confidence 0.9 --eps-local 0.2",
    "solve-floors": "solve counts.json --floor yes=0.6 --keep no=0.1 --eps-global 0.1",
    "solve-collision": "solve counts.json --floor yes=0.99 --keep no=0.0 --eps-global 0.01",
    "solve-ratios": "solve counts.json --ratio-global 0.9 --ratio-local 0.8 --notion sp",
    "solve-without-group": "solve counts.json --without-group --eps-local 0.05",
    "solve-exact": f"solve scored.csv {SCORED} --region exact --notion eop --eps-local 0.02",
    "solve-folds": f"solve folds.csv {FOLDS} --fold fold --row-id id --region exact --notion eop "
    "--eps-local 0.1",
    "solve-many": "solve many.json --eps-local 0.02",
    "map": "map counts.json --notion eop --epsilons 0,0.01,1",
    "map-exact": f"map scored.csv {SCORED} --region exact --epsilons 0.05,0.2",
    "evaluate": "evaluate predictor.json counts.json",
    "evaluate-json": "evaluate predictor.json counts.json --json",
    "compare": f"compare wide.csv {WHO} --model model --model other",
    "predict": "predict predictor.json rows.csv --client clinic --group sex --prediction model "
    "--row-id patient --out o.csv",
    "privatize": "privatize counts.json --epsilon 0.5 --seed 4 --out n.json",
    "wrong-limit": "solve counts.json --eps-global 2",
    "wrong-region": "solve counts.json --region exact",
    "no-such-file": "evaluate predictor.json nothing.csv",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that the commands are about."""
    made = tmp_path_factory.mktemp("commands")
    for name, content in contents().items():
        (made / name).write_text(content, "utf-8")
    _scored(people()).to_csv(made / "scored.csv", index=False)
    wide = _scored(people(900, seed=2, groups=("woman", "man")))
    wide["age"] = ["old", "young", "young"] * 300
    wide["other"] = wide["model"].where(wide["patient"] % 5 > 0, "no")
    wide.to_csv(made / "wide.csv", index=False)
    cross_fitted().to_csv(made / "folds.csv", index=False)
    untidy = _scored(people(90, seed=3)).replace({"clinic": {"east": "North "}})
    untidy.loc[:2, "sex"] = ["F", "", " m"]
    untidy.to_csv(made / "untidy.csv", index=False)
    (made / "many.json").write_text(json.dumps(synthetic(18, 3, 3, rows=90).to_json()), "utf-8")
    return made


def _scored(table):
    """The same people with scores that sum to one."""
    scores = table[["score_no", "score_yes"]]
    chance = scores["score_yes"].div(scores.sum(axis=1)).round(4)
    return table.assign(score_no=(1 - chance).round(4), score_yes=chance)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_did(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(_shell, "_out", Console(width=WIDE, emoji=False))
    monkeypatch.setenv("COLUMNS", str(WIDE))
    ended = run(*shlex.split(COMMANDS[name]))
    lines = [line.rstrip() for line in f"{ended.out}{ended.err}".splitlines()]
    shown = f"$ fairfl {COMMANDS[name]}\n" + "\n".join(lines) + f"\n[ends with {ended.code}]\n"
    path = KEPT / f"{name}.txt"
    if os.environ.get("APPROVE"):
        path.write_text(shown, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert _words(shown) == _words(kept)
    for now, before in zip(_numbers(shown), _numbers(kept), strict=True):
        assert abs(now - before) <= 1e-6 + 2e-3 * max(1.0, abs(before)) / 2, (now, before)


_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def _words(text):
    return re.sub(r"[ \t─━]+", " ", _NUMBER.sub("#", text)).splitlines()


def _numbers(text):
    return [float(one.replace(",", "")) for one in _NUMBER.findall(text)]
