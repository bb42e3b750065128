"""Where the jobs that somebody may see, and asks for, are read from: walks of one index each, of which together none
leaves out a job. Builds statements, runs none.

Several walks may find the same job (what is mine lies in a workspace that I administer), so they are merged by UNION,
never by UNION ALL. Invariant: every walk has all conditions of the query on the row; which index it goes by is only
where it looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, TextClause, false, func, select, text

from trainmaster.access.visible import Visible
from trainmaster.core.states import JobShare, Shown
from trainmaster.store.finding import grams, index, named
from trainmaster.store.finding.uses import UsedThing
from trainmaster.store.jobs import labels, search
from trainmaster.store.jobs.job_query import NAMED, JobQuery, asked
from trainmaster.store.jobs.orders import ListPlace, Walk
from trainmaster.store.seen import by_row, seen
from trainmaster.store.tables import favorite, job, spec, task

Conditions = list[ColumnElement[bool] | TextClause]

_SHARED: Final = text("share <> 'none'")  # written out, so that the databases see that the index answers it
_EVERY_LEVEL: Final = frozenset({JobShare.READ.value, JobShare.READ_WRITE.value})
_FAVORITES: Final = 100
"""Of more favorite algorithms each job is looked at: a search takes so many lists beside each other."""
_ENDED: Final = frozenset({Shown.SUCCEEDED, Shown.FAILED, Shown.STOPPED, Shown.EXPIRED})


@dataclass(frozen=True, slots=True)
class IndexAt:
    """The index of texts as it stands: of which database, and up to which number it has the jobs."""

    dialect: str
    until: int


@dataclass(frozen=True, slots=True)
class Source:
    """Some of the jobs, newest first by `key`. `beside`: a table that is read together with `job`. `below_zero`: the
    key is the number of the job below zero, so that the newest has the lowest.
    """

    key: ColumnElement[Any]
    which: Conditions
    beside: Any = None
    below_zero: bool = False

    def select(self, *columns: Any) -> Select[Any]:
        """Return the statement, without order and limit."""
        found = select(*columns).where(*self.which)
        if self.beside is None:
            return found.select_from(job)
        # A job has several replicas on a node.
        return (
            found.select_from(self.beside, job).distinct()
            if self.beside is task
            else found.select_from(self.beside, job)
        )

    @property
    def by_number(self) -> bool:
        """Whether the key is the number of the job, so that nothing else is needed for the order."""
        return self.key is not job.c.submitted_at

    @property
    def place(self) -> ColumnElement[Any]:
        """What the key says, in the same way in every walk: walks are merged by it."""
        return -self.key if self.below_zero else self.key

    def in_order(self, falling: bool) -> list[ColumnElement[Any]]:
        """Return what to order by: the newest first if `falling`, else the oldest."""
        by = [self.key] if self.by_number else [self.key, job.c.seq]
        return [one.desc() if falling != self.below_zero else one for one in by]

    def behind(self, mark: ListPlace, falling: bool) -> list[ColumnElement[bool]]:
        """Return the conditions on what comes after `mark`."""
        if not self.by_number:
            return mark.behind(Walk(self.key), falling) or []
        at = -mark.key if self.below_zero else mark.key
        return [self.key < at if falling != self.below_zero else self.key > at]


def sources(visible: Visible, query: JobQuery, at: IndexAt) -> list[Source]:
    """Return the walks that find, newest first, what is `visible` and matches `query`, in its states.

    What was written of jobs is looked for in the index of texts; where that says nothing, in the parts that are
    visible, one state after the other.
    """
    narrow = narrowed(visible, query, at)
    if narrow is not None and not (query.states and _ENDED.isdisjoint(query.states)):
        states = [by_row(job.c.shown).in_([one.value for one in query.states])] if query.states else []
        return [replace(one, which=[*one.which, *states]) for one in narrow]
    rest = asked(replace(query, owner="", workspace=""))
    each: list[list[ColumnElement[bool]]] = [[job.c.shown == one.value] for one in query.states]
    return [
        Source(job.c.submitted_at, [*part, *rest, *state]) for part in _parts(visible, query) for state in each or [[]]
    ]


def narrowed(visible: Visible, query: JobQuery, at: IndexAt) -> list[Source] | None:
    """Return walks by number that visit little more than what is found, in any state; None where there are none."""
    who = seen(visible, job, walked=True)
    if query.favorite_of:
        rows: Conditions = [*who, *asked(replace(query, favorite_of=""), walked=True)]
        mine = [favorite.c.user == query.favorite_of, job.c.seq == favorite.c.job]
        return [Source(favorite.c.job, [*mine, *rows], favorite)]
    if query.sweep:
        rows = [*who, *asked(replace(query, sweep=""), walked=True)]
        return [Source(job.c.seq, [job.c.sweep == query.sweep, *rows])]
    every, one_of = _pieces(query), _favorites(query)
    if every or one_of:
        rows = [*who, *asked(query, walked=True)]
        place = query.workspace or visible.within or ""
        every += [grams.mark(grams.WORKSPACE, place)] if place else []
        known = _in_index(at, index.holding(at.dialect, every, one_of, _one_of(visible)), rows)
        return [known, Source(job.c.seq, [job.c.seq > at.until, *rows])]
    if query.node:
        rows = [*who, *asked(replace(query, node=""), walked=True)]
        there = [task.c.node == query.node, job.c.seq == task.c.job]
        return [Source(task.c.job, [*there, *rows], task)]
    return None


def asks_texts(query: JobQuery) -> bool:
    """Return whether `query` is answered by the index of texts, so that it matters how far that is."""
    return not (query.favorite_of or query.sweep) and bool(_pieces(query) or _favorites(query))


def near(visible: Visible, words: Sequence[str], at: IndexAt) -> Source | None:
    """Return the walk that finds jobs whose names have all of these folded `words`, or one that is a character away;
    None where a word is too short or too long for that. It knows only what the index has.
    """
    groups = [grams.nearly(word) for word in words]
    if not groups or not all(groups) or at.until < 0:
        return None
    held = index.holding(at.dialect, (), *groups, _one_of(visible))
    return _in_index(at, held, seen(visible, job, walked=True))


def using(visible: Visible, workspace: str, used: UsedThing, since: float, at: IndexAt) -> list[Source]:
    """Return the walks that find, newest first, the visible jobs of a workspace that use something and were submitted
    at `since` or later; each is behind the one before it. What the first finds may only have it written somewhere else.
    """
    # Not LIKE, which does not tell upper from lower case in SQLite.
    there = func.replace(spec.c.document, used.written, "") != spec.c.document
    written = select(spec.c.digest).where(spec.c.digest == job.c.spec_digest, there).exists()
    here = by_row(job.c.workspace) == workspace
    rows: Conditions = [*seen(visible, job, walked=True), here, job.c.submitted_at + 0.0 >= since, written]
    held = index.holding(at.dialect, [grams.used(workspace, used)], _one_of(visible))
    known = _in_index(at, held, [job.c.seq + 0 <= at.until, *rows])  # one that another release made may have more
    return [Source(job.c.seq, [job.c.seq > at.until, *rows]), known]


def _in_index(
    at: IndexAt, held: Sequence[ColumnElement[bool]], rows: Sequence[ColumnElement[bool] | TextClause]
) -> Source:
    beside, number, below_zero = index.joined(at.dialect)
    return Source(number, [*held, job.c.seq == (-number if below_zero else number), *rows], beside, below_zero)


def _pieces(query: JobQuery) -> list[str]:
    rest, wanted = labels.parted(query.q)
    found = [piece for word in search.words_of(rest) for piece in grams.of_word(word)]
    for label in (*wanted, *query.labels):
        key, given, value = label.partition("=")
        found.append(grams.mark(grams.LABEL, f"{key}={value}" if given else f"{key}="))
    found += [grams.mark(grams.TAG, tag) for tag in query.tags]
    found += [grams.mark(grams.FRAMEWORK, query.framework)] if query.framework else []
    found += [grams.mark(grams.POOL, query.pool)] if query.pool else []
    asked_for = [(kind, value) for kind in NAMED if (value := getattr(query, kind))]
    found += [grams.naming(kind, named.indexed(kind, value)) for kind, value in asked_for]
    found += [grams.mark(grams.OWNER, query.owner)] if found and query.owner else []
    return list(dict.fromkeys(found))


def _favorites(query: JobQuery) -> list[str]:
    """Return marks of which each job has one that is of one's favorite algorithms; none where they are too many."""
    names = query.algorithms or ()
    names = names if len(names) <= _FAVORITES else ()
    return [grams.naming(named.ALGORITHM, name) for name in names]


def _one_of(visible: Visible) -> list[str]:
    if visible.everything:
        return []
    mine = [] if visible.owner is None else [grams.mark(grams.OWNER, visible.owner)]
    inside = [grams.mark(grams.WORKSPACE, name) for name in sorted(visible.workspaces)]
    kind = grams.WORKSPACE if JobShare.NONE.value in visible.levels else grams.SHARED
    shared = [grams.mark(kind, name) for name in sorted(visible.shared)] if visible.levels else []
    return [*mine, *inside, *shared]


def _parts(visible: Visible, query: JobQuery) -> list[Conditions]:
    """Return the conditions by which one index each finds what is visible; nothing is visible beside them."""
    place, owner = query.workspace, query.owner
    if visible.within is not None:
        if place not in ("", visible.within):
            return [[false()]]
        place = visible.within
    if owner:
        others = seen(visible, job, walked=True) if owner != visible.owner else []
        return [[job.c.owner == owner, *_by_row("workspace", place), *others]]
    if visible.everything:
        return [[job.c.workspace == place] if place else []]
    parts: list[Conditions] = []
    if visible.owner is not None and place not in visible.workspaces:
        parts.append([job.c.owner == visible.owner, *_by_row("workspace", place)])
    parts += [[job.c.workspace == name] for name in sorted(visible.workspaces) if place in ("", name)]
    if visible.levels:
        level: Conditions = [] if JobShare.NONE.value in visible.levels else [_SHARED]
        if visible.levels != _EVERY_LEVEL:
            level.append(job.c.share.in_(sorted(visible.levels)))
        parts += [[job.c.workspace == name, *level] for name in sorted(visible.shared) if place in ("", name)]
    return parts or [[false()]]


def _by_row(name: str, value: str) -> list[ColumnElement[bool]]:
    return [by_row(job.c[name]) == value] if value else []
