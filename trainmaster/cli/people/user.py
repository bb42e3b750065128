"""Accounts: administrators create, lock and delete them."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Workspace, client, removed
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import role_in_words, words
from trainmaster.cli.people.keys import add_links

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.administration.people import Theirs

T = TypeVar("T")
ROLES = ("owner", "admin", "member", "viewer")
STATES = {"active": words("active", "正常"), "locked": words("locked", "已锁定")}
User = Annotated[
    str, typer.Argument(metavar="NAME", help=words("The user's name.", "用户名。"), autocompletion=completing.users)
]
Role = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="|".join(ROLES),
        help=words("Role in the workspace.", "在工作空间中的角色。"),
        autocompletion=completing.one_of(*ROLES),
    ),
]
TheirJobs = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        metavar="keep|stop",
        help=words(
            "What becomes of their jobs that have not ended: they go on, or are stopped.",
            "其未结束的任务如何处理：继续（keep）或停止（stop）。",
        ),
        show_default=words("asked", "询问"),
        autocompletion=completing.one_of("keep", "stop"),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "user", "Accounts of people.", "用户账户。", SERVER)
    add(
        part,
        create,
        "新建账户。\n\n输出用户名和一次性密码；密码只显示这一次，首次登录时必须更换。",
        "tm user add ann --workspace vision",
        "tm user add li --workspace vision --role admin",
        "tm user add root2 --platform-admin",
        name="add",
    )
    add(
        part,
        list_users,
        "列出账户。\n\n每行一个：名称、平台角色、状态、所在工作空间及角色。",
        "tm user list",
        name="list",
    )
    add(part, show, "显示一个账户。\n\n输出名称、平台角色、状态、所在工作空间及角色。", "tm user show ann")
    add(part, password, "重置密码；其会话随即结束。\n\n输出新的一次性密码。", "tm user password ann")
    add(
        part,
        lock,
        "锁定账户：会话结束，令牌被拒绝。\n\n输出名称和状态。",
        "tm user lock ann --jobs stop",
    )
    add(part, unlock, "解锁账户。\n\n输出名称和状态。", "tm user unlock ann")
    add(
        part,
        delete,
        "删除账户；其名称不再给其他人使用。\n\n输出已删除的名称。",
        "tm user delete ann --jobs stop",
    )
    add_links(part)


def create(
    name: Annotated[
        str,
        typer.Argument(help=words("1 to 32 lower-case letters, digits and . _ -", "1 至 32 个小写字母、数字和 . _ -")),
    ],
    workspace: Workspace = "default",
    role: Role = "member",
    platform_admin: Annotated[
        bool,
        typer.Option(
            "--platform-admin", help=words("May administer the whole platform.", "可管理整个平台。"), show_default=False
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create an account.

    Prints the name and the one-time password, which is shown this once and must be changed at the first sign-in.
    """
    from trainmaster.cli.showing.console import emit_json

    platform = "admin" if platform_admin else "user"
    made = client().people.add_user(name, role=platform, workspace=workspace, workspace_role=role)
    if as_json:
        emit_json(made)
        return
    _print_password(made.account.name, made.one_time_password)


def list_users(as_json: AsJson = False) -> None:
    """List accounts.

    Prints a line for each: name, role on the platform, state, workspaces with the role in each.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().people.users()
    emit_json(found) if as_json else _table(found)


def show(name: User, as_json: AsJson = False) -> None:
    """Show an account.

    Prints name, role on the platform, state, and workspaces with the role in each.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().people.user(name)
    emit_json(found) if as_json else _table([found])


def password(name: User, as_json: AsJson = False) -> None:
    """Give somebody a one-time password; their sessions end.

    Prints the name and the one-time password.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().people.reset_password(name)
    emit_json(made) if as_json else _print_password(made.name, made.one_time_password)


def lock(name: User, jobs: TheirJobs = None, as_json: AsJson = False) -> None:
    """Lock an account: its sessions end, its tokens are refused.

    Prints its name and state.
    """
    people = client().people
    _said(_asking(jobs, lambda theirs: people.lock(name, theirs)), as_json)


def unlock(name: User, as_json: AsJson = False) -> None:
    """Unlock an account.

    Prints its name and state.
    """
    _said(client().people.unlock(name), as_json)


def delete(name: User, jobs: TheirJobs = None, as_json: AsJson = False) -> None:
    """Delete an account; nobody else ever gets its name.

    Prints its name.
    """
    people = client().people
    _asking(jobs, lambda theirs: people.delete_user(name, theirs))
    removed("user", name, as_json)


def _asking(jobs: str | None, act: "Callable[[Theirs | None], T]") -> T:
    """Return what `act` does with what becomes of the jobs, which a terminal is asked for where it matters."""
    from trainmaster.core.errors import Conflict

    if jobs not in (None, "keep", "stop"):
        raise typer.BadParameter(words(f"{jobs!r} is not keep or stop", f"{jobs!r} 不是 keep 或 stop"))
    theirs = cast(Literal["keep", "stop"] | None, jobs)
    try:
        return act(theirs)
    except Conflict as error:
        if error.code != "jobs_not_ended" or theirs is not None or not sys.stdin.isatty():
            raise
        print(error.message, file=sys.stderr)
        stops = typer.confirm(words("Stop them?", "停止这些任务？"), default=None, err=True)
        return act("stop" if stops else "keep")


def _said(found: "answers.AccountView", as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    emit_json(found) if as_json else print(f"{found.name}  {STATES.get(found.state, found.state)}")


def _print_password(name: str, one_time: str) -> None:
    print(words(f"{name}  one-time password: {one_time}", f"{name}  一次性密码：{one_time}"))


def _table(found: "list[answers.AccountView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    columns = (
        column(words("user", "用户"), least=8),
        column(words("platform role", "平台角色")),
        column(words("state", "状态")),
        column(words("workspaces", "工作空间"), least=16, wraps=True),
    )
    rows = [
        (
            one.name,
            role_in_words(one.role, "platform_role"),
            STATES.get(one.state, one.state),
            words(", ", "，").join(
                words(f"{in_.workspace} ({in_.role})", f"{in_.workspace}（{role_in_words(in_.role)}）")
                for in_ in one.workspaces
            ),
        )
        for one in found
    ]
    tables.show(columns, rows)
