"""Options that are wrong."""

import pytest

from tests.cli.refusing import predict_of, refused

WRONG_OPTIONS = {
    "epsilon above one": (["--eps-global", "1.5"], ["1.5", "between 0 and 1"]),
    "epsilon below zero": (["--eps-global", "-0.1"], ["-0.1", "between 0 and 1"]),
    "epsilon not a number": (["--eps-global", "nan"], ["nan", "between 0 and 1"]),
    "epsilon infinite": (["--eps-local", "inf"], ["inf", "between 0 and 1"]),
    "epsilon in words": (["--eps-local", "small"], ["--eps-local"]),
    "local epsilon above one": (["--eps-local", "2"], ["2", "between 0 and 1"]),
    "an unknown client": (["--eps-local-client", "west=0.1"], ['"west"', '"north"']),
    "no epsilon for a client": (["--eps-local-client", "north"], ["north", "NAME=EPSILON"]),
    "an epsilon in words": (["--eps-local-client", "north=x"], ["north=x", "NAME=EPSILON"]),
    "no client for an epsilon": (["--eps-local-client", "=0.1"], ["--eps-local-client"]),
    "an epsilon above one": (["--eps-local-client", "north=7"], ['"north"', "7", "between"]),
    "an epsilon that is none": (["--eps-local-client", "north=nan"], ['"north"', "nan"]),
    "an epsilon twice": (
        ["--eps-local-client", "north=0.1", "--eps-local-client", "north=0.2"],
        ['"north"', "twice"],
    ),
    "an unknown notion": (["--notion", "fair"], ['"fair"', "eo-full"]),
    "an unknown region": (["--region", "here"], ['"here"', "kernel"]),
    "eo-full of the simplex": (
        ["--notion", "eo-full", "--region", "simplex"],
        ["eo-full", "kernel"],
    ),
    "an unknown option": (["--epsilon", "0.1"], ["--epsilon"]),
    "an option without value": (["--eps-global"], ["--eps-global"]),
}


@pytest.mark.parametrize(("more", "says"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_wrong_options_of_solve(files, more, says):
    refused(files, "solve", files.counts, "--out", files / "out.json", *more, says=says)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilons", "0.1,1.5"], ["1.5", "between 0 and 1"]),
        (["--epsilons", "-0.1"], ["-0.1", "between 0 and 1"]),
        (["--epsilons", "nan"], ["nan", "between 0 and 1"]),
        (["--epsilons", "small"], ["--epsilons", "small"]),
        (["--epsilons", ""], ["--epsilons"]),
        (["--epsilons", "0.1,,0.2"], ["--epsilons", "0.1,,0.2"]),
        (["--epsilons", "0.1;0.2"], ["--epsilons", "0.1;0.2"]),
        (["--region", "here"], ['"here"', "kernel"]),
    ],
)
def test_wrong_options_of_map(files, more, says):
    refused(files, "map", files.counts, *more, says=says)


def test_wrong_notions_of_map(files):
    refused(files, "map", files.counts, "--notion", "fair", says=['"fair"', "eo-full"])
    wrong = ("--notion", "eo-full", "--region", "simplex")
    refused(files, "map", files.counts, *wrong, says=["eo-full", "kernel"])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilon", "0"], ["epsilon", "0", "above 0"]),
        (["--epsilon", "-1"], ["epsilon", "-1", "above 0"]),
        (["--epsilon", "nan"], ["epsilon", "nan"]),
        (["--epsilon", "inf"], ["epsilon", "inf"]),
        (["--epsilon", "1e-320"], ["epsilon"]),
        (["--epsilon", "1e-30"], ["epsilon"]),
        (["--epsilon", "1e-30", "--mechanism", "paper"], ["epsilon"]),
        (["--epsilon", "much"], ["--epsilon"]),
        ([], ["--epsilon"]),
        (["--epsilon", "1", "--mechanism", "gauss"], ['"gauss"', "histogram"]),
        (["--epsilon", "1", "--neighbours", "next"], ['"next"', "replace-one"]),
    ],
)
def test_wrong_options_of_privatize(files, more, says):
    argv = ("privatize", files.counts, *more, "--out", files / "out.json")
    refused(files, *argv, says=says)


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", ""])
def test_wrong_seeds(files, seed):
    argv = ("privatize", files.counts, "--epsilon", "1", "--out", files / "out.json")
    refused(files, *argv, "--seed", seed, says=["--seed"])
    refused(files, *predict_of(files, files.rows, "--seed", seed), says=["--seed"])


@pytest.mark.parametrize("argv", [("solv",), ("solve",), ("predict", "p.json"), ("--nothing",)])
def test_wrong_use(files, argv):
    refused(files, *argv, says=["--help"])
