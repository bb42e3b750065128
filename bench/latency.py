"""From the submit of a warm client to the first line of the user's program, every peer in turn within every round.

The program is `stamp`, which writes the clock; a gang counts when its last task has written. `posix_spawn` and bare
bubblewrap (same namespaces and rights, fewest mounts) are the limits of the machine.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Final

from bench import hyperqueue_peer
from bench.measure import quantile
from bench.record import Record
from bench.server import PLAIN, SANDBOXED, Client, Server, read_stamps, spec
from bench.stage import Stage

GANG: Final = 8
GIVE_UP_S: Final = 30.0
BWRAP: Final = (
    "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
    "--new-session", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
)  # fmt: skip

Turn = Callable[[int], float]
"""Submit so many tasks; return the seconds until the last of them has written its line."""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    turns = _turns(stage)
    for tasks, rounds in ((1, 10 if quick else 100), (GANG, 5 if quick else 40)):
        found: dict[str, list[float]] = {name: [] for name in turns}
        for number in range(rounds + 3):  # three to warm up
            for name, turn in turns.items():
                time.sleep(0.05)  # let the peer before come to rest
                took = turn(tasks) * 1e3
                if number >= 3:
                    found[name].append(took)
        yield from _records(stage, tasks, found)


def _turns(stage: Stage) -> dict[str, Turn]:
    turns: dict[str, Turn] = {
        "posix_spawn": lambda tasks: _spawned(stage, [], tasks),
        "bubblewrap": lambda tasks: _spawned(stage, [*BWRAP, "--bind", stage.folder, stage.folder, "--"], tasks),
    }
    if hyperqueue_peer.installed():
        peer = hyperqueue_peer.HyperQueue(stage)
        turns["hyperqueue"] = lambda tasks: _hyperqueue(stage, peer, tasks)
    for name, local in (("plain", PLAIN), ("sandboxed", SANDBOXED)):
        server = Server(stage, local)
        turns[name] = _platform(server, server.client())
    return turns


def _spawned(stage: Stage, before: list[str], tasks: int) -> float:
    stamp = stage.fresh("stamp")
    command = [*before, stage.programs["stamp"], stamp]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    began = time.monotonic()
    pids = [os.posix_spawnp(command[0], command, os.environ, file_actions=quiet) for _ in range(tasks)]
    for pid in pids:
        os.waitpid(pid, 0)
    return max(_await(lambda: read_stamps(stamp), tasks)) - began


def _hyperqueue(stage: Stage, peer: hyperqueue_peer.HyperQueue, tasks: int) -> float:
    stamp = stage.fresh("stamp")
    job = peer.job([[stage.programs["stamp"], stamp]] * tasks)
    began = time.monotonic()
    peer.submit(job)
    return max(_await(lambda: read_stamps(stamp), tasks)) - began


def _platform(server: Server, client: Client) -> Turn:
    def turn(tasks: int) -> float:
        request = client.request_bytes("POST", "/jobs", spec("stamp", tasks))
        began = time.monotonic()
        job = client.send(request)["id"]
        logs = [server.log_path(job, f"task0-{index}") for index in range(tasks)]
        return max(_await(lambda: [stamp for log in logs for stamp in read_stamps(log)], tasks)) - began

    return turn


def _await(look: Callable[[], list[float]], tasks: int) -> list[float]:
    """Return the stamps once all are there. The clock was read by the program: how often we look does not count."""
    began = time.monotonic()
    while len(found := look()) < tasks:
        if time.monotonic() - began > GIVE_UP_S:
            raise TimeoutError("the program did not write its line")
        time.sleep(0.002)
    return found


def _records(stage: Stage, tasks: int, found: dict[str, list[float]]) -> Iterator[Record]:
    what = "first line, 1 task" if tasks == 1 else f"last first line, gang of {tasks}"
    title = hyperqueue_peer.title() if "hyperqueue" in found else None
    theirs = found.get("hyperqueue", [])
    spawn, bare = "posix_spawn (limit)", "bare bubblewrap (limit)"
    yield stage.record(f"{what}, against HyperQueue", found["plain"], "ms", against=title, peer=theirs)
    yield stage.record(f"{what}, against posix_spawn", found["plain"], "ms", against=spawn, peer=found["posix_spawn"])
    yield stage.record(
        f"{what} in a sandbox, against bubblewrap", found["sandboxed"], "ms", against=bare, peer=found["bubblewrap"]
    )
    yield stage.record(f"{what} in a sandbox, against HyperQueue", found["sandboxed"], "ms", against=title, peer=theirs)
    for name, values in found.items():
        yield stage.record(f"{what}, p05 of {name}", [quantile(values, 0.05)], "ms")
    pairs = [ours / peer for ours, peer in zip(found["plain"], theirs, strict=True)] if theirs else []
    if pairs:
        yield stage.record(f"{what}, median of ratios within a round", [statistics.median(pairs)], "x")
