"""What is sealed tells nothing, and only what was sealed here is taken back."""

import base64
import os
import string
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.service.secrets.seals import NotSealedHere, Seals

LETTERS: Final = string.ascii_letters + string.digits + "-_"
NUMBERS: Final = st.integers(0, 2**63 - 1)


@pytest.fixture(scope="module")
def seals(tmp_path_factory: pytest.TempPathFactory) -> Seals:
    return Seals(Layout(str(tmp_path_factory.mktemp("home"))))


@given(st.text(max_size=300), NUMBERS)
def test_what_was_sealed_is_opened(seals: Seals, text: str, number: int) -> None:
    raw = text.encode()
    assert seals.text("jobs", seals.text_mark("jobs", text)) == text
    assert seals.place("jobs", seals.mark("jobs", raw)) == raw
    assert seals.number("jobs", seals.id("jobs", number)) == number


@given(st.data(), NUMBERS)
def test_what_was_altered_is_not(seals: Seals, data: st.DataObject, number: int) -> None:
    """Not by a letter, wherever it stands; nor what was made up, cut off or put together of two."""
    good = data.draw(st.sampled_from([seals.id("a", number), seals.mark("a", b"x"), seals.text_mark("a", str(number))]))
    at, letter = data.draw(st.integers(0, len(good) - 1)), data.draw(st.sampled_from(LETTERS + "=+/ é\0"))
    other = data.draw(
        st.sampled_from(
            [
                good[:at] + letter + good[at + 1 :],
                good[:at],
                good[at:] + good[:at],
                good + letter,
                good[:at] + "\n" + good[at:],
            ]
        )
        | st.text(max_size=80)
    )
    assume(other != good)
    for opened in (seals.place, seals.number):
        with pytest.raises(NotSealedHere):
            opened("a", other)


def test_an_id_begins_with_the_letter_of_its_kind(seals: Seals) -> None:
    """Never with "-": on a command line an option would begin so."""
    for kind in ("notice", "audit"):
        assert {seals.id(kind, number)[0] for number in range(300)} == {kind[0]}


def test_one_place_has_one_text(seals: Seals) -> None:
    """Also where the last letter has bits that are not used."""
    good = seals.mark("a", b"x")
    assert len(good) * 6 % 8
    for letter in set(LETTERS) - {good[-1]}:
        with pytest.raises(NotSealedHere):
            seals.place("a", good[:-1] + letter)


@given(NUMBERS)
def test_what_is_of_another_kind_or_home_is_not(
    seals: Seals, tmp_path_factory: pytest.TempPathFactory, number: int
) -> None:
    elsewhere = Seals(Layout(str(tmp_path_factory.getbasetemp() / "elsewhere")))
    for made in (seals.id("jobs", number), seals.text_mark("jobs", str(number))):
        for opens, kind in ((seals, "audit"), (elsewhere, "jobs")):
            with pytest.raises(NotSealedHere):
                opens.place(kind, made)


def test_two_servers_of_a_home_read_each_others(tmp_path: Path) -> None:
    one, other = Seals(Layout(str(tmp_path))), Seals(Layout(str(tmp_path)))
    assert other.text("jobs", one.text_mark("jobs", "x")) == "x"
    assert other.id("jobs", 7) == one.id("jobs", 7)
    assert (tmp_path / "secrets" / "seals").stat().st_mode & 0o777 == 0o600


def test_no_two_marks_are_alike_nor_told_apart_by_their_length(seals: Seals) -> None:
    """One digit or nineteen, the same place or another: of a thousand marks nobody can say which are of which."""
    marks = [seals.text_mark("jobs", str(number)) for number in (7, 7, 10**18) for _ in range(300)]
    assert len(set(marks)) == len(marks)
    assert len({len(mark) for mark in marks}) == 1
    ids = [seals.id("jobs", number) for number in range(300)]
    assert len(set(ids)) == len(ids)
    assert ids != sorted(ids)
    for made in (*marks, *(one[1:] for one in ids)):
        raw = base64.urlsafe_b64decode(made + "=" * (-len(made) % 4))
        assert bytes(6) not in raw  # a short number is filled with them, and six come by chance in no lifetime
        assert b"0" * 8 not in raw


def test_a_key_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("in the way")
    with pytest.raises(Unavailable, match="its key for cursors and ids"):
        Seals(Layout(str(tmp_path))).id("jobs", 1)


def test_nothing_is_loaded_before_something_is_sealed(tmp_path: Path) -> None:
    """The cipher takes 8 MB, and a server that nobody asks needs none."""
    made = "from trainmaster.service.secrets.seals import Seals; from trainmaster.core.folders.layout import Layout"
    told = f"import sys; {made}; s = Seals(Layout({str(tmp_path)!r}))"
    seen = "print('cryptography' in sys.modules, end=' ')"
    done = subprocess.run(
        [sys.executable, "-c", f"{told}; {seen}; s.id('a', 1); {seen}"],
        capture_output=True, check=True, text=True, env=os.environ,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "True"]
