"""Jobs as people read them: a row of a list, and everything about one."""

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from trainmaster.cli.language import duration, memory, told, words
from trainmaster.cli.showing import tables
from trainmaster.cli.showing.console import console, e, say, toned
from trainmaster.cli.showing.tables import Cell, TableColumn, Value, column
from trainmaster.cli.showing.waiting import clock, expected_start
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.states import FINAL_STATE, SHOWN_NAMES, SHOWN_OF_PHASE, Phase, Shown, Why

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.client import Client

TONE_OF: Final[dict[str, str]] = {
    "queued": "grey",
    "initialising": "blue",
    "pending": "grey",
    "running": "blue",
    "saving": "violet",
    "retained": "amber",
    "stopping": "amber",
    "succeeded": "green",
    "failed": "red",
    "stopped": "grey",
    "expired": "amber",
    "waiting": "grey",
    "exited": "grey",
    "lost": "red",
}
"""The tone of each state of a job and of a replica, as in the console; a test compares the two."""
_REPLICA_NAMES: Final = {"waiting": ("Not started", "未启动"), "lost": ("Lost", "失联")}
LIVE: Final = ("running", "initialising", "pending", "saving", "retained", "stopping", "queued")
_WAITING: Final = ("queued", "pending")
_CAUSES: Final = {
    "first": ("", ""),
    "retry": ("again after a failure", "失败后重试"),
    "fault": ("again after a fault", "故障后重试"),
    "bad_node": ("again on another node", "更换节点后重试"),
    "preempted": ("again after preemption", "被抢占后重试"),
}
"""Why there is an attempt."""
_ENDS: Final = {
    "fault": ("Fault", "发生故障"),
    "bad_node": ("Bad node", "节点故障"),
    "preempted": ("Preempted", "被抢占"),
}
"""How an attempt ended that is not the end of its job."""
_UPLOADS: Final = {
    "going": ("uploading", "上传中"),
    "done": ("uploaded", "已上传"),
    "failed": ("upload failed", "上传失败"),
}
_ENDED: Final = ("succeeded", "failed", "stopped", "expired")


def state_cell(state: str) -> Cell:
    """Return a state by its name, in its tone."""
    return Cell(state_name(state), TONE_OF.get(state, "grey"))


def state_name(state: str) -> str:
    """Return what people call a state of a job or of a replica."""
    if state in _REPLICA_NAMES:
        return words(*_REPLICA_NAMES[state])
    known = {one.value: name for one, name in SHOWN_NAMES.items()}
    zh, en = known.get(state, (state, state))
    return words(en, zh)


def state_text(state: str) -> str:
    """Return a state's name as markup in its tone."""
    return toned(state_name(state), TONE_OF.get(state, "grey"))


def job_columns(*, with_pool: bool = False) -> tuple[TableColumn, ...]:
    """Return the columns of a list of jobs."""
    return (
        column(words("id", "ID")),
        column(words("name", "名称"), least=8),
        column(words("state", "状态")),
        column(words("owner", "所有者"), least=4, leaves=4),
        *([column(words("pool", "资源池"), least=4, leaves=5)] if with_pool else []),
        column(words("replicas", "副本"), right=True, leaves=3),
        column(words("GPUs", "加速卡"), right=True, leaves=1),
        column(words("run time", "运行时长"), right=True),
        column(words("progress", "进度"), right=True, leaves=2),
        column(words("why", "说明"), least=16),
    )


def job_row(job: "answers.JobView", *, with_pool: bool = False) -> tuple[Value, ...]:
    """Return a job as a row of `job_columns`."""
    return (
        job.id[:12],
        Cell(job.name),
        state_cell(job.state),
        Cell(job.owner),
        *([Cell(job.pool)] if with_pool else []),
        replica_counts(job),
        f"{job.resources.gpu:g}",
        "" if job.run_s is None else duration(job.run_s),
        _progress(job),
        why(job),
    )


def replica_counts(job: "answers.JobView") -> str:
    """Return how many replicas run of all while the job lives, and how many succeeded once it has ended."""
    if job.state in _WAITING:
        return str(job.tasks.total)
    done = job.tasks.succeeded if job.state in _ENDED else job.tasks.running
    return f"{done}/{job.tasks.total}"


def _progress(job: "answers.JobView") -> str:
    return "" if job.progress is None else f"{job.progress.fraction:.0%}"


def why(job: "answers.JobView") -> str:
    """Return why a job waits or ended, in one short text."""
    if job.state in _WAITING or (job.state == "initialising" and job.reason is not None):
        reason = told(job.reason.message) if job.reason is not None else ""
        by = job.reason.decided_by if job.reason is not None else None
        start = expected_start(job.forecast) if job.forecast is not None and job.forecast.at is not None else ""
        parts = (f"{by}: {reason}" if by else reason, start and words(f"start {start}", f"预计{start}开始"))
        return words(", ", "；").join(filter(None, parts))
    if job.verdict is None or job.verdict.code == "ok":
        return ""
    return told(job.verdict.message) or told(job.verdict.title)


def model_name(server: "Client", model: str | None) -> str:
    """Return a saved model's version by its name, as ``digits@2``; by its id where its name is not to be had."""
    if model is None:
        return ""
    ref, _, version = model.partition("@")
    try:
        return f"{server.model(ref).name}@{version}"
    except TrainmasterError:
        return model


def show_job(job: "answers.JobDetail", url: str, model: str) -> None:
    """Print everything about one job. `model`: what was saved of it, by name."""
    out = console()
    if out.is_terminal:
        say(f"[bold]{e(job.name)}[/]  {state_text(job.state)}  [bright_black]{job.id}[/]")
    tables.facts(([] if out.is_terminal else _head(job)) + [*_facts(job, url, model)])
    for role in job.roles:
        _show_part(role, _hooks_of(job, role.name))
    for attempt in job.attempt_list:
        _show_attempt(attempt)
    for warning in job.warnings:
        say(f"  {toned(words('note', '注意'), 'amber')}  {e(told(warning.message))}")


def _head(job: "answers.JobDetail") -> list[tuple[str, str]]:
    return [
        (words("id", "ID"), job.id),
        (words("name", "名称"), e(job.name)),
        (words("state", "状态"), e(state_name(job.state))),
    ]


def _facts(job: "answers.JobDetail", url: str, model: str) -> Iterable[tuple[str, str]]:
    yield words("why", "说明"), e(why(job))
    yield words("held", "保留"), _held(job)
    yield words("evidence", "依据"), e(job.verdict.evidence if job.verdict is not None else "")
    yield words("owner", "所有者"), e(job.owner)
    yield words("workspace", "工作空间"), e(job.workspace)
    yield words("pool", "资源池"), e(job.pool)
    yield words("nodes", "节点"), e(", ".join(job.nodes))
    yield words("framework", "启动方式"), e(job.framework)
    yield words("version", "版本"), _version(job)
    yield words("labels", "标签"), e(" ".join(f"{key}={value}" for key, value in job.labels.items()))
    yield words("submitted", "提交时间"), clock(job.submitted_at)
    yield words("queued for", "排队时长"), duration(job.wait_s)
    yield words("run time", "运行时长"), "" if job.run_s is None else duration(job.run_s)
    yield words("time limit", "运行时限"), "" if job.duration_s is None else duration(job.duration_s)
    yield words("progress", "进度"), _progress(job)
    yield words("metrics", "指标"), e(metric_text(job.metrics))
    yield words("model", "模型"), e(model)
    for one in job.uploads:
        yield words("upload", "上传"), e(upload_text(one))
    yield words("console", "控制台"), f"{url}/jobs/{job.id}"


def upload_text(one: "answers.OutputTarget") -> str:
    """Return how far a folder is on its way to object storage, in one line."""
    state = words(*_UPLOADS[one.state])
    small = one.size_bytes < 1 << 20
    size = f"{-(-one.size_bytes >> 10)} KiB" if small else memory(one.size_bytes / (1 << 20))
    files = "file" if one.files == 1 else "files"
    there = words(f"{one.files} {files}, {size}", f"{one.files} 个文件，{size}")
    to_go = words(f"{one.left_files} to go", f"还剩 {one.left_files} 个") if one.left_files else ""
    parts = (f"{one.folder} → {one.place}", state, there, to_go, "" if one.why is None else told(one.why))
    return words("; ", "；").join(filter(None, parts))


def _version(job: "answers.JobDetail") -> str:
    """Return which version a job is, of which first one; nothing of a first one itself."""
    if job.family_version == 1:
        return ""
    first = job.family[:12]
    return words(f"{job.family_version} (the first: {first})", f"第 {job.family_version} 版（第 1 版：{first}）")


def metric_text(metrics: Mapping[str, float | None]) -> str:
    """Return the last values in one line."""
    return "  ".join(f"{name}={value:.4g}" for name, value in metrics.items() if value is not None)


def _held(job: "answers.JobDetail") -> str:
    """Return until when the resources of a failed attempt are kept, and what can be done meanwhile."""
    until = job.attempt_list[-1].retained_until if job.attempt_list else None
    ref = job.id[:12]
    return (
        ""
        if until is None
        else words(
            f"until {clock(until)}; look inside: tm exec {ref}; end it: tm release {ref}",
            f"至 {clock(until)}；进入查看：tm exec {ref}；结束保留：tm release {ref}",
        )
    )


def _hooks_of(job: "answers.JobDetail", role: str) -> Mapping[str, Any]:
    """Return the hooks of a sub-task, none where the document cannot be read."""
    roles = job.spec.get("roles") or ()
    return next((one.get("hooks") for one in roles if one.get("name") == role), None) or {}


def _show_part(role: "answers.RoleView", hooks: Mapping[str, Any]) -> None:
    need = role.resources
    cards = f"{words(', ', '，')}{_cards(need)}" if need.gpu else ""
    cores = words(f"{need.cpu:g} {'core' if need.cpu == 1 else 'cores'}", f"{need.cpu:g} 核")
    size = f"{cores}{words(', ', '，')}{memory(need.memory_mib)}{cards}"
    part = words("sub-task", "子任务")
    say(f"  {part} [bold]{e(role.name)}[/] × {role.replicas}{words(': ', '：')}{e(size)}")
    say(f"    [bright_black]{e(role.command)}[/]")
    for name, command in hooks.items():
        if command:
            line = command if isinstance(command, str) else shlex.join(command)
            say(f"    [bright_black]hooks.{name}{words(': ', '：')}{e(line)}[/]")


def _cards(need: "answers.NeedView") -> str:
    noun = "GPU" if need.gpu == 1 else "GPUs"
    if need.gpu_type is None:
        return words(f"{need.gpu} {noun} of any model", f"{need.gpu} 张任意型号加速卡")
    return words(f"{need.gpu} {need.gpu_type} {noun}", f"{need.gpu} 张 {need.gpu_type} 加速卡")


def _show_attempt(attempt: "answers.AttemptView") -> None:
    number = words(f"attempt {attempt.number}", f"第 {attempt.number} 次运行")
    cause = words(*_CAUSES.get(attempt.cause, (attempt.cause, attempt.cause)))
    say(f"  [bold]{number}[/]  {_attempt_state(attempt)}{e(words(f', {cause}', f'，{cause}') if cause else '')}")
    rows = [
        (
            replica_name(task),
            state_cell(task.state),
            task.node,
            ",".join(map(str, task.gpus)),
            _ending(task),
            told(task.verdict.message) if task.verdict is not None else "",
        )
        for task in attempt.tasks
    ]
    columns = (
        column(words("replica", "副本")),
        column(words("state", "状态")),
        column(words("node", "节点"), least=8),
        column(words("GPU", "加速卡"), least=4),
        column(words("exit", "结束原因")),
        column(words("why", "说明"), least=16, wraps=True),
    )
    tables.show(columns, rows, indent=4)


def _attempt_state(attempt: "answers.AttemptView") -> str:
    """Return how far an attempt is, or how it ended, as markup in its tone."""
    if attempt.phase != Phase.ENDED:
        return state_text(SHOWN_OF_PHASE[Phase(attempt.phase)])
    ended = _ENDS.get(str(attempt.why))
    if ended is not None:
        return toned(words(*ended), "amber")
    return state_text(FINAL_STATE.get(Why(attempt.why), Shown.FAILED) if attempt.why else Shown.STOPPED)


def replica_name(task: "answers.TaskView") -> str:
    """Return what people call a replica: its sub-task and its number, ``worker-0``."""
    return f"{task.role}-{task.index}"


def _ending(task: "answers.TaskView") -> str:
    if task.signal is not None:
        return words(f"signal {task.signal}", f"信号 {task.signal}")
    return "" if task.exit_code is None else str(task.exit_code)
