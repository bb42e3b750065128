"""Why a task ended, in plain words with its evidence. Reads the log's tail and counters; decides nothing else."""

import os
import re
import signal
from typing import Any, Final

from trainmaster.agent import crowded, ending, procs, pythons
from trainmaster.agent.cgroups import Cgroups
from trainmaster.agent.live import LiveTask
from trainmaster.core.layout import Layout
from trainmaster.core.records import Verdict, to_json
from trainmaster.core.terminal import as_seen
from trainmaster.core.verdicts import NO_ROOM, PLATFORM_STOPPED, SANDBOX_FAILED

EVIDENCE_BYTES: Final = 2048
DRAWN_TIMES: Final = 32
"""So much more of a log is looked at: a progress bar writes the same line over and over."""
NO_SPACE: Final = ("No space left on device", "[Errno 28]", "Disk quota exceeded")
NOT_FOUND: Final = re.compile(
    r"^bwrap: execvp (.+): (No such file or directory|Permission denied|Exec format error|Argument list too long|Not a directory)$",
    re.MULTILINE,
)
NOT_FOUND_CODES: Final = {126: "cannot be executed", 127: "was not found"}


def tail(path: str, size: int = EVIDENCE_BYTES) -> str:
    """Return the last lines of a log as text, at most `size` bytes of it; never fails for odd bytes or a missing file.

    A progress bar that was drawn a thousand times in one line counts as it was drawn last.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        length = os.fstat(fd).st_size
        data = os.pread(fd, DRAWN_TIMES * size, max(0, length - DRAWN_TIMES * size))
    finally:
        os.close(fd)
    seen = as_seen(data.replace(b"\0", b"").decode("utf-8", "replace")).rstrip().encode()
    last, is_all = seen[-size:], length <= len(data) and len(seen) <= size
    if not is_all and b"\n" in last[:-1]:
        last = last[last.index(b"\n") + 1 :]
    return last.decode("utf-8", "replace").rstrip()


def of_sandbox(code: int | None, signum: int | None) -> tuple[int | None, int | None]:
    """Return (exit code, signal): bubblewrap shows a signal as 128 + number, like a shell."""
    if code is not None and code > 128 and code - 128 < signal.NSIG:
        return None, code - 128
    return code, signum


def end_of(
    task: LiveTask, code: int | None, signum: int | None, at: float, cgroups: Cgroups, layout: Layout
) -> dict[str, Any]:
    """Return the final word on `task`: exit code or signal, verdict, time, peak memory (JSON-able)."""
    if task.prepared.options:
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
    }


def lost(task: LiveTask, at: float) -> dict[str, Any]:
    """Return the final word on a task that disappeared without an exit record, or that another home has."""
    who = _who(task)
    text = f"{who} disappeared without an exit record"
    if task.attempt.elsewhere:
        text = f"{who} does not run here: this home is a copy, or was moved to another disk"
    verdict = Verdict("lost", text, tail(task.prepared.paths.log),
                      task.prepared.role, task.prepared.index)  # fmt: skip
    return {
        "exit_code": None,
        "signal": None,
        "at": at,
        "peak_mem_mib": task.peak_mib,
        "verdict": to_json(verdict),
        "lost": True,
    }


def stopped(task: LiveTask, end: dict[str, Any]) -> dict[str, Any]:
    """Return `end` as that of a task that ended because the platform was stopped, whatever its program made of that."""
    verdict = Verdict(PLATFORM_STOPPED, f"the platform was stopped while {_who(task)} ran", tail(task.prepared.paths.log),
                      task.prepared.role, task.prepared.index, end["exit_code"], end["signal"])  # fmt: skip
    return {**end, "verdict": to_json(verdict), "lost": True}


def _who(task: LiveTask) -> str:
    return f"{task.attempt.gang.roles[task.prepared.role].name}[{task.prepared.index}]"


def _verdict(task: LiveTask, code: int | None, signum: int | None, cgroups: Cgroups, layout: Layout) -> Verdict:
    evidence = tail(task.prepared.paths.log)
    word, text = _reason(task, code, signum, evidence, cgroups)
    if word == "disk_full" and not task.doom and (held := crowded.out(task, layout)) is not None:
        word, text = NO_ROOM, f"{_who(task)} could not write: the disk is full, and its job holds only {held} MiB of it"
    return Verdict(word, text, evidence, task.prepared.role, task.prepared.index, code, signum)


def _reason(task: LiveTask, code: int | None, signum: int | None, evidence: str, cgroups: Cgroups) -> tuple[str, str]:
    who, limits = _who(task), task.prepared.limits
    if task.doom:
        return task.doom, f"{who} {task.doom_text}"
    if task.group is not None and cgroups.oom_kills(task.group) > 0:
        return (
            "out_of_memory",
            f"{who} used more memory than the {limits.memory_mib} MiB it asked for; ask for more or use less",
        )
    if task.prepared.options and code is not None and not _executed(task, evidence):
        return SANDBOX_FAILED, f"{who} has not run: its sandbox could not be made"
    if any(sign in evidence for sign in NO_SPACE):
        return "disk_full", f"{who} could not write: the disk (or /dev/shm, {_shm(task)} MiB) is full"
    if task.group is not None and cgroups.refused_forks(task.group) > 0:
        return "too_many_processes", f"{who} reached its limit of {limits.processes} processes and threads"
    if task.prepared.options and code == 1 and (match := NOT_FOUND.search(evidence)):
        return "command_not_found", f"{who}: {match[1]}: {match[2]}" + pythons.remedy(match[1], task.prepared.env)
    if code in NOT_FOUND_CODES:
        found = f"{who} ended with exit code {code}: a command {NOT_FOUND_CODES[code]}"
        return "command_not_found", found + pythons.missed(evidence, task.prepared.env)
    if signum is not None:
        return "signal", f"{who} was ended by signal {signum} ({procs.signal_name(signum)})"
    return "exit_code", f"{who} ended with exit code {code}"


def _executed(task: LiveTask, evidence: str) -> bool:
    """Return whether bubblewrap came to the program: it notes an exit code, or says what is wrong with the program."""
    return "exit-code" in ending.status_lines(task.prepared.paths.status) or NOT_FOUND.search(evidence) is not None


def _shm(task: LiveTask) -> int:
    return task.attempt.gang.roles[task.prepared.role].resources.shm_mib
