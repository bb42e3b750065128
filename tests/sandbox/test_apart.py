"""A thief's job tries the sockets of another job and of this machine, those that have names without a file among them
(B2).
"""

import socket
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.engine.test_entering import said
from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from tests.sandbox.conftest import LIMITS, run_as_nobody
from trainmaster.agent.sandbox import apart
from trainmaster.core.errors import Unavailable
from trainmaster.core.launch import Gang
from trainmaster.engines.base import Note
from trainmaster.engines.local.engine import LocalEngine

pytestmark = pytest.mark.sandbox
PATIENCE_S = 120.0
OPEN = "reached" if apart.missing("/usr/bin/bwrap") else "refused"
"""What becomes of an abstract socket where the network is shared: kernels before 6.12 keep none apart."""

VICTIM = """
    import socket, sys, time
    name = sys.argv[1]
    served = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), socket.socket()]
    served[0].bind("\\0" + name)
    served[0].listen()
    served[1].bind("\\0letters-" + name)
    served[2].bind(("127.0.0.1", int(sys.argv[2])))
    served[2].listen()
    print("serving", flush=True)
    time.sleep(600)
"""
THIEF = """
    import socket, sys, time
    def attempt(what, call, *given):
        until = time.monotonic() + float(sys.argv[3])
        while True:
            try:
                call(*given)
                return print(what, "= reached", flush=True)
            except OSError as error:
                if time.monotonic() > until:
                    return print(what, "= refused", "#", error, flush=True)
            time.sleep(0.05)
    name, port = sys.argv[1], int(sys.argv[2])
    attempt("stream", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + name))
    attempt("letter", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "\\0letters-" + name))
    attempt("port", lambda: socket.create_connection(("127.0.0.1", port)))
    print("done", flush=True)
"""
PORT = 28931


def words(text: str, name: str, port: int = PORT, patience_s: float = 0.0) -> tuple[str, ...]:
    return ("python3", "-c", textwrap.dedent(text), name, str(port), str(patience_s))


def found(text: str) -> dict[str, str]:
    return dict(line.split(" #")[0].split(" = ") for line in text.splitlines() if " = " in line)


def tried(stream: str, port: str) -> dict[str, str]:
    return {"stream": stream, "letter": stream, "port": port}


@contextmanager
def service(name: str) -> Iterator[int]:
    """Serve on abstract sockets and on a port of this machine, as a desktop or a data base does; give the port."""
    letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with socket.socket(socket.AF_UNIX) as streams, letters, socket.socket() as ports:
        streams.bind("\0" + name)
        streams.listen()
        letters.bind("\0letters-" + name)
        ports.bind(("127.0.0.1", 0))
        ports.listen()
        yield ports.getsockname()[1]


class Story:
    """Jobs on one home."""

    def __init__(self, world: LocalWorld, engine: LocalEngine, watcher: Watcher) -> None:
        self.world, self.engine, self.watcher = world, engine, watcher

    async def starts(self, story: GangBuilder, said: str) -> Gang:
        """Start a job; wait until its first task has `said` something."""
        built = story.build()
        await self.engine.launch(built)
        await self.watcher.until(lambda: said in self.world.log(built.job), said)
        return built

    async def robs(self, name: str, port: int = PORT) -> dict[str, str]:
        """Return what a thief's job can reach."""
        thief = await self.starts(gang().role("thief", 1, *words(THIEF, name, port)), "done")
        return found(self.world.log(thief.job))

    async def enters(self, job: Gang, argv: tuple[str, ...]) -> str:
        """Return what a command says that is run in the first task of `job`."""
        terminal = await self.engine.attach(key(job), 0, 0, argv, None)
        out, _, _ = await said(terminal)
        return out.decode()


@pytest.fixture(params=["shared", "private"])
async def story(request: pytest.FixtureRequest) -> AsyncIterator[Story]:
    """A home whose jobs share this machine's network; then one whose jobs have their own."""
    world, watcher = LocalWorld("bubblewrap", limits=LIMITS, network=request.param), Watcher()
    yield Story(world, await world.engine(watcher), watcher)
    await world.close()


def port_of(story: Story) -> str:
    return "refused" if story.world.network == "private" else "reached"


def stream_of(story: Story) -> str:
    return "refused" if story.world.network == "private" else OPEN


async def test_a_thief_does_not_reach_another_jobs_sockets(story: Story) -> None:
    victim = await story.starts(gang().role("victim", 1, *words(VICTIM, "loot")), "serving")
    assert await story.robs("loot") == tried(stream_of(story), port_of(story)), victim.job


async def test_nor_those_of_this_machine(story: Story) -> None:
    with service("desktop") as port:
        assert await story.robs("desktop", port) == tried(stream_of(story), port_of(story))


async def test_the_tasks_of_one_job_reach_each_other(story: Story) -> None:
    """As NCCL does: it hands memory of cards from rank to rank through abstract sockets."""
    pair = gang().role("thief", 1, *words(THIEF, "own", patience_s=PATIENCE_S)).role("victim", 1, *words(VICTIM, "own"))
    built = await story.starts(pair, "done")
    assert found(story.world.log(built.job)) == tried("reached", "reached")


async def test_who_enters_a_task_is_in_its_network(story: Story) -> None:
    victim = await story.starts(gang().role("victim", 1, *words(VICTIM, "mine")), "serving")
    assert found(await story.enters(victim, words(THIEF, "mine"))) == tried("reached", "reached")


async def test_who_enters_a_task_of_a_private_network_reaches_no_other(story: Story) -> None:
    with service("outside") as port:
        place = await story.starts(gang().shell("place", 1, "echo here; sleep 600"), "here")
        got = found(await story.enters(place, words(THIEF, "outside", port)))
    assert got == tried(port_of(story), port_of(story))


async def test_a_debugger_that_enters_sees_the_task(story: Story) -> None:
    """py-spy and gdb read the memory of a rank that hangs."""
    place = await story.starts(gang().shell("place", 1, "echo here; exec sleep 600"), "here")
    text = """
        import ctypes, os
        def words(pid):
            return open(f"/proc/{pid}/cmdline", "rb").read().split(b"\\0")
        pid = next(int(one) for one in os.listdir("/proc") if one.isdigit() and b"600" in words(one))
        libc = ctypes.CDLL(None, use_errno=True)
        print("seized" if libc.ptrace(0x4206, pid, 0, 0) == 0 else os.strerror(ctypes.get_errno()))
    """
    assert "seized" in await story.enters(place, (sys.executable, "-c", textwrap.dedent(text)))


def test_a_server_that_is_not_root_gives_a_job_of_one_task_a_network(tmp_path: Path) -> None:
    with service("machine") as port:
        done = run_as_nobody(tmp_path, textwrap.dedent(THIEF), "machine", str(port), "0", network=True)
    assert found(done.stdout) == tried("refused", "refused"), done.stderr


async def test_a_job_says_that_its_network_is_its_own(story: Story) -> None:
    await story.starts(gang().shell("w", 1, "echo here"), "here")
    notes = {fact.code for fact in story.watcher.facts if isinstance(fact, Note)}
    assert notes == ({"network_private"} if story.world.network == "private" else set())


async def test_a_node_says_what_of_the_network_is_shared(story: Story) -> None:
    (node,) = await story.engine.nodes()
    assert dict(node.facts)["network"].startswith(story.world.network)


async def test_a_private_network_that_cannot_be_is_no_start() -> None:
    world = LocalWorld("none", network="private")
    try:
        with pytest.raises(Unavailable, match="sandboxes are switched off"):
            await world.engine()
    finally:
        world.network = "shared"
        await world.close()
