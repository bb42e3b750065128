"""Machines and the console: top, open, models."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli.context import AsJson, client

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: [bold]tm top[/], or once: [bold]tm top --once[/]")(top)
    app.command("open", epilog="Example: [bold]tm open t826[/]")(open_console)
    app.command(epilog="Example: [bold]tm models digits[/]")(models)


def top(
    once: Annotated[bool, typer.Option(help="Print once and leave.")] = False,
    every: Annotated[float, typer.Option(min=0.5, help="Seconds between two looks.")] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Show nodes and live jobs, drawn again and again."""
    from trainmaster.cli.render import console, emit_json, plain

    server = client()

    def look() -> tuple["answers.ClusterView", list["answers.JobView"]]:
        live = ["initialising", "pending", "running", "saving", "retained", "stopping", "queued"]
        return server.cluster(), [job.seen for job in server.iterate(40, state=live)]

    if as_json or once or not sys.stdout.isatty():
        cluster, jobs = look()
        emit_json({**plain(cluster), "jobs": jobs}) if as_json else console().print(_screen(cluster, jobs))
        return
    from rich.live import Live

    try:
        with Live(_screen(*look()), screen=True, auto_refresh=False, console=console()) as live:
            while True:
                time.sleep(every)
                live.update(_screen(*look()), refresh=True)
    except KeyboardInterrupt:
        return


def _screen(cluster: "answers.ClusterView", jobs: "Sequence[answers.JobView]") -> Any:
    from rich.console import Group
    from rich.text import Text

    from trainmaster.cli.render import JOB_COLUMNS, job_row, make_table

    nodes = []
    for node in cluster.nodes:
        held = sum(use.share for card in node.gpus for use in card.uses)
        closed = node.reason.en if node.reason is not None else "closed"
        nodes.append(
            (
                node.name,
                node.host,
                _bar(node.cpu),
                _bar(node.memory_mib, 1024, "G"),
                f"{held:g}/{len(node.gpus)}",
                len(node.tasks),
                "" if node.schedulable else closed,
            )
        )
    queue = cluster.queue
    head = Text(f"{queue.running} running, {queue.waiting} waiting, sandbox {cluster.sandbox.kind}\n", style="bold")
    columns = ("node", "address", "cpu", "memory", ">cards", ">tasks", "")
    return Group(head, make_table(columns, nodes), Text(""), make_table(JOB_COLUMNS, map(job_row, jobs)))


def _bar(amount: "answers.Used", scale: float = 1.0, unit: str = "") -> str:
    full = min(10, round(10 * amount.used / (amount.total or 1)))
    return f"{'█' * full}{'░' * (10 - full)} {amount.used / scale:.3g}/{amount.total / scale:.3g}{unit}"


def open_console(
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="Open the page of this job.")] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Open the console in a browser, or print its address where there is none."""
    import os
    import webbrowser

    server = client()
    url = server.url if job is None else server.get(job).url
    print(url)
    if not print_only and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"):
        webbrowser.open(url)


def models(query: Annotated[str, typer.Argument(help="Part of a name.")] = "", as_json: AsJson = False) -> None:
    """List saved models with their versions."""
    from trainmaster.cli.render import emit_json, table

    server = client()
    found = [server.model(item.id) for item in server.models(query)]
    if as_json:
        emit_json(found)
        return
    rows = [
        (
            model.name,
            one.version,
            one.job[:12],
            one.files,
            f"{one.size_bytes / 2**20:.1f} MiB",
            "  ".join(f"{name}={value:.4g}" for name, value in one.metrics.items()),
            one.path,
        )
        for model in found
        for one in model.versions
    ]
    table(("model", ">version", "job", ">files", ">size", "metrics", "path"), rows) if rows else print("No models.")
