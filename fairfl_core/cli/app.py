"""`app`: the dashboard, from any folder."""

import importlib
import os
import runpy
import sys
from typing import Annotated

import typer

from fairfl_core.cli._shell import say


def app(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "localhost",
    headless: Annotated[bool, typer.Option("--headless", help="Open no browser.")] = False,
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Open every bundled experiment before visitors come."),
    ] = False,
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings of Streamlit, after two dashes.")
    ] = None,
) -> None:
    """Open the dashboard, with the bundled experiments in it.

    Example: `fairfl app --port 8600`
    """
    from fairfl_core._io.files import APP_ROOT
    from fairfl_core.errors import extra

    with extra("app"):
        for package in ("streamlit", "plotly", "pandas", "segno"):
            importlib.import_module(package)

    # Streamlit reads .streamlit/config.toml beside the script it runs, wherever that is. Its own
    # greeting is left out: on an open address it asks another host for this machine's address.
    given = ["--logger.hideWelcomeMessage=true", f"--server.address={address}"]
    given.append(f"--server.port={port}")
    if not headless and _has_a_screen():
        given += ["--server.headless=false", "--server.showEmailPrompt=false"]
    script = APP_ROOT / "app.py"
    sys.path.insert(0, str(APP_ROOT))  # as Streamlit will do
    start = importlib.import_module("pages.shared.start")
    if warm:
        say("Opening every bundled experiment; this takes a minute.")
        start.open_every_experiment(script)
    start.leave_pages_folder()
    say(f"The dashboard is at http://{address}:{port}. Ctrl+C ends it.")
    sys.argv = ["streamlit", "run", str(script), *given, *(settings or [])]
    try:
        runpy.run_module("streamlit", run_name="__main__")
    except Exception as error:
        # Interrupted before it serves, Streamlit stumbles over what it has not made yet.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise typer.Abort from None
        raise


def _has_a_screen() -> bool:
    """Whether a browser could be shown; on a server a text browser would take the terminal."""
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
