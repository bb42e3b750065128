"""Outputs on their way to object storage as rows, on both databases (R147)."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.contract.store.conftest import Store
from tests.fixtures.histories import History, new_job
from trainmaster.core.sending import FileState, SendState, SendTarget, SentFile
from trainmaster.messages.assets import objects as said
from trainmaster.store.leftovers import Leftovers
from trainmaster.store.sending.rows import SendRows


@pytest.fixture
def rows(store: Store) -> SendRows:
    return SendRows(store.database)


def over(store: Store, seq: int = 1) -> SendTarget:
    """Return a place of a job that has ended."""
    history = History(seq * 50).submit(new_job(seq)).start().succeed()
    store.keep(*history.changes)
    assert history.job is not None
    return SendTarget(history.job.id, history.job.seq, 0, "default", "data/runs", "outputs", "keep")


def file(path: str, state: FileState = FileState.UP) -> SentFile:
    why = said.send_is_link() if state is FileState.LEFT else None
    return SentFile(path, 7, 1_700_000_000_123_456_789, 1_700_000_000_123_456_790, state, why)


def test_what_is_kept_is_read_back_and_only_what_is_open_is_looked_at(store: Store, rows: SendRows) -> None:
    one, other = over(store), over(store, 2)
    second = replace(one, number=1, folder="model", empty=True)
    rows.add([one, second])
    rows.add([other, replace(one, place="elsewhere")])
    assert rows.open() == [one, second, other]
    far = replace(one, files=3, size_bytes=2**40, left_files=1, said=said.send_is_link(), tries=2, next_at=5.5)
    assert rows.put(far)
    assert rows.of_job(one.seq) == [far, second]
    assert rows.put(replace(far, open=False))
    assert rows.open() == [second, other]
    assert not rows.put(replace(one, number=7))


def test_the_files_of_a_place_are_forgotten_once_all_are_there(store: Store, rows: SendRows) -> None:
    one = over(store)
    rows.add([one])
    rows.note(one, [file("a", FileState.GOING), file("中 文"), file("link", FileState.LEFT)])
    rows.note(one, [file("a")])
    assert rows.files(one) == {"a": file("a"), "中 文": file("中 文"), "link": file("link", FileState.LEFT)}
    done = replace(one, state=SendState.DONE, open=False, left_out=1)
    rows.put(done)
    assert len(rows.files(one)) == 3, "something was left out: it may be asked for again"
    assert rows.again(one.seq, 9.0) == 1
    assert rows.files(one).keys() == {"a", "中 文"}
    [again] = rows.open()
    assert (again.state, again.left_out, again.changed_at) == (SendState.GOING, 0, 9.0)
    assert rows.again(one.seq, 10.0) == 0, "it is under way"
    rows.put(replace(again, state=SendState.DONE))
    assert rows.files(one) == {}


def test_a_deleted_job_takes_its_rows_with_it_and_no_rule_deletes_one_that_is_under_way(
    store: Store, rows: SendRows
) -> None:
    one = over(store)
    assert [found.id for found in Leftovers(store.database).ended(2.0**40)] == [one.job]
    rows.add([one])
    rows.note(one, [file("a")])
    assert Leftovers(store.database).ended(2.0**40) == []
    store.keep(deleted=[one.job], seq=10_000)
    rows.add([one])
    rows.note(one, [file("b")])
    with store.database.read() as connection:
        for table in ("send_target", "send_file"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0
