"""A small client of the Docker Engine API over a unix socket, as Docker and Podman both speak it.

It asks for images and their files, and never lets a runtime run anything. What is created is created to be read from,
carries our label, and is removed by it. Blocking; every method raises RuntimeFailed.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, urlencode

from trainmaster._compat import dataclass
from trainmaster.agent.containers.references import Reference, reference_of

LEAST_API: Final = (1, 41)
SILENCE_S: Final = 600.0
"""So long a runtime may say nothing: it unpacks layers meanwhile."""
LABEL: Final = "trainmaster.home"
_LONGEST: Final = 8 << 20


class RuntimeFailed(Exception):
    """A runtime did not do what it was asked; `status` of HTTP, 0: it was not reached, or said so in its stream.

    `slow`: it is there, and did not answer in time.
    """

    def __init__(self, text: str, status: int = 0, *, slow: bool = False) -> None:
        super().__init__(text)
        self.text, self.status, self.slow = " ".join(text.split())[:1000], status, slow


@dataclass(frozen=True, slots=True)
class RuntimeVersion:
    """Which runtime it is, and the version of the API that is spoken with it."""

    name: str
    version: str
    api: str


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("runtime", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket's file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Runtime:
    """The runtime behind one socket. `timeout`: for its answers, in seconds."""

    def __init__(self, path: str, timeout: float = SILENCE_S) -> None:
        self._path, self._timeout = path, timeout
        self._api = ""

    def version(self) -> RuntimeVersion:
        """Return what it is. Raises RuntimeFailed also where it speaks no API that we do."""
        told = self._json("GET", "/version", bare=True)
        newest, oldest = _numbers(told.get("ApiVersion")), _numbers(told.get("MinAPIVersion"))
        if newest < LEAST_API:
            raise RuntimeFailed(f"API {told.get('ApiVersion')} is older than {LEAST_API[0]}.{LEAST_API[1]}")
        self._api = ".".join(map(str, max(LEAST_API, oldest)))
        parts = [str(one.get("Name", "")) for one in told.get("Components") or () if isinstance(one, dict)]
        name = next((one for one in parts if "podman" in one.lower()), "Docker")
        return RuntimeVersion("Podman" if "podman" in name.lower() else "Docker", str(told.get("Version")), self._api)

    # -- images ------------------------------------------------------------------------------------------------

    def pull(self, ref: Reference, auth: Mapping[str, str], told: Callable[[Mapping[str, Any]], None]) -> None:
        """Pull an image; `told` gets what the runtime says on the way. `auth`: of its registry, empty for none."""
        headers = {}
        if auth:
            given = {"serveraddress": ref.registry, **auth}
            headers["X-Registry-Auth"] = base64.urlsafe_b64encode(json.dumps(given).encode()).decode()
        query = urlencode({"fromImage": ref.name, "tag": ref.which})
        with self._answer("POST", f"/images/create?{query}", headers=headers) as answer:
            for line in _lines(answer):
                wrong = line.get("error") or (line.get("errorDetail") or {}).get("message")
                if wrong:
                    raise RuntimeFailed(str(wrong))
                told(line)

    def image(self, ref: Reference) -> dict[str, Any] | None:
        """Return what the runtime says of an image that it has, None where it has none."""
        try:
            found: dict[str, Any] = self._json("GET", f"/images/{_in_path(ref)}/json")
            return found
        except RuntimeFailed as error:
            if error.status == http.client.NOT_FOUND:
                return None
            raise

    def remove_image(self, ref: Reference) -> None:
        """Remove an image, if it is there and nothing needs it."""
        try:
            self._json("DELETE", f"/images/{_in_path(ref)}")
        except RuntimeFailed as error:
            if error.status not in (http.client.NOT_FOUND, http.client.CONFLICT):
                raise

    # -- files of an image -----------------------------------------------------------------------------------------

    def create(self, image: str, label: str) -> str:
        """Return the id of a container of an image that is never started: to read its files from."""
        body = {
            "Image": image,
            "Entrypoint": ["/never"],
            "Cmd": ["started"],
            "User": "0",
            "Labels": {LABEL: label},
            "NetworkDisabled": True,
            "HostConfig": {"NetworkMode": "none"},
        }
        return str(self._json("POST", "/containers/create", body)["Id"])

    @contextmanager
    def files(self, container: str) -> Iterator[http.client.HTTPResponse]:
        """Give all files of a container, as a tar archive."""
        with self._answer("GET", f"/containers/{quote(container, safe='')}/export") as answer:
            yield answer

    def labelled(self, label: str) -> Sequence[str]:
        """Return the ids of containers that carry our label."""
        query = urlencode({"all": "true", "filters": json.dumps({"label": [f"{LABEL}={label}"]})})
        return [str(one["Id"]) for one in self._json("GET", f"/containers/json?{query}")]

    def remove(self, container: str) -> None:
        """Remove a container with what it brought along (volumes that its image asks for)."""
        try:
            self._json("DELETE", f"/containers/{quote(container, safe='')}?force=true&v=true")
        except RuntimeFailed as error:
            if error.status != http.client.NOT_FOUND:
                raise

    # -- inside ------------------------------------------------------------------------------------------------

    def _json(self, method: str, path: str, body: Any = None, *, bare: bool = False) -> Any:
        with self._answer(method, path, body, bare=bare) as answer:
            text = answer.read(_LONGEST)
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            raise RuntimeFailed("an answer that is not JSON", answer.status) from None

    @contextmanager
    def _answer(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, *, bare: bool = False
    ) -> Iterator[http.client.HTTPResponse]:
        if not bare and not self._api:
            self.version()
        connection = _Connection(self._path, self._timeout)
        sent = dict(headers or {})
        text = None if body is None else json.dumps(body)
        if text is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path if bare else f"/v{self._api}{path}", text, sent)
            answer = connection.getresponse()
            if answer.status >= http.client.BAD_REQUEST:
                raise RuntimeFailed(_words(answer.read(1 << 16)), answer.status)
            yield answer
        except socket.timeout as error:
            raise RuntimeFailed(f"nothing was said for {self._timeout:g} s", slow=True) from error
        except (OSError, http.client.HTTPException) as error:
            raise RuntimeFailed(getattr(error, "strerror", None) or str(error) or type(error).__name__) from error
        finally:
            connection.close()


def digests_of(image: Mapping[str, Any], ref: Reference) -> list[str]:
    """Return by which digests an image is known that was pulled as `ref`: one, or several where it was built here, too,
    of which the registry need not have each. Raises RuntimeFailed where it is another than was asked for, or has none.
    """
    found = [reference_of(str(one)) for one in image.get("RepoDigests") or ()]
    digests = [one.digest for one in found if one is not None and one.name == ref.name and one.digest]
    if ref.digest:
        if ref.digest not in digests:
            raise RuntimeFailed(f"{ref.name} came with another digest than {ref.digest}")
        return [ref.digest]
    if not digests:
        raise RuntimeFailed(f"{ref.name} came without a digest")
    return digests


def _in_path(ref: Reference) -> str:
    """Return a reference as it stands in an address: both runtimes are known to take it so from other clients."""
    return quote(ref.text, safe="/:")


def _numbers(text: Any) -> tuple[int, ...]:
    parts = str(text or "0").split(".")
    return tuple(int(one) for one in parts if one.isdigit())


def _words(body: bytes) -> str:
    try:
        told = json.loads(body)
    except ValueError:
        return body.decode(errors="replace") or "no reason given"
    return str(told.get("message") or told.get("cause") or told) if isinstance(told, dict) else str(told)


def _lines(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    while True:
        line = answer.readline(1 << 20)
        if not line:
            return
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            yield told
