"""What is set aside and kept never passes a storage quota, in whatever order things come."""

import threading
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.cluster import Workspace
from trainmaster.core.folders.room import Use
from trainmaster.core.records import Job
from trainmaster.messages import render
from trainmaster.service.kept.kept import MIB, Kept

ANN, BOB = ("vision", "ann"), ("vision", "bob")
QUOTA = Workspace("vision", storage={"mib": 10, "files": 100}, storage_per_person={"mib": 6}, storage_people={})


def kept(workspace: Workspace = QUOTA, jobs: dict[Any, Use] | None = None) -> Kept:
    rows: Any = SimpleNamespace(of_jobs=lambda: dict(jobs or {}), of_versions=dict)
    made = Kept(rows, {workspace.name: workspace}.get)
    made.load()
    return made


steps = st.tuples(
    st.sampled_from("abcd"), st.sampled_from([ANN, BOB]), st.integers(0, 8 * MIB), st.integers(0, 60), st.booleans()
)


@given(st.lists(steps, max_size=30))
def test_whatever_is_held_and_let_go_the_quota_holds(done: list[Any]) -> None:
    one = kept(jobs={BOB: Use(2 * MIB, 30)})
    held: dict[str, tuple[Any, Use]] = {}
    for name, account, size, files, goes in done:
        if goes:
            one.let_go(name)
            held.pop(name, None)
        elif one.hold(name, account, Use(size, files)) is None:
            held[name] = account, Use(size, files)
        of_all = [use for _, use in held.values()] + [Use(2 * MIB, 30)]
        assert one.used("vision") == Use(sum(use.bytes for use in of_all), sum(use.files for use in of_all))
        assert one.used("vision").bytes <= 10 * MIB
        assert one.used("vision").files <= 100
        assert all(one.used("vision", who).bytes <= 6 * MIB for who in ("ann", "bob"))


def test_of_fifty_threads_exactly_those_have_room_that_fit() -> None:
    one, refused = kept(), []
    ready = threading.Barrier(50)

    def ask(number: int) -> None:
        ready.wait()
        told = one.hold(str(number), (ANN, BOB)[number % 2], Use(MIB, 1))
        if told is not None:
            refused.append(told.code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), {*refused}) == (40, {"storage_exceeded"})
    assert one.used("vision") == Use(10 * MIB, 10)


def test_a_lowered_quota_lets_nothing_go_on_and_is_said_in_words() -> None:
    spaces = {"vision": QUOTA}
    rows: Any = SimpleNamespace(of_jobs=dict, of_versions=dict)
    one = Kept(rows, spaces.get)
    assert one.hold("u1", ANN, Use(5 * MIB, 1)) is None
    assert one.exceeded("u1") is None
    spaces["vision"] = Workspace("vision", storage={"mib": 4})
    told = one.exceeded("u1")
    assert told is not None
    assert render.text(told) == "5MiB are taken, which is more than the 4MiB that workspace vision may keep"
    assert one.exceeded("nobody's") is None
    assert one.hold("u1", ANN, Use(6 * MIB, 1)) is not None
    assert one.set_aside_for("u1") == Use(5 * MIB, 1)  # what was set aside stays


def test_what_running_jobs_write_counts_until_they_are_gone() -> None:
    one = kept(Workspace("vision", storage={"files": 10}))
    job = Job("t1", "n", "ann", (), "spec", 0.0, workspace="vision")
    assert one.problems(job) == []
    one.runs(job, Use(5, 12))
    assert [problem.code for problem in one.problems(job)] == ["storage_full_of_files"]
    assert one.people("vision") == ["ann"]
    one.forget_live(())
    assert one.problems(job) == []
    assert one.problems(Job("t2", "n", "ann", (), "spec", 0.0, workspace="nowhere")) == []
