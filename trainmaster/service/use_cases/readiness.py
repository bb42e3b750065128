"""Whether work can be taken in, and how much is done: what machines ask that watch machines."""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from trainmaster.answers import Ready
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.states import JobState
from trainmaster.messages import render
from trainmaster.messages.server import server
from trainmaster.messages.server.ledger import nobody_leads
from trainmaster.service.context import Context
from trainmaster.service.folders.disks import Disk
from trainmaster.store.database import Database, probe

READY_S: Final = 0.5
"""Who asks within it shares one look."""
PATIENCE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Leading:
    """Counters and gauges that only the server that leads can know. `finished`: by shown state, since the start;
    `disks`: as they were seen last.
    """

    queued: int
    active: int
    finished: Mapping[str, int]
    commits: int
    events: int
    nodes: int
    gpus: int
    gpus_held: int
    disks: tuple[Disk, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counters and gauges of /metrics. `leading`: None while another server leads."""

    leading: Leading | None
    listeners: int
    uptime_s: float


class Readiness:
    """One object per server. `ended`: how many jobs ended since its start, by state, as it is kept elsewhere."""

    def __init__(self, context: Context, database: Database, ended: Mapping[str, int]) -> None:
        self._ctx, self._database, self._ended = context, database, ended
        self._started_at = time.monotonic()
        self._latest: tuple[float, asyncio.Task[Ready]] | None = None

    async def ready(self) -> Ready:
        """Return whether the ledger can be written and an engine answers. Anybody may ask as often as they like."""
        now = time.monotonic()
        if self._latest is None or (self._latest[1].done() and now - self._latest[0] >= READY_S):
            self._latest = now, asyncio.get_running_loop().create_task(self._look())
        return await asyncio.shield(self._latest[1])

    async def _look(self) -> Ready:
        if not self._ctx.leads:
            return await self._look_at_leader()
        ledger = await _outcome(self.probe())
        engines = await self._ctx.engines.health()
        short = self._ctx.disks.short
        checks = {
            "ledger": ledger,
            "disk": render.text(short) if short else "ok",
            **{f"engine {name}": "ok" if why is None else render.text(why) for name, why in engines.items()},
        }
        return Ready(ok=ledger == "ok" and None in engines.values(), checks=checks)

    async def _look_at_leader(self) -> Ready:
        """Return whether rows can be read, and the server that leads says where it is and answers there."""
        try:
            address = await asyncio.wait_for(asyncio.to_thread(self._database.leader), PATIENCE_S)
        except TrainmasterError as error:
            return Ready(ok=False, checks={"ledger": error.message})
        except TimeoutError:
            return Ready(ok=False, checks={"ledger": render.text(server.engine_silent(round(PATIENCE_S)))})
        if not address:
            return Ready(ok=False, checks={"ledger": "ok", "leader": render.text(nobody_leads())})
        answers = await _answers(address)
        leader = "ok" if answers else render.text(server.leader_silent(address))
        return Ready(ok=answers, checks={"ledger": "ok", "leader": leader})

    def stats(self) -> Stats:
        """Return counters and gauges; cheap."""
        leading = self._leading() if self._ctx.leads else None
        return Stats(leading, self._ctx.feed.listeners, time.monotonic() - self._started_at)

    def _leading(self) -> Leading:
        master, nodes = self._ctx.master, self._ctx.scheduling.nodes.values()
        live = master.live.values()
        active = [job for job in live if job.state is JobState.ACTIVE]
        return Leading(
            queued=sum(job.state is JobState.QUEUED for job in live),
            active=len(active),
            finished=dict(self._ended),
            commits=master.committed,
            events=master.seq,
            nodes=len(nodes),
            gpus=sum(len(node.gpus) for node in nodes),
            gpus_held=sum(len(a.gpus) for job in active if job.attempt for a in job.attempt.placement),
            disks=self._ctx.disks.seen,
        )

    async def probe(self) -> None:
        """Write and take back one row of the ledger. Raises StorageFailed."""
        await asyncio.wrap_future(self._database.write(probe))


async def _answers(address: str) -> bool:
    """Return whether a server answers at `address`: the kernel takes connections also for one that was stopped."""
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % parts.netloc.encode())
                return (await reader.readline()).startswith(b"HTTP/1.1 ")
            finally:
                writer.close()
    except (OSError, ValueError, TimeoutError):
        return False


async def _outcome(work: Awaitable[None]) -> str:
    try:
        await asyncio.wait_for(work, PATIENCE_S)
    except TrainmasterError as error:
        return error.message
    except TimeoutError:
        return render.text(server.engine_silent(round(PATIENCE_S)))
    return "ok"
