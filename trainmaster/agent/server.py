"""The agent's loop: one epoll, one unix socket, newline-delimited JSON. Without tasks and requests it does not wake.

Requests are ``{id, op, ...}``; answers ``{id, ok}`` or ``{id, error: {code, message}}``; pushes
``{event: "task" | "note", ...}`` go to every connected server. Nothing waits here: a request that must wait (reap) is
answered when it is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from trainmaster.agent import place
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.host.loop import Loop
from trainmaster.agent.host.words import say, say_error
from trainmaster.agent.settings import Settings, settings_from_json
from trainmaster.agent.starting.spawn import StartRefused, refusal
from trainmaster.agent.supervising.heir import Heir
from trainmaster.agent.supervising.lookout import Lookout
from trainmaster.agent.supervising.stand_ins import KeptTasks
from trainmaster.agent.supervising.stopping import Stopping
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks import handles, live
from trainmaster.agent.tasks.live import LiveAttempt
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import gang_from_json
from trainmaster.messages.jobs import starting as saying

IDLE_S: Final = 60.0
"""An agent with no task and no server for this long goes home; the next server starts another."""


class Connection:
    """One connected server: what came in, what is still to go out."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.inbox = bytearray()
        self.outbox = bytearray()
        self.waiting = False  # the socket was full: the rest of the outbox is still to go
        self.settings: Settings | None = None
        self.announced: set[str] = set()  # attempts that it had made ready


class AgentServer:
    """Runs one host's agent. `keeper` is the pid of the parent that watches over it."""

    def __init__(self, layout: Layout, keeper: int, become_keeper: Callable[[dict[str, str]], None]) -> None:
        self.layout = layout
        self.become_keeper = become_keeper
        self.connections: dict[int, Connection] = {}
        self.stopping = False
        self.idle_since = time.monotonic()
        self.loop = Loop()
        self.supervisor = Supervisor(layout, Cgroups(layout.home), self._tell, self.loop.later, self.loop.watch_end)
        self.supervisor.keeper = keeper
        note = layout.path("run", "stopped")
        self.end = Stopping(note, keeper, self.supervisor, self.loop.later, self.push)
        self.kept = KeptTasks(self.supervisor)
        self.lookout = Lookout(self.supervisor, self.loop.later)
        self._open()
        if not self.loop.watch_end(keeper, self._replace_keeper) or os.getppid() != keeper:
            self._replace_keeper()  # the keeper died while this agent started

    def _replace_keeper(self) -> None:
        """The keeper was killed: take its place. Its children have another parent now, but we hold their handles."""
        every = (task for attempt in self.supervisor.attempts.values() for task in attempt.present)
        self.become_keeper(handles.hand_on(every))

    def _open(self) -> None:
        # SIGTERM first: ends of tasks that come with it are a stop of the platform.
        self.loop.on_signal(signal.SIGTERM, self.end.asked_to_end)
        self.loop.on_signal(signal.SIGCHLD, self.supervisor.children_ended)
        self.end.begin()
        Heir(self.supervisor).adopt()
        if not self.supervisor.attempts:  # no attempt is left that the file could mean
            with contextlib.suppress(OSError):
                os.truncate(self.layout.path("run", "exits"), 0)
        path = self.layout.agent_socket
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # the name of a socket is at most 107 bytes long; a home may be deeper
            listener.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        finally:
            os.close(folder)
        os.chmod(path, 0o600)
        listener.listen(16)
        self.listener = listener
        self.loop.watch(listener.fileno(), lambda events: self._accept())
        self.lookout.begin()

    # --------------------------------------------------------------------------------------------------------- loop

    def run(self) -> None:
        """Serve until asked to stop or idle for long."""
        self.supervisor.children_ended()  # a child may have ended before SIGCHLD was caught
        while not self.stopping:
            self.loop.turn(self._patience())
            now = time.monotonic()
            if self.connections or self.supervisor.attempts:
                self.idle_since = now
            elif now - self.idle_since >= IDLE_S:
                self.stopping = True
            if not self.connections and self.end.over():
                self.stopping = True
        self.supervisor.cgroups.close()

    def _patience(self) -> float:
        """Return seconds to sleep at most when no timer is set; -1: until something happens."""
        if not self.connections and not self.supervisor.attempts:
            return IDLE_S
        return -1

    # -------------------------------------------------------------------------------------------------- connections

    def _accept(self) -> None:
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        fd = sock.fileno()
        self.connections[fd] = Connection(sock)
        self.loop.watch(fd, lambda events: self._ready(fd, events))

    def _ready(self, fd: int, events: int) -> None:
        connection = self.connections[fd]
        if events & select.EPOLLOUT:
            self._flush(connection)
        if not events & ~select.EPOLLOUT:
            return
        try:
            data = connection.sock.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.loop.unwatch(fd)
            del self.connections[fd]
            connection.sock.close()
            self._withdraw(connection)
            return
        connection.inbox += data
        while (end := connection.inbox.find(b"\n")) >= 0:
            line = bytes(connection.inbox[: end + 1])
            del connection.inbox[: end + 1]
            self._request(connection, line)

    def send(self, connection: Connection, message: dict[str, Any]) -> None:
        """Send one message; what does not fit now goes when there is room."""
        connection.outbox += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        if not connection.waiting:
            self._flush(connection)

    def _flush(self, connection: Connection) -> None:
        try:
            sent = connection.sock.send(connection.outbox)
            del connection.outbox[:sent]
        except BlockingIOError:
            pass
        except OSError:
            connection.outbox.clear()  # `_ready` will read the end of the connection
        if bool(connection.outbox) != connection.waiting and connection.sock.fileno() >= 0:
            connection.waiting = bool(connection.outbox)
            self.loop.epoll.modify(
                connection.sock.fileno(), select.EPOLLIN | (select.EPOLLOUT if connection.waiting else 0)
            )

    def _tell(self, event: dict[str, Any]) -> None:
        self.end.tell(event)

    def push(self, event: dict[str, Any]) -> None:
        """Tell every connected server."""
        for connection in self.connections.values():
            if connection.settings is not None:
                self.send(connection, event)

    # ----------------------------------------------------------------------------------------------------- requests

    def _request(self, connection: Connection, line: bytes) -> None:
        number: Any = None
        try:
            request = json.loads(line)
            number = request["id"]
            handler = getattr(self, "op_" + request["op"], None)
            if handler is None:
                raise ValueError(f"unknown operation {request['op']!r}")
            handler(connection, request, line)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            self._refuse(connection, number, StartRefused("malformed", saying.agent_asked_wrongly(repr(error))))
        except OSError as error:
            self._refuse(connection, number, refusal(error, saying.agent_could_not()))
        except Exception as error:  # answered, not raised: the next agent would be asked the same and end, too
            say_error()
            self._refuse(connection, number, StartRefused("launch_failed", saying.agent_failed(repr(error))))

    def _answer(self, connection: Connection, number: Any, ok: Any) -> None:
        self.send(connection, {"id": number, "ok": ok})

    def _refuse(self, connection: Connection, number: Any, refused: StartRefused) -> None:
        self.send(connection, {"id": number, "error": {"code": refused.code, "said": refused.said.to_json()}})

    def op_who(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Say who this agent is: the server decides whether it can be used."""
        self._answer(connection, request["id"], place.about(self.layout, len(self.supervisor.attempts)))

    def op_leave(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Make room for the agent of the place written down, which adopts all. What was announced is made anew."""
        say(f"gives way to the agent of {request['package']}")
        os._exit(place.GIVES_WAY)

    def op_hello(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Take the settings for what this connection launches; answer what the host can do."""
        connection.settings = settings_from_json(request["settings"])
        cgroups = self.supervisor.cgroups
        self._answer(
            connection,
            request["id"],
            {
                "pid": os.getpid(),
                "elsewhere": sum(attempt.elsewhere for attempt in self.supervisor.attempts.values()),
                "data": self.layout.data,
                "cgroups": cgroups.version,
                "no_cgroups": cgroups.why.to_json() if cgroups.why else None,
            },
        )

    def op_announce(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Make a gang ready: its launch may follow. Nobody waits for an answer."""
        if connection.settings is not None:
            connection.announced.add(
                self.supervisor.get_ready(line, gang_from_json(request["gang"]), connection.settings)
            )

    def op_launch(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Start a gang, all or none: the one that comes along, or the one announced as `attempt`. `secrets`: values by
        name, which go to its tasks and nowhere else.
        """
        if connection.settings is None:
            raise ValueError("hello comes first")

        def refuse(refused: StartRefused) -> None:
            self._refuse(connection, request["id"], refused)

        def started(attempt: LiveAttempt) -> None:
            self._answer(connection, request["id"], self._state_of(attempt))
            self.lookout.begin()

        values = request.pop("secrets", None)
        if values is not None:  # the line goes into the record
            line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        if "attempt" in request:
            connection.announced.discard(request["attempt"])
            self.supervisor.launch_ready(request["attempt"], started, refuse)
        else:
            gang = gang_from_json(request["gang"])
            self.supervisor.launch(line, gang, connection.settings, started, refuse, values)

    def _state_of(self, attempt: LiveAttempt | None) -> dict[str, Any]:
        if attempt is None or attempt.undone:
            return {"known": False, "tasks": [], "notes": []}
        return {
            "known": True,
            "tasks": [self.end.event_of(t) for t in attempt.tasks if t.pid or t.end],
            "notes": [[code, said.to_json()] for code, said in attempt.notes],
        }

    def op_observe(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Answer what is known of each attempt, in the order asked."""
        told = [self._state_of(self.supervisor.attempts.get(name)) for name in request["attempts"]]
        self._answer(connection, request["id"], told)

    def op_signal(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Send a signal to the user's processes of an attempt."""
        attempt = self.supervisor.attempts.get(request["attempt"])
        if attempt is not None:
            self.supervisor.signal(attempt, int(request["signum"]))
        self._answer(connection, request["id"], None)

    def op_enter(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """Let a task be entered that has ended and is kept; the answer comes when agent/enter will find it."""

        def ready() -> None:
            self._answer(connection, request["id"], None)
            self.lookout.begin()

        def refuse(refused: StartRefused) -> None:
            self._refuse(connection, request["id"], refused)

        self.kept.let_in(request["attempt"], request["role"], request["index"], ready, refuse)

    def op_reap(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """End an attempt; the answer comes when nothing is left of it."""
        self.supervisor.reap(
            request["attempt"], float(request["grace_s"]), lambda: self._answer(connection, request["id"], None)
        )

    def _withdraw(self, connection: Connection) -> None:
        """Drop what was announced and will not be launched any more."""
        for name in connection.announced:
            self.supervisor.drop(name)
        connection.announced.clear()

    def op_shutdown(self, connection: Connection, request: dict[str, Any], line: bytes) -> None:
        """End the agent, refused while an attempt is not reaped."""
        self._withdraw(connection)
        if self.supervisor.attempts:
            self._refuse(
                connection,
                request["id"],
                StartRefused("busy", saying.attempts_not_reaped(len(self.supervisor.attempts))),
            )
            return
        self._answer(connection, request["id"], None)
        self.stopping = True


def prepare_home(layout: Layout) -> None:
    """Make the folders the agent needs, private to its user."""
    os.makedirs(layout.path("run"), 0o700, exist_ok=True)
    os.chmod(layout.path("run"), 0o700)
    os.makedirs(live.live_folder(layout), 0o700, exist_ok=True)
    os.close(os.open(layout.path("run", "exits"), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
