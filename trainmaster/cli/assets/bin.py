"""What was deleted: listed, restored, deleted for good: `tm bin`."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.download import amount
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.context import AsJson, Limit, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import told, words
from trainmaster.cli.listing import Own
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

KINDS = {
    "model": words("model", "模型"),
    "template": words("template", "模板"),
    "image": words("image", "镜像"),
    "dataset": words("data set", "数据集"),
    "algorithm": words("algorithm", "算法"),
    "volume": words("volume", "存储卷"),
}
_REF = words("Name, NAME@VERSION or ID in the bin.", "名称、名称@版本或在回收站中的 ID。")
Several = Annotated[list[str], typer.Argument(metavar="REF...", help=_REF, show_default=False)]
Any_ = Annotated[list[str] | None, typer.Argument(metavar="[REF]...", help=_REF, show_default=False)]
Workspace = Annotated[
    str,
    typer.Option(
        "--workspace", "-w", help=words("Only of this one.", "只包括此工作空间。"), autocompletion=completing.workspaces
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "bin", "What was deleted and can come back.", "已删除、仍可恢复的内容。", JOBS)
    add(
        part,
        list_bin,
        "列出您可以恢复的已删除内容，最近删除的在前。\n\n"
        "每行一个：ID、类型、名称、大小、所有者、工作空间、删除者、删除时间、彻底删除的时间。在此之前仍计入存储配额。",
        "tm bin list",
        "tm bin list flowers --kind dataset",
        name="list",
    )
    add(
        part,
        restore,
        "恢复已删除的内容，包括其版本和共享方式。\n\n原名称已被占用时，用 --name 换一个名称。"
        "每行输出一个已恢复的名称。",
        "tm bin restore flowers",
        "tm bin restore flowers@2",
        "tm bin restore flowers --name flowers-old",
    )
    add(
        part,
        empty,
        "彻底删除回收站中的内容，不可恢复。\n\n"
        "--all 删除属于您的全部内容；加上 --workspace 则删除该工作空间中您可以删除的全部内容。"
        "每行输出一个已删除的名称。",
        "tm bin empty flowers@2",
        "tm bin empty --all",
    )


def list_bin(
    query: Annotated[
        str,
        typer.Argument(metavar="[TEXT]", help=words("Words of name, owner, deleter.", "名称、所有者、删除者中的词。")),
    ] = "",
    mine: Own = False,
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help=words("Only of this kind: ", "只包括此类型：") + ", ".join(KINDS),
            autocompletion=completing.one_of(*KINDS),
        ),
    ] = "",
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what was deleted and you can restore, last first.

    Prints a line for each: ID, kind, name, size, owner, workspace, who deleted it and when, and when it goes for good.
    Until then it counts in the storage quota.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().bin.list(query, mine=mine, kind=kind, workspace=workspace, limit=limit or None)
    if as_json:
        emit_json(found)
        return
    columns = (
        column("ID"),
        column(words("kind", "类型")),
        column(words("name", "名称"), least=12),
        column(words("size", "大小"), right=True),
        column(words("owner", "所有者"), least=6, leaves=3),
        column(words("workspace", "工作空间"), least=6, leaves=4),
        column(words("deleted by", "删除者"), least=6, leaves=2),
        column(words("deleted", "删除时间"), leaves=1),
        column(words("until", "保留到")),
    )
    rows = [
        (
            one.id[:8],
            KINDS.get(one.kind, one.kind),
            _named(one),
            amount(one.size_bytes),
            one.owner,
            one.workspace,
            one.by,
            clock(one.at),
            words("ever", "永久") if one.until is None else clock(one.until),
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("The bin is empty.", "回收站为空。"))


def restore(
    refs: Several,
    name: Annotated[
        str | None,
        typer.Option(
            help=words("Another name for it.", "恢复后使用的其他名称。"), show_default=words("its own", "原名称")
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring back what was deleted, with its versions and as it was shared.

    --name gives another name where its own is taken by now. Prints the name of each that is back.
    """
    server = client().bin
    found, good = each(refs, lambda ref: server.restore(ref, name))
    print_each(
        found,
        as_json,
        lambda one: print(
            f"{KINDS.get(one.kind, one.kind)} {visible(one.name)}"
            f"{'' if one.version is None else f'@{one.version}'}  {words('restored', '已恢复')}"
        ),
    )
    leave(good)


def empty(
    refs: Any_ = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help=words(
                "All that is yours; with --workspace all of it that you may delete.",
                "属于您的全部内容；加上 --workspace 则为其中您可以删除的全部内容。",
            ),
        ),
    ] = False,
    workspace: Workspace = "",
    as_json: AsJson = False,
) -> None:
    """Delete for good what is in the bin; it cannot come back.

    Prints the name of each that is gone.
    """
    from trainmaster.cli.showing.console import emit_json

    if bool(refs) == everything:
        raise typer.BadParameter(words("Name what goes, or give --all", "请指定要删除的内容，或使用 --all"))
    server = client().bin
    chosen = {ref: ref for ref in refs or ()}
    if everything:
        there = server.list(mine=not workspace, workspace=workspace, limit=None)
        chosen = {one.id: f"{KINDS.get(one.kind, one.kind)} {_named(one)}" for one in there}
    outcome = server.remove([*chosen])
    if as_json:
        emit_json(outcome)
    else:
        for ref in outcome.done:
            print(f"{visible(chosen.get(ref, ref))}  {words('deleted for good', '已彻底删除')}")
        for one in outcome.refused:
            print(f"{visible(chosen.get(one.id, one.id))}: {told(one.title)}")
    leave(not outcome.refused)


def _named(one: "answers.BinEntryView") -> str:
    return one.name if one.version is None else f"{one.name}@{one.version}"
