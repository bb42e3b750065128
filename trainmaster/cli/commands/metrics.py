"""`tm metrics` and `tm compare`: training curves in the terminal, and jobs side by side."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from trainmaster.cli.context import AsJson, Jobs, client, each
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.client import Client
    from trainmaster.sdk.finding.comparing import Comparison

COMPARED: Final = 50
"""So many jobs are compared at once."""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
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
    add(
        app,
        compare,
        "并列比较多个任务：参数、命令、资源、环境、代码与结果。\n\n默认只列出差异：四个任务以内每个任务一列，更多时每个"
        "任务一行；指标显示达到的最优值，最优者标 *。--csv 每个任务一行，--code 显示两个任务代码的差异，"
        "--versions 比较一个任务的各个版本。也可以用 "
        "模型名@版本 指代产出该版本的任务。",
        "tm compare t826 t931",
        "tm compare t826 t931 t77a --metric loss",
        "tm compare t826 t931 --code",
        "tm compare t826 --versions",
        "tm compare digits@1 digits@2 --csv > runs.csv",
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


def compare(
    jobs: Jobs,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help=words("Only these metrics; repeatable.", "只看这些指标；可重复。"),
            show_default=words("all", "全部"),
        ),
    ] = None,
    best: Annotated[
        Literal["min", "max"] | None,
        typer.Option(
            "--best",
            help=words("Which value is the best.", "哪个值算最优。"),
            show_default=words("by the name of the metric", "按指标名称判断"),
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help=words("Also what is the same.", "也列出相同的内容。"))
    ] = False,
    versions: Annotated[
        bool, typer.Option("--versions", help=words("The versions of one job.", "一个任务的各个版本。"))
    ] = False,
    code: Annotated[
        bool, typer.Option("--code", help=words("The code of two jobs, as a diff.", "两个任务代码的差异。"))
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help=words("Print CSV, a job a line.", "输出 CSV，每个任务一行。"))
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare jobs side by side: parameters, commands, resources, environment, code and results.

    Prints only what differs: up to four jobs as columns, more as lines; of a metric the best value that was reached,
    the best of all with a star. With --csv a line for each job, with --code the lines that differ in the code of two
    jobs, with --versions the versions of one. NAME@VERSION of a model stands for the job that made it.
    """
    from trainmaster.cli.showing.comparing import judged, show_code, show_comparison
    from trainmaster.cli.showing.console import emit_json

    server = client()
    if versions:
        jobs = _versions(server, jobs)
    if len(jobs) < 2:
        raise typer.BadParameter(words("give at least two jobs", "请至少给出两个任务"))
    if code:
        if len(jobs) > 2:
            raise typer.BadParameter(words("--code compares two jobs", "--code 只比较两个任务"))
        changes = server.get(server.compare(jobs[:1]).jobs[0].id).code_diff(jobs[1])
        emit_json(changes) if as_json else show_code(changes)
        return
    found = judged(server.compare(jobs), metric, best)
    if as_json:
        emit_json(found)
    elif as_csv:
        _print_csv(found, everything)
    else:
        show_comparison(found, everything)


def _versions(server: "Client", jobs: list[str]) -> list[str]:
    """Return the versions of the job that is given, the first of them first."""
    if len(jobs) > 1:
        raise typer.BadParameter(words("--versions takes one job", "--versions 只接受一个任务"))
    newest = server.get(server.compare(jobs).jobs[0].id).versions()[:COMPARED]
    return [one.id for one in reversed(newest)]


def _print_csv(found: "Comparison", everything: bool) -> None:
    import csv

    rows = found.table(everything)
    written = csv.DictWriter(sys.stdout, [*rows[0]])
    written.writeheader()
    written.writerows(rows)
