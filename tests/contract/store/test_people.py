"""Users, sessions, tokens (issue item 11): rows are found by marks alone, what has ended is gone."""

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.store.people.accounts import PeopleRows, Session, Token, User

ANN = User("ann", "$argon2id$1", "admin", must_change_password=True, locale="zh", created_at=5.0)


@pytest.fixture
def people(store: Store) -> PeopleRows:
    """An empty book of people."""
    return PeopleRows(store.database)


def test_a_user_is_stored_once(people: PeopleRows) -> None:
    """Two first starts cannot make two administrators of one name."""
    people.add_user(ANN, audit_event())
    assert people.user("ann") == ANN
    assert people.user("ANN") is None
    with pytest.raises(Conflict):
        people.add_user(User("ann", "$other", "user"), audit_event())
    people.add_user(User("bob", "$argon2id$2", "user"), audit_event())
    assert [user.name for user in people.users()] == ["ann", "bob"]


def test_a_new_password_ends_the_other_sessions(people: PeopleRows) -> None:
    """Whoever stole a session loses it; the one that changed the password goes on."""
    people.add_user(ANN, audit_event())
    for mark in ("here", "elsewhere"):
        people.add_session(mark, Session("ann", 10.0, 99.0), audit_event())
    people.add_session("bobs", Session("bob", 10.0, 99.0), audit_event())
    people.set_password("ann", "$argon2id$9", audit_event(), keep_session="here")
    user = people.user("ann")
    assert user is not None
    assert (user.password_hash, user.must_change_password, user.locale) == ("$argon2id$9", False, "zh")
    assert people.session("here", 11.0) == Session("ann", 10.0, 99.0)
    assert people.session("elsewhere", 11.0) is None
    assert people.session("bobs", 11.0) is not None
    people.set_password("ann", "$argon2id$10", audit_event(), must_change=True)
    assert people.session("here", 11.0) is None
    people.set_locale("ann", "en")
    assert people.user("ann") == User("ann", "$argon2id$10", "admin", True, "en", 5.0)
    for change in (lambda: people.set_password("eve", "x", audit_event()), lambda: people.set_locale("eve", "en")):
        with pytest.raises(NotFound):
            change()


def test_a_session_ends(people: PeopleRows) -> None:
    """By time and by signing out; ended ones are swept."""
    people.add_session("old", Session("ann", 10.0, 20.0), audit_event())
    assert people.session("old", 19.9) is not None
    assert people.session("old", 20.0) is None
    assert people.session("old", 0.0) is not None, "it is still there, for whoever would set the clock back"
    people.add_session("new", Session("ann", 30.0, 40.0), audit_event())
    assert people.session("old", 0.0) is None, "swept"
    assert people.session("new", 31.0) == Session("ann", 30.0, 40.0)
    people.drop_session("new", audit_event())
    people.drop_session("new", audit_event())
    assert people.session("new", 31.0) is None


def test_a_token_works_until_it_expires_or_is_revoked(people: PeopleRows) -> None:
    """Tokens belong to their owner; nobody else can revoke them."""
    mine = Token("id-1", "laptop", "ann", created_at=1.0)
    people.add_token("secret-1", mine, audit_event())
    people.add_token("secret-2", Token("id-2", "ci", "ann", created_at=2.0, expires_at=50.0), audit_event())
    assert people.token("secret-1", 1e9) == mine
    assert people.token("secret-2", 49.0) is not None
    assert people.token("secret-2", 50.0) is None
    assert people.token("id-1", 1.0) is None
    with pytest.raises(Conflict):
        people.add_token("secret-1", Token("id-3", "copy", "bob", created_at=3.0), audit_event())
    people.touch_token("id-1", 42.0)
    with pytest.raises(NotFound):
        people.drop_token("id-1", "bob", audit_event())
    assert [(token.id, token.last_used_at) for token in people.tokens("ann")] == [("id-1", 42.0), ("id-2", None)]
    people.drop_token("id-1", "ann", audit_event())
    assert people.token("secret-1", 1.0) is None
