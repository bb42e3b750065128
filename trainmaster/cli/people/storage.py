"""Storage connections of a workspace. Keys come from a prompt or standard input, never from the command line, and are
printed by nothing.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, OwnWorkspace, client, removed, workspace_of
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import told, words

if TYPE_CHECKING:
    from trainmaster import answers

ConnectionName = Annotated[
    str,
    typer.Argument(metavar="NAME", help=words("The connection's name, as team-data.", "连接名称，例如 team-data。")),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app, "storage", "Connections of a workspace to object storage (S3).", "工作空间的对象存储（S3）连接。", SERVER
    )
    add(
        part,
        list_connections,
        "列出工作空间的存储连接。\n\n每行一个：名称、位置、修改时间、修改人；不显示密钥。",
        "tm storage list --workspace vision",
        name="list",
    )
    add(
        part,
        add_connection,
        "保存存储连接，或替换同名连接。\n\n密钥 ID 和密钥通过提示输入，或来自标准输入的两行；不会再次显示。输出名称。",
        "tm storage add team-data --endpoint https://s3.example.org --bucket training",
        "tm storage add team-data --endpoint https://s3.example.org --bucket training --prefix vision < keys",
        name="add",
    )
    add(
        part,
        check_connection,
        "检查存储连接是否可用：列出、写入、读取并删除一个试探对象。\n\n每行一个步骤；有错误时退出码为 1。",
        "tm storage check team-data",
        name="check",
    )
    add(
        part,
        delete_connection,
        "删除存储连接。使用它且尚未启动的任务将失败。\n\n输出已删除的名称。",
        "tm storage delete team-data",
        name="delete",
    )


def list_connections(workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """List the storage connections of a workspace.

    Prints a line for each: name, where it goes, when and by whom it was changed; never a key.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    server = client()
    found = server.storage.list(workspace_of(server, workspace))
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("name", "名称"), least=8),
        column(words("place", "位置"), least=16),
        column(words("changed", "修改时间")),
        column(words("by", "修改人"), leaves=1),
    )
    rows = [
        (
            one.name,
            "/".join(filter(None, (one.endpoint, one.bucket, one.prefix))),
            clock(one.changed_at),
            one.changed_by,
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No storage connections.", "没有存储连接。"))


def place_of(one: "answers.ConnectionView") -> str:
    """Return where a connection goes, as it is shown."""
    return "/".join(part for part in (one.endpoint, one.bucket, one.prefix) if part)


def add_connection(
    name: ConnectionName,
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help=words("Scheme, name and port of the S3 service.", "S3 服务的协议、名称和端口。"),
        ),
    ],
    bucket: Annotated[str, typer.Option(metavar="NAME", help=words("The bucket.", "存储桶。"))],
    region: Annotated[str, typer.Option(metavar="NAME", help=words("The bucket's region.", "存储桶所在区域。"))] = "",
    prefix: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help=words("Below which everything is.", "所有内容所在的前缀。"),
            show_default=words("the whole bucket", "整个存储桶"),
        ),
    ] = "",
    workspace: OwnWorkspace = "",
    as_json: AsJson = False,
) -> None:
    """Keep a storage connection, in place of the one of its name.

    Key id and secret key are asked for, or are two lines of standard input. They are never shown again. Prints the
    name.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    key_id, secret = read_keys()
    made = server.storage.add(
        workspace_of(server, workspace),
        name,
        endpoint=endpoint,
        bucket=bucket,
        region=region,
        prefix=prefix,
        key_id=key_id,
        secret=secret,
    )
    emit_json(made) if as_json else print(
        words(f"added {made.name} to {made.workspace}", f"已保存 {made.workspace} 的存储连接 {made.name}")
    )


def read_keys() -> tuple[str, str]:
    """Return (key id, secret key): typed in, or the first two lines that are piped in."""
    import getpass
    import sys

    if sys.stdin.isatty():
        key_id = input(words("Key id: ", "密钥 ID："))
        return key_id.strip(), getpass.getpass(words("Secret key: ", "密钥：")).strip()
    lines = [line.strip() for line in sys.stdin.read(8192).splitlines()]
    return (lines[0], lines[1]) if len(lines) > 1 else ("", "")


def check_connection(name: ConnectionName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """Look whether a storage connection works: list, write a probe, read and delete it.

    Prints a line for each step; exits with 1 where one fails.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    found = server.storage.check(workspace_of(server, workspace), name)
    if as_json:
        emit_json(found)
    else:
        called = {
            "list": words("list", "列出"),
            "write": words("write", "写入"),
            "read": words("read", "读取"),
            "delete": words("delete", "删除"),
        }
        for step in found.steps:
            if step.wrong is None:
                print(f"{called.get(step.step, step.step)}: {words('works', '可用')}")
                continue
            print(f"{called.get(step.step, step.step)}: {told(step.wrong)}")
            if step.remedy is not None and told(step.remedy):
                print(f"  {told(step.remedy)}")
    if not found.ok:
        raise typer.Exit(1)


def delete_connection(name: ConnectionName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """Delete a storage connection. Jobs that name it and have not started will fail.

    Prints the name.
    """
    server = client()
    server.storage.delete(workspace_of(server, workspace), name)
    removed("storage", name, as_json)
