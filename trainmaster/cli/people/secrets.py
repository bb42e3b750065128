"""Secrets of a workspace. A value comes from a prompt, standard input or a file, never from the command line, and is
printed by nothing.
"""

from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, OwnWorkspace, client, removed, workspace_of
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import words

SecretName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help=words("The secret's name, as WANDB_API_KEY.", "密钥名称，例如 WANDB_API_KEY。")
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app, "secret", "Secrets that jobs of a workspace can be given.", "可提供给工作空间中任务的密钥。", SERVER
    )
    add(
        part,
        set_secret,
        "设置密钥，或替换其值。\n\n值通过提示输入（不回显），或来自标准输入或文件；不会再次显示。输出密钥名称。",
        "tm secret set WANDB_API_KEY",
        "tm secret set GCP_KEY --workspace vision --from-file key.json",
        name="set",
    )
    add(
        part,
        list_secrets,
        "列出工作空间的密钥。\n\n每行一个：名称、修改时间、修改人、最近使用时间；不显示值。",
        "tm secret list --workspace vision",
        name="list",
    )
    add(
        part,
        delete_secret,
        "删除密钥。使用它且尚未启动的任务将失败。\n\n输出已删除的名称。",
        "tm secret delete WANDB_API_KEY",
        name="delete",
    )


def set_secret(
    name: SecretName,
    workspace: OwnWorkspace = "",
    from_file: Annotated[
        typer.FileText | None,
        typer.Option(
            metavar="FILE",
            help=words("A file with the value; - reads standard input.", "含有值的文件；- 表示标准输入。"),
            show_default=words("asks, or reads what is piped in", "提示输入，或读取管道输入"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set a secret, or give it another value.

    The value is asked for without an echo, or read from standard input or a file. It is never shown again. Prints the
    name.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    made = server.people.set_secret(workspace_of(server, workspace), name, read_value(from_file))
    emit_json(made) if as_json else print(
        words(f"set {made.name} in {made.workspace}", f"已设置 {made.workspace} 的密钥 {made.name}")
    )


def read_value(file: typer.FileText | None) -> str:
    """Return the value: a file as it is, what is typed or piped in without the end of its last line."""
    import getpass
    import sys

    if file is not None and file is not sys.stdin:
        return str(file.read())
    if sys.stdin.isatty():
        return getpass.getpass(words("Value: ", "值："))
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


def list_secrets(workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """List the secrets of a workspace.

    Prints a line for each: name, when and by whom it was changed, when it was used last; never a value.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    server = client()
    found = server.people.secrets(workspace_of(server, workspace))
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("name", "名称"), least=8),
        column(words("changed", "修改时间")),
        column(words("by", "修改人")),
        column(words("used", "最近使用"), leaves=1),
    )
    never = words("never", "从未")
    rows = [
        (one.name, clock(one.changed_at), one.changed_by, clock(one.used_at) if one.used_at else never) for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No secrets.", "没有密钥。"))


def delete_secret(name: SecretName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """Delete a secret. Jobs that name it and have not started will fail.

    Prints the name.
    """
    server = client()
    server.people.delete_secret(workspace_of(server, workspace), name)
    removed("secret", name, as_json)
