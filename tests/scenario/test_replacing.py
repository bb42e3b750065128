"""A job that takes the place of a queued one (D1): one is stopped, the other taken in; both are stored, or neither."""

import asyncio
from typing import Any

import pytest

from tests.fixtures.fakes.engine import FakeMachines
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_suggestions import ANN, job, submitted
from trainmaster.answers import PreviewView
from trainmaster.core.cluster import Limit, Workspace
from trainmaster.core.errors import Conflict, InvalidSpec, StorageFailed, Unsatisfiable
from trainmaster.core.events import Kind
from trainmaster.store.jobs.ledger import Ledger

BOB = person("bob")


async def full(stage: Stage) -> list[str]:
    """Take all cards of both nodes."""
    made = [await submitted(stage, job(name)) for name in "ab"]
    for one in made:
        await stage.running(one)
    return made


async def preview(stage: Stage, document: dict[str, Any], **body: Any) -> PreviewView:
    return await stage.platform.preview({"spec": document, **body}, ANN)


async def test_an_urgent_job_is_replaced_within_its_limit(fake: Stage) -> None:
    """D1, R20, B1: what was suggested for an urgent job can be done, though only one urgent job is allowed."""
    own = {"default": {"gpu": Limit(4)}}
    limited = Workspace("default", urgent_per_user=1, urgent_total=1, quotas=own)
    await fake.platform.administer.put_workspace(limited, ADMIN)
    [held, _] = await full(fake)
    first = await submitted(fake, job("tts", priority="urgent"))
    copy = job("tts", 1, priority="urgent")

    alone = await preview(fake, copy)
    assert [one.code for one in alone.problems] == ["urgent_limit_user", "urgent_limit_workspace"]
    instead = await preview(fake, copy, instead_of=first)
    assert (instead.ok, instead.problems) == (True, [])
    with pytest.raises(InvalidSpec):
        await submitted(fake, copy)

    second = await submitted(fake, copy, instead_of=first)
    gone = await fake.ended(first)
    assert (gone.state, gone.verdict.code) == ("stopped", "stopped")
    assert second in gone.verdict.message.en
    assert second in gone.verdict.message.zh
    await fake.platform.stop(held, ANN)
    await fake.running(second)


async def test_who_runs_already_is_not_replaced(fake: Stage) -> None:
    """Nothing is changed: the original runs on, and no second job is made."""
    [runs, _] = await full(fake)
    with pytest.raises(Conflict) as refused:
        await submitted(fake, job("copy"), instead_of=runs)
    assert refused.value.code == "original_not_waiting"
    assert [(one.path, one.code) for one in refused.value.problems] == [("instead_of", "not_waiting")]
    assert [one.path for one in (await preview(fake, job("copy"), instead_of=runs)).problems] == ["instead_of"]
    assert (await fake.view(runs)).state == "running"
    assert fake.platform.queueing.page(ADMIN).items == []


async def test_only_a_queued_job_of_ones_own_can_be_named(fake: Stage) -> None:
    await full(fake)
    others = await submitted(fake, job("others"), BOB)
    for ref in (others, "nothing", 7, ["x"]):
        with pytest.raises(Conflict) as refused:
            await submitted(fake, job("copy"), instead_of=ref)
        assert [(one.path, one.code) for one in refused.value.problems] == [("instead_of", "no_job")]
    with pytest.raises(InvalidSpec) as batch:
        await fake.platform.submit_batch([{"spec": job("copy"), "instead_of": others}], BOB, None)
    assert [one.path for one in batch.value.problems] == ["items.0.instead_of"]
    assert (await fake.view(others)).state == "queued"


async def test_a_new_job_that_is_refused_leaves_the_queued_one(fake: Stage) -> None:
    await full(fake)
    first = await submitted(fake, job("first"))
    for wrong in (job("copy", 64), job("not a name!"), job("copy", priority="very_urgent")):
        with pytest.raises((InvalidSpec, Unsatisfiable)):
            await submitted(fake, wrong, instead_of=first)
    assert (await fake.view(first)).state == "queued"


async def test_the_same_key_gives_the_same_job(fake: Stage) -> None:
    """B4: an answer that was lost is asked for again, though the original waits no longer by then."""
    await full(fake)
    first, other = await submitted(fake, job("first")), await submitted(fake, job("other"))
    body = {"spec": job("copy"), "instead_of": first}
    made = [await fake.platform.submit(body, ANN, "key") for _ in range(2)]
    assert [created for _, created in made] == [True, False]
    assert len({view.id for view, _ in made}) == 1
    with pytest.raises(Conflict):
        await fake.platform.submit({**body, "instead_of": other}, ANN, "key")
    assert (await fake.view(other)).state == "queued"


async def test_of_many_at_once_one_takes_the_place(fake: Stage) -> None:
    """Some look into the ledger for their slug or key before they are entered, so that all meet at the last moment."""
    await full(fake)
    first = await submitted(fake, job("first"))

    async def replace(number: int) -> str | None:
        slug = {"slug": f"s{number}"} if number % 3 == 0 else {}
        body = {"spec": job(f"copy-{number}", **slug), "instead_of": first}
        try:
            view, _ = await fake.platform.submit(body, ANN, f"k{number}" if number % 2 else None)
        except Conflict:
            return None
        return str(view.id)

    made = [one for one in await asyncio.gather(*map(replace, range(20))) if one is not None]
    assert len(made) == 1
    await fake.ended(first)
    assert [one.job for one in fake.platform.queueing.page(ADMIN).items] == made


async def test_either_the_first_starts_or_the_second_waits(fake: Stage, machines: FakeMachines) -> None:
    """The cards become free in the moment of the exchange: never both, never neither."""
    for number in range(10):
        [held, other] = await full(fake)
        first = await submitted(fake, job("first"))
        ending = asyncio.create_task(fake.platform.stop(held, ANN))
        for _ in range(number):
            await asyncio.sleep(0)
        try:
            second: str | None = await submitted(fake, job("second"), instead_of=first)
        except Conflict:
            second = None
        await ending
        runs = second or first
        await fake.running(runs)
        assert (await fake.view(first)).state == ("running" if second is None else "stopped")
        for one in (runs, other):
            await fake.platform.stop(one, ANN)
            await fake.ended(one)


async def test_both_are_stored_or_neither(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of one and the other come in one commit; where that fails, the first waits on, also after a restart."""
    await full(fake)
    first = await submitted(fake, job("first"))
    inner, failing, together = Ledger._write, True, []

    def poor(ledger: Ledger, connection: Any, items: list[Any]) -> None:
        kinds = [[event.kind for change in item.work.changes for event in change.events] for item in items]
        together.extend(one for one in kinds if Kind.STOP_REQUESTED in one)
        if failing and any(Kind.STOP_REQUESTED in one for one in kinds):
            for item in items:
                item.future.set_exception(StorageFailed("The disk is full"))
        else:
            inner(ledger, connection, items)

    monkeypatch.setattr(Ledger, "_write", poor)
    with pytest.raises(StorageFailed):
        await submitted(fake, job("second"), instead_of=first)
    assert [sorted(one) for one in together] == [[Kind.STOP_REQUESTED, Kind.SUBMITTED]]
    failing = False
    await fake.until(first, lambda _: not fake.platform.context.master._blocked, "the ledger is back")
    assert [one.job for one in fake.platform.queueing.page(ADMIN).items] == [first]
    second = await submitted(fake, job("second"), instead_of=first)
    await fake.restart()
    assert (await fake.ended(first)).state == "stopped"
    assert [one.job for one in fake.platform.queueing.page(ADMIN).items] == [second]
