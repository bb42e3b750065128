"""Two requests that arrive at the same moment: each is judged on what there is when its turn comes."""

import asyncio
import base64
from typing import Any

import pytest

from tests.fixtures.fakes.engine import FakeMachines
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, NotFound, Unauthenticated
from trainmaster.core.states import JobShare
from trainmaster.messages.jobs import jobs as jobs_said
from trainmaster.service.use_cases.people import credentials, public_keys
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken

ED25519 = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
ANN, BOB = person("ann", "vision"), person("bob", "vision")


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    return fake


async def ended(vision: Stage, machines: FakeMachines, **fields: Any) -> str:
    """Return a job of ann that ended and is in no memory."""
    view, _ = await vision.platform.submit(
        {"spec": {**fake_spec("a", "sleep infinity"), "workspace": "vision", **fields}}, ANN, None
    )
    await vision.running(view.id)
    machines.end_task(f"{view.id}-1")
    await vision.ended(view.id)
    await vision.until(view.id, lambda _: view.id not in vision.platform.context.master.live, "forgotten by the loop")
    return str(view.id)


async def test_tags_that_two_people_put_on_at_once_both_stay(vision: Stage, machines: FakeMachines) -> None:
    job = await ended(vision, machines)
    many = [f"tag{at}" for at in range(8)]
    await asyncio.gather(*(vision.platform.marking.tag(job, ANN, (tag,)) for tag in many))
    assert (await vision.platform.job(job, ANN)).tags == many


async def test_who_may_no_more_when_their_turn_comes_is_refused(vision: Stage, machines: FakeMachines) -> None:
    job = await ended(vision, machines, share="read-write")
    held = vision.platform.context.ended._turn
    await held.acquire()
    hides = asyncio.create_task(vision.platform.share(job, ANN, JobShare.NONE))
    while len(held._waiters or ()) < 1:
        await asyncio.sleep(0)
    tags = asyncio.create_task(vision.platform.marking.tag(job, BOB, ("late",)))
    while len(held._waiters or ()) < 2:
        await asyncio.sleep(0)
    held.release()
    await hides
    with pytest.raises(NotFound):
        await tags
    assert (await vision.platform.job(job, ANN)).tags == []


async def test_a_deleted_account_becomes_no_member(vision: Stage) -> None:
    await vision.platform.accounts.add(NewPerson("eve"), ADMIN)
    await asyncio.gather(
        vision.platform.members.put("vision", "eve", "member", ADMIN),
        vision.platform.accounts.delete("eve", ADMIN, None),
        vision.platform.members.put("vision", "eve", "viewer", ADMIN),
        return_exceptions=True,
    )
    assert [one.user for one in (await vision.platform.members.of("vision", ADMIN)).items] == []


async def test_who_is_deleted_and_unlocked_at_once_stays_deleted(vision: Stage) -> None:
    await vision.platform.accounts.add(NewPerson("eve"), ADMIN)
    await asyncio.gather(
        vision.platform.accounts.delete("eve", ADMIN, None),
        vision.platform.accounts.unlock("eve", ADMIN),
        vision.platform.accounts.lock("eve", ADMIN, None),
        return_exceptions=True,
    )
    assert (await vision.platform.people.user("eve")).state == "deleted"


async def test_a_password_that_is_replaced_meanwhile_opens_nothing(
    vision: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform, people = vision.platform, vision.platform.people
    made = await platform.accounts.add(NewPerson("eve"), ADMIN)
    good = people._passwords.good

    async def replaced_meanwhile(*given: Any) -> bool:
        found = await good(*given)
        monkeypatch.setattr(people._passwords, "good", good)
        await platform.accounts.give_password("eve", ADMIN)
        return found

    monkeypatch.setattr(people._passwords, "good", replaced_meanwhile)
    with pytest.raises(Unauthenticated):
        await people.sign_in("eve", made.one_time_password, "10.0.0.1")
    assert people._rows.sessions("eve", 0.0) == []


async def test_all_jobs_of_who_leaves_are_stopped_also_where_one_ends_by_itself(
    vision: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await vision.platform.accounts.add(NewPerson("ann", workspace="vision"), ADMIN)
    jobs = []
    for _ in range(3):
        document = {**fake_spec("a", "sleep infinity"), "workspace": "vision"}
        jobs.append((await vision.platform.submit({"spec": document}, ANN, None))[0].id)
    stop = vision.platform._jobs.stop

    async def saved(ref: str, *more: Any) -> Any:
        if ref == jobs[0]:
            raise Conflict(jobs_said.outputs_just_saved())
        return await stop(ref, *more)

    monkeypatch.setattr(vision.platform.accounts._jobs, "stop", saved)
    await vision.platform.accounts.lock("ann", ADMIN, "stop")
    for job in jobs[1:]:
        await vision.state(job, "stopped")


async def test_views_go_with_who_saved_them_and_stay_with_them_when_the_workspace_goes(vision: Stage) -> None:
    platform = vision.platform
    await platform.accounts.add(NewPerson("ann", workspace="vision"), ADMIN)
    await platform.accounts.add(NewPerson("bob", workspace="vision"), ADMIN)
    await platform.saved_views.put("Ours", "tag=a", "vision", ANN)
    await platform.saved_views.put("His", "tag=b", "vision", BOB)
    await platform.accounts.delete("ann", ADMIN, None)
    assert [one.name for one in (await platform.saved_views.all(BOB)).items] == ["His"]
    await platform.administer.drop_workspace("vision", ADMIN)
    await platform.administer.put_workspace(Workspace("vision"), ADMIN)
    assert (await platform.saved_views.all(person("cai", "vision"))).items == []
    [his] = (await platform.saved_views.all(BOB)).items
    assert his.workspace is None


async def test_of_tokens_and_keys_there_are_never_more_than_may_be(
    vision: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await vision.platform.accounts.add(NewPerson("ann", workspace="vision"), ADMIN)
    monkeypatch.setattr(credentials, "MAX_TOKENS", 3)
    monkeypatch.setattr(public_keys, "MOST", 3)
    make, keep = vision.platform.credentials, vision.platform.public_keys
    for ask in (
        lambda at: make.create(ANN, WantedToken(f"t{at}")),
        lambda at: keep.add(f"ssh-ed25519 {base64.b64encode(ED25519 + bytes([at] * 32)).decode()}", ANN),
    ):
        found = await asyncio.gather(*(ask(at) for at in range(6)), return_exceptions=True)
        refused = [one for one in found if isinstance(one, BaseException)]
        assert [type(one) for one in refused] == [Conflict] * 3, refused
    assert len((await make.tokens(ANN)).items) == len((await keep.of(ANN)).items) == 3
