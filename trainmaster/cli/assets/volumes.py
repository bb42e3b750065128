"""Volumes: make, fill, look into, share, delete: `tm volume`."""

from pathlib import Path
from typing import Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.assets.datasets import Description, Level, Where
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.commands.download import To, amount, size, tell_files
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.context import AsJson, Limit, Workspace, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, Query, Shared, add_star
from trainmaster.core.formats.terminal import visible

_REF = words("Name of the volume.", "存储卷名称。")
_WITHIN = words("Name of the volume, or NAME/PATH of what is in it.", "存储卷名称，或 名称/路径。")
Named = Annotated[str, typer.Argument(metavar="NAME", help=_REF, autocompletion=completing.volumes)]
Within = Annotated[str, typer.Argument(metavar="NAME[/PATH]", help=_WITHIN, autocompletion=completing.volumes)]
Several = Annotated[
    list[str],
    typer.Argument(metavar="NAME[/PATH]...", help=_WITHIN, show_default=False, autocompletion=completing.volumes),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "volume", "Volumes: folders that jobs read and write.", "存储卷：任务可读写的文件夹。", JOBS)
    add(
        part,
        list_volumes,
        "列出存储卷，最近修改的在前：自己的和共享给您的。\n\n每行一个：名称、大小、条目数、所有者、工作空间、共享方式、描述。",
        "tm volume list",
        "tm volume list scratch --mine",
        name="list",
    )
    add_star(part, "volume", ("volumes", "存储卷"), completing.volumes, lambda: client().volumes.favor)
    add(
        part,
        create,
        "新建空的存储卷。\n\n输出名称和工作空间。",
        "tm volume create scratch",
        'tm volume create scratch --share read-write --description "shared results"',
    )
    add(
        part,
        show,
        "显示存储卷及挂载着它的任务。\n\n输出描述、所有者、工作空间、共享方式和大小，然后每行一个尚未结束的任务：名称、状态、所有者、能否写入。",
        "tm volume show scratch",
    )
    _add_to_files(part)
    add(
        part,
        share,
        "设置工作空间的其他成员能对存储卷做什么。\n\nread：查看、让任务读取；read-write：还可以修改文件、让任务写入和删除；none：什么都看不到。"
        "输出名称和共享方式。",
        "tm volume share scratch read-write",
    )
    add(
        part,
        change,
        "修改存储卷的名称或描述。\n\n尚未结束的任务挂载着它时不能改名。输出名称和描述。",
        'tm volume change scratch --name results --description "of this year"',
    )
    add(
        part,
        delete,
        "删除存储卷，或其中的文件或文件夹。\n\n尚未结束的任务挂载着的存储卷不能删除；"
        "整个存储卷删除后会在回收站中保留一段时间（tm bin），其中的文件不会。每行输出一个已删除的名称。",
        "tm volume delete scratch/old",
        "tm volume delete scratch",
    )


def _add_to_files(part: typer.Typer) -> None:
    """Add those about what is in a volume."""
    add(
        part,
        files,
        "列出存储卷中的文件。\n\n每行一项：类型、大小、修改时间、路径。",
        "tm volume files scratch",
        "tm volume files scratch/results",
    )
    add(
        part,
        upload,
        "把本机的文件，或文件夹中的内容，上传到存储卷；同名文件会被替换。\n\n链接不会上传。每行输出一个已上传的路径。",
        "tm volume upload scratch data",
        "tm volume upload scratch/data train.csv",
    )
    add(
        part,
        download,
        "下载存储卷中的文件，或文件夹中的内容。\n\n每行输出一个已写入的文件。不会覆盖已有文件，也不会写到目标文件夹之外。",
        "tm volume download scratch --to scratch",
        "tm volume download scratch/results/best.pt",
    )


def list_volumes(
    query: Query = "",
    mine: Own = False,
    shared: Shared = False,
    favorite: Favorite = False,
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List volumes, what was changed last first: yours, and what is shared with you.

    Prints a line for each: name, size, entries, owner, workspace, how it is shared, description.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().volumes.list(
        query, mine=mine, shared=shared, favorite=favorite, workspace=workspace, limit=limit or None
    )
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("volume", "存储卷"), least=12),
        column(words("size", "大小"), right=True),
        column(words("entries", "条目数"), right=True, leaves=1),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("shared", "共享")),
        column(words("description", "描述"), least=12, leaves=4),
    )
    rows = [
        (one.name, amount(one.size_bytes), one.files, one.owner, one.workspace, one.share, one.description or "-")
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No volumes.", "没有存储卷。"))


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "存储卷名称。"))],
    workspace: Where = None,
    description: Description = None,
    level: Level = "none",
    as_json: AsJson = False,
) -> None:
    """Make a volume, with nothing in it.

    Prints its name and workspace.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().volumes.create(name, workspace=workspace, description=description or "", share=level)
    emit_json(made) if as_json else print(visible(f"{made.name}  {made.workspace}"))


def show(volume: Named, as_json: AsJson = False) -> None:
    """Show a volume and the jobs that mount it.

    Prints what it is for, whose it is, how it is shared and how large it was when it was measured last, then a line for
    each job that has not ended: name, state, owner, whether it may write.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().volumes.get(volume)
    if as_json:
        emit_json(found)
        return
    print(visible(f"{found.name}  {found.id}"))
    about = (
        (words("description", "描述"), found.description or "-"),
        (words("owner", "所有者"), found.owner),
        (words("workspace", "工作空间"), found.workspace),
        (words("shared", "共享"), found.share),
        (words("size", "大小"), amount(found.size_bytes)),
        (words("entries", "条目数"), str(found.files)),
        *(((words("path", "路径"), found.path),) if found.path else ()),
    )
    for key, value in about:
        print(f"  {key}: {visible(value)}")
    columns = (
        column(words("job", "任务")),
        column(words("name", "名称"), least=12),
        column(words("state", "状态")),
        column(words("owner", "所有者"), leaves=1),
        column(words("writes", "可写入")),
    )
    yes, no = words("yes", "是"), words("no", "否")
    rows = [(one.id[:12], one.name, one.state, one.owner, yes if one.writes else no) for one in found.jobs]
    if rows:
        tables.show(columns, rows)
    if found.more_jobs:
        print(words(f"and {found.more_jobs} more", f"另有 {found.more_jobs} 个"))


def files(volume: Within, as_json: AsJson = False) -> None:
    """List what is in a folder of a volume.

    Prints a line for each file or folder: kind, size, last change, path.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    name, path = split(volume)
    found = client().volumes.files(name, path)
    if as_json:
        emit_json(found)
        return
    kinds = {"file": words("file", "文件"), "folder": words("folder", "文件夹"), "link": words("link", "链接")}
    columns = (
        column(words("kind", "类型")),
        column(words("size", "大小"), right=True),
        column(words("changed", "修改时间"), leaves=1),
        column(words("path", "路径"), least=20),
    )
    rows = [
        (
            kinds.get(one.kind, one.kind),
            "" if one.kind == "folder" else size(one),
            "" if one.modified_at is None else clock(one.modified_at),
            one.path,
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("Nothing is there.", "没有文件。"))


def upload(
    volume: Within,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help=words("Folder or file on this computer.", "本机的文件夹或文件。"))
    ],
    as_json: AsJson = False,
) -> None:
    """Send a file, or what is in a folder, to a volume; a file replaces the one of its path.

    Links are not sent. Prints each path that was sent.
    """
    from trainmaster.cli.assets.copying import cp

    name, path = split(volume)
    cp(str(source.absolute()), f"volume:{name}/{path}", as_json)


def download(volume: Within, to: To = Path(), as_json: AsJson = False) -> None:
    """Download a file of a volume, or what is in a folder.

    Prints each file that was written. Nothing that is there is overwritten, and nothing is written outside the folder.
    """
    from trainmaster.cli.transfer import bar

    name, path = split(volume)
    with bar(words("downloading", "下载"), not as_json) as on_bytes:
        written = client().volumes.download(name, path, to, on_bytes=on_bytes)
    tell_files(written, as_json)


def share(
    volume: Named,
    level: Annotated[
        str,
        typer.Argument(
            metavar="|".join(SHARES),
            help=words("What others may do.", "其他成员能做什么。"),
            autocompletion=completing.one_of(*SHARES),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what other members of the workspace may do with a volume.

    read: look at it and give it to jobs that read it; read-write: also change its files, give it to jobs that write to
    it, and delete it; none: they see nothing of it. Prints its name and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().volumes.share(volume, level)
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('shared', '共享')} {found.share}")


def change(
    volume: Named,
    name: Annotated[
        str | None,
        typer.Option(help=words("Its new name.", "新名称。"), show_default=words("as it is", "不变")),
    ] = None,
    description: Annotated[
        str | None,
        typer.Option(help=words("What it is for.", "用途说明。"), show_default=words("as it is", "不变")),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Give a volume another name, or say what it is for.

    It keeps its name while a job that has not ended mounts it. Prints its name and what was said.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().volumes.change(volume, name=name, description=description)
    emit_json(found) if as_json else print(visible(f"{found.name}  {found.description}"))


def delete(volumes: Several, as_json: AsJson = False) -> None:
    """Delete a volume, or a file or folder in one.

    What a job mounts that has not ended is not deleted. A volume stays in the bin for a while (tm bin). Prints the name
    of each that is gone.
    """
    server = client().volumes

    def one(ref: str) -> str:
        name, path = split(ref)
        server.remove(name, path) if path else server.delete(name)
        return ref

    found, good = each(volumes, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "volume", "name": ref, "deleted": True},
    )
    leave(good)


def split(text: str) -> tuple[str, str]:
    """Return (volume, path in it, "": all of it) of what was typed."""
    name, _, path = text.partition("/")
    return name, path
