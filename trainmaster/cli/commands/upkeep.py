"""What everybody did, and, for administrators, what is removed by itself."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Limit, client, seconds
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.language import duration, told, words

if TYPE_CHECKING:
    from trainmaster import answers

ACTORS = ("person", "token", "job", "system")
SUBJECTS = {
    "job": words("job", "任务"),
    "pool": words("pool", "资源池"),
    "virtual_cluster": words("virtual cluster", "虚拟集群"),
    "workspace": words("workspace", "工作空间"),
    "flavor": words("flavor", "规格"),
    "node": words("node", "节点"),
    "policy": words("policy", "策略"),
    "person": words("person", "用户"),
    "template": words("template", "模板"),
    "image": words("image", "镜像"),
    "dataset": words("data set", "数据集"),
    "algorithm": words("algorithm", "算法"),
    "sweep": words("sweep", "参数扫描"),
    "volume": words("volume", "存储卷"),
    "model": words("model", "模型"),
}


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        audit,
        "列出对任务、资源池、工作空间、节点和用户所做的操作，最新的在前。\n\n"
        "每行一个：时间、谁、来自哪里、对什么、做了什么。平台管理员可查看全部，工作空间的所有者和管理员可查看本空间，"
        "其他人可查看自己的任务和账户。",
        "tm audit --since 7d",
        "tm audit pool:default --by ann",
        "tm audit --workspace vision --lines > vision.jsonl",
        panel=SERVER,
    )
    add(
        app,
        retention,
        "列出现在会自动清理哪些内容；查询本身不删除任何东西。仅限管理员。\n\n"
        "每行一条规则：保留多久、待清理数、大小、最早的一项。给出天数可试算其他设置；0 表示永久保留。",
        "tm retention",
        "tm retention --jobs-days 90",
        panel=SERVER,
    )


Of = Annotated[
    str,
    typer.Argument(
        metavar="[SUBJECT]",
        help=words(
            f"What it was done to: {', '.join(SUBJECTS)}, or one of them, such as pool:default.",
            f"操作对象：{'、'.join(SUBJECTS)}，或其中某一个，例如 pool:default。",
        ),
        show_default=words("all", "全部"),
        autocompletion=completing.one_of(*SUBJECTS),
    ),
]
By = Annotated[
    str, typer.Option(metavar="NAME", help=words("Who did it.", "操作者。"), show_default=words("anybody", "任何人"))
]
Kind = Annotated[
    str,
    typer.Option(
        help=words("What was done, as --json names it.", "操作种类，名称见 --json。"), show_default=words("all", "全部")
    ),
]
Since = Annotated[
    str, typer.Option(metavar="TIME", help=words("How far back, for example 12h or 7d.", "往前多久，例如 12h、7d。"))
]
Until = Annotated[
    str,
    typer.Option(metavar="TIME", help=words("Up to how long ago, for example 2d.", "截至多久以前，例如 2d。")),
]
InWorkspace = Annotated[
    str,
    typer.Option(
        metavar="NAME", help=words("Only of this workspace.", "仅限此工作空间。"), show_default=words("all", "全部")
    ),
]
How = Annotated[
    str,
    typer.Option(
        help=words(
            f"How it was done: {', '.join(ACTORS)}.",
            "操作来源：person（本人登录）、token（令牌）、job（为其他任务让位）、system（平台）。",
        ),
        show_default=words("all", "全部"),
        autocompletion=completing.one_of(*ACTORS),
    ),
]
Lines = Annotated[
    bool,
    typer.Option("--lines", help=words("Print all of it, a line of JSON each.", "输出全部记录，每行一个 JSON。")),
]


def audit(
    subject: Of = "",
    by: By = "",
    kind: Kind = "",
    since: Since = "",
    until: Until = "",
    workspace: InWorkspace = "",
    actor: How = "",
    limit: Limit = 50,
    lines: Lines = False,
    as_json: AsJson = False,
) -> None:
    """List what people did to jobs, pools, workspaces, nodes and people, newest first.

    Prints a line for each: when, who, from where, to what, what. Administrators read everything, owners and admins of
    a workspace what is in it, everybody what is theirs.
    """
    import time

    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json, print_lines
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    now = time.time()
    when: dict[str, Any] = {
        "after": now - seconds(since) if since else None,
        "before": now - seconds(until) if until else None,
    }
    wanted: dict[str, Any] = {"subject": subject, "by": by, "kind": kind, "workspace": workspace, "actor": actor}
    if lines:
        print_lines(client().admin.audit_lines(**wanted, **when))
        return
    found = client().admin.audit(**wanted, **when, limit=limit or None)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("when", "时间")),
        column(words("who", "操作者"), least=6),
        column(words("from", "来自"), leaves=1),
        column(words("to", "对象"), least=12),
        column(words("what", "操作"), least=24, wraps=True),
    )
    rows = [(clock(one.at), one.by or "-", _from(one), _subject(one), told(one.text)) for one in found]
    tables.show(columns, rows) if rows else print(words("Nobody did anything.", "没有操作记录。"))


def _from(one: "answers.AuditEventView") -> str:
    kinds = {"token": words("token", "令牌"), "job": words("job", "任务"), "system": words("platform", "平台")}
    parts = (kinds.get(one.actor.kind), one.actor.through, one.actor.address)
    return " ".join(part for part in parts if part)


def _subject(one: "answers.AuditEventView") -> str:
    name = f"{one.subject.title} ({one.subject.name[:9]})" if one.subject.title else one.subject.name
    return f"{SUBJECTS.get(one.subject.kind, one.subject.kind)} {name}"


Jobs = Annotated[
    float | None,
    typer.Option(
        "--jobs-days",
        min=0,
        metavar="DAYS",
        help=words("As if ended jobs were kept so long.", "假设已结束的任务保留这么久。"),
    ),
]
Logs = Annotated[
    float | None,
    typer.Option("--logs-days", min=0, metavar="DAYS", help=words("The same for their logs.", "同上，针对任务日志。")),
]
Audit = Annotated[
    float | None,
    typer.Option("--audit-days", min=0, metavar="DAYS", help=words("The same for the audit.", "同上，针对操作记录。")),
]
Uploads = Annotated[
    float | None,
    typer.Option(
        "--uploads-days", min=0, metavar="DAYS", help=words("The same for code folders.", "同上，针对代码文件夹。")
    ),
]
Keys = Annotated[
    float | None,
    typer.Option(
        "--keys-days",
        min=0,
        metavar="DAYS",
        help=words("The same for keys of requests.", "同上，针对请求的幂等键。"),
    ),
]

Bin = Annotated[
    float | None,
    typer.Option(
        "--bin-days", metavar="DAYS", help=words("The same for what is in the bin.", "同上，针对回收站中的内容。")
    ),
]


def retention(
    jobs: Jobs = None,
    logs: Logs = None,
    audit: Audit = None,
    uploads: Uploads = None,
    keys: Keys = None,
    deleted: Bin = None,
    as_json: AsJson = False,
) -> None:
    """List what would be removed by itself now; asking removes nothing. For administrators.

    Prints a line for each rule: how long things are kept, how many would go, their size, the oldest. Give days to try
    other settings; 0: kept for ever.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    days = {
        "jobs_days": jobs,
        "logs_days": logs,
        "audit_days": audit,
        "uploads_days": uploads,
        "keys_days": keys,
        "bin_days": deleted,
    }
    found = client().admin.retention(**{name: value for name, value in days.items() if value is not None})
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("rule", "规则")),
        column(words("kept for", "保留"), right=True),
        column(words("to remove", "待清理"), right=True),
        column("MiB", right=True, leaves=1),
        column(words("oldest", "最早"), leaves=2),
        column(words("what goes", "内容"), least=24, wraps=True),
    )
    rows = [
        (
            one.rule,
            words("ever", "永久") if one.after_s is None else duration(one.after_s),
            one.count,
            _mib(one),
            "" if one.oldest is None else clock(one.oldest),
            told(one.text),
        )
        for one in found
    ]
    tables.show(columns, rows)


def _mib(one: "answers.RetentionRule") -> str:
    more = "> " if 0 < one.measured < one.count else ""
    return f"{more}{one.size_bytes / 2**20:.1f}" if one.measured else ""
