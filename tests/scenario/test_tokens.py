"""Tokens that carry less than their user may, and where somebody is signed in: over the API itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.service.beginnings import whole_id
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.people import credentials
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken


@pytest.fixture
async def ann(fake: Stage) -> Principal:
    """Somebody in two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    await fake.platform.accounts.add(NewPerson("ann", workspace="vision"), ADMIN)
    await fake.platform.members.put("speech", "ann", "member", ADMIN)
    return Principal("ann", memberships=(("speech", "member"), ("vision", "member")))


@asynccontextmanager
async def over(stage: Stage, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client that sends a token."""
    transport = httpx.ASGITransport(create_app(stage.platform))
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/api/v1", headers=headers) as http:
        yield http


async def made(stage: Stage, who: Principal, **wanted: Any) -> str:
    return (await stage.platform.credentials.create(who, WantedToken("t", **wanted))).token


def job(workspace: str) -> dict[str, Any]:
    return {"spec": {**fake_spec("a", "sleep infinity"), "workspace": workspace}}


async def test_a_token_reaches_what_it_names(fake: Stage, ann: Principal) -> None:
    """Scopes and the workspace hold on every route; the rest of what its user may is refused, or is not there."""
    inside = (await fake.platform.submit(job("vision"), ann, None))[0].id
    outside = (await fake.platform.submit(job("speech"), ann, None))[0].id
    token = await made(fake, ann, scopes=("jobs:read", "jobs:write"), workspace="vision")
    async with over(fake, token) as http:
        listed = (await http.get("/jobs")).json()
        assert ([one["id"] for one in listed["items"]], listed["total"]) == ([inside], 1)
        assert (await http.get(f"/jobs/{inside}")).status_code == 200
        assert (await http.get(f"/jobs/{outside}")).status_code == 404
        assert (await http.post(f"/jobs/{outside}/stop")).status_code == 404
        assert (await http.post(f"/jobs/{inside}/stop")).status_code == 202
        refused = await http.get("/tokens")
        assert (refused.status_code, refused.json()["code"]) == (403, "token_lacks_scope")
        assert (await http.get("/session")).status_code == 403
        submitted = await http.post("/jobs", json=job("vision"))
        assert submitted.status_code == 422, submitted.text  # it does not carry jobs:submit
        assert [problem["code"] for problem in submitted.json()["problems"]] == ["token_submits_nothing"]
        elsewhere = await http.post("/jobs", json=job("speech"))
        assert elsewhere.status_code == 422
    async with over(fake, await made(fake, ann, scopes=("jobs:write", "jobs:submit"), workspace="vision")) as http:
        assert (await http.post("/jobs", json=job("vision"))).status_code == 201
        assert (await http.post("/jobs", json=job("speech"))).status_code == 422


async def test_nobody_makes_a_token_that_carries_more_than_what_they_come_with(fake: Stage, ann: Principal) -> None:
    limited = Principal("ann", memberships=ann.memberships, scopes=frozenset({"tokens:self"}), within="vision")
    credentials = fake.platform.credentials
    with pytest.raises(InvalidSpec) as refused:
        await credentials.create(limited, WantedToken("t", scopes=("tokens:self", "jobs:read"), workspace="speech"))
    assert [(one.path, one.code) for one in refused.value.problems] == [
        ("scopes.1", "scope_beyond_yours"),
        ("workspace", "workspace_beyond_yours"),
    ]
    alike = await credentials.create(limited, WantedToken("t"))
    assert (alike.scopes, alike.workspace) == (["tokens:self"], "vision")


async def test_nobody_makes_a_token_that_holds_longer_than_the_one_they_come_with(fake: Stage, ann: Principal) -> None:
    token = await made(fake, ann, expires_in_s=60.0)
    async with over(fake, token) as http:
        for body in ({}, {"expires_in_s": 30}):
            answer = await http.post("/tokens", json={"name": "t", **body})
            assert answer.status_code == 201, answer.text
            assert answer.json()["expires_at"] <= fake.clock() + 60
        refused = await http.post("/tokens", json={"name": "t", "expires_in_s": 61})
        assert refused.status_code == 422
        assert [one["code"] for one in refused.json()["problems"]] == ["longer_than_yours"]


async def test_all_that_is_wrong_with_a_token_is_told_at_once(fake: Stage, ann: Principal) -> None:
    credentials = fake.platform.credentials
    with pytest.raises(InvalidSpec) as refused:
        await credentials.create(ann, WantedToken("t", scopes=("jobs:read", "all"), workspace="nowhere"))
    assert [(one.path, one.code) for one in refused.value.problems] == [
        ("scopes.1", "no_such_scope"),
        ("workspace", "unknown_workspace"),
    ]
    with pytest.raises(InvalidSpec) as refused:
        await credentials.create(ann, WantedToken("t", scopes=(), workspace="default"))
    assert [(one.path, one.code) for one in refused.value.problems] == [
        ("scopes", "no_scopes"),
        ("workspace", "not_a_member"),
    ]


async def test_administrators_make_tokens_for_others_and_nobody_else_does(fake: Stage, ann: Principal) -> None:
    """A program of a laboratory has an account of its own; its token is made, seen and deleted by an administrator."""
    credentials = fake.platform.credentials
    token = await credentials.create(ADMIN, WantedToken("nightly", 60.0, "ann", ("jobs:read",), "vision"))
    assert (token.user, token.scopes, token.workspace) == ("ann", ["jobs:read"], "vision")
    assert (await fake.platform.people.by_token(token.token)).principal.name == "ann"
    assert [one.id for one in (await credentials.tokens(ADMIN, "ann")).items] == [token.id]
    for refused in (credentials.tokens(ann, "admin"), credentials.create(ann, WantedToken("t", user="admin"))):
        with pytest.raises(Forbidden):
            await refused
    with pytest.raises(NotFound):
        await credentials.create(ADMIN, WantedToken("t", user="nobody"))
    told = (await fake.platform.auditing.page(ADMIN, AuditFilters(subject="person:ann", kind="token_made_for"))).items
    assert [one.by for one in told] == ["admin"]
    await credentials.delete(ADMIN, token.id, "ann")
    assert (await credentials.tokens(ann)).items == []


async def test_who_is_signed_in_somewhere_else_is_signed_out_from_here(fake: Stage) -> None:
    account = await fake.platform.accounts.add(NewPerson("bob"), ADMIN)
    people, credentials = fake.platform.people, fake.platform.credentials
    first = await people.sign_in("bob", account.one_time_password, "10.0.0.1", agent="Firefox on Linux")
    await people.change_password(first.principal, account.one_time_password, "correct horse battery")
    here = await people.sign_in("bob", "correct horse battery", "10.0.0.2", agent="Chrome on a laptop")
    there = await people.sign_in("bob", "correct horse battery", "10.0.0.3")
    seen = await people.by_session(here.cookie, here.key)
    found = (await credentials.sessions(seen.principal, seen.mark)).items
    assert sorted((one.address, one.browser, one.current) for one in found) == [
        ("10.0.0.2", "Chrome on a laptop", True),
        ("10.0.0.3", "", False),
    ]
    other = next(one for one in found if not one.current)
    await credentials.end_session(seen.principal, other.id)
    with pytest.raises(Exception, match="session"):
        await people.by_session(there.cookie, there.key)
    assert (await people.by_session(here.cookie, here.key)).principal.name == "bob"
    with pytest.raises(NotFound):
        await credentials.end_session(seen.principal, other.id)
    with pytest.raises(NotFound):
        await credentials.end_session(ADMIN, found[0].id)


async def test_the_beginning_of_an_id_names_it_as_with_jobs(
    fake: Stage, ann: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens, invitations and sessions; webhooks in test_notices.py."""
    await fake.platform.auditing.page(ADMIN, AuditFilters())  # makes the key that seals ids
    ids = iter(("aaaa01", "aaaa02", "bbbb03", "cccc04"))
    monkeypatch.setattr(credentials.secrets, "token_hex", lambda _: next(ids))
    for _ in range(3):
        await made(fake, ann)
    tokens, platform = fake.platform.credentials, fake.platform
    with pytest.raises(Conflict) as refused:
        await tokens.delete(ann, "kaaaa")
    assert refused.value.message == "Several ids begin with kaaaa: kaaaa01, kaaaa02"
    with pytest.raises(NotFound):
        await tokens.delete(ann, "kbb")  # too short
    with pytest.raises(NotFound):
        await tokens.delete(ADMIN, "kbbbb")  # of somebody else
    await tokens.delete(ann, "kbbbb")
    await tokens.delete(ann, "kaaaa02")
    assert [one.id for one in (await tokens.tokens(ann)).items] == ["kaaaa01"]
    last = (await platform.auditing.page(ADMIN, AuditFilters("person:ann", kind="token_deleted"))).items[-1]
    assert last.text.en == "Deleted token kbbbb03"
    await platform.inviting.make("vision", "member", 3600.0, ADMIN)
    await platform.inviting.revoke("vision", "icccc", ADMIN)
    assert (await platform.inviting.of("vision", ADMIN)).items == []
    with pytest.raises(NotFound):
        await tokens.end_session(ann, "saaaa")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("abcd1", "abcd1"), ("abcd12", "abcd12"), ("abce", "abce9"), ("abc", "abc"), ("zzzz", "zzzz"), ("", "")],
)
def test_which_id_is_meant(given: str, meant: str) -> None:
    """One that is named whole is that one, also where others begin so."""
    assert whole_id(given, ["abcd1", "abcd12", "abce9"]) == meant
