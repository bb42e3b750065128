"""OpenPAI v1 JSON (R61-R93): the way into the native document, and problems back at OpenPAI's paths.

Invariant: what `translate` returns passes `check`; every refusal names fields of the document as it was written. What
nobody can use here (remote storage, files of credentials) is kept and said, never dropped silently.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.dialects.base import Translation
from trainmaster.dialects.pai_credentials import credential_problems
from trainmaster.dialects.pai_models import MOST_RETRIES, SHELL, STAND_INS, PaiDocument, PaiRole, json_schema
from trainmaster.dialects.pai_out import to_pai
from trainmaster.messages.jobs import form, rules
from trainmaster.spec.check import check, faults, lies_in, refusal, refuse_oversized, salvage, structure_problems
from trainmaster.spec.problems import problem

__all__ = ["json_schema", "pai_path", "to_pai", "translate"]

DEBUG_HOLD_S: Final = 4 * 3600.0
"""How long isDebug keeps a failed container (R90, R218), within the administrator's limit."""

_IN_STORAGE: Final = re.compile(r"\$|[A-Za-z][A-Za-z0-9+.-]*://|HDFS[_ ]URI")
"""Where an address names a place in a storage; the last is what OpenPAI's own templates write there."""
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")


PATHS: Final[dict[str, str]] = {
    "name": "jobName",
    "slug": "jobName",
    "pool": "virtualCluster",
    "retries": "retryCount",
    "code": "codeDir",
    "inputs": "dataDir",
    "storage": "outputDir",
    "debug_hold": "jobEnvs.isDebug",
    "image": "image",
    "extras": "extras",
    "env": "jobEnvs",
    "roles": "taskRoles",
}
ROLE_PATHS: Final[dict[str, str]] = {
    "name": "name",
    "replicas": "taskNumber",
    "command": "command",
    "min_failed": "minFailedTaskCount",
    "min_succeeded": "minSucceededTaskCount",
    "cpu": "cpuNumber",
    "memory": "memoryMB",
    "shm": "shmMB",
    "gpu": "gpuNumber",
    "gpu_type": "gpuType",
    "ports": "portList",
    "label": "label",
    "count": "portNumber",
    "begin_at": "beginAt",
}


def translate(document: Mapping[str, Any], *, hosts: int | None = None) -> Translation:
    """Return the native document of an OpenPAI one. `hosts`: number of host addresses, where known (D7).

    Raises InvalidSpec with all problems at OpenPAI's paths.
    """
    refuse_oversized(document)
    raw = dict(document)
    if "protocolVersion" in raw:
        raise refusal([problem("protocolVersion", form.pai_version_2()), *credential_problems(raw)])
    try:
        pai = PaiDocument.model_validate(raw)
    except ValidationError as error:
        raise refusal(_all_problems(raw, error, hosts)) from None
    found = _own_problems(pai)
    native = native_document(pai)
    try:
        check(native, hosts=hosts)
    except InvalidSpec as error:
        found += [as_written(item) for item in error.problems]
    if found:
        raise refusal(found)
    return Translation(native, "pai", tuple(_warnings(pai)))


def _all_problems(raw: dict[str, Any], error: ValidationError, hosts: int | None) -> list[Problem]:
    """Return the faults of structure, and those between fields of what is left without them."""
    errors = faults(error)
    found = structure_problems(errors, PaiDocument)
    rest = salvage(raw, errors, PaiDocument, STAND_INS)
    if rest is None:
        return found
    more = _own_problems(rest)
    try:
        check(native_document(rest), hosts=hosts)
    except InvalidSpec as refused:
        more += [as_written(item) for item in refused.problems]
    spoilt = {item.path for item in found}
    return found + [p for p in more if not lies_in(p.path, spoilt)]


def as_written(item: Problem) -> Problem:
    """Return `item`, found in the native document, at the OpenPAI path that it came from."""
    return Problem(pai_path(item.path), item.rule, item.remedy, item.code, item.value, item.args)


def pai_path(path: str) -> str:
    """Return the OpenPAI path of a native one: ``roles.0.replicas`` is ``taskRoles.0.taskNumber``."""
    first, _, rest = path.partition(".")
    top = PATHS.get(first, first)
    if first in ("env", "extras"):
        return f"{top}.{rest}" if rest else top
    if first != "roles" or not rest:
        return top
    index, *parts = rest.split(".")
    if parts and parts[-1] == "gpu_type":
        return "gpuType"
    if parts and parts[0] == "command":
        parts = parts[:1]
    return ".".join([top, index, *(ROLE_PATHS.get(part, part) for part in parts if part != "resources")])


def display_name(job_name: str) -> str:
    """Return a display name (R21) made from a jobName (R67): other characters become ``-``, cut to 30 (D1)."""
    return _NOT_IN_NAMES.sub("-", job_name)[:30]


# -------------------------------------------------------------------------------------------------------------- inwards


def native_document(pai: PaiDocument) -> dict[str, Any]:
    """Return the native document of a well-formed OpenPAI one."""
    envs = dict(pai.job_envs or {})
    output = pai.output_dir or f"$PAI_DEFAULT_FS_URI/Output/{pai.job_name}"
    storage = {"code_dir": pai.code_dir, "data_dir": pai.data_dir, "output_dir": output, "auth_file": pai.auth_file}
    document: dict[str, Any] = {
        "name": display_name(pai.job_name),
        "slug": pai.job_name,
        "framework": "single",
        "image": pai.image,
        "roles": [_native_role(role, pai.gpu_type) for role in pai.task_roles],
        "env": envs,
        "pool": pai.virtual_cluster or "default",
        "share": "none",  # it cannot say it
        "retries": _retries(pai),
        "debug_hold": DEBUG_HOLD_S if envs.get("isDebug", "").lower() == "true" else 0,
        "storage": {key: value for key, value in storage.items() if value is not None},
    }
    if pai.extras is not None:
        document["extras"] = pai.extras
    code, data = _code(pai.code_dir), local_path(pai.data_dir)
    if code is not None:
        document["code"] = code
    if data is not None:
        document["inputs"] = [{"name": "data", "path": data, "mount": "/dataset", "read_only": True}]
    return document


def _native_role(role: PaiRole, gpu_type: str | None) -> dict[str, Any]:
    return {
        "name": role.name,
        "replicas": role.task_number,
        "command": [*SHELL, role.command],
        "resources": {
            "cpu": role.cpu_number,
            "memory": role.memory_mb,
            "gpu": role.gpu_number,
            "gpu_type": gpu_type,
            "shm": role.shm_mb,
        },
        "ports": [{"label": p.label, "count": p.port_number, "begin_at": p.begin_at} for p in role.port_list or ()],
        "min_failed": role.min_failed,
        "min_succeeded": role.min_succeeded,
        "ends_job": role.min_succeeded is not None,  # D11
    }


def _retries(pai: PaiDocument) -> int:
    count = pai.retry_count or 0
    return count if count >= 0 else MOST_RETRIES


def local_path(uri: str | None) -> str | None:
    """Return the path of an address on the nodes' own disks (``/data`` or ``file:///data``); None for any other."""
    if uri is None:
        return None
    path = uri.removeprefix("file://").rstrip("/") or "/"
    return path if path.startswith("/") and posixpath.normpath(path) == path else None


def _code(uri: str | None) -> dict[str, str] | None:
    """An uploaded folder, a folder of the submitter's machine, or None for an address nobody here can read."""
    if uri is None:
        return None
    if uri.startswith("sha256:"):
        return {"upload": uri}
    path = local_path(uri)
    if path is None and not _IN_STORAGE.match(uri):
        path = uri
    return None if path is None else {"path": path}


def knows(field: str) -> bool:
    """Return whether `field` is one of the document's own, at its top."""
    return any(field == (known.alias or name) for name, known in PaiDocument.model_fields.items())


def local_code(document: Mapping[str, Any]) -> str | None:
    """Return the folder of the submitter's machine that `document` names as its code; None when there is nothing to
    upload.
    """
    uri = document.get("codeDir")
    code = _code(uri) if isinstance(uri, str) and uri else None
    return (code or {}).get("path")


def uploaded(upload: str) -> dict[str, Any]:
    """Return the field that says that the code is in this upload."""
    return {"codeDir": upload}


def _own_problems(pai: PaiDocument) -> list[Problem]:
    """Return what only OpenPAI's own fields can have wrong: a script of blanks, an isDebug that is neither."""
    found = [
        problem(f"taskRoles.{index}.command", rules.command_empty())
        for index, role in enumerate(pai.task_roles)
        if not role.command.strip()
    ]
    debug = (pai.job_envs or {}).get("isDebug")
    if debug is not None and debug.lower() not in ("true", "false"):
        found.append(problem("jobEnvs.isDebug", form.not_boolean(), debug))
    return found


def _warnings(pai: PaiDocument) -> list[Problem]:
    """What is kept and returned, but not used on any engine, in words."""
    found: list[Problem] = []
    if pai.auth_file is not None:
        found.append(problem("authFile", rules.auth_not_used(pai.image)))
    if pai.code_dir is not None and _code(pai.code_dir) is None:
        found.append(problem("codeDir", rules.storage_not_reached(uri=pai.code_dir, field="codeDir")))
    if pai.data_dir is not None and local_path(pai.data_dir) is None:
        found.append(problem("dataDir", rules.storage_not_reached(uri=pai.data_dir, field="dataDir")))
    if pai.retry_count is not None and pai.retry_count < 0:
        found.append(problem("retryCount", rules.retries_bounded(MOST_RETRIES), pai.retry_count))
    found += _ignored(pai)
    if pai.output_dir is not None:
        found.append(problem("outputDir", rules.outputs_elsewhere(), pai.output_dir))
    return found


def _ignored(pai: PaiDocument) -> list[Problem]:
    """Return the warning that a field which OpenPAI gave up changes nothing here either, wherever it stands."""
    name = "killAllOnCompletedTaskNumber"
    given = [name] if pai.kill_all is not None else []
    given += [f"taskRoles.{at}.{name}" for at, role in enumerate(pai.task_roles) if role.kill_all is not None]
    return [problem(path, rules.field_ignored(name)) for path in given]
