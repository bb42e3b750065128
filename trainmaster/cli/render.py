"""Everything that is printed: tables for people, JSON for programs. Only this file knows rich; nothing here asks a
server.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.formats.terminal import visible
from trainmaster.core.formats.units import exact_duration, format_duration, format_memory

if TYPE_CHECKING:
    from trainmaster import answers

COLOURS: Final[dict[str, str]] = {
    "queued": "yellow",
    "initialising": "cyan",
    "pending": "yellow",
    "running": "bright_blue",
    "saving": "cyan",
    "retained": "magenta",
    "stopping": "yellow",
    "succeeded": "green",
    "failed": "red",
    "stopped": "bright_black",
    "expired": "magenta",
}
_UNSAID: Final = re.compile("[\x7f-\x9f]")
"""Control characters that JSON need not escape, and that a terminal obeys."""
BARS: Final = "▁▂▃▄▅▆▇█"
WHEN: Final = {
    "now": "[green]it would start now[/]",
    "queue": "[yellow]it would wait[/]",
    "never": "[red]it can never run[/]",
}


def emit_json(value: Any) -> None:
    """Print `value` as JSON; answers in it as the API gives them."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=plain)
    print(_UNSAID.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def plain(value: Any) -> Any:
    """Return an answer as the JSON that the API gives; of anything else its text."""
    import msgspec

    return msgspec.to_builtins(value, str_keys=True, enc_hook=str)


def console(stderr: bool = False) -> Any:
    """Return rich's console; wide when the output is not a terminal, so that nothing is cut."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 200
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def show_error(error: TrainmasterError, prefix: str = "") -> None:
    """Print an error with all its problems and remedies to standard error."""
    out = console(stderr=True)
    out.print(f"[bold red]error[/] {_e(prefix + error.message)}", soft_wrap=True)
    for problem in error.problems:
        where = f"[bold]{_e(problem.path)}[/]: " if problem.path else ""
        out.print(f"  {where}{_e(problem.rule)}", soft_wrap=True)
        if problem.remedy and problem.remedy != error.remedy:
            out.print(f"    [dim]{_e(problem.remedy)}[/]", soft_wrap=True)
    if error.remedy:
        out.print(f"[dim]{_e(error.remedy)}[/]", soft_wrap=True)


def _e(text: Any) -> str:
    from rich.markup import escape

    return escape(visible(text))


MARKS: Final = {"ok": "[green]ok[/]      ", "warning": "[yellow]warning[/] ", "bad": "[red]bad[/]     "}


def finding(mark: str, name: str, detail: str, remedy: str = "", *, width: int = 10) -> None:
    """Print one thing that was looked at: ok, warning (works, with less) or bad; below it the remedy. `width`: of the
    name, in cells.
    """
    from rich.cells import cell_len

    out, filled = console(), name + " " * (width - cell_len(name))
    out.print(f"{MARKS[mark]}[bold]{_e(filled)}[/] {_e(detail)}", soft_wrap=True)
    if remedy:
        out.print(f"{'':{width + 9}}[dim]{_e(remedy)}[/]", soft_wrap=True)


def state(name: str) -> str:
    """Return a state in its colour."""
    return f"[{COLOURS.get(name, 'white')}]{name}[/]"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> None:
    """Print a plain table; cells are rich markup made here or escaped by the caller."""
    console().print(make_table(columns, rows, title))


def make_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Any:
    """Return a plain table. A column whose name begins with > is right-aligned."""
    from rich.table import Table

    made = Table(box=None, title=title, title_justify="left", header_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(
            column.lstrip(">"),
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
            no_wrap=column in ("id", "state"),
        )
    for row in rows:
        made.add_row(*(visible(cell) for cell in row))
    return made


JOB_COLUMNS: Final = ("id", "name", "state", "owner", ">tasks", ">gpus", ">run", "progress", "why")


def job_row(job: "answers.JobView") -> tuple[str, ...]:
    """Return a job as a row of JOB_COLUMNS."""
    return (
        job.id[:12],
        _e(job.name),
        state(job.state),
        _e(job.owner),
        f"{job.tasks.running}/{job.tasks.total}",
        f"{job.resources.gpu:g}",
        "" if job.run_s is None else format_duration(job.run_s),
        _progress(job),
        _e(why(job)),
    )


def _progress(job: "answers.JobView") -> str:
    return "" if job.progress is None else f"{job.progress.fraction:.0%}"


def why(job: "answers.JobView") -> str:
    """Return why a job waits or ended, in one short text."""
    if job.state in ("queued", "pending"):
        reason = job.reason.message.en if job.reason is not None else ""
        by = job.reason.decided_by if job.reason is not None else None
        start = expected_start(job.forecast) if job.forecast is not None and job.forecast.at is not None else ""
        return ", ".join(filter(None, (f"{by}: {reason}" if by else reason, start and f"start {start}")))
    if job.verdict is None or job.verdict.code == "ok":
        return job.model or ""
    return job.verdict.message.en or job.verdict.title.en


def show_job(job: "answers.JobDetail", url: str) -> None:
    """Print everything about one job."""
    out = console()
    out.print(f"[bold]{_e(job.name)}[/]  {state(job.state)}  [dim]{job.id}[/]")
    for name, value in _facts(job, url):
        if value:
            out.print(f"  {name:<12} {value}", soft_wrap=True)
    for role in job.roles:
        need = role.resources
        cards = f", {need.gpu} x {_e(need.gpu_type or 'any card')}" if need.gpu else ""
        out.print(
            f"  role [bold]{_e(role.name)}[/] x {role.replicas}: {need.cpu:g} cpu, "
            f"{format_memory(need.memory_mib)}{cards}"
        )
        out.print(f"    [dim]{_e(role.command)}[/]", soft_wrap=True)
    for attempt in job.attempt_list:
        _show_attempt(out, attempt)
    for warning in job.warnings:
        out.print(f"  [yellow]note[/] {_e(warning.message.en)}", soft_wrap=True)


def _facts(job: "answers.JobDetail", url: str) -> Iterable[tuple[str, str]]:
    metrics = "  ".join(f"{_e(name)}={value:.4g}" for name, value in job.metrics.items() if value is not None)
    yield "why", _e("" if why(job) == job.model else why(job))
    yield "held", _held(job)
    yield "evidence", _e(job.verdict.evidence if job.verdict is not None else "")
    yield "owner", _e(job.owner)
    yield "framework", _e(job.framework)
    yield "run time", "" if job.run_s is None else format_duration(job.run_s)
    yield "waited", format_duration(job.wait_s)
    yield "limit", "" if job.duration_s is None else format_duration(job.duration_s)
    yield "progress", _progress(job)
    yield "metrics", metrics
    yield "model", _e(job.model or "")
    yield "console", f"{url}/jobs/{job.id}"


def _held(job: "answers.JobDetail") -> str:
    """Return until when the resources of a failed attempt are kept, and what can be done meanwhile."""
    until = job.attempt_list[-1].retained_until if job.attempt_list else None
    ref = job.id[:12]
    return "" if until is None else f"until {_clock(until)}; look inside: tm exec {ref}; end it: tm release {ref}"


def _show_attempt(out: Any, attempt: "answers.AttemptView") -> None:
    why_text = f", {_e(attempt.why)}" if attempt.why is not None else ""
    out.print(f"  attempt [bold]{attempt.number}[/] ({attempt.cause}): {attempt.phase}{why_text}")
    rows = [
        (
            "   ",
            task.name,
            _e(task.role),
            task.state,
            _e(task.node),
            ",".join(map(str, task.gpus)),
            _ending(task),
            _e(task.verdict.message.en if task.verdict is not None else ""),
        )
        for task in attempt.tasks
    ]
    out.print(make_table(("", "task", "role", "state", "node", "cards", "exit", ""), rows))


def _ending(task: "answers.TaskView") -> str:
    if task.signal is not None:
        return f"signal {task.signal}"
    return "" if task.exit_code is None else str(task.exit_code)


def expected_start(forecast: "answers.ForecastView | None") -> str:
    """Return in words when a waiting job is expected to start; empty where nobody asks."""
    if forecast is None:
        return ""
    if forecast.when == "unknown":
        return f"unknown: {forecast.why.en}" if forecast.why is not None else "unknown"
    if forecast.when == "after":
        return f"after {_clock(forecast.low)}"
    return "now" if forecast.when == "now" else f"about {_clock(forecast.at)}"


def _clock(at: float | None) -> str:
    return "an unknown time" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def waiting_lines(
    found: "answers.Explanation | answers.WouldStart", command: "Callable[[answers.Json], str]"
) -> list[str]:
    """Return why a job waits (or would), where and until when, and what to type that it starts sooner: `command` of a
    change.
    """
    texts = []
    if found.reason is not None:
        texts.append(found.reason.message.en)
        if found.reason.decided_by:
            texts.append(f"decided by: {found.reason.decided_by}")
    if found.position is not None:
        texts.append(f"position {found.position} in the queue")
    forecast = found.forecast
    if forecast is not None:
        low, high = (end and _clock(end) for end in (forecast.low, forecast.high))
        span = f", between {low or 'now'} and {high or 'later'}" if forecast.at and low != high else ""
        span = f". {forecast.why.en}" if forecast.when == "after" and forecast.why is not None else span
        nodes = f" on {', '.join(forecast.nodes)}" if forecast.nodes else ""
        by = f"{nodes}, says {forecast.by}" if forecast.by else ""
        texts.append(f"expected start: {expected_start(forecast)}{span}{by}")
    for one in found.suggestions:
        texts.append(f"to start it {_sooner(one)}: {one.message.en}")
        texts.append(f"  {command(one.change)}")
    return texts


def _sooner(one: "answers.SuggestionView") -> str:
    """Return when a job starts with a change of it, and when without."""
    if one.forecast is None:
        return "now"
    return f"sooner, {expected_start(one.forecast)} instead of {_clock(one.otherwise_at)}"


def changing(job: str, change: "answers.Json") -> str:
    """Return what makes `change`: in place where the job keeps its turn, else in a copy instead of it."""
    if change.keys() <= {"duration", "priority"}:
        words = (f"--{name} {exact_duration(value) if name == 'duration' else value}" for name, value in change.items())
        return f"tm change {job[:12]} {' '.join(words)}"
    return f"{_setting(f'clone {job[:12]}', change)} && tm stop {job[:12]}"


def remedy_lines(found: "answers.Explanation", job: str) -> list[str]:
    """Return what would help a job that went wrong, and what to type that clones it so."""
    texts = []
    for one in found.suggestions:
        texts.append(f"what would help: {one.message.en}")
        if one.change or one.code == "run_as_it_is":
            texts.append(f"  {_setting(f'clone {job[:12]}', one.change).rstrip()}")
    return texts


def _setting(words: str, change: "answers.Json") -> str:
    pairs = (
        f"--set {shlex.quote(f'{path}={json.dumps(value, ensure_ascii=False)}')}" for path, value in change.items()
    )
    return f"tm {words} {' '.join(pairs)}"


def show_preview(found: "answers.PreviewView", start: "answers.WouldStart | None", words: str) -> None:
    """Print a preview: problems, or what would run and where. `start`: whether it would now; `words`: the command that
    submits it.
    """
    out = console()
    for title, items in (("[bold red]problem[/]", found.problems), ("[yellow]warning[/]", found.warnings)):
        for item in items:
            out.print(f"{title} [bold]{_e(item.path)}[/]: {_e(item.rule)}  [dim]{_e(item.remedy)}[/]", soft_wrap=True)
    for role in found.roles:
        out.print(f"role [bold]{_e(role.name)}[/] runs")
        for task in role.tasks:
            out.print(f"  [bold]{task.name}[/] {_e(shlex.join(task.argv))}", soft_wrap=True)
    if start is not None:
        out.print(WHEN[start.when])
        for line in waiting_lines(start, partial(_setting, words)):
            out.print(f"  {_e(line)}", soft_wrap=True)
        if len(start.alternatives) > 1:
            for way in start.alternatives:
                flavors = " + ".join(name or "its own resources" for name in way.flavors)
                out.print(f"  with {_e(flavors)}: {WHEN[way.when]}")
    elif found.ok:
        out.print("[green]it is valid[/]")


def spark(values: Sequence[float | None], width: int = 60) -> str:
    """Return a curve as one line of blocks; where nothing is known there is a gap."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    step = max(1, -(-len(values) // width))
    thinned = [values[at] for at in range(0, len(values), step)]
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    return "".join(" " if v is None else BARS[min(7, int((v - low) / span * 7.999))] for v in thinned)


def show_metrics(name: str, found: "answers.MetricsView") -> None:
    """Print the curves of one job."""
    rows = []
    for series in found.series:
        values = [value for value in series.values if value is not None]
        if values:
            cells = (f"{values[0]:.4g}", f"{min(values):.4g}", f"{max(values):.4g}", f"{values[-1]:.4g}")
            rows.append((_e(series.name), series.task or "", spark(series.values), *cells, series.count))
    if rows:
        table(("metric", "task", "curve", ">first", ">min", ">max", ">last", ">points"), rows, title=_e(name))
    else:
        console().print(f"{_e(name)}: no metrics yet")
