"""`tm upgrade --rehearse`: whether this release can take over a home that an older one serves, tried on a copy."""

import sys
from typing import Annotated, Any

import typer

from trainmaster.cli.context import AsJson, home
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.language import language, words
from trainmaster.cli.server.backup import demand_here


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        upgrade,
        "在数据库副本上试运行升级，检查结果并报告，然后删除副本。\n\n"
        "用新版本的 tm 运行；正在运行的服务器和任务不受影响。每行一项检查；有异常时退出码为 1。",
        "new/bin/tm --home /srv/trainmaster upgrade --rehearse",
        panel=SERVER,
    )


def upgrade(
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse",
            help=words("Try it on a clone of the database, and remove that again.", "在副本上试运行，随后撤销。"),
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Upgrade a copy of the database, look at what became of it, report, and remove it again.

    Run the tm of the new release; the server that runs and its jobs notice nothing. Prints a line for each check. Exit
    code 1 if anything is bad.
    """
    demand_here("tm upgrade")
    from trainmaster.cli.showing.console import emit_json, finding
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages import render
    from trainmaster.messages.server.backup import upgrade_only_rehearsed
    from trainmaster.service.backup import rehearsing

    if not rehearse:
        raise InvalidSpec(upgrade_only_rehearsed())
    bad, all_of_them = False, list[dict[str, Any]]()
    for one in rehearsing.rehearse(home()):
        bad |= one.state == "bad"
        text, remedy = render.text(one.said, language()), render.remedy(one.said, language())
        if as_json:
            all_of_them.append({"name": one.name, "state": one.state, "detail": text, "remedy": remedy})
        else:
            finding(one.state, one.name, text, remedy)
    if as_json:
        emit_json(all_of_them)
    elif not bad:
        print(words("Nothing was changed. This release can take over.", "没有改动任何内容。此版本可以接管。"))
    sys.exit(1) if bad else None
