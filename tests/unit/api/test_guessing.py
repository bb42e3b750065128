"""Guessing passwords at the door itself: it is slow, and shuts nobody out who knows theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.api.test_turns import Time
from trainmaster.core.config import ServerConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.service.people.browsers import KNOWN_S, Browsers
from trainmaster.service.people.people import OF_ADDRESS, OF_BROWSER, OF_NAME
from trainmaster.service.people.turns import FREE, Turns
from trainmaster.service.settings import load

SIGN_IN = "/api/v1/session"
GOOD = "correct horse battery"


@pytest.fixture
def time(platform: Any) -> Iterator[Time]:
    """The time that turns are measured by; it jumps to the next turn when all wait."""
    made = Time()
    platform.people._turns = Turns(made.clock, made.sleep)
    return made


async def sign_in(time: Time, http: httpx.AsyncClient, password: str, **more: Any) -> tuple[httpx.Response, float]:
    """Try to sign in; return the answer and how long it waited."""
    began = time.now
    (answer,) = await time.run(http.post(SIGN_IN, json={"username": "admin", "password": password, **more}))
    if isinstance(answer, BaseException):
        raise answer
    return answer, time.now - began


async def test_guesses_are_slow_and_the_right_password_among_them_is_found(
    platform: Any, browser: httpx.AsyncClient, time: Time
) -> None:
    waits = []
    for number in range(40):
        answer, waited = await sign_in(time, browser, f"guess number {number}")
        assert answer.status_code == 401
        waits.append(waited)
    assert waits[:FREE] == [0] * FREE
    assert waits[-1] == OF_NAME.longest_s
    right, waited = await sign_in(time, browser, GOOD)
    assert right.status_code == 200
    assert waited <= OF_ADDRESS.longest_s * OF_ADDRESS.seats + OF_NAME.longest_s * OF_NAME.seats


async def test_a_known_browser_waits_behind_no_stranger(platform: Any, browser: httpx.AsyncClient, time: Time) -> None:
    """Not at a noisy address, not while its person's name is guessed at; but guesses in it are slow, too."""
    signed, _ = await sign_in(time, browser, GOOD)
    mark = signed.json()["browser"]
    for number in range(40):
        await sign_in(time, browser, f"guess number {number}")
    again, waited = await sign_in(time, browser, GOOD, browser=mark)
    assert (again.status_code, waited) == (200, 0)
    for number in range(40):
        _, waited = await sign_in(time, browser, f"guess number {number}", browser=mark)
    assert waited == OF_BROWSER.longest_s
    right, waited = await sign_in(time, browser, GOOD, browser=mark)
    assert right.status_code == 200
    assert waited <= OF_BROWSER.longest_s * OF_BROWSER.seats


async def test_a_name_is_guarded_from_many_addresses_together(platform: Any, time: Time) -> None:
    """Each address has few tries; without a bound of the name a thousand of them had a thousand times as many."""
    waits = []
    for number in range(40):
        began = time.now
        work = platform.people.sign_in("admin", f"guess number {number}", f"192.0.2.{number}")
        await time.run(work)
        waits.append(time.now - began)
    assert waits[-1] == OF_NAME.longest_s


async def test_a_stranger_at_a_noisy_address_is_slowed_whatever_the_name(platform: Any, time: Time) -> None:
    for number in range(40):
        await time.run(platform.people.sign_in(f"somebody {number}", "x" * 12, "192.0.2.7"))
    began = time.now
    await time.run(platform.people.sign_in("somebody else", "x" * 12, "192.0.2.7"))
    assert time.now - began == OF_ADDRESS.longest_s
    began = time.now
    await time.run(platform.people.sign_in("somebody else", "x" * 12, "192.0.2.8"))
    assert time.now == began


def test_a_mark_fits_one_name_one_server_and_its_time() -> None:
    here, there = Browsers("secret"), Browsers("another")
    mark = here.mark("ann", 1000.0)
    assert here.recognise("ann", mark, 1000.0)
    assert (
        here.recognise("ann", mark, 1000.0)
        == here.recognise("ann", mark, 2000.0)
        != here.recognise("ann", here.mark("ann", 1000.0), 1000.0)
    )
    assert here.recognise("ann", mark, 1000.0 + KNOWN_S + 120) is None
    assert there.recognise("ann", mark, 1000.0) is None
    for bad in (None, "", ".", "..", mark[:-1], mark.replace("1000", "9999"), "\N{SNOWMAN}", f"x{mark}"):
        assert here.recognise("ann", bad, 1000.0) is None, bad
    assert here.recognise("bob", mark, 1000.0) is None


async def test_a_browser_stays_known_when_the_server_starts_again(
    platform: Any, browser: httpx.AsyncClient, time: Time
) -> None:
    from trainmaster.service.people.people import People
    from trainmaster.store.people.accounts import PeopleRows as Rows

    mark = (await sign_in(time, browser, GOOD))[0].json()["browser"]
    again = People(Rows(platform.database), platform.layout)
    await again.start()
    assert again._browsers.recognise("admin", mark, again._clock())
    assert Path(platform.layout.path("secrets", "browsers")).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("proxy", ["nginx", "10.0.0.0/40", "", "*"])
def test_a_proxy_that_is_no_address_is_refused_at_the_start(tmp_path: Path, proxy: str) -> None:
    (tmp_path / "config.toml").write_text(f'[server]\ntrusted_proxies = ["10.0.0.0/8", "{proxy}"]\n')
    with pytest.raises(InvalidSpec) as refused:
        load(str(tmp_path / "config.toml"))
    assert [problem.path for problem in refused.value.problems] == ["server.trusted_proxies"]
    assert ServerConfig().trusted_proxies == ()
