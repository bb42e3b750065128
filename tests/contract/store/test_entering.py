"""Invitations, identities and public keys, on both databases."""

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.people.identities import Coming, Given, IdentityRows, ProviderIdentity
from trainmaster.store.people.invitations import KEPT_S, Invitation, InvitationRows
from trainmaster.store.people.members import Member, MemberRows
from trainmaster.store.people.ssh_keys import SshKey, SshKeyRows

ONE = Invitation("i1", "vision", "member", "ann", 10.0, 20.0)
KEY = SshKey("SHA256:a", "ann", "ed25519", 256, "ssh-ed25519 AAAA", "laptop", 5.0, "10.0.0.1")
WHO = ProviderIdentity("https://id", "s-1", "ann", 5.0, Given(True, {"vision": "member"}))


def test_an_invitation_is_used_once_within_its_time(store: Store) -> None:
    rows = InvitationRows(store.database)
    rows.add("mark", ONE, audit_event())
    assert rows.find("mark") == ONE
    assert rows.find("other") is None
    with pytest.raises(Conflict):
        rows.use(ONE, Member("vision", "late", "member", 20.0), [])
    rows.use(ONE, Member("vision", "zoe", "member", 11.0), [audit_event()], User("zoe", "", "user"))
    with pytest.raises(Conflict):
        rows.use(ONE, Member("vision", "yan", "member", 12.0), [], User("yan", "", "user"))
    assert PeopleRows(store.database).user("yan") is None, "all of it or nothing"
    assert [(one.user, one.role) for one in MemberRows(store.database).of_workspace("vision")] == [("zoe", "member")]
    [used] = rows.of_workspace("vision")
    assert (used.used_at, used.used_by) == (11.0, "zoe")


def test_invitations_go_with_their_workspace_and_with_time(store: Store) -> None:
    rows, settings = InvitationRows(store.database), ClusterSettings(store.database)
    rows.add("mark", ONE, audit_event())
    rows.add("later", Invitation("i2", "speech", "owner", "ann", 21 + KEPT_S, 1e9), audit_event())
    assert rows.find("mark") is None, "long over"
    with pytest.raises(NotFound):
        rows.drop("vision", "i2", audit_event())
    settings.put(Setting("workspace", "speech", {}, 1.0, "admin"), audit_event()).result(60)
    settings.drop("workspace", "speech", audit_event()).result(60)
    assert rows.of_workspace("speech") == []


def test_somebody_comes_with_what_their_groups_give(store: Store) -> None:
    rows, people = IdentityRows(store.database), PeopleRows(store.database)
    joins = [Member("vision", "ann", "member", 5.0)]
    rows.comes(Coming(WHO, User("ann", "", "admin"), None, joins), [audit_event()])
    assert rows.find("https://id", "s-1") == WHO
    assert rows.of_user("https://id", "ann") == WHO
    with pytest.raises(Conflict):
        rows.comes(Coming(ProviderIdentity("https://id", "s-2", "ann", 6.0), User("ann", "", "user")), [])
    again = ProviderIdentity("https://id", "s-1", "ann", 5.0, Given())
    rows.comes(Coming(again, None, "user", (), joins), [audit_event()])
    found = people.person("ann")
    assert found is not None
    assert (found.user.role, found.members, rows.find("https://id", "s-1")) == ("user", (), again)
    rows.unlink("https://id", "ann", audit_event())
    with pytest.raises(Conflict):
        rows.comes(Coming(again), [])
    with pytest.raises(NotFound):
        rows.unlink("https://id", "ann", audit_event())


def test_a_link_is_of_one_account_and_one_person(store: Store) -> None:
    rows, people = IdentityRows(store.database), PeopleRows(store.database)
    people.add_user(User("ann", "$argon2id$1", "user", must_change_password=True), audit_event())
    rows.link(WHO, audit_event())
    for other in (ProviderIdentity("https://id", "s-1", "bob", 6.0), ProviderIdentity("https://id", "s-2", "ann", 6.0)):
        with pytest.raises(Conflict):
            rows.link(other, audit_event())
    rows.link(ProviderIdentity("https://other", "s-1", "bob", 6.0), audit_event())
    user = people.user("ann")
    assert user is not None
    assert (user.password_hash, user.must_change_password) == ("", False)


def test_a_public_key_is_of_one_account_and_goes_with_it(store: Store) -> None:
    rows, people = SshKeyRows(store.database), PeopleRows(store.database)
    people.add_user(User("ann", "", "user"), audit_event())
    rows.add(KEY, audit_event())
    with pytest.raises(Conflict):
        rows.add(SshKey("SHA256:a", "bob", "ed25519", 256, "ssh-ed25519 AAAA", "", 6.0, ""), audit_event())
    assert rows.of_user("ann") == [KEY]
    with pytest.raises(NotFound):
        rows.drop("bob", "SHA256:a", audit_event())
    people.set_state("ann", "deleted", audit_event())
    assert rows.of_user("ann") == []
