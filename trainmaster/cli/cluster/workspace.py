"""Workspaces: weights, quotas, limits of urgent jobs."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.cluster.members import add_members, print_members
from trainmaster.cli.cluster.personal import PerPerson, Person, add_limits, people_of, personal_lines
from trainmaster.cli.cluster.pool import LIMITS, read_limits, shares, warn
from trainmaster.cli.cluster.storage import Files, Storage, quota_of, storage_lines
from trainmaster.cli.context import AsJson, client, demand_known, removed
from trainmaster.cli.helping import CLUSTER, add, group
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers

WorkspaceName = Annotated[
    str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"), autocompletion=completing.workspaces)
]
Description = Annotated[str | None, typer.Option("--description", help=words("What it is for.", "用途说明。"))]
SHARING = ("off", "open", "required")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app,
        "workspace",
        "Workspaces: weights, quotas, limits of urgent jobs.",
        "工作空间：权重、配额、紧急任务上限。",
        CLUSTER,
    )
    add(
        part,
        list_workspaces,
        "列出工作空间及其配额的使用情况。\n\n每行一个：权重、紧急任务、配额、排队数、运行数。",
        "tm workspace list",
        name="list",
    )
    add(
        part,
        create_workspace,
        "新建工作空间，可同时指定所有者；配额和权重之后用 tm workspace set 设置。\n\n输出名称。",
        "tm workspace create vision --owner ann",
        name="create",
    )
    add(
        part,
        show_workspace,
        "显示一个工作空间及其成员。\n\n输出权重、紧急任务、配额、排队数、运行数、存储用量及配额，以及成员。",
        "tm workspace show vision",
        name="show",
    )
    add(
        part,
        set_workspace,
        "新建或修改工作空间；未指定的保持不变。\n\n输出权重、紧急任务上限、规则和配额；配额低于现有占用时给出提醒。",
        "tm workspace set vision --weight 2 --urgent-per-user 3 gpu=8:16",
        "tm workspace set vision --storage 2TiB --files 5000000 --per-person storage=200GiB",
        name="set",
    )
    add(
        part,
        delete_workspace,
        "删除无人使用的工作空间。\n\n输出已删除的名称。",
        "tm workspace delete vision",
        name="delete",
    )
    add_limits(part)
    add_members(part)


def list_workspaces(as_json: AsJson = False) -> None:
    """List workspaces with what counts against their limits.

    Prints a line for each: weight, urgent jobs, quotas, how many jobs are queued and running.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().admin.workspaces()
    if as_json:
        emit_json(found)
        return
    _table(found)


def _table(found: "list[answers.WorkspaceView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    columns = (
        column(words("workspace", "工作空间"), least=8),
        column(words("weight", "权重"), right=True),
        column(words("urgent jobs", "紧急任务"), leaves=1),
        column(words("quotas", "配额"), least=16, wraps=True),
        column(words("queued", "排队"), right=True),
        column(words("running", "运行"), right=True),
    )
    rows = [(one.name, f"{one.weight:g}", _urgent(one.urgent), _quotas(one), one.waiting, one.running) for one in found]
    tables.show(columns, rows)


def create_workspace(
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"))],
    owner: Annotated[
        str | None,
        typer.Option(help=words("Who owns it.", "所有者。"), autocompletion=completing.users, show_default=False),
    ] = None,
    description: Description = None,
    as_json: AsJson = False,
) -> None:
    """Create a workspace; weight and quotas are set with tm workspace set.

    Prints its name.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.core.errors import Conflict
    from trainmaster.messages.cluster.cluster import workspace_taken

    server = client()
    if any(one.name == name for one in server.admin.workspaces()):
        raise Conflict(workspace_taken(name))
    if owner is not None:
        server.people.user(owner)  # or there would be a workspace without the owner that was asked for
    made = server.admin.put_workspace(name, description=description or "")
    if owner is not None:
        server.people.put_member(name, owner, "owner")
    emit_json(made) if as_json else print(made.name)


def show_workspace(name: WorkspaceName, as_json: AsJson = False) -> None:
    """Show a workspace and its members.

    Prints weight, urgent jobs, quotas, how many jobs are queued and running, what is kept and may be, and the members.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    found = server.admin.workspaces()
    demand_known("workspace", name, found)
    one, theirs = next(one for one in found if one.name == name), server.people.members(name)
    if as_json:
        emit_json({"workspace": one, "members": theirs})
        return
    _table([one])
    if one.require_duration:
        print(words("each job needs a time limit", "每个任务必须设置运行时限"))
    for line in (*personal_lines(one), *storage_lines(one, people=True)):
        print(line)
    print()
    print_members(theirs)


Pool = Annotated[
    str,
    typer.Option(
        help=words("The pool of the quota; quotas of other pools stay.", "配额所属的资源池；其他资源池的配额不变。"),
        autocompletion=completing.pools,
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        help=words("Its part of the cluster, relative to others.", "相对于其他工作空间的份额。"),
        show_default=words("unchanged, or 1", "不变，或 1"),
    ),
]
UrgentPerUser = Annotated[
    int | None,
    typer.Option(min=-1, help=words("Urgent jobs of one person; -1: any number.", "每人的紧急任务数；-1 表示不限。")),
]
UrgentTotal = Annotated[
    int | None,
    typer.Option(min=-1, help=words("Urgent jobs of all together; -1: any number.", "紧急任务总数；-1 表示不限。")),
]

SharingRule = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(SHARING),
        autocompletion=completing.one_of(*SHARING),
        help=words(
            "Whether members may share jobs; required: each submit says how.",
            "成员之间能否共享任务；required 表示提交时必须选择。",
        ),
        show_default=words("unchanged, or open", "不变，或 open"),
    ),
]


RequireDuration = Annotated[
    bool | None,
    typer.Option(
        "--require-duration/--no-require-duration",
        help=words(
            "Whether a job without a time limit of its own is refused.",
            "是否拒绝未设置运行时限的任务。",
        ),
        show_default=words("unchanged, or no", "不变，或否"),
    ),
]


def set_workspace(  # noqa: PLR0913, PLR0917 - every option is a parameter
    name: WorkspaceName,
    limits: Annotated[list[str] | None, typer.Argument(metavar="[RESOURCE=GUARANTEED[:MOST]]...", help=LIMITS)] = None,
    pool: Pool = "default",
    weight: Weight = None,
    urgent_per_user: UrgentPerUser = None,
    urgent_total: UrgentTotal = None,
    sharing: SharingRule = None,
    require_duration: RequireDuration = None,
    per_person: PerPerson = None,
    person: Person = None,
    storage: Storage = None,
    files: Files = None,
    description: Description = None,
    as_json: AsJson = False,
) -> None:
    """Create or change a workspace; what is not named stays.

    Prints weight, limits of urgent jobs, rules and quotas, and a warning where more than a quota is used already.
    """
    from trainmaster.cli.showing.console import emit_json

    admin = client().admin
    known = next((one for one in admin.workspaces() if one.name == name), None)
    quotas = {
        quota.pool: {share.resource: (share.nominal, share.cap) for share in quota.share}
        for quota in (known.quotas if known is not None else ())
    }
    if limits:
        quotas[pool] = read_limits(limits)
    if known is not None:
        weight = known.weight if weight is None else weight
        description = known.description if description is None else description
        sharing = sharing or known.sharing
        require_duration = known.require_duration if require_duration is None else require_duration
    made = admin.put_workspace(
        name,
        weight=1.0 if weight is None else weight,
        quotas=quotas,
        urgent_per_user=_limit(urgent_per_user, known.urgent.per_user if known is not None else None),
        urgent_total=_limit(urgent_total, known.urgent.total if known is not None else None),
        description=description or "",
        sharing=sharing or "open",
        require_duration=require_duration or False,
        storage=quota_of(known, storage, files),
        **people_of(known, pool, per_person, person or []),
    )
    emit_json(made) if as_json else _print_set(made)


def _print_set(made: "answers.WorkspaceView") -> None:
    urgent, quota_text = _urgent(made.urgent), _quotas(made) or words("none", "无")
    limit = words("required", "必填") if made.require_duration else words("optional", "可选")
    said = words(
        f"weight {made.weight:g}  urgent jobs {urgent}  sharing {made.sharing}  time limit {limit}",
        f"权重 {made.weight:g}  紧急任务 {urgent}  共享 {made.sharing}  运行时限 {limit}",
    )
    print(f"{made.name}  {said}  {words('quotas', '配额')} {quota_text}")
    for line in (*personal_lines(made), *storage_lines(made)):
        print(line)
    for quota in made.quotas:
        warn(quota.pool, quota.share)


def delete_workspace(name: WorkspaceName, as_json: AsJson = False) -> None:
    """Delete a workspace that nobody uses.

    Prints its name.
    """
    client().admin.delete_workspace(name)
    removed("workspace", name, as_json)


def _limit(given: int | None, known: int | None) -> int | None:
    if given is None:
        return known
    return None if given < 0 else given


def _quotas(found: "answers.WorkspaceView") -> str:
    return words("; ", "；").join(f"{quota.pool}{words(': ', '：')}{shares(quota.share)}" for quota in found.quotas)


def _urgent(urgent: "answers.UrgentView") -> str:
    limits = [words(f"at most {urgent.total}", f"上限 {urgent.total}")] if urgent.total is not None else []
    if urgent.per_user is not None:
        limits.append(words(f"{urgent.per_user} per person", f"每人 {urgent.per_user}"))
    said = words(", ", "，").join(limits) or words("no limit", "不限")
    return words(f"{urgent.used} ({said})", f"{urgent.used}（{said}）")
