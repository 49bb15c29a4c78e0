"""Where a deployment asks for it no page shows anything before one has signed in.

At a provider of identities it is tried in tests/browser/test_sign_in.py.
"""

import asyncio

from tests.helpers.protocol import Visitor
from tests.helpers.serving import ROOT, Server

PAGES = sorted(path.parent.name for path in (ROOT / "pages").glob("*/page.py"))
AUTH = """
[auth]
redirect_uri = "http://localhost/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "fairfl"
client_secret = "0123456789abcdef0123456789abcdef"
server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"
"""


def test_no_page_shows_anything_before_one_has_signed_in(tmp_path):
    (tmp_path / "secrets.toml").write_text(AUTH)
    with Server("app.py", f"--secrets.files={tmp_path / 'secrets.toml'}") as server:
        seen = asyncio.run(shown(server.address))
        assert "Traceback" not in server.log
    assert len(seen) == len(PAGES)
    for page, buttons, shown_too in seen:
        assert buttons == ["Sign in"] and not shown_too, page


async def shown(address):
    seen = []
    for page in PAGES:
        visitor = await Visitor(address).open("" if page == "explore" else page)
        too_much = visitor.sliders or visitor.uploaders or visitor.headline or visitor.warnings
        seen.append((page, list(visitor.buttons), too_much))
        await visitor.close()
    return seen
