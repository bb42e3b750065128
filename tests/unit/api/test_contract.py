"""The published contract: it is whole, and real answers keep to it. Generated requests may be refused, never crash the
server.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_contract import fire, shape_errors
from trainmaster.access.roles import Principal
from trainmaster.api.openapi import answer_schemas, contract, taken_schemas
from trainmaster.api.policy import PolicyRoute
from trainmaster.core.records import Node
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken

ROOT = Path(__file__).parents[3]
NO_PREFIX = {"/healthz", "/readyz", "/metrics"}


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


def test_the_reference_has_every_address_and_shape(app: Any) -> None:
    """The pages that docs/ext makes from the contract leave nothing out, whatever noun a route belongs to."""
    spec = importlib.util.spec_from_file_location("contract_text", ROOT / "docs/ext/contract_text.py")
    assert spec is not None
    assert spec.loader is not None
    text = sys.modules["contract_text"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(text)
    document = contract(app.app)
    found = text.operations(document)
    assert {
        (one.method, text.PREFIX * (one.path not in NO_PREFIX) + one.path) for ops in found.values() for one in ops
    } == {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert {shape.name for shape in text.shapes(document)} == document["components"]["schemas"].keys()
    jobs = next(one for one in found["Jobs"] if (one.method, one.path) == ("POST", "/jobs"))
    assert (jobs.scope, jobs.takes, jobs.answers) == (
        "jobs:write",
        "Submission",
        (("201", "Job"), ("200", "JobOrPreview")),
    )


def test_what_routes_take_hides_no_shape(app: Any) -> None:
    """A body of a route and a shape of the same name would be one in the contract."""
    bodies = {
        name
        for route in app.app.router.routes
        if isinstance(route, PolicyRoute)
        for parameter in route.checked().dependant.body_params
        for name in re.findall(r"\w+", str(parameter.field_info.annotation))
    }
    assert "Drain" in bodies
    assert not bodies & {*answer_schemas(), *taken_schemas()}


async def test_everybody_may_read_the_contract(http: httpx.AsyncClient) -> None:
    answer = await http.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")


async def test_real_answers_have_the_published_shapes(app: Any, local: httpx.AsyncClient, platform: Any) -> None:
    """R200's columns and the published shapes, held against what is really sent."""
    made = (await local.post("/api/v1/jobs", json={"spec": {"name": "a"}})).json()
    platform.run(made["id"])
    one = f"/api/v1/jobs/{made['id']}"
    for path, shape in {
        "/api/v1/session": "Session",
        "/api/v1/jobs": "JobPage",
        one: "JobDetail",
        one + "/events": "Events",
        one + "/files": "Files",
        one + "/explain": "Explanation",
        one + "/usage": "Usage",
        one + "/metrics": "Metrics",
        "/api/v1/cluster": "Cluster",
        one + "/attempts/last/tasks/task0-0/log": "LogWindow",
        one + "/attempts/1/tasks/task0-0/log/search?q=x": "LogHits",
        "/api/v1/meta": "Meta",
        "/api/v1/models": "ModelPage",
        "/api/v1/tokens": "Tokens",
        "/api/v1/audit": "AuditPage",
        "/api/v1/retention": "Retention",
        "/healthz": "Alive",
        "/readyz": "Ready",
        "/api/v1/nothing": "Problem",
        one + "/attempts/2/tasks/task0-0/log": "Problem",
        one + "?x=1": "JobDetail",
    }.items():
        errors = shape_errors(app, shape, await local.get(path))
        assert not errors, errors


async def test_pools_and_the_queue_have_the_published_shapes(app: Any, local: httpx.AsyncClient, platform: Any) -> None:
    platform.machines(
        Node(
            "node-1",
            "127.0.0.2",
            8.0,
            4096,
            ("A100", "A100.s2", "A100.s2"),
            card_slots=((0, 0), (1, 0), (1, 1)),
            driver="535.1",
        )
    )
    for path, body, shape in (
        (
            "/workspaces/vision",
            {"weight": 2, "quotas": {"default": {"gpu": {"nominal": 2, "cap": 3}}}, "urgent_per_user": 1},
            "Workspace",
        ),
        ("/pools/lab", {"kind": "dedicated", "workspaces": ["vision"]}, "ResourcePool"),
        ("/virtual-clusters/vc", {"share": {"gpu:A100": {"nominal": 1}}}, "VirtualCluster"),
        ("/workspaces/default/flavors/one", {"gpu": 1, "gpu_type": "A100", "gpu_share": 0.5}, "Flavor"),
        ("/queue/policy", {"values": {}}, "Policy"),
        ("/cluster/privacy", {"owners_told": False}, "Privacy"),
    ):
        answer = await local.put("/api/v1" + path, json=body)
        assert answer.status_code == 200, answer.text
        assert not shape_errors(app, shape, answer)
    made = (await local.post("/api/v1/jobs", json={"spec": {"name": "a"}})).json()
    waiting = await local.get("/api/v1/queue")
    assert (waiting.json()["total"], waiting.json()["items"][0]["job"]) == (1, made["id"])
    platform.run(made["id"])
    for path, shape in {
        "/pools": "ResourcePools",
        "/virtual-clusters": "VirtualClusters",
        "/workspaces": "Workspaces",
        "/flavors": "Flavors",
        "/engines": "Engines",
        "/nodes": "NodePage",
        "/nodes/node-1": "NodeDetail",
        "/cluster/resources?flavors=one": "ClusterResources",
        "/cluster/resources": "ClusterResources",
        "/queue": "QueuePage",
        "/queue/timeline": "Timeline",
        "/queue/policy": "Policy",
        "/cluster/privacy": "Privacy",
        "/queue/history": "History",
        "/nodes/none": "Problem",
        "/pools?workspace=vision": "ResourcePools",
    }.items():
        answer = waiting if path == "/queue" else await local.get("/api/v1" + path)
        assert not shape_errors(app, shape, answer)
    for verb in ("cordon", "drain", "uncordon"):
        assert not shape_errors(app, "NodeDetail", await local.post(f"/api/v1/nodes/node-1/{verb}"))
    asked = {"spec": {"name": "a", "command": "true", "flavors": ["one"]}}
    answer = await local.post("/api/v1/queue/would-start", json=asked)
    assert not shape_errors(app, "WouldStart", answer)
    assert answer.json()["when"] == "now"
    answer = await local.post("/api/v1/queue/would-start", json={**asked, "instead_of": made["id"]})
    assert answer.status_code == 422, "it has started meanwhile"
    assert not shape_errors(app, "Problem", answer)
    answer = await local.post(
        "/api/v1/queue/policy/simulate",
        json={
            "values": {"backfill": "none"},
            "virtual_clusters": {"vc": {"share": {"gpu": {"nominal": 2}}}},
            "workspaces": {"vision": {"weight": 3, "quotas": {"default": {"gpu": {"nominal": 1, "cap": 2}}}}},
        },
    )
    assert not shape_errors(app, "PolicyEffect", answer)
    assert (await local.delete("/api/v1/pools/lab")).status_code == 204


@pytest.mark.timeout(600)  # most of it makes the requests: more than three minutes on a busy machine
async def test_no_request_crashes_the_server(app: Any, platform: Any) -> None:
    """Whatever is sent, the answer is never a 5xx, and what is refused is refused by a problem document."""
    made = (await platform.submit({"spec": {"name": "a"}}, Principal("admin", "admin"), None))[0]
    platform.run(made.id)
    real = {"ref": made.id, "number": "last", "task": "task0-0"}
    assert await fire(app, platform, real) > 300


@pytest.mark.timeout(600)
async def test_no_request_of_a_member_crashes_the_server(app: Any, platform: Any) -> None:
    """Who may less is refused as the contract promises: of their own job, and of another's, which is not there."""
    admin = Principal("admin", "admin")
    await platform.accounts.add(NewPerson("mia", workspace="default"), admin)
    token = (await platform.credentials.create(admin, WantedToken("t", user="mia"))).token
    mia = Principal("mia", memberships=(("default", "member"),))
    for who in (mia, admin):
        made = (await platform.submit({"spec": {"name": "a"}}, who, None))[0]
        real = {"ref": made.id, "number": "last", "task": "task0-0"}
        assert await fire(app, platform, real, examples=3, token=token) > 200
