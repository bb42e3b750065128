"""What if? The queue on a recorded workload: simulate."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import CLUSTER, add
from trainmaster.cli.language import counted, duration, words

if TYPE_CHECKING:
    from trainmaster.core.records import Node
    from trainmaster.queue.ordering.rights import Rights
    from trainmaster.simulate.metrics import SimulationSummary
    from trainmaster.simulate.run import Progress, SimulationOutcome, SimulationSetting
    from trainmaster.simulate.workload import Workload

Trace = Annotated[
    str | None,
    typer.Argument(
        metavar="[TRACE]",
        help=words("A workload: CSV or SWF, also with gzip.", "任务记录：CSV 或 SWF，可用 gzip 压缩。"),
    ),
]
Cluster = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        help=words(
            "Nodes: NODESxGPUS such as 64x8, or a .yaml or .csv file; repeatable.",
            "节点：节点数x每节点加速卡数，例如 64x8；或 .yaml、.csv 文件；可重复。",
        ),
    ),
]
PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        help=words(
            "NAME or NAME:key=value,...; repeat it to compare.", "NAME 或 NAME:key=value,...；重复给出以作比较。"
        ),
        show_default="default",
    ),
]
History = Annotated[
    bool,
    typer.Option(
        "--history",
        help=words("Take the jobs that have ended on the server as the workload.", "以服务器上已结束的任务作为记录。"),
    ),
]
AddNodes = Annotated[
    str | None,
    typer.Option(
        help=words(
            "Also with more nodes: a number of nodes like the last one, or 4x8.",
            "另算增加节点后的结果：与最后一个节点相同的若干个，或 4x8。",
        )
    ),
]
Quotas = Annotated[
    list[str] | None,
    typer.Option(
        "--quota",
        help=words(
            "Also with another quota: WORKSPACE[@POOL]:RESOURCE=GUARANTEED[:MOST],...; repeatable.",
            "另算改变配额后的结果：WORKSPACE[@POOL]:RESOURCE=保障[:上限],...；可重复。",
        ),
    ),
]
Shares = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        help=words(
            "Also with another virtual cluster: NAME[@POOL]:RESOURCE=GUARANTEED[:MOST],...; repeatable.",
            "另算改变虚拟集群后的结果：NAME[@POOL]:RESOURCE=保障[:上限],...；可重复。",
        ),
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        help=words(
            "Also with another weight: WORKSPACE=WEIGHT; repeatable.", "另算改变权重后的结果：WORKSPACE=权重；可重复。"
        ),
    ),
]
LIMITS: Final = ("auto", "recorded", "exact", "loose", "none")
Limits = Annotated[
    str,
    typer.Option(
        metavar="|".join(LIMITS),
        help=words("What the queue knows of run times.", "队列对运行时间的了解程度。"),
        show_default=True,
        autocompletion=completing.one_of(*LIMITS),
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="NODE@WHEN+HOW_LONG",
        help=words("A node that fails, such as node-3@2d+6h; repeatable.", "节点故障，例如 node-3@2d+6h；可重复。"),
    ),
]
StartCost = Annotated[
    str,
    typer.Option(help=words("What every start costs before it works, such as 30s.", "每次启动的额外耗时，例如 30s。")),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=words(
            "A file to write: .html a report with charts, .csv a line for each job and policy; repeatable.",
            "要写入的文件：.html 为带图的报告，.csv 为每个任务和策略一行；可重复。",
        ),
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        simulate,
        "在虚拟时钟上让任务记录通过队列，比较策略或节点。\n\n每个策略一行：等待、完成时间、分配率、公平性；再按任务大小列出等待时间。",
        "tm simulate jobs.csv --cluster 64x8 --policy default --policy fifo-strict -o report.html",
        "tm simulate --history --add-nodes 4",
        panel=CLUSTER,
    )


def simulate(  # noqa: PLR0913, PLR0917 - every option is a parameter
    trace: Trace = None,
    cluster: Cluster = None,
    policy: PolicyNames = None,
    history: History = False,
    add_nodes: AddNodes = None,
    quota: Quotas = None,
    share: Shares = None,
    weight: Weights = None,
    limits: Limits = "auto",
    start_cost: StartCost = "0s",
    fault: Faults = None,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Run a recorded workload through the queue on a virtual clock, to compare policies or clusters.

    Prints a line for each policy: waits, completion, allocation, fairness; then the waits by size of job.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.simulate.compare import compare, more_nodes
    from trainmaster.simulate.metrics import summarise
    from trainmaster.simulate.rights import changed_rights
    from trainmaster.simulate.rows import to_json

    _check_outputs(output or ())
    work, nodes, rights = _history(cluster) if history else _recorded(trace, cluster)
    wanted = _settings(policy or ["default"], limits, start_cost, fault or (), nodes, rights)
    changes = [more_nodes(add_nodes)] if add_nodes is not None else []
    changes += changed_rights(quota or (), share or (), weight or (), work, rights)
    outcomes: list[SimulationOutcome] = []
    with _progress() as line:
        for outcome in compare(work, nodes, wanted, changes, line):
            outcomes.append(outcome)
    summaries = [summarise(outcome) for outcome in outcomes]
    emit_json(to_json(work, outcomes, summaries)) if as_json else _show(work, outcomes, summaries)
    for path in output or ():
        _write(work, outcomes, path)


def _recorded(trace: str | None, cluster: list[str] | None) -> "tuple[Workload, tuple[Node, ...], Rights]":
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.server import client as sayings
    from trainmaster.queue.ordering.rights import Rights
    from trainmaster.simulate.clusters import parse_cluster
    from trainmaster.simulate.traces import read_trace
    from trainmaster.simulate.workload import NodeSize

    if trace is None or not cluster:
        raise InvalidSpec(sayings.nothing_to_simulate())
    nodes = parse_cluster(cluster)
    return read_trace(trace, NodeSize.of(nodes)), nodes, Rights()


def _history(cluster: list[str] | None) -> "tuple[Workload, tuple[Node, ...], Rights]":
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.server import client as sayings
    from trainmaster.simulate.clusters import parse_cluster
    from trainmaster.simulate.history import from_history, nodes_of, rights_of

    server = client()
    work = from_history(server.admin.history())
    if not work.jobs:
        raise InvalidSpec(sayings.no_history_yet())
    nodes = parse_cluster(cluster) if cluster else nodes_of(server.cluster())
    return work, nodes, rights_of(server.admin.workspaces(), server.admin.virtual_clusters())


def _settings(
    policies: "Sequence[str]",
    limits: str,
    start_cost: str,
    faults: "Sequence[str]",
    nodes: "Sequence[Node]",
    rights: "Rights",
) -> "list[SimulationSetting]":
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.core.formats.units import NotRead, parse_duration_s
    from trainmaster.messages.server import client as sayings
    from trainmaster.simulate.compare import settings
    from trainmaster.simulate.run import parse_fault

    names = {node.name for node in nodes}
    try:
        return settings(
            policies,
            limits,
            int(parse_duration_s(start_cost)),
            tuple(parse_fault(text, names) for text in faults),
            rights,
        )
    except NotRead as error:
        raise InvalidSpec(sayings.cost_or_fault_not_read(error.said)) from error


@contextlib.contextmanager
def _progress() -> "Iterator[Callable[[str], Progress]]":
    """Give a function that opens a line of the progress display for one policy; nothing is drawn outside a terminal."""
    if not sys.stderr.isatty():
        yield lambda label: lambda done, jobs: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

        def line(label: str) -> "Progress":
            task = bars.add_task(label, total=None)

            def tell(done: int, jobs: int) -> None:
                bars.update(task, completed=done, total=jobs)

            return tell

        yield line


def _check_outputs(outputs: "Sequence[str]") -> None:
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.server import client as sayings

    for path in outputs:
        if not path.endswith((".html", ".csv")):
            raise InvalidSpec(sayings.unknown_kind_of_output(path))
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise InvalidSpec(sayings.no_folder_for_output(path))


def _write(work: "Workload", outcomes: "Sequence[SimulationOutcome]", path: str) -> None:
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.messages.server import client as sayings
    from trainmaster.simulate.report import html
    from trainmaster.simulate.rows import write_csv

    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(html(work, outcomes)) if path.endswith(".html") else write_csv(file, outcomes)
    except OSError as error:
        raise InvalidSpec(sayings.output_not_written(path, error.strerror or str(error))) from error
    print(words(f"wrote {path}", f"已写入 {path}"), file=sys.stderr)


def _show(work: "Workload", outcomes: "Sequence[SimulationOutcome]", summaries: "Sequence[SimulationSummary]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import e, say
    from trainmaster.cli.showing.tables import Value, column
    from trainmaster.simulate.clusters import describe
    from trainmaster.simulate.report import COLUMNS

    zh, en = zip(*dict.fromkeys(describe(outcome.nodes) for outcome in outcomes), strict=True)
    jobs = counted(len(work.jobs), "job", "jobs", "个任务")
    say(e(words(f"{jobs} of {work.name} on {'; '.join(en)}", f"{work.name} 的 {jobs}，{'；'.join(zh)}")))
    for note in work.notes:
        say(f"  [bright_black]{e(note)}[/]")
    policy = column(words("policy", "策略"), least=10)
    numbers = [column(words(one.name[1].lower(), one.name[0]), right=True, leaves=at) for at, one in enumerate(COLUMNS)]
    tables.show([policy, *numbers], [(s.label, *(one.words(one.value(s)) for one in COLUMNS)) for s in summaries])
    print()
    names = (
        ("jobs", "任务数"),
        ("mean wait", "平均等待"),
        ("median", "中位数"),
        ("p90", "P90"),
        ("p99", "P99"),
        ("longest", "最长"),
    )
    sizes: list[tuple[Value, ...]] = [
        (
            s.label,
            name,
            found.jobs,
            *map(duration, (found.mean_s, found.p50_s, found.p90_s, found.p99_s, found.max_s)),
        )
        for s in summaries
        for name, found in s.by_size.items()
    ]
    heads = [column(words(*one), right=True, leaves=at // 3) for at, one in enumerate(names)]
    tables.show([policy, column(words("size", "大小"), right=True), *heads], sizes)
