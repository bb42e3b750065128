"""What a password has to be like."""

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.service.people.passwords import demand_acceptable
from trainmaster.store.people.accounts import User


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
