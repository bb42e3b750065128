"""What a list of jobs may ask for, its order and its cursors, as SQL conditions. Builds statements, runs none.

Invariant: every order ends in the job's number, so pages neither repeat nor skip a job, whatever is submitted in
between; and the page is found by walking one index from the cursor on.
"""

import base64
import binascii
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Select, TextClause, and_, exists, func, literal, or_, select, text, union_all

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import jobs as said
from trainmaster.store.jobs import labels
from trainmaster.store.seen import seen
from trainmaster.store.tables import LIVE, job, task

T = TypeVar("T")
_Keys = Select[tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Filters (empty: no filter) and order. `q` is looked for in name, id, slug, description and labels, but for what
    it says of labels (`label:key=value`, `label:key`); `since` <= submitted_at < `until`.
    """

    states: tuple[Shown, ...] = ()
    q: str = ""
    owner: str = ""
    workspace: str = ""
    framework: str = ""
    pool: str = ""
    node: str = ""
    since: float | None = None
    until: float | None = None
    order: str = "-submitted_at"  # a key of ORDERS or RUN_TIME, with "-" in front for descending
    now: float = 0.0  # until when the run time of a job that runs is counted; a cursor keeps that of its first page


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page and the cursor of the next, None at the end."""

    items: list[T]
    next_cursor: str | None


ORDERS: Final[dict[str, ColumnElement[Any]]] = {
    "submitted_at": job.c.submitted_at,
    "started_at": func.coalesce(job.c.started_at, text("0.0")),
    "ended_at": func.coalesce(job.c.ended_at, text("0.0")),
    "name": job.c.name,
    "priority": job.c.priority,
}
"""What a list can be ordered by; each has an index. A job that has not started (ended) sorts as the earliest."""

RUN_TIME: Final = "run_s"
"""The order by run time: of jobs that ended (an index), that run (few), and that never started (0)."""

_Source = tuple[ColumnElement[Any], tuple[ColumnElement[bool] | TextClause, ...]]
"""A part of all jobs, and what it is ordered by."""


def page_keys(visible: Visible, query: JobQuery, limit: int, cursor: str | None) -> _Keys:
    """Return the statement for (seq, key) of one page of what is `visible`, in order. Raises InvalidSpec for an unknown
    order or a foreign cursor.
    """
    sources, falling = _order(query)
    conditions = filters(visible, query)
    mark = None if cursor is None else _read_cursor(cursor, query.order)[:2]
    # One walk per state, then merged: a single walk over "one of these states" would have to sort all of them.
    states: list[tuple[ColumnElement[bool], ...]] = [(job.c.shown == shown.value,) for shown in query.states] or [()]
    walks = []
    for key, part in sources:
        behind = () if mark is None else (_behind(key, falling, mark),)
        for state in states:
            found = select(job.c.seq.label("seq"), key.label("key")).where(*conditions, *part, *behind, *state)
            walks.append(_sorted(found, key, job.c.seq, falling).limit(limit))
    if len(walks) == 1:
        return walks[0]
    merged = union_all(*(select(walk.subquery()) for walk in walks)).subquery()
    return _sorted(select(merged.c.seq, merged.c.key), merged.c.key, merged.c.seq, falling).limit(limit)


def at_its_moment(query: JobQuery, cursor: str | None) -> JobQuery:
    """Return `query` as its first page was asked for, which the cursor of a later one tells. Raises InvalidSpec."""
    return query if cursor is None else replace(query, now=_read_cursor(cursor, query.order)[2])


def filters(visible: Visible, query: JobQuery) -> list[ColumnElement[bool]]:
    """Return the conditions of `query`, but for its states, on the jobs that are `visible`."""
    found = seen(visible, job)
    found += [
        job.c[name] == value for name in ("owner", "workspace", "framework", "pool") if (value := getattr(query, name))
    ]
    words, wanted = labels.parted(query.q)
    if words:
        columns = (job.c.name, job.c.id, job.c.slug, job.c.description)
        found.append(or_(*(column.icontains(words, autoescape=True) for column in columns), labels.mentioning(words)))
    found += map(labels.having, wanted)
    if query.node:
        found.append(exists().where(task.c.job == job.c.seq, task.c.node == query.node))
    if query.since is not None:
        found.append(job.c.submitted_at >= query.since)
    if query.until is not None:
        found.append(job.c.submitted_at < query.until)
    return found


def write_cursor(query: JobQuery, key: Any, seq: int) -> str:
    """Return the opaque text that stands behind the job with this key and number in the order of `query`."""
    return base64.urlsafe_b64encode(msgspec.json.encode([query.order, key, seq, query.now])).decode().rstrip("=")


def _order(query: JobQuery) -> tuple[tuple[_Source, ...], bool]:
    order = query.order
    name = order.removeprefix("-")
    if name == RUN_TIME:
        began, over = job.c.started_at.is_not(None), job.c.ended_at.is_not(None)
        ran, runs = job.c.ended_at - job.c.started_at, literal(query.now) - job.c.started_at
        never = (func.coalesce(job.c.started_at, text("0.0")) == text("0.0"),)
        return ((ran, (began, over)), (runs, (LIVE, began)), (literal(0.0), never)), order.startswith("-")
    if name not in ORDERS:
        problem = problem_of("order", said.not_an_order((*ORDERS, RUN_TIME)), order)
        raise InvalidSpec(said.no_such_order(repr(order)), problems=(problem,))
    return ((ORDERS[name], ()),), order.startswith("-")


def _read_cursor(cursor: str, order: str) -> tuple[Any, int, float]:
    try:
        written, key, seq, now = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if (
            written == order
            and isinstance(seq, int)
            and isinstance(key, str if order.lstrip("-") == "name" else int | float)
            and isinstance(now, int | float)
        ):
            return key, seq, float(now)
    except (ValueError, TypeError, binascii.Error, msgspec.MsgspecError):
        pass
    raise InvalidSpec(said.cursor_of_another_list(), problems=(problem_of("cursor", said.not_a_cursor_here()),))


def _behind(key: ColumnElement[Any], falling: bool, mark: tuple[Any, int]) -> ColumnElement[bool]:
    value, seq = mark
    if falling:
        return and_(key <= value, or_(key < value, job.c.seq < seq))
    return and_(key >= value, or_(key > value, job.c.seq > seq))


def _sorted(statement: _Keys, key: ColumnElement[Any], seq: ColumnElement[int], falling: bool) -> _Keys:
    return statement.order_by(key.desc(), seq.desc()) if falling else statement.order_by(key, seq)
