"""What of a gang an engine does not carry out, as it says before the submit; and what engines of the same nature say
alike. Pure.

A finding is at the field of the native document that asks for it. Invariant: whatever a gang carries is carried out or
spoken of (tests/contract/engine/test_carried.py).
"""

import posixpath
from dataclasses import dataclass
from typing import Self

from trainmaster.core.errors import Problem
from trainmaster.core.folders.layout import IN_CODE, IN_DATASET, IN_PRETRAIN
from trainmaster.core.launch import Gang
from trainmaster.messages.assets import volumes
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.spec.problems import problem


@dataclass(frozen=True, slots=True)
class GangFindings:
    """`problems`: without this the job would not run as it was meant, so it is refused; each says what to do instead.
    `warnings`: it runs as it was meant, and its owner should know.
    """

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def __add__(self, other: Self) -> "GangFindings":
        """Return the findings of both."""
        return GangFindings(self.problems + other.problems, self.warnings + other.warnings)


def without_containers(gang: Gang) -> GangFindings:
    """Return what an engine says that runs no containers: tasks run all the same, in the environment of their node."""
    found = []
    if gang.image is not None:
        found.append(problem("image", rules.image_not_used(gang.image), gang.image))
    if gang.pull_secret is not None:
        found.append(problem("pull_secret", rules.pull_secret_not_used(gang.pull_secret), gang.pull_secret))
    return GangFindings(warnings=tuple(found))


def without_secrets(gang: Gang) -> GangFindings:
    """Return what the platform says of an engine that brings no secrets to tasks (`abilities.TakesSecrets`)."""
    return GangFindings((problem("secrets", rules.secrets_not_carried()),) if gang.secrets else ())


def without_environments(gang: Gang, why: Said | None) -> GangFindings:
    """Return what the platform says of an engine that shows no environments to tasks (`abilities.ShowsEnvironments`),
    or cannot; `why` not: None where it does.
    """
    return GangFindings((problem("image", why, gang.environment),) if gang.environment and why is not None else ())


def without_cache(gang: Gang, why: Said | None) -> GangFindings:
    """Return what the platform says of an engine that caches no inputs (`abilities.CachesInputs`), or cannot; `why`
    not: None where it does.
    """
    if why is None:
        return GangFindings()
    inputs = [mount for mount in gang.mounts if mount.target != IN_CODE]
    return GangFindings(
        tuple(problem(f"inputs.{at}.cache", why, True) for at, mount in enumerate(inputs) if mount.cache)
    )


def without_volumes(gang: Gang, bulk: str) -> GangFindings:
    """Return what an engine says whose nodes do not see the server's folders, of which `bulk` has volumes; "": they
    do."""
    if not bulk:
        return GangFindings()
    inputs = [mount for mount in gang.mounts if mount.target != IN_CODE]
    found = [
        problem(f"inputs.{at}.volume", volumes.volume_not_reached(mount.target))
        for at, mount in enumerate(inputs)
        if mount.source.startswith(posixpath.join(bulk, "volumes", ""))
    ]
    return GangFindings(tuple(found))


def without_sandbox(gang: Gang) -> GangFindings:
    """Return what an engine says whose tasks see the folders of their node where they lie, and nowhere else.

    Code is their working directory there, and of what is asked for at /dataset, and of a single model, a variable says
    where it lies (`agent.tasks.prepare`).
    """
    problems, warnings = [], []
    models = [mount for mount in gang.mounts if mount.target.startswith(IN_PRETRAIN + "/")]
    inputs = [mount for mount in gang.mounts if mount.target != IN_CODE]
    for at, mount in enumerate(inputs):
        path, source = f"inputs.{at}.mount", posixpath.normpath(mount.source)
        if mount.target == IN_DATASET != source:
            warnings.append(problem(path, rules.dataset_at_its_path(mount.target, source), mount.target))
        elif models == [mount]:
            warnings.append(problem(path, rules.model_at_its_path(mount.target, source), mount.target))
        elif mount.target != source:
            problems.append(problem(path, rules.mount_needs_sandbox(mount.target, source), mount.target))
    return GangFindings(tuple(problems), tuple(warnings))
