"""What jobs used is the sum of what their attempts really ran, though the server was killed again and again (R3, R19).

The agents' own records are the second opinion: what they wrote beside the logs of each attempt, which the server never
touches. TRAINMASTER_TEST_KILLS sets how many kills, at most 20 here.
"""

import csv
import io
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Feeder, Home, Promises, Storm
from tests.scenario.stage import spec
from trainmaster.core.money.amounts import charge, read_amount

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]

KILLS: Final = min(20, int(os.environ.get("TRAINMASTER_TEST_KILLS", "20")))
PRICE: Final = "3600.50"
FED: Final = 60
SHORT: Final = "sleep 0.$((RANDOM % 9)); exit $((RANDOM % 3 / 2))"
LONG: Final = "until [ -e /marks/go ]; do sleep 0.2; done"


def recorded(home: Home, jobs: Iterator[str] | list[str]) -> dict[tuple[str, int], int]:
    """Return how many milliseconds each attempt ran, by the records of the agents: from the launch to the last end."""
    found = {}
    for job in jobs:
        for path in Path(home.layout.job(job)).glob("attempts/*/record*.jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            launched = [_stamp(line) for line in lines if "launched" in line]
            ends = [_stamp(line) for line in lines if "e" in line]
            if launched and ends:
                found[job, int(path.parent.name)] = max(ends) - launched[0]
    return found


def _stamp(line: dict[str, Any]) -> int:
    """Return a moment by the kernel's clock, which nobody sets, in milliseconds."""
    return round(1000 * float(line["stamp"].rpartition(" ")[2]))


def test_what_was_used_is_what_ran(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    local = {"virtual_nodes": 2, "cpu": 8.0, "memory_mib": 100_000, "mount_roots": [str(tmp_path)]}
    home = Home(tmp_path / "home", {"local": local, "money": {"time_zone": "Asia/Shanghai"}})
    client, promises = home.client(), Promises()
    body = {"cpu": 1, "memory_mib": 64, "price": PRICE}
    try:
        client.ask("PUT", "/workspaces/default/flavors/small", body)
        short = _priced(spec("short", SHORT, retries=2, model={"save": False}))
        mount = [{"name": "marks", "path": str(marks), "mount": "/marks"}]
        long = _priced(spec("long", LONG, inputs=mount, replicas=2, grace=1, model={"save": False}))
        for number in range(3):
            key = f"long-{number}"
            promises.take(key, client.ask("POST", "/jobs", {"spec": long}, {"Idempotency-Key": key})["id"])
        feeder = Feeder(home, short, promises, FED)
        feeder.start()
        Storm(home, promises, seed=time.time_ns() % 10**9).rage(KILLS, {})
        feeder.enough.set()
        feeder.join()
        assert feeder.error is None, feeder.error
        (marks / "go").touch()
        _until_all_ended(client)
        _check(home, client, list(promises.jobs.values()))
    finally:
        home.end()


def _priced(document: dict[str, Any]) -> dict[str, Any]:
    for role in document["roles"]:
        role.pop("resources")
        role["flavors"] = ["small"]
    return document


def _until_all_ended(client: Any) -> None:
    limit = time.monotonic() + 240
    live = ("queued", "initialising", "running", "saving", "stopping")
    while any(client.ask("GET", "/jobs?limit=1")["counts"].get(state, 0) for state in live):
        assert time.monotonic() < limit, "the jobs did not end"
        time.sleep(0.2)  # another process: nothing tells


def _check(home: Home, client: Any, jobs: list[str]) -> None:
    """Compare the entries, attempt by attempt, and the report with the agents' records."""
    ran = recorded(home, jobs)
    entries: dict[tuple[str, int], Any] = {}
    cursor: str | None = ""
    while cursor is not None:
        page = client.ask("GET", f"/workspaces/default/entries?limit=500{'&cursor=' + cursor if cursor else ''}")
        for one in page["items"]:
            assert (one["job"], one["attempt"]) not in entries, "charged twice"
            entries[one["job"], one["attempt"]] = one
        cursor = page["next_cursor"]
    assert len(entries) >= len(jobs)
    assert {attempt for attempt in ran if attempt not in entries} == set(), "what ran was not charged"
    machine_ms = amount = 0
    for attempt, one in entries.items():
        lasted = round(one["until"] * 1000) - round(one["since"] * 1000)
        assert attempt in ran, f"{attempt} was charged for {lasted} ms and never ran"
        assert abs(lasted - ran[attempt]) < 1000, f"{attempt} was charged for {lasted} ms, ran {ran[attempt]}"
        machine_ms += one["machines"] * lasted
        amount += charge(read_amount(PRICE), one["machines"] * lasted)
    assert amount == -sum(read_amount(one["amount"], least=-(10**18)) for one in entries.values())
    machines = {attempt: one["machines"] for attempt, one in entries.items()}
    real_ms = sum(machines[attempt] * lasted for attempt, lasted in ran.items() if attempt in machines)
    assert abs(machine_ms - real_ms) < 1000, "the sum differs by more than a second"
    report = client.ask("GET", "/reports/usage")
    table = client.once("GET", "/reports/usage.csv").text
    assert round(report["machine_s"] * 1000) == machine_ms
    assert read_amount(report["amount"]) == amount
    assert sum(round(float(row["replica_seconds"]) * 1000) for row in csv.DictReader(io.StringIO(table))) == machine_ms
