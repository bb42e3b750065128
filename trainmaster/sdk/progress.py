"""Showing a job while it is awaited: one line in a terminal, one card in a notebook, plain lines in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

from trainmaster import answers
from trainmaster.core.formats.terminal import visible
from trainmaster.core.formats.units import format_duration
from trainmaster.core.states import SHOWN_NAMES, Shown

if TYPE_CHECKING:
    from trainmaster.sdk.jobs import Job

Show = Callable[[answers.JobView], None]


@contextmanager
def show_progress(job: "Job") -> Iterator[Show]:
    """Give a function that shows what was last seen of the job, in the way that fits where the program runs."""
    if in_notebook():
        yield _notebook(job)
    elif sys.stderr.isatty():
        with terminal() as show:
            yield show
    else:
        yield _lines()


def in_notebook() -> bool:
    """Return whether this program is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _notebook(job: "Job") -> Show:
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    handle = display(job, display_id=True)
    return lambda _: handle.update(job)


def _lines() -> Show:
    said: list[str] = [""]

    def show(job: answers.JobView) -> None:
        text = f"{visible(job.name)}  {job.state}"
        if text != said[0]:
            said[0] = text
            sys.stderr.write(text + "\n")

    return show


@contextmanager
def terminal() -> Iterator[Show]:
    """Give a function that draws the job: name, state, bar and time on one line, tasks, metrics and time left below."""
    from rich.console import Console, Group  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[name]}", style="bold", markup=False),
        TextColumn("{task.fields[state]}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[percent]}"),
        TimeElapsedColumn(),
    )
    out = Console(stderr=True)
    progress, below = Progress(*columns, console=out), Text(style="dim", no_wrap=True, overflow="ellipsis")
    line = progress.add_task("", total=None, name="", state="", percent="")

    def show(job: answers.JobView) -> None:
        fraction = job.progress.fraction if job.progress is not None else None
        if job.state == Shown.SUCCEEDED:
            fraction = 1.0
        percent, total = ("", None) if fraction is None else (f"{fraction:.0%}", 1.0)
        progress.update(
            line, name=visible(job.name), state=job.state, percent=percent, total=total, completed=fraction or 0.0
        )
        below.plain = "  " + visible(detail(job))

    with Live(Group(progress, below), console=out, refresh_per_second=8):
        yield show


def detail(job: answers.JobView) -> str:
    """Return tasks, metrics, time left and the reason for waiting as one short text."""
    parts = []
    if job.state in (Shown.RUNNING, Shown.INITIALISING, Shown.PENDING) and job.tasks.total:
        parts.append(f"{job.tasks.running}/{job.tasks.total} tasks")
    if job.attempts > 1:
        parts.append(f"attempt {job.attempts}")
    if job.progress is not None and job.progress.of:
        parts.append(f"step {job.progress.step:g} of {job.progress.of:g}")
    parts += [f"{name} {value:.4g}" for name, value in list(job.metrics.items())[:4] if value is not None]
    if job.progress is not None and job.progress.eta_s is not None and job.state == Shown.RUNNING:
        parts.append(f"{format_duration(job.progress.eta_s)} left")
    if job.state in (Shown.QUEUED, Shown.PENDING) and job.reason is not None and job.reason.message.en:
        parts.append(job.reason.message.en)
    if job.verdict is not None and job.verdict.code != "ok":
        parts.append(job.verdict.message.en or job.verdict.title.en)
    return ", ".join(parts)


def card(job: answers.JobView, url: str) -> str:
    """Return a job as a small HTML card; every text of it is escaped."""
    names = SHOWN_NAMES[job.state]
    bar = f'<progress value="{job.progress.fraction:.4f}" max="1"></progress>' if job.progress is not None else ""
    run = format_duration(job.run_s) if job.run_s is not None else ""
    metrics = ", ".join(f"{escape(name)} {value:.4g}" for name, value in job.metrics.items() if value is not None)
    rows = (
        ("id", f'<a href="{escape(url)}">{escape(job.id)}</a>'),
        ("state", f"{escape(names[1])} / {escape(names[0])} {bar}"),
        ("run time", run),
        ("metrics", metrics),
        ("model", escape(job.model or "")),
    )
    body = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows if value)
    return f"<table><caption>{escape(job.name)}</caption>{body}</table>"
