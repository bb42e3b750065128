"""Signing in: the one-time password, sessions, throttling, tokens (issue item 11)."""

import asyncio
import os
import re
import stat
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from trainmaster.access.roles import Principal, Via
from trainmaster.core.errors import Unauthenticated
from trainmaster.service.people.people import mark_of

SIGN_IN = "/api/v1/session"
GOOD = "correct horse battery"


async def sign_in(http: httpx.AsyncClient, password: str, name: str = "admin") -> httpx.Response:
    return await http.post(SIGN_IN, json={"username": name, "password": password})


async def test_the_first_start_makes_an_administrator_with_a_one_time_password(
    platform: Any, http: httpx.AsyncClient
) -> None:
    password = platform.people.one_time_password
    assert re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", password)
    signed = await sign_in(http, password)
    assert signed.status_code == 200
    assert signed.json()["user"] == {
        "name": "admin",
        "role": "admin",
        "must_change_password": True,
        "locale": None,
        "workspaces": [{"workspace": "default", "role": "owner"}],
    }
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "secure" not in cookie.lower()  # plain http on loopback: the browser would drop it
    http.headers["x-session-key"] = signed.json()["key"]
    changed = await http.post(SIGN_IN + "/password", json={"old": password, "new": GOOD})
    assert changed.status_code == 204
    assert (await http.get(SIGN_IN)).json()["user"]["must_change_password"] is False
    assert platform.people.one_time_password is None
    http.cookies.clear()
    assert (await sign_in(http, password)).status_code == 401


async def test_a_second_start_shows_no_password(platform: Any) -> None:
    from trainmaster.service.people.people import People
    from trainmaster.store.people.accounts import PeopleRows as Rows

    again = People(Rows(platform.database), platform.layout)
    await again.start()
    assert again.one_time_password is None


async def test_a_new_password_is_checked_and_all_that_is_wrong_is_said(browser: httpx.AsyncClient) -> None:
    answer = await browser.post(SIGN_IN + "/password", json={"old": GOOD, "new": "admin"})
    assert answer.status_code == 422
    assert {problem["code"] for problem in answer.json()["problems"]} == {"length", "guessable"}
    wrong = await browser.post(SIGN_IN + "/password", json={"old": "something else", "new": "another long enough"})
    assert wrong.status_code == 401


async def test_a_password_change_ends_every_other_session(app: Any, browser: httpx.AsyncClient) -> None:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8470") as other:
        other.headers["x-session-key"] = (await sign_in(other, GOOD)).json()["key"]
        assert (await other.get(SIGN_IN)).status_code == 200
        await browser.post(SIGN_IN + "/password", json={"old": GOOD, "new": "a quite different one"})
        assert (await other.get(SIGN_IN)).status_code == 401
        assert (await browser.get(SIGN_IN)).status_code == 200


async def test_signing_out_ends_the_session_at_once(browser: httpx.AsyncClient) -> None:
    cookie = browser.cookies["tm_session"]
    assert (await browser.delete(SIGN_IN)).status_code == 204
    assert "tm_session" not in browser.cookies
    answer = await browser.get(SIGN_IN, headers={"cookie": f"tm_session={cookie}"})
    assert answer.status_code == 401


async def test_a_session_that_ends_while_it_is_looked_up_is_not_remembered(
    platform: Any, browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another request of the same browser has read that it is there, and comes back when it is not any more."""
    people, mark = platform.people, mark_of(browser.cookies["tm_session"], browser.headers["x-session-key"])
    people._known.clear()
    read, go = threading.Event(), threading.Event()

    def slowly(name: str, look: Callable[[str], Any] = people._rows.person) -> Any:
        read.set()
        assert go.wait(60)
        return look(name)

    with monkeypatch.context() as slow:
        slow.setattr(people._rows, "person", slowly)
        looking = asyncio.create_task(people.recognise(mark, Via.SESSION))
        await asyncio.to_thread(read.wait, 60)
        await people.sign_out(Principal("admin"), mark)
        go.set()
        await looking  # it was there when it was asked for
    with pytest.raises(Unauthenticated):
        await people.recognise(mark, Via.SESSION)


async def test_a_session_is_known_by_two_secrets_and_kept_as_neither(platform: Any, browser: httpx.AsyncClient) -> None:
    """A stolen copy of the database signs nobody in."""
    with open(platform.layout.path("t.db"), "rb") as file, open(platform.layout.path("t.db-wal"), "rb") as wal:
        stored = file.read() + wal.read()
    for secret in (browser.cookies["tm_session"], browser.headers["x-session-key"]):
        assert len(secret) >= 43
        assert secret.encode() not in stored
    assert "key" not in (await browser.get(SIGN_IN)).json()


async def test_an_unknown_name_and_a_wrong_password_look_the_same(http: httpx.AsyncClient) -> None:
    unknown, wrong = await sign_in(http, "x" * 12, "nobody"), await sign_in(http, "x" * 12)
    assert unknown.status_code == wrong.status_code == 401
    assert unknown.json() == wrong.json()


async def test_the_local_token_is_private_and_needs_no_old_password(platform: Any, local: httpx.AsyncClient) -> None:
    status = os.stat(platform.layout.cli_token)
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(platform.layout.cli_token)).st_mode) == 0o700
    me = (await local.get(SIGN_IN)).json()
    assert me["user"]["name"] == "admin"
    assert (await local.post(SIGN_IN + "/password", json={"new": GOOD})).status_code == 204
    del local.headers["authorization"]
    assert (await sign_in(local, GOOD)).status_code == 200


async def test_a_local_token_that_others_could_read_is_replaced(platform: Any, token: str) -> None:
    from trainmaster.service.people.people import local_token

    assert local_token(platform.layout) == token
    os.chmod(platform.layout.cli_token, 0o644)
    fresh = local_token(platform.layout)
    assert fresh != token
    assert stat.S_IMODE(os.stat(platform.layout.cli_token).st_mode) == 0o600


async def test_tokens_are_shown_once_kept_as_digests_and_revoked_at_once(
    platform: Any, local: httpx.AsyncClient
) -> None:
    made = (await local.post("/api/v1/tokens", json={"name": "ci"})).json()
    listed = (await local.get("/api/v1/tokens")).json()["items"]
    assert [one["name"] for one in listed] == ["ci"]
    assert made["token"] not in str(listed)
    assert made["token"].startswith("tm_")
    with open(platform.layout.path("t.db"), "rb") as file, open(platform.layout.path("t.db-wal"), "rb") as wal:
        assert made["token"].encode() not in file.read() + wal.read()
    as_ci = {"authorization": f"Bearer {made['token']}"}
    assert (await local.get("/api/v1/jobs", headers=as_ci)).status_code == 200
    assert (await local.delete(f"/api/v1/tokens/{made['id']}")).status_code == 204
    assert (await local.get("/api/v1/jobs", headers=as_ci)).status_code == 401
    assert (await local.delete(f"/api/v1/tokens/{made['id']}")).status_code == 404


async def test_an_expired_token_opens_nothing(platform: Any, local: httpx.AsyncClient) -> None:
    made = (await local.post("/api/v1/tokens", json={"name": "short", "expires_in_s": 60})).json()
    as_short = {"authorization": f"Bearer {made['token']}"}
    assert (await local.get("/api/v1/session", headers=as_short)).status_code == 200
    clock = platform.people._clock
    platform.people._clock = lambda: clock() + 61
    assert (await local.get("/api/v1/session", headers=as_short)).status_code == 401
