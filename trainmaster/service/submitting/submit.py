"""Submitting: dialect -> spec -> check -> admission -> record -> durable. Nothing is accepted unless it is on disk.

Exactly once (B4): with an idempotency key the same body gives the same job, another body a conflict; the key is stored
in the transaction of the job. Two requests with one key at the same time meet in `_flying`.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Container, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import BatchItem, BatchView, JobView
from trainmaster.core import records
from trainmaster.core.errors import Conflict, InvalidSpec, Problem, TrainmasterError, problem_from, problem_of
from trainmaster.core.events import Actor, Event, Kind
from trainmaster.core.ids import job_id
from trainmaster.core.records import Job
from trainmaster.messages.jobs import submitting
from trainmaster.service.admission.places import place_problems
from trainmaster.service.context import Context
from trainmaster.service.submitting.algorithms import KnownAlgorithms
from trainmaster.service.submitting.candidate import QUICK, job_of, only_workspace, placed, read, warned
from trainmaster.service.submitting.choosing_pool import with_pool_chosen
from trainmaster.service.submitting.named_algorithms import algorithms_named
from trainmaster.service.submitting.reading import Candidate, read_body, read_each
from trainmaster.service.submitting.replacing import replaced, split, to_be_replaced
from trainmaster.service.submitting.versions import as_version
from trainmaster.service.views import job_view, rights_of
from trainmaster.spec.document import Given
from trainmaster.spec.lower import environment_of
from trainmaster.spec.outputs import of_any_name
from trainmaster.store.jobs.ledger import IdempotencyRecord

MAX_BATCH: Final = 10_000
MAX_KEY: Final = 200
MOST_PROBLEMS: Final = 200
"""Problems of a batch that are listed; nothing behind them is looked at."""
SLICE: Final = 250
"""Items of a batch that are read at once."""
BREATH_S: Final = 0.005
"""For how long a batch is read before others have their turn."""


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A new use of an idempotency key, before the ids of its jobs are known."""

    workspace: str
    key: str
    body_digest: str
    at: float

    def record(self, jobs: Sequence[Job]) -> IdempotencyRecord:
        """Return what the ledger stores with `jobs`."""
        return IdempotencyRecord(self.workspace, self.key, self.body_digest, tuple(job.id for job in jobs), self.at)


@dataclass(frozen=True, slots=True)
class Tie:
    """What several jobs are together. `mark` returns each, by its place, as it is to be; `entered` is told of all, in
    the batch in which they are stored.
    """

    mark: Callable[[int, Job], Job]
    entered: Callable[[Sequence[Job]], None]


Enter = Callable[[KeyUse | None], list[Job]]
"""Makes the jobs, at once."""
Prepared = tuple[Sequence[Candidate], Enter]
"""Requests that were read and found good, and what makes jobs of them."""


class Submit:
    """One object per server."""

    def __init__(self, context: Context, next_seq: int) -> None:
        self._ctx = context
        self._seq = next_seq
        self._flying: dict[tuple[str, str], asyncio.Future[None]] = {}
        self._numbering = asyncio.Lock()  # held while a version gets its number, until that is stored
        self._claimed: set[tuple[str, str]] = set()  # (workspace, slug) of requests on their way to the disk

    async def submit(self, body: Given, who: Principal, key: str | None) -> tuple[JobView, bool]:
        """Take in one job; return (its list item, was it created now). The queued job that the body names under
        `instead_of` is stopped with it: both are stored, or neither. It is a further version of the one that the body
        names under `version_of`.

        Raises InvalidSpec, Unsatisfiable, Conflict (another body under this key, a slug in use, the other job is no
        longer queued), StorageFailed.
        """
        decide(who, "jobs:write").demand()
        await self._ctx.disks.demand_room()
        seq = self._ctx.feed.here()
        submission, ref, before = split(body)

        async def prepared() -> Prepared:
            first = to_be_replaced(self._ctx, ref, who)
            candidate, job = await with_pool_chosen(self._ctx, await read(self._ctx, submission, who), who, first)
            candidate = await warned(self._ctx, candidate, who)
            job = job if before is None else await as_version(self._ctx, job, before, who)
            wrong = [*candidate.refused, *await self._ctx.admission.outside_problems(candidate.spec, who)]
            return [candidate], lambda use: [self._enter(candidate, job, who, wrong, use, ref)]

        async with nullcontext() if before is None else self._numbering:
            jobs, created = await self._once(key, [body], who, prepared)
        await self._foresee_images(jobs)
        return self._view(jobs[0], who, seq), created

    async def submit_batch(self, bodies: Sequence[Given], who: Principal, key: str | None) -> BatchView:
        """Take in all or none (1 to 10,000). Raises like `submit`, with the item's index in every problem path."""
        decide(who, "jobs:write").demand()
        await self._ctx.disks.demand_room()
        if not 1 <= len(bodies) <= MAX_BATCH:
            found = (problem_of("items", submitting.jobs_of_a_batch(MAX_BATCH)),)
            raise InvalidSpec(submitting.batch_of_wrong_size(), problems=found)

        jobs, _ = await self.submit_together(bodies, who, key, bodies)
        return BatchView(items=[BatchItem(id=job.id, state=job.shown) for job in jobs])

    async def submit_together(
        self, bodies: Sequence[Given], who: Principal, key: str | None, given: Any, tie: Tie | None = None
    ) -> tuple[list[Job], bool]:
        """Take in all of `bodies` or none; return (the jobs, were they made now). `given`: by which another body under
        the same key is known; `tie`: what makes more of the jobs than that. Raises like `submit_batch`.
        """

        async def prepared() -> Prepared:
            own = only_workspace(who)
            there = [placed(body, own) for body in bodies]
            known = await algorithms_named(self._ctx.versions, there, who)
            candidates, templates = await self._read_all(there, who, known)
            return candidates, lambda use: self._enter_all(candidates, templates, who, use, tie)

        jobs, created = await self._once(key, given, who, prepared)
        await self._foresee_images(jobs)
        return jobs, created

    async def _foresee_images(self, jobs: Sequence[Job]) -> None:
        """Let environments of images that were removed be made while their jobs wait."""
        specs = ((job.workspace, self._ctx.specs.get(job.spec_digest)) for job in jobs)
        named = {(workspace, environment_of(spec)) for workspace, spec in specs if spec is not None}
        for workspace, image in named:
            if image:
                await self._ctx.images.foresee(workspace, image)

    async def _read_all(
        self, bodies: Sequence[Given], who: Principal, algorithms: KnownAlgorithms
    ) -> tuple[list[Candidate], dict[tuple[str, str], Job]]:
        """Check every item before any is entered; the loop breathes between slices.

        Return the items, and a job by (digest, dialect) that all items of one shape are copied from: what is asked
        twice is checked and admitted once.
        """
        problems: list[Problem] = []
        candidates: list[Candidate] = []
        good: list[int] = []
        templates: dict[tuple[str, str], Job] = {}
        known: dict[bytes, tuple[Candidate, Job]] = {}
        outsides: dict[str, list[Problem]] = {}  # the same for all that differ only in what runs in their roles
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with aclosing(self._read_ahead(bodies, known, who, algorithms)) as slices:
            for index, body in enumerate(bodies):
                if index % SLICE == 0:
                    read_before = await anext(slices)
                try:
                    text = msgspec.json.encode(body)
                    if text not in known:
                        known[text] = await with_pool_chosen(self._ctx, _candidate(read_before[text]), who)
                    candidate, template = known[text]
                    if (candidate.digest, candidate.dialect) not in templates:
                        same = candidate.spec.model_dump_json(exclude={"name", "roles"})
                        if same not in outsides:
                            outsides[same] = await self._ctx.admission.outside_problems(
                                of_any_name(candidate.spec), who
                            )
                        wrong = [*candidate.refused, *outsides[same]]
                        self._ctx.admission.admit(template, who, wrong)
                        templates[candidate.digest, candidate.dialect] = template
                    candidates.append(candidate)
                    good.append(index)
                except TrainmasterError as error:
                    found = error.problems or (problem_from("", error),)
                    problems += [replace(p, path=f"items.{index}.{p.path}".rstrip(".")) for p in found]
                if loop.time() - began > BREATH_S:
                    await asyncio.sleep(0)
                    began = loop.time()
                if len(problems) > MOST_PROBLEMS:
                    listed = tuple(problems[:MOST_PROBLEMS])
                    raise InvalidSpec(submitting.batch_refused_more(MOST_PROBLEMS), problems=listed)
        taken = await self._ctx.admission.taken_places([candidate.spec for candidate in candidates], who)
        problems += [replace(one, path=f"items.{good[at]}.{one.path}") for at, one in taken]
        if problems:
            raise InvalidSpec(submitting.batch_refused(len(problems)), problems=tuple(problems))
        return candidates, templates

    async def _read_ahead(
        self, bodies: Sequence[Given], known: Container[bytes], who: Principal, algorithms: KnownAlgorithms
    ) -> AsyncGenerator[dict[bytes, Candidate | InvalidSpec]]:
        """Yield what each slice asks for; the next one is read by a clerk while it is looked at here."""
        ahead = asyncio.create_task(self._read_slice(bodies[:SLICE], known, who, algorithms))
        try:
            for at in range(SLICE, len(bodies) + SLICE, SLICE):
                found = await ahead
                if at < len(bodies):
                    ahead = asyncio.create_task(self._read_slice(bodies[at : at + SLICE], known, who, algorithms))
                yield found
        finally:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)

    async def _read_slice(
        self, bodies: Sequence[Given], known: Container[bytes], who: Principal, algorithms: KnownAlgorithms
    ) -> dict[bytes, Candidate | InvalidSpec]:
        """Return by its text what each body asks for that is not `known`, or what is wrong with it."""
        texts = {msgspec.json.encode(body): body for body in bodies}
        new = {text: body for text, body in texts.items() if text not in known}
        given = list(new.values()), self._ctx.scheduling.hosts, dict(self._ctx.pools.flavors), algorithms
        quick = sum(map(len, new)) <= QUICK
        found = read_each(*given) if quick else await self._ctx.clerks.do(who.name, read_each, *given)
        return dict(zip(new, found, strict=True))

    def _read(self, body: Given) -> Candidate:
        return read_body(body, self._ctx.scheduling.hosts, self._ctx.pools.flavors)

    def _enter_all(
        self,
        candidates: list[Candidate],
        templates: Mapping[tuple[str, str], Job],
        who: Principal,
        use: KeyUse | None,
        tie: Tie | None,
    ) -> list[Job]:
        now = self._ctx.clock()
        jobs = [self._new(templates[candidate.digest, candidate.dialect], now) for candidate in candidates]
        jobs = jobs if tie is None else [tie.mark(at, job) for at, job in enumerate(jobs)]
        self._ctx.admission.admit_together(jobs)
        record, by = use.record(jobs) if use is not None else None, who.actor
        for job, candidate in zip(jobs, candidates, strict=True):
            self._take(job, candidate, by, record)
            record = None  # once: the key is stored with the first job
        if tie is not None:
            tie.entered(jobs)
        return jobs

    def _enter(
        self,
        candidate: Candidate,
        template: Job,
        who: Principal,
        wrong: Sequence[Problem],
        use: KeyUse | None,
        instead_of: Any,
    ) -> Job:
        now = self._ctx.clock()
        job = self._new(template, now)
        first = to_be_replaced(self._ctx, instead_of, who)  # it may have started since it was looked at
        self._ctx.admission.admit(job, who, wrong, first)
        after = self._take(job, candidate, who.actor, use.record([job]) if use is not None else None)
        if first is not None:  # no await in between: the end of one and the other are stored in one batch
            self._ctx.master.apply(replaced(first, job, who, now))
        return after

    def _new(self, template: Job, now: float) -> Job:
        """Return a job like `template`, which has no id, submitted `now`."""
        self._seq += 1
        new_id = job_id(self._ctx.random_bytes)
        return records.replace(template, id=new_id, seq=self._seq, submitted_at=now, queued_at=now)

    def _take(self, job: Job, candidate: Candidate, by: Actor, record: IdempotencyRecord | None) -> Job:
        self._ctx.specs.put(candidate.digest, candidate.spec)
        after = self._ctx.master.submit(job, candidate.document, record, by)
        for warning in candidate.warnings:
            data = {"code": warning.code, "path": warning.path, "said": warning.said.to_json()}
            after = self._ctx.master.apply(Event(job.id, Kind.NOTED, self._ctx.clock(), data=data))
        return after

    def would_take(self, document: Given, change: Given, who: Principal) -> bool:
        """Return whether `document` with `change` is a job that may and can run where it wants to; limits of numbers
        aside.
        """
        try:
            job = job_of(self._ctx, self._read({"spec": document, "dialect": "native", "set": change}), who)
        except InvalidSpec:
            return False
        return not place_problems(job, self._ctx.pools, who) and self._ctx.scheduling.refusal(job) is None

    async def _durably(self, candidates: Sequence[Candidate], enter: Enter, use: KeyUse | None) -> list[Job]:
        """Run `enter` with `use`; return once it is on disk. Slugs are unique: claimed before, and looked up. Raises
        Conflict.
        """
        slugs = [(c.spec.workspace, c.spec.slug) for c in candidates if c.spec.slug is not None]
        if not slugs:
            jobs = enter(use)
            await self._ctx.master.durable()
            return jobs
        taken = [slug for slug in slugs if slug in self._claimed or slugs.count(slug) > 1]
        mine = set(slugs) - self._claimed
        self._claimed |= mine
        try:
            taken += await asyncio.to_thread(lambda: [slug for slug in slugs if self._in_use(slug)])
            if taken:
                names = [name for _, name in dict.fromkeys(taken)]
                found = tuple(problem_of("slug", submitting.slug_taken(repr(name))) for name in names)
                raise Conflict(submitting.slug_exists(), problems=found)
            jobs = enter(use)
            await self._ctx.master.durable()
            return jobs
        finally:
            self._claimed -= mine

    def _in_use(self, slug: tuple[str, str]) -> bool:
        return self._ctx.records.slug_in_use(*slug)

    async def _once(
        self, key: str | None, body: Any, who: Principal, prepared: Callable[[], Awaitable[Prepared]]
    ) -> tuple[list[Job], bool]:
        """Enter what was `prepared` unless this key was used before; then return those jobs. Raises Conflict for
        another body.
        """
        if key is None:
            return await self._durably(*await prepared(), None), True
        if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
            found = (problem_of("Idempotency-Key", submitting.characters_of_a_key(MAX_KEY)),)
            raise InvalidSpec(submitting.key_not_valid(), problems=found)
        digest = hashlib.sha256(msgspec.json.encode(body, order="sorted")).hexdigest()
        place = ("default", f"{who.name}:{key}")
        while (flying := self._flying.get(place)) is not None:
            await asyncio.wait([flying])
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._flying[place] = mine
        try:
            known = await asyncio.to_thread(self._ctx.records.idempotency, *place)
            if known is not None:
                return await self._same(known, digest, who), False
            return await self._durably(*await prepared(), KeyUse(*place, digest, self._ctx.clock())), True
        finally:
            del self._flying[place]
            mine.set_result(None)

    async def _same(self, known: IdempotencyRecord, digest: str, who: Principal) -> list[Job]:
        if known.body_digest != digest:
            other = problem_of("Idempotency-Key", submitting.key_of_another_body())
            raise Conflict(submitting.key_used_before(), problems=(other,))
        found = [
            self._ctx.master.live.get(one) or await asyncio.to_thread(self._ctx.records.get_job, one)
            for one in known.jobs
        ]
        seen = decide(who, "jobs:read").visible  # a token may see less than the one that submitted
        jobs = [job for job in found if job is not None and seen.covers(job)]
        if len(jobs) != len(found):
            raise Conflict(submitting.job_of_key_gone())
        return jobs

    def _view(self, job: Job, who: Principal, seq: str) -> JobView:
        job = self._ctx.master.live.get(job.id, job)
        reason = self._ctx.scheduling.reason(job, self._ctx.names_for(decide(who, "jobs:read").visible))
        return job_view(job, self._ctx.clock(), seq, rights_of(who).over(job), reason)


def _candidate(found: Candidate | InvalidSpec) -> Candidate:
    if isinstance(found, InvalidSpec):
        raise InvalidSpec(found.said, remedy=found.remedy, problems=found.problems)
    return found
