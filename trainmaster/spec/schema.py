"""The published JSON Schema of the native document, made from the models: what editors and form builders check against.

A schema says less than `check` (nothing between fields) and never more: what `check` accepts, the schema accepts.
"""

from functools import lru_cache
from typing import Any

from trainmaster.core.framework_kinds import KINDS
from trainmaster.spec.check import SHORTHAND
from trainmaster.spec.job import ENV_NAME, JobSpec, RoleSpec


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a native document, shorthands included. A fresh copy each time."""
    return _built().copy()


@lru_cache(maxsize=1)
def _built() -> dict[str, Any]:
    schema = JobSpec.model_json_schema()
    role = RoleSpec.model_json_schema()["properties"]
    fields, parts = schema["properties"], schema["$defs"]
    for key in SHORTHAND:
        fields[key] = {**role[key], "description": "Shorthand for a job of one role, when roles is absent"}
    schema["required"] = ["name"]
    schema["oneOf"] = [{"required": ["roles"]}, {"not": {"required": ["roles"]}, "required": ["command"]}]
    framework = parts["Framework"]
    framework["properties"]["kind"] = {"enum": list(KINDS)}
    framework["properties"] |= {
        name: _option(option.to_json()) for kind in KINDS.values() for name, option in kind.options.items()
    }
    fields["framework"] = {"anyOf": [{"enum": list(KINDS)}, {"$ref": "#/$defs/Framework"}], "default": "single"}
    fields["code"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Code"}, {"type": "null"}], "default": None}
    fields["secrets"]["items"] = {"anyOf": [{"type": "string", "pattern": ENV_NAME}, {"$ref": "#/$defs/Secret"}]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Trainmaster job", **schema}


def _option(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "title": schema["title"]["en"]}
