"""Data sets: upload, look at, download, delete: `tm dataset`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.assets.subscriptions import DATASET, add_subscriptions, beyond
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.commands.download import To, amount, tell_files
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.commands.models import split
from trainmaster.cli.context import AsJson, Limit, Workspace, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, Query, Shared, add_star
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_REF = words("Name of the data set, or NAME@VERSION.", "数据集名称，或 名称@版本。")
Named = Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help=_REF, autocompletion=completing.datasets)]
Several = Annotated[
    list[str],
    typer.Argument(metavar="NAME[@VERSION]...", help=_REF, show_default=False, autocompletion=completing.datasets),
]
Description = Annotated[
    str | None,
    typer.Option(help=words("What is in it.", "内容说明。"), show_default=words("none", "无")),
]


Where = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        "-w",
        help=words("Where it is.", "所在的工作空间。"),
        show_default=words("yours", "您的工作空间"),
        autocompletion=completing.workspaces,
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--share",
        metavar="|".join(SHARES),
        help=words("With the other members of its workspace, where it is new.", "新建时共享给工作空间的其他成员。"),
        autocompletion=completing.one_of(*SHARES),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "dataset", "Data sets that jobs read.", "任务读取的数据集。", JOBS)
    add(
        part,
        list_datasets,
        "列出数据集，最近修改的在前：自己的和共享给您的。\n\n"
        "每行一个：名称、最新版本、文件数、大小、所有者、工作空间、共享方式、描述。",
        "tm dataset list",
        "tm dataset list flowers --mine",
        name="list",
    )
    add_star(part, "dataset", ("data sets", "数据集"), completing.datasets, lambda: client().datasets.favor)
    for name in ("upload", "create"):
        add(
            part,
            upload,
            "上传文件夹或文件，作为数据集的新版本；没有此数据集则新建。\n\n"
            "服务器在上一版本中已有的内容不会重复发送；中断后会接着上传。输出名称和版本。",
            f"tm dataset {name} flowers data/flowers",
            f'tm dataset {name} flowers data/flowers --share read --description "5 classes"',
            name=name,
        )
    add(
        part,
        show,
        "显示数据集及其各个版本。\n\n输出描述、所有者、工作空间和共享方式，然后每行一个版本：文件数、大小、上传时间、上传者、内容摘要。",
        "tm dataset show flowers",
        "tm dataset show flowers@2 --json",
    )
    add(
        part,
        files,
        "列出数据集一个版本中的文件。\n\n每行一项：类型、大小、路径。",
        "tm dataset files flowers",
        "tm dataset files flowers@2 train/daisy",
    )
    add(
        part,
        download,
        "下载数据集一个版本的文件；不指定版本则下载最新版本。\n\n每行输出一个文件。已完整下载的文件不会再次传输，因此中断的下载可以继续；不会覆盖其他已有文件，也不会写到目标文件夹之外。",
        "tm dataset download flowers@2 --to flowers",
    )
    add(
        part,
        share,
        "设置工作空间的其他成员能对数据集做什么。\n\nread：查看、用于任务；read-write：还可以上传版本和删除；none：什么都看不到。"
        "输出名称和共享方式。",
        "tm dataset share flowers read",
    )
    add_subscriptions(part, DATASET)
    add(part, describe, "修改数据集的描述。\n\n输出名称和描述。", 'tm dataset describe flowers "5 classes"')
    add(
        part,
        delete,
        "删除数据集的一个版本，或整个数据集。\n\n尚未结束的任务需要的版本不能删除；"
        "删除后会在回收站中保留一段时间（tm bin）。每行输出一个已删除的名称。",
        "tm dataset delete flowers@1",
        "tm dataset delete flowers",
    )


def list_datasets(
    query: Query = "",
    mine: Own = False,
    shared: Shared = False,
    favorite: Favorite = False,
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List data sets, what was changed last first: yours, and what is shared with you.

    Prints a line for each: name, newest version, files, size, owner, workspace, how it is shared, description.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().datasets.list(
        query, mine=mine, shared=shared, favorite=favorite, workspace=workspace, limit=limit or None
    )
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("data set", "数据集"), least=12),
        column(words("latest", "最新版本"), right=True),
        column(words("files", "文件数"), right=True, leaves=1),
        column(words("size", "大小"), right=True),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("shared", "共享")),
        column(words("description", "描述"), least=12, leaves=4),
    )
    rows = [
        (
            one.name,
            one.latest or "-",
            one.files,
            amount(one.size_bytes),
            one.owner,
            one.workspace,
            one.share,
            one.description or "-",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No data sets.", "没有数据集。"))


def upload(
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "数据集名称。"))],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help=words("Folder or file on this computer.", "本机的文件夹或文件。"))
    ],
    workspace: Where = None,
    description: Description = None,
    level: Level = "none",
    as_json: AsJson = False,
) -> None:
    """Upload a folder, or a file, as the next version of a data set, which is made where there is none.

    What the server has of the last versions is not sent again; an upload goes on where the line broke. Prints name and
    version.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.transfer import growing_bar

    server = client()
    with growing_bar(words("uploading", "上传"), not as_json) as (moved, total):
        made = server.datasets.upload(
            folder,
            name,
            workspace=workspace,
            description=description or "",
            share=level,
            on_total=total,
            on_bytes=moved,
        )
    if as_json:
        emit_json(made)
        return
    one, counted = made.version, words("files", "文件数")
    print(f"{visible(made.name)}@{one.version}  {counted} {one.files}  {amount(one.size_bytes)}")


def show(dataset: Named, as_json: AsJson = False) -> None:
    """Show a data set and its versions.

    Prints what is in it, whose it is and how it is shared, then a line for each version: files, size, when it was
    uploaded and by whom, the digest of its content.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    name, number = split(dataset)
    found = client().datasets.get(name)
    versions = [one for one in found.history if number in (None, one.version)]
    if number is not None and not versions:
        raise _no_version(found, number)
    if as_json:
        emit_json(found if number is None else versions[0])
        return
    print(visible(f"{found.name}  {found.id}"))
    about = (
        (words("description", "描述"), found.description or "-"),
        (words("owner", "所有者"), found.owner),
        (words("workspace", "工作空间"), found.workspace),
        (words("shared", "共享"), found.share),
        *beyond(found),
    )
    for key, value in about:
        print(f"  {key}: {visible(value)}")
    columns = (
        column(words("version", "版本"), right=True),
        column(words("files", "文件数"), right=True),
        column(words("size", "大小"), right=True),
        column(words("uploaded", "上传时间"), leaves=1),
        column(words("by", "上传者"), leaves=2),
        column(words("digest", "内容摘要"), leaves=3),
        column(words("path", "路径"), least=16, leaves=4),
    )
    rows = [
        (
            one.version,
            one.files,
            amount(one.size_bytes),
            clock(one.created_at),
            one.by,
            one.digest[:12],
            one.path or "-",
        )
        for one in versions
    ]
    tables.show(columns, rows) if rows else print(words("No versions.", "没有版本。"))


def files(
    dataset: Named,
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help=words("A folder in it.", "其中的文件夹。"), show_default=False)
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List files of a version of a data set, the newest one if none is named.

    Prints a line for each file or folder: kind, size, path.
    """
    from trainmaster.cli.commands.download import size
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    name, number = split(dataset)
    found = client().datasets.files(name, number, path)
    if as_json:
        emit_json(found)
        return
    kinds = {"file": words("file", "文件"), "folder": words("folder", "文件夹"), "link": words("link", "链接")}
    columns = (
        column(words("kind", "类型")),
        column(words("size", "大小"), right=True),
        column(words("path", "路径"), least=20),
    )
    rows = [(kinds.get(one.kind, one.kind), size(one), one.path) for one in found]
    tables.show(columns, rows) if rows else print(words("Nothing is there.", "没有文件。"))


def download(dataset: Named, to: To = Path(), as_json: AsJson = False) -> None:
    """Download the files of a version of a data set, the newest one if none is named.

    Prints each file. What is there already and whole does not come again, so a download that broke off goes on. Nothing
    else that is there is overwritten, and nothing is written outside the folder.
    """
    from trainmaster.cli.transfer import bar

    name, number = split(dataset)
    server = client().datasets
    found = server.get(name)
    version = next((one for one in found.history if one.version == (number or found.latest)), None)
    if version is None:
        raise _no_version(found, number or found.latest)
    with bar(words("downloading", "下载"), not as_json, version.size_bytes) as on_bytes:
        written = server.download(found.id, version.version, to, on_bytes=on_bytes)
    tell_files(written, as_json)


def share(
    dataset: Named,
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
    """Say what other members of the workspace may do with a data set.

    read: look at it and give it to jobs; read-write: also upload versions and delete it; none: they see nothing of it.
    Prints its name and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().datasets.share(dataset, level)
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('shared', '共享')} {found.share}")


def describe(
    dataset: Named,
    text: Annotated[str, typer.Argument(metavar="TEXT", help=words("What is in it.", "内容说明。"))],
    as_json: AsJson = False,
) -> None:
    """Say what is in a data set.

    Prints its name and what was said.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().datasets.describe(dataset, text)
    emit_json(found) if as_json else print(visible(f"{found.name}  {found.description}"))


def delete(datasets: Several, as_json: AsJson = False) -> None:
    """Delete a version of a data set, or all of it.

    What a job needs that has not ended is not deleted. It stays in the bin for a while (tm bin). Prints the name of
    each that is gone.
    """
    server = client().datasets

    def one(ref: str) -> str:
        name, number = split(ref)
        server.delete(name, number)
        return ref

    found, good = each(datasets, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "dataset", "name": ref, "deleted": True},
    )
    leave(good)


def _no_version(found: "answers.DatasetDetail", number: int) -> Exception:
    from trainmaster.core.errors import NotFound
    from trainmaster.messages.assets import datasets

    return NotFound(datasets.no_such_dataset_version(found.name, number))
