"""What a list of jobs may ask for, as SQL conditions, and the statement for one page of it. Builds statements, runs
none.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, exists, literal_column, select, union_all

from trainmaster.access.visible import Visible
from trainmaster.core.states import Shown
from trainmaster.store.jobs import labels, search
from trainmaster.store.jobs.orders import ListPlace, read_mark, walks_of
from trainmaster.store.seen import seen
from trainmaster.store.tables import job, task

T = TypeVar("T")
_Keys = Select[tuple[int, Any, int]]


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


def page_keys(visible: Visible, query: JobQuery, limit: int, cursor: str | None) -> _Keys | None:
    """Return the statement for (seq, key, part) of one page of what is `visible`, in order; None when nothing can be
    left. Raises InvalidSpec for an unknown order or a foreign cursor.
    """
    falling = query.order.startswith("-")
    conditions = filters(visible, query)
    mark = None if cursor is None else read_mark(cursor, query.order)
    walks = []
    for walk in walks_of(query.order, query.states, query.now):
        behind = [] if mark is None else mark.behind(walk, falling)
        if behind is None:
            continue
        part: ColumnElement[int] = literal_column(str(walk.part)).label("part")
        found = select(job.c.seq.label("seq"), walk.key.label("key"), part)
        found = found.where(*conditions, *walk.which, *behind)
        walks.append(_sorted(found, [walk.key, job.c.seq], falling).limit(limit))
    if len(walks) <= 1:
        return walks[0] if walks else None
    merged = union_all(*(select(walk.subquery()) for walk in walks)).subquery()
    by: list[ColumnElement[Any]] = [merged.c.part, merged.c.key, merged.c.seq]
    return _sorted(select(merged.c.seq, merged.c.key, merged.c.part), by, falling).limit(limit)


def at_its_moment(query: JobQuery, cursor: str | None) -> JobQuery:
    """Return `query` as its first page was asked for, which the cursor of a later one tells. Raises InvalidSpec."""
    return query if cursor is None else replace(query, now=read_mark(cursor, query.order).now)


def filters(visible: Visible, query: JobQuery) -> list[ColumnElement[bool]]:
    """Return the conditions of `query`, but for its states, on the jobs that are `visible`."""
    found = seen(visible, job)
    found += [job.c[name] == value for name in EQUAL if (value := getattr(query, name))]
    rest, wanted = labels.parted(query.q)
    found += map(search.mentioning, search.words_of(rest))
    found += map(labels.having, (*wanted, *query.labels))
    if query.node:
        found.append(exists().where(task.c.job == job.c.seq, task.c.node == query.node))
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


def _sorted(statement: _Keys, by: list[ColumnElement[Any]], falling: bool) -> _Keys:
    return statement.order_by(*(one.desc() if falling else one for one in by))
