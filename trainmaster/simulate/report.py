"""The report: one HTML file that compares outcomes, with charts, for light and dark screens, in Chinese and English.

Self-contained: no script, style or font from elsewhere; the language is switched by one attribute of the page. What
comes from outside (names of policies, workspaces, files) is escaped. Pure.
"""

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Final, NamedTuple

from trainmaster.messages.amounts import duration
from trainmaster.simulate import charts
from trainmaster.simulate.clusters import describe
from trainmaster.simulate.metrics import SIZE_NAMES, SimulationSummary, WaitTimes, over_time, summarise
from trainmaster.simulate.run import SimulationOutcome
from trainmaster.simulate.workload import Workload

POINTS: Final = 160
"""Points of a drawn distribution."""

WORKSPACES: Final = 10
"""Workspaces drawn at most: those with most jobs."""


class Column(NamedTuple):
    """A column of the table of results: name (zh, en), its number, how it is written, and which is better (None:
    neither).
    """

    name: tuple[str, str]
    value: Callable[[SimulationSummary], float]
    words: Callable[[float], str]
    less_is_better: bool | None = True


COLUMNS: Final = (
    Column(("平均等待", "Mean wait"), lambda s: s.waits.mean_s, duration),
    Column(("等待中位数", "Median wait"), lambda s: s.waits.p50_s, duration),
    Column(("等待 P90", "P90 wait"), lambda s: s.waits.p90_s, duration),
    Column(("等待 P99", "P99 wait"), lambda s: s.waits.p99_s, duration),
    Column(("最长等待", "Longest wait"), lambda s: s.waits.max_s, duration),
    Column(("平均完成时间", "Mean completion"), lambda s: s.waits.jct_s, duration),
    Column(("有界减速比", "Bounded slowdown"), lambda s: s.waits.slowdown, lambda v: f"{v:,.1f}"),
    Column(("总时长", "Makespan"), lambda s: s.makespan_s, duration),
    Column(("分配率", "Allocated"), lambda s: s.allocated, lambda v: f"{v:.1%}", False),
    Column(("公平性（Jain）", "Fairness (Jain)"), lambda s: s.fairness, lambda v: f"{v:.3f}", False),
    Column(("未能运行", "Not run"), lambda s: sum(s.others.values()), lambda v: f"{v:,.0f}"),
)
"""What the table shows, here and in the terminal."""


def html(workload: Workload, outcomes: Sequence[SimulationOutcome]) -> str:
    """Return the page. Costs O(jobs log jobs) per outcome."""
    summaries = [summarise(outcome) for outcome in outcomes]
    names = [summary.label for summary in summaries]
    machines = _two("；", "; ").join(
        _two(*words) for words in dict.fromkeys(describe(outcome.nodes) for outcome in outcomes)
    )
    facts = f"{escape(workload.name)} &middot; {len(workload.jobs):,} {_two('个任务', 'jobs')} &middot; {machines}"
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in workload.notes)
    sections = (
        _section(_two("结果", "Results"), _table(summaries), ("", ""), wide=True),
        *_wait_sections(outcomes, summaries),
        *_time_sections(outcomes),
        *_group_sections(summaries),
    )
    page = files("trainmaster.simulate").joinpath("report.html").read_text("utf-8")
    body = f"<p class='facts'>{facts}</p>{notes}{charts.legend(names)}<div class='sheets'>{''.join(sections)}</div>"
    return page.replace("<!-- body -->", body).replace("<!-- title -->", escape(workload.name))


def _two(zh: str, en: str) -> str:
    return f'<span class="zh">{escape(zh)}</span><span class="en">{escape(en)}</span>'


def _section(title: str, content: str, note: tuple[str, str], wide: bool = False) -> str:
    told = f"<p class='note'>{_two(*note)}</p>" if note[0] else ""
    return f'<section class="{"wide" if wide else ""}"><h2>{title}</h2>{told}{content}</section>'


def _table(summaries: Sequence[SimulationSummary]) -> str:
    head = "".join(f"<th>{_two(*column.name)}</th>" for column in COLUMNS)
    rows = []
    for summary in summaries:
        cells = "".join(_cell(column, summary, summaries) for column in COLUMNS)
        rows.append(f"<tr><th>{escape(summary.label)}</th>{cells}</tr>")
    first = _two("策略", "Policy")
    return (
        f"<div class='scroll'><table><thead><tr><th>{first}</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def _cell(column: Column, summary: SimulationSummary, all_of_them: Sequence[SimulationSummary]) -> str:
    values = [column.value(one) for one in all_of_them]
    value = column.value(summary)
    best = min(values) if column.less_is_better else max(values)
    mark = " class='best'" if len(values) > 1 and value == best and min(values) != max(values) else ""
    return f"<td{mark}>{escape(column.words(value))}</td>"


def _wait_sections(outcomes: Sequence[SimulationOutcome], summaries: Sequence[SimulationSummary]) -> tuple[str, ...]:
    top = max((s.waits.max_s for s in summaries), default=0)
    scale = charts.durations(top)
    share = charts.linear(0, 1, lambda v: f"{v:.0%}")
    spread = [(outcome.label, _distribution(outcome)) for outcome in outcomes]
    measures: tuple[tuple[tuple[str, str], Callable[[WaitTimes], float]], ...] = (
        (("平均", "mean"), lambda w: w.mean_s),
        (("中位数", "median"), lambda w: w.p50_s),
        (("P90", "P90"), lambda w: w.p90_s),
        (("P99", "P99"), lambda w: w.p99_s),
        (("最长", "longest"), lambda w: w.max_s),
    )
    values = [(s.label, [of(s.waits) for _, of in measures]) for s in summaries]
    return (
        _section(
            _two("等待时间", "Waits"),
            charts.contrast([name for name, _ in measures], values, duration, "waits"),
            ("每组各自的刻度", "Each group has its own scale"),
        ),
        _section(
            _two("等待时间分布", "Distribution of waits"),
            charts.lines(spread, scale, share, "distribution", steps=True),
            ("多少比例的任务等待不超过此时间", "Share of the jobs that waited no longer"),
        ),
    )


def _distribution(outcome: SimulationOutcome) -> list[tuple[float, float]]:
    ordered = sorted(row.wait_s for row in outcome.rows if row.done)
    if not ordered:
        return []
    places = sorted({round(at * (len(ordered) - 1) / POINTS) for at in range(POINTS + 1)})
    return [(0.0, 0.0), *((float(ordered[at]), (at + 1) / len(ordered)) for at in places)]


def _time_sections(outcomes: Sequence[SimulationOutcome]) -> tuple[str, ...]:
    drawn = [(outcome.label, *over_time(outcome)) for outcome in outcomes]
    seconds = [second for _, found, _, _ in drawn for second in found]
    if not seconds:
        return ()
    x = charts.calendar(min(seconds), max(seconds))
    share = charts.linear(0, 1, lambda v: f"{v:.0%}")
    most = max((value for _, _, _, waiting in drawn for value in waiting), default=1)
    count = charts.linear(0, most or 1, lambda v: f"{v:,.0f}")
    held = [(label, list(zip(at, allocated, strict=True))) for label, at, allocated, _ in drawn]
    queued = [(label, list(zip(at, waiting, strict=True))) for label, at, _, waiting in drawn]
    what = ("加速卡", "GPUs") if any(node.gpus for node in outcomes[0].nodes) else ("核", "cores")
    return (
        _section(
            _two("分配率", "Allocated"),
            charts.lines(held, x, share, "allocated"),
            (f"占全部{what[0]}的比例", f"Share of all {what[1]}"),
        ),
        _section(
            _two("排队任务数", "Jobs queued"),
            charts.lines(queued, x, count, "waiting"),
            ("横轴：自第一个任务起的时间", "Horizontal: time since the first job"),
        ),
    )


def _group_sections(summaries: Sequence[SimulationSummary]) -> tuple[str, ...]:
    sizes = [name for name in SIZE_NAMES if any(name in s.by_size for s in summaries)]
    largest = max((w.mean_s for s in summaries for w in s.by_size.values()), default=0)
    means = [(s.label, [s.by_size[name].mean_s if name in s.by_size else 0.0 for name in sizes]) for s in summaries]
    out = [
        _section(
            _two("按规模的平均等待", "Mean wait by size"),
            charts.bars(sizes, means, charts.calendar(0, largest), "by size"),
            ("规模：加速卡数（没有时为核数）", "Size: GPUs, or cores where there are none"),
        )
    ]
    jobs = {name: found.jobs for s in summaries for name, found in s.by_workspace.items()}
    spaces = sorted(sorted(jobs, key=lambda name: (-jobs[name], name))[:WORKSPACES])
    if len(jobs) > 1:
        rates = [
            (s.label, [s.by_workspace[n].mean_s if n in s.by_workspace else 0.0 for n in spaces]) for s in summaries
        ]
        top = max((value for _, values in rates for value in values), default=0)
        note = ("任务最多的工作空间", "The workspaces with most jobs")
        chart = charts.bars(spaces, rates, charts.calendar(0, top), "by workspace")
        out.append(_section(_two("按工作空间的平均等待", "Mean wait by workspace"), chart, note))
    return tuple(out)
