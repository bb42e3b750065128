"""Who uses what: the index finds the jobs whose documents name a version, as a look at every document would."""

import itertools
import json

import pytest
from sqlalchemy.dialects import sqlite

from tests.contract.store.conftest import Store
from tests.contract.store.test_finding import MEMBER, catch_up, lag
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.events import Kind
from trainmaster.core.states import JobShare
from trainmaster.store.finding.uses import JobUses, UsedThing, uses_of
from trainmaster.store.jobs import sources
from trainmaster.store.tables import job

THINGS = (
    UsedThing("dataset", "flowers", 1),
    UsedThing("dataset", "flowers", 12),
    UsedThing("dataset", "Flowers", 1),
    UsedThing("model", "flowers", 1),
    UsedThing("volume", "flowers", None),
    UsedThing("algorithm", "网络", 3, "algorithm"),
    UsedThing("image", "torch", 2, "image"),
    UsedThing("dataset", "nobody-has-it", 1),
)


def document(*used: UsedThing, **more: object) -> str:
    """As the server writes it: without a blank."""
    inputs = [{one.kind: one.reference, "read_only": True} for one in used if one.how == "input"]
    named = {one.kind: one.reference for one in used if one.how != "input"}
    return json.dumps({"inputs": inputs, **named, **more}, ensure_ascii=False, separators=(",", ":"))


def filled(store: Store, count: int = 60) -> dict[int, tuple[History, tuple[UsedThing, ...]]]:
    """Jobs of three people in three workspaces, each with two things, and now and then with a name that is none."""
    found = {}
    pairs = itertools.cycle(itertools.combinations(THINGS[:-1], 2))
    for seq, used in zip(range(1, count + 1), pairs, strict=False):
        made = new_job(
            seq,
            owner=("ann", "bob", "cat")[seq % 3],
            workspace=("default", "speech", "vision")[seq // 2 % 3],
            share=list(JobShare)[seq // 4 % 3],
        )
        history = History(seq * 50).submit(made)
        text = document(*used, env={"dataset": "nobody-has-it@1"})
        store.keep(*history.changes, specs={made.spec_digest: text})
        found[seq] = (history, used)
    return found


def using(
    store: Store, visible: Visible, workspace: str, used: UsedThing, since: float = 0.0, most: int = 99
) -> list[int]:
    return [one.seq for one in store.reader.using(visible, workspace, used, since, most)]


def answers(store: Store) -> dict[tuple[str, str, str], list[int]]:
    people = {"everything": ALL, "ann": only("ann"), "cat": MEMBER}
    return {
        (who, place, one.written): using(store, visible, place, one)
        for (who, visible), place, one in itertools.product(people.items(), ("default", "speech", "vision"), THINGS)
    }


def test_jobs_are_found_by_what_they_use(store: Store) -> None:
    """The newest first, of what may be seen, in one workspace; before the index has them, and afterwards."""
    there = filled(store)
    lag(store)
    slow = answers(store)
    for (who, place, written), found in slow.items():
        visible = {"everything": ALL, "ann": only("ann"), "cat": MEMBER}[who]
        wanted = [
            seq
            for seq, (history, used) in sorted(there.items(), reverse=True)
            if history.job is not None
            and history.job.workspace == place
            and visible.covers(history.job)
            and any(one.written == written for one in used)
        ]
        assert found == wanted, (who, place, written)
    assert any(slow.values())
    store = store.reopen()
    catch_up(store)
    assert answers(store) == slow
    store.database.close()


def test_only_so_many_and_only_later_ones(store: Store) -> None:
    there = filled(store)
    catch_up(store)
    used = THINGS[0]
    every = using(store, ALL, "default", used)
    assert using(store, ALL, "default", used, most=2) == every[:2]
    second = there[every[1]][0].job
    assert second is not None
    assert using(store, ALL, "default", used, since=second.submitted_at) == every[:2]


def test_sqlite_reads_no_more_than_it_finds(store: Store) -> None:
    """One list of the index, and what the index has not taken in yet; never all jobs, and nothing is sorted."""
    if store.database.dialect.name != "sqlite":
        return
    filled(store, 12)
    catch_up(store)
    for visible in (ALL, only("ann"), MEMBER):
        for source in sources.using(visible, "default", THINGS[0], 1.0, sources.IndexAt("sqlite", 9)):
            wanted = source.select(job.c.seq).order_by(*source.in_order(True)).limit(5)
            sql = str(wanted.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
            with store.database.read() as connection:
                plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}")]
            assert all(step.startswith(("SEARCH", "CORRELATED", "SCAN job_text VIRTUAL")) for step in plan), plan
            assert any("job USING INTEGER PRIMARY KEY" in step for step in plan), plan


def test_what_was_deleted_is_not_found_nor_what_was_changed_lost(store: Store) -> None:
    there = filled(store, 12)
    catch_up(store)
    used, place = THINGS[0], "default"
    before = using(store, ALL, place, used)
    history = there[before[0]][0]
    history.event(Kind.SHARED, share=JobShare.READ.value, before="none")
    store.keep(history.changes[-1])
    assert using(store, ALL, place, used) == before
    history.event(Kind.STOP_REQUESTED)
    store.keep(history.changes[-1])
    assert history.job is not None
    store.keep(deleted=[history.job.id], seq=9999)
    assert using(store, ALL, place, used) == before[1:]


def test_a_document_tells_what_a_job_has(store: Store) -> None:
    """To whom may see the job."""
    there = filled(store, 3)
    mine = there[1][0].job
    assert mine is not None
    assert store.reader.uses(only(mine.owner), mine.id).things == there[1][1]
    assert store.reader.uses(only("nobody"), mine.id) == JobUses()


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ('{"image":"torch@2"}', ["image:torch@2"]),
        ('{"image":"default"}', []),
        ('{"image":"torch"}', []),
        ('{"image":"docker.io/library/torch@sha256:12"}', []),
        ('{"image":"hub.local/torch@2"}', []),
        ('{"algorithm":null,"inputs":[{"path":"/data","name":"d"}]}', []),
        ('{"inputs":[{"volume":"scratch"},{"volume":"scratch","read_only":false}]}', ["volume:scratch written"]),
        ('{"inputs":[{"dataset":"d@1"},{"dataset":"d@1"}]}', ["dataset:d@1"]),
        ('{"inputs":[{"dataset":"d@1"},{"dataset":"d@2"}]}', ["dataset:d@1", "dataset:d@2"]),
        ("", []),
        ("nonsense", []),
        ('{"inputs":7}', []),
    ],
)
def test_what_counts_as_used(text: str, things: list[str]) -> None:
    told = [f"{one.kind}:{one.reference}" + " written" * (one.how == "written") for one in uses_of(text).things]
    assert told == things


def test_places_of_object_storage_are_told() -> None:
    text = '{"inputs":[{"s3":"lake/in"}],"outputs":[{"s3":"lake/{id}","folder":"outputs"}]}'
    assert uses_of(text) == JobUses((), ("lake/in",), ("lake/{id}",))
