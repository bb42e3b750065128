"""One screen: what runs, failed and waits of one's own, what is free, what one used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.language import money, told, used_memory, words

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        home,
        "一屏显示自己的任务与空闲资源。\n\n依次为：运行中、排队中（含预计开始时间）、最近失败、各资源池空闲量、"
        "个人上限、本月用量；工作空间管理员还会看到工作空间的情况。",
        "tm home",
        "tm home --json",
        panel=SERVER,
    )


def home(as_json: AsJson = False) -> None:
    """Show one's own jobs and what is free, on one screen.

    Prints what runs, what waits and until when, what failed, what is free in each pool, one's limits and use of the
    month; for who administers a workspace, how it stands.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().home()
    if as_json:
        emit_json(found)
        return
    print("\n".join(_lines(found)))


def _lines(found: "answers.HomeView") -> Iterator[str]:
    use = found.use
    yield words(f"Running {found.running_total}", f"运行中 {found.running_total}")
    yield from _rows(_running(one) for one in found.running)
    yield words(f"Queued {found.waiting_total}", f"排队中 {found.waiting_total}")
    yield from _rows(_waiting(one) for one in found.waiting)
    yield words(f"Failed in 14 days {len(found.failed)}", f"近 14 天失败 {len(found.failed)}")
    yield from _rows(_failed(one) for one in found.failed)
    yield words("Free", "空闲")
    yield from _rows(_free(one) for one in found.free)
    if found.limits:
        yield words("Your limits", "个人上限")
        yield from _rows((f"{one.workspace}/{one.pool}", _limit(one)) for one in found.limits)
    hours = f"{use.gpu_s / 3600:.1f}"
    amount = f"{money(use.amount)} {use.currency}" if use.priced else ""
    said = words(f"Used in {use.month}: {hours} GPU hours", f"{use.month} 用量：{hours} 加速卡时")
    yield said + (amount and words(f", {amount}", f"，{amount}"))
    for one in found.workspaces:
        yield words(f"Workspace {one.name}", f"工作空间 {one.name}")
        yield from _rows([_workspace(one)])
        yield from _rows(_person(person) for person in one.people)


def _rows(rows: "Iterator[tuple[Any, ...]] | list[tuple[Any, ...]]") -> Iterator[str]:
    for row in rows:
        yield "  " + "  ".join(str(cell) for cell in row if cell != "")


def _running(job: "answers.JobView") -> tuple[str, ...]:
    from trainmaster.core.formats.units import exact_duration

    progress = "" if job.progress is None else f"{job.progress.fraction:.0%}"
    left = "" if job.progress is None or job.progress.eta_s is None else exact_duration(round(job.progress.eta_s))
    return job.id[:8], job.name, progress, left and words(f"{left} left", f"剩余 {left}")


def _waiting(one: "answers.WaitingView") -> tuple[str, ...]:
    from trainmaster.cli.showing.waiting import expected_start

    start = expected_start(one.forecast)
    return (
        (one.job or "")[:8],
        one.name or "",
        start and words(f"starts {start}", f"{start}开始"),
        "" if one.reason is None else told(one.reason.message),
    )


def _failed(job: "answers.JobView") -> tuple[str, ...]:
    return job.id[:8], job.name, "" if job.verdict is None else told(job.verdict.title)


def _free(pool: "answers.FreePool") -> tuple[str, ...]:
    cards = (f"{card.model} {card.free:g}/{card.total}" for card in pool.cards)
    memory = used_memory(pool.memory_free_mib, pool.memory_mib)
    return pool.pool, *cards, f"CPU {pool.cpu_free:g}/{pool.cpu:g}", f"{words('memory', '内存')} {memory}"


def _limit(one: "answers.PersonalLimit") -> str:
    if one.resource == "memory_mib":
        return f"{words('memory', '内存')} {used_memory(one.used, one.limit)}"
    return f"{one.resource} {one.used:g}/{one.limit:g}"


def _workspace(one: "answers.HomeWorkspace") -> tuple[str, ...]:
    spent = f"{money(one.spent)} {one.use.currency}"
    budget = "" if one.budget is None else f" / {money(one.budget)}"
    return (
        words(f"{one.running} running", f"运行中 {one.running}"),
        words(f"{one.waiting} queued", f"排队 {one.waiting}"),
        words(f"spent {spent}{budget}", f"已用 {spent}{budget}") if one.use.priced else "",
        words("in arrears", "已欠费") if one.in_arrears else "",
    )


def _person(one: "answers.HomePerson") -> tuple[str, ...]:
    return (
        one.name,
        words(f"{one.running} running", f"运行中 {one.running}"),
        words(f"{one.waiting} queued", f"排队 {one.waiting}"),
        words(f"{one.gpu:g} {'GPU' if one.gpu == 1 else 'GPUs'}", f"{one.gpu:g} 张加速卡"),
    )
