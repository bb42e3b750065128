"""The ledger's promises (issue item 4): fold == rows, all or nothing, only the guilty fail, keys once (B4)."""

import threading
from dataclasses import replace
from functools import reduce as fold
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.store.conftest import Store
from tests.fixtures.examples import examples
from tests.fixtures.histories import History, grouped, life, new_job, random_histories
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import Conflict, StorageFailed, TrainmasterError
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.reduce import reduce
from trainmaster.store.jobs.ledger import Batch, Change, IdempotencyRecord


def folded(events: list[Event]) -> Job:
    """What `reduce` makes of events as they were stored."""
    job = fold(lambda job, event: reduce(job, event)[0], events, None)
    assert job is not None
    return job


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fold_of_the_stored_events_is_the_stored_rows(store: Store, data: st.DataObject) -> None:
    """Item 4: any history, legal or not, committed in any grouping, leaves rows that are the fold of its events."""
    seq, first = store.records.next_job_seq(), store.records.last_seq() + 1
    history = data.draw(random_histories(seq, first))
    changes = list(grouped(data.draw, history))
    batches = data.draw(st.integers(1, len(changes)))
    size = -(-len(changes) // batches)
    futures = [store.ledger.commit(Batch(changes[at : at + size])) for at in range(0, len(changes), size)]
    for future in futures:
        future.result(60)
    assert history.job is not None
    stored = store.reader.events(ALL, history.job.id)
    assert stored == history.events
    assert store.records.get_job(history.job.id) == folded(stored) == history.job
    every = {change.job.attempt.number: change.job.attempt for change in history.changes if change.job.attempt}
    assert store.reader.history(ALL, history.job.id) == ([every[number] for number in sorted(every)], stored)
    live, malformed = store.records.live_jobs()
    assert malformed == []
    assert (history.job in live) == (not history.job.terminal)


def test_a_restart_finds_everything_again(store: Store) -> None:
    """Round trip: jobs, numbers and specs are the same after the store was closed and opened."""
    history = life(1, slug="first", description="描述", labels=(("团队", "视觉"),))
    store.keep(*history.changes, specs={"sha256:1": '{"a":1}'})
    again = store.reopen()
    try:
        assert history.job is not None
        assert again.records.get_job(history.job.id) == history.job
        assert again.records.spec("sha256:1") == '{"a":1}'
        assert again.records.last_seq() == history.seq - 1
        assert again.records.next_job_seq() == 2
        assert again.database.server_id == again.database.server_id != ""
    finally:
        again.database.close()


def test_many_threads_commit_in_few_transactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Group commit: what 32 threads submit is all stored, each future only after its batch, in fewer transactions."""
    transactions = 0
    transact = store.ledger._transact

    def counted(*arguments: Any) -> None:
        nonlocal transactions
        transactions += 1
        transact(*arguments)

    monkeypatch.setattr(store.ledger, "_transact", counted)
    stored: list[Job] = []

    def work(thread: int) -> None:
        for turn in range(10):
            history = History(1 + thread * 100 + turn).submit(new_job(1 + thread * 100 + turn))
            assert history.job is not None
            store.keep(*history.changes)
            assert store.records.get_job(history.job.id) == history.job, "acknowledged, so visible to every reader"
            stored.append(history.job)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored) == 320
    assert sorted(job.seq for job in store.records.live_jobs()[0]) == sorted(job.seq for job in stored)
    assert transactions < 320, "no two batches ever shared a transaction"


def test_only_the_guilty_batch_of_a_group_fails(store: Store) -> None:
    """One batch breaks a uniqueness: nothing of it is stored, its neighbours in the same group are."""
    store.keep(*life(1, slug="taken").changes[:1])
    hold, held = threading.Event(), threading.Event()
    store.database.write(lambda _: (held.set(), hold.wait(60)))
    held.wait(60)
    good = [History(100 + n).submit(new_job(10 + n)) for n in range(5)]
    bad = History(200).submit(new_job(20, slug="taken"))
    unrelated = Change(*[(e := History(201).submit(new_job(21)).changes[0]).events, e.job])
    futures = [store.ledger.commit(Batch(list(one.changes))) for one in good[:3]]
    guilty = store.ledger.commit(Batch([unrelated, *bad.changes], specs={"sha256:bad": "x"}))
    futures += [store.ledger.commit(Batch(list(one.changes))) for one in good[3:]]
    hold.set()
    assert [future.result(60) for future in futures] == [None] * 5
    assert isinstance(guilty.exception(60), Conflict)
    assert store.records.get_job(unrelated.job.id) is None
    assert store.records.spec("sha256:bad") is None
    assert {job.seq for job in store.records.live_jobs()[0]} == {1, 10, 11, 12, 13, 14}


def test_what_was_computed_from_a_failed_change_fails_too(store: Store) -> None:
    """fold == rows holds over failures: an event that stands on an unstored version is refused, alone or in a group."""
    history = History(1).submit(new_job(1)).start()
    assert history.job is not None
    store.keep(*history.changes[:2])
    with pytest.raises(StorageFailed):
        store.keep(*history.changes[3:])  # one is missing
    with pytest.raises(StorageFailed):
        store.keep(history.changes[2], *history.changes[4:])
    assert store.reader.events(ALL, history.job.id) == history.events[:2]
    assert store.records.get_job(history.job.id) == history.changes[1].job
    store.keep(*history.changes[2:])
    assert store.records.get_job(history.job.id) == history.job


def test_a_change_over_two_attempts_is_refused(store: Store) -> None:
    """The state of the first attempt would be lost, so the ledger does not take it."""
    job = new_job(1, policy=replace(new_job().policy, retries=1))
    history = History(1).submit(job).start().tasks(Kind.TASK_EXITED, exit_code=1)
    history.event(Kind.REAPED, 1).start()
    assert history.job is not None
    assert history.job.attempts_used == 2
    with pytest.raises(Conflict):
        store.keep(Change(tuple(history.events), history.job))
    store.keep(*history.changes)
    assert [attempt.number for attempt in store.reader.history(ALL, job.id)[0]] == [1, 2]


def test_one_key_makes_one_job_however_many_ask(store: Store) -> None:
    """B4: of 16 racing submits with one idempotency key exactly one is stored, and the key names its job."""
    outcome: list[tuple[str, TrainmasterError | None]] = []
    barrier = threading.Barrier(16)

    def submit(number: int) -> None:
        history = History(number * 10 + 1).submit(new_job(number + 1))
        assert history.job is not None
        key = IdempotencyRecord("default", "key-1", f"body-{number}", (history.job.id,), 5.0)
        barrier.wait(60)
        error = store.ledger.commit(Batch(list(history.changes), keys=[key])).exception(60)
        assert error is None or isinstance(error, TrainmasterError)
        outcome.append((history.job.id, error))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [id_ for id_, error in outcome if error is None]
    assert len(won) == 1
    assert all(isinstance(error, Conflict) for id_, error in outcome if id_ != won[0])
    record = store.records.idempotency("default", "key-1")
    assert record is not None
    assert record.jobs == (won[0],)
    assert [job.id for job in store.records.live_jobs()[0]] == won
    assert store.records.idempotency("other", "key-1") is None


def test_a_deleted_job_leaves_only_its_numbers(store: Store) -> None:
    """R194: an ended job goes with its events and its spec (if nobody shares it); its numbers are never given again."""
    gone, shared, live = (
        life(1),
        life(2, spec_digest="sha256:s"),
        History(90).submit(new_job(3, spec_digest="sha256:s")),
    )
    store.keep(*gone.changes, *shared.changes, *live.changes, specs={"sha256:1": "one", "sha256:s": "shared"})
    last = life(9)
    store.keep(*last.changes)
    assert gone.job
    assert live.job
    assert shared.job
    assert last.job
    store.keep(deleted=[gone.job.id, shared.job.id, last.job.id])
    assert store.records.get_job(gone.job.id) is None
    assert store.reader.history(ALL, gone.job.id)[0] == store.reader.events(ALL, gone.job.id) == []
    assert [event.job for event in store.records.events_after(0, 1000)] == [live.job.id]
    assert store.records.spec("sha256:1") is None
    assert store.records.spec("sha256:s") == "shared"
    assert store.records.last_seq() == last.seq - 1
    assert store.records.next_job_seq() == 10
    store.keep(deleted=[gone.job.id])  # again: nothing to do
    with pytest.raises(Conflict):
        store.keep(*life(4).changes, deleted=[live.job.id])
    assert store.records.next_job_seq() == 10, "nothing of the refused batch was stored"


def test_a_slug_is_free_again_after_its_job_is_deleted(store: Store) -> None:
    """One slug names one job of a workspace; other workspaces do not matter."""
    first = life(1, slug="mnist")
    assert first.job is not None
    store.keep(*first.changes, *life(2, slug="mnist", workspace="other").changes)
    with pytest.raises(Conflict):
        store.keep(*life(3, slug="mnist").changes)
    store.keep(deleted=[first.job.id])
    store.keep(*life(3, slug="mnist").changes)
    assert store.reader.find(ALL, "mnist").seq == 3


def test_text_of_every_kind_comes_back(store: Store) -> None:
    """Names and reasons with quotes, percent signs, NUL escapes in event data and emoji are data, never syntax."""
    nasty = "a'; DROP TABLE job; -- %s ? {} \\ \" 训练 🚂"
    history = History(1).submit(new_job(1, name=nasty, description=nasty)).event(Kind.NOTED, code="x", message="\x00")
    assert history.job is not None
    store.keep(*history.changes)
    assert store.records.get_job(history.job.id) == history.job
    assert store.reader.events(ALL, history.job.id) == history.events


def test_a_closed_store_refuses_and_close_writes_what_is_queued(store: Store) -> None:
    """Nothing hangs: every future is resolved, also of those who come too late."""
    histories = [life(n) for n in range(1, 40)]
    futures = [store.ledger.commit(Batch(list(history.changes))) for history in histories]
    store.ledger.close()
    assert all(future.done() for future in futures)
    futures = [store.ledger.commit(Batch(list(life(n).changes))) for n in range(40, 60)]
    store.database.close()
    assert [future.result(0) for future in futures] == [None] * 20
    late = store.ledger.commit(Batch(list(life(99).changes)))
    assert isinstance(late.exception(60), TrainmasterError)
