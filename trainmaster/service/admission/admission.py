"""What the platform refuses although the document is well formed: limits, rights, inputs that are not there, shapes
that can never fit. All problems of a request are found, not only the first.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.config import Config
from trainmaster.core.errors import Problem, ProblemList, Unsatisfiable, problem_of
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import asked_of
from trainmaster.core.records import Job, replace
from trainmaster.core.states import JobShare, Priority
from trainmaster.dialects.registry import as_written
from trainmaster.engines.findings import GangFindings, without_cache, without_environments, without_secrets
from trainmaster.engines.registry import Engines
from trainmaster.messages.assets import volumes
from trainmaster.messages.jobs import rules, submitting
from trainmaster.queue.explaining.reasons import instead, problem, say_reason
from trainmaster.service.admission.places import (
    clamp_problems,
    place_problems,
    sharing_problems,
    time_limit_problems,
)
from trainmaster.service.admission.stored import StoredInputs
from trainmaster.service.admission.urgent import UrgentLimits, count_urgent
from trainmaster.service.cluster.pools import Pools
from trainmaster.service.control.launching import code_folder, mounts
from trainmaster.service.folders.inputs import path_problem
from trainmaster.service.folders.looks import Looks
from trainmaster.service.folders.versions import SCOPES, InputVersions, Scopes, kind_of_input
from trainmaster.service.scheduling.scheduling import Scheduling
from trainmaster.service.secrets.vault import Vault
from trainmaster.spec.inputs import mount_problems
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import document_of, unplaced_gang
from trainmaster.spec.problems import problem as spec_problem
from trainmaster.spec.semantics import code_problem
from trainmaster.storage.uploads import use
from trainmaster.store.finding.uses import uses_of

PRIORITIES: Final = tuple(priority.name.lower() for priority in Priority)
Pays = Callable[[Iterable[Job], str, Iterable[Job]], list[Problem]]
"""Says whose workspaces could not pay for these jobs, at a path, if others had ended."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a workspace has to have for a job: money, room for what it writes (`keeps` says that there is none), and
    what it reads of object storage. `is_container`: whether NAME@VERSION is a container image in it.
    """

    pays: Pays
    keeps: Callable[[Job], list[Problem]]
    stored: StoredInputs
    is_container: Callable[[str, str], bool] = lambda workspace, ref: False


def scopes_of(who: Principal) -> Scopes:
    """Return which data sets, models and volumes `who` may see, and to which of the last they may write."""
    return {scope: decide(who, scope).visible for scope in SCOPES}


_ABSENT: Final = {
    "dataset": rules.no_dataset_for_job,
    "model": rules.no_model_for_job,
    "volume": volumes.no_volume_for_job,
}


class Admission:
    """One object per server."""

    def __init__(
        self,
        config: Config,
        layout: Layout,
        scheduling: Scheduling,
        looks: Looks,
        pools: Pools,
        urgent: UrgentLimits,
        engines: Engines,
        means: Means,
        vault: Vault,
        versions: InputVersions,
    ) -> None:
        self._config, self._layout, self._scheduling, self._looks = config, layout, scheduling, looks
        self._pools, self._urgent, self._engines, self._vault = pools, urgent, engines, vault
        self._pays, self._keeps, self._versions = means.pays, means.keeps, versions
        self._stored = means.stored
        self._is_container = means.is_container

    def problems(self, job: Job, who: Principal, instead_of: Job | None = None) -> list[Problem]:
        """Return everything that speaks against `job`, apart from its size and from what is outside the platform.

        `instead_of`: a waiting job whose place is not counted.
        """
        gone = () if instead_of is None else (instead_of,)
        found = self.duration_problems(job.policy.duration_s, "duration")
        found += self.priority_problems(job.priority.name.lower(), who, "priority")
        if job.priority is Priority.URGENT:
            found += self._urgent.problems(count_urgent((job,)), "priority", gone)
        found += place_problems(job, self._pools, who)
        found += self._pays((job,), "workspace", gone)
        found += self._keeps(job)
        found += self.engine_problems(job)
        if len(self._scheduling.queue) - len(gone) >= self._config.limits.max_queued:
            found.append(problem_of("", submitting.queue_full(self._config.limits.max_queued)))
        return found

    def engine_problems(self, job: Job) -> list[Problem]:
        """Return what the engine of its pool objects to, whichever of its flavors it would get."""
        estimates, found = self._engines.abilities(self._engines.of(job.pool)).estimates, []
        if estimates is None:
            return []
        for roles in job.shapes or (job.roles,):
            found += [one for one in estimates.objections(roles, asked_of(job)) if one not in found]
        return found

    def gang_findings(self, job: Job, spec: JobSpec) -> GangFindings:
        """Return what the engine of its pool does not carry out of what `spec` asks for, at the fields of the document.
        O(roles).
        """
        can = self._engines.abilities(self._engines.of(job.pool))
        gang = unplaced_gang(job, spec, mounts(spec, self._layout, self._versions))
        found = without_secrets(gang) if can.takes_secrets is None else GangFindings()
        why = can.no_environments
        if why is None and self._is_container(job.workspace, gang.environment):
            why = can.no_containers
        found += without_environments(gang, why)
        found += without_cache(gang, can.no_cache)
        found += GangFindings() if can.checks_gangs is None else can.checks_gangs.check_gang(gang)
        problems, warnings = (
            tuple(as_written(one, job.dialect) for one in some) for some in (found.problems, found.warnings)
        )
        return GangFindings(problems, warnings)

    def never_fits(self, job: Job) -> Unsatisfiable | None:
        """Return why no state of this cluster could ever run the job, with the nearest shape that fits; None when it
        can.
        """
        reason = self._scheduling.refusal(job)
        if reason is None:
            return None
        never = submitting.can_never_run_here(say_reason(reason), instead(reason.evidence))
        return Unsatisfiable(never, problems=(problem(reason),))

    def admit(self, job: Job, who: Principal, outside: Sequence[Problem], instead_of: Job | None = None) -> None:
        """Return when the job may be taken in. `outside`: its `outside_problems`; `instead_of`: as in `problems`.
        Raises InvalidSpec or Unsatisfiable.
        """
        found = [*self.problems(job, who, instead_of), *outside]
        ProblemList(found).raise_if_any(submitting.job_not_accepted)
        refusal = self.never_fits(job)
        if refusal is not None:
            raise refusal

    def admit_together(self, jobs: Sequence[Job]) -> None:
        """Return when `jobs`, each admitted by itself, may be taken in together. Raises InvalidSpec."""
        found, most = self._urgent.problems(count_urgent(jobs), "priority"), self._config.limits.max_queued
        found += self._pays(jobs, "workspace", ())
        if len(self._scheduling.queue) + len(jobs) > most:
            found.append(problem_of("", submitting.queue_full(most)))
        ProblemList(found).raise_if_any(submitting.jobs_not_accepted)

    def change_problems(self, job: Job, priority: Any, who: Principal, instead_of: Job | None = None) -> list[Problem]:
        """Return what speaks against another priority for `job` (R170, R171). `instead_of`: as in `problems`."""
        found = self.priority_problems(priority, who, "priority")
        if not found and priority == "urgent" and job.priority is not Priority.URGENT:
            gone = () if instead_of is None else (instead_of,)
            found += self._urgent.problems(Counter({(job.workspace, job.owner): 1}), "priority", gone)
        return found

    def longer_problems(self, job: Job, duration_s: float | None) -> list[Problem]:
        """Return what speaks against another time limit of a live job: its workspace may ask for one (R56), and has to
        pay for it.
        """
        wanted = replace(job, policy=replace(job.policy, duration_s=duration_s))
        asked = time_limit_problems(duration_s, self._pools.workspaces.get(job.workspace), "duration_s")
        return [*asked, *self._pays((wanted,), "duration_s", (job,))]

    def duration_problems(self, value: Any, path: str) -> list[Problem]:
        """Return what is wrong with a duration in seconds (None: unlimited)."""
        limit = self._config.limits.max_duration_s
        if value is None:
            return [problem_of(path, submitting.duration_required(limit))] if limit else []
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**40:
            return [problem_of(path, submitting.duration(), value)]
        if limit and value > limit:
            return [problem_of(path, submitting.duration_limit(limit), value)]
        return []

    def priority_problems(self, value: Any, who: Principal, path: str) -> list[Problem]:
        """Return what is wrong with a priority name; very urgent is for administrators (R170)."""
        if value not in PRIORITIES:
            return [problem_of(path, submitting.priority(PRIORITIES), value)]
        if value == "very_urgent" and who.role != "admin":
            return [problem_of(path, rules.urgent_right(), value)]
        return []

    async def outside_problems(self, spec: JobSpec, who: Principal, *, code_follows: bool = False) -> list[Problem]:
        """Return what speaks against a job of `who` outside the platform: the code and the folders that `spec` mounts,
        and the system user that it would run as; and what its workspace asks of a document, sharing and time limit.
        `code_follows`: its code folder is taken as uploaded. Looks at the disk, in threads; at most seconds. Raises
        Unavailable.
        """
        can = self._engines.abilities(self._engines.of(self._pools.pool_of(spec.pool, spec.virtual_cluster)))
        stranger = None if can.checks_owners is None else await can.checks_owners.owner_problem(who.name)
        found = [] if stranger is None else [stranger]
        found += await self.secret_problems(spec, who)
        found += await self.share_problems(None if spec.share is None else JobShare(spec.share), spec)
        found += time_limit_problems(spec.duration, self._pools.workspaces.get(spec.workspace))
        found += mount_problems(spec, () if can.occupies is None else can.occupies.places())
        source = code_folder(spec, self._layout)
        if source is not None and not await asyncio.to_thread(use, source):
            found.append(problem_of("code.upload", submitting.no_upload()))
        not_uploaded = None if code_follows else code_problem(spec)
        if not_uploaded is not None:
            found.append(not_uploaded)
        places = [(item.path, f"inputs.{at}.path") for at, item in enumerate(spec.inputs) if item.path is not None]
        looks = [self.input_problem(path, where) for path, where in places]
        found += [one for one in await asyncio.gather(*looks) if one is not None]
        found += await self._version_problems(spec, who, can.checks_owners is not None)
        found += await self._stored.problems(spec, who, can.checks_owners is not None)
        return found

    async def share_problems(self, share: JobShare | None, spec: JobSpec) -> list[Problem]:
        """Return what speaks against sharing a job so: its workspace (R57, R225), and what it uses (R224). None: its
        document does not say.
        """
        found = sharing_problems(share, self._pools.workspaces.get(spec.workspace))
        if found or share in (None, JobShare.NONE):
            return found
        used = uses_of(document_of(spec)).things
        return clamp_problems(share, await asyncio.to_thread(self._versions.shares, spec.workspace, used))

    async def taken_places(self, specs: Sequence[JobSpec], who: Principal) -> list[tuple[int, Problem]]:
        """Return what `outside_problems` of `of_any_name` leaves out, with the indices of `specs`. At most seconds."""
        return await self._stored.taken(specs, who)

    async def outside_warnings(self, spec: JobSpec, who: Principal) -> list[Problem]:
        """Return what is worth knowing of a job outside the platform, and stops nothing. At most seconds."""
        return await self._stored.warnings(spec, who)

    async def _version_problems(self, spec: JobSpec, who: Principal, as_owner: bool) -> list[Problem]:
        """Return what speaks against the data sets, models and volumes that `spec` names: what `who` may not see is not
        there. `as_owner`: its tasks run as its owner's system user.
        """
        if not any(item.asset for item in spec.inputs):
            return []
        found, scopes = [], scopes_of(who)
        for at, item in enumerate(spec.inputs):
            if not item.asset:
                continue
            kind, look = kind_of_input(item).value, self._versions.find
            where = f"inputs.{at}.{kind}"
            if await asyncio.to_thread(look, scopes, spec.workspace, item) is None:
                to_read = item.model_copy(update={"read_only": True})
                if not item.read_only and await asyncio.to_thread(look, scopes, spec.workspace, to_read) is not None:
                    said = volumes.volume_not_writable_for_job(item.asset)
                    found.append(spec_problem(f"inputs.{at}.read_only", said))
                else:
                    found.append(spec_problem(where, _ABSENT[kind](item.asset, spec.workspace), item.asset))
            elif as_owner:
                refused = volumes.volume_not_for_owners if item.volume else rules.version_not_for_owners
                found.append(spec_problem(where, refused(item.asset), item.asset))
        return found

    async def with_versions(self, spec: JobSpec, who: Principal) -> JobSpec:
        """Return `spec` with the numbers of the versions of data sets and models that it names, of what `who` may see
        (R143). The rest stays as it is, and is one of `outside_problems`.
        """
        if not any(item.asset for item in spec.inputs):
            return spec
        return await asyncio.to_thread(self._versions.resolve, scopes_of(who), spec)

    async def secret_problems(self, spec: JobSpec, who: Principal) -> list[Problem]:
        """Return what speaks against giving `spec` the secrets that it names. Who may not submit into the workspace is
        told of that alone, elsewhere: not which secrets it has.
        """
        workspace = InWorkspace(spec.workspace)
        if not spec.secrets or not decide(who, "jobs:submit", workspace).allowed:
            return []
        if not decide(who, "secrets:use", workspace).allowed:
            return [spec_problem("secrets", rules.secrets_not_permitted(spec.workspace))]
        there = await asyncio.to_thread(self._vault.names, spec.workspace)
        return [
            spec_problem(f"secrets.{at}.name", rules.unknown_secret(one.name, spec.workspace), one.name)
            for at, one in enumerate(spec.secrets)
            if one.name not in there
        ]

    async def input_problem(self, path: str, where: str) -> Problem | None:
        """Return why the folder `path` may not be mounted, named at `where`; None when it may. At most seconds."""
        own, roots = self._layout.folders, self._config.local.mount_roots
        try:
            return await self._looks.look(path, lambda: path_problem(path, where, own, roots))
        except TimeoutError:
            return problem_of(where, submitting.mount_silent(self._looks.limit_s), path)
