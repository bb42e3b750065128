"""Jobs are found by an index that the ledger keeps: what it finds is what a look at every row would (R198, R199)."""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as among
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.contract.store.conftest import Store
from tests.fixtures.examples import examples
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL, only
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.core.events import Kind
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare, Shown
from trainmaster.store import tables
from trainmaster.store.finding import grams, index
from trainmaster.store.jobs import read_jobs
from trainmaster.store.jobs.orders import ORDERS
from trainmaster.store.jobs.read_jobs import JobQuery

MEMBER: Final = decide(
    Principal("cat", memberships=(("speech", "member"), ("vision", "admin")), sharing=frozenset({"speech", "vision"})),
    "jobs:read",
).demand()
NOW: Final = 1e7
PEOPLE: Final = {"everything": ALL, "ann": only("ann"), "cat": MEMBER}
MANY_PIECES: Final = "python train.py --lr=0.1 --bs=64 resnet-50% ann 50% net"
WORDS: Final = (
    "resnet", "RESNET", "esne", "res", "re", "r", "net-50", "训练", "训", "语音训练", "语音 resnet", '"lr=0.1 --bs"',
    "--bs=64", "project=vision", "label:project", "label:project=vision", "ann", "%", "50%", "_", "x" * 60,
    "none at all", "it's", 'a"b', "*", "OR", "AND resnet", "(", "\u3000", "wichtig", "später",
    "none-50%", MANY_PIECES,
    " ".join(f"{number:03}" for number in range(45)),
)  # fmt: skip
FILTERS: Final = (
    {}, {"owner": "bob"}, {"workspace": "speech"}, {"framework": "pytorch"}, {"pool": "a100", "framework": "pytorch"},
    {"labels": ("project=vision",)}, {"labels": ("Project",)}, {"tags": ("wichtig",)}, {"tags": ("Wichtig", "späte")},
    {"states": (Shown.RUNNING,)}, {"states": (Shown.QUEUED, Shown.STOPPED)}, {"node": "node-1"}, {"favorite_of": "cat"},
    {"algorithm": "net"}, {"algorithm": "net@2"}, {"algorithm": "ne"}, {"algorithm": "n_t"}, {"algorithm": "NET@2"},
    {"flavor": "a100-1"}, {"flavor": "a100"}, {"flavor": "v100", "algorithm": "net@1", "owner": "bob"},
    {"output": "results"}, {"output": "results/vision"}, {"output": "results/vision/"}, {"output": "results/vis"},
    {"output": "results/vision/s-7"}, {"output": "resnet-50%"}, {"output": "kept", "q": "bert"},
    {"favorite_algorithms_of": "cat"}, {"favorite_algorithms_of": "ann"}, {"favorite_algorithms_of": "nobody"},
)  # fmt: skip


def fill(store: Store, count: int) -> list[History]:
    """Jobs of three people in three workspaces, shared in all ways, with texts of all sorts."""
    names = itertools.cycle(["resnet-50%", "语音训练", "BERT it's", 'a"b_net', "Resnet", "xx" * 40, "none-50%"])
    found = []
    for seq, name in zip(range(1, count + 1), names, strict=False):
        job = new_job(
            seq,
            name=name,
            owner=("ann", "bob", "cat")[seq % 3],
            workspace=("default", "speech", "vision")[seq // 2 % 3],
            share=list(JobShare)[seq // 4 % 3],
            framework="pytorch" if seq % 2 else "single",
            pool="a100" if seq % 5 else "default",
            labels=(("project", "vision"),) if seq % 4 == 0 else (),
            slug=f"s-{seq}" if seq % 7 == 0 else None,
        )
        history = History(seq * 50).submit(job)
        if seq % 3 == 1:
            history.start("node-1" if seq % 2 else "node-2")
        elif seq % 3 == 2:
            history.event(Kind.STOP_REQUESTED)
        store.keep(*history.changes, specs={job.spec_digest: document(seq)})
        found.append(history)
    return found


def document(seq: int) -> str:
    """A job's document, of an algorithm, flavors and places of results now and then."""
    role: dict[str, object] = {"command": "python train.py", "parameters": {"lr": 0.1, "bs": 64}}
    if seq % 3:
        role["flavors"] = ["a100-1", "v100"] if seq % 2 else ["v100"]
    written: dict[str, object] = {"roles": [role], "labels": {"note": '"algorithm":"net@1"'}}
    if seq % 4:
        written["algorithm"] = ("net@1", "net@2", "n_t@1")[seq % 3]
    if seq % 5 == 0:
        written["outputs"] = [{"s3": "results/vision/{name}"}, {"s3": f"results/vision/s-{seq}/{{id}}/"}]
    if seq % 6 == 0:
        written["model"] = {"save": seq % 12 == 0, "name": "kept"}
    return json.dumps(written)


@pytest.fixture
def store(store: Store) -> Store:
    """With algorithms, of which cat and ann have favorites."""

    def work(connection: Connection) -> None:
        for workspace, name in (("default", "net"), ("vision", "net"), ("speech", "n_t")):
            line = {"id": f"a-{workspace}-{name}", "kind": "algorithm", "workspace": workspace, "name": name}
            rest = {"owner": "cat", "created_at": 1.0, "share": "none", "description": "", "changed_at": 1.0}
            connection.execute(tables.asset.insert().values(**line, **rest, used=0, numbered=0))
        for user, marked in (("cat", "a-vision-net"), ("cat", "a-speech-n_t"), ("ann", "a-default-net")):
            connection.execute(tables.asset_favorite.insert().values(user=user, asset=marked))

    store.database.write(work).result(60)
    return store


def numbers(store: Store, visible: Visible, query: JobQuery, limit: int = 13) -> list[int]:
    """The numbers of what is found, page by page."""
    found: list[int] = []
    cursor = None
    while True:
        page = store.reader.list_jobs(visible, query, limit, cursor)
        found += [job.seq for job in page.items]
        if (cursor := page.next_cursor) is None:
            return found


def answers(store: Store) -> dict[tuple[str, str, str], list[int]]:
    """What everybody finds by every word and filter, in two orders."""
    found = {}
    for (who, visible), given in itertools.product(PEOPLE.items(), [{"q": q} for q in WORDS] + [*FILTERS]):
        query = JobQuery(**given)  # type: ignore[arg-type]
        newest = numbers(store, visible, query)
        assert newest == sorted(newest, reverse=True), given
        if "q" not in given:
            assert sorted(newest) == sorted(numbers(store, visible, replace(query, order="name"))), (who, given)
            counted = store.reader.counts(visible, query)
            assert sum(number for shown, number in counts_in(counted, query)) == len(newest), (who, given)
        found[who, repr(given), ""] = newest
    return found


def counts_in(counted: dict[Shown, int], query: JobQuery) -> list[tuple[Shown, int]]:
    """The numbers of the states that the query asks for."""
    return [(shown, number) for shown, number in counted.items() if not query.states or shown in query.states]


def catch_up(store: Store) -> None:
    """Bring the index to the last job."""
    while store.database.write(lambda connection: index.fill(connection, 7)).result(60):
        pass
    with store.database.read() as connection:
        assert index.until(connection) > 0


def trees(store: Store) -> int:
    """Of how many trees FTS5 has made the index."""
    with store.database.read() as connection:
        found: int = connection.exec_driver_sql("SELECT count(DISTINCT segid) FROM job_text_idx").scalar_one()
    return found


def lag(store: Store) -> None:
    """Let the index know of no job."""
    store.database.write(
        lambda connection: connection.exec_driver_sql("DELETE FROM meta WHERE key = 'found_as'").close()
    ).result(60)


def test_a_merged_index_finds_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """R198: many small trees become one, step by step, and searches and changes find in it what they found before."""
    monkeypatch.setattr(index, "_MERGE_AFTER", 20)
    monkeypatch.setattr(index, "_MERGE_PAGES", 2)
    sqlite = store.database.dialect.name == "sqlite"
    store.database._filler.close()  # it would do the steps itself
    histories = fill(store, 40)
    catch_up(store)
    before = answers(store)
    steps = 0
    assert not sqlite or trees(store) > 1
    while store.database.write(index.merge).result(60):
        steps += 1
        assert steps > 1 or answers(store) == before, "between two steps"
    assert sqlite == (steps > 0)
    assert not sqlite or trees(store) == 1
    assert not store.database.write(index.merge).result(60), "nothing is new"
    one = next(each.job.seq for each in histories if each.job is not None)
    store.database.write(lambda connection: index.again(connection, index.before(connection, [one]))).result(60)
    assert answers(store) == before


def test_a_server_merges_what_an_earlier_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R198: nobody has to ask for it, and a merge that was cut is gone on with."""
    monkeypatch.setattr(index, "_MERGE_AFTER", 20)
    monkeypatch.setattr(index, "_MERGE_PAGES", 2)
    store = Store.open(f"sqlite:///{tmp_path}/ledger.db", str(tmp_path / "backups"))
    store.database._filler.close()
    fill(store, 40)
    catch_up(store)
    assert store.database.write(index.merge).result(60)
    assert trees(store) > 1
    store = store.reopen()
    try:
        deadline = time.monotonic() + 60
        while trees(store) > 1 and time.monotonic() < deadline:
            time.sleep(0.1)  # the thread that does it tells nobody
        assert trees(store) == 1
    finally:
        store.database.close()


def test_the_index_finds_what_a_look_at_every_row_finds(store: Store) -> None:
    """R198, R199: before the index has a job, when it has some, and when it has all, the answers are the same."""
    histories = fill(store, 24)
    lag(store)
    by_rows = answers(store)
    store.database.write(index.prepare).result(60)
    store.database.write(lambda connection: index.fill(connection, 11)).result(60)
    assert answers(store) == by_rows
    catch_up(store)
    assert answers(store) == by_rows
    jobs = [one.job for one in histories if one.job is not None]
    assert by_rows["everything", repr({"q": "训练"}), ""] == [job.seq for job in reversed(jobs) if "训练" in job.name]
    assert by_rows["everything", repr({"q": MANY_PIECES}), ""] == [15]
    assert by_rows["everything", repr({"q": "none-50%"}), ""] == [21, 14, 7]
    assert by_rows["cat", repr({"q": "esne"}), ""] == [
        job.seq for job in reversed(jobs) if "esne" in job.name.lower() and MEMBER.covers(job)
    ]


def test_facets_of_what_is_named_count_what_choosing_a_value_would_leave(store: Store) -> None:
    """R199: of algorithms by name, of flavors each of its alternatives; under other filters, too."""
    fill(store, 24)
    catch_up(store)
    for query in (
        JobQuery(),
        JobQuery(owner="ann", flavor="v100"),
        JobQuery(algorithm="net@1"),
        JobQuery(output="results", pool="a100"),
        JobQuery(favorite_algorithms_of="cat"),
    ):
        facets = store.reader.facets(ALL, query)
        for name in ("algorithm", "flavor", "owner", "pool"):
            for value, number in getattr(facets, name):
                assert len(numbers(store, ALL, replace(query, **{name: value}))) == number, (query, name, value)
    facets = store.reader.facets(ALL, JobQuery())
    assert {value for value, _ in facets.algorithm} == {"net", "n_t"}
    assert {value for value, _ in facets.flavor} == {"a100-1", "v100"}


def test_each_filter_finds_the_jobs_that_name_it(store: Store) -> None:
    """R199: algorithm, favorite algorithm, flavor, and where results go, as the document says it, in no other words."""
    jobs = [one.job for one in fill(store, 24) if one.job is not None]
    catch_up(store)

    def found(**asked: Any) -> list[int]:
        return sorted(numbers(store, ALL, JobQuery(**asked)))

    def those(holds: Callable[[int], bool]) -> list[int]:
        return [job.seq for job in jobs if holds(job.seq)]

    assert found(algorithm="net") == those(lambda seq: seq % 4 != 0 and seq % 3 != 2)
    assert found(algorithm="net@2") == those(lambda seq: seq % 4 != 0 and seq % 3 == 1)
    assert found(algorithm="n_t") == those(lambda seq: seq % 4 != 0 and seq % 3 == 2)
    assert found(flavor="a100-1") == those(lambda seq: seq % 3 != 0 and seq % 2 == 1)
    assert found(flavor="a100") == found(algorithm="ne") == found(output="results/vis") == []
    assert found(output="results/vision") == those(lambda seq: seq % 5 == 0)
    assert found(output="results/vision/s-10") == [10]
    assert found(output=f"results/vision/s-10/{jobs[9].id}/") == [10]
    assert found(output="results/vision/Resnet") == [5]
    assert found(output="kept") == [12, 24]
    place = {job.seq: job.workspace for job in jobs}
    of_cat = {("vision", 0), ("vision", 1), ("speech", 2)}
    assert found(favorite_algorithms_of="cat") == those(lambda seq: seq % 4 != 0 and (place[seq], seq % 3) in of_cat)
    assert found(favorite_algorithms_of="cat", output="results") == [
        seq for seq in found(favorite_algorithms_of="cat") if seq % 5 == 0
    ]
    assert found(favorite_algorithms_of="nobody") == []


KEYS: Final[dict[str, Callable[[Job], Any]]] = {
    "submitted_at": lambda job: job.submitted_at,
    "started_at": lambda job: job.started_at or 0.0,
    "ended_at": lambda job: job.ended_at or 0.0,
    "run_s": lambda job: 0.0 if job.started_at is None else (job.ended_at or NOW) - job.started_at,
    "state": lambda job: list(Shown).index(job.shown),
    "name": lambda job: job.name.encode(),
    "owner": lambda job: job.owner.encode(),
    "workspace": lambda job: job.workspace.encode(),
    "pool": lambda job: job.pool.encode(),
    "framework": lambda job: job.framework.encode(),
    "gpus": lambda job: 0.0,  # none of them has any
    "priority": lambda job: job.priority,
    "tags": lambda job: 0.0,  # see test_results.py
}


def test_every_list_is_what_a_look_at_every_job_gives(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, in whatever workspaces, of what is shared, by owner, place and states, in every order and by pages
    of any size, whether the jobs are gathered and sorted or the order is walked.
    """
    jobs = [one.job for one in fill(store, 40) if one.job is not None]
    assert {*KEYS} == {*ORDERS}
    places = st.sets(st.sampled_from(["default", "speech", "vision"]))
    some = st.sampled_from

    @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
    @among(
        some(["ann", "bob", "cat", "eve"]), st.tuples(places, places, places), some(sorted(KEYS)), st.booleans(),
        st.just("") | some(["ann", "bob"]), st.just("") | some(["speech", "vision"]),
        st.lists(some([Shown.QUEUED, Shown.RUNNING, Shown.STOPPED]), unique=True, max_size=2),
        st.integers(1, 25), st.booleans(),
    )  # fmt: skip
    def holds(
        who: str, inside: tuple[set[str], set[str], set[str]], key: str, falling: bool, owner: str, place: str,
        states: list[Shown], limit: int, few: bool,
    ) -> None:  # fmt: skip
        admin, member, sharing = inside
        roles = dict.fromkeys(member, "member") | dict.fromkeys(admin, "admin")
        asks = Principal(who, memberships=tuple(sorted(roles.items())), sharing=frozenset(sharing))
        visible = decide(asks, "jobs:read").demand()
        query = JobQuery(tuple(states), owner=owner, workspace=place, order="-" * falling + key, now=NOW)
        wanted = [
            job
            for job in jobs
            if visible.covers(job)
            and owner in ("", job.owner)
            and place in ("", job.workspace)
            and (not states or job.shown in states)
        ]
        # Those in one state, by when they were submitted; the number decides between equals.
        wanted.sort(key=lambda job: (KEYS[key](job), job.submitted_at * (key == "state"), job.seq), reverse=falling)
        with monkeypatch.context() as patch:
            patch.setattr(read_jobs, "FEW", 1000 if few else -1)
            found: list[int] = []
            cursor = None
            while True:
                page = store.reader.list_jobs(visible, query, limit, cursor)
                found += [job.seq for job in page.items]
                if (cursor := page.next_cursor) is None:
                    break
        assert found == [job.seq for job in wanted]

    holds()


def test_what_is_said_of_a_job_later_is_found_and_what_is_taken_back_is_not(store: Store) -> None:
    """Tags and notes are words like others; sharing opens to search what it opens; a deleted job is found no more."""
    histories = fill(store, 9)
    catch_up(store)
    job = histories[1].job
    assert job is not None
    assert job.owner == "cat"
    before = store.reader.list_jobs(ALL, JobQuery(q="wichtig")).items
    histories[1].event(Kind.ANNOTATED, tags=["Wichtig", "später"], note="Der beste Lauf\n比上一个好")
    store.keep(histories[1].changes[-1])
    for q in ("wichtig", "beste lauf", "上一个", "später"):
        assert [one.id for one in store.reader.list_jobs(ALL, JobQuery(q=q)).items] == [job.id], q
    found = store.reader.list_jobs(ALL, JobQuery(tags=("wichtig", "später"))).items
    assert (before, [(one.tags, one.note) for one in found]) == (
        [],
        [(("Wichtig", "später"), "Der beste Lauf\n比上一个好")],
    )
    assert store.reader.facets(ALL, JobQuery()).tags == [("Wichtig", 1), ("später", 1)]
    assert store.reader.list_jobs(only("bob"), JobQuery(q="wichtig")).items == []
    histories[1].event(Kind.ANNOTATED, tags=[], note="")
    store.keep(histories[1].changes[-1])
    assert store.reader.list_jobs(ALL, JobQuery(q="wichtig")).items == []
    assert store.reader.list_jobs(ALL, JobQuery(tags=("Wichtig",))).items == []
    store.keep(deleted=[job.id], seq=10_000)
    assert job.id not in [one.id for one in store.reader.list_jobs(ALL, JobQuery(q=job.id)).items]


def test_who_shares_a_job_lets_others_find_it(store: Store) -> None:
    """And only as long as it is shared."""
    hidden: Job = new_job(1, name="canary", owner="ann", workspace="speech")
    history = History(1).submit(hidden)
    store.keep(*history.changes)
    catch_up(store)
    assert numbers(store, MEMBER, JobQuery(q="canary")) == []
    for share, seen in (("read", [1]), ("none", []), ("read-write", [1])):
        history.event(Kind.SHARED, share=share, before="none")
        store.keep(history.changes[-1])
        assert numbers(store, MEMBER, JobQuery(q="canary")) == numbers(store, MEMBER, JobQuery()) == seen


def test_one_wrong_character_is_near() -> None:
    """A substitution, an omission, an addition, an exchange; two are too far, and so are words of three."""
    held = grams.of_job(grams.Found("", ("the saves_of-2024",), "", "", "", "", False, (), ()))
    for word in ("saves", "svaes", "savex", "aves", "ssaves", "2042"):
        assert held.intersection(grams.nearly(word)), word
    for word in ("vases!", "shoves", "the", "xxves"):
        assert not held.intersection(grams.nearly(word)), word
