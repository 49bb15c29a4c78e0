"""`app`: the dashboard, from any folder."""

import os
import runpy
import signal
import sys
from typing import Annotated, NoReturn

import typer

from fairfl_core.cli._shell import say

__all__ = ["app"]


def app(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "localhost",
    headless: Annotated[bool, typer.Option("--headless", help="Open no browser.")] = False,
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings of Streamlit, after two dashes.")
    ] = None,
) -> None:
    """Open the dashboard, with the bundled experiments in it.

    Example: `fairfl app --port 8600`
    """
    from fairfl_core._io.places import TOP

    # Streamlit reads .streamlit/config.toml beside the script it runs, wherever that is. Its own
    # greeting is left out: on an open address it asks another host for this machine's address.
    given = ["--logger.hideWelcomeMessage=true", f"--server.address={address}"]
    given.append(f"--server.port={port}")
    if not headless and _has_a_screen():
        given += ["--server.headless=false", "--server.showEmailPrompt=false"]
    say(f"The dashboard is at http://{address}:{port}. Ctrl+C ends it.")
    sys.argv = ["streamlit", "run", str(TOP / "app.py"), *given, *(settings or [])]
    before = signal.signal(
        signal.SIGINT, _stop_at_once
    )  # until it serves, when it takes that over
    try:
        runpy.run_module("streamlit", run_name="__main__")
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_at_once(*_: object) -> NoReturn:
    """End without a word of libraries that are interrupted while they start."""
    print("fairfl: Stopped.", file=sys.stderr, flush=True)
    os._exit(130)


def _has_a_screen() -> bool:
    """Whether a browser could be shown; on a server a text browser would take the terminal."""
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
