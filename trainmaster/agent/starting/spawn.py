"""Bring a prepared task to life: folders, files, one posix_spawn. Never fork, never a hook, never a timer.

Raises Refused with a verdict code when a task cannot be started; the caller undoes the rest of the gang.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Final

from trainmaster.agent.host import procs, sharing
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.masking import giving
from trainmaster.agent.sandbox import apart, pythons, rooted, sandbox, seccomp
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import gate
from trainmaster.agent.starting.spares import Spares
from trainmaster.agent.tasks import hooks
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.agent.tasks.prepare import CONTAINER_KIND, MARKER, Prepared, environment_for
from trainmaster.core.folders.layout import IN_CODE, Layout
from trainmaster.core.folders.targets import within
from trainmaster.core.launch import Gang
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said

ARGS_FD: Final = 4
NO_PRIORITY: Final = os.sched_param(0)
RESET: Final = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP]
"""Signals that Python changed for itself; the user's program gets the kernel's defaults."""


NOT_NOW: Final = "not_now"
"""Code of a refusal that is nobody's fault but the platform's: the same launch is to be tried again, for as long as it
takes.
"""
NOT_FOUND: Final = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR)
TOO_MUCH: Final = (errno.E2BIG, errno.ENAMETOOLONG, errno.ELOOP)


class StartRefused(Exception):
    """The task cannot be started, and why. `code` is a verdict code, or NOT_NOW."""

    def __init__(self, code: str, said: Said) -> None:
        super().__init__(code, said)
        self.code = code
        self.said = said


def refusal(error: OSError, what: Said) -> StartRefused:
    """Return the Refused for a failed system call, after which `what` could not be done. The job is to blame only
    where what it asked for is too long or too large.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StartRefused(NOT_NOW, say.home_disk_full(what))
    if error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return StartRefused(NOT_NOW, say.host_out_of_processes(what, error.strerror or ""))
    code = "launch_failed" if error.errno in TOO_MUCH else NOT_NOW
    why = error.strerror or str(error)
    return StartRefused(
        code, say.not_done_with_file(what, why, str(error.filename)) if error.filename else say.not_done(what, why)
    )


def why_not(task: LiveTask, error: OSError) -> StartRefused:
    """Return the Refused for a `task` that `error` kept from starting."""
    if error.errno in NOT_FOUND and task.pid == 0 and not task.prepared.options:
        program = task.prepared.argv[0]
        return StartRefused(
            "command_not_found", say.command_not_executed(task.prepared.name, program, error.strerror or "")
        )
    return refusal(error, say.task_not_started(task.prepared.name))


def materialise(prepared: Prepared, spares: Spares) -> None:
    """Make the folders and files of a task. Raises OSError."""
    own = prepared.paths.root
    within = [folder for folder in prepared.folders if folder.startswith(own)]
    given = spares.give(tuple(folder[len(own) + 1 :] for folder in within if folder != own), own)
    for folder in prepared.folders:
        if given and folder in within:
            continue
        try:
            os.mkdir(folder, sharing.FOLDER)
        except FileExistsError:
            continue
        except FileNotFoundError:
            sharing.make_private(folder)
    for folder in prepared.ways:
        os.mkdir(folder, sharing.FOLDER)
    for path, text in prepared.files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def holds_nothing(folder: str, most: int = 64) -> bool:
    """True when there is no file below `folder` and at most `most` folders. Removing empty folders would not pay: ext4
    passes over the inodes that were freed in the last seconds one by one whenever it makes a file, which then cost more
    than all the rest of a start. A task may have made a million of them, one in the other: neither time nor depth is
    the task's to choose.
    """
    found = [folder]
    try:
        for path in found:  # the loop visits what it appends
            with os.scandir(path) as entries:
                for entry in entries:
                    if len(found) > most or not entry.is_dir(follow_symlinks=False):
                        return False
                    found.append(entry.path)
    except OSError:
        return False
    return True


def remove_small(folder: str, most: int = 32) -> int:
    """Remove `folder` when it holds at most `most` entries; return how many more it might have held, negative: left
    undone.
    """
    try:
        for entry in list(itertools.islice(os.scandir(folder), most + 1)):
            most -= 1
            if most < 0:
                return most
            if entry.is_dir(follow_symlinks=False):
                most = remove_small(entry.path, most)
                if most < 0:
                    return most
            else:
                os.unlink(entry.path)
        os.rmdir(folder)
    except OSError:
        return -1
    return most


def refuse_without_environment(gang: Gang, layout: Layout, settings: Settings) -> None:
    """Raise Refused when the environment of the gang's image, or the Python that it stands on, is not on this node, or
    cannot be shown here.
    """
    if layout.is_container(gang.environment):
        _refuse_without_files(gang, layout.environment(gang.environment), settings)
    elif gang.environment:
        python = os.path.join(layout.environment(gang.environment), "bin", "python")
        if not os.path.exists(python):
            lost = os.path.realpath(python) if os.path.islink(python) else layout.environment(gang.environment)
            raise StartRefused("launch_failed", say.environment_not_here(lost))


def _refuse_without_files(gang: Gang, folder: str, settings: Settings) -> None:
    """Raise Refused when the files of a container image, which `folder` keeps, cannot be shown on this node."""
    node = next((place.node for place in gang.own()), "")
    if not settings.bwrap:
        why = settings.degraded.args.get("why") if settings.degraded is not None else None
        found = why if isinstance(why, Said) else say.sandboxes_off()
        raise StartRefused("launch_failed", say.container_without_sandbox(node, found))
    root, machine, here = rooted.root_of(folder), rooted.machine_of(folder), os.uname().machine
    if not os.path.isdir(root):
        raise StartRefused("launch_failed", say.environment_not_here(root))
    if machine not in ("", here):
        raise StartRefused("launch_failed", say.container_of_another_machine(machine, node, here))


def refuse_covering(gang: Gang, layout: Layout, settings: Settings) -> None:
    """Raise Refused(mount_hides) when a mount of `gang` would cover what its sandbox needs: some of it only its node
    knows.
    """
    own = environment_for(gang, layout, settings)
    misplaced = rooted.misplaced(gang.mounts, own.root) if own.root else []
    if misplaced:
        raise StartRefused("mount_hides", say.mounts_not_in_image(misplaced))
    found = sandbox.covered(gang.mounts, own) if settings.bwrap else []
    if found:
        does = [
            (say.mount_would_hide if within(place, target) else say.mount_would_lie_in)(target, place)
            for target, place in found
        ]
        raise StartRefused("mount_hides", say.mount_covers(does))


def resolve(prepared: Prepared, gang: Gang) -> str:
    """Return the program of a task; raise Refused(command_not_found) when it certainly does not exist where the task
    will look.

    What only the sandbox can know (a program in a mounted folder found through PATH) is left to it: the name is
    returned.
    """
    if not prepared.argv:
        raise StartRefused("command_not_found", say.task_command_empty(prepared.name))
    program = prepared.argv[0]
    if CONTAINER_KIND in prepared.env and prepared.options:
        return program  # only its image knows
    if "/" in program:
        return _resolve_path(prepared, gang, program)
    for folder in prepared.env.get("PATH", sandbox.SYSTEM_PATH).split(":"):
        path = f"{folder}/{program}"
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
        if prepared.options and folder and not os.path.isdir(folder):
            return program  # a folder that exists only inside
    missing = say.command_not_in_path(prepared.name, program)
    raise StartRefused("command_not_found", pythons.with_remedy(missing, program, prepared.env))


def _resolve_path(prepared: Prepared, gang: Gang, program: str) -> str:
    path = os.path.join(prepared.cwd, program)
    code = next((mount.source for mount in gang.mounts if mount.target == IN_CODE), None)
    if prepared.options and path.startswith(IN_CODE + "/") and code:
        path = code + path[len(IN_CODE) :]
    elif prepared.options and not path.startswith(("/usr/", "/bin/")):
        return program
    if os.access(path, os.X_OK) and not os.path.isdir(path):
        return path
    raise StartRefused("command_not_found", say.command_not_executable(prepared.name, program))


def spawn_together(tasks: Sequence[LiveTask], cgroups: Cgroups, spawned: Callable[[LiveTask], None]) -> None:
    """Start `tasks` of one attempt, apart from whatever is not of them; call `spawned` for each. Raises OSError: the
    rest is not.
    """

    def start() -> None:
        for task in tasks:
            spawn(task, task.attempt.settings.bwrap, cgroups)
            spawned(task)

    if tasks:
        apart.run(start, apart.restrictions_of(tasks[0].attempt.gang, tasks[0].attempt.settings))


def spawn(task: LiveTask, bwrap: str, cgroups: Cgroups) -> None:
    """Start `task`, in its group from the first instruction, and note pid and start. Raises OSError; then nothing runs.

    In a sandbox the program waits at its gate.
    """
    prepared = task.prepared
    actions: list[tuple[int, int] | tuple[int, int, int] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, prepared.paths.log, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, sharing.FILE),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    argv, env, program = prepared.argv, prepared.env, task.program
    options, given = prepared.options, bool(task.attempt.values) and not task.stands_in
    with contextlib.ExitStack() as after, contextlib.ExitStack() as failed:
        if given:
            handed = giving.hand(task, after, failed)
            actions += handed.actions
            options = (*options, *handed.options) if options else ()
            env = {**env, **handed.env}
        elif prepared.secrets:
            options = giving.without_files(options)
        if prepared.options:
            program, argv, env = bwrap, ("bwrap", "--args", str(ARGS_FD), "--", *prepared.argv), {MARKER: env[MARKER]}
            status = _notes(prepared.paths.status)
            after.callback(os.close, status)
            actions.append((os.POSIX_SPAWN_DUP2, status, sandbox.STATUS_FD))
            actions.append((os.POSIX_SPAWN_DUP2, _options(options, after), ARGS_FD))
            task.gate = gate.make()
            failed.callback(gate.drop, task)
            actions.append((os.POSIX_SPAWN_DUP2, task.gate, sandbox.GATE_FD))
            if seccomp.program():
                actions.append((os.POSIX_SPAWN_OPEN, sandbox.FILTER_FD, seccomp.filter_file(), os.O_RDONLY, 0))
        else:
            os.chdir(prepared.cwd)  # posix_spawn cannot set it; safe here: the agent has one thread
            after.callback(os.chdir, "/")
        if prepared.hooked:
            os.close(_notes(prepared.paths.hooks))
            actions.append((os.POSIX_SPAWN_OPEN, hooks.NOTES_FD, prepared.paths.hooks, os.O_WRONLY | os.O_APPEND, 0))
        if task.group is not None:
            after.callback(cgroups.leave)
            cgroups.enter(task.group)
        _be_batch(after)  # glibc's posix_spawn cannot set SCHED_BATCH
        task.start, task.started_at, task.stamp = procs.now_ticks(), time.time(), procs.stamp()
        task.pid = os.posix_spawn(program, argv, env, file_actions=actions, setsid=True, setsigdef=RESET)
        failed.pop_all()
        if procs.now_ticks() - task.start > procs.START_SLACK:  # this process was held up just then: ask the kernel
            with contextlib.suppress(OSError):  # the task runs: an unknown start must not undo it
                task.start = born.start if (born := procs.stat(task.pid)) else task.start


def _be_batch(after: contextlib.ExitStack) -> None:
    """Let what this thread starts be batch work (sched(7), SCHED_BATCH): its threads do not interrupt one another, nor
    the platform, whenever one wakes up. Not where that is forbidden, or where this process was given another class,
    which is theirs, too.
    """
    if os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, NO_PRIORITY)
            after.callback(os.sched_setscheduler, 0, os.SCHED_OTHER, NO_PRIORITY)


def _options(options: tuple[str, ...], after: contextlib.ExitStack) -> int:
    """Return bubblewrap's options as an open file, which nobody else sees. Raises OSError."""
    fd = os.memfd_create("options", os.MFD_CLOEXEC)
    after.callback(os.close, fd)
    os.write(fd, "\0".join(options).encode() + b"\0")
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _notes(path: str) -> int:
    """Open the file for bubblewrap's notes, or for those of a shell that runs hooks. It has its block from the start: a
    disk that fills up later takes no note away, and a note that is not there was never made. Raises OSError.
    """
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, sharing.FILE)
    try:
        os.write(fd, b"\n")
    except OSError:
        os.close(fd)
        raise
    return fd
