"""Only one server leads a PostgreSQL store, whatever breaks (design 7: advisory lock and epoch fence)."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.histories import life
from tests.fixtures.postgres import Server
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import Conflict, TrainmasterError, Unavailable
from trainmaster.store.jobs.ledger import Batch
from trainmaster.store.jobs.read_jobs import JobQuery

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
    with pytest.raises(Conflict, match="Another server leads"):
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


def _batch(seq: int) -> Batch:
    return Batch(list(life(seq).changes))
