"""Start the processes of one node of a MindSpore cluster, and on the first node the scheduler that they meet at.

    python start_mindspore.py --first=2 --processes=2 [--scheduler] -- python train.py ...

`first` is the rank of the first process here. What is the same for all of them is in the environment already
(MS_WORKER_NUM, MS_SCHED_HOST, MS_SCHED_PORT). Processes write where this program writes; the scheduler, which runs the
very same script until that calls `init`, writes into a file, and its end is shown when it fails. The first process that
fails ends the others, and its exit code is this program's. SIGTERM, which is sent to every process of a task, is left
to those that train: they may still save something, for as long as whoever sent it lets them. The interpreter is the
job's: what Python 3.9 brought is not used.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

PATIENCE_S = 10
"""How long processes that are to end may take after SIGTERM."""
SHOWN = 40
"""Lines of the scheduler's file."""


def start(command: list[str], own: dict[str, str], log: str = "") -> int:
    """Start one process with variables of its own, writing into the file `log`; return its id."""
    actions: list[tuple[int, int, str, int, int] | tuple[int, int, int]] = []
    if log:
        actions.append((os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    return os.posix_spawnp(command[0], command, {**os.environ, **own}, file_actions=actions)


def follow(processes: set[int], scheduler: int, stopped: list[int]) -> tuple[int, bool]:
    """Wait for all; return the exit code of the first that failed (0: none), and whether that was the scheduler's own
    failure. `stopped`: the SIGTERM that came, then none is ended because of another.
    """
    left = processes | ({scheduler} if scheduler else set())
    code, blame = 0, 0

    def kill(*_: object) -> None:
        for one in left:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(one, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    while left:
        ended, status = os.wait()
        if ended not in left:
            continue
        left.discard(ended)
        found = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if found and not code:
            code, blame = found, ended
            if not stopped:
                for one in left:
                    os.kill(one, signal.SIGTERM)
                signal.alarm(PATIENCE_S)
        if stopped:  # perhaps behind the failure of one that heard of it first
            signal.alarm(0)
    return code, blame == scheduler and not stopped


def main(arguments: list[str]) -> int:
    """Run one node; return its exit code."""
    at = arguments.index("--")
    options, command = arguments[:at], arguments[at + 1 :]
    given = dict(option.lstrip("-").partition("=")[::2] for option in options)
    first, count = int(given["first"]), int(given["processes"])
    stopped: list[int] = []

    def stop(number: int, _: object) -> None:
        stopped.append(number)
        signal.alarm(0)

    signal.signal(signal.SIGTERM, stop)
    size = os.environ["MS_WORKER_NUM"]
    log = os.path.join(os.environ.get("TMPDIR", "/tmp"), "scheduler.log")
    scheduler = start(command, {"MS_ROLE": "MS_SCHED", "RANK_ID": "0"}, log) if "scheduler" in given else 0
    processes = set()
    for local in range(count):
        rank = str(first + local)
        of_rank = {"MS_NODE_ID": rank, "RANK_ID": rank, "RANK_SIZE": size, "DEVICE_ID": str(local)}
        processes.add(start(command, {"MS_ROLE": "MS_WORKER", **of_rank}))
    code, scheduler_failed = follow(processes, scheduler, stopped)
    if code and scheduler_failed:
        sys.stderr.write(f"The scheduler of MindSpore ended with exit code {code}. The end of {log}:\n")
        with open(log, encoding="utf-8", errors="replace") as lines:
            sys.stderr.writelines(lines.readlines()[-SHOWN:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
