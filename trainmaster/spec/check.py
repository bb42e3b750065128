"""The one door for job documents: `check` returns a JobSpec or raises InvalidSpec with every problem at once.

Structure is checked by the models. Where it fails, the bad fields are put aside and the rules between fields still run
on what is left, so that one answer lists everything. Invariant: whatever is passed, nothing but InvalidSpec is raised.
"""

import copy
import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.jobs import form, rules, submitting
from trainmaster.messages.said import Said
from trainmaster.spec.bounds import oversized
from trainmaster.spec.job import PATTERN_CODES, JobSpec
from trainmaster.spec.placing import FlavorsBy
from trainmaster.spec.problems import problem
from trainmaster.spec.semantics import spec_problems

SHORTHAND: Final = (
    "replicas", "min_replicas", "command", "parameters", "hooks", "resources", "flavors", "ports", "min_succeeded",
    "min_failed",
)  # fmt: skip
"""Fields of a single role that may stand at the top when `roles` is absent."""

ERROR_CODES: Final[dict[str, str]] = {
    "missing": "required",
    "extra_forbidden": "unknown_key",
    "string_type": "not_text",
    "invalid_key": "not_text",
    "string_unicode": "not_unicode",
    "int_type": "not_integer",
    "int_from_float": "not_integer",
    "int_parsing": "not_integer",
    "int_parsing_size": "not_integer",
    "float_type": "not_number",
    "finite_number": "not_finite",
    "bool_type": "not_boolean",
    "model_type": "not_object",
    "model_attributes_type": "not_object",
    "dict_type": "not_object",
    "mapping_type": "not_object",
    "tuple_type": "not_list",
    "list_type": "not_list",
    "greater_than_equal": "too_small",
    "greater_than": "too_small",
    "less_than_equal": "too_big",
    "less_than": "too_big",
    "too_short": "empty",
    "string_too_short": "empty",
    "too_long": "too_many",
    "string_too_long": "too_long",
    "literal_error": "not_one_of",
    "string_pattern_mismatch": "bad_pattern",
}
"""Which problem each of pydantic's errors is."""

OWN_CODES: Final = frozenset({"bad_memory", "bad_duration", "not_text", "not_scalar", "not_number"})
"""Which errors of the models' own validators are problems already, by their codes; any other is of a value that JSON
lacks.
"""

_QUOTED: Final = re.compile("'([^']*)'")
"""A choice in pydantic's "'a', 'b' or 'c'"."""
_SECRET: Final = frozenset({"env", "jobEnvs"})
_MAX_PROBLEMS: Final = 200
_SUGGESTIONS: Final = 50
"""To how many of the problems the nearest known key is looked for, which costs more than all the rest."""
_MAX_FAULTS: Final = 1000
"""With more faults of structure than this the rules between fields have to wait."""

M = TypeVar("M", bound=BaseModel)


def check(document: Mapping[str, Any], *, hosts: int | None = None, flavors: FlavorsBy | None = None) -> JobSpec:
    """Return the JobSpec of a native document. `hosts`: number of host addresses, `flavors` by workspace, where known
    (D7).

    Raises InvalidSpec with all problems: dotted path, rule, remedy, code.
    """
    refuse_oversized(document)
    raw, short, found = _expand(document)
    try:
        spec = JobSpec.model_validate(raw)
    except ValidationError as error:
        errors = faults(error)
        found += structure_problems(errors, JobSpec)
        rest = salvage(raw, errors, JobSpec, _PLACEHOLDERS)
        if rest is not None:
            spoilt = {p.path for p in found}
            found += [p for p in spec_problems(rest, hosts, flavors) if not lies_in(p.path, spoilt)]
    except RecursionError:
        found.append(problem("", form.too_deep(32)))
    else:
        found += spec_problems(spec, hosts, flavors)
        if not found:
            return spec
    raise refusal(_as_written(found) if short else found)


def refuse_oversized(document: Any) -> None:
    """Raise InvalidSpec for what is no document, or too large to be judged."""
    if not isinstance(document, Mapping):
        raise refusal([problem("", form.not_object())])
    if found := oversized(document):
        raise refusal(found)


def refusal(found: list[Problem]) -> InvalidSpec:
    """Return the InvalidSpec that lists `found`, the first of them when they are many."""
    count = len(found)
    said = submitting.job_not_valid(count) if count <= _MAX_PROBLEMS else submitting.job_not_valid_more(_MAX_PROBLEMS)
    return InvalidSpec(said, problems=tuple(found[:_MAX_PROBLEMS]))


def _expand(document: Mapping[str, Any]) -> tuple[dict[str, Any], bool, list[Problem]]:
    """Translate the single-role shorthand: the fields of the one role `main` stand at the top."""
    raw = dict(document)
    used = [key for key in SHORTHAND if key in raw]
    if not used:
        return raw, False, []
    if "roles" in raw:
        for key in used:
            del raw[key]
        return raw, False, [problem(key, rules.shorthand_mixed(key)) for key in used]
    raw["roles"] = [{"name": "main", **{key: raw.pop(key) for key in used}}]
    return raw, True, []


def _as_written(found: list[Problem]) -> list[Problem]:
    """Return problems of the shorthand's role with the paths the user wrote."""
    return [
        Problem(p.path.removeprefix("roles.0."), p.rule, p.remedy, p.code, p.value, p.args)
        if p.path.startswith("roles.0.")
        else p
        for p in found
    ]


def lies_in(path: str, spoilt: set[str]) -> bool:
    """Tell whether `path` is, or lies in, one that was put aside: its problem would speak of a stand-in. O(length)."""
    while path and path not in spoilt:
        path = path.rpartition(".")[0]
    return path in spoilt


# ------------------------------------------------------------------------------------------- from pydantic to problems


def faults(error: ValidationError) -> list[ErrorDetails]:
    """Return pydantic's errors, less "the list is empty" where all its items are wrong, each with its own error."""
    return [item for item in error.errors(include_url=False) if item["type"] != "too_short" or not item["input"]]


def structure_problems(errors: list[ErrorDetails], model: type[BaseModel]) -> list[Problem]:
    """Return the models' errors as problems in our words: one more than are listed, where there are more."""
    found: list[Problem] = []
    seen: set[tuple[str, str]] = set()
    for error in errors:
        if len(found) > _MAX_PROBLEMS:
            break
        item = _structure_problem(error, model, len(found) < _SUGGESTIONS)
        if (item.path, item.code) not in seen:
            seen.add((item.path, item.code))
            found.append(item)
    return found


def _structure_problem(error: ErrorDetails, model: type[BaseModel], suggest: bool) -> Problem:
    loc = tuple(part for part in error["loc"] if part != "[key]")
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    path = ".".join(str(part) for part in loc)
    last = str(loc[-1]) if loc else ""
    value = None if any(part in _SECRET for part in loc) else given
    code = ERROR_CODES.get(kind, kind)
    if code == "unknown_key":
        return _unknown(path, last, loc, model) if suggest else problem(path, form.unknown_key(last))
    if given is None and kind != "missing":
        return problem(path, form.null_not_allowed())
    if code in ("not_integer", "not_number") and isinstance(given, str) and _numeric(given):
        return problem(path, form.number_as_text(given), given)
    if code == "bad_pattern":
        pattern = context.get("pattern", "")
        return problem(path, Said(PATTERN_CODES.get(pattern, code), {"pattern": pattern}), value)
    if kind not in ERROR_CODES and kind not in OWN_CODES:
        code = "not_json"
    return problem(path, Said(code, {"field": last, **_arguments(context)}), value)


def _arguments(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of the bounds and choices in pydantic's context."""
    low = next((context[key] for key in ("ge", "gt", "min_length") if key in context), None)
    high = next((context[key] for key in ("le", "lt", "max_length") if key in context), None)
    allowed = tuple(_QUOTED.findall(context["expected"])) if "expected" in context else None
    given = {"minimum": low, "maximum": high, "allowed": allowed, "detail": context.get("detail")}
    return {key: value for key, value in given.items() if value is not None}


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unknown(path: str, key: str, loc: tuple[Any, ...], model: type[BaseModel]) -> Problem:
    known = _fields_at(loc[:-1], model)
    near = difflib.get_close_matches(key[:100], known, 1, 0.7)
    folded = {name.replace("_", "").lower(): name for name in known}
    same = folded.get(key.replace("_", "").replace("-", "").lower())
    best = same or (near[0] if near else None)
    return problem(path, form.unknown_key_near(field=key, near=best)) if best else problem(path, form.unknown_key(key))


def _fields_at(loc: tuple[Any, ...], model: type[BaseModel]) -> list[str]:
    """Return the field names of the model that lies at `loc` inside `model`."""
    here: type[BaseModel] = model
    for part in loc:
        if isinstance(part, int):
            continue
        field = here.model_fields.get(part) or next((f for f in here.model_fields.values() if f.alias == part), None)
        inner = next(iter(_models_in(field.annotation if field else None)), None)
        if inner is None:
            return []
        here = inner
    names = [field.alias or name for name, field in here.model_fields.items()]
    return names + (list(SHORTHAND) if here is JobSpec else [])


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


# --------------------------------------------------------------------------------------------------- what still parses

_PLACEHOLDERS: Final[dict[str, Any]] = {
    "name": "stand-in",
    "command": "true",
    "kind": "single",
    "path": "/stand-in",
    "dataset": "stand-in",
    "s3": "stand-in",
    "label": "stand-in",
    "upload": "sha256:" + "0" * 64,
    "pattern": "(?P<x>x)",
    "roles": [{"name": "stand-in", "command": "true"}],
}
"""Stand-ins for required fields that are missing or wrong; problems at their paths are dropped."""


def salvage(raw: dict[str, Any], errors: list[ErrorDetails], model: type[M], stand_ins: dict[str, Any]) -> M | None:
    """Return the model of `raw` with the erroneous fields put aside, or None when too little is left."""
    if len(errors) > _MAX_FAULTS:
        return None
    try:
        rest = copy.deepcopy(raw)
    except Exception:  # not copyable, so not JSON: `faults` has reported it
        return None
    for _ in range(4):
        for error in errors:
            _put_aside(rest, [part for part in error["loc"] if part != "[key]"], stand_ins)
        try:
            return model.model_validate(rest)
        except ValidationError as error:
            errors = faults(error)
    return None


def _put_aside(raw: dict[str, Any], loc: list[Any], stand_ins: dict[str, Any]) -> None:
    """Remove or replace what lies at `loc`; when that is an item of a list, the field that holds the list."""
    holder: Any = raw
    trail: list[tuple[Any, Any]] = []
    for part in loc:
        trail.append((holder, part))
        try:
            holder = holder[part]
        except (KeyError, IndexError, TypeError):
            break
    while trail:
        holder, part = trail.pop()
        if isinstance(holder, dict):
            stand_in = stand_ins.get(str(part))
            if stand_in is None:
                holder.pop(part, None)
            else:
                holder[part] = copy.deepcopy(stand_in)
            return
