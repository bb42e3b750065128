"""Why a task ended, with its evidence. Reads the log's tail and counters; decides nothing else."""

from __future__ import annotations

import os
import re
import signal
from typing import Any, Final

from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.sandbox import pythons
from trainmaster.agent.supervising import blame
from trainmaster.agent.tasks import ending, hooks
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.folders.layout import Layout
from trainmaster.core.formats.terminal import as_seen
from trainmaster.core.records import Verdict, to_json
from trainmaster.core.verdicts import BEFORE_FAILED, NO_ROOM, PLATFORM_STOPPED, SANDBOX_FAILED
from trainmaster.messages.jobs import tasks as say
from trainmaster.messages.said import Said, verbatim

EVIDENCE_BYTES: Final = 2048
DRAWN_TIMES: Final = 32
"""So much more of a log is looked at: a progress bar writes the same line over and over."""
NO_SPACE: Final = ("No space left on device", "[Errno 28]", "Disk quota exceeded")
NOT_FOUND: Final = re.compile(
    (
        r"^bwrap: execvp (.+): "
        r"(No such file or directory|Permission denied|Exec format error|Argument list too long|Not a directory)$"
    ),
    re.MULTILINE,
)
NO_PROGRAM: Final = {
    "No such file or directory": say.no_such_program,
    "Permission denied": say.program_not_permitted,
    "Exec format error": say.program_of_other_format,
    "Argument list too long": say.program_with_long_arguments,
    "Not a directory": say.program_not_in_folder,
}
NOT_FOUND_CODES: Final = {126: say.task_could_not_execute, 127: say.task_found_no_command}


def evidence_of(task: LiveTask) -> str:
    """Return the last lines that a task's command printed: what its `after` hook did comes behind them."""
    prepared, end = task.prepared, None
    if prepared.hooked and hooks.read(prepared.paths.hooks).begun:
        end = hooks.after_began(prepared.paths.log, prepared.argv)
    return tail(prepared.paths.log, end=end)


def tail(path: str, size: int = EVIDENCE_BYTES, end: int | None = None) -> str:
    """Return the last lines of a log as text, at most `size` bytes of it; never fails for odd bytes or a missing file.
    `end`: what comes behind so many bytes is left out.

    A progress bar that was drawn a thousand times in one line counts as it was drawn last.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        length = os.fstat(fd).st_size if end is None else end
        first = max(0, length - DRAWN_TIMES * size)
        data = os.pread(fd, length - first, first)
    finally:
        os.close(fd)
    seen = as_seen(data.replace(b"\0", b"").decode("utf-8", "replace")).rstrip().encode()
    last, is_all = seen[-size:], length <= len(data) and len(seen) <= size
    if not is_all and b"\n" in last[:-1]:
        last = last[last.index(b"\n") + 1 :]
    return last.decode("utf-8", "replace").rstrip()


def of_sandbox(code: int | None, signum: int | None) -> tuple[int | None, int | None]:
    """Return (exit code, signal): bubblewrap shows a signal as 128 + number, as shells do: 137 is SIGKILL."""
    if code is not None and code > 128 and code - 128 < signal.NSIG:
        return None, code - 128
    return code, signum


def end_of(
    task: LiveTask, code: int | None, signum: int | None, at: float, cgroups: Cgroups, layout: Layout
) -> dict[str, Any]:
    """Return the final word on `task`: exit code or signal, verdict, time, peak memory (JSON-able)."""
    if task.prepared.options or task.prepared.hooked:
        code, signum = of_sandbox(code, signum)
    peak = task.peak_mib
    if task.group is not None:
        peak = max(peak, cgroups.peak_mib(task.group) or 0)
    verdict = None if code == 0 else _verdict(task, code, signum, cgroups, layout)
    return {
        "exit_code": code,
        "signal": signum,
        "at": at,
        "ticks": procs.now_ticks(),
        "peak_mem_mib": peak,
        "verdict": to_json(verdict) if verdict else None,
        "notes": [to_json(said) for said in _of_after(task)] if task.prepared.hooked else [],
    }


def end_as_lost(task: LiveTask, at: float) -> dict[str, Any]:
    """Return the final word on a task that disappeared without an exit record, or that another home has."""
    said = say.task_elsewhere(task.who) if task.attempt.elsewhere else say.task_lost(task.who)
    verdict = Verdict("lost", said, evidence_of(task), task.prepared.role, task.prepared.index)
    return {
        "exit_code": None,
        "signal": None,
        "at": at,
        "peak_mem_mib": task.peak_mib,
        "verdict": to_json(verdict),
        "lost": True,
    }


def end_as_stopped(task: LiveTask, end: dict[str, Any]) -> dict[str, Any]:
    """Return `end` as that of a task that ended because the platform was stopped, whatever its program made of that."""
    verdict = Verdict(
        PLATFORM_STOPPED,
        say.stopped_with_platform(task.who),
        evidence_of(task),
        task.prepared.role,
        task.prepared.index,
        end["exit_code"],
        end["signal"],
    )
    return {**end, "verdict": to_json(verdict), "lost": True}


def _verdict(task: LiveTask, code: int | None, signum: int | None, cgroups: Cgroups, layout: Layout) -> Verdict:
    evidence = evidence_of(task)
    word, said = _reason(task, code, signum, evidence, cgroups)
    if word == "disk_full" and not task.doom and (held := blame.held_where_others_filled(task, layout)) is not None:
        word, said = NO_ROOM, say.task_without_room(task.who, held)
    return Verdict(word, said, evidence, task.prepared.role, task.prepared.index, code, signum)


def _reason(task: LiveTask, code: int | None, signum: int | None, evidence: str, cgroups: Cgroups) -> tuple[str, Said]:
    who, limits = task.who, task.prepared.limits
    if task.doom:
        return task.doom, task.doomed or verbatim(task.doom)
    if task.group is not None and cgroups.oom_kills(task.group) > _killed_of_after(task):
        return "out_of_memory", say.task_out_of_memory(who, limits.memory_mib)
    if task.prepared.options and code is not None and not _executed(task, evidence):
        return SANDBOX_FAILED, say.task_without_sandbox(who)
    if any(sign in evidence for sign in NO_SPACE):
        return "disk_full", say.task_out_of_disk(who, _shm(task))
    if task.group is not None and cgroups.refused_forks(task.group) > 0:
        return "too_many_processes", say.task_out_of_processes(who, limits.processes)
    return _reason_of_program(task, code, signum, evidence)


def _killed_of_after(task: LiveTask) -> int:
    """Return how many of those that the kernel killed the `after` hook answers for: one where it ended of SIGKILL, but
    by ours.
    """
    noted = hooks.read(task.prepared.paths.hooks) if task.prepared.hooked else hooks.Noted()
    return int(noted.after == 128 + signal.SIGKILL and not noted.cut)


def _reason_of_program(task: LiveTask, code: int | None, signum: int | None, evidence: str) -> tuple[str, Said]:
    who = task.who
    if task.prepared.hooked and (before := hooks.read(task.prepared.paths.hooks).before):
        ended = of_sandbox(before, None)[1]
        said = say.before_hook_failed(who, before) if ended is None else say.before_hook_killed(who, _signal(ended))
        return BEFORE_FAILED, said
    if task.prepared.options and code == 1 and (match := NOT_FOUND.search(evidence)):
        if task.prepared.hooked and match[1] == hooks.SHELL:
            return "command_not_found", say.hooks_without_shell(who, hooks.SHELL)
        said = say.program_of_task(who, match[1], NO_PROGRAM[match[2]]())
        return "command_not_found", pythons.with_remedy(said, match[1], task.prepared.env)
    if code in NOT_FOUND_CODES:
        return "command_not_found", pythons.with_missed(NOT_FOUND_CODES[code](who, code), evidence, task.prepared.env)
    if signum is not None:
        return "signal", say.task_ended_by_signal(who, _signal(signum))
    return "exit_code", say.task_ended_with(who, code or 0)


def _signal(signum: int) -> str:
    return f"{signum} ({procs.signal_name(signum)})"


def _of_after(task: LiveTask) -> list[Said]:
    """Return what is to be said of the `after` hook of a task that has ended: nothing where it succeeded, or was not
    due.
    """
    given, noted = task.attempt.gang.commands[task.prepared.role], hooks.read(task.prepared.paths.hooks)
    if given.after is None or not noted.ran or noted.after == 0:
        return []
    if not noted.begun:
        return [say.after_hook_not_run(task.who)]
    if noted.cut or noted.after is None:
        return [say.after_hook_cut(task.who, given.after_s)]
    return [say.after_hook_failed(task.who, noted.after)]


def _executed(task: LiveTask, evidence: str) -> bool:
    """Return whether bubblewrap came to the program: it notes an exit code, or says what is wrong with the program."""
    return "exit-code" in ending.status_lines(task.prepared.paths.status) or NOT_FOUND.search(evidence) is not None


def _shm(task: LiveTask) -> int:
    return task.attempt.gang.roles[task.prepared.role].resources.shm_mib
