"""What goes to Slurm together when it is to cancel several jobs, and what everybody who asked is told."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainmaster.engines.slurm.attempts import cancelling
from trainmaster.engines.slurm.attempts.cancelling import Cancelling, Wish
from trainmaster.engines.slurm.client.commands import ClusterDown, ClusterRefused
from trainmaster.engines.slurm.client.parse import JobId

Ids = list[tuple[str, JobId]]


@dataclass
class Cluster:
    """What stands for the commands and the queue: `there` is what Slurm tells; what has a word of `wrong` in it is
    answered by that.
    """

    there: Ids = field(default_factory=list)
    wrong: dict[str, Exception] = field(default_factory=dict)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    looks: int = 0

    async def live(self, user: str = "") -> Ids:
        self.looks += 1
        await asyncio.sleep(0)
        return self.there

    async def run(self, program: str, *words: str, user: str = "") -> str:
        self.calls.append((user, *words))
        await asyncio.sleep(0)
        for word, error in self.wrong.items():
            if word in words:
                raise error
        return ""


def made(cluster: Any) -> Cancelling:
    return Cancelling(cluster, cluster)


async def test_one_alone_goes_by_its_name() -> None:
    cluster = Cluster()
    await made(cluster).cancel(Wish("t1-1"))
    assert (cluster.calls, cluster.looks) == ([("", "--name=tm-t1-1")], 0)


async def test_several_go_by_the_ids_of_their_names() -> None:
    """Twice there: a submission that went unanswered. Of another: it has an id that ours once had. Not there: it has
    ended.
    """
    cluster = Cluster([("t1-1", JobId(3)), ("t1-1", JobId(9)), ("t2-1", JobId(4)), ("other", JobId(5))])
    cancel = made(cluster).cancel
    await asyncio.gather(*(cancel(Wish(name)) for name in ("t1-1", "t2-1", "t3-1")))
    assert (cluster.calls, cluster.looks) == ([("", "3", "9", "4")], 1)


async def test_elements_of_one_array_are_one_word() -> None:
    cluster = Cluster([("a1", JobId(3, number)) for number in range(5)] + [("a2", JobId(7, 1)), ("t1-1", JobId(1))])
    cancel = made(cluster).cancel
    wishes = (Wish("a1", 0), Wish("a1", 4), Wish("a2", 1), Wish("a2", 0), Wish("t1-1"))
    await asyncio.gather(*(cancel(one) for one in wishes))
    assert cluster.calls == [("", "3_[0,4]", "7_[1]", "1")]
    await cancel(Wish("a1", 2))
    assert cluster.calls[1:] == [("", "3_[2]")], "an element's name is that of all"


async def test_nothing_is_asked_of_slurm_where_none_is_there() -> None:
    cluster = Cluster()
    await made(cluster).cancel(Wish("a1", 2))
    assert cluster.calls == []


async def test_each_person_has_a_call_and_who_has_components_has_one_of_its_own() -> None:
    cluster = Cluster(
        [("t1-1", JobId(1)), ("t2-1", JobId(2)), ("t3-1", JobId(3)), ("t4-1", JobId(4)), ("t4-1", JobId(5))]
    )
    cancel = made(cluster).cancel
    wishes = (Wish("t1-1"), Wish("t2-1"), Wish("t3-1", user="ann"), Wish("t4-1", alone=True))
    await asyncio.gather(*(cancel(one) for one in wishes))
    assert sorted(cluster.calls) == [("", "--name=tm-t4-1"), ("", "1", "2"), ("ann", "--name=tm-t3-1")]


async def test_a_call_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancelling, "MOST", 10)
    names = [f"t{number}-1" for number in range(25)]
    cluster = Cluster([(name, JobId(number)) for number, name in enumerate(names)])
    cancel = made(cluster).cancel
    await asyncio.gather(*(cancel(Wish(name)) for name in names))
    assert [len(call) - 1 for call in cluster.calls] == [10, 10, 5]
    assert cluster.looks == 3, "what Slurm said is never old"


async def test_what_comes_meanwhile_goes_next() -> None:
    cluster = Cluster([("t1-1", JobId(1)), ("t2-1", JobId(2)), ("t3-1", JobId(3))])
    cancel = made(cluster).cancel
    first = asyncio.create_task(cancel(Wish("t1-1")))
    while not cluster.calls:
        await asyncio.sleep(0)
    await asyncio.gather(first, *(cancel(Wish(name)) for name in ("t2-1", "t3-1")))
    assert cluster.calls == [("", "--name=tm-t1-1"), ("", "2", "3")]


async def test_what_is_refused_together_is_tried_alone() -> None:
    cluster = Cluster([("t1-1", JobId(1)), ("t2-1", JobId(2))])
    cluster.wrong = {"2": ClusterRefused("no"), "--name=tm-t2-1": ClusterRefused("not yours")}
    cancel = made(cluster).cancel
    answers = await asyncio.gather(*(cancel(Wish(name)) for name in ("t1-1", "t2-1")), return_exceptions=True)
    assert answers[0] is None
    assert str(answers[1]) == "not yours"
    assert sorted(cluster.calls[1:]) == [("", "--name=tm-t1-1"), ("", "--name=tm-t2-1")]


async def test_a_cluster_that_does_not_answer_is_said_to_all_of_that_person_and_the_next_wish_is_served() -> None:
    cluster = Cluster([("t1-1", JobId(1)), ("t2-1", JobId(2))], {"1": ClusterDown("down")})
    cancel = made(cluster).cancel
    wishes = (Wish("t1-1"), Wish("t2-1"), Wish("t3-1", user="ann"))
    answers = await asyncio.gather(*(cancel(one) for one in wishes), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["down", "down", "None"]
    await cancel(Wish("t2-1"))


async def test_who_does_not_wait_any_more_harms_nobody() -> None:
    cluster = Cluster([("t1-1", JobId(1)), ("t2-1", JobId(2))])
    cancel = made(cluster).cancel
    gone, stays = asyncio.create_task(cancel(Wish("t1-1"))), asyncio.create_task(cancel(Wish("t2-1")))
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    assert cluster.calls == [("", "1", "2")]


async def test_nobody_waits_for_somebody_elses_sudo() -> None:
    slow = asyncio.Event()

    class Slow(Cluster):
        async def run(self, program: str, *words: str, user: str = "") -> str:
            if user == "ann":
                await slow.wait()
            return await super().run(program, *words, user=user)

    cluster = Slow()
    cancel = made(cluster).cancel
    first = asyncio.create_task(cancel(Wish("t1-1", user="ann")))
    await asyncio.sleep(0)
    await asyncio.wait_for(cancel(Wish("t2-1", user="bob")), 10)
    assert not first.done()
    slow.set()
    await first
