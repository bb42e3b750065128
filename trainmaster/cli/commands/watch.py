"""Watching: logs and metrics in the terminal."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, Jobs, OneJob, client, each

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.jobs import Job


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: [bold]tm logs -f t826[/], or [bold]tm logs t826 --task task0-1 --search loss[/]")(logs)
    app.command(epilog="Example: [bold]tm metrics t826[/]")(metrics)


def logs(
    job: OneJob,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay and print what comes, until the job has ended.")
    ] = False,
    task: Annotated[str, typer.Option(help="Which task.")] = "task0-0",
    attempt: Annotated[str, typer.Option(help="Which attempt: a number, or last.")] = "last",
    tail: Annotated[int | None, typer.Option("--tail", "-n", min=1, max=100_000, help="Only the last lines.")] = None,
    search: Annotated[str | None, typer.Option(help="Only lines with this text.")] = None,
    regex: Annotated[bool, typer.Option(help="Take the search as a regular expression.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Byte for byte: also what moves the cursor, sets titles or the clipboard.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print a task's log: text and colours, of a line that was drawn over and over what came last; with --raw all that
    the program wrote, which your terminal obeys.
    """
    from trainmaster.core.formats.terminal import RESET, Harmless, as_seen

    found = client().get(job)
    safe = Harmless()
    feed = str if raw else safe.feed
    if search is not None:
        _search(found, task, attempt, search, regex, raw, as_json)
        return
    if follow and not as_json:
        try:
            for piece in found.logs(task, attempt=attempt, follow=True, tail=tail):
                sys.stdout.write(feed(piece))
                sys.stdout.flush()
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            sys.stdout.write(RESET if safe.coloured else "")
        return
    text = found.logs(task, attempt=attempt, tail=tail)
    if as_json:
        from trainmaster.cli.render import emit_json

        emit_json({"id": found.id, "state": found.state, "task": task, "attempt": attempt, "text": text})
        return
    shown = text if raw else safe.feed(as_seen(text))
    sys.stdout.write(shown + (RESET if safe.coloured else ""))


def _search(job: "Job", task: str, attempt: str, text: str, regex: bool, raw: bool, as_json: bool) -> None:
    from trainmaster.cli.render import emit_json
    from trainmaster.core.formats.terminal import RESET, Harmless

    hits = []
    for hit in job.search(text, task, attempt=attempt, regex=regex):
        if as_json:
            hits.append(hit)
        else:
            safe = Harmless()
            shown = hit.text if raw else safe.feed(hit.text)
            print(f"{hit.line + 1}: {shown}{RESET if safe.coloured else ''}")
    if as_json:
        emit_json({"id": job.id, "state": job.state, "task": task, "attempt": attempt, "items": hits})


def metrics(
    jobs: Jobs,
    watch: Annotated[
        bool, typer.Option("--watch", help="Draw again every two seconds until the job has ended.")
    ] = False,
    points: Annotated[
        int | None,
        typer.Option(min=4, max=10_000, help="At most so many points of a curve.", show_default="120; all with --json"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show training curves as lines of blocks, or all their points with --json.

    A curve of more than 2,048 points is thinned where it changes least; `count` says how many there were.
    """
    from trainmaster.cli.render import emit_json, plain, show_metrics
    from trainmaster.sdk.jobs import ENDED

    server = client()

    def one(ref: str) -> "tuple[answers.JobView, answers.MetricsView]":
        job = server.get(ref)
        return job.seen, job.metrics(points=points or (10_000 if as_json else 120))

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
            show_metrics(job.name, curves)
        if not watch or all(job.state in ENDED for job, _ in found):
            break
        time.sleep(2.0)
    if not good:
        sys.exit(1)
