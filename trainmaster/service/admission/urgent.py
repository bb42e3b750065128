"""How many urgent jobs there may be (R20, R171): counts those queued or running, by workspace and owner.

Sees every change of every job, in the loop's thread. Whoever asks and then submits without waiting in between can rely
on the answer: nobody else runs meanwhile. Invariant: the counts are those of the live jobs.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Problem
from trainmaster.core.records import Job
from trainmaster.core.states import Priority
from trainmaster.messages.jobs import rules
from trainmaster.spec.problems import problem

Wanted = tuple[str, str]
"""Workspace and owner."""


class UrgentLimits:
    """One object per server. `workspace` gives the record of a workspace, None for one that is not known."""

    def __init__(self, workspace: Callable[[str], Workspace | None]) -> None:
        self._workspace = workspace
        self._by_user: Counter[Wanted] = Counter()
        self._by_workspace: Counter[str] = Counter()

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs."""
        self._by_user.clear()
        self._by_workspace.clear()
        for job in jobs:
            self.moved(None, job)

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job."""
        step = _counts(after) - (_counts(before) if before is not None else 0)
        if step:
            self._by_user[after.workspace, after.owner] += step
            self._by_workspace[after.workspace] += step

    def used(self, workspace: str, owner: str | None = None) -> int:
        """Return how many urgent jobs of a workspace, or of one owner in it, are queued or running."""
        return self._by_workspace[workspace] if owner is None else self._by_user[workspace, owner]

    def problems(self, more: Counter[Wanted], path: str, gone: Iterable[Job] = ()) -> list[Problem]:
        """Return which limits so many more urgent jobs would pass, if live jobs `gone` had ended."""
        found: list[Problem] = []
        if not more:
            return found
        totals: Counter[str] = Counter()
        freed = count_urgent(gone)
        for (name, owner), count in more.items():
            totals[name] += count
            record = self._workspace(name)
            limit, used = record.urgent_per_user if record else None, self.used(name, owner) - freed[name, owner]
            if limit is not None and used + count > limit:
                found.append(problem(path, rules.urgent_limit_user(user=owner, workspace=name, used=used, limit=limit)))
        for name, count in totals.items():
            record = self._workspace(name)
            left = sum(ended for (where, _), ended in freed.items() if where == name)
            limit, used = record.urgent_total if record else None, self.used(name) - left
            if limit is not None and used + count > limit:
                found.append(problem(path, rules.urgent_limit_workspace(workspace=name, used=used, limit=limit)))
        return found


def count_urgent(jobs: Iterable[Job]) -> Counter[Wanted]:
    """Return how many of `jobs` count as urgent, by workspace and owner."""
    return Counter((job.workspace, job.owner) for job in jobs if _counts(job))


def _counts(job: Job) -> int:
    return job.priority is Priority.URGENT and not job.terminal
