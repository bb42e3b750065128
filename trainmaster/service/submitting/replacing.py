"""The waiting job whose place a new one takes (`instead_of`): who may name it, until when, and how it is stopped.

Invariant: both happen in one batch of the ledger, or neither. A job that has started in the meantime is never stopped:
then the new one is refused.
"""

from typing import Any, Final, NamedTuple

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Conflict, InvalidSpec, Problem, problem_of
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.messages.jobs import jobs, submitting
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.spec.document import Given

FIELD: Final = "instead_of"
VERSION: Final = "version_of"


class SubmitAsked(NamedTuple):
    """What a body submits, and the jobs that it names beside it (None: none): the waiting one whose place it takes, the
    one of which it is another version.
    """

    submission: Given
    instead_of: Any
    version_of: Any


def split(body: Given) -> SubmitAsked:
    """Return what a body asks for."""
    submission = {name: value for name, value in body.items() if name not in (FIELD, VERSION)}
    return SubmitAsked(submission, body.get(FIELD), body.get(VERSION))


def original(ctx: Context, ref: Any, who: Principal) -> Job | Problem | None:
    """Return the waiting job of `who` with the id `ref`, None when that is, or why there is none that can be
    replaced.
    """
    if ref is None:
        return None
    job = ctx.master.live.get(ref) if isinstance(ref, str) else None
    if job is None or not decide(who, "jobs:write", job).allowed:
        return problem_of(FIELD, jobs.no_job(), ref if isinstance(ref, str | int | float) else None)
    if job.state is not JobState.QUEUED:
        return problem_of(FIELD, jobs.not_waiting(job.shown.value), ref)
    return job


def asked_about(ctx: Context, ref: Any, who: Principal) -> Job | None:
    """Return `original` for a question. Raises InvalidSpec."""
    found = original(ctx, ref, who)
    if isinstance(found, Problem):
        raise InvalidSpec(jobs.question_not_answerable(), problems=(found,))
    return found


def to_be_replaced(ctx: Context, ref: Any, who: Principal) -> Job | None:
    """Return `original` for a submit. Raises Conflict: it may have waited when the person looked."""
    found = original(ctx, ref, who)
    if isinstance(found, Problem):
        raise Conflict(submitting.original_not_waiting(), problems=(found,))
    return found


def replaced(first: Job, new: Job, who: Principal, now: float) -> Event:
    """Return the event that stops `first` because `new` takes its place."""
    said: Said = submitting.replaced_by(new.name, new.id)
    return Event(first.id, Kind.STOP_REQUESTED, now, who.name, data={"said": said.to_json()}, by=who.actor)
