"""`tm metrics`: training curves in the terminal."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, Jobs, client, each
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        metrics,
        "以字符图形显示训练曲线。\n\n每个指标一行：曲线、首个值、最小值、最大值、最新值、点数；--json 输出全部数据点。"
        "超过 2048 个点的曲线会在变化最小处抽稀，count 是原有的点数。",
        "tm metrics t826",
        "tm metrics t826 --watch",
        "tm metrics t826 t931 --json",
        panel=RESULTS,
    )


def metrics(
    jobs: Jobs,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help=words("Refresh every two seconds until the job has ended.", "每两秒刷新，直到任务结束。"),
        ),
    ] = False,
    points: Annotated[
        int | None,
        typer.Option(
            min=4,
            max=10_000,
            help=words("Points of each curve at most.", "每条曲线的最多点数。"),
            show_default=words("120; all with --json", "120；--json 时为全部"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show training curves.

    Prints a line for each metric: its curve, first, least, largest and last value, and how many points there are; all
    points with --json. A curve of more than 2,048 points is thinned where it changes least; count says how many there
    were.
    """
    from trainmaster.cli.showing.console import emit_json, plain
    from trainmaster.cli.showing.curves import show_metrics
    from trainmaster.cli.showing.jobs import replica_name
    from trainmaster.sdk.seen import ENDED

    server = client()

    def one(ref: str) -> "tuple[answers.JobDetail, answers.MetricsView]":
        job = server.get(ref)
        return job.detail, job.metrics(points=points or (10_000 if as_json else 120))

    while True:
        found, good = each(jobs, one)
        if as_json:
            shapes = [
                {
                    "id": job.id,
                    "name": job.name,
                    "state": job.state,
                    "attempts": job.attempts,
                    "tasks": job.tasks,
                    **plain(curves),
                }
                for job, curves in found
            ]
            emit_json(shapes[0] if len(shapes) == 1 else shapes)
        for job, curves in [] if as_json else found:
            show_metrics(job.name, curves, {task.name: replica_name(task) for task in job.task_list})
        if not watch or all(job.state in ENDED for job, _ in found):
            break
        time.sleep(2.0)
    if not good:
        sys.exit(1)
