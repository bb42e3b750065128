"""A whole server in a process of its own, with two engines: this machine (pool "default") and a test cluster (pool
"batch").
"""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from tests.crash.server.harness import Home
from tests.fixtures.pythons import OLD
from tests.scenario.stage import ENDED
from tests.slurm.bed import Bed
from trainmaster.core.folders.layout import Layout
from trainmaster.sdk.client import Client

PATIENCE_S: Final = 120.0
POOL: Final = "batch"
"""The pool, and the partition, of the cluster."""


def job(name: str, text: str, **fields: Any) -> dict[str, Any]:
    """Return a job of one role for the cluster that runs a shell text. `replicas`, `cpu`, `gpu`: of the role."""
    resources = {"cpu": fields.pop("cpu", 1), "memory": 256, "gpu": fields.pop("gpu", 0)}
    role = {"name": "main", "command": ["/bin/sh", "-c", text], "resources": resources}
    role["replicas"] = fields.pop("replicas", 1)
    return {"name": name, "pool": POOL, "roles": [role], "model": {"save": False}, "grace": 1, **fields}


class Served(Home):
    """One server on `bed` with its home and its shared data folder below `folder`.

    `own`: more settings of its Slurm engine; `local`: of this machine's.
    """

    def __init__(
        self, bed: Bed, folder: Path, own: Mapping[str, Any] | None = None, local: Mapping[str, Any] | None = None
    ) -> None:
        self.bed, self.data = bed, folder / "data"
        cluster = {"conf": bed.conf, "python": OLD or "/usr/bin/python3", "sandbox": "none", **(own or {})}
        super().__init__(
            folder / "home",
            {
                "server": {"data": str(self.data)},
                "local": {"virtual_nodes": 1, "cpu": 4.0, "memory_mib": 4096, "sandbox": "none", **(local or {})},
                "limits": {"sample_s": 0.5},
                "engines": [
                    {"name": "local", "kind": "local"},
                    {"name": "cluster", "kind": "slurm", "pools": [POOL], **cluster},
                ],
            },
        )
        self.layout = Layout(str(self.folder), str(self.data))
        self.asking = self.client()

    def restart(self) -> None:
        """kill -9, then another server on the same home."""
        self.kill_server()
        self.spawn()

    def whole(self) -> Self:
        """Return it once each of its engines answers: it serves from the first one on."""
        give_up = time.monotonic() + PATIENCE_S
        while silent := [one for one in self.asking.ask("GET", "/engines")["items"] if one["trouble"] is not None]:
            assert time.monotonic() < give_up, f"{silent}\n{self.said()}"
            time.sleep(0.1)  # what it waits for is seen as a person sees it, by asking
        return self

    def sdk(self) -> Client:
        """Return a client as people have it."""
        self.view()
        return Client(home=str(self.folder))

    # -- do ----------------------------------------------------------------------------------------------------

    def submit(self, document: dict[str, Any], key: str = "") -> str:
        """Submit, again and again until it is answered; return the id."""
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return str(self.asking.ask("POST", "/jobs", {"spec": document}, headers)["id"])

    def running(self, document: dict[str, Any]) -> str:
        """Submit a job that writes a file `ran`; return its id when all its tasks have."""
        return self.all_running([document])[0]

    def all_running(self, documents: Iterable[dict[str, Any]]) -> list[str]:
        """Submit jobs that write a file `ran` each, one after the other; return their ids when all tasks of all of them
        have.
        """
        jobs = {self.submit(document): document["roles"][0]["replicas"] for document in documents}
        for job_id, tasks in jobs.items():
            self.until(job_id, lambda view, of=job_id, most=tasks: self._runs(view, of, most), "ran")
        return list(jobs)

    def _runs(self, view: Mapping[str, Any], job_id: str, tasks: int) -> bool:
        return view["state"] == "running" and self.output(job_id, "ran").count("ran") == tasks

    def stop(self, job_id: str) -> None:
        """Ask for the end of a job."""
        self.asking.ask("POST", f"/jobs/{job_id}/stop", {})

    # -- look --------------------------------------------------------------------------------------------------

    def view(self, job_id: str = "") -> Any:
        """Return what the API shows of a job; "": of the first jobs of the list."""
        return self.asking.ask("GET", f"/jobs/{job_id}" if job_id else "/jobs?limit=50")

    def until(self, job_id: str, true: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        """Return the job's view once `true` of it."""
        give_up = time.monotonic() + PATIENCE_S
        while not true(view := self.view(job_id)):
            assert time.monotonic() < give_up, f"waited in vain for {what}: {view}\n{self.bed.shown()}\n{self.said()}"
            time.sleep(0.1)  # what it waits for is seen as a person sees it, by asking
        return dict(view)

    def state(self, job_id: str, *states: str) -> dict[str, Any]:
        """Return the job's view once it is in one of `states`."""
        return self.until(job_id, lambda view: view["state"] in states, " or ".join(states))

    def ended(self, job_id: str) -> dict[str, Any]:
        """Return the job's view once it has ended."""
        return self.state(job_id, *ENDED)

    def output(self, job_id: str, name: str) -> str:
        """Return what the job wrote into a file of its outputs; "": nothing."""
        path = Path(self.layout.outputs(job_id), name)
        return path.read_text() if path.exists() else ""

    def attempt(self, job_id: str, number: int = 1) -> Path:
        """Return the folder of an attempt."""
        return Path(self.layout.attempt(job_id, number))

    def number(self, job_id: str, attempt: int = 1) -> str:
        """Return the id of Slurm's job for an attempt; "": Slurm knows none."""
        with suppress(FileNotFoundError, NotADirectoryError):
            given, *taken = map(json.loads, (self.attempt(job_id, attempt) / "slurm.jsonl").read_text().splitlines())
            if taken and given["element"] is not None:
                return f"{taken[0]['job']}_{given['element']}"
        return self.bed.ask("squeue", "-h", "-t", "all", "-o", "%A", f"--name=tm-{job_id}-{attempt}").strip()
