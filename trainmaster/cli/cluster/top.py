"""The whole cluster at a glance, and the console: top, open."""

import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import CLUSTER, SERVER, add
from trainmaster.cli.language import told, used_memory, words

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        top,
        "持续显示节点和未结束的任务，按 Ctrl-C 离开。\n\n上方每行一个节点：CPU、内存、加速卡的占用；下方每行一个任务。",
        "tm top",
        "tm top --once",
        panel=CLUSTER,
    )
    add(
        app,
        open_console,
        "在浏览器中打开控制台。\n\n输出其地址；没有浏览器时只输出地址。",
        "tm open",
        "tm open t826",
        name="open",
        panel=SERVER,
    )


def top(
    once: Annotated[bool, typer.Option("--once", help=words("Print once and leave.", "只输出一次。"))] = False,
    every: Annotated[
        float,
        typer.Option(min=0.5, metavar="SECONDS", help=words("Refresh every so many seconds.", "刷新间隔（秒）。")),
    ] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Show nodes and live jobs, refreshed until Ctrl-C.

    Above a line for each node: use of CPU, memory and GPUs; below a line for each job.
    """
    from trainmaster.cli.showing.console import emit_json, plain
    from trainmaster.cli.showing.jobs import LIVE

    server = client()

    def look() -> tuple["answers.ClusterView", list["answers.JobView"]]:
        return server.cluster(), [job.seen for job in server.iterate(40, state=[*LIVE])]

    if as_json or once or not sys.stdout.isatty():
        cluster, jobs = look()
        if as_json:
            emit_json({**plain(cluster), "jobs": jobs})
        else:
            _print(cluster, jobs)
        return
    _watch(lambda width: _screen(*look(), width), every)


def _watch(picture: Callable[[int], Any], every: float) -> None:
    """Fill the screen with `picture` of its width, anew every so many seconds, until Ctrl-C; then it is as before."""
    from rich.live import Live

    from trainmaster.cli.showing.console import console

    out, left = console(), False

    def leave(*_: object) -> None:
        nonlocal left
        left = True  # what is raised may be lost, where it comes while the garbage collector is at work
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, leave)
    live: Live | None = None
    try:
        live = Live(picture(out.width), screen=True, auto_refresh=False, console=out)
        live.start(refresh=True)
        while not left:
            time.sleep(every)
            live.update(picture(out.width), refresh=True)
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGINT, before)
        if live is not None:
            live.stop()


def _print(cluster: "answers.ClusterView", jobs: "Sequence[answers.JobView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.jobs import job_columns, job_row

    print(_head(cluster))
    print()
    tables.show(_node_columns(), map(_node_row, cluster.nodes))
    print()
    tables.show(job_columns(), map(job_row, jobs))


def _screen(cluster: "answers.ClusterView", jobs: "Sequence[answers.JobView]", width: int) -> Any:
    from rich.console import Group
    from rich.text import Text

    from trainmaster.cli.showing.jobs import job_columns, job_row
    from trainmaster.cli.showing.tables import drawn

    nodes = drawn(_node_columns(), [_node_row(node) for node in cluster.nodes], width)
    below = drawn(job_columns(), [job_row(job) for job in jobs], width)
    leave = (words("; Ctrl-C leaves\n", "；按 Ctrl-C 退出\n"), "bright_black")
    return Group(Text.assemble((_head(cluster), "bold"), leave, no_wrap=True), *nodes, Text(""), *below)


def _head(cluster: "answers.ClusterView") -> str:
    queue, kind = cluster.queue, cluster.sandbox.kind
    return words(
        f"{queue.running} running, {queue.waiting} queued, sandbox {kind}",
        f"运行中 {queue.running}，排队 {queue.waiting}，沙箱 {kind}",
    )


def _node_columns() -> list[Any]:
    from trainmaster.cli.showing.tables import column

    return [
        column(words("node", "节点"), least=8),
        column(words("address", "地址"), least=8, leaves=2),
        column("CPU"),
        column(words("memory", "内存")),
        column(words("GPUs", "加速卡"), right=True),
        column(words("replicas", "副本"), right=True, leaves=1),
        column(words("note", "备注"), least=12),
    ]


def _node_row(node: "answers.NodeView") -> tuple[Any, ...]:
    held = sum(use.share for card in node.gpus for use in card.uses)
    closed = told(node.reason) if node.reason is not None else words("out of service", "停止调度")
    return (
        node.name,
        node.host,
        f"{_bar(node.cpu)} {node.cpu.used:.3g}/{node.cpu.total:.3g}",
        f"{_bar(node.memory_mib)} {used_memory(node.memory_mib.used, node.memory_mib.total)}",
        f"{held:g}/{len(node.gpus)}",
        len(node.tasks),
        "" if node.schedulable else closed,
    )


def _bar(amount: "answers.Used") -> str:
    full = min(8, round(8 * amount.used / (amount.total or 1)))
    return "█" * full + "░" * (8 - full)


def open_console(
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="[JOB]",
            help=words("Open the page of this job.", "打开该任务的页面。"),
            autocompletion=completing.jobs,
        ),
    ] = None,
    print_only: Annotated[bool, typer.Option("--print", help=words("Only print the address.", "只输出地址。"))] = False,
    as_json: AsJson = False,
) -> None:
    """Open the console in a browser.

    Prints its address, and only that where there is no browser.
    """
    import os
    import webbrowser

    from trainmaster.cli.showing.console import emit_json

    server = client()
    url = server.url if job is None else server.get(job).url
    emit_json({"url": url}) if as_json else print(url)
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    if desktop and not print_only and not as_json:
        webbrowser.open(url)
