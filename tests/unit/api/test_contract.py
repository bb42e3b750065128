"""The published contract: it is whole, and real answers keep to it. Generated requests may be refused, never crash the server."""

import asyncio
import json
from typing import Any

import httpx
import jsonschema_rs
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.errors import SchemathesisError

from trainmaster.access.roles import Principal
from trainmaster.api.openapi import contract
from trainmaster.api.problems import MEDIA_TYPE as PROBLEM_TYPE


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
    document = contract(app.app)
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
        answer = await local.get(path)
        schema = {"$ref": f"#/components/schemas/{shape}", "components": document["components"]}
        errors = [
            f"{path}: {error.message}" for error in jsonschema_rs.validator_for(schema).iter_errors(answer.json())
        ]
        assert not errors, errors


SKIPPED = ("/api/v1/feed", "/api/v1/uploads")
"""Endless by nature, or bytes that no schema describes: tested by hand (test_live, test_uploads), as is following a log."""


def generated(app: Any, examples: int) -> list[Any]:
    """Return requests of every operation, well and ill formed, made from the contract."""
    cases: list[Any] = []

    def keep(case: Any) -> None:
        cases.append(case)

    profile = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    for found in schemathesis.openapi.from_dict(contract(app.app)).get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if operation.path in SKIPPED or operation.path.endswith("/follow"):
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                profile(given(strategy)(keep))()
            except (Unsatisfiable, SchemathesisError):
                continue  # nothing about this operation can be wrong
    return cases


async def test_no_request_crashes_the_server(app: Any, platform: Any, token: str) -> None:
    """Whatever is sent, the answer is never a 5xx, and what is refused is refused by a problem document."""
    made = (await platform.submit({"spec": {"name": "a"}}, Principal("admin", "admin"), None))[0]
    platform.run(made["id"])
    real = {"ref": made["id"], "number": "last", "task": "task0-0"}
    cases = await asyncio.to_thread(generated, app, 12)
    assert len(cases) > 300
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8470") as client:
        for position, case in enumerate(cases):
            if position % 2 and case.path_parameters:
                case.path_parameters = {name: real.get(name, value) for name, value in case.path_parameters.items()}
            try:
                given_ = case.as_transport_kwargs(base_url="http://127.0.0.1:8470")
                headers = {**given_.get("headers", {}), "authorization": f"Bearer {token}"}
                sent = {name: given_[name] for name in ("params", "json", "data") if given_.get(name) is not None}
                answer = await client.request(given_["method"], given_["url"], headers=headers, **sent)
            except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
                continue  # not even a request
            assert answer.status_code < 500, (case.method, str(answer.request.url), answer.text)
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == PROBLEM_TYPE, (case.method, str(answer.request.url))
