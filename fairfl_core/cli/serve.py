"""`serve`: the dashboard for many visitors: several workers behind one door."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl_core.cli._shell import say
from fairfl_core.errors import InputError

__all__ = ["serve"]


def serve(
    workers: Annotated[int, typer.Option(help="Processes that answer; one a core.", min=1)] = 2,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    host: Annotated[
        list[str] | None,
        typer.Option(help="A name visitors call this server by; others are refused."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="A TLS certificate (PEM); with it the door is HTTPS.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(help="A worker on another machine, as address:port; it is not started."),
    ] = None,
    warm: Annotated[
        bool,
        typer.Option(help="Open every page once before visitors come, for all workers at once."),
    ] = True,
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings of Streamlit, after two dashes.")
    ] = None,
) -> None:
    """Serve the dashboard to many visitors: several workers behind nginx.

    Each visitor stays on one worker; a worker that dies is started again, and costs its visitors
    one reload. Needs nginx.

    Example: `fairfl serve --workers 4 --address 0.0.0.0`
    """
    from fairfl_core.cli._proxy import Door
    from fairfl_core.cli._workers import serve_until_told

    if (certificate is None) != (key is None):
        raise InputError("a certificate needs its key: give --certificate and --key together.")
    for file in filter(None, (certificate, key)):
        if not file.is_file():
            raise InputError(f"{file}: there is no such file; give a PEM file.")
    door = Door(
        address,
        port,
        certificate and certificate.resolve(),
        key and key.resolve(),
    )
    allowed = [f"--server.allowedHosts={name}" for name in host or ()]
    serve_until_told(
        door,
        workers,
        settings=[*allowed, *(settings or ())],
        beside=beside or (),
        warm=warm,
        say=say,
    )
