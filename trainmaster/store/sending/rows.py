"""Outputs on their way to object storage, as rows: which folder of which job goes where, how far that is, and what
became of each file.

Only what is open is looked for, by an index that has nothing else: finished jobs cost nothing. Rows of files go once
all of a place are there. Methods block until durable or read: call them from a worker thread.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from trainmaster.core.sending import FileState, SendState, SendTarget, SentFile
from trainmaster.messages.said import Said, said_from_json
from trainmaster.store.database import Database
from trainmaster.store.tables import event, job, send_file, send_target


class SendRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[SendTarget]:
        """Return the places that there is something to do for. O(those)."""
        wanted = select(send_target).where(text("open = 1")).order_by(send_target.c.job, send_target.c.number)
        with self._database.read() as connection:
            return [_target(row) for row in connection.execute(wanted)]

    def of_job(self, seq: int) -> list[SendTarget]:
        """Return the places of a job, by its number."""
        wanted = select(send_target).where(send_target.c.job == seq).order_by(send_target.c.number)
        with self._database.read() as connection:
            return [_target(row) for row in connection.execute(wanted)]

    def add(self, some: Sequence[SendTarget]) -> None:
        """Store the places of a job, those that are not there yet, if the job is."""

        def work(connection: Connection) -> None:
            for one in some:
                if _is_job(connection, one.seq) and not connection.execute(select(send_target).where(_at(one))).first():
                    connection.execute(insert(send_target).values(_values(one)))

        self._database.write(work).result()

    def put(self, one: SendTarget) -> bool:
        """Store how far a place is; return whether it is there. Of one that is all there the files are forgotten."""

        def work(connection: Connection) -> bool:
            there = connection.execute(update(send_target).where(_at(one)).values(_values(one))).rowcount == 1
            if one.state is SendState.DONE and not one.left_out:
                connection.execute(delete(send_file).where(_file_at(one)))
            return there

        return self._database.write(work).result()

    def files(self, one: SendTarget) -> dict[str, SentFile]:
        """Return what is known of the files of a place, by path. O(files)."""
        with self._database.read() as connection:
            found = connection.execute(select(send_file).where(_file_at(one)))
            return {
                row.path: SentFile(
                    row.path, row.size, row.mtime_ns, row.ctime_ns, FileState(row.state), _said(row.said)
                )
                for row in found
            }

    def note(self, one: SendTarget, files: Iterable[SentFile]) -> None:
        """Store what became of some files of a place."""
        rows = [
            {
                "job": one.seq,
                "number": one.number,
                "path": file.path,
                "size": file.size,
                "mtime_ns": file.mtime_ns,
                "ctime_ns": file.ctime_ns,
                "state": file.state.value,
                "said": _kept(file.said),
            }
            for file in files
        ]
        if not rows:
            return

        def work(connection: Connection) -> None:
            if not _is_job(connection, one.seq):
                return
            same = _file_at(one) & send_file.c.path.in_([row["path"] for row in rows])
            connection.execute(delete(send_file).where(same))
            connection.execute(insert(send_file), rows)

        self._database.write(work).result()

    def told(self, seq: int, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Return the data of the events of these kinds in the history of a job."""
        wanted = select(event.c.data).where(event.c.job == seq, event.c.kind.in_(kinds))
        with self._database.read() as connection:
            rows = [_read(row.data) for row in connection.execute(wanted)]
        return [data for data in rows if isinstance(data, dict)]  # of one that is damaged nobody knows

    def again(self, seq: int, now: float) -> int:
        """Open the places of a job that failed, or left something out; return how many these are."""

        def work(connection: Connection) -> int:
            wrong = (send_target.c.state == SendState.FAILED.value) | (
                (send_target.c.state == SendState.DONE.value) & (send_target.c.left_out > 0)
            )
            mine = (send_target.c.job == seq) & (send_target.c.open == 0) & wrong
            numbers = [row.number for row in connection.execute(select(send_target.c.number).where(mine))]
            left = (send_file.c.job == seq) & (send_file.c.state == FileState.LEFT.value)
            connection.execute(delete(send_file).where(left, send_file.c.number.in_(numbers)))
            anew = {"state": SendState.GOING.value, "open": 1, "tries": 0, "next_at": 0.0, "said": "", "left_out": 0}
            chosen = (send_target.c.job == seq) & send_target.c.number.in_(numbers)
            connection.execute(update(send_target).where(chosen).values(anew | {"changed_at": now}))
            return len(numbers)

        return self._database.write(work).result()


def _is_job(connection: Connection, seq: int) -> bool:
    return connection.scalar(select(job.c.seq).where(job.c.seq == seq)) is not None


def _at(one: SendTarget) -> Any:
    return (send_target.c.job == one.seq) & (send_target.c.number == one.number)


def _file_at(one: SendTarget) -> Any:
    return (send_file.c.job == one.seq) & (send_file.c.number == one.number)


_PLAIN = (
    "number", "workspace", "place", "folder", "if_exists", "files", "size_bytes", "left_files", "left_bytes",
    "left_out", "tries", "next_at", "changed_at",
)  # fmt: skip


def _values(one: SendTarget) -> dict[str, Any]:
    plain = {name: getattr(one, name) for name in _PLAIN}
    own = {"job": one.seq, "job_id": one.job, "empty": int(one.empty), "open": int(one.open)}
    return {**plain, **own, "state": one.state.value, "said": _kept(one.said)}


def _target(row: Any) -> SendTarget:
    plain = {name: getattr(row, name) for name in _PLAIN}
    return SendTarget(
        job=row.job_id,
        seq=row.job,
        empty=bool(row.empty),
        open=bool(row.open),
        state=SendState(row.state),
        said=_said(row.said),
        **plain,
    )


def _read(kept: str) -> Any:
    try:
        return json.loads(kept)
    except ValueError:
        return None


def _kept(said: Said | None) -> str:
    return "" if said is None else json.dumps(said.to_json(), ensure_ascii=False)


def _said(kept: str) -> Said | None:
    try:
        return said_from_json(json.loads(kept)) if kept else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
