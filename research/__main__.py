"""The command line of research: ``python -m research reproduce|holding|methods|sweep|join``."""

import typer

from fairfl_core.cli import run_app
from research.commands.holding import holding
from research.commands.join import join
from research.commands.methods import methods
from research.commands.reproduce import reproduce
from research.commands.sweep import sweep

__all__ = ["app", "main"]

app = typer.Typer(
    help="Reproduce the paper, compare other methods, measure whether limits hold.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
for _command in (reproduce, holding, methods, sweep, join):
    app.command(_command.__name__)(_command)


def main() -> None:
    """Run a command of research."""
    run_app(app, "python -m research")


if __name__ == "__main__":
    main()
