"""Showing a job while it is awaited: one line in a terminal, one card in a notebook, plain lines in a log file."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trainmaster.core.terminal import visible
from trainmaster.core.units import format_duration

if TYPE_CHECKING:
    from trainmaster.sdk.jobs import Job

Show = Callable[[Mapping[str, Any]], None]


@contextmanager
def shown(job: "Job") -> Iterator[Show]:
    """Give a function that shows the job's newest data, in the way that fits where the program runs."""
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

    def show(data: Mapping[str, Any]) -> None:
        text = f"{visible(data['name'])}  {data['state']}"
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
        SpinnerColumn(), TextColumn("{task.fields[name]}", style="bold", markup=False), TextColumn("{task.fields[state]}"),
        BarColumn(bar_width=24), TextColumn("{task.fields[percent]}"), TimeElapsedColumn(),
    )  # fmt: skip
    out = Console(stderr=True)
    progress, below = Progress(*columns, console=out), Text(style="dim", no_wrap=True, overflow="ellipsis")
    line = progress.add_task("", total=None, name="", state="", percent="")

    def show(data: Mapping[str, Any]) -> None:
        fraction = (data.get("progress") or {}).get("fraction")
        if data["state"] == "succeeded":
            fraction = 1.0
        percent, total = ("", None) if fraction is None else (f"{fraction:.0%}", 1.0)
        progress.update(
            line,
            name=visible(data["name"]),
            state=data["state"],
            percent=percent,
            total=total,
            completed=fraction or 0.0,
        )
        below.plain = "  " + visible(detail(data))

    with Live(Group(progress, below), console=out, refresh_per_second=8):
        yield show


def detail(data: Mapping[str, Any]) -> str:
    """Return tasks, metrics, time left and the reason for waiting as one short text."""
    parts = []
    tasks = data.get("tasks") or {}
    if data["state"] in ("running", "initialising", "pending") and tasks.get("total"):
        parts.append(f"{tasks['running']}/{tasks['total']} tasks")
    if data.get("attempts", 0) > 1:
        parts.append(f"attempt {data['attempts']}")
    progress = data.get("progress") or {}
    if progress.get("step") is not None and progress.get("of"):
        parts.append(f"step {progress['step']:g} of {progress['of']:g}")
    parts += [
        f"{name} {value:.4g}" for name, value in list((data.get("metrics") or {}).items())[:4] if value is not None
    ]
    if progress.get("eta_s") is not None and data["state"] == "running":
        parts.append(f"{format_duration(progress['eta_s'])} left")
    reason = (data.get("reason") or {}).get("message") or {}
    if data["state"] in ("queued", "pending") and reason.get("en"):
        parts.append(reason["en"])
    verdict = data.get("verdict") or {}
    if verdict.get("code") not in (None, "ok"):
        parts.append(verdict["message"]["en"] or verdict["title"]["en"])
    return ", ".join(parts)
