"""What may be seen is a value that only the policy makes, that every reader must be given, and that SQL and memory read
alike.
"""

import ast
import contextlib
import inspect
import itertools
import random
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trainmaster
from tests.fixtures.audited import audit_event
from tests.fixtures.examples import examples
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL, only, reading
from trainmaster.access.roles import SUBSCRIBED
from trainmaster.access.visible import NOTHING, InWorkspace, Visible
from trainmaster.core.errors import NotFound
from trainmaster.core.events import Subject
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.service.control.feed import Feed
from trainmaster.service.scheduling.counts import Group, StateCounts
from trainmaster.store import audit
from trainmaster.store.assets.datasets import dataset_version
from trainmaster.store.assets.lineage import LineageReader
from trainmaster.store.assets.models import ModelRows, saved_model
from trainmaster.store.assets.subscriptions import Subscription, SubscriptionRows
from trainmaster.store.assets.versions import PASSED_ON, Asset, AssetKind, AssetQuery, AssetReader, add_version
from trainmaster.store.audit import AuditEntry, AuditQuery, AuditReader
from trainmaster.store.database import Database
from trainmaster.store.jobs.job_query import JobQuery, filters
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.pages import page_keys
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.people.accounts import PeopleRows, User

NAMES: Final = st.sampled_from(["ann", "bob", "Ann", "a'b", "%", "数据"])
SOME: Final = st.frozensets(NAMES, max_size=3)
LEVELS: Final = st.frozensets(st.sampled_from([JobShare.READ.value, JobShare.READ_WRITE.value]))
VISIBLE: Final = st.builds(
    Visible,
    st.booleans(),
    st.none() | NAMES,
    SOME,
    shared=SOME,
    levels=LEVELS,
    within=st.none() | NAMES,
    subscribed=SOME,
    closed=SOME,
)
READERS: Final = [
    getattr(reader, name)
    for reader in (JobReader, AssetReader, AuditReader, LineageReader)
    for name in vars(reader)
    if not name.startswith("_")
]
OF_MEMORY: Final = [Feed.subscribe, StateCounts.by_state, filters, page_keys]


@pytest.mark.parametrize("reader", [*READERS, *OF_MEMORY], ids=lambda reader: reader.__qualname__)
def test_no_reader_can_be_asked_without_it(reader: Any) -> None:
    """A new question of a reader takes it first, or belongs to what the platform asks for itself
    (`store.jobs.read_ledger`).
    """
    first = next(one for one in inspect.signature(reader).parameters.values() if one.name != "self")
    assert (first.name, first.annotation, first.default) == ("visible", Visible, inspect.Parameter.empty)


def test_only_the_policy_makes_one() -> None:
    root = Path(trainmaster.__file__).parent
    for path in root.rglob("*.py"):
        made = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "Visible" not in made or path.parent.name == "access", f"{path}: ask access.decide.decide for it"


@pytest.fixture
def database(tmp_path: Path) -> Any:
    opened = Database.open(f"sqlite:///{tmp_path}/t.db", backup_dir=str(tmp_path / "backups"))
    yield opened
    opened.close()


def everybodys(database: Database) -> list[Job]:
    """Store a job and a model of each owner in each workspace, and return the jobs."""
    names = ["ann", "bob", "Ann", "a'b", "%", "数据"]
    histories = [
        History(seq * 10).submit(
            new_job(seq, owner=owner, workspace=workspace, slug=f"s{seq}", share=list(JobShare)[seq % 3])
        )
        for seq, (owner, workspace) in enumerate(itertools.product(names, names), 1)
    ]
    Ledger(database).commit(Batch([change for history in histories for change in history.changes])).result(60)
    jobs = [history.job for history in histories if history.job is not None]
    for job in jobs:
        saved = saved_model("sha256:1", 1, 1, 1.0, job.id, 1, f"models/{job.seq}")
        ModelRows(database).register(
            model_id=f"m{job.seq}", name=f"of {job.owner}", owner=job.owner, saved=saved, workspace=job.workspace
        )
    return jobs


def passed_on(database: Database, kind: AssetKind) -> list[Asset]:
    """Store something of a kind of each owner in each workspace, some offered to others, who subscribe to some; return
    them.
    """
    names, draw = ["ann", "bob", "Ann", "a'b", "%", "数据"], random.Random(5)
    passing = SubscriptionRows(database)
    for seq, (owner, workspace) in enumerate(itertools.product(names, names)):
        share = list(JobShare)[seq % 3].value
        line = Asset(f"d{seq}", kind, f"of {owner}", workspace, owner, float(seq), share=share)
        new = dataset_version("sha256:1", 1, 1, float(seq), f"d/{seq}", owner)
        database.write(partial(add_version, wanted=line, new=new)).result(60)
        others = [one for one in names if one != workspace]
        for to in ["", *others] if seq % 5 == 0 else draw.sample(others, seq % 3):
            passing.offer(ALL, line, to, 1.0, owner, audit_event())
        for to in draw.sample(others, 3) if seq % 2 else []:
            wanted = Subscription(to, kind, f"taken{seq}", line.id, 1.0, "eve")
            with contextlib.suppress(NotFound):
                passing.subscribe(wanted, (), lambda _: audit_event())
        if seq % 4 == 1:  # what was subscribed to, and is not offered any more
            for to in passing.offers_of(line.id)[:1]:
                passing.withdraw(ALL, line, to, lambda _: [])
    return AssetReader(database).list_assets(ALL, kind)


@pytest.mark.parametrize("kind", sorted(PASSED_ON))
def test_sql_and_memory_see_the_same_of_what_other_workspaces_took_in(database: Database, kind: AssetKind) -> None:
    """R141: through a subscription that an offer covers, and none that was taken back; by every question."""
    every, reader, ways = passed_on(database, kind), AssetReader(database), LineageReader(database)
    assert len(every) == 36
    assert 0 < sum(bool(one.taken) for one in every) < 18

    @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
    @given(VISIBLE, st.just("") | NAMES, st.integers(0, 35))
    def holds(visible: Visible, place: str, at: int) -> None:
        seen = [one for one in every if visible.covers(one)]
        assert reader.list_assets(visible, kind) == seen
        there = [
            one for one in seen if place in ("", one.workspace) or (visible.looks_into(place) and place in one.taken_in)
        ]
        query = AssetQuery(workspace=place)
        assert {one.id for one in reader.page(visible, kind, query, 50).items} == {one.id for one in there}
        assert reader.count(visible, kind, query) == len(there)
        line = every[at]
        known = visible.covers(line)
        assert bool(reader.versions(visible, line.id)) == known
        assert (line.id in reader.latest(visible, [line])) == known
        assert (ways.one(visible, line, 1) is not None) == known
        assert (reader.named(visible, kind, line.workspace, line.name) is not None) == known
        assert ([one.id for one in reader.called(visible, kind, line.id)] == [line.id]) == known
        for workspace, name in line.taken:
            found = reader.named(visible, kind, workspace, name)
            assert (found is not None) == (known and visible.looks_into(workspace))
            assert found is None or (found.asset, found.name) == (line.id, name)

    holds()


def test_sql_and_memory_see_the_same(database: Database) -> None:
    """Lists, counts, look-ups, histories, models, counts in memory and the feed: all see what the value covers, nothing
    else.
    """
    jobs, reader, models, counts = everybodys(database), reading(database), AssetReader(database), StateCounts()
    counts.changed(jobs, [])
    every = models.list_assets(ALL, AssetKind.MODEL)
    assert (len(jobs), len(every)) == (36, 36)

    @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
    @given(
        VISIBLE,
        st.sampled_from(["-submitted_at", "name", "run_s"]),
        st.just("") | NAMES,
        st.just("") | NAMES,
        st.integers(0, 35),
    )
    def holds(visible: Visible, order: str, owner: str, place: str, at: int) -> None:
        seen = {
            job.seq for job in jobs if visible.covers(job) and owner in ("", job.owner) and place in ("", job.workspace)
        }
        query = JobQuery(owner=owner, workspace=place, order=order)
        assert {job.seq for job in reader.list_jobs(visible, query, 100).items} == seen
        assert sum(reader.counts(visible, query).values()) == len(seen)
        assert counts.by_state(visible, owner, place) == reader.counts(visible, query)
        job = jobs[at]
        known = visible.covers(job)
        assert bool(reader.events(visible, job.id)) == known
        assert reader.history(visible, job.id)[1] == reader.events(visible, job.id)
        for ref in (job.id, job.id[:30], job.slug or ""):
            try:
                found = reader.find(visible, ref, job.workspace)
            except NotFound:
                assert not known
            else:
                assert known
                assert found == job
        assert visible.covers(Group(job.owner, job.workspace, job.share.value)) == known
        assert [one.id for one in models.list_assets(visible, AssetKind.MODEL)] == [
            one.id for one in every if visible.covers(one)
        ]
        model = every[at]
        assert (models.find(visible, AssetKind.MODEL, model.id) == model) == visible.covers(model)
        assert bool(models.versions(visible, model.id)) == visible.covers(model)

    holds()


def test_the_audit_of_a_workspace_and_of_ones_own_and_nothing_else(database: Database) -> None:
    """Page by page, with and without filters: what the value covers, each once, newest first; administrators all."""
    names = ["ann", "bob", "Ann", "a'b", "%", "数据", ""]
    draw = random.Random(3)
    pairs = list(itertools.product(names, names)) * 2
    draw.shuffle(pairs)
    told = [
        audit_event(
            by=draw.choice(names[:3]),
            at=float(draw.randrange(20)),
            subject=Subject("job", f"t{at % 9}", workspace, owner),
        )
        for at, (owner, workspace) in enumerate(pairs)
    ]
    database.write(lambda connection: audit.write(connection, told)).result(60)
    every = AuditReader(database).page(ALL, AuditQuery(), 500).items
    assert len(every) == len(told)
    queries = [AuditQuery(), AuditQuery(by="ann"), AuditQuery(workspace="bob"), AuditQuery("job", "t3")]

    @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
    @given(VISIBLE, st.sampled_from(queries), st.sampled_from([1, 3, 50]))
    def holds(visible: Visible, query: AuditQuery, limit: int) -> None:
        wanted = [
            one
            for one in every
            if visible.covers(InWorkspace(one.subject.workspace, one.subject.owner, ""))
            and query.by in ("", one.by.name)
            and query.workspace in ("", one.subject.workspace)
            and query.subject in ("", one.subject.name)
        ]
        found, cursor = list[AuditEntry](), None
        while True:
            page = AuditReader(database).page(visible, query, limit, cursor)
            found, cursor = found + page.items, page.next_cursor
            if cursor is None:
                break
        assert found == wanted

    holds()


def test_nothing_is_seen_by_whom_nothing_is_granted(database: Database) -> None:
    everybodys(database)
    assert reading(database).list_jobs(NOTHING, JobQuery()).items == []
    assert AssetReader(database).list_assets(NOTHING, AssetKind.MODEL) == []
    PeopleRows(database).add_user(User("ann", "", "user"), audit_event())
    assert AuditReader(database).page(NOTHING, AuditQuery()).items == []
    person = AuditQuery("person")
    assert [one.subject.name for one in AuditReader(database).page(only("ann"), person).items] == ["ann"]
    assert AuditReader(database).page(only("bob"), person).items == []
    assert AuditReader(database).page(ALL, AuditQuery()).items != []
    assert only("nobody").owner == "nobody"


def test_what_can_be_passed_on_is_told_of_by_its_scope() -> None:
    """R141: every kind that is taken in is also read there."""
    assert {f"{kind}s:read" for kind in PASSED_ON} == SUBSCRIBED
