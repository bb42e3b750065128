"""From a gang to exact commands: which argv, environment, folder and limits each task gets. Pure; touches no disk.

The same functions answer the dry run, so what is shown is what is started. Framework rules come from
trainmaster.frameworks; this file adds what belongs to the host: paths, cards, the sandbox.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.agent.caching.cache import root_of
from trainmaster.agent.host.cgroups import Limits
from trainmaster.agent.sandbox import apart, rooted, sandbox
from trainmaster.agent.settings import Settings
from trainmaster.agent.tasks import hooks
from trainmaster.core.folders.layout import (
    IN_CODE,
    IN_ENVIRONMENT,
    IN_METRICS,
    IN_MODEL,
    IN_OUTPUTS,
    IN_SECRETS,
    IN_WORKSPACE,
    Layout,
    TaskPaths,
)
from trainmaster.core.ids import attempt_id, task_name
from trainmaster.core.launch import Gang, SecretUse, TaskLaunch, told_folders
from trainmaster.core.records import Assignment
from trainmaster.frameworks import registry
from trainmaster.frameworks.base import FILES

MARKER: Final = "TRAINMASTER_TASK"
"""The variable by which every process of a task can be recognised: ``<attempt id>/<task name>``."""


SECRETS: Final = "TRAINMASTER_SECRETS_DIR"
"""The variable that says where the files with secrets are."""
CONTAINER_KIND: Final = "container"
"""The variable by which programs see that they are in a container (systemd's container interface)."""
MEMORY: Final = "/dev/shm"
"""A file system in memory."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One task, ready to start: `argv` in `env` at `cwd`; in a sandbox through bubblewrap with `options`, which set env
    and cwd.

    `folders`, those on the `ways` to its mounts and `files` (host path -> text) must exist before. `secrets`: what it
    is given of them; `secrets_dir`: the folder of those that are files, where there is no sandbox. `hooked`: `argv` is
    the shell that runs the task's hooks and its command.
    """

    role: int
    index: int
    name: str
    paths: TaskPaths
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    limits: Limits
    options: tuple[str, ...]
    folders: tuple[str, ...]
    files: dict[str, str]
    ways: tuple[str, ...] = ()
    secrets: tuple[SecretUse, ...] = ()
    secrets_dir: str = ""
    hooked: bool = False


def prepare(gang: Gang, layout: Layout, settings: Settings) -> tuple[Prepared, ...]:
    """Return every task of `gang` to start here, in the order of its placement. Raises ValueError for an impossible
    command.
    """
    return tuple(_task(gang, assignment, layout, settings) for assignment in gang.own())


def _task(gang: Gang, place: Assignment, layout: Layout, settings: Settings) -> Prepared:
    paths = layout.task(gang.job, gang.attempt, place.role, place.index)
    name = task_name(place.role, place.index)
    sandboxed = bool(settings.bwrap)
    image = layout.environment(gang.environment) if gang.environment else ""
    model, outputs = layout.model_out(gang.job), layout.outputs(gang.job)
    forced = _forced(gang, place, settings, name, paths, (model, outputs) if not sandboxed else (IN_MODEL, IN_OUTPUTS))
    contained = layout.is_container(gang.environment)
    own = _of_container(image, place, settings) if contained else _base(settings, sandboxed, paths.tmp, image)
    base = {**own, **forced}
    if not sandboxed:
        base[FILES] = paths.root + "/files"
    launch = registry.launch(gang, place.role, place.index, base)
    env = {**launch.env, **forced}
    argv, hooked = _words(launch, gang.commands[place.role].after_s, env)
    resources = gang.roles[place.role].resources
    limits = Limits(resources.memory_mib, settings.processes, resources.cpu)
    code = next((m.source for m in gang.mounts if m.target == IN_CODE), None)
    written = {**launch.files, **_accounts(image, contained and sandboxed)}
    files = {paths.root + "/files" + target: text for target, text in written.items()}
    folders = (model, outputs, paths.root, paths.tmp, paths.metrics)
    if not sandboxed:
        cwd = code or paths.tmp
        bare = Prepared(place.role, place.index, name, paths, argv, env, cwd, limits, (), folders, files, hooked=hooked)
        return replace(bare, secrets=gang.secrets, secrets_dir=env.get(SECRETS, "")) if gang.secrets else bare
    view = sandbox.View(
        name=name,
        hidden=(*layout.folders, *((root_of(settings.cache),) if settings.cache else ())),
        etc=layout.path("run", "etc"),
        tmp=paths.tmp,
        work=paths.work,
        metrics=paths.metrics,
        model=model,
        outputs=outputs,
        shm_mib=resources.shm_mib,
        environment=environment_for(gang, layout, settings),
        mounts=gang.mounts,
        files=tuple((paths.root + "/files" + target, target) for target in written),
        cards=_devices(place, settings),
        secrets=tuple(use.file for use in gang.secrets if use.file),
        network=os.geteuid() != 0 and apart.has_own_network(gang, settings),
    )
    cwd = IN_CODE if code else IN_WORKSPACE
    options = sandbox.options(view, cwd=cwd, env=env)
    return Prepared(
        place.role,
        place.index,
        name,
        paths,
        argv,
        env,
        cwd,
        limits,
        options,
        (*folders, paths.work),
        files,
        tuple(f"{paths.work}/{way}" for way in sandbox.ways(gang.mounts)),
        gang.secrets,
        hooked=hooked,
    )


def _words(launch: TaskLaunch, after_s: float, env: dict[str, str]) -> tuple[tuple[str, ...], bool]:
    """Return what is started, and whether it is the shell that runs the task's hooks."""
    if not launch.before and not launch.after:
        return launch.argv, False
    return hooks.around(launch.argv, launch.before, launch.after, after_s, env), True


@cache
def _search_path(prefix: str) -> str:
    return f"{prefix}/bin:{sandbox.SYSTEM_PATH}" if prefix else sandbox.SYSTEM_PATH


def environment_for(gang: Gang, layout: Layout, settings: Settings) -> sandbox.Environment:
    """Return the Python environment that tasks of `gang` see first."""
    if layout.is_container(gang.environment):
        return sandbox.of_container(layout.environment(gang.environment), settings.package)
    if gang.environment:
        return sandbox.of_image(layout.environment(gang.environment), settings.package)
    return sandbox.environment(settings.environment, settings.package)


def _base(settings: Settings, sandboxed: bool, tmp: str, image: str) -> dict[str, str]:
    """Variables a user may override. `image`: the folder of the environment that the job has instead of the node's."""
    first = settings.environment
    if image:
        first, python = IN_ENVIRONMENT if sandboxed else image, settings.package
    else:
        python = sandbox.environment(settings.environment, settings.package).package
    env = {
        "PATH": _search_path(first),
        "HOME": IN_WORKSPACE if sandboxed else tmp,
        "TMPDIR": "/tmp" if sandboxed else tmp,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",  # a log that is followed live must not wait for 8 KiB
    }
    if image:
        env["VIRTUAL_ENV"] = first
    if python:
        env["PYTHONPATH"] = "/trainmaster/python" if sandboxed else python
    return env


def _accounts(folder: str, contained: bool) -> dict[str, str]:
    """Files of /etc that a task's image lacks an account in; its image is `contained`, kept in `folder`."""
    return rooted.accounts(rooted.root_of(folder)) if contained else {}


def _of_container(folder: str, place: Assignment, settings: Settings) -> dict[str, str]:
    """Variables of a task whose image is a container's, which a user may override: the image's own first."""
    cards = bool(_devices(place, settings))
    own = {"PATH": sandbox.SYSTEM_PATH, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", **rooted.variables(folder)}
    paths = {"PYTHONPATH": "/trainmaster/python", **({"LD_LIBRARY_PATH": rooted.DRIVER} if cards else {})}
    for name, path in paths.items():
        own[name] = f"{path}:{own[name]}" if own.get(name) else path
    if cards:
        own["PATH"] += f":{rooted.DRIVER}"
    return {**own, "HOME": IN_WORKSPACE, "TMPDIR": "/tmp", CONTAINER_KIND: "trainmaster"}


def _forced(
    gang: Gang, place: Assignment, settings: Settings, name: str, paths: TaskPaths, out: tuple[str, str]
) -> dict[str, str]:
    """Variables the platform sets last: identity, places to write, cards."""
    env = {
        MARKER: f"{attempt_id(gang.job, gang.attempt)}/{name}",
        "TRAINMASTER_JOB": gang.job,
        "TRAINMASTER_ATTEMPT": str(gang.attempt),
        "TRAINMASTER_METRICS_DIR": IN_METRICS if settings.bwrap else paths.metrics,
        "TRAINMASTER_MODEL_DIR": out[0],
        "TRAINMASTER_OUTPUT_DIR": out[1],
        "CUDA_VISIBLE_DEVICES": _visible(place, settings),
    }
    for key, (inside, outside) in told_folders(gang.mounts).items():
        env[key] = inside if settings.bwrap else outside
    if any(use.file for use in gang.secrets):
        env[SECRETS] = IN_SECRETS if settings.bwrap else f"{MEMORY}/trainmaster-{env[MARKER].replace('/', '-')}"
    return env


def _visible(place: Assignment, settings: Settings) -> str:
    """Return CUDA_VISIBLE_DEVICES: empty for no cards (an absent variable would show all of them)."""
    cards = settings.cards.get(place.node)
    if cards is None or not cards.uuids:
        return ",".join(map(str, place.gpus))
    return ",".join(cards.uuids[card] for card in place.gpus)


def _devices(place: Assignment, settings: Settings) -> tuple[str, ...]:
    cards = settings.cards.get(place.node)
    if cards is None or not cards.devices:
        return ()
    return tuple(dict.fromkeys(file for card in place.gpus for file in cards.devices[card]))


def document(tasks: tuple[Prepared, ...], bwrap: str) -> dict[str, Any]:
    """Return the printable request: what the dry run shows."""
    return {
        "tasks": [
            {
                "name": task.name,
                "argv": list(task.argv),
                "env": dict(task.env),
                "cwd": task.cwd,
                "sandbox": [bwrap, *task.options] if task.options else None,
                "limits": {
                    "memory_mib": task.limits.memory_mib,
                    "cpu": task.limits.cpu,
                    "processes": task.limits.processes,
                },
            }
            for task in tasks
        ]
    }
