"""Nodes: what they are, and in and out of service."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, OwnWorkspace, client, demand_known, workspace_of
from trainmaster.cli.helping import CLUSTER, add, group
from trainmaster.cli.language import counted, told, used_memory, words
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

Name = Annotated[
    str,
    typer.Argument(
        metavar="NODE",
        help=words("Its name, as tm node list shows it.", "节点名称，见 tm node list。"),
        autocompletion=completing.nodes,
    ),
]
Why = Annotated[str, typer.Option("--note", "-n", help=words("Why; shown with the node.", "原因，会与节点一起显示。"))]
EVICT = ("none", "preemptible", "all")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app, "node", "Nodes: see them, take them out of service and back.", "节点：查看，停止或恢复调度。", CLUSTER
    )
    add(
        part,
        list_nodes,
        "列出节点及其占用。\n\n每行一个节点：资源池、是否可调度、是否有空闲、驱动、CPU、内存、加速卡、备注。",
        "tm node list",
        "tm node list --fits a100",
        name="list",
    )
    add(
        part,
        show,
        "显示一个节点，以及谁在使用它的加速卡。\n\n每行一项信息，最后每张加速卡一行。",
        "tm node show node-1",
    )
    add(
        part,
        cordon,
        "停止在节点上启动新任务；已在运行的继续运行。\n\n输出节点的新状态。",
        'tm node cordon node-1 --note "new fan"',
    )
    add(part, uncordon, "恢复在节点上调度。\n\n输出节点的新状态。", "tm node uncordon node-1")
    add(
        part,
        drain,
        "停止在节点上启动新任务，并等它清空。\n\n可让部分任务回到队列。输出节点的新状态和其上的任务数。",
        "tm node drain node-1",
        "tm node drain node-1 --evict all",
    )
    add(
        part, move, "把节点移到另一个资源池；其上的任务继续运行。\n\n输出节点的新状态。", "tm node move node-1 research"
    )


def list_nodes(
    fits: Annotated[
        list[str] | None,
        typer.Option(
            "--fits",
            metavar="FLAVOR",
            help=words("Only nodes that fit this flavor; repeatable.", "只列出适合该规格的节点；可重复。"),
            autocompletion=completing.flavors,
        ),
    ] = None,
    workspace: OwnWorkspace = "",
    as_json: AsJson = False,
) -> None:
    """List nodes with what is used of them.

    Prints a line for each: pool, whether it is in service, whether it has room, driver, cores, memory, GPUs, note. The
    flavors of --fits are those of the workspace.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    server = client()
    admin, workspace = server.admin, workspace_of(server, workspace)
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.resources(fits or [], workspace).nodes
    if as_json:
        emit_json(found)
        return
    if not found:
        print(words("No node fits.", "没有适合的节点。"))
        return
    columns = (
        column(words("node", "节点"), least=8),
        column(words("pool", "资源池"), least=6, leaves=2),
        column(words("service", "调度")),
        column(words("room", "空闲情况"), leaves=1),
        column(words("driver", "驱动"), leaves=4),
        column(words("cores", "CPU（核）"), right=True),
        column(words("memory", "内存"), right=True),
        column(words("GPUs", "加速卡"), least=10),
        column(words("note", "备注"), least=10),
    )
    rows = [
        (
            one.name,
            one.pool,
            service_cell(one.service),
            _room(one.state),
            one.driver,
            fraction(one.cpu),
            used_memory(one.memory_mib.used, one.memory_mib.total),
            cards(one),
            why_away(one),
        )
        for one in found
    ]
    tables.show(columns, rows)


def show(node: Name, as_json: AsJson = False) -> None:
    """Show one node and who uses its GPUs.

    Prints a line for each fact, then one for each GPU.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().admin.node(node)
    emit_json(found) if as_json else _tell(found)


def cordon(node: Name, note: Why = "", as_json: AsJson = False) -> None:
    """Stop scheduling onto a node; running jobs continue.

    Prints the node's new state.
    """
    _print_node(client().admin.cordon(node, note), as_json)


def uncordon(node: Name, as_json: AsJson = False) -> None:
    """Schedule onto a node again.

    Prints the node's new state.
    """
    _print_node(client().admin.uncordon(node), as_json)


def drain(
    node: Name,
    note: Why = "",
    evict: Annotated[
        str,
        typer.Option(
            metavar="|".join(EVICT),
            help=words("Jobs that go back to the queue.", "回到队列的任务。"),
            autocompletion=completing.one_of(*EVICT),
        ),
    ] = "preemptible",
    as_json: AsJson = False,
) -> None:
    """Stop scheduling onto a node and let it become empty.

    Some of its jobs may go back to the queue. Prints the node's new state and how many jobs are on it.
    """
    _print_node(client().admin.drain(node, note, evict), as_json)


def move(
    node: Name,
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL", help=words("The pool to move it to.", "目标资源池。"), autocompletion=completing.pools
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Move a node to another pool; running jobs continue.

    Prints the node's new state.
    """
    _print_node(client().admin.move_node(node, pool), as_json)


def _print_node(found: "answers.NodeDetail", as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    if as_json:
        emit_json(found)
        return
    pool, state = words(f"pool {found.pool}", f"资源池 {found.pool}"), service_cell(found.service).text
    jobs = counted(found.jobs, "job", "jobs", "个任务")
    left = words(f", {jobs} on it", f"，其上有 {jobs}") if found.jobs else ""
    print(visible(f"{found.name}  {state}  {pool}{left}"))


def _tell(found: "answers.NodeDetail") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import e, say

    none = words("none", "无")
    service = (service_cell(found.service).text, why_away(found), found.by and f"({found.by})")
    facts: list[tuple[str, Any]] = [
        (words("service", "调度"), e(" ".join(filter(None, service)))),
        (words("pool", "资源池"), e(found.pool)),
        (words("address", "地址"), e(found.host)),
        (words("system", "操作系统"), e(found.os)),
        (words("kernel", "内核"), e(found.kernel)),
        (words("driver", "驱动"), e(found.driver or none)),
        (words("containers", "容器"), e(found.facts.get("containers") or none)),
        (words("cores", "CPU（核）"), fraction(found.cpu)),
        (words("memory", "内存"), used_memory(found.memory_mib.used, found.memory_mib.total)),
        (words("GPUs", "加速卡"), e(cards(found) or none)),
        *((f"GPU {use.index}", e(use.label)) for use in found.usage),
    ]
    say(f"[bold]{e(found.name)}[/]")
    tables.facts(facts)


def service_cell(service: str) -> "Any":
    """Return whether a node is scheduled onto, by its name, in its tone."""
    from trainmaster.cli.showing.tables import Cell

    known = {
        "in_service": (words("In service", "可调度"), "green"),
        "cordoned": (words("Cordoned", "停止调度"), "amber"),
        "draining": (words("Draining", "排空中"), "amber"),
        "drained": (words("Drained", "已排空"), "grey"),
    }
    return Cell(*known.get(service, (service, "")))


def _room(state: str) -> str:
    known = {
        "idle": words("Room now", "可立即运行"),
        "free": words("Has room", "有空闲"),
        "tight": words("Full", "已满"),
        "full": words("Full", "已满"),
    }
    return known.get(state, state)


def why_away(found: "answers.NodeDetail") -> str:
    """Return what its administrators say about a node, else why its engine starts nothing there."""
    return found.note or (told(found.reason) if found.reason is not None else "")


def fraction(amount: "answers.Used") -> str:
    """Return used/total."""
    return f"{amount.used:.3g}/{amount.total:.3g}"


def cards(found: "answers.NodeDetail") -> str:
    """Return the GPUs of a node by model."""
    return ", ".join(f"{one.used:g}/{one.total} {one.model}" for one in found.cards)
