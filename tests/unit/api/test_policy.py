"""Every door has a lock, proven from the router table itself (issue item 11): nobody gets in without a credential, with
a cookie alone, through a foreign name or from a foreign site. A new route is walked without touching this file."""

import re
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from trainmaster.access.scopes import SCOPES
from trainmaster.api.app import TABLES, create_app
from trainmaster.api.policy import PolicySocket, RoutePolicy, Table, check_policies, policy_of

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("POST", "/api/v1/session"),
    ("GET", "/api/v1/session/ways"),
    ("POST", "/api/v1/session/provider"),
    ("POST", "/api/v1/session/provider/back"),
    ("POST", "/api/v1/invitations/look"),
    ("POST", "/api/v1/invitations/accept"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/{path:path}"),
}
"""What everybody may call. Adding one is a decision: it is made here, too."""


def doors(app: Any) -> list[tuple[str, str, RoutePolicy]]:
    routes = app.app.router.routes
    return [(method, route.path, policy_of(route)) for route in routes for method in getattr(route, "methods", ())]


def address(path: str) -> str:
    return re.sub(r"{\w+(:\w+)?}", "1", path)


def test_the_public_doors_are_exactly_these(app: Any) -> None:
    assert {(method, path) for method, path, policy in doors(app) if policy.scope is None} == PUBLIC


def test_every_other_door_has_a_known_scope(app: Any) -> None:
    assert len(doors(app)) > 40
    assert all(policy.scope in SCOPES for _, _, policy in doors(app) if policy.scope is not None)


def test_an_express_door_is_the_one_of_the_table(app: Any) -> None:
    """What is reached without the router is the very application, gate included, that the router would have found."""
    table = {
        (method, route.path): route.app for route in app.app.router.routes for method in getattr(route, "methods", ())
    }
    assert ("POST", "/api/v1/jobs") in app.express
    assert all(table[address] is door for address, door in app.express.items())


async def test_without_a_credential_every_door_is_shut(app: Any, http: httpx.AsyncClient) -> None:
    for method, path, policy in doors(app):
        if policy.scope is not None:
            answer = await http.request(method, address(path))
            assert answer.status_code == 401, (method, path)
            assert answer.json()["kind"] == "unauthenticated"
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("credential", ["Bearer tm_wrong", "Bearer", "Basic YWRtaW46YWRtaW4=", "Bearer \xe4"])
async def test_a_wrong_credential_opens_nothing(app: Any, http: httpx.AsyncClient, credential: str) -> None:
    for method, path, policy in doors(app):
        if policy.scope is not None:
            answer = await http.request(method, address(path), headers={b"authorization": credential.encode("latin-1")})
            assert answer.status_code == 401, (method, path)


async def test_a_cookie_alone_opens_nothing(app: Any, browser: httpx.AsyncClient) -> None:
    """A browser gives cookies to every port of a host, and so to jobs that listen there; the key it gives to nobody."""
    del browser.headers["x-session-key"]
    for wrong in (b"", b"0" * 43, b"\xe4", browser.cookies["tm_session"].encode()):
        for method, path, policy in doors(app):
            if policy.scope is not None:
                for extra in ("", "?ticket=" + "0" * 43):
                    answer = await browser.request(method, address(path) + extra, headers={b"x-session-key": wrong})
                    assert answer.status_code == 401, (method, path, extra)


async def test_a_foreign_host_reaches_nothing(app: Any, local: httpx.AsyncClient) -> None:
    for host in (
        "evil.example",
        "evil.example:8470",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8470",
        "192.0.2.7",
    ):
        for method, path, _ in doors(app):
            answer = await local.request(method, address(path), headers={"host": host})
            assert answer.status_code == 421, (method, path, host)


async def test_a_foreign_origin_reaches_nothing(app: Any, local: httpx.AsyncClient) -> None:
    for origin in ("http://evil.example", "https://127.0.0.1:9999", "null", "http://127.0.0.1:8470.evil.example", ""):
        for method, path, _ in doors(app):
            answer = await local.request(method, address(path), headers={"origin": origin})
            assert answer.status_code == 403, (method, path, origin)


async def test_our_own_host_and_origin_are_welcome(local: httpx.AsyncClient) -> None:
    for name in ("127.0.0.1:8470", "localhost:8470", "[::1]:8470", "LocalHost"):
        headers = {"host": name, "origin": f"http://{name}"}
        assert (await local.get("/api/v1/session", headers=headers)).status_code == 200, name


async def test_a_one_time_password_opens_only_its_own_replacement(
    app: Any, platform: Any, http: httpx.AsyncClient
) -> None:
    body = {"username": "admin", "password": platform.people.one_time_password}
    http.headers["x-session-key"] = (await http.post("/api/v1/session", json=body)).json()["key"]
    for method, path, policy in doors(app):
        if policy.scope is not None and policy.scope != "account:self":
            answer = await http.request(method, address(path))
            assert answer.status_code == 403, (method, path)


def test_a_route_without_a_policy_stops_the_start(platform: Any) -> None:
    inner = create_app(platform).app
    inner.router.routes.append(Route("/open", lambda request: None))
    with pytest.raises(TypeError, match="/open has no policy"):
        check_policies(inner.router.routes)


def test_a_misspelt_scope_stops_the_start() -> None:
    with pytest.raises(ValueError, match="jobs:raed"):
        Table("x").route("GET", "/x", scope="jobs:raed", answers={200: ""})


async def test_sockets_have_the_same_lock(platform: Any) -> None:
    """Every socket there is, and one more, is shut by the same gate."""
    extra = Table("x")

    @extra.socket("/echo", scope="jobs:read")
    async def echo(socket: Any) -> None:
        raise AssertionError("reached without a credential")

    tables = (*TABLES, extra)
    app = create_app(platform, tables)
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    password = platform.people.one_time_password
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8470") as browser:
        signed = await browser.post("/api/v1/session", json={"username": "admin", "password": password})
        browser.headers["x-session-key"] = signed.json()["key"]
        body = {"old": password, "new": "correct horse battery"}
        assert (await browser.post("/api/v1/session/password", json=body)).status_code == 204
        cookie = (b"cookie", f"tm_session={browser.cookies['tm_session']}".encode())
    foreign = (b"origin", b"http://evil.example")
    sockets = [address(route.path) for route in app.app.router.routes if isinstance(route, PolicySocket)]
    assert len(sockets) >= 2
    for path in sockets:
        for headers in ([], [foreign], [(b"authorization", b"Bearer tm_wrong")], [cookie], [cookie, foreign]):
            scope = {
                "type": "websocket",
                "path": path,
                "headers": [(b"host", b"127.0.0.1"), *headers],
                "query_string": b"",
                "scheme": "ws",
                "subprotocols": [],
                "client": ("::1", 1),
                "server": ("127.0.0.1", 8470),
                "root_path": "",
            }
            await app(scope, receive, send)
            assert [message["type"] for message in sent] == ["websocket.close"], (path, headers)
            sent.clear()
