"""Signing in through a certified provider: the real thing, from the first click to the groups that are taken away."""

from typing import Any

import httpx

from tests.oidc.conftest import Serving
from tests.oidc.provided import Certified
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.people.accounts import PeopleRows

ADMIN = Principal("admin", "admin")
GROUPS = {"students": "vision:member", "staff": "vision:admin, speech:viewer"}


async def comes(http: httpx.AsyncClient, certified: Certified, subject: str) -> httpx.Response:
    """Sign in as a browser does."""
    begun = (await http.post("/session/provider")).json()
    told = certified.signs_in(begun["address"], subject)
    assert told["iss"] == certified.issuer
    return await http.post("/session/provider/back", json={**told, "flow": begun["flow"]})


def places(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 201, answer.text
    return {one["workspace"]: one["role"] for one in answer.json()["user"]["workspaces"]}


async def test_groups_give_and_take(serving: Serving, certified: Certified) -> None:
    async with serving(certified.issuer, groups=GROUPS, admin_groups=("ops",)) as (platform, http):
        for name in ("vision", "speech", "text"):
            await platform.administer.put_workspace(Workspace(name), ADMIN)
        person: dict[str, Any] = {"preferred_username": "Ann@lab.example", "email": "ann@lab.example"}

        async def with_groups(*groups: str) -> httpx.Response:
            certified.people({"s-1": {**person, "groups": list(groups)}})
            return await comes(http, certified, "s-1")

        assert (await with_groups()).json()["code"] == "no_group"
        first = await with_groups("students")
        assert first.json()["user"]["name"] == "ann"
        assert places(first) == {"vision": "member"}
        assert places(await with_groups("students", "staff")) == {"vision": "admin", "speech": "viewer"}
        await platform.members.put("text", "ann", "owner", ADMIN)  # by hand: no group takes it away
        await platform.members.put("speech", "ann", "member", ADMIN)  # changed by hand: likewise
        lost = await with_groups("ops", "students")
        assert places(lost) == {"vision": "member", "speech": "member", "text": "owner"}
        assert lost.json()["user"]["role"] == "admin"
        last = await with_groups()
        assert places(last) == {"speech": "member", "text": "owner"}
        assert last.json()["user"]["role"] == "user"
        kinds = [one.kind for one in (await platform.auditing.page(ADMIN, AuditFilters(), 100)).items]
        for kind in ("user_came_through", "group_gave", "group_took", "group_made_admin", "group_unmade_admin"):
            assert kind in kinds


async def test_the_session_is_like_any_other(serving: Serving, certified: Certified) -> None:
    certified.people({"s-2": {"preferred_username": "bob", "groups": ["students"]}})
    async with serving(certified.issuer, everybody="default:member") as (platform, http):
        came = await comes(http, certified, "s-2")
        assert (await http.get("/session")).status_code == 401, "the cookie alone opens nothing"
        http.headers["x-session-key"] = came.json()["key"]
        assert (await http.get("/session")).json()["user"]["name"] == "bob"
        [session] = (await http.get("/sessions")).json()["items"]
        assert session["current"]
        assert not await platform.people._passwords.good(PeopleRows(platform.database).user("bob"), "")
        assert (await http.delete("/session")).status_code == 204
        assert (await http.get("/session")).status_code == 401


async def test_a_code_is_good_once_and_only_with_its_verifier(serving: Serving, certified: Certified) -> None:
    certified.people({"s-3": {"preferred_username": "cai", "groups": []}})
    async with serving(certified.issuer, everybody="default:member") as (_, http):
        begun = (await http.post("/session/provider")).json()
        told = certified.signs_in(begun["address"], "s-3")
        other = (await http.post("/session/provider")).json()
        mixed = {**certified.signs_in(other["address"], "s-3"), "code": told["code"], "flow": other["flow"]}
        refused = await http.post("/session/provider/back", json=mixed)
        assert (refused.status_code, "invalid_grant" in refused.json()["title"]) == (401, True)
