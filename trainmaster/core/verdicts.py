"""Verdict codes: every way a task, an attempt or a job can end, named once in both languages. Data only."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Fault = Literal["user", "platform", "none"]


class VerdictKind(NamedTuple):
    """Names in zh and en, and whose fault it is: user, platform or none."""

    zh: str
    en: str
    fault: Fault


PLATFORM_STOPPED: Final = "platform_stopped"
SANDBOX_FAILED: Final = "sandbox_failed"
NO_ROOM: Final = "no_room"
WAITED_OUT: Final = frozenset({SANDBOX_FAILED, NO_ROOM})
"""Ends that are the platform's trouble and may last: the job is tried again for as long as it takes, with growing
pauses.
"""
FREE: Final = WAITED_OUT | {PLATFORM_STOPPED}
"""Ends that cost a job nothing."""

VERDICTS: Final[dict[str, VerdictKind]] = {
    "ok": VerdictKind("成功", "Succeeded", "none"),
    "exit_code": VerdictKind("命令返回非零退出码", "The command ended with a non-zero exit code", "user"),
    "signal": VerdictKind("进程被信号终止", "The process was ended by a signal", "user"),
    "out_of_memory": VerdictKind("内存超出上限", "The task used more memory than it asked for", "user"),
    "disk_full": VerdictKind("磁盘已满", "The disk or the job's disk budget is full", "user"),
    "too_many_processes": VerdictKind("进程数超出上限", "The task reached its limit of processes", "user"),
    "command_not_found": VerdictKind("找不到命令", "The command was not found in the task's environment", "user"),
    "mount_hides": VerdictKind("挂载会遮住任务所需的内容", "A mount would hide what the task needs", "user"),
    "lost": VerdictKind("任务丢失", "The task disappeared without leaving an exit record", "platform"),
    SANDBOX_FAILED: VerdictKind("沙箱未能建立", "The task's sandbox could not be made", "platform"),
    NO_ROOM: VerdictKind("磁盘被其他任务写满", "The disk was full, and not of what this job wrote", "platform"),
    PLATFORM_STOPPED: VerdictKind("平台已停止", "The platform was stopped while the task ran", "platform"),
    "launch_failed": VerdictKind("启动失败", "The tasks could not be started", "platform"),
    "bad_node": VerdictKind("节点异常", "The node failed its check", "platform"),
    "save_failed": VerdictKind("保存输出失败", "The outputs could not be saved", "platform"),
    "stopped": VerdictKind("已被停止", "Stopped on request", "none"),
    "expired": VerdictKind("超过使用时长", "The duration ran out", "none"),
    "too_many_failures": VerdictKind("失败副本数达到上限", "The role reached its limit of failed tasks", "user"),
    "malformed": VerdictKind("记录损坏", "The stored record is malformed and was set aside", "platform"),
}
