"""Carries out the reducer's orders on engine, storage and timers; every answer comes back as an event.

An order is idempotent by (job, attempt) and repeated until it is answered or no longer wanted, so that a restart, a
lost agent or a full disk never leaves a job half-way. Orders that are already true are answered from memory
(`answer_now`). Invariant: `reaped` is said only after the engine confirmed that nothing of the attempt is left.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from trainmaster.core.actions import Action, Adjust, Hold, Launch, Notify, Precheck, Reap, Save, Stage, Watch
from trainmaster.core.errors import NotFound, TrainmasterError, Unavailable
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Gang, asked_of
from trainmaster.core.records import Attempt, Job, Node, Policy
from trainmaster.core.states import Phase
from trainmaster.engines.base import Engine, LaunchRefused, Waiting
from trainmaster.engines.registry import Engines
from trainmaster.messages.jobs import files, rules, starting
from trainmaster.messages.said import Said
from trainmaster.service.control.launching import Launching
from trainmaster.service.control.master import Master
from trainmaster.service.control.observe import Observer
from trainmaster.service.control.saving import Saving
from trainmaster.service.control.timers import Timers
from trainmaster.service.scheduling.waits import Waits

log = logging.getLogger("trainmaster.orders")

RETRY_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Pauses between tries of an order whose other side does not answer; the last repeats."""
MOST_CRASHES: Final = 4
"""Tries of an order that ends in an error nobody foresaw; then its job fails instead of holding its room for ever."""
FAILS_AS: Final[dict[type[Action], Kind]] = {
    Stage: Kind.LAUNCH_FAILED,
    Launch: Kind.LAUNCH_FAILED,
    Save: Kind.SAVE_FAILED,
}
"""As what an order fails that is given up for MOST_CRASHES; the others are repeated for as long as they are wanted."""
LAUNCHED: Final = {Phase.STARTING, Phase.PENDING, Phase.RUNNING}
"""Phases in which the engine is told what is asked of it anew."""

Once = Callable[[Any, Job, Attempt], Awaitable[Event | None]]
"""One try at an order; returns its answer."""


class OrderRunner:
    """One object per server. `nodes` returns the machines by name, as last seen."""

    def __init__(
        self,
        master: Master,
        observer: Observer,
        engines: Engines,
        launching: Launching,
        saving: Saving,
        timers: Timers,
        waits: Waits,
        nodes: Callable[[], dict[str, Node]],
        clock: Callable[[], float],
    ) -> None:
        self._observer = observer
        self._master, self._engines, self._launching, self._saving = master, engines, launching, saving
        self._timers, self._waits, self._nodes, self._clock = timers, waits, nodes, clock
        self._tasks: dict[tuple[type[Action], str, int], asyncio.Task[None]] = {}  # one per order and attempt
        self._proven: set[str] = set()  # attempts reaped while saving: nothing is left of them
        self.ended: Counter[str] = Counter()
        """How many jobs ended since this server began, by state: for /metrics."""

    # -- orders answered from memory ---------------------------------------------------------------------------

    def answer_now(self, action: Action) -> Event | None:
        """Return the answer to an order that needs no waiting, or None."""
        if isinstance(action, Precheck):
            return self._precheck(action)
        if isinstance(action, Stage):
            job = self._master.live.get(action.job)
            if job is not None and not self._launching.must_stage(job):
                return self._event(action, Kind.STAGED)
        if isinstance(action, Reap) and attempt_id(action.job, action.attempt) in self._proven:
            self._proven.discard(attempt_id(action.job, action.attempt))
            return self._event(action, Kind.REAPED)
        return None

    def _precheck(self, action: Precheck) -> Event | None:
        job = self._master.live.get(action.job)
        if job is None or job.attempt is None:
            return None
        nodes = self._nodes()
        for assignment in job.attempt.placement:
            if not assignment.node:
                continue  # its engine chooses
            node = nodes.get(assignment.node)
            if node is None or not node.schedulable:
                why = node.reason if node is not None else starting.node_gone()
                return self._event(action, Kind.BAD_NODE, why, node=assignment.node)
        return self._event(action, Kind.CHECKED)

    def foresee(self, action: Action) -> None:
        """Use the time in which an order is made durable: nothing of the user's may start before. Never raises."""
        job = self._master.live.get(action.job) if isinstance(action, Launch) else None
        if job is not None:
            announces = self._engines.abilities(self._engines.of(job.pool)).announces
            with contextlib.suppress(Exception):  # what is wrong with a gang is said when it is launched
                gang = self._launching.gang(job) if announces is not None else None
                if announces is not None and gang is not None and not gang.secrets:  # known when it is launched
                    announces.announce(gang)

    # -- orders carried out after the commit -------------------------------------------------------------------

    def act(self, action: Action) -> None:
        """Carry out one order. Never raises; never blocks."""
        self._observer.watch()
        match action:
            case Launch():
                self._begin(action, {Phase.STARTING}, self._launch)
            case Stage():
                self._begin(action, {Phase.STAGING}, self._stage)
            case Save():
                self._begin(action, {Phase.SAVING}, self._save)
            case Reap():
                self._begin(action, {Phase.DRAINING, Phase.RETAINED}, self._reap)
            case Hold():
                self._timers.set(f"hold:{action.job}", action.until)
            case Watch():
                self._timers.set(f"expire:{action.job}", action.expires_at)
            case Adjust():
                self._begin(action, LAUNCHED, self._adjust)
            case Notify():
                self._timers.drop(f"hold:{action.job}")
                self._timers.drop(f"expire:{action.job}")
                self.ended[action.state] += 1
            case Precheck():
                self._begin(action, {Phase.PLACED}, self._precheck_again)
            case _:
                log.error("no rule for the order %s", action)

    def due(self, key: str) -> None:
        """A deadline came: a debug hold ends, or a duration ran out."""
        what, _, job_id = key.partition(":")
        job = self._master.live.get(job_id)
        if job is None or job.terminal:
            return
        kind = Kind.RELEASED if what == "hold" else Kind.EXPIRED
        number = job.attempt.number if job.attempt is not None else 0
        self._say(Event(job_id, kind, self._clock(), "system", number))

    def resume(self, job: Job) -> None:
        """Repeat the order of the phase a live job is in: after a restart this is all there is to do."""
        self.act(Watch(job.id, 0, job.expires_at))
        attempt = job.attempt
        if attempt is None or attempt.phase is Phase.ENDED:
            return
        number = attempt.number
        orders: dict[Phase, Action] = {
            Phase.PLACED: Precheck(job.id, number),
            Phase.STAGING: Stage(job.id, number),
            Phase.STARTING: Launch(job.id, number),
            Phase.SAVING: Save(job.id, number),
            Phase.RETAINED: Hold(job.id, number, (attempt.retained_at or 0.0) + job.policy.debug_hold_s),
            Phase.DRAINING: Reap(job.id, number, job.policy.grace_s),
        }
        order = orders.get(attempt.phase)
        if order is not None:
            self.act(order)
        if attempt.phase in LAUNCHED:
            self.act(Adjust(job.id, number))  # it may have been changed just before the server ended

    def abandon(self, job_id: str, number: int) -> None:
        """End what may still run of a job whose record was set aside: nobody can decide about it, and its room is given
        away.
        """
        key = (Reap, job_id, number)
        if number and key not in self._tasks:
            self._keep(key, self._until_abandoned(attempt_id(job_id, number)))

    async def close(self) -> None:
        """Stop carrying out orders; they are repeated by `resume` after the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- inside ------------------------------------------------------------------------------------------------

    def _begin(self, action: Action, phases: set[Phase], once: Once) -> None:
        """Carry out an order in the background, unless the same one is being carried out."""
        key = (type(action), action.job, action.attempt)
        known = self._tasks.get(key)
        if known is not None and not known.done():
            return
        self._keep(key, self._until_answered(action, phases, once))

    def _keep(self, key: tuple[type[Action], str, int], work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))

    def _forget(self, key: tuple[type[Action], str, int], done: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is done:
            del self._tasks[key]

    def _attempt_in(self, action: Action, phases: set[Phase]) -> Attempt | None:
        """Return the attempt an order is about while it is still in a phase that wants it."""
        job = self._master.live.get(action.job)
        attempt = job.attempt if job is not None else None
        return attempt if attempt is not None and attempt.number == action.attempt and attempt.phase in phases else None

    async def _until_answered(self, action: Action, phases: set[Phase], once: Once) -> None:
        tries, mistakes = 0, 0
        failed: Event | None = None
        while (attempt := self._attempt_in(action, phases)) is not None:
            try:
                answer = failed or await once(action, self._master.live[action.job], attempt)
                if answer is not None and self._attempt_in(action, phases) is not None:
                    self._master.apply(answer)
                return
            except TrainmasterError as error:
                if self._attempt_in(action, phases) is None:
                    return  # whoever waited for it has given it up
                log.warning("%s: %s; trying again", action, error.message)
                if isinstance(action, Stage | Launch | Save):
                    key = attempt_id(action.job, action.attempt)
                    self._waits.note(Waiting(key, error.kind, error.said, self._clock()))
            except Exception as error:
                log.exception("%s failed", action)
                mistakes += 1
                kind = FAILS_AS.get(type(action))
                if kind is not None and mistakes >= MOST_CRASHES:
                    failed = self._event(action, kind, starting.platform_mistake(f"{type(error).__name__}: {error}"))
                    continue
            await asyncio.sleep(RETRY_S[min(tries, len(RETRY_S) - 1)])
            tries += 1

    async def _until_abandoned(self, attempt: str) -> None:
        """Its pool is not known: whichever engine has it, ends it."""
        await asyncio.gather(*(self._until_gone(engine, attempt) for engine in self._engines))

    async def _until_gone(self, engine: Engine, attempt: str) -> None:
        while True:
            try:
                await self._engines.up(engine).reap(attempt, Policy().grace_s)
                return
            except TrainmasterError as error:
                log.warning("attempt %s of a record set aside is not proven gone: %s", attempt, error.message)
            await asyncio.sleep(RETRY_S[-1])

    async def _precheck_again(self, action: Precheck, job: Job, attempt: Attempt) -> Event | None:
        return self._precheck(action)

    async def _stage(self, action: Stage, job: Job, attempt: Attempt) -> Event | None:
        try:
            problem = await self._launching.stage(job, lambda said: self._told(action, said))
        except NotFound as error:  # of the spec: it will not come back
            problem = error.said
        if problem:
            return self._event(action, Kind.LAUNCH_FAILED, problem)
        await self._cache_inputs(action, job)
        return self._event(action, Kind.STAGED)

    async def _cache_inputs(self, action: Stage, job: Job) -> None:
        """Let what the job wants on its nodes' fast storage be there; what is not is told. Raises NotFound,
        Unavailable.
        """
        spec = await self._launching.spec(job)
        caches = self._engines.abilities(self._engines.of(job.pool)).caches_inputs
        if caches is None or not any(item.cache for item in spec.inputs):
            return
        self._engine(job)  # which may be down
        gang = self._launching.gang(job) or await self._launching.gang_from_disk(job)
        for said in await caches.cache_inputs(gang, lambda said: self._told(action, said)):
            self._say(self._event(action, Kind.NOTED, said, code="not_cached"))

    def _told(self, action: Stage, said: Said) -> bool:
        """Keep how far a stage is; return whether it is still wanted."""
        self._waits.note(Waiting(attempt_id(action.job, action.attempt), "staging", said, self._clock()))
        return self._attempt_in(action, {Phase.STAGING}) is not None

    async def _launch(self, action: Launch, job: Job, attempt: Attempt) -> Event | None:
        try:
            gang = self._launching.gang(job) or await self._launching.gang_from_disk(job)
            if self._attempt_in(action, {Phase.STARTING}) is None:
                return None  # stopped meanwhile, perhaps reaped: start nothing of it
            engine = self._engine(job)
            await self._start(engine, job, gang)
        except NotFound as error:
            return self._event(action, Kind.LAUNCH_FAILED, error.said)
        except LaunchRefused as refusal:
            if refusal.node is not None:
                return self._event(action, Kind.BAD_NODE, refusal.said, node=refusal.node)
            return self._event(action, Kind.LAUNCH_FAILED, refusal.said, code=refusal.code)
        return self._event(action, Kind.ACCEPTED if engine.owns_queue else Kind.STARTED)

    async def _start(self, engine: Engine, job: Job, gang: Gang) -> None:
        """Launch a gang, with its secrets where it has some. Raises NotFound, LaunchRefused, Unavailable."""
        if not gang.secrets:
            await engine.launch(gang)
            return
        taker = self._engines.abilities(engine).takes_secrets
        if taker is None:
            raise LaunchRefused("launch_failed", rules.secrets_not_carried())
        await taker.launch_with(gang, await self._launching.secrets(job, gang, self._clock()))

    async def _adjust(self, action: Adjust, job: Job, attempt: Attempt) -> Event | None:
        """Tell an engine that can change what it has what is asked now, until nothing has changed meanwhile."""
        adjusts = self._engines.abilities(self._engines.of(job.pool)).adjusts
        if adjusts is None:
            return None
        key, told = attempt_id(action.job, action.attempt), None
        while self._attempt_in(action, LAUNCHED) is not None and told != (
            now := asked_of(self._master.live[action.job])
        ):
            self._engine(job)  # which may be down
            await adjusts.adjust(key, now)
            told = now
        return None

    async def _save(self, action: Save, job: Job, attempt: Attempt) -> Event | None:
        """First end what still runs (tasks of other roles), then turn what they wrote into a model version."""
        key = attempt_id(action.job, action.attempt)
        await self._engine(job).reap(key, job.policy.grace_s)
        if self._attempt_in(action, {Phase.SAVING}) is None:
            return None  # stopped meanwhile: nobody wants a version of it
        self._proven.add(key)
        try:
            saved, left_out = await self._saving.save(job)
        except TrainmasterError as error:
            if isinstance(error, Unavailable):
                raise
            return self._event(action, Kind.SAVE_FAILED, error.said)
        except OSError as error:
            return self._event(action, Kind.SAVE_FAILED, files.outputs_not_saved(f"{error.strerror}: {error.filename}"))
        if left_out:
            self._say(self._event(action, Kind.NOTED, left_out, code="not_saved"))
        return self._event(action, Kind.SAVED, **saved)

    async def _reap(self, action: Reap, job: Job, attempt: Attempt) -> Event | None:
        await self._engine(job).reap(attempt_id(action.job, action.attempt), action.grace_s)
        return self._event(action, Kind.REAPED)

    def _engine(self, job: Job) -> Engine:
        """Return the engine that `job` runs on. Raises Unavailable while it is down."""
        return self._engines.up(self._engines.of(job.pool))

    def _event(self, action: Action, kind: Kind, said: Said | None = None, **data: Any) -> Event:
        told = {"said": said.to_json()} if said is not None else {}
        return Event(action.job, kind, self._clock(), "system", action.attempt, {**data, **told})

    def _say(self, event: Event) -> None:
        try:
            self._master.apply(event)
        except TrainmasterError as error:
            log.warning("%s not recorded: %s", event.kind, error.message)
