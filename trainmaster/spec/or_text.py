"""How the published schema says that a number may also be written as a text. Pure."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

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
