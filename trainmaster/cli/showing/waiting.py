"""Why a job waits, when it starts, and what to type that it starts sooner; and what a preview found."""

import json
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from trainmaster.cli.language import told, words
from trainmaster.cli.showing.console import e, say, toned
from trainmaster.core.formats.units import exact_duration

if TYPE_CHECKING:
    from trainmaster import answers


def clock(at: float | None) -> str:
    """Return a point in time to the minute."""
    return (
        words("an unknown time", "未知时间") if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    )


def expected_start(forecast: "answers.ForecastView | None") -> str:
    """Return in words when a waiting job is expected to start; empty where nobody asks."""
    if forecast is None:
        return ""
    if forecast.when == "unknown":
        unknown = words("unknown", "未知")
        return f"{unknown}{words(': ', '：')}{told(forecast.why)}" if forecast.why is not None else unknown
    if forecast.when == "after":
        return words(f"after {clock(forecast.low)}", f"{clock(forecast.low)} 之后")
    if forecast.when == "now":
        return words("now", "立即")
    return words(f"about {clock(forecast.at)}", f"约 {clock(forecast.at)} ")


def waiting_lines(
    found: "answers.Explanation | answers.WouldStart", command: "Callable[[answers.Json], str]"
) -> list[str]:
    """Return why a job waits (or would), where and until when, and what to type that it starts sooner: `command` of a
    change.
    """
    texts = []
    if found.reason is not None:
        texts.append(told(found.reason.message))
        if found.reason.decided_by:
            texts.append(words(f"decided by: {found.reason.decided_by}", f"调度方：{found.reason.decided_by}"))
    if found.position is not None:
        texts.append(words(f"position {found.position} in the queue", f"队列中第 {found.position} 位"))
    if found.forecast is not None:
        texts.append(_forecast(found.forecast))
    for one in found.suggestions:
        texts.append(words(f"to start it {_sooner(one)}: {told(one.message)}", f"{_sooner(one)}：{told(one.message)}"))
        texts.append(f"  {command(one.change)}")
    return texts


def _forecast(forecast: "answers.ForecastView") -> str:
    low, high = (end and clock(end) for end in (forecast.low, forecast.high))
    span = ""
    if forecast.when in ("after", "unknown") and forecast.why is not None:
        span = words(". ", "。") + told(forecast.why)
    elif forecast.at and low != high:
        first, last = low or words("now", "现在"), high or words("later", "更晚")
        span = words(f", between {first} and {last}", f"，在 {first} 与 {last} 之间")
    nodes = words(" on ", "，节点 ") + ", ".join(forecast.nodes) if forecast.nodes else ""
    by = nodes + words(f", says {forecast.by}", f"，由 {forecast.by} 预计") if forecast.by else ""
    start = words("unknown", "未知") if forecast.when == "unknown" else expected_start(forecast).rstrip()
    return words(f"expected start: {start}{span}{by}", f"预计开始：{start}{span}{by}")


def _sooner(one: "answers.SuggestionView") -> str:
    """Return when a job starts with a change of it, and when without."""
    if one.forecast is None:
        return words("now", "立即开始")
    start, before = expected_start(one.forecast), clock(one.otherwise_at)
    return words(f"sooner, {start} instead of {before}", f"更早开始（{start.strip()}，而不是 {before}）")


def changing(job: str, change: "answers.Json") -> str:
    """Return what makes `change`: in place where the job keeps its turn, else in a clone instead of it."""
    if change.keys() <= {"duration", "priority"}:
        pairs = (f"--{name} {exact_duration(value) if name == 'duration' else value}" for name, value in change.items())
        return f"tm change {job[:12]} {' '.join(pairs)}"
    return f"{_setting(f'clone {job[:12]}', change)} && tm stop {job[:12]}"


def remedy_lines(found: "answers.Explanation", job: str) -> list[str]:
    """Return what would help a job that went wrong, and what to type that clones it so."""
    texts = []
    for one in found.suggestions:
        texts.append(words(f"what would help: {told(one.message)}", f"建议：{told(one.message)}"))
        if one.change or one.code == "run_as_it_is":
            texts.append(f"  {_setting(f'clone {job[:12]}', one.change).rstrip()}")
    return texts


def _setting(command: str, change: "answers.Json") -> str:
    pairs = (
        f"--set {shlex.quote(f'{path}={json.dumps(value, ensure_ascii=False)}')}" for path, value in change.items()
    )
    return f"tm {command} {' '.join(pairs)}"


def _when(when: str) -> str:
    said = {
        "now": (words("it would start now", "可立即开始"), "green"),
        "queue": (words("it would be queued", "需要排队"), "amber"),
        "never": (words("it can never run here", "在此平台上永远无法运行"), "red"),
    }
    return toned(*said[when])


def _show_hook(name: str, command: str) -> None:
    if command:
        say(f"  [bright_black]hooks.{name}[/] {e(command)}")


def show_preview(found: "answers.PreviewView", start: "answers.WouldStart | None", command: str) -> None:
    """Print a preview: problems, or what would run and where. `start`: whether it would now; `command`: what submits
    it.
    """
    problem, warning = toned(words("problem", "问题"), "red"), toned(words("warning", "注意"), "amber")
    for title, items in ((problem, found.problems), (warning, found.warnings)):
        for item in items:
            say(f"{title} [bold]{e(item.path)}[/]: {e(item.rule)}  [bright_black]{e(item.remedy)}[/]")
    for role in found.roles:
        say(words(f"sub-task [bold]{e(role.name)}[/] runs", f"子任务 [bold]{e(role.name)}[/] 运行"))
        _show_hook("before", role.before)
        for task in role.tasks:
            say(f"  [bold]{e(role.name)}-{task.name.rpartition('-')[2]}[/] {e(shlex.join(task.argv))}")
        _show_hook("after", role.after)
    if start is not None:
        say(_when(start.when))
        for line in waiting_lines(start, partial(_setting, command)):
            say(f"  {e(line)}")
        for way in start.alternatives if len(start.alternatives) > 1 else ():
            flavors = " + ".join(name or words("its own resources", "自定资源") for name in way.flavors)
            say(f"  {words('with', '使用')} {e(flavors)}{words(': ', '：')}{_when(way.when)}")
    elif found.ok:
        say(toned(words("it is valid", "任务文件有效"), "green"))


def ending(why: "answers.Explanation") -> list[str]:
    """Return how a job ended: what it is called, in words, and from where that is known."""
    if why.verdict is None:
        return []
    return [text for text in (told(why.verdict.title), told(why.verdict.message), why.verdict.evidence) if text]
