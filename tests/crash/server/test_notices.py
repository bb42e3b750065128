"""Every end is told: once in the console, at least once to a webhook, though the server was killed again and again.

The receiver answers slowly and now and then with an error, so that kills fall between what was sent and what was noted
of it. TRAINMASTER_TEST_KILLS sets how many kills, at most 20 here.
"""

import base64
import hashlib
import hmac
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Client, Feeder, Home, Promises, Storm
from tests.fixtures.receivers import Came, Hooks, hooks_beside
from tests.scenario.stage import spec

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]

KILLS: Final = min(20, int(os.environ.get("TRAINMASTER_TEST_KILLS", "20")))
VICTIMS: Final = ("server", "server", "server and agent", "server", "all")
FED: Final = 50
STOPPED: Final = 3
THINKS_S: Final = 0.15
PATIENCE_S: Final = 240.0
SHORT: Final = "sleep 0.$((RANDOM % 9)); exit $((RANDOM % 3 / 2))"


def test_every_end_is_told_once_and_sent_under_one_id(tmp_path: Path) -> None:
    config = {
        "local": {"virtual_nodes": 2, "cpu": 8.0, "memory_mib": 100_000},
        "webhooks": {"allow": ["127.0.0.0/8"], "http": True},
    }
    with hooks_beside(200, 200, 500, 200, 200, 200, 503, 200, thinks_s=THINKS_S) as receiver:
        home = Home(tmp_path / "home", config)
        try:
            _story(home, receiver)
        finally:
            home.end()


def _story(home: Home, receiver: Hooks) -> None:
    client, promises = home.client(), Promises()
    hook = client.ask("POST", "/webhooks", {"url": receiver.url})
    tiny = {"resources": {"cpu": 0.5, "memory": 64}, "model": {"save": False}, "grace": 1}
    for number in range(STOPPED):
        body = {"spec": spec("lasts", "sleep infinity", **tiny)}
        promises.take(
            f"lasts-{number}", client.ask("POST", "/jobs", body, {"Idempotency-Key": f"lasts-{number}"})["id"]
        )
    stopped = set(promises.jobs.values())
    feeder = Feeder(home, spec("short", SHORT, **tiny), promises, FED)
    feeder.start()
    storm = Storm(home, promises, seed=time.time_ns() % 10**9, victims=VICTIMS)
    storm.rage(KILLS // 2, {})
    for job in stopped:
        client.ask("POST", f"/jobs/{job}/stop", {})
    storm.rage(KILLS - KILLS // 2, {})
    feeder.enough.set()
    feeder.join()
    assert feeder.error is None, feeder.error
    jobs = set(promises.jobs.values())
    _until(lambda: not _live(client), home, "all have ended")
    _until(lambda: {_job(one) for one in receiver.came} >= jobs, home, "all ends have come to the receiver")
    last = _killed_while_it_waits_for_the_answer(home, client, receiver)
    _check(home, client, receiver, hook, stopped, jobs | {last})


def _killed_while_it_waits_for_the_answer(home: Home, client: Client, receiver: Hooks) -> str:
    """What was taken by the receiver and never acknowledged comes again."""
    receiver.answers[:] = [None]
    job = str(
        client.ask("POST", "/jobs", {"spec": spec("last", "true", model={"save": False})}, {"Idempotency-Key": "l"})[
            "id"
        ]
    )
    _until(lambda: any(_job(one) == job for one in receiver.came), home, "the last end has come")
    home.kill_server()
    receiver.answers[:] = [200]
    home.spawn()
    _until(lambda: sum(_job(one) == job for one in receiver.came) > 1, home, "it has come again")
    return job


def _check(home: Home, client: Client, receiver: Hooks, hook: Any, stopped: set[str], jobs: set[str]) -> None:
    told = Counter(one["job"] for one in _told(client))
    ended = jobs - stopped  # what one stopped oneself is not told in the console
    assert {job for job, times in told.items() if times != 1} == set(), "told twice"
    assert set(told) == ended, f"not told: {ended - set(told)}; told too much: {set(told) - ended}\n{home.said()}"
    ids: dict[str, set[str]] = defaultdict(set)
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for one in receiver.came:
        assert _signed(hook["secret"], one)
        ids[_job(one)].add(one.headers["webhook-id"])
        bodies[one.headers["webhook-id"]].add(one.body)
    assert set(ids) == jobs, "every end came, those that one stopped oneself, too"
    assert {job: found for job, found in ids.items() if len(found) != 1} == {}, "one end came under several ids"
    assert {id_: found for id_, found in bodies.items() if len(found) != 1} == {}, "one id came with several bodies"

    def sent() -> bool:
        states = {one["state"] for one in client.ask("GET", f"/webhooks/deliveries?webhook={hook['id']}")["items"]}
        return states == {"sent"}

    _until(sent, home, "all is noted as sent")


def _told(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.ask("GET", f"/notifications?limit=50{'&cursor=' + cursor if cursor else ''}")
        found += [one for one in page["items"] if one["kind"] in ("ended", "failed")]
        cursor = page["next_cursor"]
    return found


def _job(one: Came) -> str:
    return str(one.json["data"]["job"]["id"])


def _signed(secret: str, one: Came) -> bool:
    """As the guide tells receivers to check it."""
    signed = f"{one.headers['webhook-id']}.{one.headers['webhook-timestamp']}.".encode() + one.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(wanted, one.headers["webhook-signature"])


def _live(client: Client) -> bool:
    counts = client.ask("GET", "/jobs?limit=1")["counts"]
    return any(counts.get(state, 0) for state in ("queued", "initialising", "running", "saving", "stopping"))


def _until(true: Callable[[], bool], home: Home, what: str) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit, f"waited in vain: {what}\n{home.said()}"
        time.sleep(0.2)  # another process: nothing tells
