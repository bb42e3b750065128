"""Passwords and API tokens."""

from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, client, removed
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import words


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    token = group(app, "token", "API tokens for programs.", "供程序使用的 API 令牌。", SERVER)
    add(
        token,
        create,
        "创建令牌，只显示这一次。\n\n输出令牌。",
        "tm token create ci --days 90",
        "export TRAINMASTER_TOKEN=$(tm token create laptop)",
    )
    add(
        token,
        list_tokens,
        "列出令牌。\n\n每行一个：ID、名称、创建、过期、最近使用时间；不显示令牌本身。",
        "tm token list",
        name="list",
    )
    add(token, delete, "删除令牌；使用它的程序随即被拒绝。\n\n输出已删除的 ID。", "tm token delete k3f9")
    add(
        app,
        password,
        "为控制台设置新密码，其他会话随即结束。\n\n在服务器本机上不需要旧密码。也可从标准输入读取新密码。",
        "tm password",
        panel=SERVER,
    )


def create(
    name: Annotated[str, typer.Argument(help=words("What the token is for.", "令牌的用途。"))],
    days: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help=words("It expires after so many days.", "多少天后过期。"),
            show_default=words("never", "永不过期"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token; it is shown this once.

    Prints the token.
    """
    from trainmaster import answers
    from trainmaster.cli.showing.console import emit_json

    body = {"name": name, **({} if days is None else {"expires_in_s": days * 86400})}
    made = client().http.read(answers.NewToken, "POST", "/tokens", json=body)
    emit_json(made) if as_json else print(made.token)


def list_tokens(as_json: AsJson = False) -> None:
    """List tokens.

    Prints a line for each: id, name, when it was made, expires and was used last; never the token itself.
    """
    from trainmaster import answers
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().http.read(answers.Tokens, "GET", "/tokens").items
    if as_json:
        emit_json(found)
        return
    if not found:
        print(words("No tokens.", "没有令牌。"))
        return
    columns = (
        column(words("id", "ID")),
        column(words("name", "名称"), least=8),
        column(words("created", "创建"), leaves=2),
        column(words("expires", "过期")),
        column(words("last used", "最近使用"), leaves=1),
    )
    never = words("never", "永不")
    rows = [
        (
            one.id,
            one.name,
            clock(one.created_at),
            never if one.expires_at is None else clock(one.expires_at),
            "" if one.last_used_at is None else clock(one.last_used_at),
        )
        for one in found
    ]
    tables.show(columns, rows)


def delete(
    token_id: Annotated[
        str,
        typer.Argument(metavar="ID", help=words("Its id, as tm token list shows it.", "令牌 ID，见 tm token list。")),
    ],
    as_json: AsJson = False,
) -> None:
    """Delete a token; programs that use it are refused from now on.

    Prints its id.
    """
    client().http.request("DELETE", f"/tokens/{token_id}", repeat=False)
    removed("token", token_id, as_json)


def password() -> None:
    """Set a new password for the console; all other sessions end.

    On the server's own machine the old password is not asked for. The new one may also come from standard input.
    """
    import getpass
    import sys

    from trainmaster.core.errors import Unauthenticated

    server = client()
    if sys.stdin.isatty():
        new = getpass.getpass(words("New password: ", "新密码："))
        if new != getpass.getpass(words("Once more:    ", "再输入一次：")):
            print(
                words("The two are not the same; nothing was changed.", "两次输入不一致，没有修改。"), file=sys.stderr
            )
            sys.exit(2)
    else:
        new = sys.stdin.readline().rstrip("\n")
    try:
        server.http.json("POST", "/session/password", json={"new": new})
    except Unauthenticated:
        if not sys.stdin.isatty():
            raise
        old = getpass.getpass(words("Old password: ", "旧密码："))
        server.http.json("POST", "/session/password", json={"old": old, "new": new})
    print(words("The password is changed; every other session has ended.", "密码已修改，其他会话均已结束。"))
