"""An algorithm as its document says it: code and command, what may be set of it, what it reads and writes, and on what
it runs (R150-R157, R60). Immutable models; structure and single-field rules only.

Rules that need two fields lie in `checking`. What a job gets of it: `filling`; what may be in that job: `judging`.
"""

from math import isfinite
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from trainmaster.core.cluster import FlavorKind
from trainmaster.core.framework_kinds import DEFAULT_KIND
from trainmaster.spec.algorithms.origins import Origin
from trainmaster.spec.job import (
    CLEAN,
    IMAGE,
    MAX_COMMAND,
    MAX_IMAGE,
    MAX_TASKS,
    Code,
    Framework,
    Model,
    ParameterName,
    ParameterValue,
    Word,
)
from trainmaster.spec.problems import LARGEST

LONGEST_DESCRIPTION: Final = 2000
_MOST: Final = 256
_SUBFOLDER: Final = r"^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)*$"

Kind = Literal["dataset", "model", "path", "volume", "s3"]
KINDS: Final[tuple[Kind, ...]] = ("dataset", "model", "path", "volume", "s3")
"""What an input channel may be given: by which field of a job's input."""
Text = Annotated[str, Field(pattern=CLEAN, max_length=LONGEST_DESCRIPTION)]
Given = Literal["argument", "variable"]


def _bound(value: Any) -> Any:
    """Accept a finite number within 64 bits, as it is written: 1 stays a whole one."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("not_number", "not_number")
    if isinstance(value, float) and not isfinite(value):
        raise PydanticCustomError("finite_number", "finite_number")
    if isinstance(value, int) and value > LARGEST:
        raise PydanticCustomError("less_than_equal", "less_than_equal", {"le": LARGEST})
    if isinstance(value, int) and value < -LARGEST:
        raise PydanticCustomError("greater_than_equal", "greater_than_equal", {"ge": -LARGEST})
    return value


Bound = Annotated[
    int | float | None,
    PlainValidator(_bound),
    PlainSerializer(lambda value: value),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}),
]


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _framework(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


def _code(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class Hyperparameter(Model):
    """A value that a job may set (R155). `min`, `max`: of numbers, both possible; `choices`: the only values, none:
    any. `required`: a job has to have it; `editable`: it may have another value than `default`; `deletable`: it may go
    without it, if it may be edited.
    """

    name: ParameterName
    type: Literal["int", "float", "str", "bool"]
    default: ParameterValue = None
    min: Bound = None
    max: Bound = None
    choices: tuple[ParameterValue, ...] = Field(default=(), max_length=_MOST, strict=False)
    required: bool = False
    editable: bool = True
    deletable: bool = True
    description: Text = ""


class Channel(Model):
    """A place that the program is told: as `--name=PLACE`, or in the variable of this name."""

    name: ParameterName
    given: Given = "argument"
    description: Text = ""


class InputChannel(Channel):
    """What the program reads (R152, R153): the place of one of the job's inputs, which is of one of `kinds`."""

    required: bool = True
    kinds: tuple[Kind, ...] = Field(default=KINDS, min_length=1, max_length=len(KINDS), strict=False)


class OutputChannel(Channel):
    """Where the program writes (R154): the folder of the job's outputs, or the one whose content becomes its model, or
    `folder` within, which the program makes.
    """

    to: Literal["outputs", "model"] = "outputs"
    folder: Annotated[str, Field(pattern=_SUBFOLDER, max_length=200)] | None = None


class AlgorithmSpec(Model):
    """A whole algorithm. `custom_parameters`: a job may have further parameters (R156). `flavors`: the only ones that
    its jobs may name, empty: any (R60); `runs_on`: on which types of resources (R14), empty: on all; `max_replicas`: of
    one role; `origin`: from which commit the code was taken.
    """

    version: Literal[1] = 1
    description: Text = ""
    code: Annotated[Code | None, BeforeValidator(_code)] = None
    origin: Origin | None = None
    command: Annotated[str, Field(min_length=1, max_length=MAX_COMMAND)]
    framework: Annotated[Framework, BeforeValidator(_framework)] = Framework(kind=DEFAULT_KIND)
    image: str = Field(default="default", pattern=IMAGE, max_length=MAX_IMAGE)
    parameters: tuple[Hyperparameter, ...] = Field(default=(), max_length=_MOST, strict=False)
    custom_parameters: bool = True
    inputs: tuple[Annotated[InputChannel, BeforeValidator(_named)], ...] = Field(
        default=(), max_length=32, strict=False
    )
    outputs: tuple[Annotated[OutputChannel, BeforeValidator(_named)], ...] = Field(
        default=(), max_length=32, strict=False
    )
    flavors: tuple[Word, ...] = Field(default=(), max_length=64, strict=False)
    runs_on: tuple[FlavorKind, ...] = Field(default=(), max_length=4, strict=False)
    max_replicas: int | None = Field(default=None, ge=1, le=MAX_TASKS)

    @property
    def upload(self) -> str | None:
        """The name under which its code was uploaded."""
        return self.code.upload if self.code is not None else None
