"""Small scripts in the place of Flower's programs, and a network in memory in the place of its own."""

import sys
from pathlib import Path

LISTEN = """exec PYTHON -S -c '
import socket, sys
with socket.create_server(("", int(sys.argv[sys.argv.index("--port") + 1]))) as one:
    while True:
        one.accept()
' "$@" """.replace("PYTHON", sys.executable)
SLEEP = "exec sleep 300"


class Bin:
    """A folder of programs; each notes the words it is called with, then runs its script."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    def put(self, name: str, script: str) -> None:
        file = self.path / name
        file.write_text(f'#!/bin/sh\necho "$@" >> "$0.words"\n{script}\n', encoding="utf-8")
        file.chmod(0o755)

    def calls(self, name: str) -> list[list[str]]:
        file = self.path / f"{name}.words"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []
