"""What differs between job files, as rows: one setting a row, one job a column. Pure.

A setting is called as the job file calls it, without what goes without saying: the role where each job has one, the
part of the file where the section says it. Invariant: whatever a job file can say is in some row.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

from trainmaster.answers.finding import ComparedMetric, ComparedRow, MetricResult, Scalar, Section
from trainmaster.core.formats.units import exact_duration
from trainmaster.core.records import Job
from trainmaster.core.states import Priority
from trainmaster.service.curves.goals import goal_of
from trainmaster.spec.document import Document

LONGEST: Final = 4000
"""Characters of a value that are shown; all of them are compared."""
_NAMES: Final = {"version", "name", "slug"}
"""What says which job it is."""
_SECTIONS: Final[dict[str, Section]] = {
    "framework": "framework",
    "image": "environment",
    "pull_secret": "environment",
    "env": "environment",
    "driver": "environment",
    "secrets": "environment",
    "code": "code",
    "inputs": "inputs",
    "storage": "inputs",
    "pool": "resources",
    "virtual_cluster": "resources",
    "nodes": "resources",
}
"""By the first name of a field; all others are settings."""
_OF_ROLES: Final[dict[str, Section]] = {
    "parameters": "parameters",
    "command": "command",
    "hooks": "command",
    "env": "environment",
    "min_succeeded": "settings",
    "min_failed": "settings",
    "main": "settings",
    "ends_job": "settings",
}
"""The same of a role; all others are resources."""

Fact = tuple[Section, str, Any]
"""A section, what a setting is called in it, and its value."""


def rows_of(documents: Sequence[Document | None]) -> list[ComparedRow]:
    """Return every setting that some of these effective documents have, by section. None: cannot be read, and differs
    from none. O(settings x documents).
    """
    there = [document for document in documents if document is not None]
    single = all(len(document["roles"]) == 1 for document in there)
    plain = _plain_parameters(there)
    found: dict[tuple[Section, str], list[Any]] = {}
    for at, document in enumerate(documents):
        for section, name, value in _facts(document, single, plain) if document is not None else ():
            found.setdefault((section, name), [None] * len(documents))[at] = value
    order = {section: number for number, section in enumerate(get_args(Section))}
    return [
        ComparedRow(
            section=section,
            name=name,
            values=[_shown(value) for value in values],
            differs=_differ([value for value, read in zip(values, documents, strict=True) if read is not None]),
        )
        for (section, name), values in sorted(found.items(), key=lambda one: order[one[0][0]])
    ]


def document_now(document: Document, job: Job) -> Document:
    """Return the document of `job` with what may have been changed or chosen since it was submitted, spelled as people
    write it.
    """
    limit_s = job.policy.duration_s
    return {
        **document,
        "pool": job.pool,
        "priority": Priority(job.priority).name.lower(),
        "duration": None if limit_s is None else exact_duration(limit_s),
    }


def metrics_of(results: Sequence[dict[str, MetricResult]]) -> list[ComparedMetric]:
    """Return every metric that some jobs have, by name, with where it is best."""
    names = sorted({name for one in results for name in one})
    return [_metric(name, [one.get(name) for one in results]) for name in names]


def _metric(name: str, values: list[MetricResult | None]) -> ComparedMetric:
    better = goal_of(name)
    reached = [None if one is None else one.low if better == "min" else one.high for one in values]
    known = [value for value in reached if value is not None]
    top = (min(known) if better == "min" else max(known)) if better is not None and len(known) > 1 else None
    best = [at for at, value in enumerate(reached) if top is not None and value == top]
    return ComparedMetric(name=name, better=better, values=values, best=best)


def _plain_parameters(documents: Sequence[Document]) -> set[str]:
    """Return the parameters that are called by their name alone: in no job two roles give them different values."""
    several = set()
    for document in documents:
        seen: dict[str, object] = {}
        for role in document["roles"]:
            for name, value in role["parameters"].items():
                if _differ([seen.setdefault(name, value), value]):
                    several.add(name)
    return {name for document in documents for role in document["roles"] for name in role["parameters"]} - several


def _facts(document: Document, single: bool, plain: set[str]) -> Iterator[Fact]:
    for role in document["roles"]:
        for key, value in role.items():
            if key != "name":
                yield from _of_role(key, value, "" if single else role["name"], plain)
    for key, value in document.items():
        if key not in _NAMES and key != "roles":
            section = _SECTIONS.get(key, "settings")
            bare = key in ("env", "inputs") or (key == "framework" and isinstance(value, dict))
            for name, one in _flat(value):
                path = name if bare and name else f"{key}.{name}" if name else key
                yield section, path, one


def _of_role(key: str, value: Any, role: str, plain: set[str]) -> Iterator[Fact]:
    section = _OF_ROLES.get(key, "resources")
    before = f"{role}." if role else ""
    if key == "command":
        yield section, role or key, value if isinstance(value, str) else shlex.join(value)
        return
    for name, one in _flat(value):
        if key == "parameters" and name in plain:
            yield section, name, one
        elif key in ("parameters", "env", "resources"):
            yield section, before + name, one
        else:
            yield section, before + (f"{key}.{name}" if name else key), one


def _flat(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what there is in a value with its path in it, "" for the value itself; nothing of what is empty."""
    if isinstance(value, dict):
        for key, one in value.items():
            for name, leaf in _flat(one):
                yield f"{key}.{name}" if name else str(key), leaf
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value):
            key = next((str(one[by]) for by in ("name", "label") if isinstance(one, dict) and by in one), str(number))
            for name, leaf in _flat(one):
                yield f"{key}.{name}" if name else key, leaf
    elif isinstance(value, list):
        if value:
            yield "", ", ".join(map(str, value))
    elif value not in (None, ""):
        yield "", value


def _differ(values: Sequence[Any]) -> bool:
    """Return whether these are not all the same: true is not 1."""
    return any(value != values[0] or isinstance(value, bool) != isinstance(values[0], bool) for value in values)


def _shown(value: Any) -> Scalar:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
