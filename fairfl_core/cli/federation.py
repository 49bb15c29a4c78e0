"""`federation`: the whole method across machines, on Flower. One function a command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core._io.names import listed
from fairfl_core.cli._options import LimitOptions, NotionName
from fairfl_core.cli._shell import (
    Command,
    Json,
    print_json,
    say,
    split_names,
    with_options,
    working,
)
from fairfl_core.errors import InputError, extra
from fairfl_core.federation import folders
from fairfl_core.federation.folders import EXAMPLES, ClientFolder, ServerFolder, is_loopback
from fairfl_core.federation.question import Question
from fairfl_core.federation.study import Study
from fairfl_core.lp.policy import Policy
from fairfl_core.privacy.mechanisms import Mechanism

federation = typer.Typer(
    help="The whole method across machines, on Flower; no record leaves a client.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

EpsGlobal = Annotated[float, typer.Option(help="Overall gap allowed, epsilon_0.")]
EpsLocal = Annotated[float, typer.Option(help="Gap allowed inside each client, epsilon_c.")]
FederationRegion = Annotated[
    str | None,
    typer.Option(
        "--region",
        help="simplex, kernel, or exact (two labels, from histograms of scores). Default: "
        "simplex, or kernel where the notion needs it.",
    ),
]
Example = Annotated[
    str | None, typer.Option(help="With people in: hospitals (made up) or adult (by education).")
]
Source = Annotated[Path | None, typer.Option(help="Folder with a copy of Adult's files.")]
ModelName = Annotated[str | None, typer.Option("--model", help="linear or mlp.")]
Rounds = Annotated[int | None, typer.Option(help="Rounds to train.", min=1)]
Folds = Annotated[int | None, typer.Option(help="Cross-fit with so many folds.", min=0)]
MethodName = Annotated[
    str | None, typer.Option("--method", help="What clients and server do in a round.")
]
Seed = Annotated[int | None, typer.Option(help="Decides every random choice.", min=0)]


@federation.command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="Where the folders go.")],
    example: Example = None,
    clients: Annotated[str, typer.Option(help="Names of the clients.")] = "North,South,East",
    address: Annotated[
        str, typer.Option(help="Where the server will listen, host:port.")
    ] = "127.0.0.1:8000",
    model: ModelName = None,
    method: MethodName = None,
    rounds: Rounds = None,
    folds: Folds = None,
    seed: Seed = None,
    source: Source = None,
) -> None:
    """Write a ready folder for a server and for each client.

    Example: `fairfl federation init study --example hospitals`
    """
    here = is_loopback(address)
    if example is not None:
        study, people = _example(example, source)
    else:
        study, people = folders.blank_study(split_names(clients) or []), None
    study = study.trained(seed, model=model, method=method, rounds=rounds, folds=folds)
    server, *others = folders.write_folders(folder, study, address=address, people=people)
    say(f"{server}: the server's. Start it with `fairfl federation server {server}`.")
    for name, path in zip(study.clients, others, strict=True):
        say(f'{path}: client "{name}". Start it with `fairfl federation client {path}`.')
    if people is None:
        say("Fill in study.toml (the same everywhere), client.toml and each client's people.csv.")
    if not here:
        say(
            f"{address} is not this machine alone: make certificates and keys first "
            "(make-certificates.sh, make-key.sh; docs/federation.md)."
        )


def _example(name: str, source: Path | None) -> Any:

    if name not in EXAMPLES:
        raise InputError(f'there is no example "{name}"; choose one of: {", ".join(EXAMPLES)}.')
    return EXAMPLES[name](source)


@federation.command("server")
def server(
    folder: Annotated[Path, typer.Argument(help="The server's folder.")],
) -> None:
    """Become Flower's SuperLink, and keep running. Ctrl+C ends it.

    Example: `fairfl federation server study/server`
    """
    with extra("federation"):
        from fairfl_core.federation.programs import become_server

    known = ServerFolder.read(folder)
    say(f"The server listens at {known.address}. Ctrl+C ends it.")
    become_server(known)


@federation.command("admit")
def admit(
    folder: Annotated[Path, typer.Argument(help="The server's folder.")],
) -> None:
    """Let in the clients whose keys are in the folder `keys`, while the server runs.

    `fairfl federation server` does so when it starts; a client that comes later is let in by this.

    Example: `fairfl federation admit study/server`
    """
    with extra("federation"):
        from fairfl_core.federation.programs import admit as let_in

    for key in let_in(ServerFolder.read(folder)):
        say(f"{key}: let in.")


@federation.command("client")
def client(
    folder: Annotated[Path, typer.Argument(help="A client's folder.")],
    check: Annotated[bool, typer.Option("--check", help="Look at the data, then stop.")] = False,
) -> None:
    """Check a client's data, then become its Flower SuperNode. Ctrl+C ends it.

    Data that cannot take part are reported here in one sentence; the server hears only that this
    client takes no part, and nothing of the data.

    Example: `fairfl federation client study/north`
    """
    with extra("federation"):
        from fairfl_core.federation.programs import become_client
        from fairfl_core.federation.training_client import OwnRows

    one = ClientFolder.read(folder)
    try:
        rows = OwnRows(one, Study.read(one.path))
        say(f'Client "{one.name}": {len(rows.splits[0]):,} rows, ready.')
    except InputError as error:
        say(f'Client "{one.name}" takes no part: {error}')
        if check:
            raise typer.Exit(2) from error
    if not check:
        say(f'Client "{one.name}" calls {one.server}; what travels stands in {one.path}/log.txt.')
        become_client(one)


@federation.command("run", cls=Command)
@with_options
def run(
    folder: Annotated[Path, typer.Argument(help="The server's folder.")],
    options: LimitOptions,
    region: FederationRegion = None,
    eps_global: EpsGlobal = 1.0,
    eps_local: EpsLocal = 1.0,
    privacy_epsilon: Annotated[
        float | None, typer.Option(help="Clients add noise to their tables, for this budget.")
    ] = None,
    privacy_mechanism: Annotated[str, typer.Option(help="histogram or paper.")] = "histogram",
    min_clients: Annotated[
        int, typer.Option(help="Go on without clients down to so many; 0: stop.", min=0)
    ] = 0,
    patience: Annotated[
        float, typer.Option(help="Seconds that one answer of a client may take.", min=1)
    ] = 600.0,
    out: Annotated[Path | None, typer.Option(help="Folder to write to.")] = None,
    as_json: Json = False,
) -> None:
    """Train, solve, hand every client its own predictor, and judge it on new people.

    The server and the clients run already. What the run says comes as Flower's own stream; it
    ends with the alarms and the verdict. Stopped or killed, the same command goes on where it was. Everything is written to OUT (the server's folder, `results`).

    Example: `fairfl federation run study/server --notion eo --eps-global 0.05 --eps-local 0.1
    --confidence 0.9`
    """
    with extra("federation"):
        from fairfl_core.federation.programs import run_job

    privacy = None
    if privacy_epsilon is not None:
        privacy = Mechanism(name=privacy_mechanism, epsilon=privacy_epsilon)
    question = Question(
        options.notion,
        region or "",
        eps_global,
        eps_local,
        guarantee=options.guarantee,
        policy=Policy(floors=options.floors),
        privacy=privacy,
    )
    where = out or folder / "results"
    result = run_job(
        ServerFolder.read(folder),
        question,
        where,
        min_clients=min_clients,
        patience=patience,
        quiet=as_json,
    )
    if as_json:
        kept = ("clients", "left_out", "verdict", "alarms", "bytes")
        print_json({key: result[key] for key in kept})
    else:
        most = max(result["bytes"].values())
        say(f"No client sent and received more than {most:,} bytes. Everything is in {where}.")


@federation.command("demo", cls=Command)
def demo(
    example: Annotated[str, typer.Option(help="hospitals or adult.")] = "adult",
    notion: NotionName = "eo",
    region: FederationRegion = None,
    eps_global: EpsGlobal = 0.05,
    eps_local: EpsLocal = 0.1,
    model: ModelName = None,
    method: MethodName = None,
    rounds: Rounds = None,
    folds: Folds = None,
    out: Annotated[Path | None, typer.Option(help="Keep the folders here.")] = None,
    messages: Annotated[
        Path | None, typer.Option(help="Write the log of the last client here, for the lesson.")
    ] = None,
    source: Source = None,
    as_json: Json = False,
) -> None:
    """Run a whole federation on this machine, and compare it with one place.

    Example: `fairfl federation demo --example hospitals`
    """
    with extra("federation"):
        from fairfl_core.federation.demo import run_here

    question = Question(notion, region or "", eps_global, eps_local)
    study, people = _example(example, source)
    study = study.trained(model=model, method=method, rounds=rounds, folds=folds)
    with working(f"{listed(study.clients)} train and ask for fairness: a minute or two"):
        found = run_here(study, people, question, folder=out, messages=messages)
    if as_json:
        print_json(found)
    else:
        for sentence in found["sentences"]:
            say(sentence)
        apart = found["largest_difference"]
        say(
            f"With all people in one place the scores differ by {apart['scores']:.0e}, accuracy "
            f"and gaps by {apart['solution']:.0e}: {'they agree' if found['agrees'] else 'too far'}"
            f" (1e-05 and 1e-08 are asked for). No client sent and received more than "
            f"{max(found['bytes'].values()):,} bytes."
        )
    if not found["agrees"]:
        raise typer.Exit(1)
