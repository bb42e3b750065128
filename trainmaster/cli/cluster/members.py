"""Members of a workspace, beneath `tm workspace`."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.cluster.invitations import add_invitations
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import add
from trainmaster.cli.language import role_in_words, words
from trainmaster.cli.people.user import Role

if TYPE_CHECKING:
    from trainmaster import answers

WorkspaceName = Annotated[
    str,
    typer.Argument(
        metavar="WORKSPACE", help=words("Its name.", "工作空间名称。"), autocompletion=completing.workspaces
    ),
]
UserName = Annotated[
    str, typer.Argument(metavar="USER", help=words("The user's name.", "用户名。"), autocompletion=completing.users)
]


def add_members(part: typer.Typer) -> None:
    """Add the commands to those of workspaces."""
    add(
        part,
        members,
        "列出工作空间的成员。\n\n每行一个：用户、角色、加入时间。",
        "tm workspace members vision",
    )
    add(
        part,
        add_member,
        "将用户加入工作空间，或修改成员的角色。\n\nowner（所有者）和 admin（管理员）管理成员并可操作所有任务，"
        "member（成员）可提交任务，viewer（访客）只能查看。\n\n输出用户和角色。",
        "tm workspace add vision ann",
        "tm workspace add vision li --role admin",
        name="add",
    )
    add(
        part,
        remove_member,
        "将用户移出工作空间；其任务继续运行。\n\n输出已移出的用户。",
        "tm workspace remove vision ann",
        name="remove",
    )
    add_invitations(part)


def members(workspace: WorkspaceName, as_json: AsJson = False) -> None:
    """List the members of a workspace.

    Prints a line for each: user, role, since when.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().people.members(workspace)
    emit_json(found) if as_json else print_members(found)


def print_members(found: "list[answers.MemberView]") -> None:
    """Print a table of members."""
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    columns = (
        column(words("user", "用户"), least=8),
        column(words("role", "角色")),
        column(words("since", "加入时间")),
    )
    rows = [(one.user, role_in_words(one.role), clock(one.since)) for one in found]
    tables.show(columns, rows) if rows else print(words("No members.", "没有成员。"))


def add_member(workspace: WorkspaceName, user: UserName, role: Role = "member", as_json: AsJson = False) -> None:
    """Add somebody to a workspace, or give a member another role.

    Owners and admins manage members and may act on every job, members submit jobs, viewers look.

    Prints the user and the role.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().people.put_member(workspace, user, role)
    said = words(
        f"{made.user} is {made.role} of {made.workspace}",
        f"{made.user} 在 {made.workspace} 中的角色：{role_in_words(made.role)}",
    )
    emit_json(made) if as_json else print(said)


def remove_member(workspace: WorkspaceName, user: UserName, as_json: AsJson = False) -> None:
    """Remove somebody from a workspace; their jobs go on.

    Prints the user.
    """
    from trainmaster.cli.showing.console import emit_json

    client().people.remove_member(workspace, user)
    done = {"kind": "member", "workspace": workspace, "name": user, "deleted": True}
    said = words(f"{user} is no longer in {workspace}", f"{user} 已移出 {workspace}")
    emit_json(done) if as_json else print(said)
