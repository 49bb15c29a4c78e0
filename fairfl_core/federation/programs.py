"""Flower's own programs for a folder of ours: a SuperLink, a SuperNode, `flwr run`.

A command becomes the program (`os.execve`), so that who ends the one ends the other. On this
machine alone nothing is encrypted and everybody is let in; anywhere else there are certificates
and keys, or nothing is started.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import flwr  # noqa: F401  (where it is missing, the command names the extra)
import tomli_w

import fairfl_core
from fairfl_core._io.files import read_json, write_json, write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation.folders import (
    ClientFolder,
    ServerFolder,
    free_port,
    host_and_port,
    is_loopback,
)
from fairfl_core.federation.question import Question

__all__ = [
    "admit",
    "become_client",
    "become_server",
    "run_job",
    "wait_until_up",
]

_CONNECTION = "fairfl"
_APP = Path(__file__).parent / "app"  # names of what every machine has installed, and no code


def _tool(name: str) -> str:
    """One of Flower's programs, beside the Python that runs this."""
    return str(Path(sys.executable).parent / name)


def _environment(folder: Path) -> dict[str, str]:
    """Where Flower finds its programs and us; it tells nobody anything."""
    home = (folder / ".flower").resolve()
    home.mkdir(parents=True, exist_ok=True)
    tools, package = Path(sys.executable).parent, Path(fairfl_core.__file__).parents[1]
    return os.environ | {
        "PATH": os.pathsep.join([str(tools), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


# -------------------------------------------------------------------- programs that stay


def become_server(folder: ServerFolder) -> NoReturn:
    """Become the SuperLink of a server's folder; the clients' keys are let in once it is up."""
    host, port = host_and_port(folder.address)
    command = [_tool("flower-superlink"), "--disable-runtime-dependency-installation"]
    command += ["--host", host, "--port", str(port)]
    if _listens(host, port):
        raise InputError(
            f"port {port} is taken by another program; choose another address in server.toml, and "
            "in every client.toml."
        )
    if is_loopback(folder.address):
        command.append("--insecure")
    else:
        folder.keys()
        files = folder.files()
        command += ["--ssl-ca-certfile", str(files["ca_certificate"])]
        command += ["--ssl-certfile", str(files["certificate"])]
        command += ["--ssl-keyfile", str(files["private_key"]), "--enable-supernode-auth"]
        words = ["-m", "fairfl_core", "federation", "admit", str(folder.path)]
        subprocess.Popen([sys.executable, *words])
    os.execve(command[0], command, _environment(folder.path))


def become_client(folder: ClientFolder) -> NoReturn:
    """Become the SuperNode of a client's folder; refused where one is there already."""
    command = [_tool("flower-supernode"), "--superlink", folder.server]
    command += ["--port", str(free_port())]
    command += ["--node-config", f"folder={json.dumps(str(folder.path.resolve()))}"]
    if is_loopback(folder.server):
        command.append("--insecure")
    else:
        files = folder.files()
        command += ["--root-certificates", str(files["root_certificate"])]
        command += ["--auth-supernode-private-key", str(files["private_key"])]
    _claim(folder)
    os.execve(command[0], command, _environment(folder.path))


def _claim(folder: ClientFolder) -> None:
    """Hold the folder's lock, which the system takes back when this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    path = folder.path / "node.pid"
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        number = path.read_text(encoding="utf-8").strip()
        raise InputError(
            f'the old node of client "{folder.name}" is still there (process {number}); end it '
            f"first: kill {number}."
        ) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    os.set_inheritable(lock, True)  # the SuperNode keeps it; what it starts does not inherit it


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((_called(host), port), 0.5):
        return True
    return False


def _called(host: str) -> str:
    """How this machine calls a server that listens there: everywhere is here, too."""
    return "localhost" if host in ("0.0.0.0", "::", "") else host


def wait_until_up(folder: ServerFolder, patience: float = 60.0) -> None:
    """Wait until the server listens."""
    end = time.monotonic() + patience
    while not _listens(*host_and_port(folder.address)):
        if time.monotonic() > end:
            raise InputError(
                f"nobody listens at {folder.address}; is `fairfl federation server` running?"
            )
        time.sleep(0.2)


# -------------------------------------------------------------------- Flower's command


def admit(folder: ServerFolder) -> list[Path]:
    """Let in the clients whose keys are in the folder; return those that were not yet let in."""
    wait_until_up(folder)
    keys, register = folder.keys(), ["supernode", "register"]
    return [
        key for key in keys if not _flwr(folder, [*register, str(key), _CONNECTION]).returncode
    ]


def run_job(
    folder: ServerFolder,
    question: Question,
    out: Path,
    *,
    min_clients: int = 0,
    patience: float = 600.0,
    quiet: bool = False,
) -> dict[str, Any]:
    """Run a study by `flwr run` on the server that is there; return its result.

    What the run says streams to standard output, unless it is quiet.
    """
    wait_until_up(folder, 1.0)
    out.mkdir(parents=True, exist_ok=True)
    job = {
        "folder": str(folder.path.resolve()),
        "question": question.to_json(),
        "min_clients": min_clients,
        "patience": patience,
    }
    write_json(out / "job.json", job)
    ended = out / "outcome.json"
    ended.unlink(missing_ok=True)
    path = json.dumps(str((out / "job.json").resolve()))
    words = ["run", str(_APP), _CONNECTION, "--stream", "--run-config", f"job={path}"]
    done = _flwr(folder, words, quiet=quiet)
    if not ended.is_file():
        said = (done.stderr or "").strip().splitlines()[-1:]
        raise InputError(
            f"the run ended before it was done{''.join(f': {line}' for line in said)}; run the "
            "same command again, and it goes on where it was."
        )
    outcome = read_json(ended)
    if not outcome["ok"]:
        raise InputError(outcome["sentence"])
    return dict(read_json(out / "result.json"))


def _flwr(
    folder: ServerFolder, words: list[str], *, quiet: bool = True
) -> "subprocess.CompletedProcess[str]":
    """One command of Flower's own, to this server."""
    host, port = host_and_port(folder.address)
    connection: dict[str, Any] = {"address": f"{_called(host)}:{port}"}
    if is_loopback(folder.address):
        connection["insecure"] = True
    else:
        connection["root-certificates"] = str(folder.files()["ca_certificate"])
    known = {"superlink": {"default": _CONNECTION, _CONNECTION: connection}}
    environment = _environment(folder.path)
    write_whole(Path(environment["FLWR_HOME"]) / "config.toml", tomli_w.dumps(known))
    return subprocess.run(
        [_tool("flwr"), *words],
        env=environment,
        cwd=environment["FLWR_HOME"],
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.PIPE if quiet else None,
        text=True,
        check=False,
    )
