"""The policy as a literal table: role x scope -> reach (issue item 11). A change of rights changes this file."""

from dataclasses import replace
from typing import NamedTuple

import pytest

from trainmaster.access.decide import decide
from trainmaster.access.roles import ROLES, WORKSPACE_ROLES, Principal, Via
from trainmaster.access.scopes import SCOPES
from trainmaster.access.visible import NOTHING, InWorkspace, Visible
from trainmaster.core.errors import Forbidden, NotFound
from trainmaster.messages import render

TABLE = {
    # scope: (admin, user)
    "account:self": ("any", "own"),
    "tokens:self": ("any", "own"),
    "meta:read": ("any", "any"),
    "jobs:read": ("any", "own"),
    "jobs:write": ("any", "own"),
    "jobs:share": ("any", "own"),
    "jobs:submit": ("any", None),
    "cluster:read": ("any", "any"),
    "cluster:write": ("any", None),
    "workspaces:write": ("any", None),
    "secrets:use": ("any", None),
    "secrets:write": ("any", None),
    "members:read": ("any", None),
    "members:write": ("any", None),
    "limits:write": ("any", None),
    "people:read": ("any", None),
    "people:write": ("any", None),
    "usage:read": ("any", "own"),
    "balance:read": ("any", None),
    "balance:write": ("any", None),
    "queue:write": ("any", None),
    "models:read": ("any", "own"),
    "models:write": ("any", "own"),
    "templates:read": ("any", "own"),
    "templates:write": ("any", "own"),
    "templates:share": ("any", "own"),
    "images:read": ("any", "own"),
    "images:write": ("any", "own"),
    "images:share": ("any", "own"),
    "datasets:read": ("any", "own"),
    "datasets:write": ("any", "own"),
    "datasets:share": ("any", "own"),
    "volumes:read": ("any", "own"),
    "volumes:write": ("any", "own"),
    "volumes:share": ("any", "own"),
    "algorithms:read": ("any", "own"),
    "algorithms:write": ("any", "own"),
    "algorithms:share": ("any", "own"),
    "uploads:write": ("any", "own"),
    "server:observe": ("any", None),
    "audit:read": ("any", "own"),
    "retention:read": ("any", None),
    "notices:self": ("any", "own"),
    "webhooks:write": ("any", "own"),
}

INSIDE = {
    # scope: (owner, admin, member, viewer) of the workspace in which the thing lies
    "jobs:read": (True, True, False, False),
    "jobs:write": (True, True, False, False),
    "jobs:share": (True, True, False, False),
    "jobs:submit": (True, True, True, False),
    "models:read": (True, True, False, False),
    "models:write": (True, True, False, False),
    "templates:read": (True, True, False, False),
    "templates:write": (True, True, False, False),
    "templates:share": (True, True, False, False),
    "images:read": (True, True, False, False),
    "images:write": (True, True, False, False),
    "images:share": (True, True, False, False),
    "datasets:read": (True, True, False, False),
    "datasets:write": (True, True, False, False),
    "datasets:share": (True, True, False, False),
    "volumes:read": (True, True, False, False),
    "volumes:write": (True, True, False, False),
    "volumes:share": (True, True, False, False),
    "algorithms:read": (True, True, False, False),
    "algorithms:write": (True, True, False, False),
    "algorithms:share": (True, True, False, False),
    "audit:read": (True, True, False, False),
    "secrets:use": (True, True, True, False),
    "secrets:write": (True, True, False, False),
    "members:read": (True, True, True, True),
    "balance:read": (True, True, True, True),
    "usage:read": (True, True, False, False),
    "members:write": (True, True, False, False),
    "limits:write": (True, True, False, False),
    "webhooks:write": (True, True, False, False),
}
"""What a role in a workspace adds; every other scope: nothing."""

NONE: frozenset[str] = frozenset()
SEEN = {
    None: (False, None, NONE, NONE, False),
    "own": (False, "ann", NONE, NONE, True),
    "any": (True, None, NONE, NONE, True),
}
"""What ann sees where it is granted so far: everything, whose, workspaces, shared there, whether it is told whose."""


SHARED = {
    # what the manual lists for a task: (scope that it needs, may do it where it is shared none, read, read-write)
    "view details": ("jobs:read", (False, True, True)),
    "clone": ("jobs:read", (False, True, True)),
    "create a development environment": ("jobs:read", (False, True, True)),
    "create a TensorBoard": ("jobs:read", (False, True, True)),
    "change the duration": ("jobs:write", (False, False, True)),
    "change the priority": ("jobs:write", (False, False, True)),
    "stop": ("jobs:write", (False, False, True)),
    "delete": ("jobs:write", (False, False, True)),
    "look at, copy, submit of a template": ("templates:read", (False, True, True)),
    "change, delete a template": ("templates:write", (False, False, True)),
    "look at an image, have it in a job": ("images:read", (False, True, True)),
    "add a version to an image, delete it": ("images:write", (False, False, True)),
    "look at a volume, give it to a job that reads it": ("volumes:read", (False, True, True)),
    "change files of a volume, give it to a job that writes to it": ("volumes:write", (False, False, True)),
    "look at a data set, give it to a job": ("datasets:read", (False, True, True)),
    "upload a version of a data set, delete one": ("datasets:write", (False, False, True)),
    "look at an algorithm, run it": ("algorithms:read", (False, True, True)),
    "make a version of an algorithm, delete one": ("algorithms:write", (False, False, True)),
}
"""The table of the manual, 8 x 3 (R226 to R228), and the same for templates and data sets."""


class Thing(NamedTuple):
    owner: str
    workspace: str = "default"
    share: str = "none"


def test_the_table_is_total() -> None:
    assert set(TABLE) == set(SCOPES)
    assert set(ROLES) == {"admin", "user"}
    for scope, what in SCOPES.items():
        assert what.code == f"right_{scope.replace(':', '_')}"
        assert all(render.text(what, language) != what.code for language in ("zh", "en"))


@pytest.mark.parametrize("scope", sorted(TABLE))
@pytest.mark.parametrize(("column", "role"), [(0, "admin"), (1, "user")])
def test_role_and_scope(scope: str, column: int, role: str) -> None:
    wanted = TABLE[scope][column]
    me = Principal("ann", role)
    assert decide(me, scope).allowed is (wanted is not None)
    assert decide(me, scope, Thing("ann")).allowed is (wanted is not None)
    assert decide(me, scope, Thing("bob")).allowed is (wanted == "any")
    seen = decide(me, scope).visible
    assert (seen.everything, seen.owner, seen.workspaces, seen.shared, seen.whose) == SEEN[wanted]


@pytest.mark.parametrize("scope", sorted(TABLE))
@pytest.mark.parametrize(("column", "role"), list(enumerate(("owner", "admin", "member", "viewer"))))
def test_a_role_in_a_workspace_reaches_what_lies_in_it_and_nothing_else(scope: str, column: int, role: str) -> None:
    """R1, R9, R229."""
    wanted, anywhere = INSIDE.get(scope, (False,) * 4)[column], TABLE[scope][1]
    me = Principal("ann", memberships=(("vision", role),))
    assert decide(me, scope).allowed is (wanted or anywhere is not None)
    assert decide(me, scope, Thing("bob", "vision")).allowed is (wanted or anywhere == "any")
    assert decide(me, scope, InWorkspace("vision")).allowed is (wanted or anywhere == "any")
    for elsewhere in ("speech", "Vision", "vision2", ""):
        assert decide(me, scope, Thing("bob", elsewhere)).allowed is (anywhere == "any")


def test_the_table_of_roles_in_workspaces_is_total() -> None:
    assert list(WORKSPACE_ROLES) == ["owner", "admin", "member", "viewer"]
    assert set().union(*WORKSPACE_ROLES.values()) == set(INSIDE)


def test_a_role_that_no_workspace_knows_grants_nothing() -> None:
    me = Principal("ann", memberships=(("vision", "ghost"),))
    assert [scope for scope in SCOPES if decide(me, scope).visible.workspaces] == []


@pytest.mark.parametrize("what", SHARED)
@pytest.mark.parametrize(("column", "share"), list(enumerate(("none", "read", "read-write"))))
def test_what_others_may_do_with_a_shared_job(what: str, column: int, share: str) -> None:
    """R223, R226, R227, R228: the manual's table, for every role in a workspace, inside it and outside."""
    scope, allowed = SHARED[what]
    thing = Thing("bob", "vision", share)
    for role, may in (("owner", True), ("admin", True), ("member", allowed[column])):
        me = Principal("ann", memberships=(("vision", role),), sharing=frozenset({"vision"}))
        assert decide(me, scope, thing).allowed is may
        assert not decide(me, scope, Thing("bob", "speech", share)).allowed
    viewer = Principal("ann", memberships=(("vision", "viewer"),), sharing=frozenset({"vision"}))
    assert decide(viewer, scope, thing).allowed is (allowed[column] and scope.endswith(":read"))
    assert not decide(Principal("ann"), scope, thing).allowed


@pytest.mark.parametrize("share", ["none", "read", "read-write"])
@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_where_sharing_is_off_nothing_is_shared(scope: str, share: str) -> None:
    """R225: an administrator's switch; what a role reaches anyway stays."""
    off = Principal("ann", memberships=(("vision", "member"),))
    assert decide(off, scope, Thing("bob", "vision", share)) == decide(off, scope, Thing("bob", "vision"))


def test_who_may_act_on_a_shared_job_may_not_share_it_on() -> None:
    me = Principal("ann", memberships=(("vision", "member"),), sharing=frozenset({"vision"}))
    assert not decide(me, "jobs:share", Thing("bob", "vision", "read-write")).allowed
    assert decide(me, "jobs:share", Thing("ann", "vision")).allowed


@pytest.mark.parametrize("role", ["admin", "user"])
def test_a_token_carries_the_scopes_it_names_and_no_more_than_its_user(role: str) -> None:
    limited = Principal("ann", role, scopes=frozenset({"jobs:read", "people:write"}))
    for scope in SCOPES:
        whole = decide(Principal("ann", role), scope).allowed
        assert decide(limited, scope).allowed is (whole and scope in ("jobs:read", "people:write", "meta:read"))


@pytest.mark.parametrize("role", ["admin", "user"])
def test_a_token_for_a_workspace_reaches_nothing_outside(role: str) -> None:
    memberships = (("speech", "owner"), ("vision", "owner"))
    me = Principal("ann", role, memberships=memberships, sharing=frozenset({"speech", "vision"}), within="vision")
    for scope in ("jobs:read", "jobs:write", "jobs:share", "jobs:submit", "models:read", "members:write"):
        assert decide(me, scope, Thing("ann", "vision")).allowed
        for thing in (Thing("ann", "speech"), Thing("bob", "speech", "read-write"), InWorkspace("speech")):
            assert not decide(me, scope, thing).allowed


def test_an_administrator_needs_no_membership() -> None:
    assert all(decide(Principal("ann", "admin"), scope, InWorkspace("vision")).allowed for scope in SCOPES)


def test_whose_it_is_may_be_told_of_what_may_not_be_seen() -> None:
    """People who share nodes know whom to ask; nobody else is told anything."""
    visible = decide(Principal("ann"), "jobs:read").demand()
    assert (visible.covers(Thing("bob")), visible.owner_of(Thing("bob"))) == (False, "bob")
    assert (NOTHING.owner_of(Thing("bob")), Visible(owner="ann").owner_of(Thing("ann"))) == (None, "ann")


@pytest.mark.parametrize(("role", "told"), [("admin", True), ("user", False)])
def test_an_administrator_hides_whose_it_is_from_all_but_administrators(role: str, told: bool) -> None:
    """What may be seen is told as before."""
    for me in (Principal("ann", role), Principal("ann", role, owners_told=False)):
        visible = decide(me, "jobs:read").demand()
        assert visible.whose is (told or me.owners_told)
        assert visible.owner_of(Thing("ann")) == "ann"


def test_things_of_others_do_not_exist() -> None:
    with pytest.raises(NotFound):
        decide(Principal("ann"), "jobs:read", Thing("bob")).demand()


def test_what_a_role_lacks_is_refused_with_a_reason() -> None:
    with pytest.raises(Forbidden) as refused:
        decide(Principal("ann"), "server:observe").demand()
    assert "server:observe" in refused.value.message
    assert render.text(SCOPES["server:observe"], "zh") in render.text(refused.value.said, "zh")
    assert refused.value.remedy


def test_a_role_that_nobody_knows_grants_nothing() -> None:
    assert not any(decide(Principal("ann", "ghost"), scope).allowed for scope in SCOPES)


def test_a_one_time_password_permits_only_its_own_replacement() -> None:
    confined = Principal("admin", "admin", Via.SESSION, confined=True)
    assert [scope for scope in SCOPES if decide(confined, scope).allowed] == ["account:self"]


def test_an_unknown_scope_is_a_mistake_in_the_code() -> None:
    with pytest.raises(KeyError):
        decide(Principal("ann", "admin"), "jobs:everything")


def test_what_was_decided_goes_along_with_another_address_and_with_nothing_else() -> None:
    """What `decide` remembers with a person is what it would find: a person with other rights begins with nothing."""
    member = Principal("ada", memberships=(("vision", "admin"),))
    before = decide(member, "jobs:read")
    assert decide(member, "jobs:read") is before
    assert decide(member.asking_from("192.0.2.1"), "jobs:read") is before
    assert member.asking_from("192.0.2.1").address == "192.0.2.1"
    assert member.address == ""
    assert not decide(replace(member, scopes=frozenset({"jobs:write"})), "jobs:read").allowed
    assert decide(replace(member, role="admin"), "jobs:read").visible.everything
    assert decide(replace(member, memberships=()), "jobs:read").visible.workspaces == frozenset()
