"""What jobs are given of object storage: fetched before their start, shared by all that need the same, and removed when
it was used longest ago and takes more than it may.

What the first attempt of a job was given is written beside the job: a later one gets the same, if it is still here.
Invariants: a folder without its mark is not there; what a live job has, or is being fetched, is never removed. All
methods but those that say so in the loop's thread.
"""

import asyncio
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakValueDictionary

from trainmaster.core.config import Config, LimitsConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import objects as said
from trainmaster.messages.said import Said
from trainmaster.service.helpers.own_thread import in_own_thread
from trainmaster.service.objects.connections import Connections
from trainmaster.service.secrets.vault import Vault
from trainmaster.spec.inputs import split_place
from trainmaster.storage.objects.fetching import PATIENCE_S, Fetch, FetchPlan, plan_of, sweep_objects
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.storage.trees import remove_tree
from trainmaster.store.database import Database
from trainmaster.store.people.connections import ConnectionRows

log = logging.getLogger("trainmaster.fetched")

LOOK_S: Final = 1.0
"""Between two words on how far a fetch is."""
AT_ONCE: Final = 2
"""Looks and fetches of one workspace under way: nobody waits for a store of another one."""
AGAIN_S: Final = 5
OLD_S: Final = 86400.0
Tell = Callable[[Said], bool]
"""Told how far it is; returns whether anybody still wants it."""
Places = Mapping[int, str]
"""Which folder each input of a job is that is of object storage, by its number."""


class _Unwanted(Exception):
    """The job does not wait for it any more."""


class _Gone(Exception):
    """No job waits for it any more."""


@dataclass(slots=True)
class KeptFetch:
    """A folder that is whole."""

    key: str
    size_bytes: int
    used_at: float


@dataclass(slots=True)
class _Running:
    """A fetch under way, for all who want the same."""

    plan: FetchPlan
    fetch: Fetch = field(init=False)
    task: "asyncio.Task[None]" = field(init=False)
    waiting: int = 0
    stopped: bool = False

    def go_on(self) -> None:
        """Raise where nobody waits any more. In any thread."""
        if self.stopped:
            raise _Gone


class Fetched:
    """One object per server. `in_use`: the jobs that are not over; it may block, and is asked in a thread."""

    def __init__(
        self,
        layout: Layout,
        connections: Connections,
        limits: LimitsConfig,
        clock: Callable[[], float],
        in_use: Callable[[], Iterable[str]],
    ) -> None:
        self._layout, self.connections, self._limits = layout, connections, limits
        self._clock, self._in_use = clock, in_use
        self._kept: dict[str, KeptFetch] = {}
        self._running: dict[str, _Running] = {}
        self._given: dict[str, dict[int, str]] = {}  # keys by job and input
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # by workspace
        self.patience_s = PATIENCE_S

    async def start(self) -> None:
        """See what is there; remove what is not whole, and old. Raises OSError."""
        self._kept = {one.key: one for one in await asyncio.to_thread(self._found)}

    def _found(self) -> list[KeptFetch]:
        root, found = self._layout.fetched, []
        for name in sorted(os.listdir(root)) if os.path.isdir(root) else ():
            path = os.path.join(root, name)
            if name.startswith(".") or name.endswith(".json"):
                continue
            one = self._marked(name)
            if one is not None:
                found.append(one)
                continue
            try:
                remove_tree(path)
            except OSError as error:
                log.warning("what was left of a fetch stays in %s: %s", path, error)
        sweep_objects(root, self._clock() - OLD_S)
        return found

    def _marked(self, key: str) -> KeptFetch | None:
        path = self._mark(key)
        try:
            with open(path, encoding="utf-8") as file:
                return KeptFetch(key, int(json.load(file)["bytes"]), os.stat(path).st_mtime)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _mark(self, key: str) -> str:
        return os.path.join(self._layout.fetched, f"{key}.json")

    # -- ask ---------------------------------------------------------------------------------------------------

    def places(self, job: str, wanted: int) -> Places | None:
        """Return where the inputs of a job lie, `wanted` of them; None where they are not (all) here, or not known."""
        given = self._given.get(job, {})
        if len(given) != wanted or not all(key in self._kept for key in given.values()):
            return None
        return {at: os.path.join(self._layout.fetched, key) for at, key in given.items()}

    async def places_from_disk(self, job: str, wanted: int) -> Places | None:
        """As `places`, also of a job that another server has staged."""
        if wanted and job not in self._given:
            await asyncio.to_thread(self._read, job)
        return self.places(job, wanted)

    def _read(self, job: str) -> None:
        with suppress(OSError, ValueError, TypeError, AttributeError):
            with open(self._layout.fetched_inputs(job), encoding="utf-8") as file:
                given = {int(at): str(key) for at, key in json.load(file).items()}
            self._given[job] = given

    # -- fetch -------------------------------------------------------------------------------------------------

    async def stage(self, job: str, workspace: str, refs: Mapping[int, str], tell: Tell) -> Said | None:
        """Let what a job names of object storage be here, by the number of the input; return what is wrong, None when
        nothing is, or nobody wants it any more. Raises Unavailable.
        """
        there = await self.places_from_disk(job, len(refs))
        if there is not None:
            self._use(self._given[job].values())
            return None
        given = self._given[job] = {}
        try:
            for at, ref in refs.items():
                given[at] = await self._patiently(workspace, ref, tell)
            await asyncio.to_thread(self._write, job, given)
        except BaseException as error:
            self._given.pop(job, None)
            if isinstance(error, OSError):
                return said.store_not_stored(error.strerror or type(error).__name__)
            if isinstance(error, StoreFailed):
                return error.said
            if not isinstance(error, _Unwanted):
                raise
        return None

    async def _patiently(self, workspace: str, ref: str, tell: Tell) -> str:
        """As `_fetch`, again and again while what is wrong may pass."""
        since = time.monotonic()
        while True:
            if not tell(said.looking_at_inputs()):
                raise _Unwanted
            try:
                return await self._fetch(workspace, ref, tell)
            except StoreFailed as error:
                if error.lasting or time.monotonic() - since > self.patience_s:
                    raise
                why = error.said
            for _ in range(AGAIN_S):
                if not tell(said.fetching_inputs_again(why)):
                    raise _Unwanted
                await asyncio.sleep(1.0)

    def _write(self, job: str, given: Mapping[int, str]) -> None:
        path = self._layout.fetched_inputs(job)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump({str(at): key for at, key in given.items()}, file)
        os.replace(f"{path}.new", path)

    async def _fetch(self, workspace: str, ref: str, tell: Tell) -> str:
        """Return the key of the folder that `ref` is now. Raises StoreFailed, Unavailable, OSError, _Unwanted."""
        name, path = split_place(ref)

        def look() -> FetchPlan:
            bucket = self.connections.open(workspace, name)
            return plan_of(bucket, workspace, path, ref, self._limits.dataset_mib)

        async with self._slot(workspace):
            plan = await in_own_thread(look, "look")
        if plan.key in self._kept:
            self._use([plan.key])
            return plan.key
        running = self._running.get(plan.key)
        if running is None or running.stopped:
            running = self._begin(workspace, name, plan)
        running.waiting += 1
        try:
            while not running.task.done():
                if not tell(_progress(running)):
                    raise _Unwanted
                await asyncio.wait({running.task}, timeout=LOOK_S)
            running.task.result()
        except _Gone:  # it was stopped when nobody waited, a moment ago
            raise StoreFailed(said.store_broke_off(), lasting=False) from None
        finally:
            running.waiting -= 1
            running.stopped = running.waiting == 0
        return plan.key

    def _slot(self, workspace: str) -> asyncio.Semaphore:
        return self._slots.setdefault(workspace, asyncio.Semaphore(AT_ONCE))

    def _begin(self, workspace: str, name: str, plan: FetchPlan) -> _Running:
        before, running = self._running.get(plan.key), _Running(plan)
        self._running[plan.key] = running
        running.fetch = Fetch(self._layout, plan, running.go_on, self.patience_s)
        running.task = asyncio.create_task(self._run(running, workspace, name, before))
        running.task.add_done_callback(lambda done: self._done(plan.key, running))
        return running

    def _done(self, key: str, running: _Running) -> None:
        if self._running.get(key) is running:
            del self._running[key]
        if not running.task.cancelled():
            running.task.exception()  # seen: whoever asked may have gone

    async def _run(self, running: _Running, workspace: str, name: str, before: _Running | None) -> None:
        """Fetch, once `before`, which builds the same folder and was stopped, has ended."""
        plan = running.plan
        if before is not None:
            await asyncio.wait({before.task})
            if plan.key in self._kept:
                return

        def work() -> None:
            running.fetch.run(self.connections.open(workspace, name, running.go_on))
            with open(self._mark(plan.key), "w", encoding="utf-8") as file:
                json.dump({"bytes": plan.size_bytes, "files": plan.listing.files}, file)

        async with self._slot(workspace):
            await self._make_room(await asyncio.to_thread(running.fetch.missing_bytes))
            await in_own_thread(work, "fetch")
        self._kept[plan.key] = KeptFetch(plan.key, plan.size_bytes, self._clock())

    def _use(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._kept[key].used_at = self._clock()
            with suppress(OSError):
                os.utime(self._mark(key))

    # -- remove ------------------------------------------------------------------------------------------------

    async def _make_room(self, coming: int) -> None:
        """Remove what was used longest ago until `coming` more bytes are within the budget, and on the disk. Raises
        StoreFailed where they are not.
        """
        began, needed = self._clock(), await asyncio.to_thread(self._needed)
        for one in sorted(self._kept.values(), key=lambda kept: kept.used_at):
            if await asyncio.to_thread(self._fits, coming):
                return
            if one.key not in needed and one.key not in self._running and one.used_at < began:
                await self._remove(one.key)
        if not await asyncio.to_thread(self._fits, coming):
            raise StoreFailed(said.store_no_room(coming >> 20))

    def _needed(self) -> set[str]:
        found, live = set[str](), set(self._in_use())
        for over in self._given.keys() - live:
            self._given.pop(over, None)
        for job in live:
            if job not in self._given:
                self._read(job)
            found |= set(self._given.get(job, {}).values())
        return found

    def _fits(self, coming: int) -> bool:
        budget = self._limits.fetched_mib << 20
        held = sum(one.size_bytes for one in list(self._kept.values()))
        free = shutil.disk_usage(self._layout.bulk).free - (self._limits.reserve_mib << 20)
        return (not budget or held + coming <= budget) and coming <= free

    async def _remove(self, key: str) -> None:
        del self._kept[key]  # from now on nobody is given it
        log.info("what was fetched as %s is removed to make room", key)
        busy = {name for one in self._running.values() for name in one.plan.objects}

        def work() -> None:
            with suppress(FileNotFoundError):
                os.unlink(self._mark(key))
            remove_tree(os.path.join(self._layout.fetched, key))
            sweep_objects(self._layout.fetched, self._clock() + 1.0, busy)

        try:
            await asyncio.to_thread(work)
        except OSError as error:
            log.warning("what was fetched as %s is not wholly removed: %s", key, error)

    async def close(self) -> None:
        """Stop fetching; what came is gone on from."""
        running = list(self._running.values())
        for one in running:
            one.stopped = True
            one.task.cancel()
        await asyncio.gather(*(one.task for one in running), return_exceptions=True)


def fetched_of(
    layout: Layout,
    config: Config,
    database: Database,
    vault: Vault,
    clock: Callable[[], float],
    in_use: Callable[[], Iterable[str]],
) -> Fetched:
    """Return what keeps the inputs of this home, with the connections of its workspaces."""
    connections = Connections(ConnectionRows(database), vault, config.storage, clock)
    return Fetched(layout, connections, config.limits, clock, in_use)


def _progress(running: _Running) -> Said:
    arrived, plan = running.fetch.arrived, running.plan
    return said.fetching_inputs(arrived.files, len(plan.objects), arrived.size_bytes >> 20, plan.size_bytes >> 20)
