"""Engines: what runs jobs. See them, look whether a cluster has all that jobs need, and add one.

Adding and checking are done on the server's machine, as its user: they read and write its home folder.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, client, demand_known, home, language
from trainmaster.cli.installed import demand_server
from trainmaster.cli.looking import Screen, remedy, words
from trainmaster.core.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.core.config import EngineConfig
    from trainmaster.engines.slurm.examine import Examination
    from trainmaster.messages.said import Said
    from trainmaster.service.settings import Toml

Wait = Annotated[str, typer.Option(help="How long a probe job may wait for its start: 90s, 10m, 2h.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Engines, which run jobs: this machine and clusters.")
    example = "tm engine add slurm alps --data /shared/trainmaster --pool gpu --pool long=batch"
    part.command(epilog=f"Example: [bold]{example}[/]")(add)
    part.command("list", epilog="Example: [bold]tm engine list[/]")(list_engines)
    part.command(epilog="Example: [bold]tm engine check alps[/]")(check)
    app.add_typer(part, name="engine")


def add(  # noqa: PLR0913, PLR0917 (one for each option)
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What it is: slurm.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.")],
    pool: Annotated[
        list[str] | None, typer.Option(metavar="POOL[=PARTITION]", help="A pool that is to live there; repeatable. Else every partition.")
    ] = None,
    data: Annotated[str, typer.Option(metavar="DIR", help="Folder that server and nodes share (server.data).")] = "",
    scratch: Annotated[
        str, typer.Option(metavar="DIR", help="Folder that each node has for its own, where they share none with the server.")
    ] = "",
    conf: Annotated[str, typer.Option(metavar="FILE", help="The cluster's slurm.conf.")] = "",
    programs: Annotated[str, typer.Option(metavar="DIR", help="Folder of sbatch and the others.")] = "",
    python: Annotated[str, typer.Option(metavar="PATH", help="Python on the nodes, 3.9 or newer.")] = "/usr/bin/python3",
    environment: Annotated[str, typer.Option(metavar="PREFIX", help="Python environment of tasks, on the nodes.")] = "",
    sandbox: Annotated[str, typer.Option(help="How tasks are kept apart: auto, bubblewrap or none.")] = "auto",
    account: Annotated[str, typer.Option(help="Slurm account to submit with.")] = "",
    qos: Annotated[str, typer.Option(help="Quality of service to submit with.")] = "",
    reservation: Annotated[str, typer.Option(help="Reservation to use.")] = "",
    feature: Annotated[list[str] | None, typer.Option(help="Feature that nodes must have; repeatable.")] = None,
    rest: Annotated[str, typer.Option(metavar="PLACE", help="Read the cluster from slurmrestd there: unix:/its/socket or a URL.")] = "",
    rest_token: Annotated[str, typer.Option(metavar="FILE", help="File of slurmrestd's token, where it wants one.")] = "",
    most_pending: Annotated[int, typer.Option(min=1, help="Jobs of each pool that may wait in Slurm's queue.")] = 1000,
    wait: Wait = "10m",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check all, and only print what would be written.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Check a cluster step by step; make it an engine when nothing is missing."""
    settings = {
        "conf": conf, "programs": programs, "account": account, "qos": qos, "reservation": reservation,
        "features": feature or [], "python": python, "environment": environment, "sandbox": sandbox,
        "rest": rest, "rest_token": rest_token, "scratch": scratch,
    }  # fmt: skip
    _demand_slurm(kind)
    demand_server()
    _add(name, pool or [], settings, most_pending, data, wait, dry_run, Screen(as_json))


def _add(
    name: str, pools: list[str], settings: "Toml", most_pending: int, data: str, wait: str, dry_run: bool,
    screen: Screen,
) -> None:  # fmt: skip
    from trainmaster.core.layout import Layout
    from trainmaster.messages import checks
    from trainmaster.service import adding, settings_file
    from trainmaster.service.settings import load
    from trainmaster.service.wiring import prepare_home

    layout = Layout(home(), load(Layout(home()).config).server.data)
    chosen = adding.pools_of(pools)
    section = adding.section_of(name, chosen, settings, most_pending)
    proposed = settings_file.with_engine(settings_file.read(layout.config), section, data)
    screen.show([adding.moving(layout, data)])
    examination = _examination(settings_file.engine_in(proposed, name), data or layout.bulk, wait, screen)
    screen.examine(examination)
    chosen = chosen or adding.pools_of(examination.pools)
    screen.show([adding.jobs_there(name, chosen, _pools_known())])
    section = adding.section_of(name, chosen, settings, most_pending)
    made = settings_file.with_engine(settings_file.read(layout.config), section, data)  # it may have changed meanwhile
    written = not screen.bad and not dry_run
    if written:
        prepare_home(layout.home)
        settings_file.write(layout.config, made)
    done = checks.engine_written_data_moved if data and data != layout.bulk else checks.engine_written
    text = settings_file.section(section, data)
    _conclude(screen, layout.config, text, done(layout.config) if written else None)


def _examination(engine: "EngineConfig", data: str, wait: str, screen: Screen) -> "Examination":
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.core.units import NotRead, parse_duration_s
    from trainmaster.engines.slurm.examine import Examination, Wanted
    from trainmaster.messages.checks import wait_not_read

    try:
        patience = parse_duration_s(wait)
    except NotRead as error:
        raise InvalidSpec(wait_not_read(error.said)) from error
    return Examination(Wanted(engine, home(), data, patience, screen.wait))


def _pools_known() -> "list[answers.ResourcePool] | None":
    """Return all pools as the server tells of them, None while it does not run."""
    from trainmaster.core.errors import TrainmasterError

    try:
        return client().admin.pools()
    except TrainmasterError:
        return None


def _conclude(screen: Screen, path: str, text: str, done: "Said | None") -> None:
    """Say what was written, or would be. `done`: that it was, and what to do now; None: nothing was."""
    from trainmaster.cli.render import emit_json
    from trainmaster.messages.checks import engine_not_written, engine_would_be_written

    if screen.as_json:
        emit_json(screen.result(written=done is not None, config=path, section=text))
    elif done is not None:
        print("\n" + words(done), text + "\n" + remedy(done), sep="\n\n")
    elif screen.bad:
        print("\n" + words(engine_not_written()))
    else:
        print("\n" + words(engine_would_be_written(path)), text, sep="\n\n", end="")
    sys.exit(1 if screen.bad else 0)


def _demand_slurm(kind: str) -> None:
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.checks import no_such_engine_kind

    if kind != "slurm":
        raise InvalidSpec(no_such_engine_kind(kind))


def list_engines(as_json: AsJson = False) -> None:
    """List engines: their pools and nodes, and whether they answer."""
    from trainmaster.cli.render import emit_json, table

    found = client().admin.engines()
    if as_json:
        emit_json(found)
        return
    table(("engine", "kind", "pools", ">nodes", "state"), [
        (one.name, one.kind, ", ".join(one.pools), f"{one.nodes_in_service}/{one.nodes}",
         "no answer" if one.trouble is not None else "ok")
        for one in found
    ])  # fmt: skip
    for one in found:
        if one.trouble is not None:
            print(visible(f"{one.name}: {getattr(one.trouble, language())}"))


def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The engine's name in config.toml.")],
    wait: Wait = "10m",
    as_json: AsJson = False,
) -> None:
    """Look whether a cluster that is configured has all that jobs need; a probe job in each partition, nothing is changed."""
    from trainmaster.cli.render import emit_json
    from trainmaster.core.layout import Layout
    from trainmaster.messages.checks import checked_by_doctor
    from trainmaster.service.settings import load

    demand_server()
    config = load(Layout(home()).config)
    demand_known("engine", name, config.engines)
    engine = next(one for one in config.engines if one.name == name)
    if engine.kind == "local":
        print(words(checked_by_doctor()))
        return
    screen = Screen(as_json)
    screen.examine(_examination(engine, config.server.data or home(), wait, screen))
    if as_json:
        emit_json(screen.result())
    sys.exit(1 if screen.bad else 0)
