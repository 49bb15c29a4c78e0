"""What the commands share: shared options, tables for people, one JSON object for programs."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape as as_no_markup
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from typer.core import TyperCommand

from fairfl_core._io.files import read_whole
from fairfl_core._io.names import acts
from fairfl_core.data.counts import ClientCounts
from fairfl_core.errors import InputError
from fairfl_core.fairness.notions import notion_names
from fairfl_core.predictors.hashed_draws import salt_check

Counts = Annotated[Path, typer.Argument(help="A fairfl-counts/1 file; - is standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

_out = Console(emoji=False)
_err = Console(stderr=True, emoji=False)


class Command(TyperCommand):
    """A command in whose help {notions} stands for those that are registered."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Look the names up only where help is asked for."""
        for option in self.params:
            text = getattr(option, "help", None)
            if text:
                option.help = text.replace("{notions}", ", ".join(notion_names()))
        super().format_help(ctx, formatter)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option for each field of its parameters that are dataclasses.

    Typer sees the options, the command gets the dataclasses.
    """
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    for one in signature(command).parameters.values():
        if not is_dataclass(one.annotation):
            parameters.append(one.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        groups[one.name] = one.annotation
        hints = get_type_hints(one.annotation, include_extras=True)
        parameters += [
            Parameter(
                part.name,
                Parameter.KEYWORD_ONLY,
                default=part.default,
                annotation=hints[part.name],
            )
            for part in fields(one.annotation)
        ]

    @wraps(command)
    def run(**given: Any) -> Any:
        made = {
            name: group(**{part.name: given.pop(part.name) for part in fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def write_apart(out: Path, *sources: Path | None) -> None:
    """Refuse to write over a file that is read."""
    for source in sources:
        if source is not None and os.path.realpath(out) == os.path.realpath(source):
            raise InputError(f"{out}: is what is read; choose another name to write to.")


def read_counts(path: Path) -> ClientCounts:
    """Read counts; imported late, so that --help answers at once."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet", ".pq") and path.is_file():
        raise InputError(
            f"{path}: is a table, and counts are asked for; count it with `fairfl count`, or name "
            "its columns (--client and so on) where the command takes them."
        )
    counts = ClientCounts.read(path)
    if not counts.n:
        raise InputError(
            f"{path}: the counts hold nobody (noise took them all); use a larger privacy epsilon."
        )
    return counts


def read_salt(path: Path) -> str:
    """Read the secret salt of a predictor's draw: a file's text without blanks around it."""
    try:
        salt = read_whole(path, 4096).decode("utf-8").strip()
        salt_check(salt)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8; write the salt as text.") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return salt


def split_names(text: str | None) -> list[str] | None:
    """Names given as one comma-separated option."""
    return None if text is None else [name.strip() for name in text.split(",")]


def number(value: float | None) -> str:
    """A gap or a rate for a person, or that there is none."""
    return "none" if value is None or value != value else f"{value:.3f}"


def print_json(value: Any) -> None:
    """One JSON object, numbers to full precision."""
    print_text(json.dumps(value, ensure_ascii=False, allow_nan=False))


def print_text(text: str) -> None:
    """Text for a program, and a line's end, in UTF-8 whatever the terminal speaks."""
    text += "\n"  # a path goes out in the bytes it came in
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()


def escape(text: str) -> str:
    """Text in which nothing acts, neither Rich's marks nor what a terminal obeys."""
    return as_no_markup("".join(c if c == "\n" or not acts(c) else ascii(c)[1:-1] for c in text))


def say(sentence: str) -> None:
    """One sentence for a person; names in it are text, never markup."""
    _out.print(escape(sentence), highlight=False)


MOST_ROWS = 15  # of a table that a person reads; the JSON has all of them


def print_table(title: str, columns: Mapping[str, Sequence[str]], most: int | None = None) -> None:
    """Print a table: the cells of each column, the first a name, the others numbers.

    In a narrow terminal a cell goes on in the next line: names that differ at their end do. Of
    more rows than `most` the first are printed, and the title says so.
    """
    rows = list(zip(*columns.values(), strict=True))
    if most is not None and len(rows) > most:
        title = f"{title} ({most} of {len(rows)})"
    say(title)  # a title of Rich's own is wrapped to the width of its table
    table = Table()
    for place, column in enumerate(columns):
        table.add_column(escape(column), justify="right" if place else "left", overflow="fold")
    for row in rows[:most]:
        table.add_row(*map(escape, row))
    _out.print(table)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is being done, on a terminal, until it is."""
    with _err.status(escape(what)):
        yield


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error; yields the function to call with (done, in all)."""
    if not _err.is_terminal:  # Rich before 14 ends a bar that it does not show with an empty line
        yield lambda done, total: None
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=_err,
        transient=True,
    ) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
