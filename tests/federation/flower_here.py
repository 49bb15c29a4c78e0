"""A SuperLink and SuperNodes on this machine, as a test starts and ends them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fairfl_core.federation.folders import ServerFolder, free_port, write_folders
from fairfl_core.federation.programs import wait_until_up

__all__ = ["ROOT", "environment", "federation", "flwr_run", "started"]

ROOT = Path(__file__).parents[2]


def environment(home: Path) -> dict[str, str]:
    """Flower's surroundings: its own folder, and that it tells nobody anything."""
    home.mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
    }


def started(command: Sequence[str], folder: Path, log: str) -> "subprocess.Popen[bytes]":
    """Start a program with its output in a file."""
    with open(folder / log, "ab") as file:
        return subprocess.Popen(
            [*command],
            env=environment(folder / "flower-home"),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def federation(
    folder: Path, configs: Sequence[str], study=None, people=None
) -> Iterator[tuple[ServerFolder, list["subprocess.Popen[bytes]"]]]:
    """Keep a server and a node for each configuration running; write a study's folders first."""
    address = f"127.0.0.1:{free_port()}"
    server, *_ = write_folders(folder / "study", study, address=address, people=people)
    words = [sys.executable, "-m", "fairfl_core", "federation", "server", str(server)]
    programs = [started(words, folder, "server.log")]
    try:
        known = ServerFolder.read(server)
        wait_until_up(known)
        for place, config in enumerate(configs):
            node = ["flower-supernode", "--insecure", "--superlink", address]
            node += ["--port", str(free_port()), "--node-config", config]
            node[0] = str(Path(sys.executable).parent / node[0])
            programs.append(started(node, folder, f"node-{place}.log"))
        yield known, programs
    finally:
        for program in reversed(programs):
            program.terminate()
        for program in programs:
            program.wait(30)


def flwr_run(app: Path, folder: Path, address: str, config: Mapping[str, str]) -> str:
    """Run an app by `flwr run` as its users do, and return what it said."""
    home = folder / "flwr-home"
    surroundings = environment(home)
    (home / "config.toml").write_text(
        f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{address}"\ninsecure = true\n'
    )
    words = " ".join(f"{key}='{value}'" for key, value in config.items())
    done = subprocess.run(
        ["flwr", "run", str(app), "here", "--stream", "--run-config", words],
        env=surroundings,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
