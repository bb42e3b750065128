"""In which orders a list of jobs can be walked, and where in one a page ends. Builds conditions, runs none.

Invariant: every order ends in the job's number, so pages neither repeat nor skip a job, whatever is submitted in
between; and the page is found by walking one index from the cursor on.
"""

import base64
import binascii
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Double, TextClause, bindparam, func, literal, or_, select, text

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import jobs as said
from trainmaster.store.seen import by_row
from trainmaster.store.tables import ENDED_AT, LIVE, job, job_metric

_COLUMNS: Final[dict[str, ColumnElement[Any]]] = {
    "submitted_at": job.c.submitted_at,
    "started_at": func.coalesce(job.c.started_at, text("0.0")),
    "ended_at": ENDED_AT,
    "name": job.c.name,
    "owner": func.coalesce(job.c.owner, text("''")),
    "workspace": func.coalesce(job.c.workspace, text("''")),
    "pool": func.coalesce(job.c.pool, text("''")),
    "framework": func.coalesce(job.c.framework, text("''")),
    "gpus": job.c.gpus,
    "priority": job.c.priority,
}
"""Each has an index. A job that has not started (ended) sorts as the earliest."""

_TEXTS: Final = frozenset({"name", "owner", "workspace", "pool", "framework"})
"""Their keys are texts."""

RUN_TIME: Final = "run_s"
"""The order by run time: of jobs that ended (an index), that run (few), and that never started (0)."""

STATE: Final = "state"
"""The order by state, from queued to ended; those in one state by when they were submitted."""

TAGS: Final = "tags"
"""The order by tags, as they are written; jobs without any come last, whichever way."""

METRIC: Final = "metric:"
"""Before the name of a metric: the order by its last value; jobs without one come last, whichever way."""

ORDERS: Final = (*_COLUMNS, RUN_TIME, STATE, TAGS)
"""What a list can be ordered by, with "-" in front for descending; and by a metric."""

LARGEST: Final = 2**63 - 1
"""The largest whole number that a database takes."""

_TAGGED: Final = text("tags <> ''")


@dataclass(frozen=True, slots=True)
class Walk:
    """Some of the jobs: which, and what they are ordered by. All of one `part` come before all of the next."""

    key: ColumnElement[Any]
    which: tuple[ColumnElement[bool] | TextClause, ...] = ()
    part: int = 0
    seq: ColumnElement[int] = job.c.seq
    beside: Any = None  # a table that is read together with `job`
    late: bool = False  # walked only where the others leave room on a page


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The last job of a page: its part, its key, its number; and the moment of the first page (`JobQuery.now`)."""

    part: int
    key: Any
    seq: int
    now: float

    def written(self, order: str) -> str:
        """Return the opaque text that stands behind this job in `order`."""
        line = [order, self.part, self.key, self.seq, self.now]
        return base64.urlsafe_b64encode(msgspec.json.encode(line)).decode().rstrip("=")

    def behind(self, walk: Walk, falling: bool) -> list[ColumnElement[bool]] | None:
        """Return the conditions on those of `walk` that come after this job; None: none of them does."""
        if walk.part != self.part:
            return [] if (walk.part > self.part) != falling else None
        key, seq = walk.key, walk.seq
        if falling:
            return [key <= self.key, or_(key < self.key, seq < self.seq)]
        return [key >= self.key, or_(key > self.key, seq > self.seq)]


def walks_of(order: str, states: tuple[Shown, ...], now: float, gathered: bool = False) -> list[Walk]:
    """Return what a list of the jobs in `states` (empty: all) is made of. Raises InvalidSpec for an unknown order.

    One walk for each state: a single one over "one of these states" would have to sort all of them. `gathered`: the
    jobs are found elsewhere, and only sorted. `now` is a parameter of that name, so that a statement can be kept.
    """
    name = order.removeprefix("-")
    if name == STATE:
        wanted = [shown for shown in Shown if shown in states or not states]
        return [Walk(job.c.submitted_at, (_in(shown, gathered),), part) for part, shown in enumerate(wanted)]
    if name == RUN_TIME:
        began, over = job.c.started_at.is_not(None), job.c.ended_at.is_not(None)
        walks = [
            Walk(job.c.ended_at - job.c.started_at, (began, over)),
            Walk(bindparam("now", now, Double()) - job.c.started_at, (LIVE, began)),
            Walk(literal(0.0), (func.coalesce(job.c.started_at, text("0.0")) == text("0.0"),)),
        ]
    elif name == TAGS:
        walks = [Walk(job.c.tags, (_TAGGED,)), _last(order, by_row(job.c.tags) == text("''"))]
    elif name.startswith(METRIC) and len(name) > len(METRIC):
        named = name.removeprefix(METRIC)
        mine = (job_metric.c.name == named, job_metric.c.job == job.c.seq)
        none = ~select(job_metric.c.job).where(*mine).correlate(job).exists()
        walks = [Walk(job_metric.c.value, mine, seq=job_metric.c.job, beside=job_metric), _last(order, none)]
    elif name in _COLUMNS:
        walks = [Walk(_COLUMNS[name])]
    else:
        raise InvalidSpec(
            said.no_such_order(repr(order)),
            problems=(problem_of("order", said.not_an_order((*ORDERS, f"{METRIC}NAME")), order),),
        )
    return [replace(walk, which=(*walk.which, _in(shown, True))) for walk in walks for shown in states] or walks


def _last(order: str, which: ColumnElement[bool]) -> Walk:
    """Return the walk by number of those that have nothing to be ordered by."""
    return Walk(job.c.seq, (which,), -1 if order.startswith("-") else 1, late=True)


def read_mark(cursor: str, order: str) -> ListPlace:
    """Return where a page of `order` ended. Raises InvalidSpec for a cursor of another list."""
    try:
        written, part, key, seq, now = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if (
            written == order
            and isinstance(part, int)
            and isinstance(seq, int)
            and isinstance(key, _kind_of(order.removeprefix("-"), part))
            and isinstance(now, int | float)
            and all(abs(number) <= LARGEST for number in (part, seq, now, key) if isinstance(number, int))
        ):
            return ListPlace(part, key, seq, float(now))
    except (ValueError, TypeError, binascii.Error, msgspec.MsgspecError):
        pass
    raise InvalidSpec(said.cursor_of_another_list(), problems=(problem_of("cursor", said.not_a_cursor_here()),))


def _kind_of(order: str, part: int) -> Any:
    """Return of what type the keys of this part of an order are."""
    return str if order in _TEXTS or (order == TAGS and part == 0) else int | float


def _in(shown: Shown, gathered: bool) -> ColumnElement[bool]:
    return (by_row(job.c.shown) if gathered else job.c.shown) == shown.value
