"""Whether people are told whose the jobs are that they may not see."""

from typing import Annotated, Literal

import typer

from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import CLUSTER, add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import visible


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        privacy,
        "查看或修改是否显示他人任务的所有者。\n\n无权查看某个任务的人，仍会看到它占用的资源和工作空间；"
        "管理员可用 --owners hidden 隐藏其所有者。输出当前设置。",
        "tm privacy",
        "tm privacy --owners hidden",
        panel=CLUSTER,
    )


def privacy(
    owners: Annotated[
        Literal["told", "hidden"] | None,
        typer.Option(
            help=words("For administrators: tell or hide them from now on.", "仅管理员：今后显示或隐藏所有者。"),
            show_default=words("as it is", "不修改"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show or change whether people are told whose the jobs are that they may not see.

    Of such a job its amounts and its workspace are told to everybody; an administrator hides its owner with --owners
    hidden. Prints the setting.
    """
    from trainmaster.cli.showing.console import emit_json

    admin = client().admin
    found = admin.privacy() if owners is None else admin.set_privacy(owners_told=owners == "told")
    if as_json:
        emit_json(found)
        return
    told = words("Owners of others' jobs are told.", "显示他人任务的所有者。")
    print(told if found.owners_told else words("Owners of others' jobs are hidden.", "隐藏他人任务的所有者。"))
    if found.unreadable:
        hint = "The setting cannot be read. Set it again: tm privacy --owners told, or hidden."
        print(words(hint, "无法读取已保存的设置。请重新设置：tm privacy --owners told 或 hidden。"))
    if found.changed_by:
        who = visible(found.changed_by)
        print(words(f"Changed last by {who}.", f"最近由 {who} 修改。"))
