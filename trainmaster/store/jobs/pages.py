"""The statements for one page of a list of jobs, for its newest and for how many there are. Builds statements, runs
none.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, case, func, literal, literal_column, select, union

from trainmaster.access.visible import Visible
from trainmaster.store.jobs.job_query import JobQuery, asked
from trainmaster.store.jobs.orders import read_mark, walks_of
from trainmaster.store.jobs.sources import IndexAt, narrowed, sources
from trainmaster.store.seen import seen
from trainmaster.store.tables import job

Keys = Select[Any]

BY_SUBMIT: Final = "submitted_at"

FEW: Final = 500
"""So many jobs are gathered and sorted for an order other than by submission; where there are more, the order is
walked, and finds them soon.
"""


def page_keys(
    visible: Visible, query: JobQuery, limit: int, cursor: str | None, at: IndexAt, few: bool, late: bool = False
) -> Keys | None:
    """Return the statement for (seq, key, part) of one page of what is `visible`, in order; None when nothing can be
    left. `few`: what `how_many` counts is at most FEW. `late`: of the walks that come after all others. Raises
    InvalidSpec for an unknown order or a foreign cursor.
    """
    falling = query.order.startswith("-")
    if query.order.removeprefix("-") != BY_SUBMIT:
        return _in_other_order(visible, query, limit, cursor, at if few else None, late)
    if late:
        return None
    mark = None if cursor is None else read_mark(cursor, query.order)
    walks = []
    for source in sources(visible, query, at):
        found = source.select(job.c.seq.label("seq"), source.place.label("key"), literal_column("0").label("part"))
        found = found.where(*([] if mark is None else source.behind(mark, falling)))
        walks.append(found.order_by(*source.in_order(falling)).limit(limit))
    return _merged(walks, limit, falling)


def _in_other_order(
    visible: Visible, query: JobQuery, limit: int, cursor: str | None, few: IndexAt | None, late: bool
) -> Keys | None:
    falling = query.order.startswith("-")
    mark = None if cursor is None else read_mark(cursor, query.order)
    conditions = [*seen(visible, job, walked=True), *asked(query, walked=True)]
    if few is not None:
        every = [one.select(job.c.seq) for one in sources(visible, query, few)]
        conditions = [job.c.seq.in_(union(*every) if len(every) > 1 else every[0])]
    walks = []
    for walk in walks_of(query.order, query.states, query.now, few is not None):
        if walk.late != late:
            continue
        behind = [] if mark is None else mark.behind(walk, falling)
        if behind is None:
            continue
        part: ColumnElement[int] = literal_column(str(walk.part)).label("part")
        found = select(walk.seq.label("seq"), walk.key.label("key"), part)
        found = found.select_from(job) if walk.beside is None else found.select_from(walk.beside, job)
        found = found.where(*conditions, *walk.which, *behind)
        by = [walk.seq] if walk.key is walk.seq else [walk.key, walk.seq]
        walks.append(_sorted(found, by, falling).limit(limit))
    return _merged(walks, limit, falling)


def _merged(walks: Sequence[Keys], limit: int, falling: bool) -> Keys | None:
    if len(walks) <= 1:
        return walks[0] if walks else None
    merged = union(*(select(walk.subquery()) for walk in walks)).subquery()
    by: list[ColumnElement[Any]] = [merged.c.part, merged.c.key, merged.c.seq]
    return _sorted(select(merged.c.seq, merged.c.key, merged.c.part), by, falling).limit(limit)


def newest(visible: Visible, query: JobQuery, at: IndexAt, most: int, columns: Sequence[str]) -> Any:
    """Return, as a subquery, `columns` of the newest `most` jobs that are `visible` and match, in their states."""
    each = sources(visible, query, at)
    wanted = [job.c[name] for name in columns]
    # Of several walks the numbers are merged, and only then rows are read, unless each looks at its rows anyway.
    beside = wanted if all(one.beside is not None or one.by_number for one in each) or len(each) == 1 else []
    walks = []
    for source in each:
        found = source.select(job.c.seq, source.place.label("key"), *beside)
        walks.append(found.order_by(*source.in_order(True)).limit(most))
    if len(walks) == 1:
        return walks[0].subquery()
    merged = union(*(select(walk.subquery()) for walk in walks)).subquery()
    columns_there = [merged.c[one.name] for one in beside]
    found = select(merged.c.seq, *columns_there).order_by(merged.c.key.desc(), merged.c.seq.desc()).limit(most)
    if beside or not wanted:
        return found.subquery()
    numbers = found.subquery()
    return select(job.c.seq, *wanted).join(numbers, numbers.c.seq == job.c.seq).subquery()


def how_many(visible: Visible, query: JobQuery, at: IndexAt) -> Select[Any] | None:
    """Return the statement that counts, up to above FEW, what would have to be sorted for another order than by
    submission; None where that is everything.
    """
    if query.order.removeprefix("-") == BY_SUBMIT:
        return None
    every_job = visible.everything and visible.within is None and not (query.owner or query.workspace or query.states)
    if every_job and narrowed(visible, query, at) is None:
        return None
    each = [one.select(job.c.seq).limit(FEW + 1).subquery() for one in sources(visible, query, at)]
    alone = [select(func.count()).select_from(one) for one in each]
    if len(each) == 1:
        return alone[0]
    together = union(*(select(one) for one in each)).subquery()
    count = select(func.count()).select_from(together).scalar_subquery()
    # Most often one of them is enough to know, and costs a tenth of their union; a CASE stops at the first that holds.
    enough = [(one.scalar_subquery() > FEW, literal(FEW + 1)) for one in alone]
    return select(case(*enough, else_=count))


def _sorted(statement: Keys, by: Sequence[ColumnElement[Any]], falling: bool) -> Keys:
    return statement.order_by(*(one.desc() if falling else one for one in by))
