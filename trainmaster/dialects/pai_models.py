"""The shape of an OpenPAI v1 document (R67-R91): its fields, bounds and stand-ins as data. No rules between fields.

As OpenPAI's own schema (v0.8 to v0.14) reads it: fields that have a default there may be left out, a number may stand
in a text.
"""

import json
import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from trainmaster.spec.job import CLEAN, IMAGE, MAX_IMAGE, MAX_ROLES, MAX_TASKS, PAI_NAME, SLUG, EnvValue, Word

_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
MOST_RETRIES: Final = 1000
"""Also what -1 and -2 mean, which are "again and again" there."""
SHELL: Final = ("/bin/bash", "-c")
"""OpenPAI's commands are shell scripts."""


def _absent(value: Any) -> Any:
    """An empty text where an address could stand means that there is none: forms write it so."""
    return None if value == "" else value


def _rule(value: Any) -> Any:
    """-1 switches a completion rule off, as null does (D2)."""
    value = _number(value)
    return None if type(value) is int and value == -1 else value


def _shm(value: Any) -> Any:
    return 64 if value is None else _number(value)


def _number(value: Any) -> Any:
    """A text that is an integer means the integer."""
    return int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value


def _text(value: Any) -> Any:
    """A list or an object as the value of a variable is its JSON."""
    if not isinstance(value, list | dict):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return value  # no JSON: the model refuses it


Uri = Annotated[Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None, BeforeValidator(_absent)]
Name = Annotated[Word | None, BeforeValidator(_absent, json_schema_input_type=Word | Literal[""] | None)]
AnyValue = Annotated[
    EnvValue, BeforeValidator(_text), WithJsonSchema({"type": ["string", "number", "boolean", "array", "object"]})
]
Number = Annotated[int, BeforeValidator(_number, json_schema_input_type=int | str)]
AtLeastOne = Annotated[int, Field(ge=1)]
Rule = Annotated[AtLeastOne | None, BeforeValidator(_rule, json_schema_input_type=AtLeastOne | Literal[-1] | None)]


class PaiModel(BaseModel):
    """Unknown fields are refused; numbers are numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class PaiPort(PaiModel):
    """R80-R83."""

    label: str = Field(pattern=PAI_NAME, max_length=63)
    begin_at: Number = Field(default=0, alias="beginAt", ge=0, le=65535)
    port_number: Number = Field(default=1, alias="portNumber", ge=1, le=256)


class PaiRole(PaiModel):
    """R74-R86."""

    name: str = Field(pattern=PAI_NAME, max_length=63)
    task_number: Number = Field(default=1, alias="taskNumber", ge=1, le=MAX_TASKS)
    cpu_number: Number = Field(default=1, alias="cpuNumber", ge=1, le=4096)
    memory_mb: Number = Field(default=100, alias="memoryMB", ge=100, le=2**30)
    shm_mb: Annotated[int, BeforeValidator(_shm, json_schema_input_type=int | None)] = Field(
        default=64, alias="shmMB", ge=0, le=2**30
    )
    gpu_number: Number = Field(default=0, alias="gpuNumber", ge=0, le=1024)
    port_list: Annotated[tuple[PaiPort, ...], Field(max_length=64, strict=False)] | None = Field(
        default=None, alias="portList"
    )
    command: str = Field(min_length=1)
    kill_all: Any = Field(default=None, alias="killAllOnCompletedTaskNumber")
    min_failed: Rule = Field(default=1, alias="minFailedTaskCount")
    min_succeeded: Rule = Field(default=None, alias="minSucceededTaskCount")


class PaiDocument(PaiModel):
    """R67-R73, R87-R91."""

    job_name: str = Field(alias="jobName", pattern=SLUG, max_length=255)
    image: str = Field(pattern=IMAGE, max_length=MAX_IMAGE)
    auth_file: Uri = Field(default=None, alias="authFile")
    data_dir: Uri = Field(default=None, alias="dataDir")
    output_dir: Uri = Field(default=None, alias="outputDir")
    code_dir: Uri = Field(default=None, alias="codeDir")
    virtual_cluster: Name = Field(default=None, alias="virtualCluster")
    task_roles: tuple[PaiRole, ...] = Field(alias="taskRoles", min_length=1, max_length=MAX_ROLES, strict=False)
    gpu_type: Name = Field(default=None, alias="gpuType")
    retry_count: Annotated[Number, Field(ge=-2, le=MOST_RETRIES)] | None = Field(default=None, alias="retryCount")
    job_envs: dict[str, AnyValue] | None = Field(default=None, alias="jobEnvs")
    extras: dict[str, Any] | None = None
    kill_all: Any = Field(default=None, alias="killAllOnCompletedTaskNumber")


STAND_INS: Final[dict[str, Any]] = {
    "jobName": "stand-in",
    "image": "local",
    "name": "stand.in",
    "taskNumber": 1,
    "cpuNumber": 1,
    "memoryMB": 100,
    "gpuNumber": 0,
    "command": "true",
    "label": "stand.in",
    "beginAt": 0,
    "portNumber": 1,
    "taskRoles": [
        {"name": "stand.in", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0, "command": "true"}
    ],
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an OpenPAI v1 document."""
    schema = PaiDocument.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "OpenPAI job, version 1"}
