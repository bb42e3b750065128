"""Tickets: what cannot send a header (a download, a browser's socket) asks for one address, once, soon, in its own
session.
"""

from typing import Any

import httpx
import pytest

from trainmaster.service.people.tickets import MOST_EACH, TICKET_S

TICKETS = "/api/v1/session/ticket"
LIST = "/api/v1/jobs?q=a%20b&state=running"


async def ticket_to(browser: httpx.AsyncClient, address: str) -> str:
    made = await browser.post(TICKETS, json={"address": address})
    assert made.status_code == 201, made.text
    return str(made.json()["address"])


@pytest.fixture
async def bare(browser: httpx.AsyncClient, app: Any) -> Any:
    """The same browser where it cannot send a header: it has the cookie and no key."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url=str(browser.base_url), cookies=dict(browser.cookies)
    ) as made:
        yield made


async def test_a_ticket_is_good_once(browser: httpx.AsyncClient, bare: httpx.AsyncClient) -> None:
    """Whoever reads the address in a log later has nothing."""
    for wanted in (LIST, "/api/v1/nodes"):
        address = await ticket_to(browser, wanted)
        first = await bare.get(address)
        assert first.status_code == 200, first.text
        again = await bare.get(address)
        assert again.status_code == 401
        assert "already used" in again.json()["title"]


async def test_a_ticket_is_for_one_address(browser: httpx.AsyncClient, bare: httpx.AsyncClient) -> None:
    """In whatever order its parameters come; every other one is refused, and the ticket is gone with the try."""
    ticket = (await ticket_to(browser, LIST)).partition("ticket=")[2]
    assert (await bare.get(f"/api/v1/jobs?ticket={ticket}&state=running&q=a+b")).status_code == 200
    for other in (
        "/api/v1/nodes?",
        "/api/v1/jobs?q=other&state=running&",
        "/api/v1/jobs?q=a%20b&state=running&limit=9&",
    ):
        ticket = (await ticket_to(browser, LIST)).partition("ticket=")[2]
        assert (await bare.get(f"{other}ticket={ticket}")).status_code == 401, other


async def test_a_ticket_changes_nothing(browser: httpx.AsyncClient, bare: httpx.AsyncClient) -> None:
    """A link that somebody was made to follow only looks."""
    address = await ticket_to(browser, "/api/v1/tokens")
    assert (await bare.post(address, json={"name": "mine for ever"})).status_code == 401
    assert (await browser.get("/api/v1/tokens")).json()["items"] == []


async def test_a_ticket_is_nothing_without_its_sessions_cookie(
    app: Any, browser: httpx.AsyncClient, bare: httpx.AsyncClient
) -> None:
    address = await ticket_to(browser, LIST)
    bare.cookies.clear()
    assert (await bare.get(address)).status_code == 401
    address = await ticket_to(browser, LIST)
    body = {"username": "admin", "password": "correct horse battery"}
    assert (await bare.post("/api/v1/session", json=body)).status_code == 200  # the same person in another browser
    assert (await bare.get(address)).status_code == 401


async def test_a_ticket_lives_for_seconds_and_ends_with_its_session(
    platform: Any, browser: httpx.AsyncClient, bare: httpx.AsyncClient
) -> None:
    address = await ticket_to(browser, LIST)
    clock = platform.people.tickets._clock
    platform.people.tickets._clock = lambda: clock() + TICKET_S + 1
    assert (await bare.get(address)).status_code == 401
    platform.people.tickets._clock = clock
    address = await ticket_to(browser, LIST)
    assert (await browser.delete("/api/v1/session")).status_code == 204
    assert (await bare.get(address)).status_code == 401


async def test_tickets_are_few_and_their_secrets_are_kept_nowhere(
    platform: Any, browser: httpx.AsyncClient, local: httpx.AsyncClient
) -> None:
    del local.headers["authorization"]  # the two fixtures are one client
    made = [await ticket_to(browser, LIST) for _ in range(MOST_EACH)]
    assert (await browser.post(TICKETS, json={"address": LIST})).status_code == 429
    kept = repr(platform.people.tickets._held)
    assert not any(address.partition("ticket=")[2] in kept for address in made)
    assert browser.cookies["tm_session"] not in kept
    assert browser.headers["x-session-key"] not in kept


@pytest.mark.parametrize("address", ["/", "http://evil.example/api/v1/jobs", "/api/v1/jobs#x", "api/v1/jobs"])
async def test_a_ticket_leads_into_the_api_and_nowhere_else(browser: httpx.AsyncClient, address: str) -> None:
    assert (await browser.post(TICKETS, json={"address": address})).status_code == 422


async def test_a_program_needs_no_ticket(local: httpx.AsyncClient) -> None:
    assert (await local.post(TICKETS, json={"address": LIST})).status_code == 409
