"""Looking at and ending jobs: list, show, stop, delete, explain."""

import sys
from typing import Annotated, Any

import typer

from trainmaster.cli.context import AsJson, Jobs, client, each


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list", epilog="Example: [bold]tm list --state running --state queued[/]")(list_jobs)
    app.command(epilog="Example: [bold]tm show t826 --json[/]")(show)
    app.command(epilog="Example: [bold]tm stop t826 t931[/]")(stop)
    app.command(epilog="Example: [bold]tm delete t826[/]")(delete)
    app.command(epilog="Example: [bold]tm explain t826[/]")(explain)


def list_jobs(
    query: Annotated[str, typer.Argument(help="Part of a name, id, slug or description.")] = "",
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


def stop(
    jobs: Jobs, reason: Annotated[str, typer.Option(help="Why; shown with the job.")] = "", as_json: AsJson = False
) -> None:
    """Stop jobs at once and for good."""
    from trainmaster.cli.render import emit_json

    server = client()
    found, good = each(jobs, lambda ref: server.get(ref).stop(reason).data)
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
    from trainmaster.cli.render import console, emit_json

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
        console().print(f"{data['id'][:12]}  {data['name']}  {data['state']}", markup=False)
        for text in _reasons(data):
            console().print(f"  {text}", markup=False, soft_wrap=True)

    found, good = each(jobs, one)
    _print(found, as_json, say, emit_json)
    _leave(good)


def _reasons(data: dict[str, Any]) -> list[str]:
    texts = []
    reason, verdict = data.get("reason") or {}, data.get("verdict") or {}
    if reason:
        texts.append(reason["message"]["en"])
    if data.get("position") is not None:
        texts.append(f"position {data['position']} in the queue")
    forecast = data.get("forecast")
    if forecast is not None:
        texts.append(_foreseen(forecast))
    if verdict:
        texts += [verdict["title"]["en"], verdict["message"]["en"], verdict.get("evidence") or ""]
    texts += [f"to change that: {one['message']['en']}" for one in data.get("suggestions") or ()]
    return [text for text in texts if text] or ["nothing stands in its way"]


def _foreseen(forecast: dict[str, Any]) -> str:
    """Return a forecast in words: when, the range, or why it is unknown."""
    if forecast["when"] == "unknown":
        return f"nobody knows when it starts: {forecast['why']['en']}"
    low, high = (_clock(forecast[end]) if forecast[end] is not None else "later" for end in ("low", "high"))
    return f"starts at about {_clock(forecast['at'])}, between {low} and {high}"


def _clock(at: float) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


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
