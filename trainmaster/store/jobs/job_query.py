"""What a list of jobs may ask for, as SQL conditions. Builds conditions, runs none."""

from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import ColumnElement, exists, false

from trainmaster.access.visible import Visible
from trainmaster.core.states import Shown
from trainmaster.store.finding import named
from trainmaster.store.jobs import labels, search
from trainmaster.store.jobs.orders import ListPlace, read_mark
from trainmaster.store.seen import by_row, seen
from trainmaster.store.tables import favorite, job, task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Filters (empty: no filter) and order. Each word of `q` is looked for in all that people wrote of a job (`search`)
    but for what it says of labels (`label:key=value`, `label:key`); `labels` says the same.

    `since` <= submitted_at < `until`.
    """

    states: tuple[Shown, ...] = ()
    q: str = ""
    owner: str = ""
    workspace: str = ""
    framework: str = ""
    pool: str = ""
    node: str = ""
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    favorite_of: str = ""  # whose favorites
    sweep: str = ""  # the id of one, whose entries
    algorithm: str = ""  # its name, or NAME@VERSION
    flavor: str = ""
    output: str = ""  # a place of object storage or a folder above it, or the model that the outputs become
    favorite_algorithms_of: str = ""  # whose favorite algorithms; jobs of one of them
    algorithms: tuple[str, ...] | None = None  # the names of these, once they are known
    since: float | None = None
    until: float | None = None
    order: str = "-submitted_at"  # one of ORDERS, with "-" in front for descending
    now: float = 0.0  # until when the run time of a job that runs is counted; a cursor keeps that of its first page


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page and the cursor of the next, None at the end."""

    items: list[T]
    next_cursor: str | None


EQUAL: Final = ("owner", "workspace", "framework", "pool")
"""Filters that name the value of a column."""
NAMED: Final = (named.ALGORITHM, named.FLAVOR, named.OUTPUT)
"""Filters that name what a job's document names."""


def at_its_moment(query: JobQuery, cursor: str | None) -> JobQuery:
    """Return `query` as its first page was asked for, which the cursor of a later one tells. Raises InvalidSpec."""
    return query if cursor is None else replace(query, now=read_mark(cursor, query.order).now)


def filters(visible: Visible, query: JobQuery) -> list[ColumnElement[bool]]:
    """Return the conditions of `query`, but for its states, on the jobs that are `visible`."""
    return [*seen(visible, job), *asked(query)]


def asked(query: JobQuery, walked: bool = False) -> list[ColumnElement[bool]]:
    """Return the conditions of `query`, but for its states, whoever asks. `walked`: see `seen`."""
    equal = [(job.c[name], value) for name in EQUAL if (value := getattr(query, name))]
    found = [(by_row(column) if walked else column) == value for column, value in equal]
    rest, wanted = labels.parted(query.q)
    found += map(search.mentioning, search.words_of(rest))
    found += map(labels.having, (*wanted, *query.labels))
    found += map(labels.tagged, query.tags)
    if query.sweep:
        found.append((by_row(job.c.sweep) if walked else job.c.sweep) == query.sweep)
    if query.favorite_of:
        found.append(exists().where(favorite.c.user == query.favorite_of, favorite.c.job == job.c.seq).correlate(job))
    found += [named.having(kind, value) for kind in NAMED if (value := getattr(query, kind))]
    if query.favorite_algorithms_of:
        found.append(false() if query.algorithms == () else named.of_favorites(query.favorite_algorithms_of))
    if query.node:
        found.append(exists().where(task.c.job == job.c.seq, task.c.node == query.node).correlate(job))
    if query.since is not None:
        found.append(job.c.submitted_at >= query.since)
    if query.until is not None:
        found.append(job.c.submitted_at < query.until)
    return found


def in_states(query: JobQuery) -> list[ColumnElement[bool]]:
    """Return the condition of the states of `query`."""
    return [job.c.shown.in_([shown.value for shown in query.states])] if query.states else []


def write_cursor(query: JobQuery, last: Any) -> str:
    """Return the cursor behind `last`, a row of `page_keys`."""
    return ListPlace(last.part, last.key, last.seq, query.now).written(query.order)
