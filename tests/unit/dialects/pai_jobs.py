"""Documents of OpenPAI v1, small ones, and what becomes of them."""

from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.dialects.registry import translate
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec

ROLE: dict[str, Any] = {
    "name": "w",
    "taskNumber": 1,
    "cpuNumber": 1,
    "memoryMB": 100,
    "gpuNumber": 0,
    "command": "sleep infinity",
}
PORT: dict[str, Any] = {"label": "http", "beginAt": 0, "portNumber": 1}


def without(fields: dict[str, Any]) -> dict[str, Any]:
    """A field given as ... is left out."""
    return {key: value for key, value in fields.items() if value is not ...}


def job(**fields: Any) -> dict[str, Any]:
    return without({"jobName": "a", "image": "local", "taskRoles": [ROLE], **fields})


def one(**fields: Any) -> dict[str, Any]:
    return job(taskRoles=[without({**ROLE, **fields})])


def spec_of(document: dict[str, Any]) -> JobSpec:
    return check(translate(document).document)


def problems(document: dict[str, Any], **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidSpec) as refused:
        translate(document, "pai", **options)
    return refused.value.problems
