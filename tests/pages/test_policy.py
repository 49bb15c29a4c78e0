"""A view's limits as a policy file, and back."""

from dataclasses import replace

import pytest

from fairfl_core.errors import InputError
from fairfl_core.lp.guarantee import Guarantee
from fairfl_core.lp.policy import Floor, Policy
from fairfl_core.lp.policy_file import PolicyFile
from pages.shared.catalogue import catalogue
from pages.shared.view import policy_file_of, with_policy
from tests.pages.conftest import healthy, linked, view_of
from tests.pages.test_explore import popover


def test_a_view_comes_back_from_its_policy_file():
    start = view_of()
    client = catalogue().open(start.data).clients[0]
    policy = Policy(ratio_local=0.8)
    for view in (
        replace(start, notion="sp", eps_global=0.2, eps_local=0.03, policy=policy),
        replace(start, guarantee=Guarantee(0.9), own_limits=((client, 0.25),)),
    ):
        read = PolicyFile.from_toml(policy_file_of(view).to_toml().encode())
        found = with_policy(start, read, catalogue())
        assert policy_file_of(found) == policy_file_of(view) == read
        assert (found.experiment, found.region, found.seeds) == (
            start.experiment,
            start.region,
            start.seeds,
        )


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (PolicyFile("eo", policy=Policy(floors=(Floor("nobody", 0.1),))), "policy"),
        (PolicyFile("eo", eps_local_client=(("nowhere", 0.1),)), '"nowhere"'),
        (PolicyFile("eo", guarantee=Guarantee(0.9), policy=Policy(ratio_local=0.8)), "policy"),
    ],
)
def test_what_these_people_do_not_allow_is_refused(asked, says):
    with pytest.raises(InputError, match=says):
        with_policy(view_of(), asked, catalogue())


def test_explore_takes_a_policy_file(opened):
    app = opened(experiment="adult", seed=0, details="more")
    popover(app, "expander-policy-file")
    asked = PolicyFile(
        "sp", eps_local=0.06, policy=Policy(ratio_local=0.7), decided_by="the board"
    )
    for data, says in (
        (b"format = 3", "has no format"),
        (PolicyFile("eo", eps_local_client=(("nowhere", 0.1),)).to_toml().encode(), "nowhere"),
        (asked.to_toml().encode(), "Decided by the board"),
    ):
        app.file_uploader[0].set_value(("policy.toml", data, "application/toml")).run()
        assert any(says in caption.value for caption in healthy(app).caption), says
    assert linked(app, "notion") == "sp" and linked(app, "eps_local") == "0.06"
    assert "ratio_local" in linked(app, "policy")
