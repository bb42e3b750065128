"""Changing and ending jobs: change, share, stop, release, upload, delete."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.context import AsJson, Jobs, client, each, seconds
from trainmaster.cli.helping import JOBS, add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.jobs import Job

PRIORITIES = ("normal", "urgent", "very_urgent")
SHARES = ("none", "read", "read-write")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        change,
        "修改任务的运行时限或优先级。\n\n排队的任务保留原有位置，运行中的任务继续运行。每行输出一个任务的新设置。",
        "tm change t826 --duration 2h",
        "tm change t826 --priority urgent",
        panel=JOBS,
    )
    add(
        app,
        share,
        "设置工作空间的其他成员能对任务做什么。\n\nread：查看与克隆；read-write：还可以修改、停止和删除；"
        "none：什么都看不到。结束后的任务也可以设置。输出任务 ID 和共享方式。",
        "tm share t826 read",
        "tm share t826 none",
        panel=JOBS,
    )
    add(
        app,
        stop,
        "停止任务，不可恢复。\n\n先给进程留出收尾时间，再强制结束。每行输出一个任务的 ID 和状态。",
        "tm stop t826 t931",
        'tm stop t826 --reason "wrong data set"',
        panel=JOBS,
    )
    add(
        app,
        release,
        "结束调试保留，归还失败任务所占的资源。\n\n每行输出一个任务的 ID 和状态。",
        "tm release t826",
        panel=JOBS,
    )
    add(
        app,
        upload,
        "重新上传任务中失败或未上传的输出。\n\n只用于输出上传到对象存储的任务；位置和进度见 tm show。"
        "每行输出一个任务的 ID 和状态。",
        "tm upload t826",
        panel=JOBS,
    )
    add(
        app,
        delete,
        "删除已结束的任务及其日志和文件；已保存的模型会保留。\n\n每行输出一个已删除的 ID。",
        "tm delete t826",
        panel=JOBS,
    )


def change(
    jobs: Jobs,
    limit: Annotated[
        str | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            help=words("New time limit, for example 2h30m, or none.", "新的运行时限，例如 2h30m；none 表示不限。"),
            show_default=words("unchanged", "不变"),
        ),
    ] = None,
    priority: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PRIORITIES),
            help=words("New priority.", "新的优先级。"),
            show_default=words("unchanged", "不变"),
            autocompletion=completing.one_of(*PRIORITIES),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change the time limit or the priority of jobs.

    A queued job keeps its position, a running one runs on. Prints the new settings, a line for each job.
    """
    from trainmaster.core.formats.units import exact_duration

    wanted: dict[str, Any] = {} if priority is None else {"priority": priority}
    if limit is not None:
        wanted["duration_s"] = None if limit == "none" else seconds(limit)
    if not wanted:
        raise typer.BadParameter(
            words(
                "nothing to change; give --duration or --priority", "没有要修改的内容；请给出 --duration 或 --priority"
            )
        )
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).change(**wanted), as_json))

    def tell(job: "answers.JobView") -> None:
        most = words("none", "无") if job.duration_s is None else exact_duration(job.duration_s)
        print(f"{job.id}  {words('time limit', '运行时限')} {most}  {words('priority', '优先级')} {job.priority}")

    print_each(found, as_json, tell)
    leave(good)


def share(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help=words("The job.", "任务。"), autocompletion=completing.jobs)
    ],
    level: Annotated[
        str,
        typer.Argument(
            metavar="none|read|read-write",
            help=words("What others may do.", "其他成员能做什么。"),
            autocompletion=completing.one_of(*SHARES),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what other members of the workspace may do with a job.

    read: look at it and clone it; read-write: also change, stop and delete it; none: they see nothing of it. An ended
    job can be shared, too. Prints its id and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    shared = _answer(client().get(job).share(level), as_json)
    emit_json(shared) if as_json else print(f"{shared.id}  {words('shared', '共享')} {shared.share}")


def stop(
    jobs: Jobs,
    reason: Annotated[str, typer.Option(help=words("Why; shown with the job.", "原因，会与任务一起显示。"))] = "",
    as_json: AsJson = False,
) -> None:
    """Stop jobs for good.

    Processes get time to clean up, then they are killed. Prints id and state, a line for each job.
    """
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).stop(reason), as_json))
    print_each(found, as_json, _tell_state)
    leave(good)


def release(jobs: Jobs, as_json: AsJson = False) -> None:
    """End debug holds: give back what was kept of failed jobs.

    Prints id and state, a line for each job.
    """
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).release(), as_json))
    print_each(found, as_json, _tell_state)
    leave(good)


def upload(jobs: Jobs, as_json: AsJson = False) -> None:
    """Upload again what failed of jobs' outputs, or was left out.

    Only for jobs whose outputs go to object storage; tm show says where, and how far that is. Prints id and state, a
    line for each job.
    """
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).upload_again(), as_json))
    print_each(found, as_json, _tell_state)
    leave(good)


def delete(jobs: Jobs, as_json: AsJson = False) -> None:
    """Delete ended jobs with their logs and files; saved models stay.

    Prints the id of each job that is gone.
    """
    server = client()

    def one(ref: str) -> "answers.JobView":
        job = server.get(ref)
        job.delete()
        return job.seen

    def shape(job: "answers.JobView") -> dict[str, Any]:
        return {"id": job.id, "state": "deleted", "attempts": job.attempts, "tasks": job.tasks}

    found, good = each(jobs, one)
    print_each(found, as_json, lambda job: print(f"{job.id}  {words('deleted', '已删除')}"), shape)
    leave(good)


def _tell_state(job: "answers.JobView") -> None:
    from trainmaster.cli.showing.jobs import state_name

    print(f"{job.id}  {state_name(job.state)}")


def _answer(job: "Job", whole: bool) -> "answers.JobView":
    """Return what the server has just said of a job; `whole`: all that there is to say, for programs."""
    return job.detail if whole else job.seen
