"""What the repository ships for Prometheus and Grafana, on a real Prometheus that scrapes a real server: rules hold,
every panel asks for figures that are there, alerts fire.
"""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.ports import free_ports
from tests.fixtures.shell import ONE_NODE, Shell, serving, write

SHIPPED = Path(__file__).parents[2] / "examples" / "monitoring"
NAME = re.compile(r"\btrainmaster_[a-z_]+\b")
PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A server with one job that ended and one that runs."""
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        folder = tmp_path_factory.mktemp("jobs")
        shell.json("submit", write(folder / "a.json", "true"), "--wait")
        holds = {"cpu": 0.1, "memory": 64, "gpu": 1}
        runs = shell.json("submit", write(folder / "b.json", "sleep 1000", resources=holds))["id"]
        shell.until(lambda seen: seen["state"] == "running", runs)
        yield shell


def address(tm: Shell) -> str:
    return str(json.loads((tm.home / "run" / "server.json").read_text())["url"])


@pytest.fixture(scope="module")
def prometheus(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A Prometheus with the shipped settings, which looks every second."""
    folder = tmp_path_factory.mktemp("prometheus")
    for file in SHIPPED.glob("*.yml"):
        shutil.copy(file, folder)
    settings = folder / "prometheus.yml"
    (folder / "trainmaster-token").write_text(tm("token", "create", "prometheus", "--scope", "server:observe"))
    text = settings.read_text()
    assert "127.0.0.1:8470" in text
    text = text.replace("127.0.0.1:8470", address(tm).removeprefix("http://")).replace(": 15s", ": 1s")
    settings.write_text(text)
    subprocess.run(["promtool", "check", "config", str(settings)], check=True, capture_output=True)
    port = free_ports(1, 10_000, 17_000)
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={settings}",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=PATIENCE_S) as client:
            until(lambda: ask(client, "up == 1"), folder / "log")
            yield client
    finally:
        process.terminate()
        process.wait(30)


def ask(client: httpx.Client, query: str) -> list[Any]:
    try:
        answer = client.get("/query", params={"query": query})
    except httpx.TransportError:
        return []
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        return []  # it listens, and reads its store
    found = answer.json()
    assert found["status"] == "success", (query, found)
    return list(found["data"]["result"])


def until(what: Any, log: Path) -> Any:
    give_up = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < give_up, log.read_text()[-2000:]
        time.sleep(0.2)  # Prometheus looks once a second
    return found


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SHIPPED / "grafana-dashboard.json").read_text())
    return found


def asked() -> list[tuple[str, str]]:
    return [
        (panel["title"], target["expr"].replace("$job", "trainmaster"))
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    ]


def test_the_rules_say_what_they_are_to_say() -> None:
    """promtool's own test of the alerts: each one fires in its time, and not before."""
    done = subprocess.run(
        ["promtool", "test", "rules", "trainmaster.rules.test.yml"],
        cwd=SHIPPED,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = (SHIPPED / "trainmaster.rules.yml").read_text()
    tested = (SHIPPED / "trainmaster.rules.test.yml").read_text()
    alerts = re.findall(r"alert: (\w+)", said)
    assert len(alerts) >= 7
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n", tested), f"no test lets {alert} fire"


def test_every_figure_that_is_named_exists_and_every_panel_shows_something(tm: Shell, prometheus: httpx.Client) -> None:
    bearer = {"Authorization": f"Bearer {tm('token', 'create', 'look', '--scope', 'server:observe').strip()}"}
    measured = httpx.get(f"{address(tm)}/metrics", headers=bearer, timeout=PATIENCE_S).text
    there = set(re.findall(r"^(trainmaster_[a-z_]+)", measured, re.MULTILINE))
    rules = (SHIPPED / "trainmaster.rules.yml").read_text()
    named = set(NAME.findall(" ".join(query for _, query in asked()) + rules))
    assert len(named) > 10
    assert named <= there
    assert there - named <= {"trainmaster_jobs_ended_created", "trainmaster_commits_created"}, "each is shown somewhere"
    for title, query in asked():
        assert until(lambda query=query: ask(prometheus, query), Path("/dev/null")), title
    held = until(lambda: ask(prometheus, dict(asked())["GPUs in use"]), Path("/dev/null"))
    assert 0 < float(held[0]["value"][1]) <= 1


def test_prometheus_takes_the_rules_and_tells_of_a_server_that_is_gone(tm: Shell, prometheus: httpx.Client) -> None:
    def rules() -> dict[str, Any]:
        groups = prometheus.get("/rules").json()["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    assert {rule["health"] for rule in rules().values()} <= {"ok", "unknown"}
    # It gives up each look after a second, which a busy machine may need for one.
    until(lambda: rules()["TrainmasterDown"]["state"] == "inactive", Path("/dev/null"))
    tm.stop()
    try:

        def waits() -> bool:
            alerts = prometheus.get("/alerts").json()["data"]["alerts"]
            return any(one["labels"]["alertname"] == "TrainmasterDown" for one in alerts)

        assert until(waits, Path("/dev/null"))
    finally:
        tm.said = ""
        tm.serve()


def test_the_dashboard_is_one_that_grafana_can_read() -> None:
    """Ids differ, panels lie beside each other within 24 columns, every query goes to the source that is chosen."""
    board = dashboard()
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set[tuple[int, int]]()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["targets"]
    assert [one["name"] for one in board["templating"]["list"]] == ["datasource", "job"]
