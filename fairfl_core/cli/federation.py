"""`federation`: the whole method across machines, on Flower. One function a command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl_core.cli._policy_options import LimitOptions, NotionName
from fairfl_core.cli._shell import Json, print_json, say, split_names, with_options, working
from fairfl_core.errors import InputError

__all__ = ["federation"]

federation = typer.Typer(
    help="The whole method across machines, on Flower; no record leaves a client.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_MOST = 5  # alarms shown to a person
EpsGlobal = Annotated[float, typer.Option(help="Overall gap allowed, epsilon_0.")]
EpsLocal = Annotated[float, typer.Option(help="Gap allowed inside each client, epsilon_c.")]
FederationRegion = Annotated[
    str | None,
    typer.Option(
        "--region",
        help="simplex, kernel or exact. Default: exact where scores travel (--one-round), else "
        "simplex, from counts.",
    ),
]
OneRound = Annotated[
    bool,
    typer.Option("--one-round", help="Region exact: from score histograms, in one exchange."),
]
Example = Annotated[
    str | None, typer.Option(help="With people in: hospitals (made up) or adult (by education).")
]
ModelName = Annotated[str | None, typer.Option("--model", help="linear, mlp or cnn.")]
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
    dataset: Annotated[
        str | None, typer.Option(help="Clients share a bundled dataset: adult, ham10000 ...")
    ] = None,
    clients: Annotated[str, typer.Option(help="Names of the clients.")] = "North,South,East",
    address: Annotated[
        str, typer.Option(help="Where the server will listen, host:port.")
    ] = "127.0.0.1:8000",
    model: ModelName = None,
    method: MethodName = None,
    rounds: Rounds = None,
    folds: Folds = None,
    seed: Seed = None,
) -> None:
    """Write a ready folder for a server and for each client.

    Example: `fairfl federation init study --example hospitals`
    """
    from fairfl_core.federation import folders
    from fairfl_core.federation.server_folder import is_loopback

    here = is_loopback(address)
    if example is not None:
        study, people = _example(example)
    elif dataset is not None:
        study, people = folders.declared_study(dataset), None
    else:
        study, people = folders.blank_study(split_names(clients) or []), None
    study = folders.trained_as(
        study, model=model, method=method, rounds=rounds, folds=folds, seed=seed
    )
    server, *others = folders.write_folders(folder, study, address=address, people=people)
    say(f"{server}: the server's. Start it with `fairfl federation server {server}`.")
    for name, path in zip(study.clients, others, strict=True):
        say(f'{path}: client "{name}". Start it with `fairfl federation client {path}`.')
    if people is None and dataset is None:
        say("Fill in study.toml (the same everywhere), client.toml and each client's people.csv.")
    if not here:
        say(
            f"{address} is not this machine alone: make certificates and keys first "
            "(make-certificates.sh, make-key.sh; docs/federation.md)."
        )


def _example(name: str) -> Any:
    from fairfl_core.federation.folders import EXAMPLES

    if name not in EXAMPLES:
        raise InputError(f'there is no example "{name}"; choose one of: {", ".join(EXAMPLES)}.')
    return EXAMPLES[name]()


@federation.command("server")
def server(
    folder: Annotated[Path, typer.Argument(help="The server's folder.")],
) -> None:
    """Start the server and keep it running. Ctrl+C ends it.

    Example: `fairfl federation server study/server`
    """
    from fairfl_core.federation.processes import Processes
    from fairfl_core.federation.server_folder import ServerFolder
    from fairfl_core.federation.superlink import start_server

    known = ServerFolder.read(folder)
    with Processes() as processes:
        with working("Starting the server"):
            start_server(known, processes)
        say(f"The server listens at {known.address}. Ctrl+C ends it.")
        processes.wait()


@federation.command("client")
def client(
    folders: Annotated[list[Path], typer.Argument(help="A client's folder, or several.")],
    check: Annotated[bool, typer.Option("--check", help="Look at the data, then stop.")] = False,
) -> None:
    """Check a client's data, connect it to its server, and keep it running. Ctrl+C ends it.

    Data that cannot take part are told here in one sentence; the server hears only that this
    client takes no part, and nothing of the data.

    Example: `fairfl federation client study/north`
    """
    from fairfl_core.federation.loader import ClientFolder, load_people
    from fairfl_core.federation.processes import Processes
    from fairfl_core.federation.study import Study
    from fairfl_core.federation.superlink import keep_clients

    known = [ClientFolder.read(folder) for folder in folders]
    fit = True
    for one in known:
        try:
            own = load_people(one, Study.read(one.path))
            say(f'Client "{one.name}": {len(own.people):,} rows, ready.')
        except InputError as error:
            fit = False
            say(f'Client "{one.name}" takes no part: {error}')
    if check:
        raise typer.Exit(0 if fit else 2)
    with Processes() as processes:
        for one in known:
            log = one.path / "log.txt"
            say(f'Client "{one.name}" calls {one.server}; what travels stands in {log}.')
        keep_clients(known, processes, say)


@federation.command("run")
@with_options
def run(
    folder: Annotated[Path, typer.Argument(help="The server's folder.")],
    options: LimitOptions,
    region: FederationRegion = None,
    eps_global: EpsGlobal = 1.0,
    eps_local: EpsLocal = 1.0,
    one_round: OneRound = False,
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
    """Train, solve, hand every client its own predictor, and judge it on unseen people.

    The server and the clients run already. Stopped or killed, the same command goes on where it
    was. Everything is written to OUT (the server's folder, `results`).

    Example: `fairfl federation run study/server --notion eo --eps-global 0.05 --eps-local 0.1
    --confidence 0.9`
    """
    from fairfl_core._io.json_files import read_json
    from fairfl_core.federation.jobs import Job
    from fairfl_core.federation.question import Question
    from fairfl_core.federation.server_folder import ServerFolder
    from fairfl_core.federation.superlink import submit
    from fairfl_core.lp.policy import Policy
    from fairfl_core.lp.regions import default_region_sentence
    from fairfl_core.privacy.mechanisms import Mechanism

    privacy = None
    if privacy_epsilon is not None:
        privacy = Mechanism(name=privacy_mechanism, epsilon=privacy_epsilon)
    question = Question(
        options.notion,
        region or "",
        eps_global,
        eps_local,
        one_round,
        guarantee=options.guarantee,
        policy=Policy(floors=options.floors),
        privacy=privacy,
    )
    known = ServerFolder.read(folder)
    job = Job(folder, out or folder / "results", question, min_clients, patience)
    with working("Handing the job to the server"):
        number = submit(known, job)
    job.wait((lambda sentence: None) if as_json else say, _alive(known, number))
    result = read_json(job.out / "result.json")
    if as_json:
        told = ("clients", "left_out", "verdict", "alarms", "bytes")
        print_json({key: result[key] for key in told})
    else:
        if region is None:
            say(default_region_sentence(question.region))
        _show(result, job.out)


def _alive(known: Any, number: str) -> Any:
    """Asks Flower, now and then, whether the run goes on."""
    import time

    from fairfl_core.federation.superlink import is_running

    asked = [time.monotonic()]

    def alive() -> bool:
        if time.monotonic() - asked[0] < 15:
            return True
        asked[0] = time.monotonic()
        return is_running(known, number)

    return alive


def _show(result: dict[str, Any], out: Path) -> None:
    solution, judged, verdict = result["solution"], result["evaluation"], result["verdict"]
    whom = "noised counts" if result["counts"].get("noisy") else "people"
    say(
        f"Accuracy {solution['accuracy']:.1%} on the {whom} it was solved on, the model's own "
        f"{solution['model_accuracy']:.1%}."
    )
    if judged is not None:
        unseen = f"{judged['n']:,.0f} unseen people"
        if judged["noisy"]:
            unseen = f"noised counts (n = {judged['n']:,.0f})"
        say(
            f"On {unseen} {judged['accuracy']:.1%}, the model's own "
            f"{judged['model_accuracy']:.1%}."
        )
    for alarm in result["alarms"][:_MOST]:
        say(f"Worse off: {alarm['sentence']}")
    if len(result["alarms"]) > _MOST:
        say(f"... and {len(result['alarms']) - _MOST:,} more alarms, all in result.json.")
    if verdict is not None:
        say(f"{verdict['word'].upper()}. {verdict['why']}")
    for lost in result["left_out"]:
        say(f'Left out: "{lost["client"]}" ({lost["when"]}): {lost["reason"]}.')
    most = max(result["bytes"].values())
    say(f"No client sent and received more than {most:,} bytes. Everything is in {out}.")


@federation.command("demo")
def demo(
    example: Annotated[str, typer.Option(help="hospitals or adult.")] = "adult",
    notion: NotionName = "eo",
    region: FederationRegion = None,
    eps_global: EpsGlobal = 0.05,
    eps_local: EpsLocal = 0.1,
    one_round: OneRound = False,
    model: ModelName = None,
    method: MethodName = None,
    rounds: Rounds = None,
    folds: Folds = None,
    out: Annotated[Path | None, typer.Option(help="Keep the folders here.")] = None,
    messages: Annotated[
        Path | None, typer.Option(help="Write the log of the last client here, for the lesson.")
    ] = None,
) -> None:
    """Run a whole federation on this machine and compare it with one place, as one line of JSON.

    Example: `fairfl federation demo --example hospitals`
    """
    from fairfl_core.federation.demo import run_here
    from fairfl_core.federation.folders import trained_as
    from fairfl_core.federation.processes import check_flower
    from fairfl_core.federation.question import Question

    check_flower()
    question = Question(notion, region or "", eps_global, eps_local, one_round)
    study, people = _example(example)
    study = trained_as(study, model=model, method=method, rounds=rounds, folds=folds)
    told = run_here(
        study, people, question, folder=out, on_event=_to_standard_error, messages=messages
    )
    print_json(told.to_json())
    if not told.agrees:
        raise typer.Exit(1)


def _to_standard_error(sentence: str) -> None:
    typer.echo(sentence, err=True)
