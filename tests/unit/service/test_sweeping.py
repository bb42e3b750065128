"""What nobody needs is removed, in any order of events and crashes, and nothing that is needed."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.fixtures.histories import History, life
from trainmaster.core.folders.layout import Layout
from trainmaster.service.control.ended import EndedJobs
from trainmaster.service.upkeep import sweeping
from trainmaster.service.upkeep.retention import Retention
from trainmaster.service.upkeep.retention_rules import Keeping, Step, rules_of
from trainmaster.service.upkeep.sweeping import Sweeper
from trainmaster.storage.trees import remove_tree
from trainmaster.storage.uploads import use
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, IdempotencyRecord, Ledger
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.leftovers import Leftovers

DAY = 86400.0
KEEPING = Keeping(keys=30 * DAY, uploads=30 * DAY)


class World:
    """A home with uploads, jobs that name them, and a sweep that goes on step by step."""

    def __init__(self, home: str) -> None:
        self.layout = Layout(home)
        os.makedirs(os.path.join(home, "uploads"))
        self.database = Database.open(f"sqlite:///{self.layout.database}", backup_dir=self.layout.path("backups"))
        self.ledger, self.records = Ledger(self.database), LedgerReader(self.database)
        self.jobs: dict[str, str] = {}  # stored job -> the upload that it names
        self.number = 0
        self.now = time.time()
        self.sweep: Iterator[Step] | None = None

    def sweeper(self) -> Sweeper:
        def remove(job: str) -> None:
            remove_tree(self.layout.job(job))

        rows, nothing = Leftovers(self.database), EndedJobs(SimpleNamespace(live={}), remove)  # type: ignore[arg-type]
        rules = rules_of(rows, self.layout, self.records, nothing, lambda: self.now)
        retention = Retention(rules, KEEPING, lambda: self.now)
        return Sweeper(self.layout, retention, rows, remove, lambda job: False, lambda: self.now)

    def send(self, digest: str) -> str:
        """Store an upload, as it is received: anew, or known and touched."""
        folder = self.layout.upload(digest)
        if not use(folder):
            os.makedirs(folder)
        os.utime(folder, (self.now, self.now))
        return folder

    def submit(self, digest: str) -> History:
        """Submit as the service does: touch what is named; without it, it is sent first; then the job is stored."""
        if use(self.layout.upload(digest)):
            os.utime(self.layout.upload(digest), (self.now, self.now))
        else:
            self.send(digest)
        self.number += 1
        story = life(self.number, spec_digest=f"spec-{digest}")
        assert story.job is not None
        self.step()  # in between: nothing of the job is stored yet
        document = f'{{"code": {{"upload": "sha256:{digest}"}}}}'
        self.ledger.commit(Batch(list(story.changes), {f"spec-{digest}": document})).result(60)
        self.jobs[story.job.id] = digest
        return story

    def delete(self) -> None:
        if self.jobs:
            job = next(iter(self.jobs))
            self.ledger.commit(Batch(deleted=[job], seq=self.records.last_seq() + 1)).result(60)
            del self.jobs[job]

    def step(self) -> None:
        self.sweep = self.sweep or self.sweeper().steps()
        if next(self.sweep, True):
            self.sweep = None

    def check(self) -> None:
        missing = [job for job, digest in self.jobs.items() if not os.path.isdir(self.layout.upload(digest))]
        assert not missing


ACTS = st.one_of(
    st.tuples(st.sampled_from(["send", "submit"]), st.integers(0, 3)),
    st.tuples(st.sampled_from(["delete", "step", "crash", "month"]), st.just(0)),
)


@settings(max_examples=examples(40))
@given(st.lists(ACTS, max_size=40))
def test_nothing_that_a_job_names_is_ever_removed(acts: list[tuple[str, int]]) -> None:
    """Whenever the sweep goes on or is cut off; and what no job names is gone after a month."""
    with tempfile.TemporaryDirectory() as home:
        world = World(home)
        for act, number in acts:
            digest = f"{number:064x}"
            match act:
                case "send":
                    world.send(digest)
                case "submit":
                    world.submit(digest)
                case "delete":
                    world.delete()
                case "step":
                    world.step()
                case "crash":
                    world.sweep = None
                case "month":
                    world.now += 31 * DAY
            world.check()
        world.now += 31 * DAY
        for _ in world.sweeper().steps():
            world.check()
        assert set(os.listdir(world.layout.path("uploads"))) == set(world.jobs.values())
        world.database.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(str(tmp_path / "home"))
    yield made
    made.database.close()


def test_what_was_touched_while_it_was_set_aside_goes_back(world: World) -> None:
    """Also where the server ended in between."""
    old, used = world.send("0" * 64), world.send("1" * 64)
    for folder in (old, used):
        os.rename(folder, world.layout.path("uploads", f".going-{os.path.basename(folder)}"))
    os.utime(world.layout.path("uploads", ".going-" + "0" * 64), (0, 0))
    list(world.sweeper().steps())
    assert os.listdir(world.layout.path("uploads")) == ["1" * 64]


def test_deleted_jobs_keys_and_half_made_things_go(world: World) -> None:
    """Files that could not be removed with their job first, then what tells of them."""
    jobs = [world.submit(f"{number:064x}") for number in range(3)]
    keys = [IdempotencyRecord("default", name, "d", (), at) for name, at in (("old", 0.0), ("new", world.now))]
    world.ledger.commit(Batch(keys=keys)).result(60)
    left = [story.job.id for story in jobs if story.job is not None]
    for job in left:
        os.makedirs(world.layout.job(job))
        world.delete()
    for name in ("uploads/.incoming-1.tree", "models/.saving/t1-1"):
        os.makedirs(world.layout.path(name))
        os.utime(world.layout.path(name), (0, 0))
    os.makedirs(world.layout.path("models/.saving/t2-1"))
    list(world.sweeper().steps())
    assert not any(os.path.exists(world.layout.job(job)) for job in left)
    assert len(Leftovers(world.database).deleted()) == 1
    assert world.records.next_job_seq() == 4
    assert world.records.idempotency("default", "old") is None
    assert world.records.idempotency("default", "new") is not None
    assert os.listdir(world.layout.path("models/.saving")) == ["t2-1"]
    assert not [name for name in os.listdir(world.layout.path("uploads")) if name.startswith(".")]


async def test_a_server_sweeps_by_itself_again_and_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "EVERY_S", 0.01)
    first, later = (world.send(digit * 64) for digit in "ab")
    os.utime(first, (world.now - 31 * DAY,) * 2)
    following = asyncio.create_task(world.sweeper().follow())
    async with asyncio.timeout(60):
        while os.path.exists(first):
            await asyncio.sleep(0.01)
        assert os.path.exists(later)
        world.now += 31 * DAY
        while os.path.exists(later):
            await asyncio.sleep(0.01)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
