"""Looking at, changing and ending jobs: list, show, change, stop, delete, explain."""

import sys
from functools import partial
from typing import Annotated, Any

import typer

from trainmaster.cli.context import AsJson, Jobs, client, each


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

    found = [job.data for job in client().iterate(None if all_ else limit, q=query or None, state=state or None)]
    if as_json:
        emit_json(found)
    elif found:
        table(JOB_COLUMNS, map(job_row, found))
    else:
        print("No jobs.")


def show(jobs: Jobs, as_json: AsJson = False) -> None:
    """Show everything about jobs."""
    from trainmaster.cli.render import emit_json, show_job

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).data)
    _print(found, as_json, lambda data: show_job(data, server.url), emit_json)
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
    from trainmaster.cli.render import emit_json
    from trainmaster.core.units import exact_duration, parse_duration_s

    wanted: dict[str, Any] = {} if priority is None else {"priority": priority}
    if duration is not None:
        try:
            wanted["duration_s"] = None if duration == "none" else parse_duration_s(duration)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if not wanted:
        raise typer.BadParameter("nothing is changed; name --duration or --priority")
    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).change(**wanted).data)

    def say(data: dict[str, Any]) -> None:
        limit = "none" if data["duration_s"] is None else exact_duration(data["duration_s"])
        print(f"{data['id']}  duration {limit}  priority {data['priority']}")

    _print(found, as_json, say, emit_json)
    _leave(good)


def stop(
    jobs: Jobs, reason: Annotated[str, typer.Option(help="Why; shown with the job.")] = "", as_json: AsJson = False
) -> None:
    """Stop jobs at once and for good."""
    from trainmaster.cli.render import emit_json

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).stop(reason).data)
    _print(found, as_json, lambda data: print(f"{data['id']}  {data['state']}"), emit_json)
    _leave(good)


def release(jobs: Jobs, as_json: AsJson = False) -> None:
    """End debug holds: what was kept of failed jobs is given back."""
    from trainmaster.cli.render import emit_json

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).release().data)
    _print(found, as_json, lambda data: print(f"{data['id']}  {data['state']}"), emit_json)
    _leave(good)


def delete(jobs: Jobs, as_json: AsJson = False) -> None:
    """Delete ended jobs with their logs and files; saved models stay."""
    from trainmaster.cli.render import emit_json

    server = client()

    def one(ref: str) -> dict[str, Any]:
        job = server.get(ref)
        job.delete()
        return {"id": job.id, "state": "deleted", "attempts": job.data["attempts"], "tasks": job.data["tasks"]}

    found, good = each(jobs, one)
    _print(found, as_json, lambda data: print(f"{data['id']}  deleted"), emit_json)
    _leave(good)


def explain(jobs: Jobs, as_json: AsJson = False) -> None:
    """Say why jobs wait, run or ended, and what would change that."""
    from trainmaster.cli.render import changing, console, emit_json, waiting_lines
    from trainmaster.core.terminal import visible

    server = client()

    def one(ref: str) -> dict[str, Any]:
        job = server.get(ref)
        return {
            "id": job.id,
            "name": job.name,
            "attempts": job.data["attempts"],
            "tasks": job.data["tasks"],
            **job.explain(),
        }

    def say(data: dict[str, Any]) -> None:
        console().print(f"{data['id'][:12]}  {visible(data['name'])}  {data['state']}", markup=False)
        waits = waiting_lines(data, partial(changing, data["id"]))
        for text in [*waits, *_ending(data)] or ["nothing stands in its way"]:
            console().print(f"  {visible(text)}", markup=False, soft_wrap=True)

    found, good = each(jobs, one)
    _print(found, as_json, say, emit_json)
    _leave(good)


def _ending(data: dict[str, Any]) -> list[str]:
    """Return how a job ended: what it is called, in words, and from where that is known."""
    verdict = data.get("verdict") or {}
    if not verdict:
        return []
    texts = (verdict["title"]["en"], verdict["message"]["en"], verdict.get("evidence") or "")
    return [text for text in texts if text]


def _print(found: list[Any], as_json: bool, say: Any, emit: Any) -> None:
    """Print results: one job as an object, several as a list."""
    if as_json:
        emit(found[0] if len(found) == 1 else found)
        return
    for data in found:
        say(data)


def _leave(good: bool) -> None:
    if not good:
        sys.exit(1)
