"""The server's end of the agent's socket: starts the agent when none answers, and comes back to it when it was killed.

Requests are idempotent, so those without an answer are simply asked again after a reconnect. Nothing here knows what a
request means. Invariant: answers and pushed events are handed on in the order in which the agent sent them.
"""

import asyncio
import itertools
import json
import logging
import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from trainmaster.agent.place import PACKAGE
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.local.guard import Guard
from trainmaster.engines.local.messages import local as say
from trainmaster.messages import render
from trainmaster.messages.said import Said, said_in, verbatim

log = logging.getLogger("trainmaster.engines.local")

CONNECT_PAUSES_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
GIVE_UP_S: Final = 30.0
"""Requests fail as Unavailable when the agent has not answered for so long; the client goes on trying."""
AGAIN_S: Final = 10.0
"""Before an agent that cannot be used is looked at again."""

MOST_LINE: Final = 64 << 20
"""Bytes of one message of the agent, far above what a gang of 4,096 tasks needs."""
UNANSWERED: Final = -1
"""Number of what nobody waits for an answer to."""


class AgentError(Exception):
    """The agent refused a request, and why."""

    def __init__(self, code: str, said: Said) -> None:
        super().__init__(render.text(said))
        self.code = code
        self.said = said


class AgentClient(asyncio.Protocol):
    """`greet` returns the hello message's fields; `on_event` takes pushes; `on_connect` is called after every hello."""

    def __init__(
        self,
        layout: Layout,
        greet: Callable[[], dict[str, Any]],
        on_event: Callable[[dict[str, Any]], None],
        on_connect: Callable[[dict[str, Any]], None],
    ) -> None:
        self.layout = layout
        self.greet = greet
        self.on_event = on_event
        self.on_connect = on_connect
        self.guard = Guard(layout)
        self.trouble: Said | None = None  # why the agent cannot be used now
        self._transport: asyncio.WriteTransport | None = None
        self._hear: Callable[[dict[str, Any]], None] = lambda answer: None
        self._greeted = False
        self._refused = False  # our place was refused: do not try again at once
        self._welcomed: asyncio.Future[bool]
        self._closing = False
        self._inbox = bytearray()
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
        elif self._connector is None and self._transport is None:  # else a greeting is under way
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
        self._connector = asyncio.get_running_loop().create_task(self._try_until_welcome())

    async def _try_until_welcome(self) -> None:
        began = time.monotonic()
        for pause in itertools.chain(CONNECT_PAUSES_S, itertools.repeat(CONNECT_PAUSES_S[-1])):
            if self._closing:
                return
            self.guard.tell_place()
            try:
                if await self._dial():
                    return
                rest = AGAIN_S if self._refused else pause
            except OSError:
                rest = pause
                self._start_keeper()
            if time.monotonic() - began > GIVE_UP_S:
                self._fail(say.agent_silent())
            await asyncio.sleep(rest)

    def _start_keeper(self) -> None:
        try:
            self.guard.ensure_keeper()
        except OSError as error:
            self._fail(say.agent_not_started(str(error)))

    async def _dial(self) -> bool:
        """Connect and return whether the agent that answers can be used, within GIVE_UP_S. Raises OSError."""
        self._refused, self._welcomed = False, asyncio.get_running_loop().create_future()
        path = self.layout.agent_socket
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # the name of a socket is at most 107 bytes long; a home may be deeper
            short = f"/proc/self/fd/{folder}/{os.path.basename(path)}"
            await asyncio.get_running_loop().create_unix_connection(lambda: self, short)
        finally:
            os.close(folder)
        try:
            return await asyncio.wait_for(asyncio.shield(self._welcomed), GIVE_UP_S)
        except TimeoutError:
            self._leave()
            return False

    def _leave(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, why: Said) -> None:
        self.trouble = why
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            if not future.done():
                future.set_exception(Unavailable(why))

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
        self._fail(say.engine_closed())

    # -- asyncio.Protocol ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask who is there."""
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's is one without saying so
        self._inbox = bytearray()
        self._ask("who", self._meet)

    def _ask(self, op: str, hear: Callable[[dict[str, Any]], None], **fields: Any) -> None:
        assert self._transport is not None
        self._hear = hear
        self._transport.write(msgspec.json.encode({"id": 0, "op": op, **fields}) + b"\n")

    def connection_lost(self, exc: Exception | None) -> None:
        """Come back, unless it was us who left."""
        greeted, self._transport, self._greeted = self._greeted, None, False
        if not self._welcomed.done():
            self._welcomed.set_result(False)  # let `connect` go on
        elif greeted and not self._closing:
            log.warning("the connection to the agent was lost; coming back to it")
            self._reconnect()

    def data_received(self, data: bytes) -> None:
        """Hand on every complete line, in order."""
        self._inbox += data
        if len(self._inbox) - len(data) > MOST_LINE:
            self._overrun()
            return
        if b"\n" not in data:
            return
        *lines, rest = bytes(self._inbox).split(b"\n")
        self._inbox = bytearray(rest)
        for line in lines:
            message = json.loads(line)  # not msgspec: a file name may hold lone surrogates
            if "event" in message:
                self.on_event(message)
            elif message["id"] == 0:
                self._hear(message)
            else:
                self._answered(message)

    def _overrun(self) -> None:
        """Make the connection anew. What waits fails: asked again, it would be answered by the same message, and so for
        ever.
        """
        log.error("the agent sent a message of more than %d MiB; the connection is made anew", MOST_LINE >> 20)
        self._inbox = bytearray()
        self._leave()
        self._fail(say.agent_answer_too_large(MOST_LINE >> 20))
        self.trouble = None  # only this answer is too large

    def _meet(self, answer: dict[str, Any]) -> None:
        """Greet an agent that can be used: it takes nothing before it knows the settings. Another one makes room for
        ours.
        """
        step = self.guard.judge(answer.get("ok"))
        if step == "use":
            self._ask("hello", self._welcome, **self.greet())
            return
        why = self.guard.why
        assert why is not None, "an agent that cannot be used is said to be so"
        if step == "refuse":
            self._refuse(why)
        else:
            log.warning("%s", render.text(why))
            self.trouble = why
            if step == "replace":
                self.guard.replace(self._peer())
                self._leave()
            else:
                self._ask(step, lambda answer: None, package=str(PACKAGE))  # the agent ends, and its keeper starts ours

    def _refuse(self, why: Said) -> None:
        log.error("%s", render.text(why))
        self._refused = True
        self.guard.settled()
        self._fail(why)
        self._leave()

    def _peer(self) -> int:
        """Return the pid of the process at the other end."""
        assert self._transport is not None
        told = self._transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int(struct.unpack("3i", told)[0])

    def _welcome(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            self._refuse(say.agent_refuses_settings(_why(answer["error"])))
            return
        self._greeted, self._connector, self.trouble = True, None, None
        self.guard.settled()
        self._welcomed.set_result(True)
        self.on_connect(answer["ok"])
        assert self._transport is not None
        for _, waiting in self._pending.values():
            self._transport.write(waiting)

    def _answered(self, message: dict[str, Any]) -> None:
        future, _ = self._pending.pop(message["id"], (None, b""))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(AgentError(message["error"]["code"], _why(message["error"])))
        else:
            future.set_result(message["ok"])


def _why(error: dict[str, Any]) -> Said:
    """Return why a request was refused: an agent of an earlier version says it in words, before it makes room."""
    return said_in(error) or verbatim(str(error["code"]))
