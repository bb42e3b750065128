"""What the agent is told about one attempt (`Gang`), and what it finally starts (`TaskLaunch`). Plain data, JSON-able.

A Gang is everything a framework needs to compute environment and command of any of its tasks without asking anybody:
the roles with their commands, and where every task runs. The server sends one to each agent; the preview uses the same.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.core.folders.layout import IN_CODE, IN_DATASET, IN_PRETRAIN
from trainmaster.core.records import Assignment, Job, Role, assignment_from_json, role_from_json, to_json

_TOLD: Final = {IN_CODE: "TRAINMASTER_CODE_DIR", IN_DATASET: "TRAINMASTER_DATASET_DIR"}


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that runs before or after a role's own (R53): as typed (`text`), or as its words."""

    text: str = ""
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleCommand:
    """What a role runs. `argv` is final when `shell_words` is empty; else `text` is split and `$NAME` expanded per
    task.

    `text`: the command exactly as typed (R118). `parameters`: key-value pairs appended as ``--key=value`` (R40), in
    order. `env`: the role's own variables; they win over the job's and never over the platform's. `before`, `after`:
    its hooks; `after_s`: how long `after` may take.
    """

    text: str = ""
    argv: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    before: Hook | None = None
    after: Hook | None = None
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Mount:
    """A host folder or file shown inside the sandbox at `target`. `cache`: to be copied to the node's fast storage
    first, if it can be; what names its content, "": not asked for.
    """

    source: str
    target: str
    read_only: bool = True
    cache: str = ""


def told_folders(mounts: tuple[Mount, ...]) -> dict[str, tuple[str, str]]:
    """Return the variables that say where mounts are, each with (the place within the sandbox, where that lies outside
    of it). Of several models, the folder above them, and outside that of the first one.
    """
    told = {}
    models = [mount for mount in mounts if mount.target.startswith(IN_PRETRAIN + "/")]
    for mount in mounts:
        if mount.target in _TOLD:
            told[_TOLD[mount.target]] = (mount.target, mount.source)
    if models:
        place = models[0].target if len(models) == 1 else IN_PRETRAIN
        told["TRAINMASTER_PRETRAIN_DIR"] = (place, models[0].source)
    return told


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A secret of the job's workspace that its tasks are given, by name; never its value. `env`: the variable that
    holds it, `file`: the file of $TRAINMASTER_SECRETS_DIR that does; "": none.
    """

    name: str
    env: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an engine that decides order and places itself must know of a job beside its roles; it may change while it
    waits or runs.

    `limit_s`: how long it may run, seconds from its start, None: no limit. `grace_s`: between being asked to end and
    being killed. `priority`: a value of core.states.Priority. `nodes`: those it may run on, none: any of `pool`.
    `driver`: the version that its nodes must have, None: any.
    """

    pool: str
    limit_s: float | None = None
    grace_s: float = 10.0
    priority: int = 0
    nodes: tuple[str, ...] = ()
    driver: str | None = None


def asked_of(job: Job) -> Asked:
    """Return what is asked for `job` now."""
    policy = job.policy
    return Asked(job.pool, policy.duration_s, policy.grace_s, int(job.priority), job.node_names, job.driver)


@dataclass(frozen=True, slots=True)
class Gang:
    """One attempt as an agent sees it. `options` are the framework's (for example processes_per_node).

    `env` holds the job's own variables. `facts` holds job-level texts for variables: user, job_name, fs_uri... `image`:
    the container image that tasks run in, None: the environment that the engine has. `pull_secret`: the name that the
    engine's administrators gave to the credentials for pulling it; never the credentials. `here`: the tasks, as (role,
    index), that the agent that is given it starts; None: all of the placement. `asked` is set while the gang has no
    placement: it says on which nodes it may run. `secrets`: what its tasks are given of those of the workspace; values
    are given beside the gang (engines.abilities.TakesSecrets). `environment`: the Python environment of an image of the
    platform: the name of its folder (core.folders.layout), before the launch that of its image; "": the node's.
    """

    job: str
    attempt: int
    name: str
    user: str
    framework: str
    roles: tuple[Role, ...]
    commands: tuple[RoleCommand, ...]
    placement: tuple[Assignment, ...]
    options: dict[str, Any] = field(default_factory=dict)
    env: tuple[tuple[str, str], ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    here: tuple[tuple[int, int], ...] | None = None
    asked: Asked | None = None
    image: str | None = None
    pull_secret: str | None = None
    secrets: tuple[SecretUse, ...] = ()
    environment: str = ""

    def members(self, role: int) -> tuple[Assignment, ...]:
        """Return the assignments of `role` ordered by index. O(tasks log tasks)."""
        return tuple(sorted((a for a in self.placement if a.role == role), key=lambda a: a.index))

    def own(self) -> tuple[Assignment, ...]:
        """Return what the agent that is given this starts. O(tasks)."""
        if self.here is None:
            return self.placement
        here = set(self.here)
        return tuple(place for place in self.placement if (place.role, place.index) in here)

    def find(self, role: int, index: int) -> Assignment:
        """Return the assignment at (role, index). Raises KeyError when there is none."""
        for assignment in self.placement:
            if assignment.role == role and assignment.index == index:
                return assignment
        raise KeyError((role, index))


@dataclass(frozen=True, slots=True)
class TaskLaunch:
    """What is started for one task: argv, the complete platform and user environment, and small files to create first.

    `files` maps absolute paths inside the sandbox to their text (for example ``/job/hostfile``). `before`, `after`: the
    words of its hooks, empty where it has none.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPreview:
    """What one replica would run. `more_env`: how many further variables it would have."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    more_env: int


@dataclass(frozen=True, slots=True)
class RolePreview:
    """What a sub-task would run, in shell words what its first replica would, and so its hooks (`before`, `after`; "":
    none). `more_tasks`: how many further replicas there would be.
    """

    name: str
    system_name: str
    command: str
    before: str
    after: str
    tasks: tuple[TaskPreview, ...]
    more_tasks: int


def gang_to_json(gang: Gang) -> dict[str, Any]:
    """Return `gang` as a JSON object."""
    data = to_json(gang)
    data["mounts"] = [to_json(m) for m in gang.mounts]
    data["commands"] = [to_json(c) for c in gang.commands]
    data["secrets"] = [to_json(one) for one in gang.secrets]
    return dict(data)


def gang_from_json(data: dict[str, Any]) -> Gang:
    """Return the Gang of `gang_to_json`. Raises KeyError, TypeError or ValueError for a malformed object."""
    return Gang(
        **{
            **data,
            "roles": tuple(role_from_json(r) for r in data["roles"]),
            "commands": tuple(
                RoleCommand(
                    text=c["text"],
                    argv=tuple(c["argv"]),
                    parameters=tuple((k, v) for k, v in c["parameters"]),
                    env=tuple((k, v) for k, v in c["env"]),
                    before=_parse_hook(c.get("before")),
                    after=_parse_hook(c.get("after")),
                    after_s=c.get("after_s", 0.0),
                )
                for c in data["commands"]
            ),
            "placement": tuple(assignment_from_json(a) for a in data["placement"]),
            "env": tuple((k, v) for k, v in data["env"]),
            "mounts": tuple(Mount(**m) for m in data["mounts"]),
            "here": None if data.get("here") is None else tuple((role, index) for role, index in data["here"]),
            "asked": _parse_asked(data.get("asked")),
            "secrets": tuple(SecretUse(**one) for one in data.get("secrets", ())),
        }
    )


def _parse_hook(data: dict[str, Any] | None) -> Hook | None:
    return Hook(data["text"], tuple(data["argv"])) if data else None


def _parse_asked(data: dict[str, Any] | None) -> Asked | None:
    return Asked(**{**data, "nodes": tuple(data["nodes"])}) if data else None
