"""Whatever goes wrong is one problem document: every problem at once, no traceback (issue, "what bad input gets")."""

import logging
from typing import Any

import httpx
import pytest

from trainmaster.core.errors import StorageFailed


def check(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    document: dict[str, Any] = answer.json()
    assert (answer.status_code, document["kind"]) == (status, kind), document
    assert answer.headers["content-type"] == "application/problem+json"
    assert document["status"] == status
    assert document["type"] == f"urn:trainmaster:{document['code']}"
    assert document["title"]
    assert "Traceback" not in answer.text
    return document


async def test_a_body_that_is_no_json(local: httpx.AsyncClient) -> None:
    for path in ("/api/v1/jobs", "/api/v1/jobs/batch", "/api/v1/jobs/preview", "/api/v1/jobs/stop"):
        for body in (b"{", b"", b"\xff\xfe", b"[" * 40_000):
            answer = await local.post(path, content=body, headers={"content-type": "application/json"})
            check(answer, 422, "invalid_request")


async def test_a_body_of_another_shape_names_every_problem(local: httpx.AsyncClient) -> None:
    document = check(
        await local.post("/api/v1/tokens", json={"name": "", "expires_in_s": -1, "x": 1}), 422, "invalid_request"
    )
    assert {problem["path"] for problem in document["problems"]} == {"name", "expires_in_s", "x"}
    assert all(problem["rule"] and problem["remedy"] for problem in document["problems"])


async def test_a_query_of_another_shape_names_every_problem(local: httpx.AsyncClient) -> None:
    document = check(await local.get("/api/v1/jobs?limit=0&state=happy&sate=queued"), 422, "invalid_request")
    assert {problem["path"] for problem in document["problems"]} == {"query.limit", "query.state.0", "query.sate"}


async def test_a_refused_job_comes_with_its_problems(local: httpx.AsyncClient) -> None:
    document = check(await local.post("/api/v1/jobs", json={"spec": {}}), 422, "invalid_spec")
    assert document["problems"][0]["path"] == "name"


async def test_nothing_at_this_address(local: httpx.AsyncClient) -> None:
    check(await local.get("/api/v1/nothing"), 404, "not_found")
    check(await local.get("/api/v2/jobs"), 404, "not_found")
    check(await local.get("/api/v1/jobs/t9999"), 404, "not_found")
    answer = await local.put("/api/v1/jobs", json={})
    check(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["allow"]


async def test_what_cannot_be_stored(platform: Any, local: httpx.AsyncClient) -> None:
    platform.boom = StorageFailed("The disk is full", remedy="Free space.")
    check(await local.post("/api/v1/jobs", json={"spec": {"name": "a"}}), 507, "storage_failed")


async def test_what_nobody_foresaw_gets_an_id_and_is_logged(
    app: Any, platform: Any, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    platform.boom = ZeroDivisionError("secret detail")
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)  # nothing may reach the server program either
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers={"authorization": f"Bearer {token}"}
    ) as http:
        with caplog.at_level(logging.ERROR, "trainmaster.api"):
            document = check(await http.post("/api/v1/jobs", json={"spec": {"name": "a"}}), 500, "internal")
    mark = document["title"].rpartition("id ")[2].rstrip(")")
    assert "secret detail" not in str(document)
    assert mark in caplog.text
    assert "ZeroDivisionError: secret detail" in caplog.text


async def test_a_body_larger_than_agreed_is_not_read(local: httpx.AsyncClient) -> None:
    read = 0

    async def endless() -> Any:
        nonlocal read
        while True:
            read += 65536
            yield b" " * 65536

    answer = await local.post("/api/v1/jobs", content=endless(), headers={"content-type": "application/json"})
    check(answer, 413, "too_large")
    assert read <= 5 * 2**20
    announced = await local.post("/api/v1/jobs", content=b"{}", headers={"content-length": str(2**40)})
    check(announced, 413, "too_large")


async def test_the_same_key_gives_the_same_job(local: httpx.AsyncClient) -> None:
    """B4 over HTTP: 201, then 200 with the same job, then 409 for another body."""
    key = {"idempotency-key": "k1"}
    first = await local.post("/api/v1/jobs", json={"spec": {"name": "a"}}, headers=key)
    again = await local.post("/api/v1/jobs", json={"spec": {"name": "a"}}, headers=key)
    other = await local.post("/api/v1/jobs", json={"spec": {"name": "b"}}, headers=key)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    check(other, 409, "conflict")


async def test_a_dry_run_makes_no_job(platform: Any, local: httpx.AsyncClient) -> None:
    """B8: the same request with dry_run answers a preview."""
    answer = await local.post("/api/v1/jobs", json={"spec": {"name": "a"}, "dry_run": True})
    assert answer.status_code == 200
    assert answer.json()["ok"] is True
    assert platform.jobs_ == {}


async def test_a_refusal_is_in_the_language_of_its_reader(http: httpx.AsyncClient) -> None:
    """From the gate and from the use case; programs, which ask for no language, get English."""
    for accept, language, title in (
        ("", "en", "You are not signed in"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh", "您没有登录"),
        ("en,zh;q=0.5", "en", "You are not signed in"),
    ):
        answer = await http.get("/api/v1/jobs", headers={"accept-language": accept})
        assert (answer.json()["title"], answer.headers["content-language"]) == (title, language)
        assert answer.headers["vary"] == "Accept-Language"
