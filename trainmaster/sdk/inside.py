"""A command that runs inside a task of a job, held by a program or a terminal: its input, its outputs, its exit code.

    inside = client.get(job).exec(["nvidia-smi"], "worker-0")
    print(inside.output(), inside.exit_code)

One thread may read while another one writes. The frames are those of Kubernetes' remotecommand (docs/reference/api.md).
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final

import httpx
import msgspec

from trainmaster import answers
from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import client
from trainmaster.sdk.transport import Transport, error_of

PROTOCOL: Final = "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255


class Inside:
    """Made by Job.exec. `exit_code` is known once all output was read."""

    def __init__(
        self, http: Transport, path: str, command: Sequence[str], task: str, window: tuple[int, int] | None
    ) -> None:
        self.exit_code: int | None = None
        self._http = http
        self._open = ExitStack()
        self._socket = self._open.enter_context(http.socket(path, {"task": task}, PROTOCOL))
        wanted: dict[str, object] = {"command": [*command], "tty": window is not None}
        if window is not None:
            wanted |= {"columns": window[0], "rows": window[1]}
        self._socket.send(json.dumps(wanted))

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield (1 for standard output or 2 for errors, bytes) as they come. Raises what the server refused with, or
        Unavailable.
        """
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415

        try:
            for message in self._socket:
                channel, data = (message[0], message[1:]) if isinstance(message, bytes) and message else (-1, b"")
                if channel in (STDOUT, STDERR) and data:
                    yield channel, data
                elif channel == STATUS:
                    self.exit_code = _exit_code(self._http.read_as(answers.ExecStatus, json.loads(data)))
        except ConnectionClosed as error:
            raise Unavailable(client.connection_broke_inside()) from error
        if self.exit_code is None:
            raise Unavailable(client.connection_ended_inside())

    def output(self) -> str:
        """Return all that comes from now on, of both outputs, as text. Raises as iterating does."""
        return b"".join(data for _, data in self).decode("utf-8", "replace")

    def write(self, data: bytes) -> None:
        """Give `data` to the command; nothing happens once it has ended."""
        self._send(bytes((STDIN,)) + data)

    def end_input(self) -> None:
        """Let the command read the end of its input."""
        self._send(bytes((CLOSE, STDIN)))

    def resize(self, columns: int, rows: int) -> None:
        """Say the terminal's new size, in characters."""
        self._send(bytes((RESIZE,)) + json.dumps({"Width": columns, "Height": rows}).encode())

    def _send(self, message: bytes) -> None:
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415

        with suppress(ConnectionClosed):  # reading will raise why
            self._socket.send(message)

    def close(self) -> None:
        """Hang up."""
        self._open.close()

    def __enter__(self) -> "Inside":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _exit_code(status: answers.ExecStatus) -> int:
    """Return the exit code in a status. Raises the error that the server refused with."""
    if status.status == "Success":
        return 0
    if status.reason == "NonZeroExitCode" and status.details is not None:
        return next(int(cause.message) for cause in status.details.causes if cause.reason == "ExitCode")
    problem = status.problem or {"title": status.message or ""}
    raise error_of(httpx.Response(status.code or 500, content=msgspec.json.encode(problem)))
