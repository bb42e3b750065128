"""Only one server leads a PostgreSQL store, whatever breaks (design 7: advisory lock and epoch fence)."""

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.histories import life
from tests.fixtures.postgres import Server
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import Conflict, TrainmasterError, Unavailable
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.leading import LEAD_S

_ALL = JobQuery()

pytestmark = pytest.mark.postgres


@pytest.fixture
def leader(postgres: Server, tmp_path: Path) -> Iterator[Store]:
    """A store that leads."""
    opened = Store.open(postgres.database(), str(tmp_path))
    yield opened
    opened.database.close()


def cut(store: Store) -> None:
    """End the leader's write connection, as a restarted database server or a lost network does."""
    with psycopg.connect(store.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(l.pid, 5000) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE l.locktype = 'advisory' AND d.datname = current_database()"
        )


def test_a_second_server_is_refused_until_the_first_ends(leader: Store) -> None:
    """The error says so; closing lets the next one lead."""
    with pytest.raises(Conflict, match="Another server is using this database"):
        Store.open(leader.url, leader.backups)
    leader.keep(*life(1).changes)
    leader.database.close()
    again = Store.open(leader.url, leader.backups)
    assert len(again.records.events_after(0, 99)) == len(life(1).events)
    again.database.close()


def test_a_lost_connection_is_made_again(leader: Store) -> None:
    """What was being written fails and is told so; the next batch is stored: nobody else led meanwhile."""
    leader.keep(*life(1).changes)
    cut(leader)
    first = leader.ledger.commit(_batch(2)).exception(60)
    assert isinstance(first, TrainmasterError)
    leader.keep(*life(2).changes)
    assert [job.seq for job in leader.reader.list_jobs(ALL, _ALL).items] == [2, 1]


def test_a_server_that_was_led_past_never_writes_again(leader: Store) -> None:
    """The epoch fence: while it was cut off another server led and ended; its memory is out of date."""
    leader.keep(*life(1).changes)
    cut(leader)
    other = Store.open(leader.url, leader.backups)
    other.keep(*life(2).changes)
    for _ in range(3):  # first the broken connection, then the lock, whatever the order
        assert isinstance(leader.ledger.commit(_batch(3)).exception(60), TrainmasterError)
    other.database.close()
    errors = [leader.ledger.commit(_batch(4)).exception(60) for _ in range(3)]
    assert [type(error) for error in errors] == [Unavailable] * 3
    assert "out of date" in str(errors[-1])
    assert [job.seq for job in leader.reader.list_jobs(ALL, _ALL).items] == [2, 1]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_count": 3, "tcp_user_timeout": 25_000}),
        ("?connect_timeout=3&keepalives_idle=60", {"connect_timeout": 3, "keepalives_idle": 60, "keepalives_count": 3}),
    ],
)
def test_a_database_server_whose_machine_is_gone_is_noticed(
    monkeypatch: pytest.MonkeyPatch, said: str, wanted: dict[str, int]
) -> None:
    """Within half a minute, where the address says nothing else."""
    seen: dict[str, object] = {}

    def connect(*parts: object, **more: object) -> None:
        seen.update(more)
        raise psycopg.OperationalError("nobody is here")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(Unavailable):
        Database.follow(f"postgresql://nobody@nowhere/none{said}")
    assert {key: int(str(seen[key])) for key in wanted} == wanted


@pytest.mark.parametrize(
    ("said", "sources"), [("", {"session"}), ("&options=-c%20tcp_keepalives_count%3D9", {"client", "default"})]
)
def test_postgresql_notices_that_the_machine_of_the_leader_is_gone(
    postgres: Server, tmp_path: Path, said: str, sources: set[str]
) -> None:
    """Its own settings would let the lock be held for two hours. Over a socket of this machine they read as 0."""
    names = "'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count'"
    asked = f"SELECT source FROM pg_settings WHERE name IN ({names})"
    database = Database.open(postgres.database() + said, backup_dir=str(tmp_path))
    assert set(database.write(lambda c: list(c.exec_driver_sql(asked).scalars())).result(60)) == sources
    database.close()


def test_a_leader_is_found_once_it_says_where_it_answers(postgres: Server, tmp_path: Path) -> None:
    """Between taking the lead and answering nobody is sent to it, nor to the one that led before."""
    url, backups = postgres.database(), str(tmp_path)
    for address in ("http://10.0.0.1:8470", "http://10.0.0.2:8470"):
        led = Database.open(url, backup_dir=backups, address=address)
        follows = Database.follow(url)
        assert (led.leads, follows.leads) == (True, False)
        assert follows.leader() == ""
        led.announce()
        led.announce()
        assert follows.leader() == address
        led.close()
        assert not led.leads
        give_up = time.monotonic() + LEAD_S  # PostgreSQL ends a session a moment after its client
        while follows.leader() is not None:
            assert time.monotonic() < give_up
        follows.close()


def _batch(seq: int) -> Batch:
    return Batch(list(life(seq).changes))
