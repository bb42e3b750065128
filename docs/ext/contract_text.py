"""The API's contract (OpenAPI) as rows of text: operations by noun, and the fields of each shape. No docutils here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

PREFIX: Final = "/api/v1"
NOUNS: Final = {
    "home": "Home",
    "jobs": "Jobs",
    "marks": "Tags, notes, favorites",
    "search": "Search, saved views",
    "compare": "Jobs side by side",
    "lineage": "Lineage",
    "watching": "Logs, metrics, use",
    "files": "Files",
    "feed": "The live feed",
    "queue": "The queue",
    "cluster": "Nodes, engines",
    "workspaces": "Workspaces, flavors, pools",
    "models": "Models",
    "templates": "Templates",
    "images": "Images",
    "image-builds": "Builds of images",
    "datasets": "Data sets",
    "subscriptions": "Offers and subscriptions",
    "volumes": "Volumes",
    "algorithms": "Algorithms",
    "bin": "Bin",
    "sweeps": "Sweeps",
    "uploads": "Code",
    "session": "Signing in, tokens",
    "people": "People and members",
    "reports": "Reports of use",
    "balances": "Balances and budgets",
    "notifications": "Notifications",
    "webhooks": "Webhooks",
    "upkeep": "Records and retention",
    "server": "The server",
}
"""What people call the tags, in the order in which they are met."""


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a shape. `kind`: its type as text, with names of shapes in it."""

    name: str
    kind: str
    required: bool
    default: str
    where: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Operation:
    """One method of one address. `takes`, `answers`: names of shapes or media types."""

    method: str
    path: str
    meaning: str
    scope: str
    parameters: tuple[Field, ...]
    takes: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Shape:
    name: str
    meaning: str
    fields: tuple[Field, ...]
    kind: str = field(default="")
    """Instead of fields, where it is no object."""


def operations(document: dict[str, Any]) -> dict[str, list[Operation]]:
    """Every operation of the contract below its noun."""
    found: dict[str, list[Operation]] = {noun: [] for noun in NOUNS.values()}
    for path, item in document["paths"].items():
        for method, one in item.items():
            found[NOUNS[one["tags"][0]]].append(_operation(method.upper(), path.removeprefix(PREFIX), one))
    return found


def _operation(method: str, path: str, one: dict[str, Any]) -> Operation:
    return Operation(
        method,
        path,
        one.get("description") or f"{one['summary']}.",
        one.get("x-scope", {}).get("name", ""),
        tuple(_parameter(parameter) for parameter in one.get("parameters", ())),
        _content(one.get("requestBody", {})),
        tuple((status, _content(answer)) for status, answer in one["responses"].items() if status != "default"),
    )


def _parameter(one: dict[str, Any]) -> Field:
    schema = one.get("schema", {})
    meaning = one.get("description") or schema.get("description") or ""
    return Field(one["name"], spelled(schema), one.get("required", False), _default(schema), one["in"], meaning)


def _content(part: dict[str, Any]) -> str:
    kinds = [
        spelled(content["schema"]) if media == "application/json" and content.get("schema") else media
        for media, content in part.get("content", {}).items()
    ]
    return " or ".join(kinds)


def shapes(document: dict[str, Any]) -> Iterator[Shape]:
    """Every named shape of the contract, by its name."""
    for name, schema in sorted(document["components"]["schemas"].items()):
        wanted = schema.get("required", ())
        fields = tuple(
            Field(key, spelled(value), key in wanted, _default(value), meaning=value.get("description", ""))
            for key, value in schema.get("properties", {}).items()
        )
        yield Shape(name, schema.get("description", ""), fields, "" if fields else spelled(schema))


def spelled(schema: dict[str, Any]) -> str:
    """A type as people write it: ``Job``, ``list of text``, ``number or null``."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(spelled(one) for one in schema[several]))
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"list of {spelled(schema.get('items', {}))}"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"object of {spelled(more)}" if isinstance(more, dict) and more else "object"
    return _with_bounds({"string": "text"}.get(kind, kind or "anything"), schema)


def _with_bounds(kind: str, schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind} {low}..{high}"
    return kind


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    if value is None or value == "":
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
