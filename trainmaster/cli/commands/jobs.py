"""Looking at, changing and ending jobs: list, show, change, stop, delete, explain."""

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from trainmaster.cli.context import AsJson, Jobs, client, each

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.jobs import Job

T = TypeVar("T")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list", epilog="Example: [bold]tm list --state running[/], or [bold]tm list label:round=2[/]")(
        list_jobs
    )
    app.command(epilog="Example: [bold]tm show t826 --json[/]")(show)
    app.command(epilog="Example: [bold]tm change t826 --duration 2h[/]")(change)
    app.command(epilog="Example: [bold]tm stop t826 t931[/]")(stop)
    app.command(epilog="Example: [bold]tm release t826[/]")(release)
    app.command(epilog="Example: [bold]tm delete t826[/]")(delete)
    app.command(epilog="Example: [bold]tm explain t826[/]")(explain)


def list_jobs(
    query: Annotated[
        str, typer.Argument(help="Part of a name, id, slug, description or label; label:key=value: with this label.")
    ] = "",
    state: Annotated[list[str] | None, typer.Option("--state", help="Only jobs in this state; repeatable.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 50,
    all_: Annotated[bool, typer.Option("--all", help="Every job.")] = False,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    from trainmaster.cli.render import JOB_COLUMNS, emit_json, job_row, table

    found = [job.seen for job in client().iterate(None if all_ else limit, q=query or None, state=state or None)]
    if as_json:
        emit_json(found)
    elif found:
        table(JOB_COLUMNS, map(job_row, found))
    else:
        print("No jobs.")


def show(jobs: Jobs, as_json: AsJson = False) -> None:
    """Show everything about jobs."""
    from trainmaster.cli.render import show_job

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).detail)
    _print(found, as_json, lambda job: show_job(job, server.url))
    _leave(good)


def change(
    jobs: Jobs,
    duration: Annotated[
        str | None, typer.Option(help="How long it may run, for example 2h, or none.", show_default="as it is")
    ] = None,
    priority: Annotated[
        str | None, typer.Option(help="normal, urgent or very_urgent.", show_default="as it is")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change how long jobs may run, or their priority; they keep their turn, and what runs runs on."""
    from trainmaster.core.formats.units import exact_duration, parse_duration_s

    wanted: dict[str, Any] = {} if priority is None else {"priority": priority}
    if duration is not None:
        try:
            wanted["duration_s"] = None if duration == "none" else parse_duration_s(duration)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if not wanted:
        raise typer.BadParameter("nothing is changed; name --duration or --priority")
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).change(**wanted), as_json))

    def say(job: "answers.JobView") -> None:
        limit = "none" if job.duration_s is None else exact_duration(job.duration_s)
        print(f"{job.id}  duration {limit}  priority {job.priority}")

    _print(found, as_json, say)
    _leave(good)


def stop(
    jobs: Jobs, reason: Annotated[str, typer.Option(help="Why; shown with the job.")] = "", as_json: AsJson = False
) -> None:
    """Stop jobs at once and for good."""
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).stop(reason), as_json))
    _print(found, as_json, lambda job: print(f"{job.id}  {job.state}"))
    _leave(good)


def release(jobs: Jobs, as_json: AsJson = False) -> None:
    """End debug holds: what was kept of failed jobs is given back."""
    server = client()
    found, good = each(jobs, lambda ref: _answer(server.get(ref).release(), as_json))
    _print(found, as_json, lambda job: print(f"{job.id}  {job.state}"))
    _leave(good)


def delete(jobs: Jobs, as_json: AsJson = False) -> None:
    """Delete ended jobs with their logs and files; saved models stay."""
    server = client()

    def one(ref: str) -> "answers.JobView":
        job = server.get(ref)
        job.delete()
        return job.seen

    found, good = each(jobs, one)
    _print(
        found,
        as_json,
        lambda job: print(f"{job.id}  deleted"),
        lambda job: {"id": job.id, "state": "deleted", "attempts": job.attempts, "tasks": job.tasks},
    )
    _leave(good)


def explain(jobs: Jobs, as_json: AsJson = False) -> None:
    """Say why jobs wait, run or ended, and what would change that."""
    from trainmaster.cli.render import changing, console, plain, remedy_lines, waiting_lines
    from trainmaster.core.formats.terminal import visible

    server = client()

    def one(ref: str) -> "tuple[answers.JobView, answers.Explanation]":
        job = server.get(ref)
        return job.seen, job.explain()

    def say(found: "tuple[answers.JobView, answers.Explanation]") -> None:
        job, why = found
        console().print(f"{job.id[:12]}  {visible(job.name)}  {why.state}", markup=False)
        went_wrong = why.state in ("failed", "expired", "retained")
        helps = [] if went_wrong else waiting_lines(why, partial(changing, job.id))
        lines = [*helps, *_ending(why), *(remedy_lines(why, job.id) if went_wrong else [])]
        for text in lines or ["nothing stands in its way"]:
            console().print(f"  {visible(text)}", markup=False, soft_wrap=True)

    found, good = each(jobs, one)
    _print(
        found,
        as_json,
        say,
        lambda one: {
            "id": one[0].id,
            "name": one[0].name,
            "attempts": one[0].attempts,
            "tasks": one[0].tasks,
            **plain(one[1]),
        },
    )
    _leave(good)


def _ending(why: "answers.Explanation") -> list[str]:
    """Return how a job ended: what it is called, in words, and from where that is known."""
    if why.verdict is None:
        return []
    return [text for text in (why.verdict.title.en, why.verdict.message.en, why.verdict.evidence) if text]


def _answer(job: "Job", whole: bool) -> "answers.JobView":
    """Return what the server has just said of a job; `whole`: all that there is to say, for programs."""
    return job.detail if whole else job.seen


def _print(
    found: list[T], as_json: bool, say: Callable[[T], None], shape: Callable[[T], Any] = lambda one: one
) -> None:
    """Print results by `say`, or in their `shape` as JSON: one job as an object, several as a list."""
    from trainmaster.cli.render import emit_json

    if as_json:
        emit_json(shape(found[0]) if len(found) == 1 else [shape(one) for one in found])
        return
    for one in found:
        say(one)


def _leave(good: bool) -> None:
    if not good:
        sys.exit(1)
