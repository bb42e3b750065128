"""A small platform in memory with the real people, feed and views: what the API's own tests talk to.

It keeps jobs as core records and moves them by hand, so that a test says exactly what a client must see. The real platform
is met in tests/scenario.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal, Reach
from trainmaster.core.config import Config, ServerConfig
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem
from trainmaster.core.layout import Layout
from trainmaster.core.records import Assignment, Attempt, Job, Resources, Role, Task, Verdict
from trainmaster.core.states import JobState, Phase, TaskPhase
from trainmaster.service.feed import Feed, changed, deleted
from trainmaster.service.people import People
from trainmaster.service.views import attempt_view, job_view, role_view
from trainmaster.store.database import Database
from trainmaster.store.people import People as Rows


async def _no_spec(digest: str) -> None:
    return None


class Double:
    """See the module."""

    version = "0.0.test"

    def __init__(self, home: Path, server: ServerConfig | None = None) -> None:
        self.config = Config(server=server or ServerConfig())
        self.layout = Layout(str(home))
        self.database = Database.open(f"sqlite:///{home}/t.db", backup_dir=str(home / "backups"))
        self.people = People(Rows(self.database), self.layout)
        self.feed = Feed()
        self.live: dict[str, Job] = {}
        self.jobs_: dict[str, Job] = {}
        self.keys: dict[str, tuple[Any, str]] = {}
        self.boom: Exception | None = None
        self.well = True
        engine = SimpleNamespace(isolation=lambda: {"kind": "none", "detail": "a test"})
        specs = SimpleNamespace(read=_no_spec)
        metrics = SimpleNamespace(series=lambda *_: {"series": [], "last": {}})
        self.context = SimpleNamespace(master=SimpleNamespace(live=self.live), engine=engine, specs=specs, metrics=metrics)

    async def start(self) -> None:
        await self.people.start()

    async def close(self) -> None:
        self.database.close()

    # -- moving jobs by hand -----------------------------------------------------------------------------------

    def put(self, job: Job) -> Job:
        job = replace(job, version=job.version + 1)
        self.jobs_[job.id] = job
        self.live.pop(job.id, None)
        if not job.terminal:
            self.live[job.id] = job
        self.feed.publish(changed(self.feed.seq + 1, job))
        return job

    def run(self, job_id: str) -> Job:
        job = self.jobs_[job_id]
        tasks = tuple(Task(r, i, TaskPhase.RUNNING, started_at=1.0) for r, role in enumerate(job.roles) for i in range(role.replicas))
        places = tuple(Assignment(t.role, t.index, "node-1", "127.0.0.1") for t in tasks)
        attempt = Attempt(job.attempts_used + 1, "first", Phase.RUNNING, places, tasks, 1.0, started_at=1.0)
        for task in tasks:
            Path(self.layout.task(job.id, attempt.number, task.role, task.index).root).mkdir(parents=True)
        return self.put(replace(job, state=JobState.ACTIVE, attempt=attempt, attempts_used=attempt.number, started_at=1.0))

    def finish(self, job_id: str, ok: bool = True) -> Job:
        job = self.jobs_[job_id]
        state = JobState.SUCCEEDED if ok else JobState.FAILED
        verdict = Verdict("ok") if ok else Verdict("exit_code", "main[0] ended with exit code 3", role=0, index=0, exit_code=3)
        attempt = replace(job.attempt, phase=Phase.ENDED, ended_at=2.0) if job.attempt else None
        return self.put(replace(job, state=state, verdict=verdict, attempt=attempt, ended_at=2.0))

    # -- the platform ------------------------------------------------------------------------------------------

    def _view(self, job: Job) -> dict[str, Any]:
        return job_view(job, time.time(), {"seq": self.feed.seq})

    async def views(self, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        return [self._view(job) for job in jobs]

    async def submit(self, body: Mapping[str, Any], who: Principal, key: str | None) -> tuple[dict[str, Any], bool]:
        if self.boom is not None:
            raise self.boom
        spec = body.get("spec")
        if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
            raise InvalidSpec("The job is not valid: 1 problem", problems=(Problem("name", "is required", "Give a name."),))
        if key is not None and key in self.keys:
            known, job_id = self.keys[key]
            if known != body:
                raise Conflict("This idempotency key was used for another request", remedy="Use a new key.")
            return self._view(self.jobs_[job_id]), False
        number = len(self.jobs_)
        role = Role("main", int(spec.get("replicas", 1)), Resources())
        made = Job(f"t{number:032x}", spec["name"], who.name, (role,), "d", float(number), seq=number, queued_at=float(number))
        job = self.put(made)
        if key is not None:
            self.keys[key] = (body, job.id)
        return self._view(job), True

    async def submit_batch(self, bodies: Sequence[Mapping[str, Any]], who: Principal, key: str | None) -> list[dict[str, Any]]:
        made = [await self.submit(body, who, None) for body in bodies]
        return [{"id": view["id"], "state": view["state"]} for view, _ in made]

    async def preview(self, body: Mapping[str, Any], who: Principal) -> dict[str, Any]:
        fits = {"when": "now", "reason": None, "placement": []}
        return {"ok": True, "problems": [], "warnings": [], "spec": body.get("spec"), "fits": fits, "roles": [], "native": None}

    async def jobs(self, query: Any, limit: int, cursor: str | None, who: Principal) -> dict[str, Any]:
        own = decide(who, "jobs:read").reach is Reach.OWN
        found = [job for job in self.jobs_.values() if not own or job.owner == who.name]
        found = [job for job in found if not query.states or job.shown in query.states]
        return {"items": [self._view(job) for job in found[:limit]], "next_cursor": None, "counts": {}, "seq": self.feed.seq}

    async def resolve(self, ref: str, who: Principal) -> Job:
        found = [job for job in self.jobs_.values() if job.id == ref or (len(ref) >= 4 and job.id.startswith(ref))]
        if len(found) != 1:
            raise NotFound(f"There is no job {ref!r}", remedy="List the jobs with: tm list")
        decide(who, "jobs:read", found[0].owner).demand()
        return found[0]

    async def job(self, ref: str, who: Principal) -> dict[str, Any]:
        job = await self.resolve(ref, who)
        shown = [attempt_view(job, job.attempt)] if job.attempt else []
        tasks = shown[-1]["tasks"] if shown else []
        roles = [role_view(i, role, "true") for i, role in enumerate(job.roles)]
        more = {"warnings": [], "spec": {"name": job.name}, "extras": {}}
        return {**self._view(job), "roles": roles, "attempt_list": shown, "task_list": tasks, **more}

    async def spec(self, ref: str, who: Principal, dialect: str, form: str) -> tuple[str, str]:
        job = await self.resolve(ref, who)
        return (f"name: {job.name}\n", "application/yaml") if form == "yaml" else (f'{{"name":"{job.name}"}}', "application/json")

    async def events(self, ref: str, who: Principal, after: int) -> dict[str, Any]:
        await self.resolve(ref, who)
        return {"items": []}

    async def explain(self, ref: str, who: Principal) -> dict[str, Any]:
        job = await self.resolve(ref, who)
        return {"state": job.shown.value, "reason": None, "verdict": None, "suggestions": []}

    async def stop(self, ref: str, who: Principal, reason: str = "") -> dict[str, Any]:
        job = await self.resolve(ref, who)
        return self._view(job if job.terminal else self.put(replace(job, state=JobState.STOPPED, ended_at=2.0)))

    async def stop_many(self, ids: list[str], who: Principal) -> dict[str, Any]:
        return {"done": ids, "refused": []}

    async def delete(self, ref: str, who: Principal) -> None:
        job = await self.resolve(ref, who)
        if not job.terminal:
            raise Conflict("Only ended jobs can be deleted", remedy="Stop it first: tm stop " + job.id)
        del self.jobs_[job.id]
        self.feed.publish(deleted(self.feed.seq + 1, job.id))

    async def delete_many(self, ids: list[str], who: Principal) -> dict[str, Any]:
        return {"done": [], "refused": [{"id": one, "title": "There is no such job", "code": "not_found"} for one in ids]}

    async def clone(self, ref: str, who: Principal, set_: Mapping[str, Any], submit: bool) -> dict[str, Any]:
        job = await self.resolve(ref, who)
        document = {"name": job.name, **set_}
        return (await self.submit({"spec": document}, who, None))[0] if submit else document

    async def change(self, ref: str, who: Principal, **fields: Any) -> dict[str, Any]:
        job = await self.resolve(ref, who)
        if "duration_s" in fields:
            job = self.put(replace(job, policy=replace(job.policy, duration_s=fields["duration_s"])))
        return self._view(job)

    async def release(self, ref: str, who: Principal) -> dict[str, Any]:
        await self.resolve(ref, who)
        raise Conflict("The job is not held for debugging")

    async def cluster(self, who: Principal) -> dict[str, Any]:
        return {"nodes": [], "pools": [], "queue": {"waiting": 0, "running": 0}, "sandbox": {}, "engine": "double"}

    async def models(self, who: Principal, q: str) -> dict[str, Any]:
        return {"items": [], "next_cursor": None}

    async def model(self, ref: str, who: Principal) -> dict[str, Any]:
        raise NotFound(f"There is no model {ref}")

    async def ready(self) -> dict[str, Any]:
        return {"ok": self.well, "checks": {"ledger": "ok" if self.well else "The disk is full"}}

    def stats(self) -> dict[str, Any]:
        return {"queued": 1, "active": 2, "finished": {"succeeded": 3}, "commits": 4, "events": 5, "listeners": 0, "nodes": 1,
                "gpus": 8, "gpus_held": 4, "uptime_s": 1.5}  # fmt: skip
