"""Reads jobs, their attempts and events for a person, from any thread; each call is one consistent look at the store.

Every question takes what the person may see (`access.visible`) first: one that forgets it cannot be asked (mypy; a test
walks the class). What the platform asks for itself is in `read_ledger`.
"""

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import Event
from trainmaster.core.records import Attempt, Job
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import jobs as said
from trainmaster.store import tables
from trainmaster.store.finding import index
from trainmaster.store.finding.named import ALGORITHM
from trainmaster.store.finding.uses import JobUses, UsedThing, uses_of
from trainmaster.store.jobs import facets, rows
from trainmaster.store.jobs.facets import Facets
from trainmaster.store.jobs.job_query import (
    JobQuery,
    Page,
    at_its_moment,
    filters,
    in_states,
    write_cursor,
)
from trainmaster.store.jobs.pages import FEW, how_many, newest, page_keys
from trainmaster.store.jobs.rows import MalformedRow
from trainmaster.store.jobs.sources import IndexAt, asks_texts, near, using
from trainmaster.store.jobs.whole_jobs import EVENTS, WholeJobs, WholeStatement, events_of
from trainmaster.store.seen import seen

__all__ = ["JobQuery", "JobReader", "Page"]

_log: Final = logging.getLogger(__name__)
_JOB, _ATTEMPT, _TASK, _EVENT = tables.job, tables.attempt, tables.task, tables.event
_ASSET, _MARK = tables.asset, tables.asset_favorite
_SPEC: Final = tables.spec
_PREFIX_MIN: Final = 4
_EVERY: Final = 2**62
_KEPT: Final = 64
_RECORDS: Final = 1000
_REPLICAS: Final = 50_000
"""Of all records together that are kept: each is half a kilobyte."""

_BY_ID: Final = WholeStatement(_JOB.c.id == bindparam("wanted"))
_BY_SEQ: Final = WholeStatement(_JOB.c.seq.in_(bindparam("wanted", expanding=True)))
_VERSIONS: Final = select(_JOB.c.seq, _JOB.c.id, _JOB.c.version).where(
    _JOB.c.seq.in_(bindparam("wanted", expanding=True))
)
_DOCUMENTS: Final = (
    select(_JOB.c.seq, _SPEC.c.document)
    .join(_SPEC, _SPEC.c.digest == _JOB.c.spec_digest)
    .where(_JOB.c.seq.in_(bindparam("wanted", expanding=True)))
)
_ATTEMPTS: Final = select(_ATTEMPT).where(_ATTEMPT.c.job == bindparam("wanted")).order_by(_ATTEMPT.c.number)
_TASKS: Final = select(_TASK).where(_TASK.c.job == bindparam("wanted")).order_by(_TASK.c.position)
_FAVORITES: Final = (
    select(_ASSET.c.name)
    .distinct()
    .join(_MARK, _MARK.c.asset == _ASSET.c.id)
    .where(_MARK.c.user == bindparam("user"), _ASSET.c.kind == ALGORITHM)
    .order_by(_ASSET.c.name)
)
_EVENTS: Final = EVENTS.where(_EVENT.c.job == bindparam("wanted"))


class JobReader:
    """The questions people ask about jobs. Every method may block on the disk: call it from a worker thread."""

    def __init__(self, whole: WholeJobs) -> None:
        self._whole, self._database, self._kept = whole, whole.database, _KeptJobs()

    def find(self, visible: Visible, text: str, workspace: str = "default") -> Job:
        """Return the job that `text` names: an id, a slug in `workspace`, or the beginning (4 or more characters) of
        one id. What may not be seen is not there.

        Raises NotFound, or Conflict when several ids begin so.
        """
        with self._database.read() as connection:
            found = self._called(connection, visible, text, workspace)
        named = self._whole.jobs(_BY_ID, wanted=found) if found is not None else []
        if named and visible.covers(named[0]):  # it may have been hidden since
            return named[0]
        raise NotFound(said.no_such_job(repr(text)))

    @staticmethod
    def _called(connection: Connection, visible: Visible, text: str, workspace: str) -> str | None:
        """Return the id that `text` means. Raises Conflict. Each question is asked of what may be seen alone, so that
        what is hidden takes the same questions, and the same time, as what never was.
        """
        may = seen(visible, _JOB)
        for same in (_JOB.c.id == text, (_JOB.c.workspace == workspace) & (_JOB.c.slug == text)):
            found: str | None = connection.scalar(select(_JOB.c.id).where(same, *may))
            if found is not None:
                return found
        if len(text) < _PREFIX_MIN:
            return None
        range_ = (_JOB.c.id >= text, _JOB.c.id < text + "~")  # ids are of hex digits, "~" is above them all
        ids = connection.scalars(select(_JOB.c.id).where(*range_, *may).order_by(_JOB.c.id).limit(4)).all()
        if len(ids) > 1:
            raise Conflict(said.several_jobs(repr(text), [*ids[:3], *["..." for _ in ids[3:]]]))
        return ids[0] if ids else None

    def list_jobs(self, visible: Visible, query: JobQuery, limit: int = 50, cursor: str | None = None) -> Page[Job]:
        """Return one page. Raises InvalidSpec for an unknown order or a cursor of another list.

        O(limit) by submission, however many jobs are stored: what was written of jobs is looked for in an index. In
        another order O(FEW), unless a filter is rare in it.
        """
        query = at_its_moment(query, cursor)
        with self._database.read() as connection:
            query = _settled(connection, query)
            timeless = replace(query, now=0.0)
            at = _index_at(connection, query)
            number = _how_many(visible, timeless, at)
            few = number is not None and (connection.scalar(number) or 0) <= FEW
            page = _first_page if cursor is None else page_keys  # later ones are hardly asked for again
            keys: list[Any] = []
            for late in (False, True):
                wanted = page(visible, timeless, limit + 1 - len(keys), cursor, at, few, late)
                keys += connection.execute(wanted, {"now": query.now}).all() if wanted is not None else []
                if len(keys) > limit:
                    break
            jobs, broken = self._kept.load(connection, [row.seq for row in keys[:limit]])
        for one in broken:
            self._whole.set_aside(*one)
        more = len(keys) > limit
        following = write_cursor(query, keys[limit - 1]) if more else None
        return Page([jobs[row.seq] for row in keys[:limit] if row.seq in jobs], following)

    def near(self, visible: Visible, words: Sequence[str], most: int) -> list[Job]:
        """Return the newest jobs whose names have all folded `words`, each as it is or with one character wrong."""
        with self._database.read() as connection:
            source = near(visible, words, _index_at(connection))
            if source is None:
                return []
            found = source.select(_JOB.c.seq).order_by(*source.in_order(True)).limit(most)
            numbers = connection.scalars(found).all()
            jobs, _ = self._kept.load(connection, numbers)
        return [jobs[seq] for seq in numbers if seq in jobs]

    def using(self, visible: Visible, workspace: str, used: UsedThing, since: float, most: int) -> list[Job]:
        """Return the newest jobs of a workspace that use something and were submitted at `since` or later. O(most),
        however many there are.
        """
        with self._database.read() as connection:
            numbers: list[int] = []
            for source in using(visible, workspace, used, since, _index_at(connection)):
                if len(numbers) < most:
                    found = source.select(_JOB.c.seq).order_by(*source.in_order(True)).limit(most - len(numbers))
                    numbers += connection.scalars(found).all()
            documents = connection.execute(_DOCUMENTS, {"wanted": numbers}).all() if numbers else []
            meant = {seq for seq, text in documents if _names(text, used)}
            jobs, _ = self._kept.load(connection, [seq for seq in numbers if seq in meant])
        return [jobs[seq] for seq in numbers if seq in jobs]

    def uses(self, visible: Visible, id_: str) -> JobUses:
        """Return what the document of a job names; nothing of a job that may not be seen, or whose document is gone."""
        mine = select(_SPEC.c.document).join(_JOB, _JOB.c.spec_digest == _SPEC.c.digest)
        with self._database.read() as connection:
            return uses_of(connection.scalar(mine.where(_JOB.c.id == id_, *seen(visible, _JOB))))

    def versions(self, visible: Visible, family: str, most: int) -> list[Job]:
        """Return the last `most` versions of a job, the newest first. `family`: the id of the first."""
        of_family = or_(_JOB.c.id == family, _JOB.c.family == family)
        newest_first = _JOB.c.family_version.desc(), _JOB.c.seq.desc()
        wanted = select(_JOB.c.seq).where(of_family, *seen(visible, _JOB, walked=True)).order_by(*newest_first)
        with self._database.read() as connection:
            numbers = connection.scalars(wanted.limit(most)).all()
            jobs, _ = self._kept.load(connection, numbers)
        return [jobs[seq] for seq in numbers if seq in jobs]

    def counts(self, visible: Visible, query: JobQuery, most: int = _EVERY) -> dict[Shown, int]:
        """Return how many jobs match `query` in each shown state (its own states do not count as a filter). `most`: of
        so many, the newest. O(most), or the jobs that match.
        """
        with self._database.read() as connection:
            wanted = _settled(connection, replace(query, states=()))
            statement = _by_state(visible, wanted, _index_at(connection, wanted), most)
            known = {state.value for state in Shown}
            return {Shown(shown): count for shown, count in connection.execute(statement) if shown in known}

    def facets(self, visible: Visible, query: JobQuery) -> Facets:
        """Return which values there are to choose these jobs by. O(facets.MOST), unless a search is rare."""
        with self._database.read() as connection:
            query = _settled(connection, query)
            return facets.read(connection, visible, query, _index_at(connection, query))

    def matching(
        self, visible: Visible, query: JobQuery, of: Collection[Shown], after: int, most: int
    ) -> tuple[int, list[tuple[int, str]]]:
        """Return how many jobs with a number above `after` match `query`, and (number, id) of the first `most` of them
        that are in a state `of` these, by number. O(jobs).
        """
        conditions = (*filters(visible, query), *in_states(query), _JOB.c.seq > after)
        acted_on = _JOB.c.shown.in_([shown.value for shown in of])
        first = select(_JOB.c.seq, _JOB.c.id).where(*conditions, acted_on).order_by(_JOB.c.seq).limit(most)
        with self._database.read() as connection:
            every = connection.scalar(select(func.count()).select_from(_JOB).where(*conditions)) or 0
            return every, [(seq, id_) for seq, id_ in connection.execute(first)]

    def history(self, visible: Visible, id_: str) -> tuple[list[Attempt], list[Event]]:
        """Return all attempts of a job, first to last, but for those whose rows cannot be read, and all `events`, of
        one moment.
        """
        with self._database.read() as connection:
            seq = _seq_of(connection, visible, id_)
            return _attempts(connection, seq, id_), events_of(connection, _EVENTS, wanted=seq, after=0)

    def events(self, visible: Visible, id_: str) -> list[Event]:
        """Return the events of a job, oldest first. For one that cannot be read a note stands, which says so."""
        with self._database.read() as connection:
            return events_of(connection, _EVENTS, wanted=_seq_of(connection, visible, id_), after=0)


class _KeptJobs:
    """The records of jobs that lists have shown lately: a row is read and judged anew only when its version is another.

    Invariant: what is returned is what the rows say, for a version of a job is never written twice. Bounded by
    `_RECORDS` and `_REPLICAS`; for any thread.
    """

    def __init__(self) -> None:
        self._jobs: OrderedDict[int, Job] = OrderedDict()
        self._replicas = 0  # of all of them
        self._lock = Lock()

    def load(
        self, connection: Connection, numbers: Sequence[int]
    ) -> tuple[dict[int, Job], list[tuple[int, str, MalformedRow]]]:
        """Return the jobs by number, and (number, id, error) of the malformed ones."""
        with self._lock:
            known = {seq: self._jobs[seq] for seq in numbers if seq in self._jobs}
        if known:
            stored = {seq: state for seq, *state in connection.execute(_VERSIONS, {"wanted": list(known)})}
            known = {seq: job for seq, job in known.items() if stored.get(seq) == [job.id, job.version]}
        rest = [seq for seq in numbers if seq not in known]
        read, broken = _BY_SEQ.load(connection, wanted=rest) if rest else ({}, [])
        self._keep(known, read)
        return known | read, broken

    def _keep(self, known: Collection[int], read: Mapping[int, Job]) -> None:
        with self._lock:
            for seq, job in read.items():
                before = self._jobs.pop(seq, None)
                self._replicas += job.tasks_total - (0 if before is None else before.tasks_total)
                self._jobs[seq] = job
            for seq in known:
                if seq in self._jobs:
                    self._jobs.move_to_end(seq)
            while len(self._jobs) > _RECORDS or self._replicas > _REPLICAS:
                self._replicas -= self._jobs.popitem(last=False)[1].tasks_total


# The statements of a question are kept, for it is asked again: to make them takes longer than to run them.
_first_page: Final = lru_cache(_KEPT)(page_keys)
_how_many: Final = lru_cache(_KEPT)(how_many)


@lru_cache(_KEPT)
def _by_state(visible: Visible, query: JobQuery, at: IndexAt, most: int) -> Select[Any]:
    found = newest(visible, query, at, most, ("shown",))
    return select(found.c.shown, func.count()).group_by(found.c.shown)


def _settled(connection: Connection, query: JobQuery) -> JobQuery:
    """Return `query` with the names of the favorite algorithms that it asks for: by these the index is asked."""
    if not query.favorite_algorithms_of:
        return query
    names = connection.scalars(_FAVORITES, {"user": query.favorite_algorithms_of}).all()
    return replace(query, algorithms=tuple(names))


def _index_at(connection: Connection, query: JobQuery | None = None) -> IndexAt:
    """Return how far the index of texts is, for those questions that it answers."""
    asked = query is None or asks_texts(query)
    return IndexAt(connection.dialect.name, index.until(connection) if asked else -1)


def _names(document: str, used: UsedThing) -> bool:
    return any((one.kind, one.reference) == (used.kind, used.reference) for one in uses_of(document).things)


def _seq_of(connection: Connection, visible: Visible, id_: str) -> int | None:
    """Return the number of a job, None when there is none that may be seen: what belongs to it is then not there
    either.
    """
    found: int | None = connection.scalar(select(_JOB.c.seq).where(_JOB.c.id == id_, *seen(visible, _JOB)))
    return found


def _attempts(connection: Connection, seq: int | None, id_: str) -> list[Attempt]:
    found = connection.execute(_ATTEMPTS, {"wanted": seq}).mappings().all()
    tasks: dict[int, list[Any]] = defaultdict(list)
    for task in connection.execute(_TASKS, {"wanted": seq}).mappings():
        tasks[task["attempt"]].append(task)
    whole = []
    for row in found:
        try:
            whole.append(rows.attempt_of(row, tasks[row["number"]]))
        except MalformedRow as error:
            _log.error("attempt %s of job %s cannot be read and is left out: %s", row["number"], id_, error)
    return whole
