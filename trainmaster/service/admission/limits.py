"""Whether a job asks for more than its workspace, or its owner in it, may ever hold: it would wait for ever. Pure.

Only what a gang is charged wherever it runs is looked at: cards of a model count where it asks for that model. What is
guaranteed is not a limit, since others' shares may be borrowed.
"""

from collections.abc import Iterator

from trainmaster.core.cluster import JOBS, Workspace
from trainmaster.core.errors import Problem
from trainmaster.core.records import Job, Role
from trainmaster.messages.cluster import queue
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.queue.ordering.quota import asks
from trainmaster.queue.placing.elastic import fewest
from trainmaster.spec.problems import problem

FIELDS = {"gpu": "gpu", "cpu": "cpu", "memory_mib": "memory"}
"""By resource: the field of a sub-task's resources."""


def limit_problems(job: Job, workspace: Workspace) -> list[Problem]:
    """Return what the limits of its workspace and of its owner there never allow: nothing where one of its shapes is
    allowed.
    """
    quota = workspace.quotas.get(job.pool, {})
    caps = {name: limit.cap for name, limit in quota.items() if limit.cap is not None}
    most_of_owner = workspace.most_of(job.owner, job.pool)
    if not caps and not most_of_owner:
        return []
    whose = queue.account_of_workspace(workspace.name)
    person = queue.account_of_member(job.owner, workspace.name)
    limited = ((whose, caps), (person, most_of_owner))
    found = [
        [one for said, most in limited for one in _problems(fewest(roles), said, most, job.pool)]
        for roles in job.shapes or (job.roles,)
    ]
    return found[0] if all(found) else []


def _problems(roles: tuple[Role, ...], whose: Said, most: dict[str, float], pool: str) -> Iterator[Problem]:
    for name, asked in asks(roles) if most else ():
        wanted = asked if name == "memory_mib" else asked / 1000
        limit = most.get(name)
        if limit is None or wanted <= limit:
            continue
        if name == JOBS:
            yield problem("pool", rules.no_job_allowed(whose, pool))
        elif name == "memory_mib":
            texts = queue.memory_amount(round(wanted)), "memory_mib", whose, queue.memory_amount(round(limit))
            yield problem(_path(roles, name), rules.over_limit(*texts, pool))
        else:
            yield problem(_path(roles, name), rules.over_limit(wanted, name, whose, limit, pool))


def _path(roles: tuple[Role, ...], name: str) -> str:
    """Return the field of the sub-task that asks for most of it."""
    what = name.partition(":")[0]
    amounts = [dict(asks((role,))).get(name, 0) for role in roles]
    at = amounts.index(max(amounts))
    return f"roles.{at}.replicas" if roles[at].replicas > 1 else f"roles.{at}.resources.{FIELDS[what]}"
