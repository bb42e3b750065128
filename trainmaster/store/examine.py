"""Looks whether a ledger is sound, for `trainmaster doctor`: beside a running server, and without one. Changes
nothing.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from sqlalchemy import URL, Connection, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from trainmaster.core.errors import Conflict
from trainmaster.messages import render
from trainmaster.messages.said import Said
from trainmaster.messages.server import ledger
from trainmaster.store.database import last_seq
from trainmaster.store.past import Past

LIMIT_S: Final = 20.0
"""How long a file is read at most: a ledger of years has gigabytes."""
_STEPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found. `state`: sound, unsure (not all could be looked at), or broken."""

    state: Literal["sound", "unsure", "broken"]
    said: Said

    @property
    def detail(self) -> str:
        """What was found, in English."""
        return render.text(self.said)

    @property
    def remedy(self) -> str:
        """What to do about it, in English; "" where nothing is to be done."""
        return render.remedy(self.said)


def examine(url: str, past: Past, limit_s: float = LIMIT_S) -> Findings:
    """Return whether the ledger at `url` is whole and what this home knows of it. Never raises; at most about `limit_s`
    seconds.
    """
    parsed = make_url(url)
    file = str(parsed.database) if parsed.get_backend_name() == "sqlite" else ""
    try:
        if file and (not os.path.exists(file) or os.path.getsize(file) == 0):
            past.refuse_empty(file)
            return Findings("sound", ledger.no_ledger_yet())
        looked = _file(file, limit_s) if file else Findings("sound", ledger.database_answers())
        if looked.state != "broken":
            _compare(parsed, past)
        return looked
    except Conflict as error:
        return Findings("broken", error.said)
    except (sqlite3.Error, SQLAlchemyError) as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        if file:
            return Findings("broken", ledger.ledger_file_not_read(file, said))
        return Findings("broken", ledger.database_unreachable(said))


def _file(file: str, limit_s: float) -> Findings:
    """Let SQLite look at every page, as far as the time allows."""
    give_up = time.monotonic() + limit_s
    mib = round(os.path.getsize(file) / 2**20, 1)
    with closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=5.0)) as connection:
        connection.set_progress_handler(lambda: time.monotonic() > give_up, _STEPS)
        try:
            found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(3)")]
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            return Findings("unsure", ledger.ledger_seen_in_part(file, limit_s, mib))
    if found == ["ok"]:
        return Findings("sound", ledger.ledger_whole(file, mib))
    return Findings("broken", ledger.ledger_file_damaged(file, "; ".join(" ".join(line.split()) for line in found)))


def _compare(url: URL, past: Past) -> None:
    """Hold the ledger against its mark. Raises Conflict where the server would not start."""
    mark = past.mark()
    if mark is None:
        return
    with _connected(url) as connection:
        name = str(connection.exec_driver_sql("SELECT value FROM meta WHERE key = 'server_id'").scalar())
        past.refuse_behind(name, last_seq(connection))


@contextmanager
def _connected(url: URL) -> Iterator[Connection]:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(f"sqlite:///file:{quote(str(url.database))}?mode=ro&uri=true", poolclass=NullPool)
    else:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"), poolclass=NullPool, connect_args={"connect_timeout": 5}
        )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
