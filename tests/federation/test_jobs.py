"""A job: written down by one process, done by another, waited for by a third."""

import time

import numpy as np
import pytest

from fairfl_core.errors import InputError
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.roster import FederationStopped
from tests.federation.hospitals import QUESTION, STUDY, grid_of, open_hospitals


@pytest.fixture
def job(tmp_path):
    STUDY.write(tmp_path)
    return Job(tmp_path, tmp_path / "results", QUESTION, patience=0.05)


def test_a_job_is_done_and_told(job, tmp_path):
    grid, told = grid_of(open_hospitals(tmp_path / "clients")), []
    again = Job.read(job.write())
    assert again.question == job.question and again.attempt == job.attempt
    assert job.outcome() is None
    again.run(grid)
    job.wait(told.append, lambda: False)
    assert told[0].startswith("3 clients take part")
    assert (job.out / "result.json").is_file()


def test_it_may_end_while_one_asks_whether_it_does(job, tmp_path):
    grid = grid_of(open_hospitals(tmp_path / "clients"))
    job.write()

    def alive():
        job.run(grid)
        return False

    job.wait(lambda sentence: None, alive)


def test_a_run_that_stopped_is_an_error_and_so_is_a_dead_server(job):
    with pytest.raises(InputError, match="ended before the run did"):
        job.wait(lambda sentence: None, lambda: False)
    job.write()
    job.run(grid_of([]))
    with pytest.raises(FederationStopped, match='Client "North" is left out'):
        job.wait(lambda sentence: None, lambda: True)


def test_another_attempts_outcome_is_not_taken_for_this_ones(job, tmp_path):
    job.write()
    job.run(grid_of([]))
    other = Job(job.folder, job.out, job.question)
    assert job.outcome() is not None and other.outcome() is None
    assert not other.events()


def test_who_waits_does_not_ask_without_a_pause(job):
    """A command that waits for hours leaves the processor to those who train."""
    asked = []

    def alive():
        asked.append(time.monotonic())
        return len(asked) < 3

    with pytest.raises(InputError, match="ended before the run did"):
        job.wait(lambda sentence: None, alive)
    assert np.diff(asked).min() > 0.1
