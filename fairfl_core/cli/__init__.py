"""The command line: the same functions from a shell. One file a command.

A command's file is imported where it is run or may be, so it imports what it needs at its top.
"""

import codecs
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from fairfl_core.cli._shell import Command, say
from fairfl_core.errors import FairflError, InfeasibleError, SolveError

__all__ = ["COMMANDS", "load", "main", "run_app"]

# Click's, or of the Click that newer versions of Typer bring along.
_UsageError: Any = typer.BadParameter.__base__

COLLISION = 3  # how the process ends where limits and floors collide
COMMANDS = (  # in the order of --help
    *("check", "count", "histogram", "solve", "map", "explore", "evaluate", "compare", "predict"),
    *("privatize", "train", "experiments", "review", "app", "plan", "verify", "watch"),
    "federation",
)


def load(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Import these commands, all unless given, and return `fairfl` with them."""
    app = typer.Typer(
        name="fairfl",
        help="What local and global fairness cost a federated model, and the predictor that pays it.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_top)
    for name in names:
        module = import_module(f"fairfl_core.cli.{name}")
        command = getattr(module, "map_" if name == "map" else name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=Command)(command)
    return app


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from fairfl_core import __version__

        say(f"fairfl {__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Read the options of `fairfl` itself."""


def main() -> None:
    """Run a command of `fairfl`."""
    asked = [name for name in sys.argv[1:2] if name in COMMANDS]
    run_app(lambda **how: load(asked or COMMANDS)(**how), "fairfl")


def run_app(app: Callable[..., Any], prog_name: str) -> None:
    """Run a command; whatever goes wrong ends in one sentence, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and _may_lack_letters(stream):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows "?"
    try:
        result = app(prog_name=prog_name, standalone_mode=False)
    except _UsageError as error:
        message = error.format_message()
        if not message:  # help was asked for by no word at all, and is printed
            sys.exit(2)
        _stop(f"{message.rstrip('.')}. See --help.", 2)
    except FairflError as error:
        _stop(str(error), {InfeasibleError: COLLISION, SolveError: 1}.get(type(error), 2))
    except (KeyboardInterrupt, typer.Abort):
        _stop("Stopped.", 130)
    except RuntimeError as error:  # Python 3.11 wraps what happens while a class is made
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _stop("Stopped.", 130)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _stop(f"standard output: cannot be written ({error.strerror}); check it.", 2)
    sys.exit(result if isinstance(result, int) else 0)


def _may_lack_letters(stream: TextIOWrapper) -> bool:
    """Whether writing a letter could fail; in the C locale only bytes of paths are let through."""
    unicode = codecs.lookup(stream.encoding).name == "utf-8"
    return stream.errors == "strict" or (stream.errors == "surrogateescape" and not unicode)


def _stop(sentence: str, code: int) -> None:
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    print(f"fairfl: {line}", file=sys.stderr)
    sys.exit(code)
