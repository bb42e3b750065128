"""The server's end of the agent's socket: starts the agent when none answers, and comes back to it when it was killed.

Requests are idempotent, so those without an answer are simply asked again after a reconnect. Nothing here knows what a
request means. Invariant: answers and pushed events are handed on in the order in which the agent sent them.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import time
from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from trainmaster.agent import __main__ as agent_main
from trainmaster.core.errors import Unavailable
from trainmaster.core.layout import Layout

log = logging.getLogger("trainmaster.engines.local")

CONNECT_PAUSES_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
GIVE_UP_S: Final = 30.0
"""Requests fail as Unavailable when the agent has not answered for so long; the client goes on trying."""

UNANSWERED: Final = -1
"""Number of what nobody waits for an answer to."""


class AgentError(Exception):
    """The agent refused a request."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class AgentClient(asyncio.Protocol):
    """`greet` returns the hello message's fields; `on_event` takes pushes; `on_connect` is called after every hello."""

    def __init__(
        self, layout: Layout, greet: Callable[[], dict[str, Any]], on_event: Callable[[dict[str, Any]], None],
        on_connect: Callable[[dict[str, Any]], None],
    ) -> None:  # fmt: skip
        self.layout = layout
        self.greet = greet
        self.on_event = on_event
        self.on_connect = on_connect
        self.keeper = 0
        self._transport: asyncio.WriteTransport | None = None
        self._greeted = False
        self._closing = False
        self._inbox = b""
        self._numbers = itertools.count(1)
        self._pending: dict[int, tuple[asyncio.Future[Any], bytes]] = {}
        self._connector: asyncio.Task[None] | None = None

    # -- requests ------------------------------------------------------------------------------------------------

    def request(self, op: str, **fields: Any) -> asyncio.Future[Any]:
        """Send a request; the future has its answer. Records among `fields` go as `to_json` has them.

        Raises (later) AgentError, or Unavailable when nobody answers.
        """
        number = next(self._numbers)
        message = msgspec.json.encode({"id": number, "op": op, **fields}) + b"\n"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = (future, message)
        if self._greeted and self._transport is not None:
            self._transport.write(message)
        elif self._connector is None and self._transport is None:  # else the welcome is on its way
            self._reconnect()
        return future

    def tell(self, op: str, **fields: Any) -> bool:
        """Send what needs no answer and may be lost. False: nobody is there."""
        if not self._greeted or self._transport is None:
            return False
        self._transport.write(msgspec.json.encode({"id": UNANSWERED, "op": op, **fields}) + b"\n")
        return True

    # -- connection ----------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, starting keeper and agent when none answers. Raises Unavailable when that does not work."""
        self._reconnect()
        ready = self.request("observe", attempts=[])
        await ready

    def _reconnect(self) -> None:
        self._connector = asyncio.get_running_loop().create_task(self._try_until_connected())

    async def _try_until_connected(self) -> None:
        began = time.monotonic()
        for pause in itertools.chain(CONNECT_PAUSES_S, itertools.repeat(CONNECT_PAUSES_S[-1])):
            if self._closing:
                return
            with contextlib.suppress(OSError):
                await self._dial()
                self._connector = None
                return
            try:
                self._ensure_keeper()
            except OSError as error:
                self._fail(f"the agent cannot be started: {error}")
            if time.monotonic() - began > GIVE_UP_S:
                self._fail("the local agent does not answer; its own words are in run/agent.log under the home folder")
            await asyncio.sleep(pause)

    async def _dial(self) -> None:
        path = self.layout.agent_socket
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # the name of a socket is at most 107 bytes long; a home may be deeper
            short = f"/proc/self/fd/{folder}/{os.path.basename(path)}"
            await asyncio.get_running_loop().create_unix_connection(lambda: self, short)
        finally:
            os.close(folder)

    def _ensure_keeper(self) -> None:
        """Start a keeper unless one lives: it starts the agent, and again when it is killed."""
        if self.keeper:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.keeper, os.WNOHANG)
        run = self.layout.path("run")
        os.makedirs(run, 0o700, exist_ok=True)
        if keeper_alive(run):
            return
        log_path = os.path.join(run, "agent.log")
        command = agent_main.keeper_command(self.layout)
        self.keeper = os.posix_spawn(
            command[0], command, agent_main.agent_environment(), setsid=True,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
        )  # fmt: skip
        agent_main.write_pid(os.path.join(run, "keeper.pid"), self.keeper)

    def _fail(self, why: str) -> None:
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            if not future.done():
                future.set_exception(Unavailable(why, remedy="Look at run/agent.log, then start the server again."))

    async def shut_down(self) -> None:
        """End the agent and with it the keeper, and do not come back. Raises AgentError when it still has work."""
        await self.request("shutdown")
        self._closing = True

    async def close(self) -> None:
        """Disconnect; agent and tasks go on."""
        self._closing = True
        if self._connector is not None:
            self._connector.cancel()
            await asyncio.gather(self._connector, return_exceptions=True)
        if self._transport is not None:
            self._transport.close()
        self._fail("the engine was closed")

    # -- asyncio.Protocol ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet: the agent takes nothing before it knows the settings."""
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's is one without saying so
        self._inbox = b""
        self._transport.write(msgspec.json.encode({"id": 0, "op": "hello", **self.greet()}) + b"\n")

    def connection_lost(self, exc: Exception | None) -> None:
        """Come back, unless it was us who left."""
        self._transport, self._greeted = None, False
        if not self._closing:
            log.warning("the connection to the agent was lost; coming back to it")
            self._reconnect()

    def data_received(self, data: bytes) -> None:
        """Hand on every complete line, in order."""
        lines = (self._inbox + data).split(b"\n")
        self._inbox = lines.pop()
        for line in lines:
            message = json.loads(line)  # a file name in it may be no valid Unicode
            if "event" in message:
                self.on_event(message)
            elif message["id"] == 0:
                self._welcome(message)
            else:
                self._answered(message)

    def _welcome(self, message: dict[str, Any]) -> None:
        self._greeted = True
        self.on_connect(message["ok"])
        assert self._transport is not None
        for _, waiting in self._pending.values():
            self._transport.write(waiting)

    def _answered(self, message: dict[str, Any]) -> None:
        future, _ = self._pending.pop(message["id"], (None, b""))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(AgentError(message["error"]["code"], message["error"]["message"]))
        else:
            future.set_result(message["ok"])


def keeper_alive(run: str) -> bool:
    """True when the process named in keeper.pid lives and is a keeper of this home (a zombie does not live)."""
    try:
        with open(os.path.join(run, "keeper.pid"), encoding="ascii") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsencode(run) in file.read().split(b"\0")
    except (OSError, ValueError):
        return False
