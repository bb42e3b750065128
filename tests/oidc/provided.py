"""Two providers: the certified one in a process of its own, and one that says whatever a test wants."""

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry

import hatch_build
from tests.fixtures.ports import free_ports

HERE: Final = Path(__file__).parent
SECRET: Final = "the-secret-of-the-client"
READY_S: Final = 60.0


class Certified:
    """`oidc-provider` from npm. `people`: subject -> claims; any of them may sign in with any password."""

    def __init__(self, folder: Path, redirects: list[str]) -> None:
        self._file = folder / "people.json"
        self.people({})
        port = free_ports(1, 17_000, 18_000)
        self.issuer = f"http://127.0.0.1:{port}"
        node = Path(str(hatch_build.node_directory())) / "node"
        told = {"PORT": str(port), "PEOPLE": str(self._file), "SECRET": SECRET, "REDIRECTS": " ".join(redirects)}
        self._process = subprocess.Popen(
            [str(node), "provider.mjs"],
            cwd=HERE,
            env={**os.environ, **told},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        limit = time.monotonic() + READY_S
        while not self._ready():
            assert self._process.poll() is None, "the provider ended: run npm install in tests/oidc"
            assert time.monotonic() < limit, "the provider did not become ready"
            time.sleep(0.05)  # another process: nothing tells

    def _ready(self) -> bool:
        try:
            answer = httpx.get(f"{self.issuer}/.well-known/openid-configuration", trust_env=False)
        except httpx.HTTPError:
            return False
        return answer.status_code == 200

    def people(self, people: dict[str, dict[str, Any]]) -> None:
        """Say who is who from now on."""
        self._file.write_text(json.dumps(people))

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def signs_in(self, address: str, subject: str) -> dict[str, str]:
        """Do what somebody's browser does at the provider; return with what it is sent back."""
        with httpx.Client(trust_env=False, timeout=30) as browser:
            answer = browser.get(address)
            for _ in range(12):
                if answer.is_redirect:
                    there = answer.headers["location"]
                    if not there.startswith((self.issuer, "/")):
                        return {key: values[0] for key, values in parse_qs(urlsplit(there).query).items()}
                    answer = browser.get(httpx.URL(self.issuer).join(there))
                    continue
                action = re.search(r'action="([^"]+)"', answer.text)
                prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)
                assert action is not None, answer.text
                assert prompt is not None, answer.text
                form = {"prompt": prompt[1], "login": subject, "password": "any"}
                answer = browser.post(httpx.URL(self.issuer).join(action[1]), data=form)
        raise AssertionError("the provider never sent the browser back")


class Liar:
    """A provider that says what a test wants: `configuration`, `keys`, `tokens` and `told` are answered as they are."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}, private=True)
        self.asked: list[str] = []
        self.tokens: Any = {}
        self.told: Any = {}
        self.status = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.configuration: Any = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/me",
            "jwks_uri": f"{self.issuer}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }
        self.keys: Any = {"keys": [self.key.as_dict(private=False)]}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def proof(self, claims: dict[str, Any], key: Any = None, **header: Any) -> str:
        """Return a signed ID token."""
        head = {"alg": "RS256", "kid": "one", **header}
        registry = JWSRegistry(algorithms=[head["alg"]])
        return jwt.encode(head, claims, key or self.key, registry=registry)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answers: dict[str, Callable[[], Any]] = {
                    "/.well-known/openid-configuration": lambda: liar.configuration,
                    "/keys": lambda: liar.keys,
                    "/me": lambda: liar.told,
                    "/token": lambda: liar.tokens,
                }
                liar.asked.append(self.path)
                self.rfile.read(int(self.headers.get("content-length") or 0))
                found = answers[self.path]()
                body = found if isinstance(found, bytes) else json.dumps(found).encode()
                self.send_response(liar.status if self.path == "/token" else 200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the name that the library asks for

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
