"""What slurmrestd answers is read as it is meant (recorded of 22.05.8), and who asks is said in headers alone."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from trainmaster.engines.slurm.client import rest
from trainmaster.engines.slurm.client.commands import ClusterDown, ClusterRefused
from trainmaster.engines.slurm.client.parse import NodeCards

ATTEMPT = f"t{'a' * 32}-1"
JOB = {
    "job_id": 27,
    "name": f"tm-{ATTEMPT}",
    "user_name": "root",
    "job_state": "PENDING",
    "start_time": 1795266236,
    "nodes": "",
    "state_reason": "Resources",
    "comment": ATTEMPT,
    "array_job_id": 0,
    "array_task_id": None,
    "array_task_string": "",
}
NODE = {
    "name": "n4",
    "address": "127.0.0.1",
    "cpus": 4,
    "real_memory": 4096,
    "gres": "gpu:fake:2",
    "features": "bed,A100",
    "partitions": ["batch"],
    "state": "allocated",
    "state_flags": ["DRAIN"],
    "reason": "old disk",
    "operating_system": "Linux 6",
    "slurmd_version": "22.05.8",
}
PARTITION = {
    "flags": ["default"],
    "name": "urgent",
    "nodes": "n[1-2]",
    "state": "UP",
    "max_time_limit": 2160,
    "allowed_groups": "",
    "maximum_memory_per_node": None,
}


def test_a_job() -> None:
    (line,) = rest.jobs_of(JOB)
    assert (line.name, str(line.id), line.state.standing, line.start) == (ATTEMPT, "27", "pending", 1795266236.0)
    assert (line.nodes, line.reason) == ((), "Resources")
    (unforeseen,) = rest.jobs_of({**JOB, "start_time": 0})
    assert unforeseen.start is None
    assert rest.jobs_of({**JOB, "name": f"tm-{ATTEMPT} "}) == []


def test_a_node() -> None:
    node = rest.node_of(NODE)
    assert (node.states, node.usable, node.reason) == (("ALLOCATED", "DRAIN"), False, "old disk")
    assert (node.cards, node.features) == ((NodeCards("fake", 2),), ("bed", "A100"))


@pytest.mark.parametrize(("minutes", "limit"), [(2160, 129600.0), (-1, None), (None, None)])
def test_a_partition(minutes: int | None, limit: float | None) -> None:
    partition = rest.partition_of({**PARTITION, "max_time_limit": minutes})
    assert (partition.limit_s, partition.most_mib, partition.up, partition.default) == (limit, None, True, True)


class Site:
    """A slurmrestd that answers what a test says, and keeps what it was asked."""

    def __init__(self) -> None:
        self.status, self.document = 200, {"errors": [], "nodes": [NODE]}  # type: tuple[int, dict[str, Any]]
        self.asked: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, dict(self.headers)))
                self.send_response(site.status)
                self.end_headers()
                self.wfile.write(json.dumps(site.document).encode())

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


async def test_a_token_is_read_anew_for_every_question_and_goes_into_a_header(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "token"
    served = rest.Served(site.place, str(file), "root")
    with pytest.raises(ClusterDown, match="cannot be read"):
        await served.nodes()
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        await served.nodes()
        path, headers = site.asked[-1]
        assert (headers["X-SLURM-USER-TOKEN"], headers["X-SLURM-USER-NAME"]) == (token, "root")
        assert token not in path
    await served.close()


@pytest.mark.parametrize(("status", "said"), [(401, "rejects this server"), (404, "v0.0.38"), (500, "status 500")])
async def test_one_that_cannot_be_used_is_down_and_says_why(site: Site, status: int, said: str) -> None:
    site.status = status
    served = rest.Served(site.place, "", "root")
    with pytest.raises(ClusterDown, match=said):
        await served.nodes()
    await served.close()


async def test_an_answer_without_end_is_not_taken_in(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    served = rest.Served(site.place, "", "root")
    monkeypatch.setattr(rest, "MOST", 1 << 20)
    site.document = {"errors": [], "nodes": [NODE] * 100}
    assert len(await served.nodes()) == 100
    site.document = {"errors": [], "nodes": [NODE] * 10_000}
    with pytest.raises(ClusterDown, match="larger than 1 MiB"):
        await served.nodes()
    await served.close()


async def test_an_error_in_an_answer_is_no_empty_cluster(site: Site) -> None:
    served = rest.Served(site.place, "", "root")
    site.document = {"errors": [{"error": "Unable to contact slurm controller (connect failure)"}], "nodes": []}
    with pytest.raises(ClusterDown):
        await served.nodes()
    site.document = {"errors": [{"error": "Access denied"}], "nodes": []}
    with pytest.raises(ClusterRefused):
        await served.nodes()
    site.document = {"errors": []}
    with pytest.raises(ValueError, match="no nodes"):
        await served.nodes()
    await served.close()


async def test_records_that_are_not_of_this_version_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(self: rest.Served, what: str) -> list[dict[str, object]]:
        return [{"name": "n1"}]

    monkeypatch.setattr(rest.Served, "_ask", answer)
    served = rest.Served("unix:/nowhere", "", "root")
    for ask in (served.nodes(), served.partitions(), served.reservations(), served.present(["root"])):
        with pytest.raises(ValueError, match=r"v0\.0\.38"):
            await ask
    await served.close()
