"""Members of workspaces and the state of accounts, on both databases."""

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from trainmaster.core.errors import NotFound
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.people.accounts import FoundPerson, PeopleRows, Session, Token, User
from trainmaster.store.people.members import Member, MemberRows

ANN = User("ann", "$argon2id$1", "user", created_at=5.0)
IN_VISION, IN_SPEECH = Member("vision", "ann", "admin", 6.0), Member("speech", "ann", "viewer", 7.0)


@pytest.fixture
def people(store: Store) -> PeopleRows:
    rows = PeopleRows(store.database)
    rows.add_user(ANN, audit_event(), [IN_VISION, IN_SPEECH])
    rows.add_user(User("bob", "$argon2id$2", "user"), audit_event(), [Member("vision", "bob", "member", 8.0)])
    return rows


def test_a_person_is_read_with_what_they_are_a_member_of(people: PeopleRows) -> None:
    assert people.person("ann") == FoundPerson(ANN, (IN_SPEECH, IN_VISION), frozenset())
    assert people.person("eve") is None


def test_a_person_is_read_with_where_nothing_is_shared(store: Store, people: PeopleRows) -> None:
    """R225, R141: of all, for things come from others, too; a record that says nothing, or cannot be read, shares."""
    settings = ClusterSettings(store.database)
    for name, record in (("vision", {"sharing": "off"}), ("speech", {}), ("text", {"sharing": "off"})):
        settings.put(Setting("workspace", name, record, 1.0, "admin"), audit_event()).result(60)
    settings.put(Setting("pool", "speech", {"sharing": "off"}, 1.0, "admin"), audit_event()).result(60)
    found = people.person("ann")
    assert found is not None
    assert found.closed == {"vision", "text"}


def test_who_is_a_member_keeps_since_when(store: Store, people: PeopleRows) -> None:
    rows = MemberRows(store.database)
    rows.put(Member("vision", "ann", "owner", 99.0), audit_event())
    assert rows.find("vision", "ann") == Member("vision", "ann", "owner", 6.0)
    assert [one.user for one in rows.of_workspace("vision")] == ["ann", "bob"]
    rows.drop("vision", "ann", audit_event())
    assert rows.find("vision", "ann") is None
    with pytest.raises(NotFound):
        rows.drop("vision", "ann", audit_event())
    assert rows.all() == [IN_SPEECH, Member("vision", "bob", "member", 8.0)]


def test_members_go_in_the_transaction_that_removes_their_workspace(store: Store, people: PeopleRows) -> None:
    settings = ClusterSettings(store.database)
    settings.put(Setting("workspace", "vision", {}, 1.0, "admin"), audit_event()).result(60)
    settings.put(Setting("pool", "speech", {}, 1.0, "admin"), audit_event()).result(60)
    settings.drop("workspace", "vision", audit_event()).result(60)
    settings.drop("pool", "speech", audit_event()).result(60)  # another kind of thing of the same name
    assert MemberRows(store.database).all() == [IN_SPEECH]


def test_who_is_locked_is_signed_out_and_keeps_the_rest(store: Store, people: PeopleRows) -> None:
    people.add_session("mark", Session("ann", 1.0, 1e9), audit_event())
    people.add_token("secret", Token("id-1", "laptop", "ann", created_at=1.0), audit_event())
    people.set_state("ann", "locked", audit_event())
    assert people.session("mark", 2.0) is None
    assert people.token("secret", 2.0) is not None
    people.set_state("ann", "active", audit_event())
    assert people.person("ann") == FoundPerson(ANN, (IN_SPEECH, IN_VISION), frozenset())


def test_who_is_deleted_leaves_the_name_and_nothing_else(store: Store, people: PeopleRows) -> None:
    people.add_token("secret", Token("id-1", "laptop", "ann", created_at=1.0), audit_event())
    people.set_state("ann", "deleted", audit_event())
    assert people.token("secret", 2.0) is None
    found = people.person("ann")
    assert found is not None
    assert (found[0].password_hash, found[0].state, found[1]) == ("", "deleted", ())
    with pytest.raises(NotFound):
        people.set_state("eve", "locked", audit_event())
