"""What a member of a large team waits for: first pages of all lists, search, submits, with 1,000 and with 100,000 jobs
stored, of 200 people in 20 workspaces; how much of a request the questions of rights are; and in Chromium, when the
first page can be used.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from playwright.sync_api import Browser, sync_playwright

from bench.fill import fill
from bench.measure import quantile
from bench.record import Record
from bench.server import PLAIN, Client, Server, spec
from bench.stage import Stage
from tests.e2e.browser import chromium, new_password
from tests.e2e.world import World
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare

PEOPLE, PLACES = 200, 20
ME: Final = "u7"
MINE: Final = (("w7", "member"), ("w8", "admin"), ("w9", "viewer"))
LISTS: Final = {
    "home, p95": "/home",
    "list, p95": "/jobs?limit=50",
    "list of mine, p95": "/jobs?limit=50&mine=true",
    "list of one state, p95": "/jobs?limit=50&state=succeeded",
    "list by name, p95": "/jobs?limit=50&order=name",
    "list by run time, p95": "/jobs?limit=50&order=-run_s",
    "list of a workspace, p95": "/jobs?limit=50&workspace=w8",
    "list of a framework, p95": "/jobs?limit=50&framework=command",
    "list of a label, p95": "/jobs?limit=50&label=set%3D3",
    "favorites, p95": "/jobs?limit=50&favorite=true",
    "facets, p95": "/jobs/facets",
    "list of an owner, p95": "/jobs?limit=50&owner=u7",
    "models, p95": "/models",
    "algorithms, p95": "/algorithms",
    "data sets, p95": "/datasets",
    "images, p95": "/images",
    "volumes, p95": "/volumes",
    "templates, p95": "/templates",
    "sweeps, p95": "/sweeps",
    "notifications, p95": "/notifications",
    "queue, p95": "/queue",
    "cluster, p95": "/cluster",
}
SEARCHES: Final = {
    "search, most, p95": "/jobs?limit=50&q=bench",
    "search, some, p95": "/jobs?limit=50&q=resnet-3",
    "search, none, p95": "/jobs?limit=50&q=nothinglikethis",
    "search, Chinese, p95": "/jobs?limit=50&q=%E8%AE%AD%E7%BB%83",
    "search of everything, p95": "/search?q=resent",
}


_READY: Final = """() => new Promise((done) => {
  const look = () => document.querySelector('[data-testid=home-figures]')
    ? requestIdleCallback(() => done(performance.now()), { timeout: 2000 })
    : requestAnimationFrame(look);
  look();
})"""
"""Milliseconds from the start of the visit until what the page says stands there and its thread has nothing to do."""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    stored, rounds = (10_000, 20) if quick else (100_000, 200)
    servers = {number: Server(stage, PLAIN, wait=False) for number in (1_000, stored)}
    for number, server in servers.items():
        fill(server.home, spec("true"), number, _vary)
        server.start()
    made = {number: member(server) for number, server in servers.items()}
    clients = {number: servers[number].client(member.token) for number, member in made.items()}
    against = "1,000 jobs"
    for what, path in (LISTS | SEARCHES).items():
        found = _in_turn(clients, rounds, lambda client, path=path: client.ask("GET", path))  # type: ignore[misc]
        yield stage.record(what.removesuffix(", p95"), found[stored], "ms", against=against, peer=found[1_000])
        yield stage.record(what, [quantile(found[stored], 0.95)], "ms")
        if what == "list, p95":
            yield stage.record("questions of rights", [_rights_ms() / statistics.median(found[stored]) * 100], "%")
    body = spec("true")
    found = _in_turn(clients, rounds, lambda client: client.ask("POST", "/jobs", body))
    yield stage.record("submit of a member", found[stored], "ms", against=against, peer=found[1_000])
    first, again = _interactive(stage, servers[stored], made[stored], 3 if quick else 11)
    yield stage.record("home page interactive, first visit", first, "ms")
    yield stage.record("home page interactive", again, "ms")


def _vary(number: int, job: Job) -> Job:
    """Return the job as somebody of the team submitted it."""
    name = ("resnet", "bert", "训练", "bench")[number % 4]
    return replace(
        job,
        name=f"{name}-{number % 10}",
        owner=f"u{number % PEOPLE}",
        workspace=f"w{number * 7 % PLACES}",
        share=list(JobShare)[number % 3],
        labels=(("set", str(number % 10)),),
        description="bench of a team",
    )


@dataclass(frozen=True, slots=True)
class _Member:
    """What is needed to be somebody: a token for the API, a one-time password for the console."""

    token: str
    password: str


def member(server: Server) -> _Member:
    """Make a person who is in three workspaces, in three roles."""
    admin = server.client()
    for place in range(PLACES):
        admin.ask("PUT", f"/workspaces/w{place}", {})
    person = admin.ask("POST", "/users", {"name": ME})
    for place, role in MINE:
        admin.ask("PUT", f"/workspaces/{place}/members/{ME}", {"role": role})
    made = admin.ask("POST", "/tokens", {"name": "bench", "user": ME})
    return _Member(made["token"], person["one_time_password"])


def _interactive(stage: Stage, server: Server, member: _Member, visits: int) -> tuple[list[float], list[float]]:
    """Return how long the first page took in ms: of somebody who never was there, and of who was."""
    door, state = _Door(f"http://127.0.0.1:{server.port}", member.password), Path(stage.path("state.json"))
    with sync_playwright() as playwright:
        new_password(playwright, cast(World, door), state, ME)
        browser = chromium(playwright)
        pairs = [_visits(browser, door.url, state) for _ in range(visits + 1)][1:]  # Chromium warms up, too
        browser.close()
    first, again = zip(*pairs, strict=True)
    return [*first], [*again]


def _visits(browser: Browser, url: str, state: Path) -> tuple[float, float]:
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}, storage_state=state)
    found = []
    for _ in range(2):
        page = context.new_page()
        page.goto("/", wait_until="commit")
        found.append(float(page.evaluate(_READY)))
        page.close()
    context.close()
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Door:
    """What signing in needs to know of a server."""

    url: str
    one_time_password: str


def _in_turn(clients: dict[int, Client], rounds: int, act: Callable[[Client], Any]) -> dict[int, list[float]]:
    """Return how long each took, in ms, one after the other so that what else the machine does hits all alike."""
    found: dict[int, list[float]] = {number: [] for number in clients}
    for turn in range(rounds + 2):
        for number, client in clients.items():
            began = time.monotonic()
            act(client)
            if turn > 1:  # the first two are to warm up
                found[number].append((time.monotonic() - began) * 1e3)
    return found


def _rights_ms() -> float:
    """Return what a page of 50 asks about rights: what may be read, and what changed and shared."""
    me = Principal(ME, memberships=MINE, sharing=frozenset(name for name, _ in MINE))
    jobs = [_Thing(f"u{number}", f"w{number % PLACES}", "read") for number in range(50)]
    times = []
    for _ in range(200):
        began = time.perf_counter()
        read, write, share = (decide(me, scope).visible for scope in ("jobs:read", "jobs:write", "jobs:share"))
        for job in jobs:
            read.covers(job), write.covers(job), share.covers(job)
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


class _Thing:
    def __init__(self, owner: str, workspace: str, share: str) -> None:
        self.owner, self.workspace, self.share = owner, workspace, share
