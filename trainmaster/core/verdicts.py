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
BEFORE_FAILED: Final = "before_failed"
WAITED_OUT: Final = frozenset({SANDBOX_FAILED, NO_ROOM})
"""Ends that are the platform's trouble and may last: the job is tried again for as long as it takes, with growing
pauses.
"""
FREE: Final = WAITED_OUT | {PLATFORM_STOPPED}
"""Ends that cost a job nothing."""

VERDICTS: Final[dict[str, VerdictKind]] = {
    "ok": VerdictKind("成功", "Succeeded", "none"),
    "exit_code": VerdictKind("命令返回非零退出码", "The command ended with a non-zero exit code", "user"),
    "signal": VerdictKind("进程被信号终止", "A signal ended the process", "user"),
    "out_of_memory": VerdictKind("内存超出申请量", "A replica used more memory than it asked for", "user"),
    "disk_full": VerdictKind("磁盘或任务的磁盘额度已满", "The disk or the disk limit of the job is full", "user"),
    "too_many_processes": VerdictKind("进程数超出上限", "A replica reached its limit of processes", "user"),
    "command_not_found": VerdictKind("找不到命令", "The command was not found", "user"),
    BEFORE_FAILED: VerdictKind("启动前脚本失败", "The before hook failed, so the command did not start", "user"),
    "mount_hides": VerdictKind("挂载会遮住副本所需的内容", "A mount would hide what the replicas need", "user"),
    "lost": VerdictKind("副本丢失", "A replica disappeared without an exit code", "platform"),
    SANDBOX_FAILED: VerdictKind("沙箱未能建立", "The sandbox could not be created", "platform"),
    NO_ROOM: VerdictKind("磁盘被其他任务写满", "Other jobs filled the disk", "platform"),
    PLATFORM_STOPPED: VerdictKind("运行期间平台被停止", "The platform was stopped while the job ran", "platform"),
    "launch_failed": VerdictKind("启动失败", "The job could not be started", "platform"),
    "bad_node": VerdictKind("节点未通过检查", "A node failed its check", "platform"),
    "save_failed": VerdictKind("保存输出失败", "The outputs could not be saved", "platform"),
    "stopped": VerdictKind("按要求停止", "Stopped on request", "none"),
    "stopped_early": VerdictKind("表现落后，已提前停止", "Stopped early: other entries of the sweep do better", "none"),
    "expired": VerdictKind("达到运行时限", "Stopped at its time limit", "none"),
    "too_many_failures": VerdictKind("失败副本数达到上限", "Too many replicas of a sub-task failed", "user"),
    "malformed": VerdictKind("任务的记录已损坏", "The stored record of the job is damaged", "platform"),
}


FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 300.0


def pause_after(pause_s: float) -> float:
    """Return how long to wait before the next try, after a pause of so many seconds (0: none) did not help."""
    return min(LONGEST_PAUSE_S, 2 * pause_s or FIRST_PAUSE_S)
