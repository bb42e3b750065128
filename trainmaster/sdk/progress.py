"""Showing a job while it is awaited: one line in a terminal, one card in a notebook, plain lines in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

from trainmaster import answers
from trainmaster.core.formats.terminal import visible
from trainmaster.core.states import SHOWN_NAMES, Shown
from trainmaster.messages.amounts import duration

if TYPE_CHECKING:
    from trainmaster.sdk.seen import SeenJob

Show = Callable[[answers.JobView], None]


@contextmanager
def show_progress(job: "SeenJob") -> Iterator[Show]:
    """Give a function that shows what was last seen of the job, in the way that fits where the program runs."""
    if in_notebook():
        yield _notebook(job)
    elif sys.stderr.isatty():
        with terminal(job._client.language) as show:
            yield show
    else:
        yield _lines(job._client.language)


def in_notebook() -> bool:
    """Return whether this program is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _notebook(job: "SeenJob") -> Show:
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    handle = display(job, display_id=True)
    return lambda _: handle.update(job)


def _lines(language: str) -> Show:
    said: list[str] = [""]

    def show(job: answers.JobView) -> None:
        text = f"{visible(job.name)}  {_name(job.state, language)}"
        if text != said[0]:
            said[0] = text
            sys.stderr.write(text + "\n")

    return show


def _name(state: Shown, language: str) -> str:
    zh, en = SHOWN_NAMES[state]
    return zh if language == "zh" else en


@contextmanager
def terminal(language: str = "en") -> Iterator[Show]:
    """Give a function that draws the job: name, state, bar and time on one line; replicas, metrics and time left
    below.
    """
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
            line,
            name=visible(job.name),
            state=_name(job.state, language),
            percent=percent,
            total=total,
            completed=fraction or 0.0,
        )
        below.plain = "  " + visible(detail(job, language))
        if job.ended_at is not None:  # a bar that stands still says nothing any more
            mark, tone = ("✓", "green") if job.state == Shown.SUCCEEDED else ("✗", "red")
            run = "" if job.run_s is None else duration(job.run_s, language)
            parts = (mark, tone), " ", (visible(job.name), "bold"), f" {_name(job.state, language)} {run}".rstrip()
            live.update(Group(Text.assemble(*parts), *([below] if below.plain.strip() else [])))

    with Live(Group(progress, below), console=out, refresh_per_second=8) as live:
        yield show


def detail(job: answers.JobView, language: str = "en") -> str:
    """Return replicas, metrics, time left and the reason for waiting as one short text."""

    def words(en: str, zh: str) -> str:
        return zh if language == "zh" else en

    parts = []
    if job.state in (Shown.RUNNING, Shown.INITIALISING, Shown.PENDING) and job.tasks.total:
        count = f"{job.tasks.running}/{job.tasks.total}"
        parts.append(words(f"{count} {'replica' if job.tasks.total == 1 else 'replicas'}", f"{count} 个副本"))
    if job.attempts > 1:
        parts.append(words(f"attempt {job.attempts}", f"第 {job.attempts} 次运行"))
    if job.progress is not None and job.progress.of:
        parts.append(
            words(
                f"step {job.progress.step:g} of {job.progress.of:g}",
                f"第 {job.progress.step:g} 步，共 {job.progress.of:g} 步",
            )
        )
    parts += [f"{name} {value:.4g}" for name, value in list(job.metrics.items())[:4] if value is not None]
    if job.progress is not None and job.progress.eta_s is not None and job.state == Shown.RUNNING:
        left = duration(job.progress.eta_s, language)
        parts.append(words(f"{left} left", f"剩余 {left}"))
    if job.state in (Shown.QUEUED, Shown.PENDING) and job.reason is not None:
        parts.append(words(job.reason.message.en, job.reason.message.zh))
    if job.verdict is not None and job.verdict.code != "ok":
        said = job.verdict
        parts.append(words(said.message.en or said.title.en, said.message.zh or said.title.zh))
    return words(", ", "，").join(filter(None, parts))


def card(job: answers.JobView, url: str) -> str:
    """Return a job as a small HTML card; every text of it is escaped."""
    names = SHOWN_NAMES[job.state]
    bar = f'<progress value="{job.progress.fraction:.4f}" max="1"></progress>' if job.progress is not None else ""
    run = duration(job.run_s) if job.run_s is not None else ""
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
