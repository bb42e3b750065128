"""What is kept of people's wishes and of what they were told may be damaged: whoever reads it goes on."""

from typing import Any

import pytest

from trainmaster.messages.server import notices as said
from trainmaster.service.language import both
from trainmaster.service.notices.kinds import (
    DEFAULTS,
    ENDED,
    FAILED,
    AskedAddress,
    Happening,
    Where,
    Wishes,
    wishes_of,
    words_of,
)

ASKED = AskedAddress("ann@example.org", "d", 10.0, 3)
WISHES = Wishes({**DEFAULTS, ENDED: Where(False, True, False)}, "ann@home.example", "zh", ASKED)
FAILURE = Happening(FAILED, "f/1", 1.0, said.notice_failed("mine"), "default", "ann", verdict="out_of_memory")


def test_wishes_are_read_as_they_were_kept() -> None:
    assert wishes_of(WISHES.to_json()) == WISHES
    assert wishes_of(None) == wishes_of({}) == Wishes()


@pytest.mark.parametrize(
    ("damaged", "left"),
    [
        ({"asked": ["ann@example.org", "d", "soon", 3]}, Wishes(WISHES.where, WISHES.address, "zh")),
        ({"asked": ["ann@example.org"]}, Wishes(WISHES.where, WISHES.address, "zh")),
        ({"where": [1, 2]}, Wishes(DEFAULTS, WISHES.address, "zh", ASKED)),
        ({"where": {ENDED: "loud"}}, Wishes(DEFAULTS, WISHES.address, "zh", ASKED)),
        ({"language": 7}, Wishes(WISHES.where, WISHES.address, "en", ASKED)),
    ],
)
def test_what_is_damaged_of_wishes_is_as_for_who_chose_nothing(damaged: dict[str, Any], left: Wishes) -> None:
    assert wishes_of({**WISHES.to_json(), **damaged}) == left


def test_what_is_damaged_of_a_notice_says_so() -> None:
    record = FAILURE.record()
    assert "mine" in words_of(record).en
    for wrong in ({**record, "said": "it failed"}, {**record, "said": {}}, {**record, "detail": [1]}, {}):
        assert words_of(wrong) == both(said.notice_damaged())
