"""Invitations by link, beneath `tm workspace`."""

from typing import Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client, removed, seconds
from trainmaster.cli.helping import add
from trainmaster.cli.language import role_in_words, words
from trainmaster.cli.people.user import Role

Into = Annotated[
    str,
    typer.Argument(
        metavar="WORKSPACE", help=words("Its name.", "工作空间名称。"), autocompletion=completing.workspaces
    ),
]
STATES = {"open": words("open", "未使用"), "used": words("used", "已使用"), "expired": words("expired", "已过期")}


def add_invitations(part: typer.Typer) -> None:
    """Add the commands to those of workspaces."""
    add(
        part,
        invite,
        "生成邀请链接，供一人加入工作空间；链接只显示这一次，只能使用一次。\n\n输出链接。",
        "tm workspace invite vision",
        "tm workspace invite vision --role admin --expires 2d",
    )
    add(
        part,
        invitations,
        "列出工作空间的邀请。\n\n每行一个：ID、角色、状态、邀请人、有效期、使用者。",
        "tm workspace invitations vision",
    )
    add(
        part,
        uninvite,
        "撤销邀请，其链接随即失效。\n\n输出已撤销的 ID。",
        "tm workspace uninvite vision i3f9",
    )


def invite(
    workspace: Into,
    role: Role = "member",
    expires: Annotated[
        str,
        typer.Option(metavar="TIME", help=words("It expires after this long, at most 30d.", "多久后过期，最长 30d。")),
    ] = "7d",
    as_json: AsJson = False,
) -> None:
    """Make a link by which one person joins a workspace; it is shown this once and is good once.

    Prints the link.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    made = server.people.invite(workspace, role, expires_in_s=seconds(expires))
    emit_json(made) if as_json else print(f"{server.http.url.rstrip('/')}{made.link}")


def invitations(workspace: Into, as_json: AsJson = False) -> None:
    """List the invitations to a workspace.

    Prints a line for each: id, role, state, who made it, until when it is good, who used it.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().people.invitations(workspace)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("id", "ID")),
        column(words("role", "角色")),
        column(words("state", "状态")),
        column(words("made by", "邀请人"), leaves=1),
        column(words("until", "有效期至"), leaves=2),
        column(words("used by", "使用者")),
    )
    rows = [
        (
            one.id,
            role_in_words(one.role),
            STATES.get(one.state, one.state),
            one.made_by,
            clock(one.expires_at),
            one.used_by or "",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No invitations.", "没有邀请。"))


def uninvite(
    workspace: Into,
    invitation: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help=words(
                "Its id as tm workspace invitations shows it, or its first 4 characters or more.",
                "ID 或其开头（至少 4 个字符），见 tm workspace invitations。",
            ),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Revoke an invitation; its link opens nothing any more.

    Prints its id.
    """
    client().people.revoke_invitation(workspace, invitation)
    removed("invitation", invitation, as_json)
