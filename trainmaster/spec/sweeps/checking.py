"""The one door for `sweep:`: `read_sweep` takes a job document with one apart, with every problem of it at once. Pure.

What is wrong with the job itself is said by `check`, of the document of an entry.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import form, sweeps
from trainmaster.spec.check import faults, structure_problems
from trainmaster.spec.document import Document
from trainmaster.spec.problems import number_wrong, problem
from trainmaster.spec.sweeps.sweep import KINDS, MOST_ENTRIES, Draw, StopEarly, SweepSpec, how_many, is_entry

LONGEST_NAME: Final = 30
"""Characters of the name of a job (R21), the numbers of entries among them."""


@dataclass(frozen=True, slots=True)
class SweepDocument:
    """A job document `base` without `sweep:`, and what that said. `at`: the role whose parameters are set, None: its
    fields stand at the top.
    """

    base: Document
    sweep: SweepSpec
    at: int | None


def read_sweep(document: Mapping[str, Any]) -> tuple[SweepDocument | None, list[Problem]]:
    """Return what `document` says, None where that cannot be read; and everything that is wrong with its `sweep`."""
    base = {key: value for key, value in document.items() if key != "sweep"}
    given = document.get("sweep")
    if given is None:
        return None, [problem("sweep", sweeps.no_sweep())]
    if not isinstance(given, Mapping):
        return None, [problem("sweep", form.not_object())]
    try:
        sweep = SweepSpec.model_validate(dict(given))
    except ValidationError as error:
        return None, [_as_written(one, given) for one in structure_problems(faults(error), SweepSpec)]
    at, found = _place(base, sweep.role)
    found += sweep_problems(sweep)
    found += [_as_written(one, given) for one in _number_problems(sweep)]
    found += _name_problems(base, sweep)
    return SweepDocument(base, sweep, at), found


def _as_written(found: Problem, given: Mapping[str, Any]) -> Problem:
    """Return a problem of the models at the place where it was written: rows and draws have short forms."""
    parts = found.path.split(".")
    what = given.get(parts[0])
    if len(parts) > 2 and parts[2] == "parameters" and isinstance(what, list | tuple):
        at = int(parts[1]) if parts[1].isdigit() else len(what)
        if at < len(what) and not is_entry(what[at]):
            del parts[2]
    elif len(parts) > 2 and parts[2] == "values" and isinstance(what, Mapping) and isinstance(what.get(parts[1]), list):
        del parts[2]
    return Problem(".".join(["sweep", *parts]), found.rule, found.remedy, found.code, found.value, found.args)


def _place(base: Mapping[str, Any], wanted: str | None) -> tuple[int | None, list[Problem]]:
    """Return where the role stands whose parameters are set."""
    roles = base.get("roles")
    if not isinstance(roles, list | tuple) or not all(isinstance(role, Mapping) for role in roles) or not roles:
        if wanted in (None, "main") or roles is not None:
            return None, []
        return None, [problem("sweep.role", sweeps.no_such_role_of_sweep(str(wanted), ["main"]), wanted)]
    names = [str(role.get("name")) for role in roles]
    if wanted is None:
        return next((at for at, role in enumerate(roles) if role.get("main") is True), 0), []
    if wanted in names:
        return names.index(wanted), []
    return 0, [problem("sweep.role", sweeps.no_such_role_of_sweep(wanted, names), wanted)]


def sweep_problems(sweep: SweepSpec) -> list[Problem]:
    """Return what its models cannot see."""
    kinds = sweep.kinds
    if len(kinds) != 1:
        return [problem("sweep", sweeps.one_kind_of_sweep(KINDS, kinds))]
    found: list[Problem] = []
    if sweep.random is not None:
        if sweep.count is None:
            found.append(problem("sweep.count", sweeps.count_missing()))
        for name, draw in sweep.random.items():
            found += _draw_problems(draw, f"sweep.random.{name}")
    else:
        for field in ("count", "seed"):
            if getattr(sweep, field) is not None:
                found.append(problem(f"sweep.{field}", sweeps.only_for_random(field)))
        if (count := how_many(sweep)) > MOST_ENTRIES:
            found.append(problem(f"sweep.{kinds[0]}", sweeps.too_many_entries(count, MOST_ENTRIES)))
    if sweep.stop_early is not None:
        found += _early_problems(sweep.stop_early)
        if sweep.metric is None:
            found.append(problem("sweep.metric", sweeps.early_without_metric()))
    return found


def _number_problems(sweep: SweepSpec) -> Iterator[Problem]:
    """Yield each value that no parameter can have, at its place in the models. O(values)."""
    lists = {f"grid.{name}": values for name, values in (sweep.grid or {}).items()}
    lists |= {f"random.{name}.values": draw.values or () for name, draw in (sweep.random or {}).items()}
    for path, values in lists.items():
        for at, value in enumerate(values):
            if (wrong := number_wrong(value)) is not None:
                yield problem(f"{path}.{at}", wrong)
    for at, row in enumerate(sweep.rows or ()):
        for name, value in row.parameters.items():
            if (wrong := number_wrong(value)) is not None:
                yield problem(f"list.{at}.parameters.{name}", wrong)


def _draw_problems(draw: Draw, path: str) -> Iterator[Problem]:
    if draw.values is not None:
        if draw.min is not None or draw.max is not None:
            yield problem(path, sweeps.one_kind_of_sweep(["values", "min, max"], ["values", "min, max"]))
        return
    if draw.min is None or draw.max is None:
        missing = [end for end in ("min", "max") if getattr(draw, end) is None]
        yield from (problem(f"{path}.{end}", form.required(end)) for end in missing)
        return
    if draw.min >= draw.max:
        yield problem(path, sweeps.range_empty())
    if draw.log and draw.min <= 0:
        yield problem(f"{path}.min", sweeps.range_not_logarithmic(), draw.min)
    if draw.int and not (draw.min.is_integer() and draw.max.is_integer() and abs(draw.min) + abs(draw.max) < 2**53):
        yield problem(path, sweeps.range_not_whole())


def _early_problems(early: StopEarly) -> Iterator[Problem]:
    other = {"halving": "every", "median": "factor"}[early.rule]
    if getattr(early, other) is not None:
        yield problem(f"sweep.stop_early.{other}", sweeps.not_of_this_rule(early.rule, other))


def _name_problems(base: Mapping[str, Any], sweep: SweepSpec) -> Iterator[Problem]:
    name, count = base.get("name"), min(how_many(sweep), MOST_ENTRIES)
    if isinstance(name, str) and len(name) <= LONGEST_NAME < len(name) + 1 + len(str(count)):
        most = LONGEST_NAME - 1 - len(str(count))
        yield problem("name", sweeps.entry_names_too_long(f"{name}-{count}", most), name)
    if base.get("slug") is not None:
        yield problem("slug", sweeps.slug_of_a_sweep())
