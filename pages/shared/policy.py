"""A view's limits as a policy file, and a policy file taken into a view."""

from fairfl_core._io.names import listed
from fairfl_core.errors import InputError
from fairfl_core.lp.policy_file import PolicyFile
from pages.shared.view import Catalogue, View, changed


def policy_file_of(view: View) -> PolicyFile:
    """What a view asks for."""
    return PolicyFile(
        notion=view.notion,
        eps_global=view.eps_global,
        eps_local=view.eps_local,
        eps_local_client=view.own_limits,
        guarantee=view.guarantee,
        policy=view.policy,
    )


def with_policy(view: View, asked: PolicyFile, catalogue: Catalogue) -> View:
    """The view with all that a policy asks; refused where these people do not allow part of it."""
    wanted = {
        "notion": asked.notion,
        "guarantee": asked.guarantee,
        "policy": asked.policy,
        "eps_global": asked.eps_global,
        "eps_local": asked.eps_local,
        "own_limits": asked.eps_local_client,
    }
    asked.limits(catalogue.open(view.data).clients)
    found = changed(view, catalogue, **wanted)
    lost = [name for name, value in wanted.items() if getattr(found, name) != value]
    if lost:
        raise InputError(
            f"these people and this page do not allow what the policy says of {listed(lost)}; "
            "choose other data, or ask with `fairfl solve --policy`."
        )
    return found
