"""Workers share what was computed before they were forked: none of them computes it again."""

import subprocess
import sys

from tests.helpers.serving import ROOT


def said(how):
    words = [sys.executable, "-m", "tests.pages.forked", how]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_worker_finds_what_was_computed_before_it():
    first, *workers = said("warm")
    assert first.startswith("#### ") and workers == [first, first]


def test_the_proof_notices_a_worker_that_would_compute():
    assert said("cold") == ["nothing", "nothing"]
