"""The real platform as clients see it: every answer of a job's life has the published shape, and no request crashes
it.
"""

from typing import Any

import httpx
import pytest

from tests.fixtures.api_contract import fire, shape_errors, signed_in
from tests.scenario.stage import Stage, spec
from trainmaster.api.app import create_app

SHAPES = {
    "": "JobDetail",
    "/events": "Events",
    "/explain": "Explanation",
    "/files": "Files",
    "/files?path=outputs": "Files",
    "/metrics": "Metrics",
    "/spec?dialect=native": "Document",
    "/spec?dialect=pai": "Document",
}
STARTED = {
    "/usage": "Usage",
    "/attempts/last/tasks/task0-0/log": "LogWindow",
    "/attempts/1/tasks/task0-0/log?tail=5": "LogWindow",
    "/attempts/last/tasks/task0-0/log/search?q=a": "LogHits",
}


async def look(app: Any, http: httpx.AsyncClient, job: str, started: bool = True) -> None:
    for path, shape in {**SHAPES, **(STARTED if started else {})}.items():
        answer = await http.get(f"/api/v1/jobs/{job}{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert not shape_errors(app, shape, answer)


async def test_every_answer_of_a_jobs_life_has_its_shape(stage: Stage) -> None:
    """R196-R211 over HTTP: waiting, running, succeeded with a model, failed, stopped; cluster, models and lists beside
    them.
    """
    app = create_app(stage.platform)
    async with signed_in(app, stage.platform) as http:
        long = await stage.submit(spec("long", "echo a; sleep 1000", replicas=4, resources={"gpu": 1}))
        await stage.running(long, "a")
        waiting = await stage.submit(spec("waiting", "true", resources={"gpu": 1}))
        good = await stage.submit(spec("good", "echo a; echo weights > /workspace/outputs/w"))
        bad = await stage.submit(spec("bad", "echo a; exit 3"))
        await stage.ended(good)
        await stage.ended(bad)
        for job in (long, good, bad):
            await look(app, http, job)
        await look(app, http, waiting, started=False)
        refused = await http.get(f"/api/v1/jobs/{waiting}/attempts/last/tasks/task0-0/log")
        assert refused.status_code == 404
        assert "tm explain" in refused.json()["remedy"]
        for path, shape in {"/jobs": "JobPage", "/cluster": "Cluster", "/models": "ModelPage", "/meta": "Meta"}.items():
            assert not shape_errors(app, shape, await http.get("/api/v1" + path))
        [model] = (await http.get("/api/v1/models")).json()["items"]
        assert not shape_errors(app, "ModelDetail", await http.get(f"/api/v1/models/{model['name']}"))
        base = f"/api/v1/models/{model['id']}/versions/1"
        assert (await http.get(base + "/files/content", params={"path": "outputs/w"})).text == "weights\n"
        assert (await http.get(base + "/download")).content[:2] == b"PK"
        for body in (spec("x"), spec("x", resources={"gpu": 1}), spec("x", resources={"gpu": 100}), {"name": "a b"}):
            answer = await http.post("/api/v1/jobs/preview", json={"spec": body})
            assert not shape_errors(app, "Preview", answer)


@pytest.mark.timeout(600)  # as in tests/unit/api/test_contract.py
async def test_no_request_crashes_the_platform(fake: Stage) -> None:
    """The same requests as in the API's own tests, with everything behind them."""
    app = create_app(fake.platform)
    job = await fake.submit({"name": "a", "command": "sleep infinity"})
    await fake.running(job)
    assert await fire(app, fake.platform, {"ref": job, "number": "last", "task": "task0-0"}, examples=5) > 250
