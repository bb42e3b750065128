"""The application over the double, reached in process: no port, no second thread."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_double import Double
from trainmaster.api.app import create_app


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Any]:
    made = Double(tmp_path)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
def app(platform: Any) -> Any:
    return create_app(platform)


@pytest.fixture
async def http(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Nobody signed in."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8470") as client:
        yield client


@pytest.fixture
def token(platform: Any) -> str:
    """The local token."""
    return Path(platform.layout.cli_token).read_text().strip()


@pytest.fixture
async def local(http: httpx.AsyncClient, token: str) -> httpx.AsyncClient:
    """Signed in by the local token."""
    http.headers["authorization"] = f"Bearer {token}"
    return http


@pytest.fixture
async def browser(http: httpx.AsyncClient, platform: Any) -> httpx.AsyncClient:
    """Signed in by a cookie, with the one-time password replaced; sends the session's key."""
    password = platform.people.one_time_password
    signed = (await http.post("/api/v1/session", json={"username": "admin", "password": password})).json()
    http.headers["x-session-key"] = signed["key"]
    changed = await http.post("/api/v1/session/password", json={"old": password, "new": "correct horse battery"})
    assert changed.status_code == 204, changed.text
    return http
