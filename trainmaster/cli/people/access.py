"""Passwords, API tokens, and where one is signed in."""

from typing import Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client, removed, seconds
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import words

OfUser = Annotated[
    str | None,
    typer.Option(
        help=words("Whose; only administrators name others.", "所属用户；只有管理员可以指定他人。"),
        autocompletion=completing.users,
        show_default=words("you", "您自己"),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    token = group(app, "token", "API tokens for programs.", "供程序使用的 API 令牌。", SERVER)
    add(
        token,
        create,
        "创建令牌，只显示这一次。\n\n输出令牌。",
        "tm token create ci --expires 90d",
        "tm token create nightly --workspace vision --scope jobs:read --scope jobs:write",
        "export TRAINMASTER_TOKEN=$(tm token create laptop)",
    )
    add(
        token,
        list_tokens,
        "列出令牌。\n\n每行一个：ID、名称、创建、过期、最近使用时间；不显示令牌本身。",
        "tm token list",
        name="list",
    )
    add(token, delete, "吊销令牌；使用它的程序随即被拒绝。\n\n输出已吊销的 ID。", "tm token delete k3f9")
    session = group(app, "session", "Where you are signed in.", "已登录的浏览器。", SERVER)
    add(
        session,
        list_sessions,
        "列出您已登录的浏览器。\n\n每行一个：ID、登录时间、有效期、地址、浏览器。",
        "tm session list",
        name="list",
    )
    add(session, end_session, "在某个浏览器中退出登录。\n\n输出已结束的会话 ID。", "tm session end s3f9", name="end")
    add(
        app,
        password,
        "为控制台设置新密码，其他会话随即结束。\n\n在服务器本机上不需要旧密码。也可从标准输入读取新密码。",
        "tm password",
        panel=SERVER,
    )


def create(
    name: Annotated[str, typer.Argument(help=words("What the token is for.", "令牌的用途。"))],
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=words("It expires after this long, for example 90d.", "多久后过期，例如 90d。"),
            show_default=words("never", "永不过期"),
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help=words("What it may do; can be repeated.", "允许的权限，可重复。"),
            show_default=words("whatever its user may", "该用户的全部权限"),
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            help=words("The only workspace that it is for.", "只用于此工作空间。"),
            autocompletion=completing.workspaces,
            show_default=words("all of its user's", "该用户的全部工作空间"),
        ),
    ] = None,
    user: OfUser = None,
    as_json: AsJson = False,
) -> None:
    """Create a token; it is shown this once.

    Prints the token.
    """
    from trainmaster import answers
    from trainmaster.cli.showing.console import emit_json

    given = {"scopes": scope or None, "workspace": workspace, "user": user}
    body: dict[str, Any] = {"name": name, **{key: value for key, value in given.items() if value is not None}}
    if expires is not None:
        body["expires_in_s"] = seconds(expires)
    made = client().http.read(answers.NewToken, "POST", "/tokens", json=body)
    emit_json(made) if as_json else print(made.token)


def list_tokens(user: OfUser = None, as_json: AsJson = False) -> None:
    """List tokens.

    Prints a line for each: id, name, when it was made, expires and was used last; never the token itself.
    """
    from trainmaster import answers
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().http.read(answers.Tokens, "GET", "/tokens", params=_of(user)).items
    if as_json:
        emit_json(found)
        return
    if not found:
        print(words("No tokens.", "没有令牌。"))
        return
    columns = (
        column(words("id", "ID")),
        column(words("name", "名称"), least=8),
        column(words("workspace", "工作空间"), leaves=3),
        column(words("scopes", "权限"), leaves=4, wraps=True),
        column(words("created", "创建"), leaves=2),
        column(words("expires", "过期")),
        column(words("last used", "最近使用"), leaves=1),
    )
    never, all_ = words("never", "永不"), words("all", "全部")
    rows = [
        (
            one.id,
            one.name,
            one.workspace or all_,
            all_ if one.scopes is None else " ".join(one.scopes),
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
        typer.Argument(
            metavar="ID",
            help=words(
                "Its id as tm token list shows it, or its first 4 characters or more.",
                "ID 或其开头（至少 4 个字符），见 tm token list。",
            ),
        ),
    ],
    user: OfUser = None,
    as_json: AsJson = False,
) -> None:
    """Delete a token; programs that use it are refused from now on.

    Prints its id.
    """
    client().http.request("DELETE", f"/tokens/{token_id}", params=_of(user), repeat=False)
    removed("token", token_id, as_json)


def _of(user: str | None) -> dict[str, str]:
    return {} if user is None else {"user": user}


def list_sessions(as_json: AsJson = False) -> None:
    """List the browsers in which you are signed in.

    Prints a line for each: id, when it was signed in, until when, from which address, and what the browser is.
    """
    from trainmaster import answers
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().http.read(answers.BrowserSessions, "GET", "/sessions").items
    if as_json:
        emit_json(found)
        return
    if not found:
        print(words("No browser is signed in with this account.", "没有已登录的浏览器。"))
        return
    columns = (
        column(words("id", "ID")),
        column(words("signed in", "登录时间")),
        column(words("until", "有效至"), leaves=1),
        column(words("address", "地址")),
        column(words("browser", "浏览器"), least=16, wraps=True),
    )
    rows = [(one.id, clock(one.created_at), clock(one.expires_at), one.address, one.browser) for one in found]
    tables.show(columns, rows)


def end_session(
    session_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help=words(
                "Its id as tm session list shows it, or its first 4 characters or more.",
                "ID 或其开头（至少 4 个字符），见 tm session list。",
            ),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Sign out in a browser.

    Prints the id of the session that ended.
    """
    client().http.request("DELETE", f"/sessions/{session_id}", repeat=False)
    removed("session", session_id, as_json)


def password() -> None:
    """Set a new password for the console; all other sessions end.

    On the server's own computer the old password is not asked for. The new one may also come from standard input.
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
