"""What the platform itself asks the ledger: what lives, where numbers stand, what was. From any thread; each call is
one look.

No answer of these goes to a person as it is: whoever reads for one asks `JobReader` or `AssetReader`, with what they
may see.
"""

import logging
import time
from contextlib import suppress
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, text

from trainmaster.core.errors import Conflict
from trainmaster.core.events import Event
from trainmaster.core.records import Job, Role
from trainmaster.messages.jobs import jobs as said
from trainmaster.store import tables
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.ledger import IdempotencyRecord
from trainmaster.store.jobs.rows import MalformedRow, Quarantined
from trainmaster.store.jobs.whole_jobs import EVENTS, WholeJobs, WholeStatement, events_of, quarantined, raw_of

__all__ = ["LedgerReader", "Quarantined"]

_log: Final = logging.getLogger(__name__)
_JOB, _ATTEMPT, _EVENT = tables.job, tables.attempt, tables.event

_LIVING: Final = WholeStatement(tables.LIVE)
_BY_ID: Final = WholeStatement(_JOB.c.id == bindparam("wanted"))


class HeldSpan(NamedTuple):
    """What an attempt held, from its start until its end (None: it still does). `roles`: those of its job."""

    pool: str
    roles: tuple[Role, ...]
    start: float
    end: float | None


class LedgerReader(WholeJobs):
    """The platform's own questions. Every method may block on the disk: call it from a worker thread."""

    # ------------------------------------------------------------------------------------------------------- start-up

    def live_jobs(self) -> tuple[list[Job], list[Quarantined]]:
        """Return all queued and active jobs by number, and the malformed ones, which are set aside on the way. O(live
        tasks).
        """
        with self.database.read() as connection:
            jobs, broken = _LIVING.load(connection)
        return [jobs[seq] for seq in sorted(jobs)], [self.set_aside(*one) for one in broken]

    def last_seq(self) -> int:
        """Return the highest event number ever given, 0 before the first."""
        return self.database.last_seq()

    def clock(self) -> tuple[str | None, float]:
        """Return where the platform's clock stood when that was noted last, None when it never was, and the time of the
        last event.
        """
        meta = tables.meta
        with self.database.read() as connection:
            stand = connection.scalar(select(meta.c.value).where(meta.c.key == "clock"))
            newest = connection.scalar(select(_EVENT.c.at).order_by(_EVENT.c.seq.desc()).limit(1))
        return stand, newest or 0.0

    def next_job_seq(self) -> int:
        """Return a job number higher than any ever given."""
        return self._highest(_JOB.c.seq, tables.deleted.c.seq, tables.quarantine.c.seq) + 1

    def _highest(self, *columns: ColumnElement[int]) -> int:
        with self.database.read() as connection:
            return max(connection.scalar(select(func.max(column))) or 0 for column in columns)

    # ----------------------------------------------------------------------------------------------------------- jobs

    def get_job(self, id_: str) -> Job | None:
        """Return the job with this id, None when there is none (or its record is malformed)."""
        found = self.jobs(_BY_ID, wanted=id_)
        return found[0] if found else None

    def slug_in_use(self, workspace: str, slug: str) -> bool:
        """Return whether a job of the workspace has this slug: they are unique there, whoever may see the job."""
        with self.database.read() as connection:
            same = (_JOB.c.workspace == workspace, _JOB.c.slug == slug)
            return connection.scalar(select(_JOB.c.seq).where(*same)) is not None

    def last_version(self, family: str) -> int:
        """Return the highest number that a version of the job `family` has; 1 while there is no further one."""
        with self.database.read() as connection:
            found = connection.scalar(select(func.max(_JOB.c.family_version)).where(_JOB.c.family == family))
            return found or 1

    def counts_by_owner(self) -> dict[tuple[str, str, str, str], int]:
        """Return how many jobs there are by (owner, workspace, share, shown state). O(jobs): asked once, at start."""
        by = (_JOB.c.owner, _JOB.c.workspace, _JOB.c.share, _JOB.c.shown)
        with self.database.read() as connection:
            found = connection.execute(select(*by, func.count()).group_by(*by))
            return {(owner, workspace, share, shown): count for owner, workspace, share, shown, count in found}

    def ran_last(self, most: int) -> list[tuple[str, float, float | None]]:
        """Return (owner, seconds its last attempt held its place, limit or None) of the jobs that ended last, oldest
        first.

        O(most), however many jobs there are.
        """
        ended = func.coalesce(_JOB.c.ended_at, text("0.0"))
        newest = (
            select(_JOB.c.seq, _JOB.c.owner, _JOB.c.record, _JOB.c.attempts_used)
            .where(ended > 0)
            .order_by(ended.desc(), _JOB.c.seq.desc())
            .limit(most)
            .subquery()
        )
        last = (_ATTEMPT.c.job == newest.c.seq) & (_ATTEMPT.c.number == newest.c.attempts_used)
        columns = (newest.c.owner, newest.c.record, _ATTEMPT.c.created_at, _ATTEMPT.c.ended_at)
        with self.database.read() as connection:
            found = connection.execute(select(*columns).join(_ATTEMPT, last).order_by(_ATTEMPT.c.ended_at)).all()
        ran = []
        for row in found:
            with suppress(MalformedRow):
                if row.ended_at is not None:
                    ran.append((row.owner, row.ended_at - row.created_at, rows.limit_of(row.record)))
        return ran

    def asked_last(self, most: int) -> list[tuple[Role, ...]]:
        """Return the roles of the jobs that were submitted last, oldest first; malformed records are passed over.
        O(most).
        """
        newest = select(_JOB.c.record).order_by(_JOB.c.seq.desc()).limit(most)
        found = []
        with self.database.read() as connection:
            for record in connection.scalars(newest):
                with suppress(MalformedRow):
                    found.append(rows.roles_of(record))
        return found[::-1]

    def held_since(self, since: float, most: int) -> tuple[list[HeldSpan], float | None]:
        """Return what was held after `since`, by attempts of live jobs and of the `most` jobs that ended last; and the
        moment before which jobs are missing, None where none are. Malformed records are passed over.

        O(live jobs + most), however many jobs there are.
        """
        ended = func.coalesce(_JOB.c.ended_at, text("0.0"))
        columns = (_JOB.c.seq, _JOB.c.pool, _JOB.c.record, _JOB.c.ended_at)
        newest = select(*columns).where(ended > since).order_by(ended.desc(), _JOB.c.seq.desc())
        still = _ATTEMPT.c.ended_at.is_(None) | (_ATTEMPT.c.ended_at > since)
        found = []
        with self.database.read() as connection:
            for whose in (newest.limit(most).subquery(), select(*columns).where(tables.LIVE).subquery()):
                held = (_ATTEMPT.c.job == whose.c.seq) & _ATTEMPT.c.started_at.is_not(None) & still
                asked = select(whose, _ATTEMPT.c.started_at, _ATTEMPT.c.ended_at.label("until"))
                for row in connection.execute(asked.join(_ATTEMPT, held)):
                    with suppress(MalformedRow):
                        found.append(HeldSpan(row.pool, rows.roles_of(row.record), row.started_at, row.until))
            missing = connection.execute(newest.offset(most).limit(1)).first()
        return found, None if missing is None else missing.ended_at

    def events_after(self, seq: int, limit: int) -> list[Event]:
        """Return the next `limit` events of all jobs with a number above `seq`, oldest first: the feed."""
        with self.database.read() as connection:
            return events_of(connection, EVENTS.limit(limit), after=seq)

    # -------------------------------------------------------------------------------------------- what belongs to jobs

    def set_aside_spec(self, digest: str, error: str) -> None:
        """Move a document that is not what was stored to `quarantine`: the same one can then be stored again. Only
        report it while another server leads.
        """
        at = time.time()
        if not self.database.leads:
            _log.error("the document %s is not what was stored: %s", digest, error)
            return

        def work(connection: Connection) -> None:
            same = tables.spec.c.digest == digest
            rows_ = [dict(row) for row in connection.execute(select(tables.spec).where(same)).mappings()]
            connection.execute(delete(tables.spec).where(same))
            if rows_:
                values = {"job": digest, "at": at, "seq": 0, "error": error, "raw": rows.encode({"spec": rows_})}
                connection.execute(insert(tables.quarantine).values(values))

        self.database.write(work).result()
        _log.error("the document %s is not what was stored and is set aside: %s", digest, error)

    def spec(self, digest: str) -> str | None:
        """Return the document with this digest."""
        with self.database.read() as connection:
            return connection.scalar(select(tables.spec.c.document).where(tables.spec.c.digest == digest))

    def idempotency(self, workspace: str, key: str) -> IdempotencyRecord | None:
        """Return what a request with this key was answered (B4)."""
        table = tables.idempotency
        with self.database.read() as connection:
            row = connection.execute(select(table).where(table.c.workspace == workspace, table.c.key == key)).first()
        if row is None:
            return None
        try:
            jobs = tuple(map(str, rows.decoded(row.jobs, list)))
        except MalformedRow as error:
            _log.error("what was answered under the key %r cannot be read: %s", key, error)
            raise Conflict(said.answer_under_key_unreadable()) from error
        return IdempotencyRecord(workspace, key, row.body_digest, jobs, row.created_at)

    def quarantined(self) -> list[Quarantined]:
        """Return all records that are set aside, newest first."""
        table = tables.quarantine
        with self.database.read() as connection:
            found = connection.execute(select(table).order_by(table.c.at.desc())).all()
        return [quarantined(row.job, row.at, row.error, raw_of(row.raw)) for row in found]
