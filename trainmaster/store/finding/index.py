"""The index by which jobs are found: FTS5 in SQLite, a GIN index of PostgreSQL; no extension is needed.

It is made of the rows and can be made again, so it belongs to no schema: a store without it (a new one, a restored
one, one of another release) gets an empty one. It lags behind: a submit does not wait for it, and jobs above the number
`until` are looked at row by row until it has them. FTS5 walks its lists of documents from the lowest number fast and
from the highest slowly, so in SQLite a job's document has its number below zero: the newest come first. Invariants:
`until` is in one transaction with what was added, so every job up to it is there; a change or removal of a job is in
the same transaction as that of its row.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection, String, bindparam, column, insert, literal, select, table, update
from sqlalchemy import text as sql
from sqlalchemy.sql import ColumnElement

from trainmaster.core.states import JobShare
from trainmaster.store import tables
from trainmaster.store.finding import grams, named
from trainmaster.store.finding.uses import uses_of

TABLE: Final = "job_text"
VERSION: Final = "4"
"""Of what a job is found by; another one is made anew."""
_UNTIL, _MADE_AS, _MERGED = "found_until", "found_as", "found_merged"
_PUNCTUATION: Final = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_MAKES: Final = {
    "sqlite": (
        "CREATE VIRTUAL TABLE job_text USING fts5(grams, content='', columnsize=0, detail=none, tokenize=\"ascii"
        " tokenchars '{}'\")".format(_PUNCTUATION.replace("'", "''").replace('"', '""')),
    ),
    "postgresql": (
        'CREATE TABLE job_text (job bigint PRIMARY KEY, grams text[] COLLATE "C" NOT NULL)',
        "CREATE INDEX job_text_grams ON job_text USING gin (grams)",
    ),
}
_job: Final = tables.job
_spec: Final = tables.spec
_ROWS: Final = select(
    _job.c.seq,
    _job.c.search,
    _job.c.remarks,
    _job.c.slug,
    _job.c.id,
    _job.c.labels,
    _job.c.tags,
    _job.c.named,
    *(_job.c[name] for name in ("owner", "workspace", "framework", "pool", "share")),
    _spec.c.document,
).outerjoin_from(_job, _spec, _spec.c.digest == _job.c.spec_digest)
_NEXT: Final = _ROWS.where(_job.c.seq > bindparam("after")).order_by(_job.c.seq).limit(bindparam("most"))
_THESE: Final = _ROWS.where(_job.c.seq.in_(bindparam("these", expanding=True)))

_NOTES: Final = select(tables.meta.c.key, tables.meta.c.value).where(tables.meta.c.key.in_((_UNTIL, _MADE_AS)))

_SQLITE: Final = table("job_text", column("rowid"), column("job_text"))
_POSTGRESQL: Final = table("job_text", column("job"), column("grams"))
_PAIR: Final = re.compile("\x1e([^\x1e\x1f]*)\x1f([^\x1e\x1f]*)(?=\x1e)")
_PLAIN: Final = re.compile("\x1e([^\x1e\x1f]+)(?=\x1e)")

_DEEP: Final = 12
"""Of more lists the rest is moved side by side: FTS5 takes so many parentheses in each other."""
_NO_PIECE: Final = '"none"'
"""No job has it: pieces of a text are of three characters at most, and marks begin with one that is none of ASCII."""

Rows = Sequence[Any]

_MERGE_AFTER: Final = 500
"""New jobs that are worth a merge, and an eighth of all: each job is then written some nine times."""
_MERGE_PAGES: Final = 50
"""Of 4 KiB that one step of a merge writes: a few milliseconds."""


def prepare(connection: Connection) -> None:
    """Make an empty index where there is none of this version."""
    if _note(connection, _MADE_AS) == VERSION:
        return
    connection.exec_driver_sql("DROP TABLE IF EXISTS job_text")
    for statement in _MAKES[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    _set(connection, _UNTIL, "-1")
    _set(connection, _MERGED, "-1")
    _set(connection, _MADE_AS, VERSION)


def until(connection: Connection) -> int:
    """Return up to which number jobs are in the index; -1: none is."""
    notes: dict[str, str] = {row.key: row.value for row in connection.execute(_NOTES)}
    return int(notes.get(_UNTIL) or -1) if notes.get(_MADE_AS) == VERSION else -1


def fill(connection: Connection, most: int) -> int:
    """Add the next `most` jobs; return how many there were. O(their texts)."""
    if _note(connection, _MADE_AS) != VERSION:
        return 0  # a server of another release makes it anew
    rows = connection.execute(_NEXT, {"after": until(connection), "most": most}).all()
    if rows:
        _add(connection, rows)
        _set(connection, _UNTIL, str(rows[-1].seq))
    return len(rows)


def merge(connection: Connection) -> bool:
    """Do a step of making one tree of FTS5's many, which halves the time of a search that walks long lists; return
    whether there is more to do. Begins when enough is new; what an earlier process began is gone on with.
    (https://sqlite.org/fts5.html, "The 'merge' command")
    """
    if connection.dialect.name != "sqlite" or _note(connection, _MADE_AS) != VERSION:
        return False
    last, merged = until(connection), int(_note(connection, _MERGED) or -1)
    begins = last - merged > max(_MERGE_AFTER, merged // 8)
    if begins:
        _set(connection, _MERGED, str(last))
    changes = sql("SELECT total_changes()")
    so_far = connection.scalar(changes)
    step = sql("INSERT INTO job_text (job_text, rank) VALUES ('merge', :pages)")
    connection.execute(step, {"pages": -_MERGE_PAGES if begins else _MERGE_PAGES})
    return bool(connection.scalar(changes) - so_far >= 2)


def before(connection: Connection, jobs: Collection[int]) -> Rows:
    """Return what `again` or `remove` has to know of these jobs before their rows are changed."""
    if not jobs:
        return ()  # of nearly every transaction
    last = until(connection)
    known = [seq for seq in jobs if seq <= last]
    return connection.execute(_THESE, {"these": known}).all() if known else ()


def again(connection: Connection, rows: Rows) -> None:
    """Find these jobs by what their rows say now. `rows`: as `before` returned them."""
    if rows:
        remove(connection, rows)
        _add(connection, connection.execute(_THESE, {"these": [row.seq for row in rows]}).all())


def remove(connection: Connection, rows: Rows) -> None:
    """Find these jobs no more. `rows`: as `before` returned them."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        gone = sql("INSERT INTO job_text (job_text, rowid, grams) VALUES ('delete', :job, :grams)")
        connection.execute(gone, _documents(rows))
    else:
        connection.execute(sql("DELETE FROM job_text WHERE job = :job"), [{"job": row.seq} for row in rows])


def joined(dialect: str) -> tuple[Any, ColumnElement[int], bool]:
    """Return the index as a table to be read beside `job`, its column with the number of a job, and whether that is
    below zero.
    """
    return (_SQLITE, _SQLITE.c.rowid, True) if dialect == "sqlite" else (_POSTGRESQL, _POSTGRESQL.c.job, False)


def holding(dialect: str, every: Sequence[str], *groups: Sequence[str]) -> list[ColumnElement[bool]]:
    """Return the conditions on the index: jobs with `every` piece, and with one of each of the `groups` (that is not
    empty).
    """
    if dialect == "sqlite":
        wanted = [*map(_quoted, sorted(every, key=grams.how_common))]
        wanted[1:1] = [f"({' OR '.join(map(_quoted, one_of))})" for one_of in groups if one_of]
        return [_SQLITE.c.job_text.op("MATCH", is_comparison=True)(literal(_one_after_the_other(wanted), String))]
    found = [_POSTGRESQL.c.grams.op("@>", is_comparison=True)(literal([*every]))] if every else []
    return found + [_POSTGRESQL.c.grams.op("&&", is_comparison=True)(literal([*one_of])) for one_of in groups if one_of]


def _one_after_the_other(wanted: Sequence[str]) -> str:
    """Return the query for what has all of `wanted`. Of `a AND b AND c` FTS5 moves all three lists at each step; here c
    is moved only to what has a and b, for it takes `a AND b NOT x` as one list.
    """
    query = " AND ".join(wanted[:2])
    for one in wanted[2:_DEEP]:
        query = f"(({query}) NOT {_NO_PIECE}) AND {one}"
    return " AND ".join([query, *wanted[_DEEP:]])


def _quoted(piece: str) -> str:
    return '"' + piece.replace('"', '""') + '"'


def _add(connection: Connection, rows: Rows) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(sql("INSERT INTO job_text (rowid, grams) VALUES (:job, :grams)"), _documents(rows))
    else:
        values = [{"job": row.seq, "grams": [*_grams(row)]} for row in rows]
        connection.execute(sql("INSERT INTO job_text (job, grams) VALUES (:job, :grams)"), values)


def _documents(rows: Rows) -> list[dict[str, Any]]:
    """Return what FTS5 is given of `rows`, in the order in which it keeps them: another costs it a file each."""
    return [
        {"job": -row.seq, "grams": " ".join(_grams(row))} for row in sorted(rows, key=lambda row: row.seq, reverse=True)
    ]


def _grams(row: Any) -> set[str]:
    text = f"{row.search}\n{row.remarks}"
    starts = (row.search.partition("\n")[0], (row.slug or "").casefold(), row.id)
    return grams.of_job(
        grams.Found(
            text,
            starts,
            row.owner,
            row.workspace,
            row.framework,
            row.pool,
            row.share != JobShare.NONE.value,
            tuple((key, value) for key, value in _PAIR.findall(row.labels)),
            tuple(_PLAIN.findall(row.tags)),
            uses_of(row.document).things,
            tuple(named.read(row.named)),
        )
    )


def _note(connection: Connection, name: str) -> str | None:
    return connection.scalar(select(tables.meta.c.value).where(tables.meta.c.key == name))


def _set(connection: Connection, name: str, value: str) -> None:
    meta = tables.meta
    if connection.execute(update(meta).where(meta.c.key == name).values(value=value)).rowcount == 0:
        connection.execute(insert(meta).values(key=name, value=value))
