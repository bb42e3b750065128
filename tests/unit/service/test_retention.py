"""What is said to be removed is what is removed: for all rules, all ages and all settings; and nothing that is needed
ever is.
"""

import asyncio
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.examples import examples
from tests.fixtures.histories import History, new_job
from tests.fixtures.plans import plans
from tests.fixtures.seeing import ALL, reading
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Forbidden
from trainmaster.core.events import AuditEvent
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.control.ended import EndedJobs
from trainmaster.service.upkeep.retention import Retention
from trainmaster.service.upkeep.retention_rules import DAY_S, Keeping, rules_of
from trainmaster.storage.trees import remove_tree
from trainmaster.store import leftovers
from trainmaster.store.assets.models import ModelRows, saved_model
from trainmaster.store.audit import AuditQuery
from trainmaster.store.database import Database
from trainmaster.store.jobs.job_query import JobQuery
from trainmaster.store.jobs.ledger import Batch, IdempotencyRecord, Ledger
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.leftovers import Leftovers

ADMIN: Final = Principal("admin", "admin")
NOW: Final = 1_000.0 * DAY_S


@dataclass(frozen=True)
class Past:
    """A job of some days ago. `kept`: a model version whose files lie in the job's folder."""

    age: int
    live: bool = False
    logs: bool = True
    kept: bool = False
    upload: int | None = None


@dataclass
class World:
    """A home with a past. `stage` stands for the loop: deletions are stored at once."""

    home: str
    jobs: dict[str, Past] = field(default_factory=dict)
    live: dict[str, Job] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layout = Layout(self.home)
        os.makedirs(self.layout.path("uploads"))
        self.database = Database.open(f"sqlite:///{self.layout.database}", backup_dir=self.layout.path("backups"))
        self.ledger, self.records, self.rows = (
            Ledger(self.database),
            LedgerReader(self.database),
            Leftovers(self.database),
        )
        ended = EndedJobs(self, lambda job: remove_tree(self.layout.job(job)))  # type: ignore[arg-type]
        self.rules = rules_of(self.rows, self.layout, self.records, ended, lambda: NOW)

    def delete(self, job: Job, audit_event: AuditEvent) -> None:
        self.ledger.commit(Batch(deleted=[job.id], audit_events=[audit_event], seq=self.records.last_seq() + 1)).result(
            60
        )

    async def durable(self) -> None:
        """It is."""

    def job(self, past: Past) -> str:
        """Store a job, with the files and the model that it left."""
        seq = len(self.jobs) + 1
        story = History(seq * 20, at=at(past.age)).submit(new_job(seq, spec_digest=f"s{seq}"))
        if not past.live:
            story.start().succeed()
        document = "{}" if past.upload is None else f'{{"code": {{"upload": "sha256:{past.upload:064x}"}}}}'
        self.ledger.commit(Batch(list(story.changes), {f"s{seq}": document})).result(60)
        assert story.job is not None
        id_ = story.job.id
        self.jobs[id_] = past
        if past.logs:
            place = Path(self.layout.task(id_, 1, 0, 0).root)
            place.mkdir(parents=True)
            for name in ("log", "log.idx", "log.times", "usage.jsonl"):
                (place / name).write_text("x")
        where = f"jobs/{id_}/model" if past.kept else f"models/m{seq}/1"
        saved = saved_model("sha256:1", 1, 1, 1.0, id_, 1, where)
        ModelRows(self.database).register(model_id=f"m{seq}", name=f"m{seq}", owner="ann", saved=saved)
        return id_

    def upload(self, number: int, age: int) -> None:
        os.makedirs(self.layout.upload(f"{number:064x}"))
        os.utime(self.layout.upload(f"{number:064x}"), (at(age), at(age)))

    def retention(self, keeping: Keeping) -> Retention:
        return Retention(self.rules, keeping, lambda: NOW)

    def log(self, job: str) -> str:
        path = Path(self.layout.task(job, 1, 0, 0).log)
        return path.read_text() if path.exists() else ""

    def stored(self) -> set[str]:
        return {job.id for job in reading(self.database).list_jobs(ALL, JobQuery(), 500).items}


def at(age: int) -> float:
    """Return when something was that is so many days and a half old."""
    return NOW - (age + 0.5) * DAY_S


def asked(retention: Retention, **others: float) -> dict[str, Any]:
    return {one.rule: one for one in asyncio.run(retention.ask(ADMIN, **others)).items}


def swept(retention: Retention) -> None:
    for step in retention.steps():
        if step is not None:
            asyncio.run(step())  # type: ignore[arg-type]


AGES: Final = st.integers(0, 5)
PASTS: Final = st.builds(
    Past, age=AGES, live=st.booleans(), logs=st.booleans(), kept=st.booleans(), upload=st.none() | st.integers(0, 3)
)
KEPT: Final = st.sampled_from([0.0, 1 * DAY_S, 2 * DAY_S, 3 * DAY_S])


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(
    st.lists(PASTS, max_size=7),
    st.dictionaries(st.integers(0, 3), AGES),
    st.lists(AGES, max_size=5),
    st.lists(AGES, max_size=5),
    st.builds(Keeping, KEPT, KEPT, KEPT, KEPT, KEPT),
)
def test_what_is_said_is_what_goes(
    pasts: list[Past], uploads: dict[int, int], keys: list[int], audit_events: list[int], keeping: Keeping
) -> None:
    """Compared with a naive reading of the rules, before and after, on pages of two."""
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setattr(leftovers, "PAGE", 2)
        world = World(home)
        for past in pasts:
            world.job(past)
        for number, age in uploads.items():
            world.upload(number, age)
        records = [IdempotencyRecord("default", f"k{n}", "d", (), at(age)) for n, age in enumerate(keys)]
        world.ledger.commit(Batch(keys=records, audit_events=[audit_event(at=at(age)) for age in audit_events])).result(
            60
        )

        def old(age: int, kept_s: float) -> bool:
            return bool(kept_s) and (age + 0.5) * DAY_S > kept_s + 60.0

        ended = {id_: past for id_, past in world.jobs.items() if not past.live and not past.kept}
        jobs = {id_ for id_, past in ended.items() if old(past.age, keeping.jobs)}
        logs = {id_ for id_, past in ended.items() if old(past.age, keeping.logs) and past.logs} - jobs
        named = {past.upload for past in world.jobs.values()}
        folders = {number for number, age in uploads.items() if old(age, keeping.uploads) and number not in named}
        words = sum(old(age, keeping.audit) for age in audit_events)
        wanted = {
            "jobs": len(jobs),
            "logs": len(logs),
            "uploads": len(folders),
            "keys": sum(old(age, keeping.keys) for age in keys),
            "audit": words + sum(old(past.age, keeping.audit) for past in pasts),  # each was submitted
        }
        for _ in range(2):  # asking changes nothing
            answers = asked(world.retention(keeping))
            assert {name: one.count for name, one in answers.items()} == wanted
        for name, one in answers.items():
            assert (one.after_s or 0.0) == getattr(keeping, name)
            assert (one.oldest is None) == (one.count == 0)
        swept(world.retention(keeping))
        assert world.stored() == set(world.jobs) - jobs
        assert {id_ for id_ in world.jobs if os.path.isdir(world.layout.job(id_))} == {
            id_ for id_, past in world.jobs.items() if past.logs and id_ not in jobs
        }
        assert {id_ for id_ in world.jobs if "deleted" in world.log(id_)} == logs
        assert {id_ for id_ in world.jobs if world.log(id_) == "x"} == {
            id_ for id_, past in world.jobs.items() if past.logs and id_ not in jobs | logs
        }
        assert {int(name, 16) for name in os.listdir(world.layout.path("uploads"))} == set(uploads) - folders
        left = [world.records.idempotency("default", f"k{n}") for n, _ in enumerate(keys)]
        assert left.count(None) == wanted["keys"]
        told = audit_of(world.database)
        assert sum(one.kind == "words" for one in told) == len(audit_events) - words
        assert {one.subject.name for one in told if one.kind == "job_outlived"} == jobs
        told = audit_of(world.database, AuditQuery(subject_kind="job"))
        assert {one.by.name for one in told if one.kind != "submitted"} <= {"system"}
        again = asked(world.retention(keeping))
        assert {name: one.count for name, one in again.items() if name != "uploads"} == dict.fromkeys(
            ("jobs", "logs", "audit", "keys"), 0
        )
        world.database.close()


@pytest.fixture
def world(tmp_path: Path) -> Any:
    made = World(str(tmp_path / "home"))
    yield made
    made.database.close()


def test_other_settings_can_be_tried_without_being_set(world: World) -> None:
    """It is said before it is done: nothing goes, and what is set holds on."""
    job = world.job(Past(age=4))
    retention = world.retention(Keeping())
    assert {one.count for one in asked(retention).values()} == {0}
    tried = asked(retention, jobs=DAY_S)["jobs"]
    assert (tried.count, tried.measured, tried.after_s) == (1, 1, DAY_S)
    assert tried.oldest is not None
    assert tried.oldest < NOW - 4 * DAY_S
    assert tried.size_bytes > 0
    assert "1d" in tried.text.en
    assert "任务" in tried.text.zh
    swept(retention)
    assert world.stored() == {job}
    with pytest.raises(Forbidden):
        asyncio.run(retention.ask(Principal("ann")))


def test_logs_that_are_gone_are_not_looked_for_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep costs what is new to it, however many jobs are kept."""
    for age in (5, 4, 3, 0):
        world.job(Past(age=age))
    retention, seen = world.retention(Keeping(logs=DAY_S)), list[tuple[float, int]]()
    swept(retention)
    ask = world.rows.ended

    def note(before: float, after: tuple[float, int]) -> Any:
        found = ask(before, after)
        seen.extend(job.ended for job in found)
        return found

    monkeypatch.setattr(world.rows, "ended", note)
    swept(retention)
    assert seen == []


def test_a_link_in_the_place_of_a_log_leads_nowhere(world: World, tmp_path: Path) -> None:
    """What a task put there is removed, never what it points to."""
    job, other = world.job(Past(age=4)), tmp_path / "other"
    other.write_text("precious")
    log = Path(world.layout.task(job, 1, 0, 0).log)
    log.unlink()
    log.symlink_to(other)
    swept(world.retention(Keeping(logs=DAY_S)))
    assert other.read_text() == "precious"
    assert not log.is_symlink()
    assert "清理" in log.read_text()


def test_a_rule_that_fails_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = world.job(Past(age=4))
    monkeypatch.setattr(world.rows, "old_keys", lambda *_: (_ for _ in ()).throw(OSError("away")))
    swept(world.retention(Keeping(jobs=DAY_S, keys=DAY_S)))
    assert job not in world.stored()


def test_what_goes_is_found_by_an_index(world: World) -> None:
    """SQLite's own plan: nothing that is kept is looked at, nothing is sorted."""
    world.job(Past(age=4))

    def ask() -> None:
        world.rows.ended(NOW)
        world.rows.old_audit_events(NOW)

    for _, plan in plans(world.database, ask):
        assert any("job_by_ended" in step or "audit_by_time" in step for step in plan), plan
        assert not [step for step in plan if "TEMP B-TREE" in step or step.startswith("SCAN")], plan
