"""Copies between this machine and the server: `tm cp`."""

from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import visible

_EITHER = words(
    "A path here, or volume:NAME/PATH, job:ID/PATH, dataset:NAME@VERSION/PATH, model:NAME@VERSION/PATH.",
    "本机路径，或 volume:名称/路径、job:任务/路径、dataset:名称@版本/路径、model:名称@版本/路径。",
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        cp,
        "在本机与服务器之间复制文件，或文件夹中的内容。\n\n两边恰好有一边在服务器上：存储卷可读可写；任务的输出、数据集和模型只能读取。"
        "复制到存储卷时，同名文件会被替换；复制到本机时，不会覆盖已有文件，也不会写到目标之外。链接不会上传。每行输出一个已写入的文件。",
        "tm cp data/train.csv volume:scratch/data/",
        "tm cp data volume:scratch/data",
        "tm cp volume:scratch/results results",
        "tm cp job:t826/outputs/plots plots",
        "tm cp dataset:flowers@2/labels.txt labels.txt",
        "tm cp model:digits@3 digits",
        name="cp",
        panel=RESULTS,
    )


def cp(
    source: Annotated[str, typer.Argument(metavar="SRC", help=_EITHER)],
    target: Annotated[
        str,
        typer.Argument(
            metavar="DST",
            help=words("Where it goes: here, or volume:NAME/PATH.", "目标：本机路径，或 volume:名称/路径。"),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Copy a file, or what is in a folder, between this computer and the server.

    Exactly one side is on the server: a volume can be read and written, what a job wrote, data sets and models can be
    read. In a volume, a file replaces the one of its path; here, nothing is overwritten, and nothing is written outside
    of DST. Links are not sent. Prints each file that was written.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.transfer import growing_bar
    from trainmaster.sdk.assets.copying import Remote, copy

    sends = Remote.parsed(target) is not None
    text = words("sending", "发送") if sends else words("downloading", "下载")
    with growing_bar(text, not as_json) as (moved, total):
        done = copy(client(), source, target, on_total=total, on_bytes=moved)
    if as_json:
        emit_json(done)
        return
    for file in done.files:
        print(visible(file))
    if not done.files:
        print(words("Nothing is there.", "没有文件。"))
    for link in done.left_out:
        typer.echo(words(f"left out, a link: {visible(link)}", f"未发送的链接：{visible(link)}"), err=True)
