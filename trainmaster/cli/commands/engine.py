"""Engines: what runs jobs. See them, look whether a cluster has all that jobs need, and add one.

Adding and checking are done on the server's machine, as its user: they read and write its home folder.
"""

import sys
from typing import Annotated

import typer

from trainmaster.cli.commands.engine_add import KindCommands, Wait, examination_of
from trainmaster.cli.context import AsJson, client, demand_known, home, language
from trainmaster.cli.installed import demand_server
from trainmaster.cli.server.looking import Screen, in_terminal_language
from trainmaster.core.formats.terminal import visible


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Engines, which run jobs: this machine and clusters.")
    adding = typer.Typer(
        cls=KindCommands, no_args_is_help=True, help="Check an engine step by step, and add it when nothing is missing."
    )
    adding.callback()(_any_kind)
    part.add_typer(adding, name="add", epilog="Example: [bold]tm engine add slurm --help[/]")
    part.command("list", epilog="Example: [bold]tm engine list[/]")(list_engines)
    part.command(epilog="Example: [bold]tm engine check alps[/]")(check)
    app.add_typer(part, name="engine")


def _any_kind() -> None:
    """Check an engine step by step, and add it when nothing is missing."""


def list_engines(as_json: AsJson = False) -> None:
    """List engines: their pools and nodes, and whether they answer."""
    from trainmaster.cli.render import emit_json, table

    found = client().admin.engines()
    if as_json:
        emit_json(found)
        return
    table(
        ("engine", "kind", "pools", ">nodes", "state"),
        [
            (
                one.name,
                one.kind,
                ", ".join(one.pools),
                f"{one.nodes_in_service}/{one.nodes}",
                "no answer" if one.trouble is not None else "ok",
            )
            for one in found
        ],
    )
    for one in found:
        if one.trouble is not None:
            print(visible(f"{one.name}: {getattr(one.trouble, language())}"))


def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The engine's name in config.toml.")],
    wait: Wait = "10m",
    as_json: AsJson = False,
) -> None:
    """Look whether an engine that is configured has all that jobs need; probe jobs run there, nothing is changed."""
    from trainmaster.cli.render import emit_json
    from trainmaster.core.folders.layout import Layout
    from trainmaster.engines.kinds import find
    from trainmaster.messages.cluster.checks import checked_by_doctor, engine_without_checks
    from trainmaster.service.settings import load

    demand_server()
    config = load(Layout(home()).config)
    demand_known("engine", name, config.engines)
    engine = next(one for one in config.engines if one.name == name)
    kind, screen = find(engine.kind), Screen(as_json)
    examination = examination_of(kind, engine, config.server.data or home(), wait, screen)
    if examination is None:
        none = checked_by_doctor if kind.this_machine else engine_without_checks
        print(in_terminal_language(none(kind.label)))
        return
    screen.examine(examination)
    if as_json:
        emit_json(screen.result())
    sys.exit(1 if screen.bad else 0)
