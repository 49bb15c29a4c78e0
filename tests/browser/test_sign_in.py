"""Signing in at a provider on this machine: nothing is seen before, everything after.

The provider and what Streamlit needs for it are no part of the tests' tools, as few deployments
ask for them: `pip install "fairfl[sign-in]" oidc-provider-mock` has this test run.
"""

import importlib.util
import json
import subprocess
import sys

import pytest

from tests.browser.driving import PATIENCE
from tests.helpers.protocol import free_port
from tests.helpers.serving import Server

NEEDED = ("authlib", "httpx", "oidc_provider_mock")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(LACKING),
    reason=f"no {', '.join(LACKING)} here: pip install 'fairfl[sign-in]' oidc-provider-mock",
)
ALICE = {"sub": "alice", "email": "alice@example.org"}


@pytest.fixture(scope="module")
def provider():
    """Where a provider of identities listens."""
    port = free_port()
    words = ["-m", "oidc_provider_mock", "--port", str(port), "--user-claims", json.dumps(ALICE)]
    process = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(20)


def secrets(folder, provider, address):
    file = folder / "secrets.toml"
    file.write_text(
        f"""
[auth]
redirect_uri = "{address}/oauth2callback"
cookie_secret = "{"0123456789abcdef" * 4}"
client_id = "fairfl"
client_secret = "{"secret" * 8}"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""
    )
    return f"--secrets.files={file}"


def test_nobody_sees_a_page_who_has_not_signed_in(browser, provider, tmp_path):
    port = free_port()
    setting = secrets(tmp_path, provider, f"http://localhost:{port}")
    server = Server("", setting, port=port)
    with server, browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        for path in ("", "clients?experiment=adult", "your_data"):
            page.goto(f"{server.address}/{path}")
            page.get_by_role("button", name="Sign in").wait_for()
            assert page.locator("h4").inner_text() == "Sign in to use this server"
            assert not page.locator(".fairfl-numbers").count()
            assert not page.get_by_test_id("stFileUploader").count()
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="alice").click()  # at the provider's
        page.locator(".fairfl-numbers").wait_for()
        page.goto(f"{server.address}/?experiment=adult")  # and stays so
        page.locator(".fairfl-numbers").wait_for()
        page.get_by_role("button", name="Settings").click()
        page.get_by_text("Signed in as alice").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{provider}/**")  # where one is signed out as well
        page.goto(server.address)
        page.get_by_role("button", name="Sign in").wait_for()
        assert "Traceback" not in server.log
