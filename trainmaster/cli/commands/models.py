"""Saved models: list, show, download, delete."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.download import To, amount, tell_files
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.context import AsJson, client, each
from trainmaster.cli.helping import RESULTS, add, group
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, add_star
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_NAMED = words("Name of the model, or NAME@VERSION.", "模型名称，或 名称@版本。")
Named = Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help=_NAMED, autocompletion=completing.models)]

Several = Annotated[
    list[str],
    typer.Argument(metavar="NAME[@VERSION]...", help=_NAMED, show_default=False, autocompletion=completing.models),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "models", "Saved models and their versions.", "已保存的模型及其版本。", RESULTS)
    add(
        part,
        list_models,
        "列出模型。\n\n每行一个模型：名称、最新版本、版本数、所有者、工作空间、创建时间。",
        "tm models list",
        "tm models list digits --mine",
        name="list",
    )
    add_star(part, "models", ("models", "模型"), completing.models, lambda: client().favor_model)
    add(
        part,
        show,
        "显示一个模型的各个版本。\n\n每行一个版本：来自哪个任务、文件数、大小、指标，以及在服务器上的路径。",
        "tm models show digits",
        "tm models show digits@3 --json",
    )
    add(
        part,
        download,
        "下载模型一个版本的文件；不指定版本则下载最新版本。\n\n每行输出一个已写入的文件。不会覆盖已有文件，也不会写到目标文件夹之外。",
        "tm models download digits@3 --to digits",
    )
    add(
        part,
        delete,
        "删除模型的一个版本，或整个模型。\n\n尚未结束的任务需要的版本不能删除；"
        "删除后会在回收站中保留一段时间（tm bin）。每行输出一个已删除的名称。",
        "tm models delete digits@3",
        "tm models delete digits",
    )


def list_models(
    query: Annotated[str, typer.Argument(metavar="[TEXT]", help=words("Part of a name.", "名称的一部分。"))] = "",
    mine: Own = False,
    favorite: Favorite = False,
    as_json: AsJson = False,
) -> None:
    """List models.

    Prints a line for each: name, newest version, how many versions, owner, workspace, when it was made.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().models(query, mine=mine, favorite=favorite)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("model", "模型"), least=12),
        column(words("latest", "最新版本"), right=True),
        column(words("versions", "版本数"), right=True),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("created", "创建时间"), leaves=1),
    )
    rows = [(one.name, one.latest, one.versions, one.owner, one.workspace, clock(one.created_at)) for one in found]
    tables.show(columns, rows) if rows else print(words("No models.", "没有模型。"))


def show(model: Named, as_json: AsJson = False) -> None:
    """Show the versions of a model.

    Prints a line for each version: the job that made it, files, size, metrics, and its path on the server.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.jobs import metric_text
    from trainmaster.cli.showing.tables import column

    name, number = split(model)
    found = client().model(name)
    versions = [one for one in found.versions if number in (None, one.version)]
    if number is not None and not versions:
        raise _no_version(found, number)
    if as_json:
        emit_json(found if number is None else versions[0])
        return
    columns = (
        column(words("version", "版本"), right=True),
        column(words("job", "任务")),
        column(words("files", "文件数"), right=True, leaves=1),
        column(words("size", "大小"), right=True),
        column(words("metrics", "指标"), least=12),
        column(words("path", "路径"), least=16, leaves=2),
    )
    rows = [
        (one.version, one.job[:12], one.files, amount(one.size_bytes), metric_text(one.metrics), one.path or "")
        for one in versions
    ]
    tables.show(columns, rows)


def download(model: Named, to: To = Path(), as_json: AsJson = False) -> None:
    """Download the files of a version of a model, the newest one if none is named.

    Prints each file that was written. Nothing that is there is overwritten, and nothing is written outside the folder.
    """
    from trainmaster.cli.transfer import bar

    name, number = split(model)
    server = client()
    found = server.model(name)
    version = next((one for one in found.versions if one.version == (number or found.latest)), None)
    if version is None:
        raise _no_version(found, number or found.latest)
    with bar(words("downloading", "下载"), not as_json, version.size_bytes) as on_bytes:
        written = server.download_model(name, version.version, to, on_bytes=on_bytes)
    tell_files(written, as_json)


def delete(models: Several, as_json: AsJson = False) -> None:
    """Delete a version of a model, or all of it.

    What a job needs that has not ended is not deleted. It stays in the bin for a while (tm bin). Prints the name of
    each that is gone.
    """
    server = client()

    def one(ref: str) -> str:
        server.delete_model(*split(ref))
        return ref

    found, good = each(models, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "model", "name": ref, "deleted": True},
    )
    leave(good)


def split(text: str) -> tuple[str, int | None]:
    """Return (name, version or None) of what was typed. Exits with a message for a version that is no number."""
    name, at, number = text.rpartition("@")
    if not at:
        return text, None
    if not number.isdigit():
        raise typer.BadParameter(
            words(
                f"{number!r} is not a version number; write for example {name}@3",
                f"{number!r} 不是版本号；请写成 {name}@3 的形式",
            )
        )
    return name, int(number)


def _no_version(found: "answers.ModelDetail", number: int) -> Exception:
    from trainmaster.core.errors import NotFound
    from trainmaster.messages.jobs import files

    return NotFound(files.no_such_version(found.name, number))
