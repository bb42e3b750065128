"""A sweep as a document says it: `sweep:` beside a job, and the parameters of every entry that follow from it. Pure.

Entries are numbered from 1. A random draw is a function of (seed, entry, parameter), so an entry is the same whenever
it is asked for, whatever the others are, and the stored document alone says what was drawn.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from trainmaster.spec.inputs import REFERENCE
from trainmaster.spec.job import ROLE_NAME, Code, Command, Model, ParameterName, ParameterValue

MOST_ENTRIES: Final = 10_000
KINDS: Final = ("grid", "random", "list")
_OF_ENTRY: Final = frozenset({"parameters", "algorithm", "command", "code"})
_DIGITS: Final = 6
"""Significant digits of a number that is drawn."""


Values = Annotated[tuple[ParameterValue, ...], Field(min_length=1, max_length=MOST_ENTRIES, strict=False)]


def is_entry(row: Any) -> bool:
    """Return whether a row of `list` is a whole entry, and not only its parameters."""
    return isinstance(row, Mapping) and bool(row) and _OF_ENTRY.issuperset(row)


def _row(value: Any) -> Any:
    if isinstance(value, Mapping) and not is_entry(value):
        return {"parameters": dict(value)}
    return value


def _draw(value: Any) -> Any:
    return {"values": value} if isinstance(value, list | tuple) else value


def _code(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class Draw(Model):
    """What one value is drawn from: `values`, also written as the list alone; or numbers from `min` to `max`, both
    possible. `log`: as many of each magnitude; `int`: whole ones.
    """

    values: Values | None = None
    min: float | None = Field(default=None, ge=-1e300, le=1e300)
    max: float | None = Field(default=None, ge=-1e300, le=1e300)
    log: bool = False
    int: bool = False


class SweepRow(Model):
    """An entry of a list: its parameters, and what else it has of its own. Written as its parameters alone, too. One
    with an `algorithm` runs that: the document's own code and command are not for it.
    """

    parameters: dict[ParameterName, ParameterValue] = Field(default_factory=dict, max_length=256)
    algorithm: Annotated[str, Field(pattern=REFERENCE)] | None = None
    command: Command | None = None
    code: Annotated[Code | None, BeforeValidator(_code)] = None


class StopEarly(Model):
    """By which rule entries are stopped that do badly. Steps are those of the metric.

    `halving`: at `after`, then at `factor` times as many steps and so on, only the best of every `factor` entries go
    on. `median`: at `after` and then every `every` steps, who at best did worse than the median of the others' means
    is stopped. Nobody is judged at a step that fewer than `least` have reached.
    """

    rule: Literal["median", "halving"]
    after: float = Field(gt=0, le=1e12)
    factor: int | None = Field(default=None, ge=2, le=10)
    every: float | None = Field(default=None, gt=0, le=1e12)
    least: int = Field(default=3, ge=2, le=MOST_ENTRIES)


class SweepSpec(Model):
    """What follows `sweep:`. `role`: whose parameters are set; null: the main or only one."""

    grid: dict[ParameterName, Values] | None = Field(default=None, min_length=1, max_length=256)
    random: dict[ParameterName, Annotated[Draw, BeforeValidator(_draw)]] | None = Field(
        default=None, min_length=1, max_length=256
    )
    rows: Annotated[
        tuple[Annotated[SweepRow, BeforeValidator(_row)], ...] | None,
        Field(alias="list", min_length=1, max_length=MOST_ENTRIES, strict=False),
    ] = None
    count: int | None = Field(default=None, ge=1, le=MOST_ENTRIES)
    seed: int | None = Field(default=None, ge=0, lt=2**53)
    role: str | None = Field(default=None, pattern=ROLE_NAME)
    metric: str | None = Field(default=None, pattern=r"^[^\x00-\x1f\x7f]+$", max_length=200)
    goal: Literal["min", "max"] | None = None
    most_at_once: int | None = Field(default=None, ge=1, le=MOST_ENTRIES)
    stop_early: StopEarly | None = None

    @property
    def kinds(self) -> list[str]:
        """Which of KINDS it has."""
        given = (self.grid, self.random, self.rows)
        return [kind for kind, what in zip(KINDS, given, strict=True) if what is not None]


@dataclass(frozen=True, slots=True)
class SweepEntry:
    """What one entry has of its own. `index` from 1."""

    index: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    command: str | tuple[str, ...] | None = None
    code: Mapping[str, Any] | None = None
    algorithm: str | None = None

    @property
    def own(self) -> list[str]:
        """What it has of its own beside parameters."""
        found = {"algorithm": self.algorithm, "command": self.command, "code": self.code}
        return [name for name, value in found.items() if value is not None]


def how_many(sweep: SweepSpec) -> int:
    """Return the number of entries; O(parameters)."""
    if sweep.grid is not None:
        return math.prod(len(values) for values in sweep.grid.values())
    return sweep.count or 0 if sweep.random is not None else len(sweep.rows or ())


def entries_of(sweep: SweepSpec, most: int = MOST_ENTRIES) -> list[SweepEntry]:
    """Return the entries, the first `most` of them. Of a grid the last parameter changes fastest. O(entries)."""
    return list(islice(_entries(sweep), most))


def _entries(sweep: SweepSpec) -> Iterator[SweepEntry]:
    if sweep.grid is not None:
        names = list(sweep.grid)
        for index, values in enumerate(product(*sweep.grid.values()), 1):
            yield SweepEntry(index, dict(zip(names, values, strict=True)))
    elif sweep.random is not None:
        for index in range(1, (sweep.count or 0) + 1):
            drawn = {name: drawn_of(what, sweep.seed or 0, index, name) for name, what in sweep.random.items()}
            yield SweepEntry(index, drawn)
    else:
        for index, row in enumerate(sweep.rows or (), 1):
            code = row.code.model_dump(exclude_none=True) if row.code is not None else None
            yield SweepEntry(index, row.parameters, row.command, code, row.algorithm)


def drawn_of(what: Draw, seed: int, index: int, name: str) -> Any:
    """Return the value of one parameter of one entry. `what` has values, or a range that is none of `range_problem`."""
    digest = hashlib.sha256(f"{seed}/{index}/{name}".encode()).digest()
    chance = (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # 0 <= chance < 1
    if what.values is not None:
        return what.values[int(chance * len(what.values))]
    low, high = what.min or 0.0, what.max or 0.0
    if what.int:
        first, last = round(low), round(high)
        whole = math.floor(_between(first, last + 1, chance, what.log))
        return min(max(whole, first), last)
    return min(max(float(f"{_between(low, high, chance, what.log):.{_DIGITS}g}"), low), high)


def _between(low: float, high: float, chance: float, log: bool) -> float:
    if log:
        return math.exp(math.log(low) + chance * (math.log(high) - math.log(low)))
    return low * (1 - chance) + high * chance


def with_entry(document: Mapping[str, Any], at: int | None, entry: SweepEntry, name: str) -> dict[str, Any]:
    """Return the job document of one entry: `document`, which has no `sweep`, with what the entry has of its own in the
    role at `at` (None: the fields of the only role stand at the top). Shares with `document` whatever is the same.
    """
    found = {**document, "name": name}
    if entry.algorithm is not None:
        found["algorithm"] = entry.algorithm
        found.pop("code", None)
    if entry.code is not None:
        found["code"] = dict(entry.code)
    if at is None:
        return _with_own(found, entry)
    roles = [*document["roles"]]
    roles[at] = _with_own(roles[at], entry)
    return found | {"roles": roles}


def _with_own(role: Mapping[str, Any], entry: SweepEntry) -> dict[str, Any]:
    known, found = role.get("parameters"), dict(role)
    if entry.parameters or known is not None:
        found["parameters"] = {**(known if isinstance(known, Mapping) else {}), **entry.parameters}
    if entry.command is not None:
        found["command"] = list(entry.command) if isinstance(entry.command, tuple) else entry.command
    elif entry.algorithm is not None:
        found.pop("command", None)
    return found
