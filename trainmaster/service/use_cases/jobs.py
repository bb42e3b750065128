"""Use cases on existing jobs: read, stop, delete, clone, change, release, explain. One verb per method, each decided
first.

A job is looked for in memory first (live jobs are never behind the disk) and then in the ledger. Whoever may not see a
job is told that it does not exist.
"""

import asyncio
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import yaml
from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import (
    EventsView,
    Explanation,
    JobDetail,
    JobVersions,
    JobView,
    NoteView,
    SuggestionView,
)
from trainmaster.core.errors import (
    Conflict,
    Forbidden,
    InvalidSpec,
    NotFound,
    Problem,
)
from trainmaster.core.events import AuditEvent, Data, Event, Kind, subject_job
from trainmaster.core.ids import task_name
from trainmaster.core.records import Attempt, Job, find_task
from trainmaster.core.sending import SendTarget
from trainmaster.core.states import JobShare, Phase, Priority, Shown
from trainmaster.dialects.pai_out import to_pai
from trainmaster.messages.jobs import jobs as said
from trainmaster.messages.server import audit, requests
from trainmaster.queue.explaining.explain import Judged
from trainmaster.service.context import Context
from trainmaster.service.curves.metrics import Summary
from trainmaster.service.scheduling.reasons import view_judged
from trainmaster.service.submitting.replacing import VERSION
from trainmaster.service.use_cases.remedies import helping_again
from trainmaster.service.use_cases.sooner import helping
from trainmaster.service.views import (
    JobViews,
    attempt_view,
    damage_view,
    event_note,
    event_view,
    rights_of,
    role_view,
    upload_view,
)
from trainmaster.spec.document import Document, Given
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import effective

UNSET: Final[Any] = object()
VERSIONS: Final = 200
"""So many versions of a job are shown at most."""


def task_in(job: Job, name: str) -> tuple[int, int]:
    """Return (role, index) of the task of `job` that is called `name`. Raises NotFound."""
    found = find_task(job.roles, name)
    if found is None:
        raise NotFound(said.no_such_task(name, task_name(0, 0), job.id))
    return found


def demand(ref: str, who: Principal, scope: str, job: Job) -> None:
    """Return when `who` may do `scope` with `job`, which they call `ref`. Raises NotFound where they do not see it,
    Forbidden.
    """
    if not decide(who, "jobs:read").demand().covers(job):
        raise NotFound(said.no_such_job(repr(ref)))
    if not decide(who, scope, job).allowed:
        decide(who, scope).demand()
        raise Forbidden(
            said.only_shared_to_read(job.owner) if scope == "jobs:write" else said.not_yours_to_share(job.owner)
        )


class Jobs:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._views = context, JobViews()

    # -- look --------------------------------------------------------------------------------------------------

    async def resolve(self, ref: str, who: Principal, scope: str = "jobs:read") -> Job:
        """Return the job `ref` names: an id, a unique prefix of one (>= 4), or a slug.

        Raises NotFound, Conflict when a prefix names several, Forbidden.
        """
        live, visible = self._ctx.master.live, decide(who, "jobs:read").demand()
        job = live.get(ref)
        if job is None or not visible.covers(job):
            job = await asyncio.to_thread(self._ctx.reader.find, visible, ref)
            job = live.get(job.id, job)
        demand(ref, who, scope, job)
        return job

    async def views(self, jobs: Iterable[Job], who: Principal, seq: str) -> list[JobView]:
        """Return list items of those that `who` may see, with reason, progress and last metrics.

        `seq`: the feed's before the jobs were looked up. Whoever watches from a later one might never hear of what they
        became meanwhile.
        """
        visible = decide(who, "jobs:read").demand()
        jobs, name_of, rights = (
            [job for job in jobs if visible.covers(job)],
            self._ctx.names_for(visible),
            rights_of(who),
        )
        favored, watched = await asyncio.to_thread(self._of_rows, jobs, who.name)
        now = self._ctx.clock()
        return [
            self._views.view(
                job,
                now,
                seq,
                rights.over(job),
                self._ctx.reason(job, name_of),
                self._ctx.foretold(job),
                seen.progress,
                seen.metrics,
                job.seq in favored,
            )
            for job, seen in zip(jobs, watched, strict=True)
        ]

    def _of_rows(self, jobs: Sequence[Job], name: str) -> tuple[set[int], list[Summary]]:
        return self._ctx.favorites.among(name, [job.seq for job in jobs]), self._ctx.watched(jobs)

    async def _view(self, job: Job, who: Principal, seq: str) -> JobView:
        """Return the list item of a job that `who` has done something to."""
        return (await self.views([job], who, seq))[0]

    async def detail(self, ref: str, who: Principal) -> JobDetail:
        """Return everything about one job."""
        seq, visible = self._ctx.feed.here(), decide(who, "jobs:read").demand()
        job = await self.resolve(ref, who)
        [view], (spec, (attempts, events), sent) = await asyncio.gather(
            self.views([job], who, seq), asyncio.to_thread(self._stored, visible, job)
        )
        if job.attempt is not None:
            attempts = [*(a for a in attempts if a.number != job.attempt.number), job.attempt]
        shown = [attempt_view(job, attempt) for attempt in attempts]
        commands = [_command(role.command) for role in spec.roles] if spec is not None else []
        commands += [""] * (len(job.roles) - len(commands))
        return JobDetail(
            **asdict(view),
            roles=[role_view(i, role, commands[i]) for i, role in enumerate(job.roles)],
            attempt_list=shown,
            task_list=shown[-1].tasks if shown else [],
            warnings=_warnings(events, spec is None, job.attempts_used - len(shown)),
            uploads=[upload_view(one) for one in self._ctx.sending.live(sent)],
            spec=effective(spec) if spec is not None else {},
            extras=spec.extras if spec is not None else None,
        )

    def _stored(
        self, visible: Visible, job: Job
    ) -> tuple[JobSpec | None, tuple[list[Attempt], list[Event]], list[SendTarget]]:
        """Return what is stored of a job: its document, its attempts and its events, and where outputs go; blocking."""
        spec = self._ctx.specs.fetch_or_none(job.spec_digest)
        sent = self._ctx.sending.rows.of_job(job.seq) if spec is not None and spec.outputs else []
        return spec, self._ctx.reader.history(visible, job.id), sent

    async def events(self, ref: str, who: Principal, after: int) -> EventsView:
        """Return the job's events after the first so many."""
        visible = decide(who, "jobs:read").demand()
        job = await self.resolve(ref, who)
        if job.id in self._ctx.master.live:
            await self._ctx.master.durable()  # no view of the job is ahead of its events
        events = await asyncio.to_thread(self._ctx.reader.events, visible, job.id)
        name_of = self._ctx.names_for(visible)
        return EventsView(items=[event_view(one, at, name_of) for at, one in enumerate(events, 1) if at > after])

    async def spec(self, ref: str, who: Principal, dialect: str, form: str) -> tuple[str, str]:
        """Return (text, media type) of the job's document in a dialect (native, pai) and form (json, yaml)."""
        job = await self.resolve(ref, who)
        document = await self.document(job, dialect)
        if form == "yaml":
            return yaml.safe_dump(document, allow_unicode=True, sort_keys=False), "application/yaml"
        return self._ctx.json(document), "application/json"

    async def document(self, job: Job, dialect: str = "native") -> Document:
        """Return the job's document."""
        spec = await self._ctx.specs.read(job.spec_digest)
        if dialect == "pai":
            return to_pai(spec, job)
        return effective(spec)

    async def explain(self, ref: str, who: Principal) -> Explanation:
        """Return why the job waits, runs or ended, and what would change that (B1)."""
        seq, visible = self._ctx.feed.here(), decide(who, "jobs:read").demand()
        job = await self.resolve(ref, who)
        [view] = await self.views([job], who, seq)
        spec = await asyncio.to_thread(self._ctx.specs.fetch_or_none, job.spec_digest)
        document, judged = effective(spec) if spec else None, self._ctx.scheduling.judged(job)
        reason = view_judged(judged, self._ctx.names_for(visible)) if judged is not None else None
        position = reason.position if reason is not None else None
        return Explanation(
            id=job.id,
            state=view.state,
            verdict=view.verdict,
            reason=self._ctx.held_up(job) or reason or view.reason,  # the last: a cluster's own
            position=position,
            ahead=0 if position is None else position - 1,
            evidence=reason.evidence if reason is not None else {},
            suggestions=await self._helping(who, job, judged, document),
            forecast=self._ctx.forecast(job),
        )

    async def _helping(
        self, who: Principal, job: Job, judged: Judged | None, document: Document | None
    ) -> list[SuggestionView]:
        """Return what would let a job start sooner that waits, or help one that failed or ran out of time."""
        if document is None:
            return []
        if judged is not None:
            return await helping(self._ctx, who, job, judged, document)
        held = job.attempt is not None and job.attempt.phase is Phase.RETAINED
        return await helping_again(self._ctx, who, job, document) if job.terminal or held else []

    # -- act ---------------------------------------------------------------------------------------------------

    async def stop(self, ref: str, who: Principal, reason: str = "") -> JobView:
        """Ask the job to stop, at once and for good (R201). Idempotent. Its outputs are then not saved.

        Raises Conflict when they were saved this very moment.
        """
        seq = self._ctx.feed.here()
        job = await self.resolve(ref, who, "jobs:write")
        if not job.terminal:
            if job.shown is Shown.SAVING and not self._ctx.saving.give_up(job.id):
                raise Conflict(said.outputs_just_saved())
            job = await self._apply(job, who, (Kind.STOP_REQUESTED, {"reason": reason}))
        return await self._view(job, who, seq)

    async def release(self, ref: str, who: Principal) -> JobView:
        """End a debug hold. Raises Conflict when the job is not held."""
        seq = self._ctx.feed.here()
        job = await self.resolve(ref, who, "jobs:write")
        if job.terminal or job.attempt is None or job.attempt.phase is not Phase.RETAINED:
            raise Conflict(said.not_held())
        return await self._view(await self._apply(job, who, (Kind.RELEASED, {})), who, seq)

    async def change(self, ref: str, who: Principal, duration_s: Any = UNSET, priority: Any = UNSET) -> JobView:
        """Change duration (R191-R193) and priority (R170) of a job that has not ended, both or neither; processes are
        untouched.

        Raises InvalidSpec, Conflict when the job has ended, StorageFailed.
        """
        seq = self._ctx.feed.here()
        job = await self.resolve(ref, who, "jobs:write")
        _refuse_ended(job)
        problems: list[Problem] = []
        if duration_s is not UNSET:
            problems += self._ctx.admission.duration_problems(duration_s, "duration_s") or [
                *self._too_long(job, duration_s),
                *self._ctx.admission.longer_problems(job, duration_s),
            ]
        if priority is not UNSET:
            problems += self._ctx.admission.change_problems(job, priority, who)
        if problems:
            raise InvalidSpec(requests.change_not_valid(), problems=tuple(problems))
        changes: list[tuple[Kind, Data]] = []
        if priority is not UNSET:
            new = int(Priority[str(priority).upper()])
            changes.append((Kind.PRIORITY_CHANGED, {"priority": new, "before": int(job.priority)}))
        if duration_s is not UNSET:
            limit = None if duration_s is None else float(duration_s)
            changes.append((Kind.DURATION_CHANGED, {"duration_s": limit, "before": job.policy.duration_s}))
        if changes:
            job = await self._apply(job, who, *changes)
            _refuse_ended(job)
        return await self._view(job, who, seq)

    def _too_long(self, job: Job, duration_s: Any) -> list[Problem]:
        """Return what the engine of a job says against another duration."""
        wanted = replace(job, policy=replace(job.policy, duration_s=duration_s))
        found = self._ctx.admission.engine_problems(wanted)
        return [replace(one, path="duration_s") for one in found if one.path == "duration"]

    async def share(self, ref: str, who: Principal, share: JobShare) -> JobView:
        """Share a job with the other members of its workspace, or no more (R223); also after its end.

        Raises InvalidSpec where it may not be shared so there, or what it uses is shared less, NotFound, StorageFailed.
        """
        seq = self._ctx.feed.here()
        job = await self.resolve(ref, who, "jobs:share")
        if share is not JobShare.NONE and (wrong := await self._too_wide(job, share)):
            raise InvalidSpec(requests.change_not_valid(), problems=tuple(wrong))

        def kind_of(job: Job) -> tuple[Kind, Data] | None:
            data = {"share": share.value, "before": job.share.value}
            return None if share is job.share else (Kind.SHARED, data)

        return await self._view(await self.mark(ref, job, who, "jobs:share", kind_of), who, seq)

    async def _too_wide(self, job: Job, share: JobShare) -> list[Problem]:
        return await self._ctx.admission.share_problems(share, await self._ctx.specs.read(job.spec_digest))

    async def mark(
        self, ref: str, job: Job, who: Principal, scope: str, of: Callable[[Job], tuple[Kind, Data] | None]
    ) -> Job:
        """Do to a job what may also be done after its end; return it after that. `of` says what becomes of it as it is
        when its turn has come, None: nothing; what `who` may is judged then, too: somebody else was first, perhaps.

        Raises NotFound, Forbidden, StorageFailed, and what `of` raises.
        """

        def event_of(job: Job) -> Event | None:
            demand(ref, who, scope, job)
            found = of(job)
            if found is None:
                return None
            return Event(job.id, found[0], self._ctx.clock(), who.name, data=found[1], by=who.actor)

        changed = await self._ctx.ended.change(job.id, self._ctx.records.get_job, event_of)
        if changed is None:
            raise NotFound(said.job_being_deleted(repr(ref)))
        return changed

    async def delete(self, ref: str, who: Principal) -> None:
        """Delete an ended job with its logs and files (R194, R202). A saved model stays. Raises Conflict before the
        end.
        """

        def audit_event(job: Job) -> AuditEvent:
            said = audit.job_deleted(job.name, job.owner)
            return who.did(subject_job(job), said, self._ctx.clock())

        await self._ctx.ended.delete(ref, self.resolve(ref, who, "jobs:write"), audit_event)

    async def copy_of(self, ref: str, who: Principal) -> Document:
        """Return the document of a copy of a job, to edit. A slug is unique, so that the copy has none."""
        document = await self.document(await self.resolve(ref, who))
        document.pop("slug", None)
        return document

    async def clone(self, ref: str, who: Principal, set_: Given) -> JobView:
        """Return a new job with all settings of this one (R203) but what `set_` changes by path."""
        job = await self.resolve(ref, who)
        body = {"spec": await self.copy_of(job.id, who), "dialect": "native", "set": dict(set_), VERSION: job.id}
        view, _ = await self._ctx.submit.submit(body, who, None)
        return view

    async def versions(self, ref: str, who: Principal) -> JobVersions:
        """Return the versions of a job, the newest first: those that `who` may see, VERSIONS at most (R160)."""
        seq, visible = self._ctx.feed.here(), decide(who, "jobs:read").demand()
        job = await self.resolve(ref, who)
        found = await asyncio.to_thread(self._ctx.reader.versions, visible, job.family or job.id, VERSIONS)
        live = self._ctx.master.live
        return JobVersions(items=await self.views([live.get(one.id, one) for one in found], who, seq))

    async def _apply(self, job: Job, who: Principal, *changes: tuple[Kind, Data]) -> Job:
        """Return `job` after these changes, which are stored together or not at all; as it is stored, where it is live
        no more.
        """
        number = job.attempt.number if job.attempt is not None and job.state.value == "active" else 0
        if job.id not in self._ctx.master.live:
            return await asyncio.to_thread(self._ctx.records.get_job, job.id) or job
        for kind, data in changes:  # no await in the loop: all of them go in one batch
            job = self._ctx.master.apply(Event(job.id, kind, self._ctx.clock(), who.name, number, data, by=who.actor))
        await self._ctx.master.durable()
        return job


def _command(command: str | Sequence[str]) -> str:
    return command if isinstance(command, str) else shlex.join(command)


def _warnings(events: Iterable[Event], no_spec: bool, lost: int) -> list[NoteView]:
    """Return what is worth knowing of a job: its notes, and what of it can no longer be read."""
    found = [event_note(event) for event in events if event.kind is Kind.NOTED]
    if no_spec:
        found.append(damage_view(said.document_unreadable()))
    if lost > 0:
        found.append(damage_view(said.attempts_unreadable(lost)))
    return found


def _refuse_ended(job: Job) -> None:
    if job.terminal:
        raise Conflict(said.no_change_after_end())
