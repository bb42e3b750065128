"""Sweeps on a terminal: how far one is, its entries as a table, and what one would be."""

import csv
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainmaster.cli.language import counted, duration, memory, words
from trainmaster.cli.showing import tables
from trainmaster.cli.showing.console import e, emit_json, say, toned
from trainmaster.cli.showing.jobs import state_cell
from trainmaster.cli.showing.tables import TableColumn, Value, column
from trainmaster.cli.showing.waiting import clock, show_preview
from trainmaster.core.formats.terminal import visible
from trainmaster.spec.job import scalar_text

if TYPE_CHECKING:
    from trainmaster import answers


def entries_of(number: int) -> str:
    """Return a number of entries."""
    return counted(number, "entry", "entries", "个条目")


def states_of(counts: Mapping[Any, int]) -> str:
    """Return how many are in which state."""
    return "  ".join(f"{state_cell(state).text} {number}" for state, number in counts.items())


def tell(found: "answers.SweepDetail", as_json: bool) -> None:
    """Print what became of a sweep."""
    emit_json(found) if as_json else print(f"{visible(found.name)}  {states_of(found.counts)}")


def show_sweep(found: "answers.SweepDetail", entries: "Sequence[answers.SweepEntryView]") -> None:
    """Print a sweep and some of its entries."""
    print(visible(f"{found.name}  {found.id}"))
    about = [
        (words("owner", "所有者"), found.owner),
        (words("workspace", "工作空间"), found.workspace),
        (words("submitted", "提交时间"), clock(found.created_at)),
        (words("entries", "条目"), f"{found.entries}  {states_of(found.counts)}"),
    ]
    if (best := found.best) is not None:
        value = f"{visible(found.metric or '')} = {_number(best.value)}"
        at = words(f"entry {best.index} at step {best.step:g}", f"条目 {best.index}，第 {best.step:g} 步")
        about.append((words("best", "最优"), f"{value}  {at}  {best.job[:12]}"))
    for key, value in about:
        print(f"  {key}: {visible(value)}")
    print()
    columns, rows = _table(found, entries)
    tables.show(columns, rows)
    if len(entries) < sum(found.counts.values()):
        more = shlex.join(["tm", "sweeps", "show", found.name, "--limit", "0"])
        print(words(f"... all of them: {more}", f"……查看全部：{more}"))


def _table(
    found: "answers.SweepDetail", entries: "Sequence[answers.SweepEntryView]"
) -> "tuple[list[TableColumn], list[Sequence[Value]]]":
    metrics = [*dict.fromkeys(name for one in entries for name in one.metrics)]
    named = any(one.algorithm for one in entries)
    columns = [
        column(words("entry", "条目"), right=True),
        column(words("job", "任务")),
        *([column(words("algorithm", "算法"), least=10)] if named else []),
        column(words("state", "状态"), least=8),
        column(words("run time", "运行时长"), right=True, leaves=2),
        *(column(name, right=True, least=6) for name in found.parameters),
        *(column(name, right=True, least=6, leaves=1) for name in metrics),
        column(words("best", "最优"), right=True),
    ]
    rows: list[Sequence[Value]] = [
        (
            str(one.index),
            one.job[:12],
            *([one.algorithm or ""] if named else []),
            state_cell(one.state),
            "" if one.run_s is None else duration(one.run_s),
            *(_value(one.parameters.get(name)) for name in found.parameters),
            *(_number(one.metrics.get(name)) for name in metrics),
            _number(one.best),
        )
        for one in entries
    ]
    return columns, rows


def _value(value: Any) -> str:
    return "" if value is None else scalar_text(value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def print_csv(entries: "Sequence[answers.SweepEntryView]") -> None:
    """Print a line for each entry."""
    parameters = [*dict.fromkeys(name for one in entries for name in one.parameters)]
    metrics = [*dict.fromkeys(name for one in entries for name in one.metrics)]
    algorithms = ["algorithm"] if any(one.algorithm for one in entries) else []
    out = csv.writer(sys.stdout)
    names = [f"parameters.{name}" for name in parameters]
    out.writerow(["index", "job", "name", *algorithms, "state", "run_s", *names, *metrics, "best"])
    for one in entries:
        values = [one.parameters.get(name) for name in parameters] + [one.metrics.get(name) for name in metrics]
        own = [one.algorithm or "" for _ in algorithms]
        out.writerow([one.index, one.job, one.name, *own, one.state, one.run_s, *values, one.best])


def show_sweep_preview(found: "answers.SweepPreview", as_json: bool) -> None:
    """Print what a sweep would be, or all that is wrong with it; exit by which of the two."""
    if as_json:
        emit_json(found)
    elif not found.ok or found.job is None or found.asks is None:
        for one in found.problems:
            print(visible(f"{one.path}: {one.rule} {one.remedy}"))
    else:
        asks, room = found.asks, memory(found.asks.memory_mib)
        print(
            words(
                f"{entries_of(found.entries)}; together {asks.cpu:g} cores, {room}, {asks.gpu:g} GPUs",
                f"{entries_of(found.entries)}；合计 {asks.cpu:g} 核、{room}、{asks.gpu:g} 张加速卡",
            )
        )
        for entry in found.first:
            own = [one for one in (entry.algorithm, entry.command) if one]
            values = [f"{name}={_value(value)}" for name, value in entry.parameters.items()]
            print(visible("  ".join(["", entry.name, *own, *values])))
        for one in found.warnings:
            say(f"{toned(words('warning', '注意'), 'amber')} [bold]{e(one.path)}[/]: {e(one.rule)}  {e(one.remedy)}")
        print(words("The first entry:", "第一个条目："))
        show_preview(found.job, None, "")
    if not found.ok:
        sys.exit(2)
