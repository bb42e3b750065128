"""The variables every task has, whatever its framework: R94-R111, R115, D4. Pure.

A role's name is part of many variables. Beside the exact one (`PAI_HOST_IP_a.b_0`, which no shell can read) there is an
alias in which everything but letters, digits and `_` has become `_`; an alias never replaces another variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainmaster.core.folders.layout import IN_CODE, IN_DATASET, IN_METRICS, IN_MODEL, IN_OUTPUTS
from trainmaster.core.ids import attempt_id, role_system_name, task_name
from trainmaster.core.launch import Gang, told_folders
from trainmaster.core.records import Assignment, Role

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]")
DEFAULT_FS_URI: Final = "file://" + IN_OUTPUTS
"""PAI_DEFAULT_FS_URI where nothing else is configured: what jobs write there is kept."""

FOLDERS: Final[dict[str, str]] = {
    "TRAINMASTER_CODE_DIR": IN_CODE,
    "TRAINMASTER_DATASET_DIR": IN_DATASET,
    "TRAINMASTER_MODEL_DIR": IN_MODEL,
    "TRAINMASTER_OUTPUT_DIR": IN_OUTPUTS,
    "TRAINMASTER_METRICS_DIR": IN_METRICS,
}
"""Where a task finds its folders. Without a sandbox the agent's base environment says the real places, and wins."""

PRETRAIN: Final = "TRAINMASTER_PRETRAIN_DIR"
"""Where a task finds its model, or those that it has; of tasks without one there is no such variable."""

STORAGE: Final[dict[str, str]] = {
    "code_dir": "PAI_CODE_DIR",
    "data_dir": "PAI_DATA_DIR",
    "output_dir": "PAI_OUTPUT_DIR",
}
"""Facts of an OpenPAI document and the variables that show them."""


def safe(name: str) -> str:
    """Return `name` as a part of a variable that every shell can read (D4)."""
    return _UNSAFE.sub("_", name)


def platform_env(gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the task at (role, index). O(tasks of the gang). Raises KeyError when not placed."""
    env = dict(shared_env(gang))
    env.update(_here(gang, gang.find(role, index), base_env))
    for name, folder in FOLDERS.items():
        env[name] = base_env.get(name, folder)
    if (model := told_folders(gang.mounts).get(PRETRAIN)) is not None:
        env[PRETRAIN] = base_env.get(PRETRAIN, model[0])
    return env


_last: tuple[Gang | None, dict[str, str]] = (None, {})


def shared_env(gang: Gang) -> dict[str, str]:
    """Return the variables that are the same for every task of `gang`; do not change it. O(tasks).

    The answer for the last gang is kept: an agent asks once for each of its tasks.
    """
    global _last  # noqa: PLW0603 (a memo of one; whoever loses a race computes the same again)
    known, env = _last
    if known is not gang:
        env = _shared_env(gang)
        _last = (gang, env)
    return env


def _shared_env(gang: Gang) -> dict[str, str]:
    """Exact names first, in the manuals' order; then the aliases that no exact name has taken."""
    members = _members(gang)
    env = {}
    aliases: list[tuple[str, str]] = []
    for name, alias, value in _pai(gang, members):
        env[name] = value
        if alias != name:
            aliases.append((alias, value))
    for number, (role, tasks) in enumerate(zip(gang.roles, members)):
        hosts, count = ",".join([task.host for task in tasks]), str(len(tasks))
        system, own = role_system_name(number).upper(), safe(role.name).upper()
        env[f"VC_{system}_HOSTS"], env[f"VC_{system}_NUM"] = hosts, count
        aliases += [(f"VC_{own}_HOSTS", hosts), (f"VC_{own}_NUM", count)]
    for name, value in aliases:
        env.setdefault(name, value)
    return env


def _members(gang: Gang) -> list[list[Assignment]]:
    """The assignments of each role, ordered by index."""
    by_role: list[list[Assignment]] = [[] for _ in gang.roles]
    for assignment in gang.placement:
        by_role[assignment.role].append(assignment)
    for members in by_role:
        members.sort(key=lambda assignment: assignment.index)
    return by_role


def _pai(gang: Gang, by_role: list[list[Assignment]]) -> Iterator[tuple[str, str, str]]:
    """Yield (exact name, name with a safe role, value): R94-R104."""
    yield from _same("PAI_JOB_NAME", gang.facts.get("job_name", gang.name))
    yield from _same("PAI_USER_NAME", gang.user)
    fs_uri = gang.facts.get("fs_uri", DEFAULT_FS_URI)
    yield from _same("PAI_DEFAULT_FS_URI", fs_uri)
    yield from _same("PAI_TASK_ROLE_COUNT", str(len(gang.roles)))
    yield from _same("PAI_TASK_ROLE_LIST", ",".join(role.name for role in gang.roles))
    for fact, name in STORAGE.items():
        if fact in gang.facts:
            yield from _same(name, gang.facts[fact].replace("$PAI_DEFAULT_FS_URI", fs_uri))
    for role, members in zip(gang.roles, by_role):
        exact, alias = role.name, safe(role.name)
        for name, value in _of_role(role):
            yield f"{name}_{exact}", f"{name}_{alias}", value
        for task in members:
            yield f"PAI_HOST_IP_{exact}_{task.index}", f"PAI_HOST_IP_{alias}_{task.index}", task.host
            for label, numbers in task.ports:
                ports = ",".join(map(str, numbers))
                yield (
                    f"PAI_PORT_LIST_{exact}_{task.index}_{label}",
                    f"PAI_PORT_LIST_{alias}_{task.index}_{safe(label)}",
                    ports,
                )


def _same(name: str, value: str) -> Iterator[tuple[str, str, str]]:
    yield name, name, value


def _of_role(role: Role) -> Iterator[tuple[str, str]]:
    """R99, R102-R104. A rule that is off (null) is an empty text."""
    asked = role.resources
    cpu = int(asked.cpu) if asked.cpu == int(asked.cpu) else asked.cpu
    yield "PAI_TASK_ROLE_TASK_COUNT", str(role.replicas)
    yield "PAI_RESOURCE", f"{asked.gpu},{cpu},{asked.memory_mib},{asked.shm_mib}"
    yield "PAI_MIN_FAILED_TASK_COUNT", "" if role.min_failed is None else str(role.min_failed)
    yield "PAI_MIN_SUCCEEDED_TASK_COUNT", "" if role.min_succeeded is None else str(role.min_succeeded)


def _here(gang: Gang, here: Assignment, base_env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what differs from task to task: R105-R110, R115, cards, our own names.

    Cards are indices on the node, unless the agent knows better names for them. Every process of a task can be told by
    its TRAINMASTER_TASK.
    """
    role, index = gang.roles[here.role], str(here.index)
    yield "PAI_CURRENT_TASK_ROLE_NAME", role.name
    yield "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", index
    yield "TASKROLE_NAME", role_system_name(here.role)
    yield "VC_TASK_INDEX", index
    yield "VK_TASK_INDEX", index
    cards = base_env.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, here.gpus))
    yield "CUDA_VISIBLE_DEVICES", cards
    yield "NVIDIA_VISIBLE_DEVICES", cards
    yield "TRAINMASTER_JOB_ID", gang.job
    yield "TRAINMASTER_ATTEMPT", str(gang.attempt)
    yield "TRAINMASTER_TASK", f"{attempt_id(gang.job, gang.attempt)}/{task_name(here.role, here.index)}"
    yield "TRAINMASTER_ROLE", role.name
    yield "TRAINMASTER_INDEX", index
    yield "TRAINMASTER_NODE", here.node
    yield "TRAINMASTER_HOST", here.host
