"""Flower's own programs: a SuperLink for the server, a SuperNode a client, and a run of theirs.

On this machine alone nothing is encrypted and everybody is let in; anywhere else there are
certificates and keys, or nothing is started.
"""

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fairfl_core._io.atomic import write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation.jobs import Job
from fairfl_core.federation.loader import ClientFolder
from fairfl_core.federation.processes import Processes, environment, home_of, tool
from fairfl_core.federation.server_folder import (
    ServerFolder,
    all_there,
    free_port,
    host_and_port,
    is_loopback,
)
from fairfl_core.federation.study import toml_of

__all__ = ["is_running", "keep_clients", "start_client", "start_server", "submit"]

_CONNECTION = "fairfl"
_UP = 60.0  # seconds that a server may take to listen


def start_server(folder: ServerFolder, processes: Processes) -> "subprocess.Popen[bytes]":
    """Start a SuperLink and wait until it listens; let the clients' keys in."""
    host, port = host_and_port(folder.address)
    command = [tool("flower-superlink"), "--disable-runtime-dependency-installation"]
    command += ["--host", host, "--port", str(port)]
    _check_free(host, port)
    secure = not is_loopback(folder.address)
    keys = folder.keys() if secure else []
    if secure:
        files = folder.certificates()
        command += ["--ssl-ca-certfile", str(files["ca_certificate"])]
        command += ["--ssl-certfile", str(files["certificate"])]
        command += ["--ssl-keyfile", str(files["private_key"]), "--enable-supernode-auth"]
    else:
        command.append("--insecure")
    log = folder.path / "flower.log"
    process = processes.start(command, home_of(folder.path), log)
    _wait_until_up(host, port, process, log)
    for key in keys:
        _flwr(folder, "supernode", "register", str(key.resolve()), _CONNECTION)
    return process


def _check_free(host: str, port: int) -> None:
    """Somebody else's server must not be taken for ours."""
    if _listens(host, port):
        raise InputError(
            f"port {port} is taken by another program; choose another address in server.toml, and "
            "in every client.toml."
        )


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((_called(host), port), 0.5):
        return True
    return False


def _called(host: str) -> str:
    """How this machine calls a server that listens there: everywhere is here, too."""
    return "localhost" if host in ("0.0.0.0", "::", "") else host


def _wait_until_up(host: str, port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + _UP
    while time.monotonic() < end and process.poll() is None:
        if _listens(host, port):
            return
        time.sleep(0.1)
    raise InputError(f"the server did not come up; {log} says why.")


def start_client(folder: ClientFolder, processes: Processes) -> "subprocess.Popen[bytes]":
    """Start a SuperNode for one client's folder."""
    command = [tool("flower-supernode"), "--superlink", folder.server]
    command += ["--port", str(free_port())]
    command += ["--node-config", f"folder={json.dumps(str(folder.path.resolve()))}"]
    if is_loopback(folder.server):
        command.append("--insecure")
    else:
        files = all_there(
            folder.path,
            {"root_certificate": folder.root_certificate, "private_key": folder.private_key},
            f"the server {folder.server} is on another machine",
        )
        command += ["--root-certificates", str(files["root_certificate"])]
        command += ["--auth-supernode-private-key", str(files["private_key"])]
    return processes.start(command, home_of(folder.path), folder.path / "flower.log")


def keep_clients(
    folders: Sequence[ClientFolder],
    processes: Processes,
    on_event: Callable[[str], None],
    pause: float = 5.0,
) -> NoReturn:
    """Start clients, and start again those that end by themselves, until somebody ends this.

    A SuperNode ends where the server does not know its key (yet), or was started anew.
    """
    running = {folder: start_client(folder, processes) for folder in folders}
    told: set[ClientFolder] = set()
    while True:
        time.sleep(pause)
        for folder, process in running.items():
            if process.poll() is None:
                continue
            if folder not in told:
                on_event(
                    f'Client "{folder.name}" was not let in, or its server ended; it tries again '
                    f"({folder.path / 'flower.log'} says more)."
                )
            told.add(folder)
            processes.end(process)
            running[folder] = start_client(folder, processes)


# -------------------------------------------------------------------- a run


def submit(folder: ServerFolder, job: Job) -> str:
    """Hand a job to the running server; the number that Flower gives it."""
    app = folder.path / ".flower" / "job"
    app.mkdir(parents=True, exist_ok=True)
    write_whole(app / "pyproject.toml", toml_of(_app(job.write())))
    told = _json(_flwr(folder, "run", str(app.resolve()), _CONNECTION, "--format", "json"))
    if "run-id" not in told:
        raise InputError(f"the server did not take the job: {told.get('error-message', told)}.")
    return str(told["run-id"])


def is_running(folder: ServerFolder, number: str) -> bool:
    """Whether Flower still works on a run; of a server too busy to say so, it is assumed."""
    try:
        told = _json(_flwr(folder, "list", "--run-id", number, _CONNECTION, "--format", "json"))
        return not any("finished" in str(run["status"]) for run in told["runs"])
    except (InputError, KeyError, subprocess.TimeoutExpired):
        host, port = host_and_port(folder.address)
        return _listens(host, port)


def _app(job: Path) -> dict[str, Any]:
    """Flower's app: names of what every machine has installed already, and no code."""
    here = "fairfl_core.federation"
    return {
        "build-system": {"requires": ["hatchling"], "build-backend": "hatchling.build"},
        "project": {
            "name": "fairfl-federation",
            "version": "1.0.0",
            "description": "fairfl across machines",
            "license": "Apache-2.0",
            "dependencies": ["flwr>=1.41,<1.42"],
        },
        "tool": {
            "flwr": {
                "app": {
                    "publisher": "fairfl",
                    "components": {
                        "serverapp": f"{here}.server_app:app",
                        "clientapp": f"{here}.client_app:app",
                    },
                    "config": {"job": str(job)},
                }
            }
        },
    }


def _flwr(folder: ServerFolder, *words: str) -> str:
    """One command of Flower's own, to this server."""
    host, port = host_and_port(folder.address)
    connection: dict[str, Any] = {"address": f"{_called(host)}:{port}"}
    if is_loopback(folder.address):
        connection["insecure"] = True
    else:
        connection["root-certificates"] = str(folder.certificates()["ca_certificate"])
    known = {"superlink": {"default": _CONNECTION, _CONNECTION: connection}}
    home = home_of(folder.path)
    write_whole(home / "config.toml", toml_of(known))
    done = subprocess.run(
        [tool("flwr"), *words],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise InputError(
            f"the server at {folder.address} did not do it: "
            f"{_last_line(done.stderr or done.stdout)}; is `fairfl federation server` running?"
        )
    return done.stdout


def _json(told: str) -> dict[str, Any]:
    """The object that Flower printed, whatever it said before."""
    try:
        return dict(json.loads(told[told.index("{") : told.rindex("}") + 1]))
    except ValueError as error:
        raise InputError(f"the server answered what cannot be read: {_last_line(told)}") from error


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
