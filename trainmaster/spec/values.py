"""Sizes and times in a job: numbers that may also be written as a text, and how the published schema says so. Pure."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError

from trainmaster.core.formats.units import NotRead, parse_duration_s, parse_memory_mib
from trainmaster.messages.jobs import form

_SPELT: Final = {"ge": "minimum", "le": "maximum"}
"""Pydantic leaves the bounds of a float that a validator goes before as it calls them itself."""


@dataclass(frozen=True)
class OrText:
    """In the schema: a number with the bounds of its field, or a text that spells one."""

    description: str
    pattern: str | None = None

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {_SPELT.get(key, key): value for key, value in handler(core).items()}
        text = {"type": "string"} if self.pattern is None else {"type": "string", "pattern": self.pattern}
        return {"anyOf": [number, text], "description": self.description}


def _memory(value: Any) -> int:
    if type(value) is int:
        return value
    if not isinstance(value, str | int | float):
        wrong = form.list_no_memory_size() if isinstance(value, list | tuple) else form.object_no_memory_size()
        raise PydanticCustomError("bad_memory", "bad_memory", {"detail": wrong})
    try:
        return parse_memory_mib(value)
    except NotRead as error:
        raise PydanticCustomError("bad_memory", "bad_memory", {"detail": error.said}) from None


def _duration(value: Any) -> float:
    if type(value) is int or type(value) is float:
        return value
    if not isinstance(value, str | int | float):
        wrong = form.list_no_duration() if isinstance(value, list | tuple) else form.object_no_duration()
        raise PydanticCustomError("bad_duration", "bad_duration", {"detail": wrong})
    try:
        return parse_duration_s(value)
    except NotRead as error:
        raise PydanticCustomError("bad_duration", "bad_duration", {"detail": error.said}) from None


_MEMORY_TEXT: Final = r"^\s*\d+(\.\d+)?\s*([KkMmGgTt]([Ii]?[Bb])?)?\s*$"
_MEMORY_SCHEMA: Final = OrText("A number of MiB, or text such as 512MiB or 2GiB", _MEMORY_TEXT)
_DURATION_SCHEMA: Final = OrText("A number of seconds, or text such as 30m, 2h or 1h30m")

Memory = Annotated[int, BeforeValidator(_memory), _MEMORY_SCHEMA]
Duration = Annotated[float, BeforeValidator(_duration), _DURATION_SCHEMA]
