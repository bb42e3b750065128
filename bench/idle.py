"""What a server costs while nothing happens, with 10,000 finished jobs stored: memory, CPU, and how soon it is
ready.
"""

import time
from collections.abc import Iterator

from bench.fill import fill
from bench.measure import TICK, pss_mib
from bench.record import Record
from bench.server import SANDBOXED, Server, spec
from bench.stage import Stage


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    stored, starts, window = (1000, 2, 5.0) if quick else (10_000, 5, 30.0)
    server = Server(stage, SANDBOXED, wait=False)
    fill(server.home, spec("true"), stored)
    ready = []
    for _ in range(starts):
        ready.append(server.start())
        server.stop()
    server.start()
    client = server.client()
    assert client.ask("GET", "/jobs?limit=1")["counts"]["succeeded"] == stored
    _rest(server)
    used = _ticks(server)
    time.sleep(window)
    cpu = (_ticks(server) - used) / TICK / window * 100
    pids = server.pids()
    yield stage.record("memory (PSS), server and agent, 10,000 jobs stored", [pss_mib(pids)], "MiB")
    yield stage.record("memory (PSS), server alone", [pss_mib([server.pid])], "MiB")
    yield stage.record(
        "memory (PSS), agent and its keeper", [pss_mib([pid for pid in pids if pid != server.pid])], "MiB"
    )
    yield stage.record("CPU, server and agent, 10,000 jobs stored", [cpu], "% of a core")
    yield stage.record("ready after start, 10,000 jobs stored", ready, "s")


def _rest(server: Server) -> None:
    """Return once the server is idle: at first its search index takes in what `fill` has stored beside it."""
    for _ in range(100):
        used = _ticks(server)
        time.sleep(3)
        if (_ticks(server) - used) / TICK / 3 < 0.02:
            return
    raise TimeoutError("the server does not come to rest")


def _ticks(server: Server) -> int:
    total = 0
    for pid in server.pids():
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            # utime, stime, and the same of children that were waited for: fields 14 to 17, counted behind the name.
            total += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
    return total
