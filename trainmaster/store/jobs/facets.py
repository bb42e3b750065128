"""Which values there are to choose a list of jobs by, and how many jobs each would leave. Bounded: the newest MOST jobs
are looked at, and of each facet at most VALUES values are told, the most frequent first.

Invariant: what is counted for a value is what the list shows once it is chosen. So a facet is counted without its own
filter, but for labels and tags, of which several may be chosen together.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, func, select

from trainmaster.access.visible import Visible
from trainmaster.store.finding import named
from trainmaster.store.jobs import labels
from trainmaster.store.jobs.job_query import EQUAL, JobQuery
from trainmaster.store.jobs.pages import newest
from trainmaster.store.jobs.sources import IndexAt
from trainmaster.store.tables import task

MOST: Final = 1000
VALUES: Final = 50

_COLUMNS: Final = (*EQUAL, "labels", "tags", "named")
_NAMED: Final = (named.ALGORITHM, named.FLAVOR)

Values = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Facets:
    """Values with their numbers of jobs. `labels`: (key, number, values). `partial`: there are older jobs, too."""

    owner: Values
    workspace: Values
    framework: Values
    pool: Values
    node: Values
    labels: list[tuple[str, int, Values]]
    tags: Values
    algorithm: Values
    flavor: Values
    partial: bool


def read(connection: Connection, visible: Visible, query: JobQuery, at: IndexAt) -> Facets:
    """Return the facets of the jobs that are `visible` and match `query`. O(MOST), unless a search is rare."""
    open_ = replace(query, owner="", workspace="", framework="", pool="", algorithm="", flavor="", labels=(), tags=())
    found = newest(visible, open_, at, MOST, _COLUMNS)
    columns = [found.c[name] for name in _COLUMNS]
    rows = connection.execute(select(*columns, func.count().label("number")).group_by(*columns)).all()
    equal = {name: _of_column(name, rows, query) for name in (*EQUAL, *_NAMED)}
    every = [row for row in rows if _matches(row, query)]
    wide = newest(visible, replace(query, node=""), at, MOST, ())
    on_nodes = (
        select(task.c.node, func.count(task.c.job.distinct()).label("number"))
        .join(wide, wide.c.seq == task.c.job)
        .group_by(task.c.node)
        .order_by(func.count(task.c.job.distinct()).desc(), task.c.node)
        .limit(VALUES)
    )
    nodes = [(node, number) for node, number in connection.execute(on_nodes)]
    return Facets(
        **equal,
        node=nodes,
        labels=_of_labels([row for row in every if _tagged(row, query.tags)], query.labels),
        tags=_of_tags([row for row in every if labels.has_all(row.labels, query.labels)], query.tags),
        partial=sum(row.number for row in rows) >= MOST,
    )


def _matches(row: Any, query: JobQuery, but: str = "") -> bool:
    """Return whether a row has what `query` says of columns and of what is named, whatever it says of `but`."""
    equal = all(getattr(query, name) in ("", getattr(row, name)) for name in EQUAL if name != but)
    rest = [(kind, value) for kind in _NAMED if kind != but and (value := getattr(query, kind))]
    return equal and all(named.has(row.named, kind, value) for kind, value in rest)


def _chosen(row: Any, query: JobQuery) -> bool:
    return labels.has_all(row.labels, query.labels) and _tagged(row, query.tags)


def _tagged(row: Any, wanted: Iterable[str]) -> bool:
    return {tag.lower() for tag in wanted} <= {tag.lower() for tag in labels.tags_read(row.tags)}


def _of_tags(rows: Iterable[Any], chosen: tuple[str, ...]) -> Values:
    counts: Counter[str] = Counter()
    for row in rows:
        if row.tags and _tagged(row, chosen):
            for tag in labels.tags_read(row.tags):
                counts[tag] += row.number
    return counts.most_common(VALUES)


def _of_column(name: str, rows: Iterable[Any], query: JobQuery) -> Values:
    counts: Counter[str] = Counter()
    for row in rows:
        if _matches(row, query, name) and _chosen(row, query):
            for value in named.values(row.named, name) if name in _NAMED else (getattr(row, name),):
                counts[value] += row.number
    return counts.most_common(VALUES)


def _of_labels(rows: Iterable[Any], chosen: tuple[str, ...]) -> list[tuple[str, int, Values]]:
    keys: Counter[str] = Counter()
    values: dict[str, Counter[str]] = {}
    for row in rows:
        if not row.labels or not labels.has_all(row.labels, chosen):
            continue
        for key, value in labels.read(row.labels):
            keys[key] += row.number
            values.setdefault(key, Counter())[value] += row.number
    return [(key, number, values[key].most_common(VALUES)) for key, number in keys.most_common(VALUES)]
