"""HTTP to one server: requests, server-sent events, and problem documents back into the errors of core. Synchronous.

It alone needs httpx, whose import takes longer than all the rest: so it is imported by the first Client that is made. A
request that may be repeated without harm is repeated on a broken connection; a submit is one of them because it carries
an idempotency key. Invariant: what fails raises a TrainmasterError with the server's own words, never an httpx error.
"""

import json
import os
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeVar

import httpx
import msgspec

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

from trainmaster._version import __version__
from trainmaster.answers import Json
from trainmaster.core.errors import InvalidSpec, Problem, TrainmasterError, Unavailable, problem_of
from trainmaster.messages.jobs import form, submitting
from trainmaster.messages.said import WORDS, Said
from trainmaster.messages.server import client, ledger
from trainmaster.sdk.lost import Lost

PREFIX: Final = "/api/v1"
PATIENCE_S: Final = 15.0
FIRST_WAIT_S: Final = 0.2
QUIET_S: Final = 45.0
"""A live view sends something every 15 seconds; three times that without a byte means the connection is dead."""

NOTHING_DONE: Final = ledger.nobody_leads().code
PERHAPS_DONE: Final = ledger.leader_ended().code
"""What a server says that stands by: nobody was asked, or whoever was asked was gone before it answered."""

T = TypeVar("T")
_WRAPPERS: Final = ("spec", "set", "document")
"""Fields of bodies that hold a document, or changes of one, by whose own paths people know their fields."""
_REPEATABLE: Final = frozenset({"GET", "HEAD", "DELETE"})


def _errors() -> list[type[TrainmasterError]]:
    """Return the errors that a client knows: not those of a server that is loaded beside it."""
    return [kind for kind in TrainmasterError.__subclasses__() if kind.__module__ == TrainmasterError.__module__]


def error_of(response: httpx.Response) -> TrainmasterError:
    """Return the error a refused response stands for, by the kind in its problem document, else by its status."""
    try:
        document = response.json()
    except ValueError:
        document = None
    errors, status = _errors(), response.status_code
    by_status = next((error for error in errors if error.status == status), TrainmasterError)
    if not isinstance(document, dict):
        return by_status(client.answered_with_status(status, response.reason_phrase))
    code = str(document.get("code") or WORDS)
    by_kind = next((error for error in errors if error.kind == document.get("kind")), None)
    made = by_kind or by_status
    problems = tuple(_problem(item) for item in document.get("problems") or () if isinstance(item, dict))
    args = document.get("args")
    said = Said(code, args if isinstance(args, dict) else {})
    error = made(said, problems=problems, told=(str(document.get("title", "")), str(document.get("remedy", ""))))
    if by_kind is None and code != WORDS:
        error.add_note(f"code {code}, status {status}")
    return error


def _problem(item: Json) -> Problem:
    path, rule, remedy = (str(item.get(name, "")) for name in ("path", "rule", "remedy"))
    return Problem(path, rule, remedy, str(item.get("code", "invalid")), item.get("value"), item.get("args"))


def _not_in_json(value: Any, path: str) -> Iterator[Problem]:
    """Yield the problem of each number in a body that is not finite, where it stands in the document sent. O(size)."""
    if isinstance(value, float) and not isfinite(value):
        yield problem_of(path, form.not_finite())
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _not_in_json(item, str(key) if path in ("", *_WRAPPERS) else f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _not_in_json(item, f"{path}.{at}")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One server-sent event. `id` is what to resume after."""

    event: str
    data: Any
    id: str = ""


class Transport:
    """One server. `http` replaces the connection (tests run the application in their own process)."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        ca: str | None = None,
        language: str | None = None,
        timeout_s: float = 60.0,
        http: httpx.Client | None = None,
    ) -> None:
        headers = {"user-agent": f"trainmaster-sdk/{__version__}"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        if language:
            headers["accept-language"] = language
        self.url = url.rstrip("/")
        address = httpx.URL(self.url)
        # Proxy settings in the environment are for other machines: a server on this one is reached directly.
        local = address.host in ("127.0.0.1", "localhost", "::1")
        self._trust = trusted(ca) if address.scheme == "https" else None
        # Over http no certificate is looked at: one that trusts nobody spares the reading of all that the machine has.
        trust = self._trust or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._http = http or httpx.Client(timeout=timeout_s, trust_env=not local, verify=trust)
        self._http.headers.update(headers)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(self, method: str, path: str, *, repeat: bool | None = None, **options: Any) -> httpx.Response:
        """Return the response to `method /api/v1path`. Raises the TrainmasterError the server answered, or
        Unavailable.
        """
        repeat = method in _REPEATABLE if repeat is None else repeat
        try:
            return self._repeated(lambda: self._send(method, path, options), repeat)
        except ValueError as error:  # JSON has no words for it, so the server would never see it
            if not (found := tuple(_not_in_json(options.get("json"), ""))):
                raise
            raise InvalidSpec(submitting.job_not_valid(len(found)), problems=found) from error

    def json(self, method: str, path: str, **options: Any) -> Any:
        """Return the decoded answer, None for an empty one. Raises like `request`."""
        response = self.request(method, path, **options)
        return response.json() if response.content else None

    def read(self, kind: type[T], method: str, path: str, **options: Any) -> T:
        """Return the answer as a `kind` of `trainmaster.answers`. Raises like `request`, and TrainmasterError when it
        is none.
        """
        response = self.request(method, path, **options)
        try:
            return msgspec.json.decode(response.content, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unknown(error) from error

    def read_as(self, kind: type[T], data: Any) -> T:
        """Return the data of an event as a `kind` of `trainmaster.answers`. Raises TrainmasterError when it is none."""
        try:
            return msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            raise self._unknown(error) from error

    def _unknown(self, error: Exception) -> TrainmasterError:
        return TrainmasterError(client.answer_not_understood(self.url, str(error), __version__))

    def _send(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        response = self._http.request(method, self.url + PREFIX + path, **options)
        if response.status_code >= 400:
            raise error_of(response)
        return response

    def _repeated(self, send: Callable[[], httpx.Response], repeat: bool) -> httpx.Response:
        """Send again while that is harmless: for PATIENCE_S once an answer was lost, or while another server takes
        over, but not to a server that never was there.
        """
        wait, started, sent = FIRST_WAIT_S, time.monotonic(), False
        while True:
            try:
                return send()
            except httpx.TransportError as error:
                sent = sent or not isinstance(error, httpx.ConnectError)
                patience = PATIENCE_S if sent else FIRST_WAIT_S
                late = time.monotonic() - started > patience
                if not repeat or late or refusal_of(self.url, error) is not None:
                    raise self._unreachable(error) from error
            except Unavailable as error:
                again = error.code == NOTHING_DONE or (repeat and error.code == PERHAPS_DONE)
                if not again or time.monotonic() - started > PATIENCE_S:
                    raise
            time.sleep(wait)
            wait = min(2 * wait, 2.0)

    def _unreachable(self, error: Exception) -> Unavailable:
        said = refusal_of(self.url, error)
        return Unavailable(said or client.server_does_not_answer(self.url, _why(error)))

    def download(self, path: str, **options: Any) -> Iterator[bytes]:
        """Yield the answer's bytes as they come. Raises like `request`."""
        try:
            with self._http.stream("GET", self.url + PREFIX + path, **options) as response:
                if response.status_code >= 400:
                    response.read()
                    raise error_of(response)
                yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def socket(self, path: str, params: dict[str, str], protocol: str) -> "ClientConnection":
        """Return an open websocket to `path`. Raises the TrainmasterError the server answered, or Unavailable."""
        # Only who enters a task needs it.
        from websockets.exceptions import InvalidHandshake, InvalidStatus  # noqa: PLC0415
        from websockets.sync.client import connect  # noqa: PLC0415
        from websockets.typing import Subprotocol  # noqa: PLC0415

        address = httpx.URL(self.url + PREFIX + path, params=params)
        address = address.copy_with(scheme="wss" if address.scheme == "https" else "ws")
        headers = {key: self._http.headers[key] for key in ("authorization", "user-agent") if key in self._http.headers}
        try:
            return connect(
                str(address),
                additional_headers=headers,
                user_agent_header=None,
                subprotocols=[Subprotocol(protocol)],
                compression=None,
                max_size=None,
                ping_timeout=None,
                close_timeout=2.0,
                proxy=True if self._http.trust_env else None,
                ssl=self._trust,
            )
        except InvalidStatus as error:
            answer = error.response
            raise error_of(httpx.Response(answer.status_code, content=bytes(answer.body or b""))) from error
        except (OSError, InvalidHandshake) as error:
            raise self._unreachable(error) from error

    def events(
        self, path: str, params: Mapping[str, str | float], *, quiet_s: float = QUIET_S
    ) -> Iterator[ServerEvent]:
        """Yield server-sent events until the server ends the stream. Raises Lost when the line breaks, and the
        TrainmasterError with which the server refuses to go on.
        """
        timeout = httpx.Timeout(10.0, read=quiet_s)
        try:
            with self._http.stream("GET", self.url + PREFIX + path, params=params, timeout=timeout) as response:
                if response.status_code >= 400:
                    response.read()
                    raise error_of(response)
                for item in parse_events(response.iter_bytes()):
                    if item.event == "refused":  # the server withdrew the permission
                        raise error_of(httpx.Response(int(item.data["status"]), json=item.data))
                    yield item
        except httpx.TransportError as error:
            raise Lost(self.url) from error


def trusted(ca: str | None) -> ssl.SSLContext:
    """Return what checks a server's certificate. `ca`: a file of more certificates. Raises InvalidSpec."""
    named = ca or os.environ.get("SSL_CERT_FILE") or ""
    try:
        context = httpx.create_ssl_context()
        if ca:
            context.load_verify_locations(ca)
    except OSError as error:
        why = error.strerror or str(error)
        raise InvalidSpec(client.certificates_not_read(named, why)) from error
    return context


def refusal_of(url: str, error: BaseException) -> Said | None:
    """Return what is wrong with the server's certificate, None where something else kept it from answering."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return client.certificate_not_trusted(url, cause.verify_message)
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            return client.no_tls_there(url, str(cause.reason))
    return None


def _why(error: Exception) -> str:
    """Return what the system says of it, such as "Connection refused"."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return str(error) or type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def parse_events(blocks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yield the events in `blocks` (the WHATWG stream format, as far as this server writes it), wherever these were
    cut.
    """
    event, mark = "message", ""
    data: list[str] = []
    for line in _lines(blocks):
        if not line:
            if data:
                yield ServerEvent(event, json.loads("\n".join(data)), mark)
            event, data = "message", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            mark = value


def _lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines in `blocks`. Only a newline ends one: a text in it may hold what httpx and str.splitlines take
    for its end.
    """
    begun: list[bytes] = []
    for block in blocks:
        *ended, rest = block.split(b"\n")
        for line in ended:
            yield b"".join((*begun, line)).decode()
            begun = []
        begun.append(rest)
