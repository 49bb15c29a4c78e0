"""The server's rounds: the same `Method` as in one process, with clients that answer messages."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fairfl_core._io.atomic import write_whole
from fairfl_core.errors import InputError
from fairfl_core.federation.messages import (
    HostileReply,
    Parcel,
    arrays_under,
    prefixed,
)
from fairfl_core.federation.roster import ClientsLost, Roster
from fairfl_core.training.method import HeldOut, Method, Plan, Reply, State
from fairfl_core.training.methods import make_method
from fairfl_core.training.parameters import first_parameters
from fairfl_core.training.scaling import Scaler

__all__ = ["FarRun", "Rounds", "state_arrays"]

Floats = NDArray[np.float64]
_HELD_OUT = ("held_out_counts", "held_out_loss")


@dataclass(frozen=True, eq=False)
class HeldOutSums:
    """What clients told of their held-out people: all that a criterion may ask for here."""

    counts: NDArray[np.int64]
    loss: float
    plan: Plan

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return float(np.einsum("cayy->", self.counts) / self.counts.sum())

    def __getattr__(self, name: str) -> Any:
        raise InputError(
            f'the method chooses its round by "{name}" of people one by one, who stay with their '
            "clients; only loss, accuracy and counts travel."
        )


@dataclass(frozen=True, eq=False)
class FarRun:
    """Where the training of one model stands; all that the server keeps on disk of it.

    Attributes
    ----------
    state : State
        What the server holds after `done` rounds.
    best : State
        That of the round to keep, after `best_done` rounds.
    fresh : bool
        Whether clients begin without memory: at first, and after one was lost.
    """

    state: State
    best: State
    done: int = 0
    best_done: int = 0
    fresh: bool = True
    loss: Floats = field(default_factory=lambda: np.empty(0))
    accuracy: Floats = field(default_factory=lambda: np.empty(0))
    criterion: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def judged(self) -> int:
        """How many rounds clients have judged."""
        return len(self.loss)

    def with_judgement(self, people: HeldOutSums, criterion: float) -> "FarRun":
        """The same with one more round judged: the last one done."""
        better = not self.judged or criterion < self.criterion.min()
        return replace(
            self,
            loss=np.append(self.loss, people.loss),
            accuracy=np.append(self.accuracy, people.accuracy),
            criterion=np.append(self.criterion, criterion),
            best=self.state if better else self.best,
            best_done=self.done if better else self.best_done,
        )

    def write(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        numbers = np.array([self.done, self.best_done, int(self.fresh)])
        file = io.BytesIO()
        arrays: dict[str, Any] = state_arrays("state", self.state) | state_arrays(
            "best", self.best
        )
        arrays |= {"loss": self.loss, "accuracy": self.accuracy, "criterion": self.criterion}
        np.savez(file, numbers=numbers, **arrays)
        write_whole(path, file.getvalue())

    @classmethod
    def read(cls, path: Path) -> "FarRun":
        """Take up what was kept."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            done, best_done, fresh = (int(number) for number in arrays["numbers"])
            state, best = (_state(arrays_under(name, arrays)) for name in ("state", "best"))
            curves = {name: arrays[name] for name in ("loss", "accuracy", "criterion")}
            return cls(state, best, done, best_done, bool(fresh), **curves)
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{path}: is not a checkpoint that can be read ({error}); remove it to train anew."
            ) from error


def state_arrays(prefix: str, state: State) -> dict[str, NDArray[Any]]:
    """A state as arrays of a message or a file."""
    return {f"{prefix}/theta": np.asarray(state.theta)} | prefixed(
        f"{prefix}/memory", state.memory
    )


def _state(arrays: Mapping[str, NDArray[Any]]) -> State:
    return State(arrays["theta"], arrays_under("memory", arrays))


class Rounds:
    """The rounds of one model.

    Parameters
    ----------
    roster : Roster
    model : int
        Which of the models: 0, or the fold that is held out.
    scaler : Scaler
    counts : mapping of str to ndarray
        Training rows n[group, label] of each client.
    path : Path
        Where the run is kept after every round.
    quiet : bool
        Ask for no table of held-out people; the last round is kept.
    """

    def __init__(
        self,
        roster: Roster,
        model: int,
        scaler: Scaler,
        counts: Mapping[str, NDArray[np.int64]],
        path: Path,
        *,
        quiet: bool,
        on_round: Callable[[FarRun], None],
    ) -> None:
        self._roster, self._model, self._counts = roster, model, counts
        self._scaler = {"scaler/shift": scaler.shift, "scaler/spread": scaler.spread}
        self._path, self._quiet, self._on_round = path, quiet, on_round
        self._study = roster.study
        self._method: Method = make_method(self._study.method, self._study.settings)

    def train(self) -> FarRun:
        """Every round that is still to be done, and the judgement of the last."""
        run = FarRun.read(self._path) if self._path.is_file() else self._first()
        while run.done < self._study.rounds:
            run = self._round(run)
            run.write(self._path)
            self._on_round(run)
        while not self._quiet and run.judged < run.done:
            run = self._judge_last(run)
            run.write(self._path)
        if self._quiet:
            run = replace(run, best=run.state, best_done=run.done)
        self._on_round(run)
        return run

    @property
    def _plan(self) -> Plan:
        counts = np.stack([self._counts[name] for name in self._roster.clients])
        favourable = self._study.labels.index(self._study.favourable)
        return Plan(counts, favourable, self._study.shapes)

    def _first(self) -> FarRun:
        state = self._method.begin(
            first_parameters(self._study.shapes, self._study.seed), self._plan
        )
        return FarRun(state, state)

    def _begun_again(self, run: FarRun) -> FarRun:
        """The method begins anew from the model reached, among the clients that are left."""
        return replace(run, state=self._method.begin(run.state.theta, self._plan), fresh=True)

    def _round(self, run: FarRun) -> FarRun:
        """One round; with a client lost in it, the same round is due again among the others."""
        plan, judge = self._plan, not self._quiet and run.judged < run.done and not run.fresh
        when = f"round {run.done + 1}"
        place = {name: c for c, name in enumerate(self._roster.clients)}
        try:
            replies = self._roster.ask(
                "turn",
                lambda name: (
                    {
                        "model": self._model,
                        "round": run.done,
                        "place": place[name],
                        "fresh": run.fresh,
                        "judge": judge,
                    },
                    {
                        **({"plan": plan.counts} if run.fresh else {}),  # clients keep it
                        **self._scaler,
                        **state_arrays("state", run.state),
                    },
                ),
                when=when,
                needs=("theta", *(_HELD_OUT if judge else ())),
                check=self._check_rows,
            )
        except ClientsLost as lost:
            if judge and lost.replies:
                run = self._judged(run, lost.replies)
            return self._begun_again(run)
        if judge:
            run = self._judged(run, replies)
        answers = [_reply(replies[name]) for name in self._roster.clients]
        try:
            clients = _FarClients(self._roster, plan, run.done, self._model, self._scaler, when)
            if self._quiet:
                clients.refuse_held_out()
            state = self._method.server(run.state, answers, clients)
        except ClientsLost:
            return self._begun_again(run)
        return replace(run, state=state, done=run.done + 1, fresh=False)

    def _check_rows(self, name: str, reply: Parcel) -> None:
        if reply.header.get("rows") != int(self._counts[name].sum()):
            raise HostileReply("it says it trained on another number of rows than it has")

    def _judge_last(self, run: FarRun) -> FarRun:
        try:
            replies = self._roster.ask(
                "held-out",
                lambda name: (
                    {"model": self._model, "round": run.done},
                    {**self._scaler, **state_arrays("state", run.state)},
                ),
                when="the last round",
                needs=_HELD_OUT,
            )
        except ClientsLost as lost:
            replies = lost.replies
        return self._judged(run, replies)

    def _judged(self, run: FarRun, replies: Mapping[str, Parcel]) -> FarRun:
        names = [name for name in self._roster.clients if name in replies]
        tables = [np.asarray(replies[name].arrays["held_out_counts"], np.int64) for name in names]
        loss = sum(float(replies[name].arrays["held_out_loss"]) for name in names)
        counts = np.stack(tables)
        plan = replace(self._plan, counts=np.stack([self._counts[name] for name in names]))
        people = HeldOutSums(counts, loss / max(int(counts.sum()), 1), plan)
        criterion = self._method.criterion(cast(HeldOut, people))
        return run.with_judgement(people, float(np.nan_to_num(criterion, nan=np.inf)))


def _reply(parcel: Parcel) -> Reply:
    theta = np.asarray(parcel.arrays["theta"], np.float32)
    return Reply(theta, int(parcel.header["rows"]), arrays_under("sent", parcel.arrays))


class _FarClients:
    """What a method's server may ask of all clients between rounds."""

    def __init__(
        self,
        roster: Roster,
        plan: Plan,
        round: int,
        model: int,
        scaler: dict[str, Floats],
        when: str,
    ) -> None:
        self.plan, self.round = plan, round
        self._roster, self._model, self._scaler, self._when = roster, model, scaler, when
        self._quiet = False

    def refuse_held_out(self) -> None:
        """Ask for no table of held-out people."""
        self._quiet = True

    def counts(
        self, theta: NDArray[np.float32], *, held_out: bool = False, every: int = 1
    ) -> NDArray[np.int64]:
        """n[client, group, label, prediction] of training rows, or of validation rows.

        Far clients look at all their rows, whatever `every` would let them skip.
        """
        return np.stack(self._tables(theta, held_out, "counts")).astype(np.int64)

    def cell_losses(self, theta: NDArray[np.float32]) -> Floats:
        """L[client, group, label]: the loss summed over the training rows of each cell."""
        return np.stack(self._tables(theta, False, "losses"))

    def _tables(self, theta: Any, held_out: bool, name: str) -> list[NDArray[Any]]:
        if held_out and self._quiet:
            raise InputError(
                f"{self._roster.study.method} asks for tables of held-out people between rounds, "
                "which privacy does not allow; choose another method, or no noise."
            )
        replies = self._roster.ask(
            "tables",
            lambda client: (
                {"model": self._model, "round": self.round, "held_out": held_out},
                {"theta": theta, **self._scaler},
            ),
            when=self._when,
            needs=("counts", "losses"),
        )
        return [replies[client].arrays[name] for client in self._roster.clients]
