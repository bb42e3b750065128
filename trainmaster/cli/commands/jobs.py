"""Looking at jobs: list, show, explain."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Jobs, Limit, client, each, seconds
from trainmaster.cli.helping import JOBS, add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.finding.filters import JobsAsked

T = TypeVar("T")
ORDERS: Final = {
    "submitted": ("submitted_at", True),
    "started": ("started_at", True),
    "ended": ("ended_at", True),
    "runtime": ("run_s", True),
    "gpus": ("gpus", True),
    "priority": ("priority", True),
    "name": ("name", False),
    "state": ("state", False),
    "owner": ("owner", False),
    "workspace": ("workspace", False),
    "pool": ("pool", False),
    "framework": ("framework", False),
    "tags": ("tags", False),
}
"""What a list is ordered by: as it is typed -> (the API's name, whether the largest or the latest comes first)."""
METRIC: Final = "metric:"
"""Before the name of a metric: by its last value, the highest first."""
NEWEST: Final = "submitted"
"""The order unless another one is given."""

Query = Annotated[
    str,
    typer.Argument(
        metavar="[TEXT]",
        help=words(
            "Words in name, id, slug, description, labels, commands or parameters.",
            "名称、ID、短名、描述、标签、命令或参数中的文字。",
        ),
    ),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        "-s",
        help=words("Only jobs in this state; repeatable.", "只列出该状态的任务；可重复。"),
        autocompletion=completing.states,
    ),
]

InSweep = Annotated[
    str,
    typer.Option(
        metavar="SWEEP",
        help=words("Only entries of this sweep.", "只列出该参数扫描的条目。"),
        autocompletion=completing.sweeps,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        list_jobs,
        "列出任务，最新的在前。\n\n每行一个任务：ID、名称、状态、所有者、副本、加速卡、运行时长、进度，以及排队或结束的原因。"
        "在管道中以制表符分隔，内容不截断。",
        "tm list",
        "tm list --mine --state running --state queued",
        "tm list lr=0.01 --label round=2 --since 7d --sort gpus --json",
        "tm list --algorithm resnet --flavor a100-1 --output results/vision",
        "tm list --view failures",
        name="list",
        panel=JOBS,
    )
    add(
        app,
        show,
        "显示任务的全部信息。\n\n输出状态、原因、资源、命令，以及每次运行中各副本的节点、加速卡和结束方式。",
        "tm show t826",
        "tm show t826 --json",
        panel=JOBS,
    )
    add(
        app,
        explain,
        "说明任务为何排队、何时开始，或为何这样结束。\n\n排队的任务：输出原因、队列位置、预计开始时间，以及可使其更早开始的命令。",
        "tm explain t826",
        panel=JOBS,
    )


Mine = Annotated[
    bool,
    typer.Option(
        "--mine/--all",
        help=words("Your own jobs, or everybody's that you may see.", "只看自己的，或看所有可见的任务。"),
    ),
]
Owner = Annotated[str, typer.Option(metavar="NAME", help=words("Only jobs of this person.", "只列出此人的任务。"))]
Workspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        "-w",
        help=words("Only jobs of this workspace.", "只列出该工作空间的任务。"),
        autocompletion=completing.workspaces,
    ),
]
Pool = Annotated[
    str,
    typer.Option(help=words("Only jobs of this pool.", "只列出该资源池的任务。"), autocompletion=completing.pools),
]
Framework = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=words("Only jobs of this framework.", "只列出该启动方式的任务。"),
        autocompletion=completing.frameworks,
    ),
]
Node = Annotated[
    str,
    typer.Option(
        help=words("Only jobs that run or ran on this node.", "只列出在该节点上运行过的任务。"),
        autocompletion=completing.nodes,
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        "-l",
        metavar="KEY[=VALUE]",
        help=words("Only jobs with this label; repeatable.", "只列出带该标签的任务；可重复。"),
    ),
]
Algorithm = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=words("Only jobs of this algorithm, or NAME@VERSION.", "只列出使用该算法的任务，可写 NAME@VERSION。"),
        autocompletion=completing.algorithms,
    ),
]
FavoriteAlgorithm = Annotated[
    bool,
    typer.Option(
        "--favorite-algorithm", help=words("Only of your favorite algorithms.", "只列出使用所收藏算法的任务。")
    ),
]
FlavorName = Annotated[
    str,
    typer.Option(
        "--flavor",
        metavar="NAME",
        help=words("Only jobs that ask for this flavor.", "只列出申请该规格的任务。"),
        autocompletion=completing.flavors,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        metavar="PLACE",
        help=words(
            "Only jobs whose results go here: CONNECTION/FOLDER, or the name of a model.",
            "只列出结果保存到此处的任务：CONNECTION/FOLDER，或模型名称。",
        ),
    ),
]
Since = Annotated[
    str,
    typer.Option(
        metavar="WHEN",
        help=words(
            "Submitted at or after: 7d (that long ago), 2026-03-01, or 2026-03-01T12:00 (UTC).",
            "在此之后提交：7d（多久以前）、2026-03-01 或 2026-03-01T12:00（UTC）。",
        ),
    ),
]
Until = Annotated[
    str, typer.Option(metavar="WHEN", help=words("Submitted before; written likewise.", "在此之前提交；写法相同。"))
]
Sort = Annotated[
    str,
    typer.Option(
        metavar="BY",
        help=words(
            f"Order: {', '.join(ORDERS)}, or {METRIC}NAME, the highest first.",
            f"排序：{'、'.join(ORDERS)}，或 {METRIC}名称（从高到低）。",
        ),
        autocompletion=completing.one_of(*ORDERS),
    ),
]
Tag = Annotated[
    list[str] | None,
    typer.Option(metavar="TAG", help=words("Only jobs with this tag; repeatable.", "只列带该标记的任务；可重复。")),
]
Favorite = Annotated[bool, typer.Option("--favorite", help=words("Only favorites.", "只列出收藏的任务。"))]
View = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=words(
            "Filters and order of this saved view; other options win.", "使用此视图的筛选和排序；其他选项优先。"
        ),
        autocompletion=completing.views,
    ),
]


def list_jobs(  # noqa: PLR0913, PLR0917 - every option is a parameter
    query: Query = "",
    search: Annotated[str, typer.Option(metavar="TEXT", help=words("The same as TEXT.", "与 TEXT 相同。"))] = "",
    mine: Mine = False,
    state: States = None,
    owner: Owner = "",
    workspace: Workspace = "",
    pool: Pool = "",
    framework: Framework = "",
    node: Node = "",
    label: Label = None,
    tag: Tag = None,
    favorite: Favorite = False,
    sweep: InSweep = "",
    algorithm: Algorithm = "",
    favorite_algorithm: FavoriteAlgorithm = False,
    flavor: FlavorName = "",
    output: Output = "",
    since: Since = "",
    until: Until = "",
    sort: Sort = NEWEST,
    reverse: Annotated[bool, typer.Option("--reverse", help=words("The other way round.", "反向排序。"))] = False,
    view: View = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first.

    Prints a line for each: id, name, state, owner, replicas, GPUs, run time, progress, and why it is queued or how it
    ended. In a pipe, cells are separated by tabs and nothing is cut.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.jobs import job_columns, job_row

    filters = {
        "q": " ".join(filter(None, (query, search))),
        "mine": mine, "state": [one.lower() for one in state or ()], "owner": owner, "workspace": workspace,
        "pool": pool, "framework": framework, "node": node, "label": label, "tag": tag, "favorite": favorite,
        "algorithm": algorithm, "favorite_algorithm": favorite_algorithm, "flavor": flavor, "output": output,
        "since": moment(since), "until": moment(until),
        "order": order_of(sort, reverse) if sort != NEWEST or reverse or not view else "",
    }  # fmt: skip
    server = client()
    filters["sweep"] = server.sweeps.get(sweep).id if sweep else ""
    saved = server.views.asked(view) if view else {}
    wanted = {**saved, **{name: value for name, value in filters.items() if value not in (None, "", [], False)}}
    found = [job.seen for job in server.iterate(limit or None, **cast("JobsAsked", wanted))]
    if as_json:
        emit_json(found)
    elif found:
        tables.show(job_columns(), map(job_row, found))
    else:
        print(words("No jobs.", "没有任务。"))


def order_of(sort: str, reverse: bool) -> str:
    """Return the API's order. Exits with a message for one that there is not."""
    if sort.startswith(METRIC) and sort != METRIC:
        return sort if reverse else f"-{sort}"
    if sort not in ORDERS:
        names = ", ".join((*ORDERS, f"{METRIC}NAME"))
        raise typer.BadParameter(
            words(f"no order {sort!r}; there are {names}", f"没有排序方式 {sort!r}；可用：{names}")
        )
    name, down = ORDERS[sort]
    return f"-{name}" if down != reverse else name


def moment(text: str) -> float | None:
    """Return a point in time: so long ago, or a date in UTC. Exits with a message for anything else."""
    from contextlib import suppress
    from datetime import UTC, datetime

    if not text:
        return None
    with suppress(ValueError):
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    return time.time() - seconds(text)


def show(jobs: Jobs, as_json: AsJson = False) -> None:
    """Show everything about jobs.

    Prints state, reason, resources and command, and for each attempt node, GPUs and end of every replica.
    """
    from trainmaster.cli.showing.jobs import model_name, show_job

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).detail)
    print_each(found, as_json, lambda job: show_job(job, server.url, model_name(server, job.model)))
    leave(good)


def explain(jobs: Jobs, as_json: AsJson = False) -> None:
    """Say why jobs are queued and when they start, or why they ended as they did.

    Of a queued job it prints the reason, its position, the expected start, and what to type that it starts sooner.
    """
    from trainmaster.cli.showing.console import e, plain, say
    from trainmaster.cli.showing.jobs import state_name, state_text
    from trainmaster.cli.showing.waiting import changing, ending, remedy_lines, waiting_lines

    server = client()

    def one(ref: str) -> "tuple[answers.JobView, answers.Explanation]":
        job = server.get(ref)
        return job.seen, job.explain()

    def tell(found: "tuple[answers.JobView, answers.Explanation]") -> None:
        job, why = found
        say(f"{job.id[:12]}  {e(job.name)}  {state_text(why.state)}")
        went_wrong = why.state in ("failed", "expired", "retained")
        helps = [] if went_wrong else waiting_lines(why, partial(changing, job.id))
        ended = [text for text in ending(why) if text != state_name(why.state)]
        lines = [*helps, *ended, *(remedy_lines(why, job.id) if went_wrong else [])]
        if not lines and why.verdict is None:
            lines = [words("nothing stands in its way", "没有阻碍它的因素")]
        for text in lines:
            say(f"  {e(text)}")

    def shape(found: "tuple[answers.JobView, answers.Explanation]") -> dict[str, Any]:
        job, why = found
        return {"id": job.id, "name": job.name, "attempts": job.attempts, "tasks": job.tasks, **plain(why)}

    found, good = each(jobs, one)
    print_each(found, as_json, tell, shape)
    leave(good)


def print_each(
    found: list[T], as_json: bool, tell: Callable[[T], None], shape: Callable[[T], Any] = lambda one: one
) -> None:
    """Print results by `tell`, or in their `shape` as JSON: one job as an object, several as a list."""
    from trainmaster.cli.showing.console import emit_json

    if as_json:
        emit_json(shape(found[0]) if len(found) == 1 else [shape(one) for one in found])
        return
    for one in found:
        tell(one)


def leave(good: bool) -> None:
    """Exit with 1 where not all went well."""
    if not good:
        sys.exit(1)
