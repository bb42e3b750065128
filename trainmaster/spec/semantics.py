"""Rules that need more than one field of a JobSpec, or a table. Pure; each returns problems and refuses nothing itself.

Invariant: these functions accept every JobSpec the models accept, so that `check` can run them on whatever parsed.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2

from trainmaster.core.errors import Problem
from trainmaster.core.framework_kinds import KINDS, RoleTypes, is_reserved
from trainmaster.messages.jobs import form, rules
from trainmaster.messages.said import Said
from trainmaster.spec.commands import command_problems, text_problems
from trainmaster.spec.inputs import inputs_problems
from trainmaster.spec.job import MAX_COMMANDS, MAX_PORTS, MAX_TASKS, MAX_VALUE, JobSpec, Resources, RoleSpec
from trainmaster.spec.outputs import outputs_problems
from trainmaster.spec.placing import FlavorsBy, placing_problems
from trainmaster.spec.problems import number_wrong, problem
from trainmaster.spec.secrets import secret_problems

MAX_EXTRAS: Final = 262144
MAX_DEPTH: Final = 32
MAX_STRINGS: Final = 131072
FREE_PORTS: Final = 1024
"""The first port where a program without rights may listen."""
_FEW: Final = 64
_SHM: Final[int] = Resources.model_fields["shm"].default
_JOB_ID: Final = re.compile(r"t[0-9a-f]{32}")


def spec_problems(spec: JobSpec, hosts: int | None = None, flavors: FlavorsBy | None = None) -> list[Problem]:
    """Return all problems of `spec` that its models cannot see. `hosts`: number of host addresses, where known."""
    found: list[Problem] = []
    found += _job_problems(spec)
    found += _framework_problems(spec)
    found += inputs_problems(spec)
    found += outputs_problems(spec)
    found += _roles_problems(spec)
    length = sum(map(_command_length, spec.roles))
    if length > MAX_COMMANDS:
        found.append(problem("roles", rules.commands_too_long(count=length, maximum=MAX_COMMANDS)))
    for index, role in enumerate(spec.roles if length <= MAX_COMMANDS else ()):
        found += _role_problems(role, f"roles.{index}")
        found += _hook_problems(role, f"roles.{index}.hooks", spec.grace)
    found += port_problems(spec, hosts)
    found += placing_problems(spec, flavors)
    if spec.metrics:
        found += _metric_problems(spec)
    if spec.progress is not None:
        found += _progress_problems(spec)
    if spec.env or any(role.env for role in spec.roles):
        found += _env_problems(spec)
    if spec.secrets:
        found += secret_problems(spec)
    if spec.extras:
        found += json_problems(spec.extras, "extras")
    return found


def _job_problems(spec: JobSpec) -> Iterator[Problem]:
    if spec.slug is not None and _JOB_ID.fullmatch(spec.slug):
        yield problem("slug", form.slug_like_id(), spec.slug)
    if spec.code is not None and (spec.code.path is None) == (spec.code.upload is None):
        yield problem("code", rules.bad_code())


def code_problem(spec: JobSpec) -> Problem | None:
    """Return the problem of a code folder that was never uploaded; None when there is nothing left to upload."""
    if spec.code is None or spec.code.path is None:
        return None
    return problem("code", rules.code_not_uploaded(spec.code.path))


def _framework_problems(spec: JobSpec) -> Iterator[Problem]:
    kind = KINDS.get(spec.framework.kind)
    if kind is None:
        yield problem("framework.kind", rules.unknown_framework(kind=spec.framework.kind, known=tuple(KINDS)))
        return
    for name, value in spec.framework.options.items():
        path, option = f"framework.{name}", kind.options.get(name)
        if option is None:
            yield problem(path, rules.unknown_option(kind=kind.kind, field=name, known=tuple(kind.options)))
        elif type(value) is not int:
            yield problem(path, form.not_integer(), value)
        elif value < option.minimum:
            yield problem(path, form.too_small(option.minimum), value)
        elif value > option.maximum:
            yield problem(path, form.too_big(option.maximum), value)
    if kind.types is not None:
        yield from _type_problems(spec, kind.kind, kind.types)


def _type_problems(spec: JobSpec, kind: str, types: RoleTypes) -> Iterator[Problem]:
    """Yield what the names of roles say that cannot be, for a framework to which they are types."""
    found = [types.of(role.name) for role in spec.roles]
    plain = [role.name for role in spec.roles if types.of(role.name) == types.plain]
    first = types.plain if types.plain in plain else next(iter(plain), "")
    free = [name for name in types.names if name not in found]
    for index, role in enumerate(spec.roles):
        if role.name not in types.names and role.name != first:
            yield problem(f"roles.{index}.name", rules.type_taken(kind, first, types.plain, free), role.name)
        if types.of(role.name) in types.single and role.replicas > 1:
            yield problem(f"roles.{index}.replicas", rules.type_single(kind, role.name), role.replicas)
    if types.finishing and not set(types.finishing) & set(found):
        others = [name for name in types.names if name not in types.finishing]
        yield problem("roles", rules.type_missing(kind, others, types.finishing))


def advice(spec: JobSpec) -> list[Problem]:
    """Return what is no mistake of a checked spec and still seldom meant."""
    types = KINDS[spec.framework.kind].types
    if types is None or types.leader is None:
        return []
    found = {types.of(role.name) for role in spec.roles}
    if types.leader in found or types.serving.isdisjoint(found):
        return []
    return [problem("roles", rules.no_leader(types.leader))]


def _roles_problems(spec: JobSpec) -> Iterator[Problem]:
    names: set[str] = set()
    main: str | None = None
    for index, role in enumerate(spec.roles):
        if role.name in names:
            yield problem(f"roles.{index}.name", form.duplicate_name(role.name))
        names.add(role.name)
        if role.main and main is not None:
            yield problem(f"roles.{index}.main", rules.several_main(main))
        elif role.main:
            main = role.name
    total = sum(role.replicas for role in spec.roles)
    if total > MAX_TASKS:
        yield problem("roles", rules.too_many_tasks(count=total, maximum=MAX_TASKS))
    ports = sum(role.replicas * sum(port.count for port in role.ports) for role in spec.roles if role.ports)
    if ports > MAX_PORTS:
        yield problem("roles", rules.too_many_ports(count=ports, maximum=MAX_PORTS))


def _command_length(role: RoleSpec) -> int:
    hooks = (role.hooks.before, role.hooks.after) if role.hooks else ()
    given = (role.command, *(hook for hook in hooks if hook is not None))
    return sum(len(one) if isinstance(one, str) else sum(map(len, one)) for one in given)


def _hook_problems(role: RoleSpec, path: str, grace_s: float) -> Iterator[Problem]:
    """Hooks follow the rules of commands (R119, R120); `after` needs time to run in."""
    if role.hooks is None:
        return
    if role.hooks.before is not None:
        yield from command_problems(role.hooks.before, f"{path}.before")
    if role.hooks.after is not None:
        yield from command_problems(role.hooks.after, f"{path}.after")
        if grace_s <= 0:
            yield problem(f"{path}.after", rules.after_without_grace())


def _role_problems(role: RoleSpec, path: str) -> Iterator[Problem]:
    yield from command_problems(role.command, f"{path}.command")
    if len(role.parameters) > 3 and sum(len(str(value)) for value in role.parameters.values()) > MAX_STRINGS:
        yield problem(f"{path}.parameters", form.too_large(MAX_STRINGS))
    for key, value in role.parameters.items():
        if isinstance(value, str):
            yield from text_problems(value, f"{path}.parameters.{key}")
            if len(value) > MAX_VALUE:
                yield problem(f"{path}.parameters.{key}", form.too_long(MAX_VALUE))
        elif (wrong := number_wrong(value)) is not None:
            yield problem(f"{path}.parameters.{key}", wrong)
    asked = role.resources
    if not role.flavors and asked.shm > max(asked.memory, _SHM):
        yield problem(f"{path}.resources.shm", rules.shm_over_memory(shm=asked.shm, memory=asked.memory), asked.shm)
    for key in ("min_succeeded", "min_failed", "min_replicas"):
        count = getattr(role, key)
        if count is not None and count > role.replicas:
            yield problem(f"{path}.{key}", rules.over_replicas(role.replicas), count)


def port_problems(spec: JobSpec, hosts: int | None = None) -> Iterator[Problem]:
    """Yield labels used twice, bad or overlapping ranges of a task, and what `hosts` addresses cannot hold (D7)."""
    wanted: list[tuple[int, int, int, str]] = []  # first, last, tasks, path
    for role_index, role in enumerate(spec.roles):
        labels: set[str] = set()
        fixed: list[tuple[int, int, str]] = []
        for index, port in enumerate(role.ports):
            path = f"roles.{role_index}.ports.{index}"
            if port.label in labels:
                yield problem(f"{path}.label", form.duplicate_name(port.label))
            labels.add(port.label)
            if port.begin_at == 0:
                continue
            first, last = port.begin_at, port.begin_at + port.count - 1
            if last > 65535:
                yield problem(f"{path}.begin_at", rules.port_range(first=first, last=last), first)
            if first < FREE_PORTS:
                yield problem(f"{path}.begin_at", rules.port_reserved(FREE_PORTS), first)
            overlapping = next((label for low, high, label in fixed if first <= high and low <= last), None)
            if overlapping is not None:
                yield problem(f"{path}.begin_at", rules.port_overlap(overlapping), first)
            fixed.append((first, last, port.label))
            wanted.append((first, last, role.replicas, f"{path}.begin_at"))
    if hosts is not None:
        for index, (first, last, _, path) in enumerate(wanted):
            count = sum(tasks for low, high, tasks, _ in wanted[: index + 1] if first <= high and low <= last)
            if count > hosts:
                yield problem(path, rules.port_fixed(count=count, port=first, hosts=hosts), first)


def _env_problems(spec: JobSpec) -> Iterator[Problem]:
    places = [("env", spec.env), *((f"roles.{index}.env", role.env) for index, role in enumerate(spec.roles))]
    for path, env in places:
        if sum(len(value) for value in env.values()) > MAX_STRINGS:
            yield problem(path, form.too_large(MAX_STRINGS))
        for name in env:
            if is_reserved(name, spec.framework.kind):
                yield problem(f"{path}.{name}", rules.reserved_env(name))


@lru_cache(maxsize=1024)
def _pattern_fault(pattern: str) -> Said | None:
    """Return what is wrong with a metric's expression; None when it is fine."""
    try:
        groups = re.compile(pattern).groupindex
        tree = re._parser.parse(pattern)  # type: ignore[attr-defined]  # typeshed leaves it out
    except (re.error, OverflowError, RecursionError) as error:
        return form.bad_regex(str(error))
    options = re2.Options()
    options.log_errors = False
    try:  # RE2 collects the metrics: no pattern makes it run for ever
        re2.compile(pattern, options)
    except re2.error as error:
        return form.bad_regex(form.re2_refuses(error.args[0].decode(errors="replace")))
    if not groups:
        return form.regex_groups()
    return form.regex_slow() if _repeats_inside(tree, False) else None


def _repeats_inside(tree: Any, repeated: bool) -> bool:
    """Tell whether an open-ended repetition lies inside another: such expressions can take exponential time."""
    for operator, argument in tree:
        open_ended = "REPEAT" in str(operator) and argument[1] > _FEW
        if repeated and open_ended:
            return True
        if any(_repeats_inside(body, repeated or open_ended) for body in _bodies(argument)):
            return True
    return False


def _bodies(argument: Any) -> Iterator[Any]:
    """Yield the expressions inside an operator's argument, however it holds them."""
    if hasattr(argument, "data"):
        yield argument
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _bodies(part)


def _metric_problems(spec: JobSpec) -> Iterator[Problem]:
    for index, metric in enumerate(spec.metrics):
        fault = _pattern_fault(metric.pattern)
        if fault is not None:
            yield problem(f"metrics.{index}.pattern", fault, metric.pattern)


def _progress_problems(spec: JobSpec) -> Iterator[Problem]:
    of = spec.progress.of if spec.progress else None
    if isinstance(of, str):
        given = next((role.parameters[of] for role in spec.roles if of in role.parameters), None)
        if not any(of in role.parameters for role in spec.roles):
            yield problem("progress.of", rules.progress_parameter(of), of)
        elif total_of(given) is None:
            yield problem("progress.of", rules.progress_number(of), of)
    elif of is not None and total_of(of) is None:
        yield problem("progress.of", form.too_small(1), of)


def total_of(value: Any) -> float | None:
    """Return `value` as a positive finite number of steps; None when it is not one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < 2**53 else None


def json_problems(value: Any, path: str) -> list[Problem]:
    """Return why `value` cannot be kept as JSON unchanged (R91): kinds JSON lacks, too deep, too large."""
    found: list[Problem] = []
    _walk(value, path, 0, found)
    if not found and len(json.dumps(value)) > MAX_EXTRAS:
        found.append(problem(path, form.too_large(MAX_EXTRAS)))
    return found


def _walk(value: Any, path: str, depth: int, found: list[Problem]) -> None:
    if len(found) >= 20:
        return
    if depth > MAX_DEPTH:
        found.append(problem(path, form.too_deep(MAX_DEPTH)))
    elif isinstance(value, str):
        found.extend(p for p in text_problems(value, path) if p.code == "not_unicode" or "\x00" in value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str) and not any(text_problems(key, path)):
                _walk(item, f"{path}.{key}", depth + 1, found)
            else:
                found.append(problem(path, form.not_json()))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _walk(item, f"{path}.{index}", depth + 1, found)
    elif isinstance(value, float):
        if not math.isfinite(value):
            found.append(problem(path, form.not_finite()))
    elif isinstance(value, int) and abs(value) >= 2**63:
        found.append(problem(path, form.too_big(2**63 - 1)))
    elif value is not None and not isinstance(value, int):
        found.append(problem(path, form.not_json()))
