"""Records as the answers that API, CLI, SDK and console show (`answers`). Pure; times and extras are parameters."""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from trainmaster import answers
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import PRIORITY_NAMES
from trainmaster.core.events import NAMES, Event, Kind
from trainmaster.core.ids import role_system_name, task_name
from trainmaster.core.records import Assignment, Attempt, Job, Role, Task, Verdict
from trainmaster.core.sending import SendState, SendTarget
from trainmaster.core.states import PAI_STATE, JobState, Phase, TaskPhase
from trainmaster.core.verdicts import VERDICTS
from trainmaster.messages import render
from trainmaster.messages.jobs import jobs
from trainmaster.messages.said import Said, said_in, verbatim
from trainmaster.queue.explaining.reasons import EVICTED, Known, NameOf, evicted
from trainmaster.queue.placing.need import WHOLE
from trainmaster.queue.rules.shortage import plain
from trainmaster.service.language import both, two
from trainmaster.simulate.history import need_view

_VIEWS: Final = 1000
_REPLICAS: Final = 64
"""Of a job whose view is kept with its record: those of large ones would fill the memory."""
_TASK_NAME: Final = re.compile(r"\btask(\d+)-(\d+)\b")


class Identity(NamedTuple):
    """Which job it is that stands somewhere among others', as its reader may know: its id, name and owner, its owner
    alone, or nothing of it.
    """

    job: str | None
    name: str | None
    owner: str | None
    known: bool


def identity(visible: Visible, job: Job) -> Identity:
    """Return what a reader may know of who `job` is. Every list that also counts what they may not see takes it from
    here.
    """
    if visible.covers(job):
        return Identity(job.id, job.name, job.owner, True)
    return Identity(None, None, visible.owner_of(job), False)


class JobRights(NamedTuple):
    """What a person may do with jobs beside reading them: which they may act on, and which they may share."""

    write: Visible
    share: Visible

    def over(self, job: Job) -> list[answers.JobRight]:
        """Return what may be done with `job`."""
        found: list[answers.JobRight] = ["write"] if self.write.covers(job) else []
        return [*found, "share"] if self.share.covers(job) else found


def rights_of(who: Principal) -> JobRights:
    """Return what `who` may do with jobs."""
    return JobRights(decide(who, "jobs:write").visible, decide(who, "jobs:share").visible)


def _by_name(text: answers.Text, roles: tuple[Role, ...]) -> answers.Text:
    """Return `text` with each replica by the name that people know: who wrote it knows only ``task0-1``."""

    def named(found: re.Match[str]) -> str:
        role = int(found[1])
        return f"{roles[role].name}-{found[2]}" if role < len(roles) else found[0]

    return answers.Text(en=_TASK_NAME.sub(named, text.en), zh=_TASK_NAME.sub(named, text.zh))


def verdict_view(verdict: Verdict | None, roles: tuple[Role, ...] = ()) -> answers.VerdictView | None:
    """Return a verdict with its names in both languages."""
    if verdict is None:
        return None
    kind = VERDICTS.get(verdict.code)
    role = roles[verdict.role].name if verdict.role is not None and verdict.role < len(roles) else None
    return answers.VerdictView(
        code=verdict.code,
        title=two((kind.zh, kind.en) if kind else (verdict.code, verdict.code)),
        fault=kind.fault if kind else "platform",
        message=_by_name(both(verdict.said), roles),
        evidence=verdict.evidence,
        role=role,
        index=verdict.index,
        exit_code=verdict.exit_code,
        signal=verdict.signal,
    )


def job_view(
    job: Job,
    now: float,
    seq: str,
    may: Sequence[answers.JobRight] = (),
    reason: answers.ReasonView | None = None,
    forecast: answers.ForecastView | None = None,
    progress: answers.ProgressView | None = None,
    metrics: Mapping[str, float | None] = MappingProxyType({}),
    favorite: bool = False,
) -> answers.JobView:
    """Return the list item of `job` at `now`. `seq`: the feed's position before; `may`: what may be done with it."""
    attempt, shown = job.attempt, job.shown
    return answers.JobView(
        id=job.id,
        name=job.name,
        slug=job.slug,
        description=job.description,
        state=shown,
        queue_state=job.state,
        pai_state=PAI_STATE[shown],
        owner=job.owner,
        workspace=job.workspace,
        pool=job.pool,
        virtual_cluster=job.virtual_cluster,
        priority=PRIORITY_NAMES[job.priority],
        framework=job.framework,
        dialect=job.dialect,
        family=job.family or job.id,
        family_version=job.family_version,
        submitted_at=job.submitted_at,
        queued_at=job.queued_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        run_s=_run_s(job, now),
        wait_s=_wait_s(job, now),
        duration_s=job.policy.duration_s,
        expires_at=job.expires_at,
        attempts=job.attempts_used,
        retries=answers.Retries(used=job.retries_used, limit=job.policy.retries),
        tasks=_task_counts(job),
        resources=totals(job.roles),
        nodes=sorted({a.node for a in attempt.placement if a.node}) if attempt is not None else [],
        reason=reason,
        forecast=forecast,
        verdict=verdict_view(job.verdict or (attempt.verdict if attempt and not job.terminal else None), job.roles),
        model=job.model,
        progress=progress,
        metrics=dict(metrics),
        labels=dict(job.labels),
        tags=list(job.tags),
        note=job.note,
        favorite=favorite,
        share=job.share,
        may=list(may),
        version=job.version,
        seq=seq,
        sweep=sweep_place(job),
    )


def sweep_place(job: Job) -> answers.SweepPlace | None:
    """Return the sweep of a job: it is called as its entries are, without their numbers."""
    if job.sweep is None:
        return None
    return answers.SweepPlace(id=job.sweep, name=job.name.removesuffix(f"-{job.sweep_index}"), index=job.sweep_index)


class JobViews:
    """Makes list items as `job_view` does. Of a job that has ended, nothing changes any more but what its reader and
    the moment say of it, so the rest is kept with its record. Invariant: equal to what `job_view` returns. One loop's.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[Job, answers.JobView]] = OrderedDict()

    def view(
        self,
        job: Job,
        now: float,
        seq: str,
        may: Sequence[answers.JobRight],
        reason: answers.ReasonView | None,
        forecast: answers.ForecastView | None,
        progress: answers.ProgressView | None,
        metrics: Mapping[str, float | None],
        favorite: bool,
    ) -> answers.JobView:
        """Return the list item of `job` at `now`. See `job_view`."""
        kept = self._kept.get(job.id)
        if kept is None or kept[0] is not job:
            made = job_view(job, now, seq, may, reason, forecast, progress, metrics, favorite)
            if job.terminal and job.tasks_total <= _REPLICAS:
                self._kept[job.id] = job, made
                if len(self._kept) > _VIEWS:
                    self._kept.popitem(last=False)
            return made
        self._kept.move_to_end(job.id)
        return msgspec.structs.replace(
            kept[1],
            seq=seq,
            may=list(may),
            reason=reason,
            forecast=forecast,
            progress=progress,
            metrics=dict(metrics),
            favorite=favorite,
        )


def _run_s(job: Job, now: float) -> float | None:
    if job.started_at is None:
        return None
    return max(0.0, (job.ended_at if job.ended_at is not None else now) - job.started_at)


def _wait_s(job: Job, now: float) -> float:
    """Seconds of the wait before the first start (or until now, or until it ended without one)."""
    end = job.started_at or job.ended_at or now
    return max(0.0, end - job.submitted_at)


def _task_counts(job: Job) -> answers.TaskCounts:
    counts = {"waiting": 0, "running": 0, "succeeded": 0, "failed": 0, "lost": 0}
    if job.attempt is None or job.state is JobState.QUEUED:
        counts["waiting"] = job.tasks_total if not job.terminal else 0
    else:
        for task in job.attempt.tasks:
            counts[task_state(task)] += 1
    return answers.TaskCounts(total=job.tasks_total, **counts)


def task_state(task: Task) -> str:
    """Return waiting, running, succeeded, failed or lost."""
    if task.phase is TaskPhase.EXITED:
        return "succeeded" if task.succeeded else "failed"
    return task.phase.value


def totals(roles: tuple[Role, ...]) -> answers.TotalsView:
    """Return what all replicas take together, of shared cards their parts."""
    types = {role.resources.gpu_type for role in roles if role.resources.gpu}
    return answers.TotalsView(
        cpu=sum(r.resources.cpu * r.replicas for r in roles),
        memory_mib=sum(r.resources.memory_mib * r.replicas for r in roles),
        gpu=plain(sum(r.resources.gpu * r.resources.gpu_milli * r.replicas for r in roles) / WHOLE),
        gpu_type=types.pop() if len(types) == 1 else None,
    )


def role_view(index: int, role: Role, command: str) -> answers.RoleView:
    """Return a role with its effective values (D2)."""
    return answers.RoleView(
        name=role.name,
        system_name=role_system_name(index),
        replicas=role.replicas,
        command=command,
        resources=need_view(role.resources),
        flavor=role.flavor,
        min_replicas=role.min_replicas,
        ports=[answers.PortView(label=p.label, count=p.count, begin_at=p.begin_at) for p in role.ports],
        min_succeeded=role.min_succeeded,
        min_failed=role.min_failed,
        main=role.main,
        ends_job=role.ends_job,
    )


def attempt_view(job: Job, attempt: Attempt) -> answers.AttemptView:
    """Return one attempt with its tasks."""
    places = {(a.role, a.index): a for a in attempt.placement}
    return answers.AttemptView(
        number=attempt.number,
        cause=attempt.cause,
        phase=attempt.phase,
        why=attempt.why,
        created_at=attempt.created_at,
        accepted_at=attempt.accepted_at,
        started_at=attempt.started_at,
        draining_at=attempt.draining_at,
        retained_until=_retained_until(job, attempt),
        ended_at=attempt.ended_at,
        verdict=verdict_view(attempt.verdict, job.roles),
        tasks=[task_view(job, places[task.role, task.index], task) for task in attempt.tasks],
    )


def _retained_until(job: Job, attempt: Attempt) -> float | None:
    if attempt.phase is not Phase.RETAINED or attempt.retained_at is None:
        return None
    return attempt.retained_at + job.policy.debug_hold_s


def task_view(job: Job, place: Assignment, task: Task) -> answers.TaskView:
    """Return one task with where it runs."""
    return answers.TaskView(
        name=task_name(task.role, task.index),
        role=job.roles[task.role].name,
        role_index=task.role,
        index=task.index,
        phase=task.phase,
        state=task_state(task),
        node=place.node,
        host=place.host,
        gpus=list(place.gpus),
        ports={label: list(numbers) for label, numbers in place.ports},
        exit_code=task.exit_code,
        signal=task.signal,
        started_at=task.started_at,
        ended_at=task.ended_at,
        verdict=verdict_view(task.verdict, job.roles),
    )


def damage_view(said: Said) -> answers.NoteView:
    """Return a note that something of a job was damaged."""
    return answers.NoteView(code="malformed", message=both(said))


def event_view(event: Event, number: int, name_of: NameOf) -> answers.EventView:
    """Return one event with its names and `text`, what it says in words; the submitted record is left out (it is the
    job).

    `number`: its place among the job's, from 1, for that in the ledger counts those of all jobs. `name_of`: what the
    reader may know of another job that it is about.
    """
    data = {} if event.kind is Kind.SUBMITTED else dict(event.data)
    data.pop("handle", None)  # earlier versions noted it for their engine
    if data.get("by") and name_of(data["by"]).name is None:
        data["by"] = None
    return answers.EventView(
        seq=number,
        at=event.at,
        actor=event.actor,
        attempt=event.attempt,
        kind=event.kind,
        title=two(NAMES[event.kind]),
        text=_event_text(event, name_of),
        data=data,
    )


def _event_text(event: Event, name_of: NameOf) -> answers.Text:
    try:
        return _in_words(event, name_of)
    except (KeyError, TypeError, ValueError, AttributeError):  # valid JSON, but not an event of ours
        return damage_view(jobs.event_unreadable()).message


def _in_words(event: Event, name_of: NameOf) -> answers.Text:
    if event.kind is Kind.NOTED:
        return note_view(event).message
    if event.kind is Kind.ENTERED:
        return both(verbatim(f"{task_name(event.data['role'], event.data['index'])}: {event.data['program']}"))
    if event.kind is Kind.PREEMPTED and event.data.get("reason") in EVICTED:
        return both(evicted(event.data["reason"], name_of(event.data["by"])))
    return both(said_in(event.data))


def event_note(event: Event) -> answers.NoteView:
    """Return a note (an event of kind NOTED), also one that is not what was written."""
    code = str(event.data.get("code", "malformed"))
    return answers.NoteView(code=code, message=_event_text(event, lambda _: Known()))


def note_view(event: Event) -> answers.NoteView:
    """Return a note (an event of kind NOTED): its code, and what it says in both languages."""
    data = event.data
    said = said_in(data)
    if said is None:
        raise ValueError("a note that says nothing")
    if "path" not in data:
        return answers.NoteView(code=data["code"], message=both(said))
    rule, remedy = both(said), answers.Text(zh=render.remedy(said, "zh"), en=render.remedy(said))
    message = answers.Text(
        zh=f"{data['path']}：{rule.zh}。{remedy.zh}", en=f"{data['path']}: {rule.en}. {remedy.en}".rstrip()
    )
    return answers.NoteView(code=data["code"], message=message)


_SENT: Final = ("place", "folder", "if_exists", "files", "size_bytes", "left_files", "left_bytes", "left_out", "tries")


def upload_view(one: SendTarget) -> answers.OutputTarget:
    """Return where a folder of a job goes, and how far that is. It is done once the job's history says so, too."""
    state, why = SendState.GOING if one.open else one.state, None if one.said is None else both(one.said)
    same = {name: getattr(one, name) for name in _SENT}
    return answers.OutputTarget(**same, state=state, why=why, next_at=one.next_at or None)
