"""What a JobSpec becomes: the Job row, its stored document, and the Gang that one attempt's agents are told. Pure.

Invariant: `read(document_of(spec)) == spec`, so that a stored job can be shown, cloned and lowered again years later.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from trainmaster.core.cluster import Flavor
from trainmaster.core.config import LimitsConfig
from trainmaster.core.framework_kinds import KINDS
from trainmaster.core.launch import Asked, Gang, Hook, Mount, RoleCommand, SecretUse, asked_of
from trainmaster.core.records import Assignment, Attempt, Job, Policy, PortRequest, Resources, Role, Task, replace
from trainmaster.core.states import JobShare, Phase, Priority
from trainmaster.messages.jobs import rules
from trainmaster.spec.check import refusal
from trainmaster.spec.document import Document
from trainmaster.spec.job import Hooks, JobSpec, RoleSpec, scalar_text
from trainmaster.spec.placing import FlavorsBy
from trainmaster.spec.problems import problem
from trainmaster.spec.semantics import total_of

PRIORITIES: Final = {"normal": Priority.NORMAL, "urgent": Priority.URGENT, "very_urgent": Priority.VERY_URGENT}
TOTALS: Final = ("max_steps", "steps", "num_steps", "max_epochs", "epochs", "num_epochs")
"""Parameters that tell how far a job goes when `progress` does not say it, the first found wins."""

OWN_ENVIRONMENT: Final = frozenset({"default", "local", "host"})
"""Images that mean the environment that the engine has."""
IMAGE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""How an image of the platform may be called."""
_IMAGE_REF: Final = re.compile(rf"({IMAGE_NAME.pattern})(?:@([1-9][0-9]{{0,8}}))?")


def image_ref(text: str) -> tuple[str, int | None] | None:
    """Return (name, version or None) of what may be an image of the platform; None of what cannot be one. With a
    version it is nothing else: no container is called so.
    """
    found = None if text in OWN_ENVIRONMENT else _IMAGE_REF.fullmatch(text)
    return (found[1], int(found[2]) if found[2] else None) if found else None


def environment_of(spec: JobSpec) -> str:
    """Return the image of the platform that a job was submitted with, as ``NAME@VERSION``; "" for none."""
    ref = image_ref(spec.image)
    return spec.image if ref is not None and ref[1] is not None else ""


def document_of(spec: JobSpec) -> str:
    """Return the canonical JSON of `spec`: every field, in the order of the models. O(size)."""
    return spec.model_dump_json()


def digest_of(text: str) -> str:
    """Return the name of a stored document: ``sha256:`` and the hex digest of its UTF-8 bytes."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read(text: str) -> JobSpec:
    """Return the JobSpec of a stored document. Raises pydantic's ValidationError (a ValueError) for a malformed one."""
    return JobSpec.model_validate_json(text)


def effective(spec: JobSpec) -> Document:
    """Return the effective native document (D2): every default filled in, sizes in MiB, times in seconds."""
    document: Document = spec.model_dump(mode="json")
    return document


def lower(
    spec: JobSpec,
    *,
    job_id: str,
    owner: str,
    now: float,
    seq: int,
    limits: LimitsConfig,
    dialect: str = "native",
    digest: str | None = None,
    flavors: FlavorsBy | None = None,
) -> Job:
    """Return the queued Job of a checked spec. `digest`: given when the caller has made the document already.

    `flavors`: those that the spec was checked against. Raises InvalidSpec when the spec asks for more than the
    administrator's limits.
    """
    shapes = lower_shapes(spec, (flavors or {}).get(spec.workspace, {}))
    return Job(
        id=job_id,
        name=spec.name,
        owner=owner,
        roles=shapes[0],
        spec_digest=digest or digest_of(document_of(spec)),
        submitted_at=now,
        seq=seq,
        slug=spec.slug,
        workspace=spec.workspace,
        pool=spec.pool,
        priority=PRIORITIES[spec.priority],
        policy=_policy(spec, limits),
        framework=spec.framework.kind,
        dialect=dialect,
        labels=tuple(spec.labels.items()),
        queued_at=now,
        description=spec.description,
        shapes=shapes if len(shapes) > 1 else (),
        node_names=tuple(sorted(set(spec.nodes))),
        driver=spec.driver,
        virtual_cluster=spec.virtual_cluster,
        share=JobShare(spec.share or JobShare.NONE),
        preemptible=spec.preemptible,
    )


def _policy(spec: JobSpec, limits: LimitsConfig) -> Policy:
    """The owner's wishes within the administrator's limits; a debug hold is cut to its limit (D10)."""
    duration, most = spec.duration, limits.max_duration_s
    if most > 0:
        if duration is not None and duration > most:
            raise refusal([problem("duration", rules.duration_over_limit(most), duration)])
        duration = duration or most
    hold = min(spec.debug_hold, limits.max_debug_hold_s) if limits.max_debug_hold_s > 0 else spec.debug_hold
    return Policy(
        retries=spec.retries,
        fault_restarts=spec.fault_restarts,
        duration_s=duration,
        grace_s=spec.grace,
        debug_hold_s=hold,
        save_model=spec.model.save,
    )


def lower_roles(spec: JobSpec) -> tuple[Role, ...]:
    """Return the roles as the queue sees them: with the port that the framework needs (D6), and the completion that it
    gives a job which says none.
    """
    kind = KINDS[spec.framework.kind]
    main = kind.types.completing([role.name for role in spec.roles]) if kind.types else None
    if any(role.main or role.ends_job for role in spec.roles):
        main = None
    return tuple(_role(role, kind.port_for(index), role.main or index == main) for index, role in enumerate(spec.roles))


def lower_shapes(spec: JobSpec, flavors: Mapping[str, Flavor]) -> tuple[tuple[Role, ...], ...]:
    """Return every way to run the job, in the order they are tried: one choice of flavor per role (R161). At least
    one.
    """
    if not any(role.flavors for role in spec.roles):
        return (lower_roles(spec),)
    choices = []
    for written, role in zip(spec.roles, lower_roles(spec), strict=True):
        named = [flavors[name] for name in dict.fromkeys(written.flavors) if name in flavors]
        choices.append([replace(role, resources=one.resources(), flavor=one.name) for one in named] or [role])
    return tuple(dict.fromkeys(product(*choices)))


def _role(role: RoleSpec, needed: str, main: bool) -> Role:
    ports = tuple(PortRequest(port.label, port.count, port.begin_at) for port in role.ports)
    if needed and all(port.label != needed for port in ports):
        ports = (*ports, PortRequest(needed))
    asked = role.resources
    return Role(
        name=role.name,
        replicas=role.replicas,
        resources=Resources(
            cpu=asked.cpu,
            memory_mib=asked.memory,
            gpu=asked.gpu,
            gpu_type=asked.gpu_type if asked.gpu else None,
            shm_mib=asked.shm,
            gpu_milli=round(asked.gpu_share * 1000),
        ),
        ports=ports,
        min_succeeded=role.min_succeeded,
        min_failed=role.min_failed,
        main=main,
        ends_job=role.ends_job,
        min_replicas=role.min_replicas,
    )


def gang(job: Job, spec: JobSpec, *, facts: Mapping[str, str], mounts: tuple[Mount, ...] = ()) -> Gang:
    """Return what the agents are told about the job's current attempt.

    `facts` are job-level texts for variables (``fs_uri``); they win over those of the spec. Raises ValueError when the
    job has no attempt.
    """
    if job.attempt is None:
        raise ValueError(f"job {job.id} has no attempt")
    placement = job.attempt.placement
    return draft(
        spec,
        job_id=job.id,
        user=job.owner,
        roles=job.roles,
        placement=placement,
        attempt=job.attempt.number,
        facts=facts,
        mounts=mounts,
        asked=None if placement[0].node else asked_of(job),
    )


def supposed(
    job: Job, spec: JobSpec, placement: tuple[Assignment, ...] | None, mounts: tuple[Mount, ...], at: float
) -> Gang:
    """Return what an engine would be asked for a job that is not submitted. Without a placement each task gets a node.
    O(tasks).
    """
    placement = placement or rehearse(job.roles)
    tasks = tuple(Task(one.role, one.index) for one in placement)
    attempt = Attempt(1, "first", Phase.PLACED, placement, tasks, at)
    facts = {"user": job.owner, "workspace": job.workspace}
    return gang(replace(job, attempt=attempt), spec, facts=facts, mounts=mounts)


def unplaced_gang(job: Job, spec: JobSpec, mounts: tuple[Mount, ...]) -> Gang:
    """Return what an engine is asked about before anything of the job has a place: with `asked`, without a placement.
    O(roles).
    """
    return draft(
        spec,
        job_id=job.id,
        user=job.owner,
        roles=job.roles,
        placement=(),
        facts={"user": job.owner, "workspace": job.workspace},
        mounts=mounts,
        asked=asked_of(job),
    )


def draft(
    spec: JobSpec,
    *,
    job_id: str = "t" + "0" * 32,
    user: str = "user",
    roles: tuple[Role, ...] | None = None,
    placement: tuple[Assignment, ...] | None = None,
    attempt: int = 1,
    facts: Mapping[str, str] | None = None,
    mounts: tuple[Mount, ...] = (),
    asked: Asked | None = None,
) -> Gang:
    """Return a Gang of `spec` without a job: what a preview shows (R41). Without a placement each task gets a node."""
    roles = roles or lower_roles(spec)
    known = {"job_name": spec.slug or spec.name}
    if spec.storage is not None:
        known |= {key: value for key, value in spec.storage.model_dump().items() if value and key != "auth_file"}
    return Gang(
        job=job_id,
        attempt=attempt,
        name=spec.name,
        user=user,
        framework=spec.framework.kind,
        roles=roles,
        commands=tuple(_command(role, spec.grace) for role in spec.roles),
        placement=placement if placement is not None else rehearse(roles),
        options=dict(spec.framework.options),
        env=tuple(spec.env.items()),
        facts={**known, **(facts or {})},
        mounts=mounts,
        image=None if spec.image in OWN_ENVIRONMENT or environment_of(spec) else spec.image,
        environment=environment_of(spec),
        pull_secret=spec.pull_secret,
        secrets=tuple(SecretUse(one.name, one.variable, one.file or "") for one in spec.secrets),
        asked=asked,
    )


def _command(role: RoleSpec, grace_s: float) -> RoleCommand:
    """Parameters become texts; one that is null is not given at all."""
    as_typed = isinstance(role.command, str)
    hooks = role.hooks or Hooks()
    return RoleCommand(
        text=role.command if isinstance(role.command, str) else "",
        argv=() if as_typed else tuple(role.command),
        parameters=tuple((key, scalar_text(value)) for key, value in role.parameters.items() if value is not None),
        env=tuple(role.env.items()),
        before=_hook(hooks.before),
        after=_hook(hooks.after),
        after_s=grace_s,
    )


def _hook(command: str | tuple[str, ...] | None) -> Hook | None:
    if command is None:
        return None
    return Hook(text=command) if isinstance(command, str) else Hook(argv=tuple(command))


def rehearse(roles: tuple[Role, ...]) -> tuple[Assignment, ...]:
    """Return a placement as it could be: one node for each task, cards from 0, ports from 21000. O(tasks)."""
    return tuple(_rehearse(roles))


def _rehearse(roles: tuple[Role, ...]) -> Iterator[Assignment]:
    number, free = 0, 21000
    for role_index, role in enumerate(roles):
        for index in range(role.replicas):
            number += 1
            ports = []
            for port in role.ports:
                first = port.begin_at or free
                free += 0 if port.begin_at else port.count
                ports.append((port.label, tuple(range(first, first + port.count))))
            host = f"127.0.{number // 250}.{number % 250 + 1}"
            yield Assignment(role_index, index, f"node-{number}", host, tuple(range(role.resources.gpu)), tuple(ports))


def progress_of(spec: JobSpec) -> tuple[str, float] | None:
    """Return (metric, total) by which progress is known: fraction = last value of metric / total; None when unknown."""
    metric = spec.progress.metric if spec.progress else "step"
    of = spec.progress.of if spec.progress else None
    if isinstance(of, int | float):
        return metric, float(of)
    for name in (of,) if of else TOTALS:
        for role in spec.roles:
            total = total_of(role.parameters.get(name))
            if total is not None:
                return metric, total
    return None
