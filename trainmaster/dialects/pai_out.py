"""Any job as an OpenPAI v1 document: what the console's JSON view and OpenPAI's own tools read. Pure.

Invariant: translating the result gives the job back, as far as OpenPAI has words for it; a job that was written in
OpenPAI comes back whole.
"""

import math
import re
import shlex
from typing import Any, Final

from trainmaster.core.records import Job
from trainmaster.dialects.pai_models import SHELL
from trainmaster.spec.job import SLUG, Env, JobSpec, RoleSpec, scalar_text

_SLUG: Final = re.compile(SLUG)
_NOT_IN_ROLES: Final = re.compile(r"[^A-Za-z0-9._~]")


def to_pai(spec: JobSpec, job: Job | None = None) -> dict[str, Any]:
    """Return `spec` as an OpenPAI document with effective values (D2). `job` names one that has no usable name."""
    storage = spec.storage.model_dump() if spec.storage else {}
    code = storage.get("code_dir") or (spec.code and (spec.code.upload or spec.code.path))
    name = spec.slug or (spec.name if _SLUG.match(spec.name) else job.id if job else "job")
    gpu_type = next((role.resources.gpu_type for role in spec.roles if role.resources.gpu_type), None)
    document = {
        "jobName": name,
        "image": spec.image,
        "authFile": storage.get("auth_file"),
        "dataDir": storage.get("data_dir") or next((item.path for item in spec.inputs if item.path), None),
        "outputDir": storage.get("output_dir") or f"$PAI_DEFAULT_FS_URI/Output/{name}",
        "codeDir": code or None,
        "virtualCluster": spec.virtual_cluster or spec.pool,
        "taskRoles": [_role(role) for role in spec.roles],
        "gpuType": gpu_type,
        "retryCount": spec.retries,
        "jobEnvs": _envs(spec),
        "extras": spec.extras or None,
    }
    return {key: value for key, value in document.items() if value is not None}


def _envs(spec: JobSpec) -> dict[str, Any] | None:
    envs: dict[str, Any] = dict(spec.env)
    debug = envs.get("isDebug", "true" if spec.debug_hold > 0 else None)
    if debug is not None:
        envs["isDebug"] = str(debug).lower() == "true"
    return envs or None


def _role(role: RoleSpec) -> dict[str, Any]:
    ends = role.ends_job or role.main
    asked = role.resources
    return {
        "name": _NOT_IN_ROLES.sub("_", role.name),
        "taskNumber": role.replicas,
        "cpuNumber": max(1, math.ceil(asked.cpu)),
        "memoryMB": max(100, asked.memory),
        "shmMB": asked.shm,
        "gpuNumber": asked.gpu,
        "portList": [
            {"label": _NOT_IN_ROLES.sub("_", port.label), "beginAt": port.begin_at, "portNumber": port.count}
            for port in role.ports
        ],
        "command": _exports(role.env) + _command(role),
        "minFailedTaskCount": role.min_failed,
        "minSucceededTaskCount": (role.min_succeeded or role.replicas) if ends else None,
    }


def _command(role: RoleSpec) -> str:
    """The role's command as a shell script; one that came from OpenPAI is the script itself."""
    given = role.command
    parameters = [shlex.quote(f"--{k}={scalar_text(v)}") for k, v in role.parameters.items() if v is not None]
    if isinstance(given, tuple) and given[:-1] == SHELL and not parameters:
        return given[-1]
    return " ".join([given if isinstance(given, str) else shlex.join(given), *parameters])


def _exports(env: Env) -> str:
    """OpenPAI has no variables of a role: the script sets them."""
    return "".join(f"export {name}={shlex.quote(value)}; " for name, value in env.items())
