"""What jobs wrote: files and download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, OneJob, client
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import counted, words
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_PLACE = words("outputs, model, or a file or folder beneath one of them.", "outputs、model，或其中的文件或文件夹。")
PlaceOf = Annotated[
    str | None, typer.Argument(metavar="[PATH]", help=_PLACE, autocompletion=completing.one_of("outputs", "model"))
]
To = Annotated[
    Path,
    typer.Option(
        "--to",
        metavar="DIR",
        help=words("Folder on this computer; created if it is missing.", "本机文件夹；不存在则创建。"),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        files,
        "列出任务所写的文件，运行中也可查看。\n\n每行一项：类型、大小、修改时间、路径。",
        "tm files t826",
        "tm files t826 outputs/plots",
        panel=RESULTS,
    )
    add(
        app,
        download,
        "下载任务所写的文件或其日志。\n\n每行输出一个已写入的文件。文件先以临时名称写入，完整后才改名；不会覆盖已有文件，"
        "也不会写到目标文件夹之外。",
        "tm download t826",
        "tm download t826 outputs/plots --to plots",
        "tm download t826 --logs",
        panel=RESULTS,
    )


def files(job: OneJob, path: PlaceOf = None, as_json: AsJson = False) -> None:
    """List what a job wrote, also while it runs.

    Prints a line for each file or folder: kind, size, last change, path.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().get(job).files(path or "")
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("kind", "类型")),
        column(words("size", "大小"), right=True),
        column(words("changed", "修改时间"), leaves=1),
        column(words("path", "路径"), least=20),
    )
    kinds = {"file": words("file", "文件"), "folder": words("folder", "文件夹"), "link": words("link", "链接")}
    rows = [
        (
            kinds.get(one.kind, one.kind),
            size(one),
            "" if one.modified_at is None else clock(one.modified_at),
            one.path,
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("Nothing is there.", "没有文件。"))


def size(one: "answers.File") -> str:
    """Return how large a file is, or how many entries a folder has."""
    return counted(one.size, "entry", "entries", "项") if one.kind == "folder" else amount(one.size)


def amount(size_bytes: float) -> str:
    """Return a size as people read it: ``820 B``, ``1.5 MiB``."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes:g} B"


def download(
    job: OneJob,
    path: PlaceOf = None,
    to: To = Path(),
    logs: Annotated[
        bool, typer.Option("--logs", help=words("The logs of all replicas instead.", "改为下载所有副本的日志。"))
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Download what a job wrote, or its logs.

    Prints each file that was written. A file has a temporary name until it is whole. Nothing that is there is
    overwritten, and nothing is written outside the folder.
    """
    from trainmaster.cli.transfer import bar

    if path is not None and logs:
        raise typer.BadParameter(
            words(
                "PATH is of what the job wrote; leave it out with --logs", "PATH 指任务所写的文件；使用 --logs 时请省略"
            )
        )
    found = client().get(job)
    with bar(words("downloading", "下载"), not as_json) as on_bytes:
        written = (
            found.download_logs(to, on_bytes=on_bytes)
            if logs
            else found.download(path or "outputs", to, on_bytes=on_bytes)
        )
    tell_files(written, as_json)


def tell_files(written: "list[Path]", as_json: bool) -> None:
    """Print which files were written."""
    from trainmaster.cli.showing.console import emit_json

    if as_json:
        emit_json({"files": [str(file) for file in written]})
        return
    for file in written:
        print(visible(file))
    if not written:
        print(words("There is nothing to download.", "没有可下载的文件。"))
