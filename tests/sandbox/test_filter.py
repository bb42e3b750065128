"""What the kernel does for anybody and no task needs is refused to tasks: each is really tried (R137, B2)."""

import asyncio
import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.contract.engine.test_entering import said
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from tests.sandbox.conftest import Run, run_as_nobody, runner
from trainmaster.agent.sandbox import seccomp
from trainmaster.engines.base import Window

pytestmark = pytest.mark.sandbox
PATIENCE_S = 120.0
COLUMN = seccomp.MACHINES[os.uname().machine].column

TRIES = {
    "read the host's keys": ("keyctl", (6, -4, 0, 0), errno.ENOSYS),  # KEYCTL_DESCRIBE, the user's keyring
    "add a key": ("add_key", (b"user", b"name", b"x", 1, -3), errno.ENOSYS),
    "ask for a key": ("request_key", (b"user", b"name", None, 0), errno.ENOSYS),
    "a user namespace": ("unshare", (0x10000000,), errno.EPERM),
    "a process in a user namespace": ("clone", (0x10000000 | 17, 0, 0, 0, 0), errno.EPERM),
    "one whose flags lie in memory": ("clone3", (b"\0" * 64, 64), errno.ENOSYS),
    "a ring of calls": ("io_uring_setup", (4, b"\0" * 120), errno.ENOSYS),
    "a program in the kernel": ("bpf", (0, b"\1\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0" + b"\0" * 56, 72), errno.EPERM),
    "counters of the processor": ("perf_event_open", (b"\1\0\0\0\x70" + b"\0" * 107, 0, -1, -1, 0), errno.EPERM),
    "faults handled by a program": ("userfaultfd", (1,), errno.EPERM),
    "the kernel's messages": ("syslog", (3, b"\0" * 64, 64), errno.EPERM),
    "a mount of the new kind": ("fsopen", (b"tmpfs", 0), errno.EPERM),
    "a page at address 0": ("personality", (0x0100000,), errno.EPERM),
    "the kernel's ciphers": ("socket", (38, 5, 0), errno.EAFNOSUPPORT),
    "the host of this machine": ("socket", (40, 1, 0), errno.EAFNOSUPPORT),
}

PROGRAM = """
    import ctypes, mmap, os
    libc = ctypes.CDLL(None, use_errno=True)
    for name, number, given in {tries}:
        pid = os.getpid()
        ctypes.set_errno(0)
        result = libc.syscall(number, *(ctypes.c_long(one) if isinstance(one, int) else one for one in given))
        if os.getpid() != pid:
            os._exit(0)
        print(name, "=", ctypes.get_errno() if result < 0 else "done", flush=True)
    if os.uname().machine == "x86_64":  # mov eax, 20 (getpid); int 0x80; ret
        code = mmap.mmap(-1, 4096, prot=7)
        code.write(bytes.fromhex("b814000000cd80c3"))
        call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
        print("a 32-bit call =", -call())
"""


def program() -> str:
    numbers = {**seccomp.ABSENT, **seccomp.DENIED, **{name: rule.numbers for name, rule in seccomp.LOOKED_AT.items()}}
    tries = [(name, numbers[call][COLUMN], given) for name, (call, given, _) in TRIES.items()]
    return textwrap.dedent(PROGRAM).replace("{tries}", repr(tries))


def expected() -> dict[str, str]:
    found = {name: str(error) for name, (_, _, error) in TRIES.items()}
    return found | ({"a 32-bit call": str(errno.ENOSYS)} if COLUMN == 0 else {})


def got(text: str) -> dict[str, str]:
    return dict(line.split(" = ") for line in text.splitlines() if " = " in line)


async def test_what_no_task_needs_is_refused(run: Run) -> None:
    _, log = await run(gang().role("w", 1, "python3", "-c", program()))
    assert got(log) == expected(), log


def test_and_to_the_tasks_of_any_user(tmp_path: Path) -> None:
    """A server that is not root makes its sandboxes with user namespaces of its own."""
    done = run_as_nobody(tmp_path, program())
    assert got(done.stdout) == expected(), done.stderr


async def test_who_enters_a_task_may_do_no_more(sandboxed: LocalWorld) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story = gang().shell("w", 1, "sleep 300").build()
    await engine.launch(story)
    await watcher.running(key(story), 1)
    terminal = await engine.attach(key(story), 0, 0, (sys.executable, "-c", program()), None)
    found, _, _ = await said(terminal)
    assert got(found.decode()) == expected()


async def test_nobody_types_into_the_terminal_of_who_entered(sandboxed: LocalWorld) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story = gang().shell("w", 1, "sleep 300").build()
    await engine.launch(story)
    await watcher.running(key(story), 1)
    text = (
        "import fcntl\ntry: fcntl.ioctl(0, 0x5412, b'x'); print('typed')\nexcept OSError as e: print('errno', e.errno)"
    )
    terminal = await engine.attach(key(story), 0, 0, (sys.executable, "-c", text), Window(24, 80))
    found = b""
    async with asyncio.timeout(PATIENCE_S):
        while data := await terminal.read(1):
            found += data
        await terminal.wait()
    await terminal.close()
    assert f"errno {errno.EPERM}".encode() in found


async def test_every_process_of_a_sandbox_is_under_the_filter(run: Run) -> None:
    """Also its first one, which a debugger inside may take over. bubblewrap puts it there while the program starts: a
    program that is quick sees it without.
    """
    wait = "while grep -q 'Seccomp:[[:space:]]*0' /proc/1/status; do sleep 0.01; done"
    _, log = await run(gang().shell("w", 1, f"{wait}; grep -h Seccomp: /proc/[0-9]*/status"))
    assert set(log.split()) == {"Seccomp:", "2"}


async def test_debuggers_threads_and_processes_still_work(run: Run) -> None:
    text = """
        import ctypes, multiprocessing, os, signal, socket, subprocess, threading, time
        threading.Thread(target=print, args=("thread",)).start()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        one = context.Process(target=queue.put, args=("worker",))
        one.start(); print(queue.get()); one.join()
        print(subprocess.run(["echo", "program"], capture_output=True, text=True).stdout.strip())
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
            socket.socket(family, socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM).close()
        libc = ctypes.CDLL(None, use_errno=True)
        child = os.fork()
        if child == 0:
            time.sleep(60); os._exit(0)
        assert libc.ptrace(16, child, 0, 0) == 0, os.strerror(ctypes.get_errno())
        os.waitpid(child, 0); libc.ptrace(17, child, 0, 0); os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
        print("debugger")
        buffer = ctypes.create_string_buffer(4096)
        assert libc.mlock(buffer, 4096) == 0 or ctypes.get_errno() in (1, 12)
        assert libc.personality(0xFFFFFFFF) >= 0
        print(len(os.sched_getaffinity(0)) > 0)
    """
    end, log = await run(gang().role("w", 1, "python3", "-c", textwrap.dedent(text)))
    assert end.exit_code == 0, log
    assert sorted(log.split()) == sorted(["thread", "worker", "program", "debugger", "True"])


async def test_the_names_of_the_hosts_keys_are_hidden(run: Run) -> None:
    _, log = await run(gang().shell("w", 1, "cat /proc/keys /proc/key-users"))
    assert "keyring" not in log


async def test_a_task_without_a_sandbox_does_not_hold_the_session_keys_of_who_started_the_server(
    bare: LocalWorld,
) -> None:
    """A service manager or a login gives the server a keyring, with tickets for other machines in it."""
    text = "import ctypes; print(ctypes.CDLL(None).syscall({}, 0, -3, 1))".format(seccomp.ABSENT["keyctl"][COLUMN])
    _, own = await runner(bare)(gang().role("w", 1, "python3", "-c", text))
    outside = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True)
    assert int(own) != int(outside.stdout)
