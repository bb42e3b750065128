"""What if? The queue on a recorded workload: simulate."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, client

if TYPE_CHECKING:
    from trainmaster.core.records import Node
    from trainmaster.queue.ordering.rights import Rights
    from trainmaster.simulate.metrics import SimulationSummary
    from trainmaster.simulate.run import Progress, SimulationOutcome, SimulationSetting
    from trainmaster.simulate.workload import Workload

Trace = Annotated[str | None, typer.Argument(metavar="[TRACE]", help="A workload: CSV or SWF, also with gzip.")]
Cluster = Annotated[
    list[str] | None,
    typer.Option("--cluster", help="Machines: NODESxCARDS such as 64x8, or a .yaml or .csv file. May be repeated."),
]
PolicyNames = Annotated[
    list[str] | None,
    typer.Option("--policy", help="NAME or NAME:key=value,... May be repeated to compare.", show_default="default"),
]
History = Annotated[
    bool, typer.Option("--history", help="Take the jobs that have ended on the server as the workload.")
]
AddNodes = Annotated[
    str | None, typer.Option(help="Also simulate with more machines: a number of nodes like the last one, or 4x8.")
]
Quotas = Annotated[
    list[str] | None,
    typer.Option(
        "--quota", help="Also with another quota: WORKSPACE[@POOL]:RESOURCE=GUARANTEED[:MOST],... Repeatable."
    ),
]
Shares = Annotated[
    list[str] | None,
    typer.Option("--share", help="Also with another virtual cluster: NAME[@POOL]:RESOURCE=GUARANTEED[:MOST],..."),
]
Weights = Annotated[
    list[str] | None, typer.Option("--weight", help="Also with another weight: WORKSPACE=WEIGHT. Repeatable.")
]
Limits = Annotated[
    str,
    typer.Option(help="What the queue knows of run times: auto, recorded, exact, loose or none.", show_default=True),
]
Faults = Annotated[
    list[str] | None, typer.Option("--fault", help="NODE@WHEN+HOW_LONG, such as node-3@2d+6h. May be repeated.")
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", help="A file to write: .html a report with charts, .csv a line per job and policy."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog=(
            "Example: [bold]tm simulate jobs.csv --cluster 64x8 --policy default --policy fifo-strict -o report.html[/]"
        )
    )(simulate)


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
    start_cost: Annotated[str, typer.Option(help="What every start costs before it works, such as 30s.")] = "0s",
    fault: Faults = None,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Run a recorded workload through the queue on a virtual clock and compare policies or machines."""
    from trainmaster.cli.render import emit_json
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
    print(f"wrote {path}", file=sys.stderr)


def _show(work: "Workload", outcomes: "Sequence[SimulationOutcome]", summaries: "Sequence[SimulationSummary]") -> None:
    from rich.markup import escape

    from trainmaster.cli.render import console, table
    from trainmaster.core.formats.units import format_duration
    from trainmaster.simulate.clusters import describe
    from trainmaster.simulate.report import COLUMNS

    machines = "; ".join(dict.fromkeys(describe(outcome.nodes)[1] for outcome in outcomes))
    out = console()
    out.print(f"{len(work.jobs)} jobs of {work.name} on {machines}", markup=False)
    for note in work.notes:
        out.print(f"  {note}", markup=False, style="dim")
    rows = [(escape(s.label), *(c.words(c.value(s)) for c in COLUMNS)) for s in summaries]
    table(("policy", *(f">{column.name[1].lower()}" for column in COLUMNS)), rows)
    out.print()
    sizes = [
        (
            escape(s.label),
            name,
            found.jobs,
            *map(format_duration, (found.mean_s, found.p50_s, found.p90_s, found.p99_s, found.max_s)),
        )
        for s in summaries
        for name, found in s.by_size.items()
    ]
    table(("policy", ">size", ">jobs", ">mean wait", ">median", ">p90", ">p99", ">longest"), sizes)
