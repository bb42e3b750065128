"""The published contract: it is whole, and real answers keep to it. Generated requests may be refused, never crash the server."""

import json
from typing import Any

import httpx

from tests.fixtures.api_contract import fire, shape_errors
from trainmaster.access.roles import Principal
from trainmaster.api.openapi import contract


def test_the_contract_is_whole(app: Any) -> None:
    document = contract(app.app)
    text = json.dumps(document)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(document["components"]["schemas"])
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation["summary"], (method, path)
            assert operation["operationId"]
            assert "default" in operation["responses"]
            assert ("x-scope" in operation) == bool(operation["security"]), (method, path)
            declared = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            assert all(f"{{{name}}}" in path for name in declared)
            assert path.count("{") == len(declared), path


async def test_everybody_may_read_the_contract(http: httpx.AsyncClient) -> None:
    answer = await http.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")


async def test_real_answers_have_the_published_shapes(app: Any, local: httpx.AsyncClient, platform: Any) -> None:
    """R200's columns and api.md's shapes, held against what is really sent."""
    made = (await local.post("/api/v1/jobs", json={"spec": {"name": "a"}})).json()
    platform.run(made["id"])
    one = f"/api/v1/jobs/{made['id']}"
    for path, shape in {
        "/api/v1/session": "Session", "/api/v1/jobs": "JobPage", one: "JobDetail", one + "/events": "Events", one + "/files": "Files",
        one + "/explain": "Explanation", one + "/usage": "Usage", one + "/metrics": "Metrics", "/api/v1/cluster": "Cluster",
        one + "/attempts/last/tasks/task0-0/log": "LogWindow", one + "/attempts/1/tasks/task0-0/log/search?q=x": "LogHits",
        "/api/v1/meta": "Meta", "/api/v1/models": "ModelPage", "/api/v1/tokens": "Tokens", "/healthz": "Alive", "/readyz": "Ready",
        "/api/v1/nothing": "Problem", one + "/attempts/2/tasks/task0-0/log": "Problem", one + "?x=1": "JobDetail",
    }.items():  # fmt: skip
        errors = shape_errors(app, shape, await local.get(path))
        assert not errors, errors


async def test_no_request_crashes_the_server(app: Any, platform: Any) -> None:
    """Whatever is sent, the answer is never a 5xx, and what is refused is refused by a problem document."""
    made = (await platform.submit({"spec": {"name": "a"}}, Principal("admin", "admin"), None))[0]
    platform.run(made["id"])
    real = {"ref": made["id"], "number": "last", "task": "task0-0"}
    assert await fire(app, platform, real) > 300
