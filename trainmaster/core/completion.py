"""When is an attempt done? The rules of D2, D3, D11, R36-R38, R85-R86, R136 in one pure function.

Order when several fire together: a role that is main or ends the job is complete -> done_ok; a task was stopped with
the platform -> done_fail, which costs nothing; any role reached its min-failed -> done_fail; all roles complete ->
done_ok; everything ended without either -> done_fail. (A stop, the strongest of all, is an event of its own.)
"""

from __future__ import annotations

from trainmaster._compat import dataclass
from trainmaster.core.records import Role, Task, Verdict
from trainmaster.core.states import TaskPhase
from trainmaster.core.verdicts import PLATFORM_STOPPED
from trainmaster.messages.jobs import tasks as say


@dataclass(frozen=True, slots=True)
class Outcome:
    """`ok` with the verdict that explains it."""

    ok: bool
    verdict: Verdict


def _failed(task: Task) -> bool:
    return task.ended and not task.succeeded and not _stopped(task)


def _stopped(task: Task) -> bool:
    """True when the task ended because the platform was stopped: it neither succeeded nor failed."""
    return task.verdict is not None and task.verdict.code == PLATFORM_STOPPED


def role_complete(role: Role, tasks: list[Task]) -> bool:
    """True when min-succeeded tasks succeeded; absent: when all tasks ended (the failure rule is judged before)."""
    if role.min_succeeded is not None:
        return sum(task.succeeded for task in tasks) >= role.min_succeeded
    return bool(tasks) and all(task.ended and not _stopped(task) for task in tasks)


def judge(roles: tuple[Role, ...], tasks: tuple[Task, ...]) -> Outcome | None:
    """Return the outcome of an attempt, or None while it is open. O(tasks)."""
    by_role: list[list[Task]] = [[] for _ in roles]
    for task in tasks:
        by_role[task.role].append(task)
    stopped = next((task for task in tasks if _stopped(task)), None)
    fired = _first_failure(roles, by_role)
    for index, (role, members) in enumerate(zip(roles, by_role)):
        if (role.main or role.ends_job) and role_complete(role, members):
            if role.min_succeeded is None and fired is not None and fired[0] == index:
                continue  # "all ended" completes a role only while its own failure rule has not fired
            return Outcome(True, Verdict("ok", say.role_complete(role.name)))
    if stopped is not None:
        return Outcome(False, task_verdict(roles[stopped.role], stopped))
    if fired is not None:
        return Outcome(False, fired[1])
    if all(role_complete(role, members) for role, members in zip(roles, by_role)):
        return Outcome(True, Verdict("ok"))
    if all(task.ended for task in tasks):
        return Outcome(False, _short_of_successes(roles, by_role))
    return None


def _first_failure(roles: tuple[Role, ...], by_role: list[list[Task]]) -> tuple[int, Verdict] | None:
    """Return (role index, verdict) of the first role whose min-failed rule fired, by its first failure."""
    for index, (role, members) in enumerate(zip(roles, by_role)):
        if role.min_failed is None:
            continue
        failed = [task for task in members if _failed(task)]
        if len(failed) >= role.min_failed:
            first = min(failed, key=lambda task: task.ended_at or 0.0)
            return index, task_verdict(role, first)
    return None


def _short_of_successes(roles: tuple[Role, ...], by_role: list[list[Task]]) -> Verdict:
    for index, (role, members) in enumerate(zip(roles, by_role)):
        if not role_complete(role, members):
            got = sum(task.succeeded for task in members)
            return Verdict(
                "too_many_failures", say.too_few_succeeded(role.name, got, role.min_succeeded or 0), role=index
            )
    raise AssertionError("called with every role complete")


def task_verdict(role: Role, task: Task) -> Verdict:
    """Return why `task` ended, from its own verdict or its exit record."""
    if task.verdict is not None:
        return task.verdict
    where = f"{role.name}-{task.index}"
    if task.phase is TaskPhase.LOST:
        return Verdict("lost", say.task_lost(where), role=task.role, index=task.index)
    if task.signal is not None:
        return Verdict(
            "signal",
            say.task_ended_by_signal(where, str(task.signal)),
            role=task.role,
            index=task.index,
            signal=task.signal,
        )
    said = say.task_ended_with(where, task.exit_code or 0)
    return Verdict("exit_code", said, role=task.role, index=task.index, exit_code=task.exit_code)
