"""The folder through which a server and the steps of one attempt talk: who writes what, and how nothing is read
half-written.

``step.json``          the server, before anything starts: what to run (`StepWork`, `step_text`)
``orders.jsonl``       the server alone appends: signal, end. Made before the start, so that a network file system shows
                       its growth to whoever opens it (a new file in a folder may be seen half a minute later)
``run``                the run that has the attempt: the first one, by a link, which is made once. Every other run does
                       nothing
``facts-<part>.jsonl`` one agent each appends: began, task, note, refused, left. On disk before anything follows from it
``beat-<part>``        touched by that agent for as long as it lives
``again-<part>.jsonl`` a run that came second says so

A part is ``<component>-<node>``. Every file has one writer; a line without its end is not there yet.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.agent.host import sharing
from trainmaster.agent.settings import Settings, settings_from_json
from trainmaster.core.launch import Gang, gang_from_json, gang_to_json

CLUSTER_ENDS: Final = "the cluster ends the job"
"""Why a step says that it ends its tasks where neither they nor the server wanted it."""
MOST: Final = 1 << 20
"""Bytes of orders or facts read at once."""


@dataclass(frozen=True, slots=True)
class StepWork:
    """What a step has to know: the gang without its placement, which the cluster decides, and how its tasks are run.

    `data`: the shared folder of jobs. `components`: the tasks, as (role, index), of each component. `addresses`: how
    nodes are reached, by name. `sandbox`: auto, none or bubblewrap. `grace_s`: what a task has when the cluster ends
    it.
    """

    gang: Gang
    settings: Settings
    data: str
    components: tuple[tuple[tuple[int, int], ...], ...]
    addresses: Mapping[str, str] = field(default_factory=dict)
    sandbox: str = "auto"
    grace_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Folder:
    """The shared folder of one attempt."""

    path: str

    def file(self, name: str) -> str:
        """Return the path of a file in it."""
        return os.path.join(self.path, name)

    @property
    def orders(self) -> str:
        """What the server tells the steps."""
        return self.file("orders.jsonl")

    def facts(self, part: str) -> str:
        """Return where the agent of `part` writes what happens."""
        return self.file(f"facts-{part}.jsonl")

    def beat(self, part: str) -> str:
        """Return what the agent of `part` touches while it lives."""
        return self.file(f"beat-{part}")

    def again(self, part: str) -> str:
        """Return where a run that came second says so."""
        return self.file(f"again-{part}.jsonl")

    # ------------------------------------------------------------------------------------------------------- the server

    @property
    def begun(self) -> bool:
        """Whether something was written down to be run."""
        return os.path.exists(self.file("step.json"))

    @property
    def ran(self) -> bool:
        """Whether a run has claimed the attempt."""
        return os.path.exists(self.file("run"))

    def open(self, step: str) -> None:
        """Write down what `step_text` returned; a second time the same. `keep` does the rest. Raises OSError."""
        sharing.make_private(self.path)
        write_whole(self.file("step.json"), step, lasting=False)

    def keep(self) -> None:
        """Make the file of the orders, and return when what `open` wrote is on the disk. Raises OSError."""
        os.close(os.open(self.orders, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        fd = os.open(self.file("step.json"), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def order(self, order: str, **more: Any) -> None:
        """Tell all agents of the attempt: ``signal`` with `signum`, ``end`` with `grace_s`. Raises OSError."""
        append(self.orders, {"order": order, **more})

    # --------------------------------------------------------------------------------------------------------- the step

    def work(self) -> StepWork:
        """Return what `open` wrote down. Raises OSError, ValueError, KeyError or TypeError."""
        with open(self.file("step.json"), encoding="utf-8") as file:
            data = json.load(file)
        components = tuple(tuple((role, index) for role, index in part) for part in data["components"])
        return StepWork(
            gang_from_json(data["gang"]),
            settings_from_json(data["settings"]),
            data["data"],
            components,
            data["addresses"],
            data["sandbox"],
            data["grace_s"],
        )

    def claim(self, run: str) -> bool:
        """Return whether the attempt belongs to `run`: to the first that asks, for ever. Raises OSError."""
        own = self.file(f".run-{run}-{os.uname().nodename}-{os.getpid()}")
        with open(own, "w", encoding="ascii") as file:
            file.write(run)
            file.flush()
            os.fsync(file.fileno())
        try:
            with contextlib.suppress(FileExistsError):
                os.link(own, self.file("run"))
        finally:
            os.unlink(own)
        with open(self.file("run"), encoding="ascii") as file:
            return file.read() == run


def step_text(work: StepWork) -> str:
    """Return `work` as it is written down for the steps."""
    return json.dumps(
        {
            "gang": gang_to_json(work.gang),
            "settings": work.settings.to_json(),
            "data": work.data,
            "components": work.components,
            "addresses": dict(work.addresses),
            "sandbox": work.sandbox,
            "grace_s": work.grace_s,
        }
    )


def write_whole(path: str, text: str, lasting: bool = True) -> None:
    """Write a private file: there whole or not at all, and on the disk before this returns if it is to be `lasting`.
    Raises OSError.

    Whoever runs tasks may have laid a trap in the folder: nothing that is there already is written through.
    """
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name}-{os.urandom(8).hex()}")
    fd = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if lasting:
            os.fsync(fd)
    os.replace(fresh, path)


def append(path: str, line: Mapping[str, Any]) -> None:
    """Append one whole line and bring it to the disk; what could not be written whole is taken back. Raises OSError."""
    data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, sharing.FILE)
    try:
        size = os.fstat(fd).st_size
        if os.write(fd, data) != len(data):
            os.ftruncate(fd, size)
            raise OSError(28, "No space left on device", path)
        os.fsync(fd)
    finally:
        os.close(fd)


def open_to_read(path: str) -> int:
    """Return a descriptor of a file in an attempt's folder, to read. Raises OSError; ValueError for anything but a
    regular file.

    Whoever runs tasks may have laid a trap there: no link is followed, and nobody is waited for.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise ValueError(f"{path} is no file") from error
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise ValueError(f"{path} is no file")


def read(path: str, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """Return the whole lines behind `offset`, and where the next one begins. No file: nothing. Raises OSError,
    ValueError.
    """
    try:
        fd = open_to_read(path)
    except FileNotFoundError:
        return [], offset
    try:
        data = os.pread(fd, MOST, offset)
    finally:
        os.close(fd)
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], offset + len(whole)
