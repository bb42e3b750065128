"""The bounds that the schema publishes, which the form shows beside each field, are those of the rules (R66, R247)."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.spec.check import check
from trainmaster.spec.schema import json_schema

SCHEMA = json_schema()
WITHOUT_BOUNDS = {"roles.0.min_succeeded", "roles.0.min_failed"}
"""Their upper bound is the number of replicas."""
PARTS = {"roles.0": "RoleSpec", "roles.0.resources": "Resources", "roles.0.ports.0": "Port"}


def numbers(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a field's schema that are numbers."""
    if schema.get("type") in ("integer", "number"):
        yield schema
    for part in schema.get("anyOf", ()):
        yield from numbers(part)


def bounds() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path of every number of a job, and its schema."""
    places = {"": SCHEMA["properties"], **{at: SCHEMA["$defs"][name]["properties"] for at, name in PARTS.items()}}
    for at, fields in places.items():
        for name, field in fields.items():
            if at == "" and name in SCHEMA["$defs"]["RoleSpec"]["properties"]:
                continue  # the short form of one role
            for found in numbers(field):
                if "const" not in found:
                    yield f"{at}.{name}".lstrip("."), found


def codes(path: str, value: object) -> set[str]:
    """Return what is wrong at `path`, or at one of its pairs, when `value` stands there."""
    role = {"name": "main", "command": "true", "replicas": 4096 if path.endswith(".min_replicas") else 1}
    card = {"gpu": 1, "memory": 2**30}
    document: Any = {"name": "job", "roles": [{**role, "resources": card, "ports": [{"label": "p"}]}]}
    *above, last = path.split(".")
    place = document
    for key in above:
        place = place[int(key)] if key.isdigit() else place.setdefault(key, {})
    place[last] = value
    try:
        check(document, hosts=1)
    except InvalidSpec as error:
        return {one.code for one in error.problems if f"{one.path}.".startswith(f"{path}.")}
    return set()


@pytest.mark.parametrize(("path", "found"), [pytest.param(path, found, id=path) for path, found in bounds()])
def test_a_number_is_taken_up_to_its_bounds_and_no_further(path: str, found: dict[str, Any]) -> None:
    assert "minimum" in found
    step = 1 if found["type"] == "integer" else found["minimum"] / 10 or 1
    assert codes(path, found["minimum"] - step)
    assert not codes(path, found["minimum"])
    if path not in WITHOUT_BOUNDS:
        assert not codes(path, found["maximum"]), "the highest is taken"
        assert codes(path, found["maximum"] + 1)


TEXTS = (
    "name",
    "description",
    "pool",
    "image",
    "driver",
    "roles.0.name",
    "roles.0.command",
    "roles.0.resources.gpu_type",
)
"""Fields that are texts; their characters are counted by `maxLength`, or by a pattern."""
COUNTED = re.compile(r"^\^((?:\[[^]]*])*)\[[^]]*]\{\d+,(\d+)\}\$$")


def field_of(path: str) -> dict[str, Any]:
    """Return the schema of a text at `path`."""
    above, _, last = path.rpartition(".")
    field = (SCHEMA["$defs"][PARTS[above]] if above else SCHEMA)["properties"][last]
    return next(one for one in field.get("anyOf", [field]) if one.get("type") == "string")


def longest(field: dict[str, Any], pattern: str = "") -> int:
    """Return how many characters a text may have, as the form counts them."""
    counted = COUNTED.match(pattern or field.get("pattern", ""))
    found = field.get("maxLength") or (counted and counted[1].count("[") + int(counted[2]))
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("path", TEXTS)
def test_a_text_is_taken_up_to_its_bounds_and_no_further(path: str) -> None:
    most = longest(field_of(path))
    assert not codes(path, "a" * most)
    assert codes(path, "a" * (most + 1))


@pytest.mark.parametrize("path", ["env", "labels", "roles.0.parameters"])
def test_names_and_values_of_pairs_are_taken_up_to_their_bounds(path: str) -> None:
    above, _, last = path.rpartition(".")
    field = (SCHEMA["$defs"][PARTS[above]] if above else SCHEMA)["properties"][last]
    ((pattern, value),) = field["patternProperties"].items()
    name = longest(field.get("propertyNames", {}), pattern)
    assert not codes(path, {"a" * name: "x"})
    assert codes(path, {"a" * (name + 1): "x"})
    if "maxLength" in value:
        assert not codes(path, {"a": "x" * value["maxLength"]})
        assert codes(path, {"a": "x" * (value["maxLength"] + 1)})
