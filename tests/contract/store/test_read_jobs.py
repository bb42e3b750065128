"""Lists, look-ups and the feed (R200, api.md)."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.contract.store.conftest import Store
from tests.fixtures.histories import History, life, new_job
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound
from trainmaster.core.events import Kind
from trainmaster.core.records import Job, Resources, Role
from trainmaster.core.states import Priority, Shown
from trainmaster.store.jobs import facets as reading_facets
from trainmaster.store.jobs import read_jobs, rows
from trainmaster.store.jobs.orders import ORDERS
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.jobs.rows import gpus_of
from trainmaster.store.jobs.search import MOST

NOW = 5000.0


def fill(store: Store, count: int = 23) -> list[Job]:
    """Store `count` jobs in all sorts of states, many with equal times and names; return them by number."""
    jobs = []
    for seq in range(1, count + 1):
        job = new_job(
            seq,
            name=f"name-{seq % 4}",
            owner="ann" if seq % 3 else "bob",
            framework="pytorch" if seq % 2 else "single",
            priority=Priority(seq % 3),
            pool="gpu" if seq % 5 == 0 else "default",
            labels=(("parity", "odd" if seq % 2 else "even"), *([("tens", "")] if seq % 10 == 0 else [])),
            workspace="speech" if seq % 7 == 3 else "default",
            roles=(Role("worker", 2, Resources(gpu=seq % 3, gpu_milli=500 if seq % 2 else 1000)),),
        )
        history = History(seq * 20, at=2000.0 + seq // 3).submit(replace(job, submitted_at=1000.0 + seq // 2))
        if seq % 4 == 1:
            history.start("node-2" if seq % 8 == 1 else "node-1")
        elif seq % 4 == 2:
            history.start().succeed()
        elif seq % 4 == 3:
            history.event(Kind.STOP_REQUESTED)
        store.keep(*history.changes)
        assert history.job is not None
        jobs.append(history.job)
    return jobs


def walk(store: Store, query: JobQuery, limit: int) -> list[Job]:
    """All pages of a list, joined."""
    found, cursor = [], None
    while True:
        page = store.reader.list_jobs(ALL, query, limit, cursor)
        assert len(page.items) <= limit
        found += page.items
        if (cursor := page.next_cursor) is None:
            return found


@pytest.mark.parametrize("states", [(), (Shown.SUCCEEDED,), (Shown.RUNNING, Shown.QUEUED, Shown.STOPPED)])
@pytest.mark.parametrize("sign", ["", "-"])
def test_pages_neither_repeat_nor_skip_in_any_order(store: Store, states: tuple[Shown, ...], sign: str) -> None:
    """R200: every order, with and without states, gives the same list whatever the size of the page."""
    jobs = fill(store)
    keys = {
        "submitted_at": lambda job: job.submitted_at,
        "started_at": lambda job: job.started_at or 0.0,
        "ended_at": lambda job: job.ended_at or 0.0,
        "name": lambda job: job.name,
        "priority": lambda job: job.priority,
        "owner": lambda job: job.owner,
        "workspace": lambda job: job.workspace,
        "pool": lambda job: job.pool,
        "framework": lambda job: job.framework,
        "gpus": lambda job: gpus_of(job.roles),
        "state": lambda job: ([*Shown].index(job.shown), job.submitted_at),
        "run_s": lambda job: 0.0 if job.started_at is None else (job.ended_at or NOW) - job.started_at,
        "tags": lambda job: 0,  # none of them has any
    }
    assert keys.keys() == {*ORDERS}
    for order, key in keys.items():
        wanted = [job for job in jobs if not states or job.shown in states]
        wanted.sort(key=lambda job, key=key: (key(job), job.seq), reverse=bool(sign))
        for limit in (3, 50):
            assert walk(store, JobQuery(states=states, order=sign + order, now=NOW), limit) == wanted, order


def test_the_pages_of_the_longest_run_time_are_of_one_moment(store: Store) -> None:
    """R200: a job that runs goes on running between two pages, and is on one of them."""
    jobs = fill(store)
    found, cursor, now = [], None, NOW
    while True:
        page = store.reader.list_jobs(ALL, JobQuery(order="-run_s", now=now), 2, cursor)
        found += [job.id for job in page.items]
        now += 10_000.0
        if (cursor := page.next_cursor) is None:
            break
    assert sorted(found) == sorted(job.id for job in jobs)


def test_the_gangs_asked_for_last_oldest_first(store: Store) -> None:
    """Ended or not; a record that cannot be read is passed over."""
    jobs = fill(store, 6)
    store.database.write(lambda c: c.execute(text("UPDATE job SET record = '{}' WHERE seq = 4"))).result(60)
    assert store.records.asked_last(4) == [jobs[2].roles, jobs[4].roles, jobs[5].roles]


def test_a_job_submitted_between_two_pages_moves_nothing(store: Store) -> None:
    """The cursor stands behind a job, not at a count."""
    jobs = fill(store, 6)
    first = store.reader.list_jobs(ALL, JobQuery(), 2)
    store.keep(*History(900).submit(new_job(40)).changes)
    second = store.reader.list_jobs(ALL, JobQuery(), 10, first.next_cursor)
    assert first.items + second.items == sorted(jobs, key=lambda job: (job.submitted_at, job.seq), reverse=True)


def test_a_list_follows_every_change_of_what_it_has_shown(store: Store) -> None:
    """Records are kept between two looks: each event of a job shows, and another job with the number of a deleted one
    does.
    """
    others = fill(store, 5)
    history = life(9)
    history.event(Kind.ANNOTATED, tags=["good"], note="keep").event(Kind.SHARED, share="read", before="none")
    for change in history.changes:
        store.keep(change)
        assert {job.seq: job for job in walk(store, JobQuery(), 3)} == {
            **{job.seq: job for job in others},
            9: change.job,
        }
    assert history.job is not None
    store.keep(deleted=[history.job.id])
    assert {job.seq for job in walk(store, JobQuery(), 3)} == {job.seq for job in others}
    later = replace(new_job(9), id="t" + "9" * 32)
    store.keep(*History(400).submit(later).changes)
    (found,) = (job for job in walk(store, JobQuery(), 3) if job.seq == 9)
    assert found.id == later.id


def test_a_row_that_was_shown_is_not_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks again costs no more than what changed."""
    fill(store, 6)
    read: list[int] = []
    real = rows.job_of
    monkeypatch.setattr(rows, "job_of", lambda row, *rest: (read.append(row["seq"]), real(row, *rest))[1])
    first = walk(store, JobQuery(), 50)
    assert sorted(read) == [1, 2, 3, 4, 5, 6]
    read.clear()
    assert walk(store, JobQuery(order="name"), 50) == sorted(first, key=lambda job: (job.name, job.seq))
    assert read == []
    again = History(900, job=first[0]).event(Kind.ANNOTATED, tags=["new"], note="")
    store.keep(*again.changes)
    assert walk(store, JobQuery(), 50)[0].tags == ("new",)
    assert read == [first[0].seq]


def test_what_is_kept_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_jobs, "_RECORDS", 4)
    jobs = fill(store, 12)
    for _ in range(2):
        assert {job.id for job in walk(store, JobQuery(), 3)} == {job.id for job in jobs}
        assert len(store.reader._kept._jobs) == 4


def test_what_is_kept_of_large_jobs_is_bounded_by_their_replicas(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand records of the largest jobs would be two gigabytes."""
    jobs = fill(store, 12)
    monkeypatch.setattr(read_jobs, "_REPLICAS", most := 3 * max(job.tasks_total for job in jobs))
    kept = store.reader._kept
    for _ in range(2):
        assert {job.id for job in walk(store, JobQuery(), 3)} == {job.id for job in jobs}
        assert kept._replicas == sum(job.tasks_total for job in kept._jobs.values()) <= most
        assert kept._jobs


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (JobQuery(owner="bob"), lambda job: job.owner == "bob"),
        (JobQuery(framework="pytorch", pool="gpu"), lambda job: job.framework == "pytorch" and job.pool == "gpu"),
        (JobQuery(node="node-2"), lambda job: job.attempt is not None and job.attempt.placement[0].node == "node-2"),
        (JobQuery(q="NAME-2"), lambda job: job.name == "name-2"),
        (JobQuery(q="nothing"), lambda job: False),
        (JobQuery(since=1003.0, until=1006.0), lambda job: 1003.0 <= job.submitted_at < 1006.0),
        (JobQuery(workspace="speech"), lambda job: job.workspace == "speech"),
        (JobQuery(workspace="other"), lambda job: False),
        (JobQuery(labels=("parity=odd",)), lambda job: job.seq % 2 == 1),
        (JobQuery(labels=("Parity", "tens"), q="label:parity=even"), lambda job: job.seq in (10, 20)),
    ],
)
def test_filters_choose_and_count(store: Store, query: JobQuery, wanted: object) -> None:
    """R200: search and filters; the counts by state follow the same filters, but not the states."""
    assert callable(wanted)
    jobs = [job for job in fill(store) if wanted(job)]
    assert sorted(job.seq for job in walk(store, query, 4)) == [job.seq for job in jobs]
    counts = {shown: sum(job.shown is shown for job in jobs) for shown in {job.shown for job in jobs}}
    assert store.reader.counts(ALL, query) == store.reader.counts(ALL, replace(query, states=(Shown.QUEUED,))) == counts


DOCUMENT = """{"roles": [{"command": "python train.py\\n --data Bücher",
 "parameters": {"lr": 1e-05, "amp": true, "fast": null}}, {"command": ["sh", "-c", "serve  50%"]}],
 "env": {"KEY": "hidden"}}"""


def test_search_is_fuzzy_and_takes_wildcards_literally(store: Store) -> None:
    """R198, R200: all that people wrote; every word has to be found, in either case; % and _ mean themselves."""
    odd = new_job(1, name="loss_50%", description="Straße 训练  ÜBER", slug="the-slug")
    other = new_job(2, name="lossx50y", roles=(Role("worker", 1),))
    store.keep(*History(1).submit(odd).changes, *History(9).submit(other).changes, specs={odd.spec_digest: DOCUMENT})

    def found(q: str) -> list[int]:
        return sorted(job.seq for job in store.reader.list_jobs(ALL, JobQuery(q=q)).items)

    assert found("loss_50%") == found("50%") == found("训练") == found("e-slu") == found(odd.id[5:20]) == [1]
    assert found("strasse") == found("über") == found("BÜCHER") == [1]
    assert found("train.py") == found("lr=1e-05") == found("--amp=true fast") == found('"train.py --data"') == [1]
    assert found("slug loss") == found("LOSS 训练 lr=") == [1]
    assert found("th") == found("练") == found("l the") == [1]  # one or two letters: where a name or an id begins
    assert found("lo") == found("L") == [1, 2]
    assert found("os") == found("lr") == found("0%") == []
    assert found("LOSS") == found("los loss") == found("") == found(" \t") == [1, 2]
    assert found("loss nothing") == found('"train --data"') == found("hidden") == found("50%serve") == []


def test_a_document_that_nobody_can_read_hides_no_job(store: Store) -> None:
    """Its name is found; what cannot be stored as text is left out, and of long commands the beginning is kept."""
    documents = ["{", "[]", '{"roles": [{"command": 3}]}', '{"roles": [{"command": "a\\u0000b"}]}']
    documents.append('{"roles": [{"command": "%s end"}]}' % ("x" * MOST))
    for seq, document in enumerate(documents, 1):
        job = new_job(seq)
        store.keep(*History(seq * 20).submit(job).changes, specs={job.spec_digest: document})
    assert len(store.reader.list_jobs(ALL, JobQuery(q="job-")).items) == len(documents)
    assert [job.seq for job in store.reader.list_jobs(ALL, JobQuery(q='"a b"')).items] == [4]
    assert [job.seq for job in store.reader.list_jobs(ALL, JobQuery(q="xxxx")).items] == [5]
    assert store.reader.list_jobs(ALL, JobQuery(q="end")).items == []


def test_labels_are_searched_by_key_and_value_and_chosen_by_either(store: Store) -> None:
    """R198: a label is found by any part of it, as `key=value`; `label:` chooses whole ones, several at once, beside
    other words.
    """
    labels = [(("round", "2"), ("team", "speech lab")), (("round", "20"),), (("a=b", "50%"), ("round", "")), ()]
    for seq, held in enumerate(labels, 1):
        store.keep(*History(seq * 20).submit(new_job(seq, name=f"name-{seq}", labels=held)).changes)

    def found(q: str) -> list[int]:
        assert sum(store.reader.counts(ALL, JobQuery(q=q)).values()) == len(
            store.reader.list_jobs(ALL, JobQuery(q=q)).items
        )
        return sorted(job.seq for job in store.reader.list_jobs(ALL, JobQuery(q=q)).items)

    assert found("ROUND") == found("label:round") == [1, 2, 3]
    assert found("round=2") == [1, 2]
    assert found("label:round=2") == found("Label:Round=2 name") == found('label:team="speech lab"') == [1]
    assert found('label:round=2 label:"team=Speech Lab"') == [1]
    assert found("label:round=2 name-2") == found("label:roun") == found("label:round=2 label:round=20") == []
    assert found("label:round=") == [3]
    assert found("speech") == [1]
    assert found("50%") == found("a=b") == [3]
    assert found("label:") == found("0%0") == []
    assert [job.labels for job in walk(store, JobQuery(order="name"), 2)] == labels


def test_facets_count_what_choosing_a_value_would_leave(store: Store) -> None:
    """R199: for every value of every facet, under filters of all kinds: the number is that of the list with it."""
    fill(store, 30)
    for query in (
        JobQuery(),
        JobQuery(states=(Shown.RUNNING, Shown.QUEUED), q="name-"),
        JobQuery(owner="ann", workspace="default", pool="gpu"),
        JobQuery(framework="pytorch", node="node-1", labels=("parity=odd",)),
        JobQuery(q="nothing"),
    ):
        facets = store.reader.facets(ALL, query)
        assert not facets.partial
        for name in ("owner", "workspace", "framework", "pool", "node"):
            values = dict(getattr(facets, name))
            for value, number in values.items():
                assert len(walk(store, replace(query, **{name: value}), 50)) == number, (query, name, value)
            assert set(values) >= {getattr(query, name)} - {""} or not walk(store, query, 50)
        for key, number, of_key in facets.labels:
            assert len(walk(store, replace(query, labels=(*query.labels, key)), 50)) == number
            for value, of_value in of_key:
                assert len(walk(store, replace(query, labels=(*query.labels, f"{key}={value}")), 50)) == of_value
    assert [key for key, _, _ in store.reader.facets(ALL, JobQuery()).labels] == ["parity", "tens"]


def test_facets_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many jobs and values there are: the newest jobs are looked at, the most frequent values told."""
    monkeypatch.setattr(reading_facets, "MOST", 10)
    monkeypatch.setattr(reading_facets, "VALUES", 3)
    for seq in range(1, 13):
        held = ((f"key-{seq}", "v"), ("same", str(seq)))
        store.keep(*History(seq * 20).submit(new_job(seq, owner=f"o{seq // 4}", labels=held)).changes)
    facets = store.reader.facets(ALL, JobQuery())
    assert facets.partial
    assert {("o1", 4), ("o2", 4)} < {*facets.owner}, "of the newest ten"
    assert len(facets.owner) == 3
    key, number, values = facets.labels[0]
    assert (key, number, len(values)) == ("same", 10, 3)
    assert len(facets.labels) == 3


def test_what_matches_is_numbered_in_parts(store: Store) -> None:
    """R202: those that something is done to, in order, each once, and how many there are behind."""
    jobs = fill(store)
    wanted = [job for job in jobs if job.owner == "ann"]
    acted = [job for job in wanted if job.shown in (Shown.RUNNING, Shown.QUEUED)]
    found, after = [], 0
    while True:
        every, some = store.reader.matching(ALL, JobQuery(owner="ann"), (Shown.RUNNING, Shown.QUEUED), after, 4)
        assert every == sum(job.seq > after for job in wanted)
        if not some:
            break
        found += [id_ for _, id_ in some]
        after = some[-1][0]
    assert found == [job.id for job in acted]
    assert store.reader.matching(ALL, JobQuery(states=(Shown.QUEUED,)), (Shown.SUCCEEDED,), 0, 4)[1] == []


@pytest.mark.parametrize("order", ["", "size", "--name", "name desc", "-"])
def test_an_unknown_order_is_refused(store: Store, order: str) -> None:
    """The problem names the field and the orders there are."""
    with pytest.raises(InvalidSpec) as caught:
        store.reader.list_jobs(ALL, JobQuery(order=order))
    assert caught.value.problems[0].path == "order"


def test_a_cursor_of_another_list_is_refused(store: Store) -> None:
    """Garbage and foreign cursors are problems, never tracebacks."""
    fill(store, 5)
    by_name = store.reader.list_jobs(ALL, JobQuery(order="name"), 2).next_cursor
    for cursor in ("x", "💥", "", "bnVsbA", "WzEsMl0", str(by_name)):
        with pytest.raises(InvalidSpec):
            store.reader.list_jobs(ALL, JobQuery(), 2, cursor)


def test_a_job_is_found_by_id_slug_or_the_beginning_of_its_id(store: Store) -> None:
    """api.md: an id, a unique prefix of at least 4, or a slug."""
    ids = ["t" + "abcd1" + "0" * 27, "t" + "abcd2" + "0" * 27, "t" + "f" * 32]
    for seq, id_ in enumerate(ids, 1):
        store.keep(*History(seq).submit(new_job(seq, id=id_, slug=f"s-{seq}")).changes)
    assert store.reader.find(ALL, ids[0]).seq == 1
    assert store.reader.find(ALL, "s-2").seq == 2
    assert store.reader.find(ALL, "tabcd1").seq == 1
    assert store.reader.find(ALL, "tfff").seq == 3
    with pytest.raises(Conflict):
        store.reader.find(ALL, "tabcd")
    for missing in ("tab", "tabcd3", "%", "s-2x", "", "s-1\x00"[:3] + "z"):
        with pytest.raises(NotFound):
            store.reader.find(ALL, missing)
    with pytest.raises(NotFound):
        store.reader.find(ALL, "s-2", workspace="other")


def test_the_feed_goes_on_where_it_stopped(store: Store) -> None:
    """Events of all jobs by number, after any number, in parts."""
    one, two = History(1).submit(new_job(1)).start(), History(50).submit(new_job(2)).start()
    store.keep(*one.changes, *two.changes)
    every = one.events + two.events
    assert store.records.events_after(0, 1000) == every
    assert store.records.events_after(every[2].seq, 4) == every[3:7]
    assert store.records.events_after(store.records.last_seq(), 10) == []
    assert two.job is not None
    assert store.reader.events(ALL, two.job.id) == two.events
    assert store.reader.events(ALL, "t" + "0" * 32) == []
