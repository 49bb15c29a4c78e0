"""A job: what `fairfl federation run` writes down, the server's process does and reports on."""

import secrets
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairfl_core._io.json_files import read_json, write_json
from fairfl_core.errors import FairflError, InputError
from fairfl_core.federation.question import Question
from fairfl_core.federation.roster import FederationStopped, Grid
from fairfl_core.federation.server import Server
from fairfl_core.federation.study import Study

__all__ = ["Job"]

EVENTS, OUTCOME = "events.txt", "outcome.json"


@dataclass(frozen=True)
class Job:
    """One attempt at a run.

    Attributes
    ----------
    folder : Path
        Where the study lies.
    out : Path
        Where everything is written.
    question : Question
    min_clients : int
    patience : float
    attempt : str
        Told in the outcome, so that an earlier attempt's is not taken for this one's.
    """

    folder: Path
    out: Path
    question: Question
    min_clients: int = 0
    patience: float = 600.0
    attempt: str = field(default_factory=lambda: secrets.token_hex(8))

    def write(self) -> Path:
        """Write it down, for the server's process."""
        value = {
            "folder": str(self.folder.resolve()),
            "out": str(self.out.resolve()),
            "question": self.question.to_json(),
            "min_clients": self.min_clients,
            "patience": self.patience,
            "attempt": self.attempt,
        }
        self.out.mkdir(parents=True, exist_ok=True)
        return write_json(self.out / "job.json", value).resolve()

    @classmethod
    def read(cls, path: Path) -> "Job":
        """Take up what was written down."""
        value = read_json(path)
        return cls(
            Path(value["folder"]),
            Path(value["out"]),
            Question.from_json(value["question"]),
            value["min_clients"],
            value["patience"],
            value["attempt"],
        )

    def say(self, sentence: str) -> None:
        """Tell the operator something."""
        with open(self.out / EVENTS, "a", encoding="utf-8") as file:
            file.write(f"{self.attempt}\t{' '.join(sentence.split())}\n")

    def events(self) -> list[str]:
        """What this attempt told so far."""
        path = self.out / EVENTS
        if not path.is_file():
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
        mine = (line.partition("\t") for line in lines)
        return [sentence for attempt, _, sentence in mine if attempt == self.attempt]

    def run(self, grid: Grid) -> None:
        """Do it; however it ends, the outcome says so."""
        try:
            server = Server(
                Study.read(self.folder),
                self.question,
                grid,
                self.out,
                min_clients=self.min_clients,
                patience=self.patience,
                on_event=self.say,
            )
            server.run()
            self._end(True, "")
        except FairflError as error:
            self._end(False, str(error))
        except Exception as error:
            (self.out / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
            self._end(False, f"Stopped by a fault of the program ({error}); see error.txt.")
            raise

    def _end(self, ok: bool, sentence: str) -> None:
        value = {"attempt": self.attempt, "ok": ok, "sentence": sentence}
        write_json(self.out / OUTCOME, value)

    def outcome(self) -> dict[str, Any] | None:
        """How this attempt ended, once it has."""
        path = self.out / OUTCOME
        if not path.is_file():
            return None
        try:
            value = read_json(path)
        except InputError:
            return None
        return value if value.get("attempt") == self.attempt else None

    def wait(self, on_event: Callable[[str], None], alive: Callable[[], bool]) -> None:
        """Tell what the attempt tells until it has ended; an end without success is an error."""
        told = 0
        while True:
            outcome, events = self.outcome(), self.events()
            for sentence in events[told:]:
                on_event(sentence)
            told = len(events)
            if outcome is not None:
                break
            if not alive() and self.outcome() is None:  # it may have ended while that was asked
                raise InputError(
                    "the server's process ended before the run did; run the same command again, "
                    "and it goes on where it was."
                )
            time.sleep(0.3)
        if not outcome["ok"]:
            raise FederationStopped(outcome["sentence"])
