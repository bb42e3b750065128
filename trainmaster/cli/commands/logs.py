"""`tm logs`: what the replicas of a job wrote, of one as it is, of several with the name of each before its lines."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, OneJob, client
from trainmaster.cli.helping import RESULTS, add
from trainmaster.cli.language import words
from trainmaster.core.formats.terminal import RESET, Harmless, as_seen, visible

if TYPE_CHECKING:
    from trainmaster.sdk.jobs import Job

COLOURS: Final = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
"""SGR colours of the names before the lines, one replica after the other. None is red: that means failure."""
Replicas = Annotated[
    list[str] | None,
    typer.Option(
        "--replica",
        "-r",
        metavar="NAME",
        help=words("Only this replica, such as worker-0; repeatable.", "只看该副本，例如 worker-0；可重复。"),
        show_default=words("all", "全部"),
        autocompletion=completing.replicas,
    ),
]
Task = Annotated[list[str] | None, typer.Option("--task", hidden=True)]
"""What --replica was called before."""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        logs,
        "输出任务各副本的日志。\n\n"
        "多个副本时每行以副本名开头，如 worker-0 |；不加 -f 时逐个副本输出，加 -f 时按到达顺序输出。"
        "文本和颜色保留，反复重画的行只输出最后的样子；--raw 输出程序所写的全部字节，您的终端会执行其中的控制序列。",
        "tm logs t826",
        "tm logs -f t826 --tail 100",
        "tm logs t826 --replica worker-1 --search loss",
        panel=RESULTS,
    )


Follow = Annotated[
    bool,
    typer.Option(
        "--follow",
        "-f",
        help=words("Stay and print what comes, until the job has ended.", "持续输出新内容，直到任务结束。"),
    ),
]
Attempt = Annotated[
    str, typer.Option(help=words("Which attempt: its number, or last.", "第几次运行：编号，或 last 表示最近一次。"))
]
Tail = Annotated[
    int | None,
    typer.Option(
        "--tail",
        "-n",
        min=1,
        max=100_000,
        help=words("Only the last lines of each replica.", "只输出每个副本的最后若干行。"),
    ),
]
Search = Annotated[
    str | None, typer.Option(metavar="TEXT", help=words("Only lines with this text.", "只输出含有该文本的行。"))
]
Regex = Annotated[bool, typer.Option(help=words("Take TEXT as a regular expression.", "把 TEXT 当作正则表达式。"))]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help=words(
            "Every byte, also what moves the cursor or sets titles. Of one replica.",
            "输出每个字节，包括移动光标、设置标题的控制序列。仅限一个副本。",
        ),
    ),
]


def logs(
    job: OneJob,
    follow: Follow = False,
    replica: Replicas = None,
    attempt: Attempt = "last",
    tail: Tail = None,
    search: Search = None,
    regex: Regex = False,
    raw: Raw = False,
    task: Task = None,
    as_json: AsJson = False,
) -> None:
    """Print what the replicas of a job wrote.

    Of several replicas, each line begins with its replica, as in worker-0 |; without -f one replica after the other,
    with -f as lines come. Text and colors stay, and of a line that was drawn over and over only what came last; with
    --raw all that the program wrote, which your terminal obeys.
    """
    found = client().get(job)
    names = [*(replica or task or ())] or replicas_of(found)
    if raw and len(names) > 1:
        raise typer.BadParameter(
            words("--raw is of one replica; add --replica NAME", "--raw 只能用于一个副本；请加 --replica NAME")
        )
    if search is not None:
        _search(found, names, attempt, search, regex, raw, as_json)
    elif as_json:
        _as_json(found, names, attempt, tail)
    elif len(names) > 1:
        _several(found, names, attempt, tail, follow)
    elif follow:
        _follow(found, names[0], attempt, tail, raw)
    else:
        text, safe = found.logs(names[0], attempt=attempt, tail=tail), Harmless()
        shown = text if raw else safe.feed(as_seen(text))
        sys.stdout.write(shown + (RESET if safe.coloured else ""))


def replicas_of(job: "Job") -> list[str]:
    """Return the names of a job's replicas."""
    return [f"{role.name}-{at}" for role in job.detail.roles for at in range(role.replicas)]


def _follow(job: "Job", name: str, attempt: str, tail: int | None, raw: bool) -> None:
    safe = Harmless()
    feed = str if raw else safe.feed
    try:
        for piece in job.logs(name, attempt=attempt, follow=True, tail=tail):
            sys.stdout.write(feed(piece))
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        sys.stdout.write(RESET if safe.coloured else "")


def _several(job: "Job", names: Sequence[str], attempt: str, tail: int | None, follow: bool) -> None:
    from trainmaster.sdk.logs import MOST_FOLLOWED, follow_lines

    write = _writer(names)
    if not follow:
        for name in names:
            text = job.logs(name, attempt=attempt, tail=tail)
            for line in text.removesuffix("\n").split("\n") if text else ():
                write(name, line)
        return
    if len(names) > MOST_FOLLOWED:
        many = words(
            f"{len(names)} replicas; at most {MOST_FOLLOWED} are followed at once. Choose some with --replica",
            f"共 {len(names)} 个副本，最多同时跟踪 {MOST_FOLLOWED} 个。请用 --replica 选择",
        )
        raise typer.BadParameter(many)
    try:
        for name, line in follow_lines(job, names, attempt=attempt, tail=tail):
            write(name, line)
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)


def _writer(names: Sequence[str]) -> Callable[[str, str], Any]:
    """Return what writes a line of a replica: its name, a bar, and the line as a terminal would show it in the end."""
    width, coloured = max(map(len, names)), has_colours()
    before = {}
    for at, name in enumerate(names):
        text = f"{visible(name):<{width}} |"
        before[name] = f"\x1b[{COLOURS[at % len(COLOURS)]}m{text}{RESET} " if coloured else f"{text} "

    def write(name: str, line: str) -> None:
        safe = Harmless()
        shown = safe.feed(as_seen(line))
        sys.stdout.write(f"{before[name]}{shown}{RESET if safe.coloured else ''}\n")

    return write


def has_colours() -> bool:
    """Return whether what this program prints may have colours of its own."""
    from trainmaster.cli.showing.console import console

    out = console()
    return out.is_terminal and not out.no_color and os.environ.get("TERM") != "dumb"


def _as_json(job: "Job", names: Iterable[str], attempt: str, tail: int | None) -> None:
    from trainmaster.cli.showing.console import emit_json

    texts = [{"replica": name, "text": job.logs(name, attempt=attempt, tail=tail)} for name in names]
    emit_json({"id": job.id, "state": job.state, "attempt": attempt, "replicas": texts})


def _search(job: "Job", names: Sequence[str], attempt: str, text: str, regex: bool, raw: bool, as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json, plain

    write = _writer(names)
    hits = []
    for name in names:
        for hit in job.search(text, name, attempt=attempt, regex=regex):
            if as_json:
                hits.append({"replica": name, **plain(hit)})
            elif len(names) > 1:
                write(name, f"{hit.line + 1}: {hit.text}")
            else:
                safe = Harmless()
                shown = hit.text if raw else safe.feed(hit.text)
                print(f"{hit.line + 1}: {shown}{RESET if safe.coloured else ''}")
    if as_json:
        emit_json({"id": job.id, "state": job.state, "attempt": attempt, "items": hits})
