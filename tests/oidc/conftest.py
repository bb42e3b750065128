"""The API on a small platform that has a sign-in provider."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_double import Double
from tests.oidc.provided import SECRET, Certified, Liar
from trainmaster.api.app import create_app
from trainmaster.core.config import OidcConfig, SignInConfig

BASE = "http://127.0.0.1:8470"
PAGE = f"{BASE}/sign-in"
Serving = Callable[..., Any]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certified]:
    made = Certified(tmp_path_factory.mktemp("provider"), [PAGE])
    yield made
    made.close()


@pytest.fixture
def liar() -> Iterator[Liar]:
    with Liar() as made:
        yield made


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Make the platform with a provider, and a browser's client of it with nobody signed in."""
    monkeypatch.setenv("OIDC_SECRET", SECRET)

    @asynccontextmanager
    async def make(issuer: str, password: bool = True, **settings: Any) -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
        oidc = OidcConfig(issuer=issuer, client_id="trainmaster", client_secret_env="OIDC_SECRET", **settings)
        platform = Double(tmp_path, sign_in=SignInConfig(password, oidc))
        await platform.start()
        transport = httpx.ASGITransport(create_app(platform))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=f"{BASE}/api/v1", headers={"origin": BASE}) as http:
            yield platform, http
        await platform.close()

    return make
