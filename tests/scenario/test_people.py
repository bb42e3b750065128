"""People in workspaces: accounts, members and what becomes of jobs (R1, R9, R229)."""

from dataclasses import replace
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, ENDED, Stage, spec
from trainmaster.access.roles import Principal, Via
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, Unauthenticated
from trainmaster.core.events import SYSTEM
from trainmaster.service.people.people import ADMIN as BUILT_IN
from trainmaster.service.people.people import People
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken

JOB: dict[str, Any] = spec("a", "sleep infinity")


async def signed_in(stage: Stage, name: str, one_time: str) -> Principal:
    """Return who has signed in with a one-time password and replaced it."""
    people = stage.platform.people
    first = (await people.sign_in(name, one_time, "10.0.0.1")).principal
    assert first.confined
    await people.change_password(first, one_time, "correct horse battery")
    return (await people.sign_in(name, "correct horse battery", "10.0.0.1")).principal


async def make(stage: Stage, name: str, **wanted: Any) -> Principal:
    """Return a new person, signed in."""
    made = await stage.platform.accounts.add(NewPerson(name, **wanted), ADMIN)
    return await signed_in(stage, name, made.one_time_password)


async def test_the_first_start_is_over_once_somebody_was_in(stage: Stage) -> None:
    """Also for a server that is started again, and when the administrator gets a new one-time password later."""
    platform, people = stage.platform, stage.platform.people
    assert (await platform.sign_ins.ways()).first
    with pytest.raises(Unauthenticated):
        await people.sign_in(BUILT_IN, "not the password", "10.0.0.1")
    again = People(people._rows, platform.layout)
    await again.start()
    assert again.one_time_password is None
    assert await again.unopened(), "what was printed by the start before is still good"
    await people.sign_in(BUILT_IN, str(people.one_time_password), "10.0.0.1")
    assert not (await platform.sign_ins.ways()).first
    await people.give_password(BUILT_IN, SYSTEM)
    assert not (await platform.sign_ins.ways()).first
    assert not await again.unopened()


async def test_a_new_person_submits_in_their_workspace_and_nowhere_else(stage: Stage) -> None:
    await stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    await stage.platform.administer.put_workspace(Workspace("speech"), ADMIN)
    ann = await make(stage, "ann", workspace="vision")
    view, _ = await stage.platform.submit({"spec": {**JOB, "workspace": "vision"}}, ann, None)
    assert (view.owner, view.workspace) == ("ann", "vision")
    for elsewhere in ("default", "speech"):
        with pytest.raises(InvalidSpec) as refused:
            await stage.platform.submit({"spec": {**JOB, "workspace": elsewhere}}, ann, None)
        [problem] = refused.value.problems
        assert (problem.path, problem.code) == ("workspace", "not_in_workspace")
        assert "vision" in problem.remedy


async def test_a_document_without_a_workspace_goes_to_the_only_one(stage: Stage) -> None:
    """Alone, in a batch and in a preview; with two there is no only one, and whoever is in default stays there."""
    await stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    await stage.platform.administer.put_workspace(Workspace("speech"), ADMIN)
    ann, body = await make(stage, "ann", workspace="vision"), {"spec": JOB}
    assert "workspace" not in JOB
    assert (await stage.platform.submit(body, ann, None))[0].workspace == "vision"
    [item] = (await stage.platform.submit_batch([body], ann, None)).items
    assert (await stage.platform.job(item.id, ann)).workspace == "vision"
    seen = await stage.platform.preview(body, ann)
    assert (seen.ok, (seen.spec or {}).get("workspace")) == (True, "vision")
    both = replace(ann, memberships=(("speech", "member"), ("vision", "member")))
    with pytest.raises(InvalidSpec):
        await stage.platform.submit(body, both, None)
    home = replace(ann, memberships=(("default", "member"), ("vision", "member")))
    assert (await stage.platform.submit(body, home, None))[0].workspace == "default"


async def test_a_viewer_looks_and_does_not_submit(stage: Stage) -> None:
    eve = await make(stage, "eve", workspace_role="viewer")
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.submit({"spec": JOB}, eve, None)
    assert [problem.code for problem in refused.value.problems] == ["only_views"]
    assert [one.user for one in (await stage.platform.members.of("default", eve)).items] == ["admin", "eve"]


async def test_an_admin_of_a_workspace_sees_and_stops_its_jobs_a_member_does_not(stage: Stage) -> None:
    """R229."""
    await stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    ann, bob = await make(stage, "ann", workspace="vision"), await make(stage, "bob", workspace="vision")
    lead = await make(stage, "lead", workspace="vision", workspace_role="admin")
    other = await make(stage, "other", workspace_role="owner")
    job, _ = await stage.platform.submit({"spec": {**JOB, "workspace": "vision"}}, ann, None)
    for stranger in (bob, other):
        with pytest.raises(NotFound):
            await stage.platform.job(job.id, stranger)
    assert (await stage.platform.job(job.id, lead)).id == job.id
    await stage.platform.stop(job.id, lead)
    await stage.state(job.id, "stopped")


async def test_what_is_taken_away_is_gone_at_once(stage: Stage) -> None:
    """Also for who is signed in: the next request knows."""
    made = await stage.platform.accounts.add(NewPerson("ann"), ADMIN)
    people = stage.platform.people
    ann = await signed_in(stage, "ann", made.one_time_password)
    token = (await stage.platform.credentials.create(ann, WantedToken("laptop"))).token
    assert (await people.by_token(token)).principal.role_in("default") == "member"
    await stage.platform.members.drop("default", "ann", ADMIN)
    assert (await people.by_token(token)).principal.memberships == ()
    await stage.platform.accounts.lock("ann", ADMIN, None)
    with pytest.raises(Unauthenticated) as refused:
        await people.by_token(token)
    assert refused.value.code == "account_locked"
    with pytest.raises(Unauthenticated):
        await people.sign_in("ann", "correct horse battery", "10.0.0.1")
    await stage.platform.accounts.unlock("ann", ADMIN)
    assert (await people.by_token(token)).principal.name == "ann"


async def test_what_becomes_of_jobs_is_never_guessed(stage: Stage) -> None:
    ann = await make(stage, "ann")
    job, _ = await stage.platform.submit({"spec": JOB}, ann, None)
    with pytest.raises(Conflict) as refused:
        await stage.platform.accounts.lock("ann", ADMIN, None)
    assert (refused.value.code, refused.value.said.args["count"]) == ("jobs_not_ended", 1)
    await stage.platform.accounts.lock("ann", ADMIN, "keep")
    assert (await stage.view(job.id)).state not in ENDED
    await stage.platform.accounts.delete("ann", ADMIN, "stop")
    await stage.state(job.id, "stopped")
    with pytest.raises(NotFound):
        await stage.platform.accounts.show("ann", ADMIN)
    with pytest.raises(Conflict):  # the name stays hers: the job is told of it
        await stage.platform.accounts.add(NewPerson("ann"), ADMIN)
    assert [one.name for one in (await stage.platform.accounts.all(ADMIN)).items] == ["admin"]


async def test_nobody_gives_or_takes_a_role_above_their_own(stage: Stage) -> None:
    """Role escalation."""
    await stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    owner = await make(stage, "owner", workspace="vision", workspace_role="owner")
    lead = await make(stage, "lead", workspace="vision", workspace_role="admin")
    ann = await make(stage, "ann", workspace="vision")
    members = stage.platform.members
    for who, user, role in (
        (lead, "lead", "owner"),
        (lead, "ann", "owner"),
        (lead, "owner", "member"),
        (ann, "ann", "admin"),
    ):
        with pytest.raises(Forbidden):
            await members.put("vision", user, role, who)
    with pytest.raises(Forbidden):
        await members.drop("vision", "owner", lead)
    with pytest.raises(Forbidden):
        await members.drop("vision", "lead", ann)
    assert (await members.put("vision", "ann", "admin", lead)).role == "admin"
    assert (await members.put("vision", "lead", "owner", owner)).role == "owner"
    with pytest.raises(NotFound):
        await members.put("vision", "nobody", "member", owner)
    with pytest.raises(InvalidSpec):
        await members.put("vision", "ann", "god", owner)
    for stranger in (person("out"), person("out", "speech", role="owner")):
        with pytest.raises((NotFound, Forbidden)):
            await members.of("vision", stranger)
        with pytest.raises((NotFound, Forbidden)):
            await members.put("vision", "out", "owner", stranger)
    await members.drop("vision", "ann", person("ann", "vision", role="admin"))  # everybody may leave
    assert [one.user for one in (await members.of("vision", ADMIN)).items] == ["lead", "owner"]


async def test_members_go_with_their_workspace(stage: Stage) -> None:
    """Whoever makes another one of that name finds nobody in it."""
    administer, members = stage.platform.administer, stage.platform.members
    await administer.put_workspace(Workspace("vision"), ADMIN)
    await make(stage, "ann", workspace="vision", workspace_role="owner")
    await administer.drop_workspace("vision", ADMIN)
    await administer.put_workspace(Workspace("vision"), ADMIN)
    assert (await members.of("vision", ADMIN)).items == []


@pytest.mark.parametrize("name", ["", "Ann", "1ann", "a" * 33, "änn", "a/b", "../x", "a b", "ann\n", "ＡＮＮ"])
async def test_names_that_could_be_taken_for_another(stage: Stage, name: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.accounts.add(NewPerson(name, "god", "nowhere", "king"), ADMIN)
    paths = [problem.path for problem in refused.value.problems]
    assert paths == ["name", "role", "workspace", "workspace_role"]


async def test_only_administrators_decide_on_accounts(stage: Stage) -> None:
    accounts = stage.platform.accounts
    await accounts.add(NewPerson("bob"), ADMIN)
    boss = person("ann", role="owner")
    for refused in (
        accounts.all(boss),
        accounts.show("bob", boss),
        accounts.add(NewPerson("mallory", "admin"), boss),
        accounts.lock("bob", boss, None),
        accounts.unlock("bob", boss),
        accounts.give_password("bob", boss),
        accounts.delete("bob", boss, None),
    ):
        with pytest.raises(Forbidden):
            await refused
    local = Principal(BUILT_IN, "admin", Via.LOCAL)
    for stays in (accounts.lock(BUILT_IN, local, None), accounts.delete(BUILT_IN, local, None)):
        with pytest.raises(Conflict):
            await stays


async def test_a_forgotten_password_is_replaced_by_an_administrator(stage: Stage) -> None:
    await make(stage, "ann")
    given = await stage.platform.accounts.give_password("ann", ADMIN)
    with pytest.raises(Unauthenticated):
        await stage.platform.people.sign_in("ann", "correct horse battery", "10.0.0.1")
    assert (await stage.platform.people.sign_in("ann", given.one_time_password, "10.0.0.1")).principal.confined
    told = [event.text.en for event in (await stage.platform.auditing.page(ADMIN, AuditFilters("person:ann"))).items]
    assert "Gave user ann a one-time password; all sessions ended" in told
