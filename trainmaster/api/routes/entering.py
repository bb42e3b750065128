"""Entering a running task through a websocket: a command's input, output, window and exit code, framed as Kubernetes
frames them.

The first message is text, a JSON object: ``{"command": ["bash"], "tty": true, "columns": 80, "rows": 24}``; what people
type stays out of addresses, which are logged. From then on messages are binary, their first byte the channel
(remotecommand, version 5): 0 input, 1 output, 2 errors, 3 the status at the end, 4 the window, 255 the end of a
channel. Invariant: nothing runs on without its connection.
"""

import asyncio
from contextlib import suppress
from typing import Annotated, Any, Final, Never, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.websockets import WebSocket, WebSocketDisconnect

from trainmaster.answers import ExecCause, ExecCauses, ExecStatus, Nothing
from trainmaster.api.auth import wait_until_lost, who
from trainmaster.api.body import decode
from trainmaster.api.deps import language, platform
from trainmaster.api.policy import Table
from trainmaster.api.problems import InvalidRequest
from trainmaster.api.written import encode
from trainmaster.core.errors import TooLarge, TrainmasterError, Unavailable, problem_of
from trainmaster.engines.base import Stream, Terminal, Window
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import requests
from trainmaster.service.language import Language, document_of

routes = Table("entering")
T = TypeVar("T")

PROTOCOL: Final = "v5.channel.k8s.io"
STDIN, STDOUT, STATUS, RESIZE, CLOSE = 0, 1, 3, 4, 255
MOST_WORDS: Final = 1000
MOST_VALUES: Final = 2 * MOST_WORDS
MOST_BYTES: Final = 1 << 16
"""Of the first message: the command becomes one word of a command line, of which Linux takes twice that."""
FIRST_S: Final = 30.0
BEAT_S: Final = 20.0
"""An empty piece of output goes out so often: by that a connection that is gone is noticed, though nothing is read from
it.
"""

Side = Annotated[int, Meta(ge=1, le=10_000)]


class EnterRequest(Struct, forbid_unknown_fields=True):
    """The first message."""

    command: Annotated[list[str], Meta(min_length=1, max_length=MOST_WORDS)]
    tty: bool = False
    columns: Side = 80
    rows: Side = 24


class Size(Struct):
    """A message on the channel of the window, with the names that the protocol has."""

    Width: Side
    Height: Side


@routes.socket("/jobs/{ref}/exec", scope="jobs:write")
async def exec_task(socket: WebSocket) -> None:
    """Run a command inside a task of the job; `task` in the query names it, ``worker-0`` or ``task0-0``, which is the
    default.
    """
    await socket.accept(subprotocol=PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
    try:
        wanted = await receive_first(socket)
        window = Window(wanted.columns, wanted.rows) if wanted.tty else None
        task = socket.query_params.get("task", "task0-0")
        entered = await platform(socket).enter(socket.path_params["ref"], task, wanted.command, window, who(socket))
        async with entered as terminal:
            status = exit_status(await serve(socket, terminal))
    except TrainmasterError as error:
        status = refusal(error, language(socket))
    except (WebSocketDisconnect, TimeoutError):
        return
    with suppress(WebSocketDisconnect, RuntimeError):  # the client has hung up
        await socket.send_bytes(bytes((STATUS,)) + encode(status))
        await socket.close()


async def receive_first(socket: WebSocket) -> EnterRequest:
    """Return what is wanted. Raises InvalidRequest, WebSocketDisconnect, TimeoutError."""
    async with asyncio.timeout(FIRST_S):
        message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    given = message.get("text") or ""
    if len(given) > MOST_BYTES:
        raise _malformed("command", requests.command_too_long(MOST_BYTES // 1024))
    wanted = _read(given.encode(), EnterRequest, 'the text {"command": ["bash"], "tty": true}')
    if not wanted.command[0] or any("\0" in word for word in wanted.command):
        raise _malformed("command", requests.command_without_program())
    return wanted


async def serve(socket: WebSocket, terminal: Terminal) -> int:
    """Carry everything in both directions; return the exit code. Raises WebSocketDisconnect, InvalidRequest,
    Unavailable, and what the caller is refused with once they may be inside no more.
    """
    ended = asyncio.create_task(tell(socket, terminal))
    closing = asyncio.create_task(socket.app.state.closing.wait())
    refused = asyncio.create_task(wait_until_lost(socket))
    others = [asyncio.create_task(work) for work in (hear(socket, terminal), beat(socket))]
    tasks: list[asyncio.Task[Any]] = [ended, closing, refused, *others]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if ended in done:
        return ended.result()
    if closing in done:
        raise Unavailable(requests.server_stops())
    if refused in done:
        raise refused.result()
    for task in done:
        task.result()
    raise WebSocketDisconnect


async def tell(socket: WebSocket, terminal: Terminal) -> int:
    """Send all output; return the exit code."""

    async def pump(stream: Stream) -> None:
        while data := await terminal.read(stream):
            await socket.send_bytes(bytes((stream,)) + data)

    await asyncio.gather(pump(1), pump(2))
    return await terminal.wait()


async def hear(socket: WebSocket, terminal: Terminal) -> Never:
    """Take in what comes. Raises WebSocketDisconnect at its end, InvalidRequest for what is no message of the
    protocol.
    """
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1006))
        data = message.get("bytes") or b""
        match data[:1]:
            case b"\x00":
                await terminal.write(data[1:])
            case b"\x04":
                size = _read(data[1:], Size, 'Send {"Width": 80, "Height": 24}.')
                terminal.resize(Window(size.Width, size.Height))
            case b"\xff" if data[1:] == b"\x00":
                await terminal.end_input()
            case _:
                raise _malformed("", requests.no_such_channel())


async def beat(socket: WebSocket) -> Never:
    """Send nothing now and then. Raises WebSocketDisconnect once nobody is there."""
    while True:
        await asyncio.sleep(BEAT_S)
        await socket.send_bytes(bytes((STDOUT,)))


def exit_status(code: int) -> ExecStatus:
    """Return what the protocol says of a command that has ended."""
    if code == 0:
        return ExecStatus(metadata=Nothing(), status="Success")
    return ExecStatus(
        metadata=Nothing(),
        status="Failure",
        reason="NonZeroExitCode",
        message=f"command ended with exit code {code}",
        details=ExecCauses(causes=[ExecCause(reason="ExitCode", message=str(code))]),
    )


def refusal(error: TrainmasterError, reader: Language) -> ExecStatus:
    """Return what the protocol says of what was refused."""
    problem = document_of(reader, error)
    return ExecStatus(
        metadata=Nothing(),
        status="Failure",
        reason=error.kind,
        message=problem.title,
        code=error.status,
        problem=problem,
    )


def _read(raw: bytes, kind: type[T], example: str) -> T:
    """Return the message in `raw`. Raises InvalidRequest."""
    try:
        return msgspec.convert(decode(raw, MOST_VALUES), kind)
    except (InvalidRequest, TooLarge) as error:
        why = verbatim(error.problems[0].rule) if error.problems else error.said
    except msgspec.ValidationError as error:
        why = verbatim(str(error))
    raise _malformed("", requests.message_not_understood(why, example))


def _malformed(path: str, said: Said) -> InvalidRequest:
    return InvalidRequest(requests.message_not_valid(), problems=(problem_of(path, said),))
