"""Signing in, where a deployment asks for it: Streamlit's own OpenID Connect.

An `[auth]` section in Streamlit's secrets is all the setting there is (docs/deployment.md);
without one nobody is asked for anything.
"""

import logging

import streamlit as st

from fairfl_core._io.names import plain
from pages.shared import text

log = logging.getLogger(__name__)
_SIGNED_IN = "is_logged_in"  # is there only where sign-in is set up


def require() -> None:
    """Show a page to nobody who has not signed in."""
    if st.user.get(_SIGNED_IN, True):
        return
    st.markdown(text.SIGN_IN_FIRST)
    if st.button(text.SIGN_IN, type="primary", key="sign-in"):
        try:
            st.login()
        except Exception:  # Authlib is not there, or the secrets lack something
            log.exception("sign-in is not set up as it must be")
            st.warning(text.CANNOT_SIGN_IN)
    st.stop()


def sign_out() -> None:
    """Who is signed in, and the way out; nothing where nobody had to."""
    if st.user.get(_SIGNED_IN):
        who = st.user.get("email") or st.user.get("name") or st.user.get("sub") or ""
        st.caption(plain(text.signed_in(str(who))))
        st.button(text.SIGN_OUT, key="sign-out", on_click=st.logout)
