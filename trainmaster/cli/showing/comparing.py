"""Jobs side by side on a terminal: a few as columns, many as rows; and what differs in their code."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from trainmaster.cli.language import counted, duration, words
from trainmaster.cli.showing import tables
from trainmaster.cli.showing.console import console, e, say, toned
from trainmaster.cli.showing.jobs import state_cell
from trainmaster.cli.showing.tables import Cell, Value, column
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.finding.comparing import Comparison

AS_COLUMNS: Final = 4
"""So many jobs stand beside each other; more of them below each other."""
_SECTIONS: Final = {
    "parameters": ("parameter", "参数"),
    "command": ("command", "命令"),
    "framework": ("framework", "启动方式"),
    "resources": ("resource", "资源"),
    "environment": ("environment", "环境"),
    "code": ("code", "代码"),
    "inputs": ("input", "输入"),
    "settings": ("setting", "设置"),
}
_CHANGES: Final = {"added": ("added", "新增"), "removed": ("removed", "删除"), "changed": ("changed", "修改")}


def judged(found: "Comparison", names: Sequence[str] | None, better: str | None) -> "Comparison":
    """Return a comparison with these metrics alone (None: all), the best of each by what `better` says (None: as the
    server judged it).
    """
    from msgspec.structs import replace

    metrics = [one for one in found.metrics if not names or one.name in names]
    if better is not None:
        found = replace(found, metrics=[replace(one, better=better, best=[]) for one in metrics])
        metrics = [replace(one, best=found.leading(one.name)) for one in found.metrics]
    return replace(found, metrics=metrics)


def show_comparison(found: "Comparison", everything: bool) -> None:
    """Print jobs side by side: the settings that differ, or `everything`, and what became of each metric."""
    metrics = found.metrics
    rows = [row for row in found.rows if everything or row.differs]
    if len(found.jobs) <= AS_COLUMNS:
        _as_columns(found, metrics, rows)
    else:
        _as_rows(found, metrics, rows)
    if console().is_terminal and any(metric.best for metric in metrics):
        say(f"[bright_black]{words('* the best value that a job reached', '* 各任务达到的最优值')}[/]")
    if not rows and found.rows:
        print(words("The job files are the same.", "任务文件完全相同。"))
    for ref in found.unreadable:
        say(toned(words(f"the job file of {ref} cannot be read", f"无法读取 {ref} 的任务文件"), "amber"))
    for ref in found.partial:
        say(
            toned(
                words(f"points of {ref} are still being read: ask again", f"{ref} 的数据点仍在读取，请稍后重试"),
                "amber",
            )
        )


def _as_columns(
    found: "Comparison", metrics: Sequence["answers.ComparedMetric"], rows: "Sequence[answers.ComparedRow]"
) -> None:
    columns = (
        column("", least=8),
        column("", least=10, wraps=True),
        *(column(job.id[:12], least=10, wraps=True) for job in found.jobs),
    )
    job, metric = words("job", "任务"), words("metric", "指标")
    shown: list[Sequence[Value]] = [
        (job, words("name", "名称"), *(Cell(job.name) for job in found.jobs)),
        (job, words("state", "状态"), *(state_cell(job.state) for job in found.jobs)),
        (job, words("run time", "运行时长"), *(_run_time(job) for job in found.jobs)),
    ]
    shown += [(words(*_SECTIONS[row.section]), row.name, *map(_text, row.values)) for row in rows]
    shown += [(metric, one.name, *(_result(one, at) for at in range(len(found.jobs)))) for one in metrics]
    tables.show(columns, _once(shown) if console().is_terminal else shown)


def _once(rows: Sequence[Sequence[Value]]) -> Iterator[Sequence[Value]]:
    """Yield the rows, what stands first in several of them only in the first."""
    before: Value = ""
    for row in rows:
        yield row if row[0] != before else ("", *row[1:])
        before = row[0]


def _as_rows(
    found: "Comparison", metrics: Sequence["answers.ComparedMetric"], rows: "Sequence[answers.ComparedRow]"
) -> None:
    first = [*metrics, *rows]
    columns = (
        column(words("id", "ID")),
        column(words("name", "名称"), least=6),
        column(words("state", "状态"), leaves=len(first) + 2),
        *(column(one.name, right=True, leaves=at) for at, one in enumerate(metrics)),
        *(column(one.name, least=6, leaves=at + len(metrics) + 1) for at, one in enumerate(rows)),
    )
    order = range(len(found.jobs))
    if len(metrics) == 1:
        order_of = {at: number for number, at in enumerate(_by_value(metrics[0]))}
        order = sorted(order, key=lambda at: order_of.get(at, len(order_of)))  # type: ignore[assignment]
    shown: list[Sequence[Value]] = [
        (
            found.jobs[at].id[:12],
            Cell(found.jobs[at].name),
            state_cell(found.jobs[at].state),
            *(_result(one, at) for one in metrics),
            *(_text(one.values[at]) for one in rows),
        )
        for at in order
    ]
    tables.show(columns, shown)


def _by_value(metric: "answers.ComparedMetric") -> list[int]:
    """Return the places of the jobs that have a metric, the best first."""
    less = metric.better == "min"
    known = [(one.low if less else one.high, at) for at, one in enumerate(metric.values) if one is not None]
    return [at for value, at in sorted((v, at) for v, at in known if v is not None)][:: 1 if less else -1]


def _run_time(job: "answers.JobView") -> str:
    return "" if job.run_s is None else duration(job.run_s)


def _text(value: object) -> Cell:
    if value is None:
        return Cell("–", "grey")
    if isinstance(value, str) and value.startswith("sha256:"):
        return Cell(value[: len("sha256:") + 12])  # enough to tell one from another
    return Cell(str(value).lower() if isinstance(value, bool) else str(value))


def _result(metric: "answers.ComparedMetric", at: int) -> Cell:
    """Return the value by which a metric is judged: the best that was reached, the last where none is better."""
    one = metric.values[at]
    value = None if one is None else {"min": one.low, "max": one.high}.get(metric.better or "", one.last)
    if value is None:
        return Cell("–", "grey")
    return Cell(f"{value:.6g} *", "green") if at in metric.best else Cell(f"{value:.6g}")


def show_code(found: "answers.CodeDiffView") -> None:
    """Print what differs in the code of two jobs: a line for each file, then the lines that differ."""
    for ref in found.gone:
        say(toned(words(f"the code of {ref} is not kept any more", f"{ref} 的代码已不再保留"), "amber"))
    if found.gone:
        return
    if found.base_code is None and found.other_code is None:
        print(words("Neither job has a code folder.", "两个任务都没有代码文件夹。"))
        return
    out = console()
    for file in found.files:
        change, size = words(*_CHANGES[file.change]), f"{file.was} → {file.size} B"
        note = words("  not text", "  非文本") if file.binary else words("  cut", "  已截断") if file.cut else ""
        say(f"[bold]{e(file.path)}[/]  {e(change)}  [bright_black]{e(size + note)}[/]")
        for line in _lines(file.diff):
            say(toned(line, tone) if (tone := _tone(line)) and out.is_terminal else e(line))
    rest = counted(found.same, "file is the same", "files are the same", "个文件相同")
    more = counted(found.left_out, "file more may differ", "files more may differ", "个文件可能不同，未列出")
    print(visible("; ".join([rest, more] if found.left_out else [rest])))


def _lines(diff: str) -> Iterator[str]:
    yield from diff.split("\n")[:-1]


def _tone(line: str) -> str:
    return {"+": "green", "-": "red", "@": "blue"}.get(line[:1], "")
