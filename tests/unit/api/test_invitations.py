"""Invitations by a link: good once, for a while, for no more than their maker may give (R9)."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.fixtures.audited import audit_event
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, TrainmasterError
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.people.members import Member

ADMIN = Principal("admin", "admin")
GOOD = "correct horse battery"
WEEK = 7 * 86400.0


@pytest.fixture
async def rows(platform: Any) -> PeopleRows:
    """In the workspace vision ann is owner, lead admin and bob member; eve is a member of nothing."""
    await platform.administer.put_workspace(Workspace("vision"), ADMIN)
    rows = PeopleRows(platform.database)
    for name, role in (("ann", "owner"), ("lead", "admin"), ("bob", "member"), ("eve", "")):
        rows.add_user(User(name, "", "user"), audit_event(), [Member("vision", name, role, 1.0)] if role else [])
    return rows


def who(rows: PeopleRows, name: str) -> Principal:
    found = rows.person(name)
    assert found is not None
    return Principal(name, memberships=tuple((one.workspace, one.role) for one in found.members))


async def invited(platform: Any, rows: PeopleRows, by: str = "ann", role: str = "member", lasts: float = WEEK) -> str:
    made = await platform.inviting.make("vision", role, lasts, who(rows, by))
    path, _, secret = made.link.partition("#")
    assert path == "/join"
    return str(secret)


async def test_who_has_the_link_chooses_a_name_and_is_a_member(
    platform: Any, rows: PeopleRows, http: httpx.AsyncClient
) -> None:
    secret = await invited(platform, rows)
    look = await http.post("/api/v1/invitations/look", json={"secret": secret})
    assert (look.json()["workspace"], look.json()["role"], look.json()["made_by"]) == ("vision", "member", "ann")
    wrong = await http.post(
        "/api/v1/invitations/accept", json={"secret": secret, "name": "Zoe Li", "password": "short"}
    )
    assert [one["path"] for one in wrong.json()["problems"]] == ["name", "password"]
    taken = await http.post("/api/v1/invitations/accept", json={"secret": secret, "name": "bob", "password": GOOD})
    assert taken.json()["code"] == "user_name_taken"
    came = await http.post("/api/v1/invitations/accept", json={"secret": secret, "name": "zoe", "password": GOOD})
    assert came.status_code == 201
    http.headers["x-session-key"] = came.json()["key"]
    user = (await http.get("/api/v1/session")).json()["user"]
    assert (user["name"], user["role"], user["must_change_password"]) == ("zoe", "user", False)
    assert user["workspaces"] == [{"workspace": "vision", "role": "member"}]
    again = await http.post("/api/v1/invitations/accept", json={"secret": secret, "name": "yan", "password": GOOD})
    assert (again.status_code, again.json()["code"]) == (404, "invitation_over")
    [one] = (await platform.inviting.of("vision", ADMIN)).items
    assert (one.state, one.used_by) == ("used", "zoe")
    told = [(one.kind, one.by) for one in (await platform.auditing.page(ADMIN, AuditFilters(), 10)).items]
    assert {("joined", "zoe"), ("user_came", "zoe"), ("invitation_made", "ann")} <= set(told)
    assert secret not in str((await platform.auditing.page(ADMIN, AuditFilters(), 100)).items)


async def test_the_secret_is_stored_nowhere(platform: Any, rows: PeopleRows, tmp_path: Any) -> None:
    secret = await invited(platform, rows)
    await platform.people.sign_in("admin", platform.people.one_time_password, "10.0.0.1")  # a later commit
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


async def test_who_is_signed_in_joins_with_the_account_they_have(platform: Any, rows: PeopleRows) -> None:
    secret = await invited(platform, rows, role="viewer")
    with pytest.raises(Conflict) as refused:
        await platform.inviting.join(secret, who(rows, "bob"))
    assert refused.value.code == "already_in"
    assert (await platform.inviting.join(secret, who(rows, "eve"))).role == "viewer"
    with pytest.raises(NotFound):
        await platform.inviting.join(secret, who(rows, "eve"))


async def test_a_token_for_elsewhere_joins_nothing(platform: Any, rows: PeopleRows) -> None:
    secret = await invited(platform, rows)
    with pytest.raises(Forbidden):
        await platform.inviting.join(secret, Principal("eve", within="default"))


@pytest.mark.parametrize("at_once", [2, 12])
async def test_of_those_who_race_with_one_invitation_exactly_one_comes_in(
    platform: Any, rows: PeopleRows, at_once: int
) -> None:
    secret = await invited(platform, rows)
    for at in range(at_once):
        rows.add_user(User(f"u{at}", "", "user"), audit_event())
    done = await asyncio.gather(
        *(platform.inviting.join(secret, Principal(f"u{at}")) for at in range(at_once)), return_exceptions=True
    )
    assert sum(not isinstance(one, Exception) for one in done) == 1, done
    assert all(isinstance(one, TrainmasterError) for one in done if isinstance(one, Exception))
    assert sum(one.user.startswith("u") for one in (await platform.members.of("vision", ADMIN)).items) == 1


async def test_two_transactions_with_one_invitation_let_one_person_in(platform: Any, rows: PeopleRows) -> None:
    """Whatever other servers do meanwhile: the row itself is used up once."""
    secret = await invited(platform, rows)
    one = await platform.inviting.usable(secret)
    use = platform.inviting._rows.use
    use(one, Member("vision", "eve", "member", one.created_at), [])
    with pytest.raises(Conflict):
        use(one, Member("vision", "bob2", "member", one.created_at), [], User("bob2", "", "user"))
    assert rows.user("bob2") is None


async def test_what_ends_an_invitation(platform: Any, rows: PeopleRows) -> None:
    """Time, revoking, the end of the workspace, and the end of its maker's rights."""
    inviting, later = platform.inviting, 0.0
    platform.context.clock = lambda clock=platform.context.clock: clock() + later
    expires = await invited(platform, rows, lasts=60)
    later = 61.0
    revoked = await invited(platform, rows)
    [one, *_] = (await inviting.of("vision", ADMIN)).items
    await inviting.revoke("vision", one.id, who(rows, "lead"))
    with pytest.raises(NotFound):
        await inviting.revoke("vision", one.id, ADMIN)
    by_lead = await invited(platform, rows, by="lead", role="admin")
    await platform.members.put("vision", "lead", "member", ADMIN)
    for secret in (expires, revoked, by_lead, "guessed", ""):
        with pytest.raises(NotFound) as refused:
            await inviting.join(secret, who(rows, "eve"))
        assert refused.value.code == "invitation_over"
    await platform.members.put("vision", "lead", "admin", ADMIN)
    assert (await inviting.look(by_lead)).role == "admin"
    rows.set_state("lead", "locked", audit_event())
    with pytest.raises(NotFound):
        await inviting.look(by_lead)
    by_owner = await invited(platform, rows)
    await platform.administer.drop_workspace("vision", ADMIN)
    await platform.administer.put_workspace(Workspace("vision"), ADMIN)
    with pytest.raises(NotFound):
        await inviting.look(by_owner)


async def test_nobody_invites_above_their_own_role(platform: Any, rows: PeopleRows) -> None:
    for by, role, why in (("lead", "owner", Forbidden), ("bob", "viewer", Forbidden), ("eve", "viewer", NotFound)):
        with pytest.raises((why, Forbidden)):
            await invited(platform, rows, by=by, role=role)
    with pytest.raises(InvalidSpec) as refused:
        await platform.inviting.make("vision", "god", 1.0, ADMIN)
    assert [problem.path for problem in refused.value.problems] == ["role", "expires_in_s"]
    with pytest.raises(NotFound):
        await platform.inviting.make("nowhere", "member", WEEK, ADMIN)
    for stranger in ("bob", "eve"):
        with pytest.raises((NotFound, Forbidden)):
            await platform.inviting.of("vision", who(rows, stranger))
    assert await invited(platform, rows, by="lead", role="admin")
