"""Sifted programs: the optimum, the lottery and the prices that HiGHS finds over all columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl_core.people import experiments
from fairfl_core.people.scored import ScoredPeople
from fairfl_core.solving.answer_program import FairnessProgram
from fairfl_core.solving.build import build_program
from fairfl_core.solving.clients_apart import ClientsApart
from fairfl_core.solving.exact.program import ExactProgram
from fairfl_core.solving.policy import Floor, Policy
from fairfl_core.solving.sifted import _USUAL, Sifted
from fairfl_core.solving.whole import Whole
from tests.helpers.scored import scored_network, scored_people
from tests.helpers.strategies import biased, epsilons


def solver(kind, program):
    sharing = program._listed_columns()
    return kind(program._rows, sharing, *program._objective(sharing))


def worth_of(program, values):
    """What a lottery is worth, a person."""
    worth = program._worth(program._listed_columns().columns)
    return float(worth @ values) * program._unit / program.counts.n


@settings(max_examples=25)
@given(
    scored_people(labels=(2, 2)),
    st.sampled_from(["sp", "eop", "eo"]),
    st.sampled_from(["labels", "shrunk"]),
    st.lists(st.tuples(epsilons, epsilons), min_size=2, max_size=4),
)
def test_sifted_and_whole_are_worth_the_same_whatever_was_solved_before(
    people, notion, rates, path
):
    if len(people.groups) != 2:
        return
    program = ExactProgram(people, notion, rates=rates)
    sifted, whole, clients = solver(Sifted, program), solver(Whole, program), len(people.clients)
    for overall, local in path:
        limits = overall, np.full(clients, local)
        values, duals = sifted.solve(*limits)
        assert abs(worth_of(program, values - whole.solve(*limits)[0])) <= 1e-8
        again, prices = solver(Sifted, program).solve(*limits)
        np.testing.assert_array_equal(values, again)
        np.testing.assert_array_equal(duals, prices)


@pytest.mark.parametrize("notion", ["eop", "eo"])
def test_lottery_and_prices_are_the_same_where_they_are_unique(notion):
    program = build_program(scored_network(20, 2, 2, rows=400), notion, "exact", rates="shrunk")
    assert isinstance(program._solver, Sifted)
    local = np.linspace(0.011, 0.2, 20)
    sifted, duals = program._solver.solve(0.0037, local)
    whole, expected = solver(Whole, program).solve(0.0037, local)
    np.testing.assert_allclose(sifted, whole, atol=1e-8)
    np.testing.assert_allclose(duals, expected, atol=1e-7)
    assert (np.abs(duals[: len(program._rows)]) > 1e-3).any()  # some rows bind
    assert 0 < len(program._solver._model._at_work) < len(sifted)  # not all columns were needed


@pytest.mark.parametrize("notion", ["eop", "eo"])
def test_solves_near_usual_limits_begin_at_their_optimum(notion):
    """What it costs is counted: no pivot, and no column that was not at work before."""
    program = build_program(scored_network(20, 2, 2, rows=400), notion, "exact", rates="shrunk")
    model = program._solver._model
    for eps in _USUAL:
        program._solver.solve(eps, np.full(20, eps))
        assert model._highs.getInfo().simplex_iteration_count == 0
        assert len(model._at_work) == model._staff


def test_every_cell_of_a_map_is_worth_what_one_solve_gives():
    program = build_program(scored_network(12, 2, 2, rows=300), "eo", "exact", rates="labels")
    overall, local = [0.2, 0.0, 0.03, 0.03, 1.0], [0.0, 0.02, 0.3, 0.1]
    rows = solver(Sifted, program).grid(overall, [np.full(12, eps) for eps in local])
    for eps_local, row in zip(local, rows, strict=True):
        for eps_global, values in zip(overall, row, strict=True):
            alone, _ = solver(Whole, program).solve(eps_global, np.full(12, eps_local))
            assert worth_of(program, values) == pytest.approx(worth_of(program, alone), abs=1e-9)


def test_a_solver_is_chosen_by_what_is_asked_and_by_size():
    """Many rules a cell are sifted, many clients taken apart, floors solved whole."""
    people = ScoredPeople.from_experiment(experiments.open("adult"), 0, "validation")
    assert isinstance(build_program(people, "eo", "exact")._solver, Sifted)
    assert isinstance(build_program(people, "eo", "kernel")._solver, Whole)
    floor = Policy(floors=(Floor(people.labels[1], rate=0.2),))
    assert isinstance(build_program(people, "eo", "exact", policy=floor)._solver, Whole)
    labels = FairnessProgram(biased(10, 12), "eo")  # many rules a cell, and as many rows
    assert isinstance(labels._solver, Whole)
    many = build_program(scored_network(260, 2, 2, rows=120), "eo", "exact", rates="labels")
    assert isinstance(many._solver, ClientsApart)
