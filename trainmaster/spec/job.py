"""JobSpec: what the user asked, in the native language. Immutable models; structure and single-field rules only.

Rules that need two fields live in `semantics`; both are run by `check`, which alone turns them into problems. A JobSpec
holds effective values in base units (MiB, seconds), so dumping it gives a complete document that reads back the same.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from trainmaster.core.framework_kinds import DEFAULT_KIND
from trainmaster.spec.inputs import HAN, REFERENCE, STORED, with_mounts
from trainmaster.spec.outputs import JobOutput
from trainmaster.spec.values import Duration, Memory

NAME: Final = f"^[A-Za-z0-9_{HAN}-]{{1,30}}$"  # R21
SLUG: Final = r"^[A-Za-z0-9._~-]+$"  # R67
ROLE_NAME: Final = r"^[A-Za-z0-9._~-]{1,63}$"
PAI_NAME: Final = r"^[A-Za-z0-9._~]+$"  # R74, R81
WORD: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
IMAGE: Final = r"^[A-Za-z0-9][^\s\x00-\x1f\x7f]*$"  # its length is a bound of its own: in here it cost 0.5 MiB
ENV_NAME: Final = r"^[A-Za-z_][A-Za-z0-9_]{0,254}$"
PARAMETER: Final = r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$"
DIGEST: Final = r"^sha256:[0-9a-f]{64}$"
CLEAN: Final = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"  # text without control characters; tab and line ends are text

PATTERN_CODES: Final[dict[str, str]] = {
    NAME: "bad_name",
    SLUG: "bad_slug",
    ROLE_NAME: "bad_role_name",
    PAI_NAME: "bad_pai_name",
    WORD: "bad_word",
    IMAGE: "bad_image",
    ENV_NAME: "bad_env_name",
    PARAMETER: "bad_parameter",
    DIGEST: "bad_digest",
    CLEAN: "control_characters",
    REFERENCE: "bad_reference",
    STORED: "bad_stored_place",
}
"""Which problem a text that does not follow a pattern is."""

MAX_IMAGE: Final = 512
MAX_TASKS: Final = 4096
MAX_SECRETS: Final = 32
MAX_ROLES: Final = 64
MAX_PORTS: Final = 16384
"""Ports of all tasks together: each is told to every task in a variable, and a program starts with 2 MiB of them at
most.
"""
MAX_COMMAND: Final = 65536
MAX_COMMANDS: Final = 2 * MAX_COMMAND
"""Characters of the commands of all roles together."""
MAX_VALUE: Final = 32768
YEAR_S: Final = 366 * 86400.0


def scalar_text(value: str | int | float | bool) -> str:
    """Return a scalar as a command line or a variable shows it: ``true``/``false``, numbers in their shortest form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _command(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list | tuple):
        for word in value:
            if not isinstance(word, str):
                raise PydanticCustomError("not_text", "not_text")
        return tuple(value)
    raise PydanticCustomError("not_text", "not_text")


def _env_value(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, str | int | float):
        return scalar_text(value)
    raise PydanticCustomError("not_scalar", "not_scalar")


def _parameter(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | int | float):
        return value
    raise PydanticCustomError("not_scalar", "not_scalar")


def _as_it_is(value: Any) -> Any:
    """Serialise by what the value is, not by what the annotation might allow."""
    return value


def _framework(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


def _code(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _secret(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _total(value: Any) -> str | float:
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise PydanticCustomError("not_number", "not_number")


Label = Annotated[str, Field(pattern=CLEAN, max_length=256)]
Word = Annotated[str, Field(pattern=WORD)]
EnvName = Annotated[str, Field(pattern=ENV_NAME)]
EnvValue = Annotated[
    str,
    Field(pattern=CLEAN, max_length=MAX_VALUE),
    BeforeValidator(_env_value),
    WithJsonSchema({"type": ["string", "number", "boolean"], "maxLength": MAX_VALUE}),
]
Env = Annotated[dict[EnvName, EnvValue], Field(max_length=512)]
ParameterName = Annotated[str, Field(pattern=PARAMETER)]
ParameterValue = Annotated[
    str | int | float | bool | None,
    PlainValidator(_parameter),
    PlainSerializer(_as_it_is),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
Command = Annotated[
    str | tuple[str, ...],
    PlainValidator(_command),
    PlainSerializer(_as_it_is),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": MAX_COMMAND},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ],
            "description": "The command, run without a shell; or a list of its words",
        }
    ),
]


class Model(BaseModel):
    """Immutable; unknown fields are refused; a number is never read out of a text."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Resources(Model):
    """What one replica gets. `gpu_type` null: cards of any model (R8)."""

    cpu: float = Field(default=1.0, ge=0.01, le=4096, description="CPU cores")
    memory: Memory = Field(default=1024, ge=16, le=2**30, description="Memory")
    gpu: int = Field(default=0, ge=0, le=1024, description="GPUs")
    gpu_type: Word | None = Field(default=None, description="GPU model; null: any")
    gpu_share: float = Field(default=1.0, ge=0.001, le=1, description="Share of a GPU; less than 1 only with 1 GPU")
    shm: Memory = Field(default=64, ge=0, le=2**30, description="Shared memory")


class Port(Model):
    """A labelled block of ports (R80-R83). `begin_at` 0: the platform chooses."""

    label: str = Field(pattern=ROLE_NAME)
    count: int = Field(default=1, ge=1, le=256)
    begin_at: int = Field(default=0, ge=0, le=65535)


class Hooks(Model):
    """Lifecycle scripts of a sub-task (R53). `before` runs in each replica before its command, which starts only if it
    succeeds; `after` once the command has ended, for at most the job's grace period, and changes nothing of its end.
    """

    before: Command | None = Field(default=None, description="Runs before the command, which needs its success")
    after: Command | None = Field(default=None, description="Runs after the command, for at most the grace period")


class RoleSpec(Model):
    """A task role: `replicas` equal tasks. `min_failed` null: its failures never fail the job (D2).

    `min_replicas`: it may start with as few as that (R182). `flavors`: names of resource sets, in place of `resources`;
    several are alternatives, of which one is used (R161, R162).
    """

    name: str = Field(pattern=ROLE_NAME)
    replicas: int = Field(default=1, ge=1, le=MAX_TASKS)
    min_replicas: int | None = Field(
        default=None, ge=1, le=MAX_TASKS, description="Minimum replicas to start with; null: all"
    )
    command: Command
    parameters: dict[ParameterName, ParameterValue] = Field(default_factory=dict, max_length=256)
    hooks: Hooks | None = Field(default=None, description="Commands before and after the command, in its sandbox")
    resources: Resources = Resources()
    flavors: tuple[Word, ...] = Field(default=(), max_length=16, strict=False, description="Alternatives to resources")
    ports: tuple[Port, ...] = Field(default=(), max_length=64, strict=False)
    env: Env = Field(default_factory=dict)
    min_succeeded: int | None = Field(default=None, ge=1)
    min_failed: int | None = Field(default=1, ge=1)
    main: bool = False
    ends_job: bool = False


class Framework(BaseModel):
    """A framework and its options, written flat: ``{kind: pytorch, processes_per_node: 2}``, or just its name."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)
    kind: str = Field(max_length=64)

    @property
    def options(self) -> dict[str, Any]:
        """Everything beside the kind."""
        return self.model_extra or {}


class Code(Model):
    """Where the code comes from: a folder of the submitter's machine, or what it was uploaded as."""

    path: Annotated[str, Field(pattern=CLEAN, min_length=1, max_length=4096)] | None = None
    upload: Annotated[str, Field(pattern=DIGEST)] | None = None

    @property
    def digest(self) -> str | None:
        """The hex digest of what was uploaded; None while nothing is."""
        return self.upload.removeprefix("sha256:") if self.upload else None


class Input(Model):
    """What every task is shown at `mount` (R47, R52, R138, R143, R145), one of: a folder or file of the nodes (`path`),
    a data set, a saved model, a volume. Data sets and models are named ``NAME`` or ``NAME@VERSION``, and can only be
    read; a volume is named ``NAME``, and can be written with ``read_only: false``. What is fetched from object storage,
    ``CONNECTION/PREFIX`` (R16, R146), can only be read. What never changes can be copied to the nodes' fast storage
    before the command runs (R187).
    """

    name: Word | None = Field(default=None, description="Needed with path")
    path: Annotated[str, Field(pattern=CLEAN, min_length=1, max_length=4096)] | None = None
    dataset: Annotated[str, Field(pattern=REFERENCE)] | None = None
    model: Annotated[str, Field(pattern=REFERENCE)] | None = None
    volume: Annotated[str, Field(pattern=NAME)] | None = None
    s3: Annotated[str, Field(pattern=STORED, max_length=1024)] | None = None
    mount: str = Field(default="/dataset", pattern=CLEAN, min_length=1, max_length=1024)
    channel: ParameterName | None = Field(default=None, description="Input channel of the algorithm that it is for")
    read_only: bool = True
    cache: bool = Field(default=False, description="Copy it to fast storage of the nodes first; not path or volume")

    @property
    def asset(self) -> str:
        """The data set, model or volume, "" for a folder."""
        return self.dataset or self.model or self.volume or ""

    @property
    def versioned(self) -> bool:
        """Whether it is a version of something, which never changes."""
        return bool(self.dataset or self.model)

    @property
    def title(self) -> str:
        """What it is called among the others."""
        return self.name or self.asset or self.s3 or "-"

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = {key: value for key, value in write(self).items() if value is not None}
        return found if self.cache else {key: value for key, value in found.items() if key != "cache"}


class Secret(Model):
    """A secret of the job's workspace that every task is given, by name. Written as its name alone, or without `env`
    and `file`, it is the variable of that name. `file`: the name of a file in $TRAINMASTER_SECRETS_DIR.
    """

    name: EnvName
    env: EnvName | None = Field(default=None, description="Variable that holds the value")
    file: Word | None = Field(default=None, description="File of $TRAINMASTER_SECRETS_DIR that holds the value")

    @property
    def variable(self) -> str:
        """The variable that holds the value, "": none does."""
        return self.env or ("" if self.file else self.name)


class Metric(Model):
    """A regular expression over log lines; its named groups are metrics, the group ``step`` their step."""

    pattern: str = Field(pattern=CLEAN, min_length=1, max_length=500)


class Progress(Model):
    """How far the job is: the metric `metric` of `of`, a number or the name of a parameter that holds it."""

    metric: str = Field(default="step", pattern=ENV_NAME)
    of: Annotated[
        str | float | None,
        PlainValidator(lambda v: None if v is None else _total(v)),
        WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}, {"type": "null"}]}),
    ] = None


class ModelOut(Model):
    """Whether outputs become a model version on success (R138, R149), and of which model. Default name: the job's."""

    save: bool = True
    name: Annotated[str, Field(pattern=NAME)] | None = None


class Storage(Model):
    """Addresses kept from an OpenPAI document (R69-R72); the local engine shows them to tasks and mounts local ones."""

    code_dir: Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None = None
    data_dir: Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None = None
    output_dir: Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None = None
    auth_file: Annotated[str, Field(pattern=CLEAN, max_length=4096)] | None = None


class JobSpec(Model):
    """A whole job. `slug` is an optional handle, unique in the workspace (D1).

    `pool` names a pool or a virtual cluster of one (R6, R10); ``any``: the one where it would start first when it is
    submitted. `nodes` empty: any node of the pool (R12).
    """

    version: Literal[1] = 1
    name: str = Field(pattern=NAME)
    slug: Annotated[str, Field(pattern=SLUG, max_length=255)] | None = None
    description: str = Field(default="", pattern=CLEAN, max_length=4000)
    algorithm: Annotated[str, Field(pattern=REFERENCE)] | None = Field(
        default=None, description="NAME or NAME@VERSION; gives code, command, framework and image"
    )
    framework: Annotated[Framework, BeforeValidator(_framework)] = Framework(kind=DEFAULT_KIND)
    image: str = Field(
        default="default",
        pattern=IMAGE,
        max_length=MAX_IMAGE,
        description="Image of the platform (NAME or NAME@VERSION), or a container image; default: the node's own",
    )
    pull_secret: Word | None = Field(default=None, description="Name of the credentials with which the image is pulled")
    code: Annotated[Code | None, BeforeValidator(_code)] = None
    inputs: Annotated[tuple[Input, ...], BeforeValidator(with_mounts)] = Field(default=(), max_length=64, strict=False)
    outputs: tuple[JobOutput, ...] = Field(default=(), max_length=8, strict=False)
    roles: tuple[RoleSpec, ...] = Field(min_length=1, max_length=MAX_ROLES, strict=False)
    env: Env = Field(default_factory=dict)
    secrets: tuple[Annotated[Secret, BeforeValidator(_secret)], ...] = Field(
        default=(), max_length=MAX_SECRETS, strict=False, description="Secrets of the workspace that tasks are given"
    )
    pool: Word = "default"
    virtual_cluster: Word | None = Field(default=None, description="Share of the pool that the job counts against")
    nodes: tuple[Word, ...] = Field(
        default=(), max_length=4096, strict=False, description="Names of the only nodes to use; empty: any"
    )
    driver: Annotated[str, Field(pattern=CLEAN, min_length=1, max_length=64)] | None = None
    workspace: Word = "default"
    share: Literal["none", "read", "read-write"] | None = Field(
        default=None, description="What other members of the workspace may do with the job; null: nothing"
    )
    priority: Literal["normal", "urgent", "very_urgent"] = "normal"
    duration: Annotated[Duration, Field(ge=1, le=10 * YEAR_S)] | None = None
    retries: int = Field(default=0, ge=0, le=1000)
    fault_restarts: int = Field(default=0, ge=0, le=1000)
    preemptible: bool = Field(default=False, description="May go back to the queue to make room for other jobs")
    grace: Annotated[Duration, Field(ge=0, le=86400)] = 10.0
    debug_hold: Annotated[Duration, Field(ge=0, le=30 * 86400)] = 0.0
    metrics: tuple[Metric, ...] = Field(default=(), max_length=32, strict=False)
    progress: Progress | None = None
    model: ModelOut = ModelOut()
    storage: Storage | None = None
    labels: dict[Label, Label] = Field(default_factory=dict, max_length=64)
    extras: dict[str, Any] = Field(default_factory=dict)
