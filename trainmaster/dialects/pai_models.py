"""The shape of an OpenPAI v1 document (R67-R91): its fields, bounds and stand-ins as data. No rules between fields."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from trainmaster.spec.job import CLEAN, IMAGE, MAX_ROLES, MAX_TASKS, PAI_NAME, SLUG, EnvValue, Word

SHELL: Final = ("/bin/bash", "-c")
"""OpenPAI's commands are shell scripts."""


def _absent(value: Any) -> Any:
    """An empty text where an address could stand means that there is none: forms write it so."""
    return None if value == "" else value


def _rule(value: Any) -> Any:
    """-1 switches a completion rule off, as null does (D2)."""
    return None if type(value) is int and value == -1 else value


def _shm(value: Any) -> Any:
    return 64 if value is None else value


Uri = Annotated[Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None, BeforeValidator(_absent)]
Name = Annotated[Word | None, BeforeValidator(_absent, json_schema_input_type=Word | Literal[""] | None)]
AtLeastOne = Annotated[int, Field(ge=1)]
Rule = Annotated[AtLeastOne | None, BeforeValidator(_rule, json_schema_input_type=AtLeastOne | Literal[-1] | None)]


class PaiModel(BaseModel):
    """Unknown fields are refused; numbers are numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class PaiPort(PaiModel):
    """R80-R83."""

    label: str = Field(pattern=PAI_NAME, max_length=63)
    begin_at: int = Field(alias="beginAt", ge=0, le=65535)
    port_number: int = Field(alias="portNumber", ge=1, le=256)


class PaiRole(PaiModel):
    """R74-R86."""

    name: str = Field(pattern=PAI_NAME, max_length=63)
    task_number: int = Field(alias="taskNumber", ge=1, le=MAX_TASKS)
    cpu_number: int = Field(alias="cpuNumber", ge=1, le=4096)
    memory_mb: int = Field(alias="memoryMB", ge=100, le=2**30)
    shm_mb: Annotated[int, BeforeValidator(_shm, json_schema_input_type=int | None)] = Field(
        default=64, alias="shmMB", ge=0, le=2**30
    )
    gpu_number: int = Field(alias="gpuNumber", ge=0, le=1024)
    port_list: Annotated[tuple[PaiPort, ...], Field(max_length=64, strict=False)] | None = Field(
        default=None, alias="portList"
    )
    command: str = Field(min_length=1)
    min_failed: Rule = Field(default=1, alias="minFailedTaskCount")
    min_succeeded: Rule = Field(default=None, alias="minSucceededTaskCount")


class PaiDocument(PaiModel):
    """R67-R73, R87-R91."""

    job_name: str = Field(alias="jobName", pattern=SLUG, max_length=255)
    image: str = Field(pattern=IMAGE)
    auth_file: Uri = Field(default=None, alias="authFile")
    data_dir: Uri = Field(default=None, alias="dataDir")
    output_dir: Uri = Field(default=None, alias="outputDir")
    code_dir: Uri = Field(default=None, alias="codeDir")
    virtual_cluster: Name = Field(default=None, alias="virtualCluster")
    task_roles: tuple[PaiRole, ...] = Field(alias="taskRoles", min_length=1, max_length=MAX_ROLES, strict=False)
    gpu_type: Name = Field(default=None, alias="gpuType")
    retry_count: Annotated[int, Field(ge=0, le=1000)] | None = Field(default=None, alias="retryCount")
    job_envs: dict[str, EnvValue] | None = Field(default=None, alias="jobEnvs")
    extras: dict[str, Any] | None = None


STAND_INS: Final[dict[str, Any]] = {
    "jobName": "stand-in", "image": "local", "name": "stand.in", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
    "gpuNumber": 0, "command": "true", "label": "stand.in", "beginAt": 0, "portNumber": 1,
    "taskRoles": [
        {"name": "stand.in", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0, "command": "true"}
    ],
}  # fmt: skip


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an OpenPAI v1 document."""
    schema = PaiDocument.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "OpenPAI job, version 1"}
