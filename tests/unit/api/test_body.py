"""What a body may be at any door: JSON in UTF-8, every key once, no lone surrogates, of a bounded size (R91, B8)."""

import json
import sys
from typing import Any

import httpx
import pytest

from tests.unit.api.test_policy import address, doors
from tests.unit.api.test_problems import check
from trainmaster.api.body import MOST_DEPTH, decode
from trainmaster.api.openapi import contract
from trainmaster.api.problems import InvalidRequest
from trainmaster.api.written import encode
from trainmaster.core.errors import TooLarge

JSON = {"content-type": "application/json"}
BROKEN = {
    "a lone surrogate": rb'{"username": "\ud800", "password": "\udfff", "reason": "\ud800x", "name": "\ud83d"}',
    "a surrogate as bytes": b'{"username": "\xed\xa0\x80", "password": "x"}',
    "bad UTF-8": b'{"username": "\xff\xfe", "password": "x"}',
    "bad UTF-8 in a key": b'{"\xff": 1}',
    "a surrogate in a key": rb'{"\ud800": 1}',
    "a key twice": b'{"username": "admin", "password": "x", "username": "guest"}',
    "a key twice, deep inside": b'{"spec": {"roles": [{"env": {"A": "1", "A": "2"}}]}}',
    "a key twice, spelt apart": rb'{"a": 1, "\u0061": 2, "b": "\u003a"}',
    "not a number": b'{"weight": NaN}',
    "too large a number": b'{"weight": 1e999}',
    "nested deep": b'{"a":' * 100 + b"1" + b"}" * 100,
    "nested deeper": b"[" * 3_000,
}


@pytest.mark.parametrize("broken", BROKEN)
async def test_no_door_takes_a_broken_body(app: Any, local: httpx.AsyncClient, broken: str) -> None:
    """Signed in or not, at each door that takes one; nothing is decided by which of two keys came last."""
    for method, path, policy in doors(app):
        if method == "GET" or path.endswith("/uploads"):
            continue
        answer = await local.request(method, address(path), content=BROKEN[broken], headers=JSON)
        assert answer.status_code < 500, (method, path, answer.text)
        takes = "requestBody" in contract(app.app)["paths"][path][method.lower()]
        if takes and (policy.scope is None or path.endswith(("/jobs", "/preview"))):
            check(answer, 422, "invalid_request")


async def test_a_broken_sign_in_is_refused_before_anybody_is_known(http: httpx.AsyncClient) -> None:
    for broken, body in BROKEN.items():
        answer = await http.post("/api/v1/session", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["kind"]) == (422, "invalid_request"), broken


async def test_the_key_given_twice_is_named(local: httpx.AsyncClient) -> None:
    answer = await local.post("/api/v1/jobs", content=b'{"spec": {"name": "a", "name": "b"}}', headers=JSON)
    (problem,) = check(answer, 422, "invalid_request")["problems"]
    assert (problem["path"], problem["code"], problem["remedy"]) == ("name", "given_twice", "Keep one of them.")


async def test_broken_addresses_and_headers_crash_nothing(app: Any, local: httpx.AsyncClient) -> None:
    odd = b"\xff\xfe \xed\xa0\x80"
    for path in ("/api/v1/jobs/%ff%fe", "/api/v1/jobs?q=%ed%a0%80", "/api/v1/models/%ed%a0%80", "/%ff", "/api/v1/%c3"):
        document = check(await local.get(path), 400, "bad_request")
        assert document["title"] == "The address is not UTF-8", path
    assert (await local.get("/api/v1/jobs?q=%ef%bf%bd")).status_code == 200  # a character like any other
    for name in ("accept-language", "idempotency-key", "cookie", "if-none-match", "last-event-id", "x-session-key"):
        headers = [*JSON.items(), (name, odd)]
        body = b'{"spec": {"name": "a"}}'
        answer = await local.post("/api/v1/jobs", content=body, headers=headers)  # type: ignore[arg-type]
        assert answer.status_code < 500, name
    local.headers["authorization"] = "Bearer \xff"
    assert (await local.get("/api/v1/jobs")).status_code == 401


@pytest.mark.parametrize("second", ["127.0.0.1:8470", "evil.example"])
async def test_two_hosts_are_none(http: httpx.AsyncClient, second: str) -> None:
    """Before anything is decided by either: a proxy in front may have read the other one (RFC 9112, 3.2)."""
    hosts = [("host", "127.0.0.1:8470"), ("host", second)]
    for path in ("/", "/healthz", "/api/v1/jobs"):
        document = check(await http.get(path, headers=hosts), 400, "bad_request")
        assert document["title"] == "The request has more than one Host header"


def test_what_is_read_is_what_was_written() -> None:
    for text in (
        '{"a": {"b": [1, 2.5, null, true, "x:y"]}, "c": "\\u003a\\n", "d": {}}',
        "[]",
        '"\\ud83d\\ude00"',
        "1e5",
        "7",
    ):
        assert decode(text.encode()) == json.loads(text)
    assert decode(b'[{"a": 1}, {"a": 2}]') == [{"a": 1}, {"a": 2}]


def test_how_much_a_body_holds_is_known_before_it_is_built() -> None:
    with pytest.raises(TooLarge, match="more than 1,000 values"):
        decode(b"[" + b"[]," * 1000 + b"1", 1000)  # not even JSON: nobody came to see that
    assert len(decode(b"[" + b"1," * 998 + b"1]", 1000)) == 999
    assert decode(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH) is not None
    with pytest.raises(InvalidRequest) as refused:
        decode(b'{"a":' * MOST_DEPTH + b"[]" + b"}" * MOST_DEPTH)
    assert refused.value.problems[0].code == "nested_deeper_than"


@pytest.mark.parametrize("inside", ["[%s]", '{"a":%s}'])
def test_no_depth_is_one_too_many_for_the_reader_itself(inside: str) -> None:
    """Around Python's own limit each of the readers gives up at a depth of its own, and a colon takes all of them."""
    begin, _, end = inside.partition("%s")
    for depth in range(MOST_DEPTH + 1, sys.getrecursionlimit() + 100):
        with pytest.raises(InvalidRequest):
            decode(f'{begin * depth}"\\u003a"{end * depth}'.encode())


def test_what_is_no_unicode_can_be_written_all_the_same() -> None:
    odd = b"model-\xff.pt".decode("utf-8", "surrogateescape")
    assert json.loads(encode({"items": [{odd: odd}], "at": float("nan")})) == {
        "items": [{"model-?.pt": "model-?.pt"}],
        "at": None,
    }
