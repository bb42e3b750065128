"""The one door for algorithm documents: `read_algorithm` returns an AlgorithmSpec or raises InvalidSpec with every
problem at once. Pure.

What it has in common with a job - code, command, framework, image - is judged as a job's is, by `spec.check`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.framework_kinds import is_reserved
from trainmaster.messages.assets import algorithms as said
from trainmaster.messages.jobs import form, rules
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec, Hyperparameter
from trainmaster.spec.algorithms.origins import origin_problems
from trainmaster.spec.algorithms.values import value_problem
from trainmaster.spec.check import check, faults, lies_in, refuse_oversized, salvage, structure_problems
from trainmaster.spec.document import Document
from trainmaster.spec.job import ENV_NAME
from trainmaster.spec.problems import problem

_ENV_NAME: Final = re.compile(ENV_NAME)
_AS_A_JOB: Final = ("code", "command", "framework", "image")
_MOST: Final = 200
_STAND_INS: Final[dict[str, Any]] = {
    "name": "stand-in",
    "type": "str",
    "command": "true",
    "kind": "single",
    "upload": "sha256:" + "0" * 64,
    "git": "https://example.org/stand-in",
    "commit": "0" * 40,
}
"""Stand-ins for required fields that are missing or wrong; problems at their paths are dropped."""


def read_algorithm(document: Mapping[str, Any]) -> AlgorithmSpec:
    """Return the algorithm that `document` says. Raises InvalidSpec with all problems."""
    refuse_oversized(document)
    found: list[Problem] = []
    raw = dict(document)
    try:
        algorithm = AlgorithmSpec.model_validate(raw)
    except ValidationError as error:
        errors = faults(error)
        found += structure_problems(errors, AlgorithmSpec)
        rest = salvage(raw, errors, AlgorithmSpec, _STAND_INS)
        if rest is not None:
            spoilt = {one.path.removesuffix(".type") for one in found}  # by its type a parameter is judged
            found += [one for one in algorithm_problems(rest) if not lies_in(one.path, spoilt)]
    except RecursionError:
        found.append(problem("", form.too_deep(32)))
    else:
        found += algorithm_problems(algorithm)
        if not found:
            return algorithm
    raise InvalidSpec(said.algorithm_not_valid(len(found)), problems=tuple(found[:_MOST]))


def written(algorithm: AlgorithmSpec) -> Document:
    """Return the effective document: every default filled in."""
    document: Document = algorithm.model_dump(mode="json")
    return document


def algorithm_problems(algorithm: AlgorithmSpec) -> list[Problem]:
    """Return what its models cannot see."""
    found = [*_as_a_job(algorithm), *_origin_problems(algorithm)]
    names: set[str] = set()
    for at, one in enumerate(algorithm.parameters):
        found += _name_problems(one.name, f"parameters.{at}.name", names)
        found += _parameter_problems(one, f"parameters.{at}")
    for field, channels in (("inputs", algorithm.inputs), ("outputs", algorithm.outputs)):
        for at, channel in enumerate(channels):
            found += _name_problems(channel.name, f"{field}.{at}.name", names)
            if channel.given == "variable" and not _ENV_NAME.fullmatch(channel.name):
                found.append(problem(f"{field}.{at}.name", form.bad_env_name(), channel.name))
            elif channel.given == "variable" and is_reserved(channel.name, algorithm.framework.kind):
                found.append(problem(f"{field}.{at}.name", rules.reserved_env(channel.name), channel.name))
    return found


def _as_a_job(algorithm: AlgorithmSpec) -> list[Problem]:
    document = algorithm.model_dump(mode="json", include={*_AS_A_JOB})
    try:
        check({"name": "stand-in", **document})
    except InvalidSpec as error:
        return [one for one in error.problems if one.path.split(".")[0] in _AS_A_JOB]
    return []


def _origin_problems(algorithm: AlgorithmSpec) -> Iterator[Problem]:
    if algorithm.origin is None:
        return
    if algorithm.code is None:
        yield problem("origin", said.origin_without_code())
    for one in origin_problems(algorithm.origin):
        yield replace(one, path=f"origin.{one.path}")


def _name_problems(name: str, path: str, names: set[str]) -> Iterator[Problem]:
    if name in names:
        yield problem(path, form.duplicate_name(name), name)
    names.add(name)


def _parameter_problems(what: Hyperparameter, path: str) -> Iterator[Problem]:
    number = what.type in ("int", "float")
    for end in ("min", "max"):
        bound = getattr(what, end)
        if bound is not None and not number:
            yield problem(f"{path}.{end}", said.range_of_no_number(what.type), bound)
        elif what.type == "int" and bound is not None and not float(bound).is_integer():
            yield problem(f"{path}.{end}", form.not_integer(), bound)
    if number and what.min is not None and what.max is not None and what.min > what.max:
        yield problem(f"{path}.max", form.too_small(what.min), what.max)
    free = what.model_copy(update={"choices": ()})
    for at, one in enumerate(what.choices):
        wrong = problem("", form.null_not_allowed()) if one is None else value_problem(free, one, "")
        if wrong is not None:
            yield Problem(f"{path}.choices.{at}", wrong.rule, wrong.remedy, wrong.code, wrong.value, wrong.args)
    if what.default is not None:
        wrong = value_problem(what, what.default, f"{path}.default")
        if wrong is not None:
            yield wrong
    elif not what.editable:
        yield problem(f"{path}.default", said.fixed_without_value())
