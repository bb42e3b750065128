"""Engines: what runs jobs. See them, look whether a cluster has all that jobs need, and add one.

Adding and checking are done on the server's machine, as its user: they read and write its home folder.
"""

import sys
from typing import Annotated

import typer

from trainmaster.cli.cluster.engine_add import KindCommands, Wait, examination_of
from trainmaster.cli.context import AsJson, client, demand_known, home
from trainmaster.cli.helping import CLUSTER, add, as_examples, group
from trainmaster.cli.installed import demand_server
from trainmaster.cli.language import told, words
from trainmaster.cli.server.looking import Screen, in_terminal_language
from trainmaster.core.formats.terminal import visible

ADDING = words(
    "Check an engine step by step, and add it when nothing is missing.", "逐项检查引擎，没有缺失时将其加入。"
)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app, "engine", "Engines, which run jobs: this computer and clusters.", "运行任务的引擎：本机和集群。", CLUSTER
    )
    adding = typer.Typer(cls=KindCommands, no_args_is_help=True, help=ADDING)
    adding.callback()(_any_kind)
    part.add_typer(adding, name="add", epilog=as_examples("tm engine add slurm alps --dry-run"))
    add(
        part,
        list_engines,
        "列出引擎。\n\n每行一个：种类、资源池、可调度节点、是否响应；没有响应的另说明原因。",
        "tm engine list",
        name="list",
    )
    add(
        part,
        check,
        "检查已配置的引擎是否具备任务所需的一切：在每个分区运行一个探测任务，不做任何改动。\n\n每行一项检查：正常、注意或异常，"
        "以及修正方法。有异常时退出码为 1。",
        "tm engine check alps",
    )


def _any_kind() -> None:
    """Check an engine step by step, and add it when nothing is missing."""


def list_engines(as_json: AsJson = False) -> None:
    """List engines.

    Prints a line for each: kind, pools, nodes in service, whether it answers; and why, of those that do not.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import Cell, column

    found = client().admin.engines()
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("engine", "引擎"), least=8),
        column(words("kind", "种类")),
        column(words("pools", "资源池"), least=12, wraps=True),
        column(words("nodes", "节点"), right=True),
        column(words("state", "状态")),
    )
    rows = [
        (
            one.name,
            one.kind,
            ", ".join(one.pools),
            f"{one.nodes_in_service}/{one.nodes}",
            Cell(words("No answer", "无响应"), "red")
            if one.trouble is not None
            else Cell(words("OK", "正常"), "green"),
        )
        for one in found
    ]
    tables.show(columns, rows)
    for one in found:
        if one.trouble is not None:
            print(visible(f"{one.name}{words(': ', '：')}{told(one.trouble)}"))


def check(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=words("Its name in config.toml.", "config.toml 中的引擎名称。"))
    ],
    wait: Wait = "10m",
    as_json: AsJson = False,
) -> None:
    """Check a configured engine by running a probe job in each partition. Changes nothing.

    Prints a line for each check: ok, warning or bad, with the remedy. Exit code 1 if anything is bad.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.core.folders.layout import Layout
    from trainmaster.engines.kinds import find
    from trainmaster.messages.cluster.checks import checked_by_doctor, engine_without_checks
    from trainmaster.service.settings import load

    demand_server()
    config = load(Layout(home()).config)
    demand_known("engine", name, config.engines)
    engine = next(one for one in config.engines if one.name == name)
    kind, screen = find(engine.kind), Screen(as_json)
    examination = examination_of(kind, engine, config.server.data or home(), wait, screen, config.local.containers)
    if examination is None:
        none = checked_by_doctor if kind.this_machine else engine_without_checks
        said = in_terminal_language(none(kind.label))
        emit_json(screen.result(note=said)) if as_json else print(said)
        return
    screen.examine(examination)
    if as_json:
        emit_json(screen.result())
    sys.exit(1 if screen.bad else 0)
