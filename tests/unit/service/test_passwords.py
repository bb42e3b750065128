"""Passwords: what one has to be like, right and wrong ones, and how much memory guesses may keep (B7)."""

import asyncio
import threading
from typing import Any

import argon2
import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.service.people.passwords import AT_ONCE, Passwords, demand_acceptable
from trainmaster.store.people.accounts import User


async def test_only_two_threads_ever_hold_the_memory_of_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each keeps 19 MiB of it: guesses over all workers made the server three times as large, for good."""
    where = set[int]()
    hashing = argon2.PasswordHasher.hash

    def noted(hasher: argon2.PasswordHasher, password: str, **more: Any) -> str:
        where.add(threading.get_ident())
        return hashing(hasher, password, **more)

    monkeypatch.setattr(argon2.PasswordHasher, "hash", noted)
    together = threading.Barrier(4)
    await asyncio.gather(*(asyncio.to_thread(together.wait) for _ in range(4)))  # as many workers wait for work
    passwords = Passwords()
    for _ in range(4):
        await asyncio.gather(*(passwords.hash("correct horse") for _ in range(4)))
    assert len(where) <= AT_ONCE


async def test_right_wrong_and_nobodys() -> None:
    passwords = Passwords()
    amy = User("amy", await passwords.hash("correct horse"), "user")
    assert await passwords.good(amy, "correct horse")
    assert not await passwords.good(amy, "wrong horse")
    assert not await passwords.good(None, "correct horse")
    assert not await passwords.good(User("bob", "no hash", "user"), "correct horse")


def user(name: str) -> User:
    return User(name, "", "member")


@pytest.mark.parametrize(
    ("name", "new"), [("li", "believe-in-light"), ("a", "correct horse"), ("anna", "twelve otters")]
)
def test_a_short_name_may_stand_in_a_password_by_chance(name: str, new: str) -> None:
    demand_acceptable(user(name), None, new)


@pytest.mark.parametrize(("name", "new"), [("anna", "anna-and-otters"), ("Anna", "my ANNA password")])
def test_a_name_that_tells_something_may_not(name: str, new: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        demand_acceptable(user(name), None, new)
    assert [one.code for one in refused.value.problems] == ["guessable"]
