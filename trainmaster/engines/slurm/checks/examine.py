"""Looks at everything that a cluster must have before jobs are sent to it, from the server's machine, one `Check` after
the other.

Used before a cluster is added and whenever somebody asks. Invariants: nothing of the cluster is changed, and a probe
job never outlives the look, however it ends.
"""

import os
import pwd
import re
import shutil
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed
from trainmaster.core.errors import TrainmasterError
from trainmaster.engines.adding import Check, EngineToAdd
from trainmaster.engines.slurm.checks import checks, probed
from trainmaster.engines.slurm.checks.trial import Trial
from trainmaster.engines.slurm.client import parse, rest
from trainmaster.engines.slurm.client.commands import Access, Commands, environment, said_by
from trainmaster.engines.slurm.client.parse import NodeLine, Partition
from trainmaster.engines.slurm.node.survey import trouble_writing
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said

MOUNTS: Final = "/proc/self/mounts"
CONF: Final = "/etc/slurm/slurm.conf"
MUNGE: Final = "/run/munge/munge.socket.2"
"""Where things are unless somebody says otherwise."""
RUNTIME_S: Final = 5.0
"""How long the container runtime may think about what it is."""


class ClusterExamination:
    """One look at one cluster."""

    labels: Mapping[str, Said] = checks.LABELS

    def __init__(self, wanted: EngineToAdd) -> None:
        self.wanted = wanted
        self.own: SlurmEngineConfig = wanted.engine.settings
        self.commands = Commands(Access(self.own.conf, self.own.programs))
        self.reading = rest.reading(self.own, self.commands, _service())
        self.pools: tuple[str, ...] = wanted.engine.pools
        self._fetches = False  # whether container images are fetched for it
        self._partitions: list[Partition] = []
        self._nodes: list[NodeLine] = []

    async def run(self) -> AsyncIterator[Check]:
        """Yield all checks. What cannot be looked at because of an earlier one is left out."""
        try:
            async for check in self._look():
                yield check
        finally:
            await self.reading.close()

    async def _look(self) -> AsyncIterator[Check]:
        lacking = set()
        for check in self._machine():
            lacking |= {check.name} if check.bad else set()
            yield check
        if lacking & {
            "programs",
            "conf",
        }:  # without slurm.conf Slurm's programs search the network for half a minute
            yield checks.not_tried()
            return
        talks = True
        async for check in self._cluster():
            talks = talks and not check.bad
            yield check
        if lacking or not talks:
            yield checks.not_tried()
            return
        for partition in dict.fromkeys(map(self._partition, self.pools)):
            for check in await self._trial(partition).run():
                yield check
                if check.name == "sandbox" and self._fetches:
                    yield probed.containers(check, self.own.sandbox)

    def _partition(self, pool: str) -> str:
        return self.own.partitions.get(pool, pool)

    # --------------------------------------------------------------------------------------------- the server's machine

    def _machine(self) -> Iterator[Check]:
        mine, home, data = os.geteuid(), self.wanted.home, self.wanted.data
        owner = os.stat(home).st_uid if os.path.isdir(home) else mine
        yield checks.user(mine, owner, _service(), home)
        there = os.path.isdir(data)
        trouble = trouble_writing(data) if there else ""
        if self.own.scratch:
            yield checks.data(data, there, trouble)
            yield checks.scratch(self.own.scratch)
        else:
            yield checks.folder(data, there, file_system(data) if there else "", trouble)
        if there:
            yield checks.space(data, shutil.disk_usage(data).free >> 20)
        place = self.own.programs or environment(self.commands.access)["PATH"]
        yield checks.programs({name: shutil.which(name, path=place) is not None for name in checks.PROGRAMS}, place)
        yield checks.conf(self.own.conf, _text(self.own.conf)[1] if self.own.conf else "")
        yield self._containers()

    def _containers(self) -> Check:
        place, seen, trouble = self.wanted.containers, None, ""
        if place and not self.own.scratch:
            try:
                seen = Runtime(place, RUNTIME_S).version()
            except RuntimeFailed as error:
                trouble = error.text
        self._fetches = seen is not None
        return checks.containers(place, self.own.scratch, seen, trouble)

    # ------------------------------------------------------------------------------------------------------ the cluster

    async def _cluster(self) -> AsyncIterator[Check]:
        try:
            client = await self.commands.version()
            yield checks.version(client)
            if (place := munge_socket(self.own.conf or CONF)) is not None:
                yield (munge := checks.munge(place, _trouble_connecting(place)))
                if munge.bad:  # otherwise Slurm's programs retry for most of a minute
                    return
            await self.commands.run("scontrol", "ping")  # fails at once where no controller runs
            before = time.time()
            said = parse.configuration(await self.commands.run("scontrol", "show", "config"))
            yield checks.controller(said, client)
            if "now" in said:
                yield checks.clock(float(said["now"]) - time.time(), float(said["now"]) + 1.0 - before)
        except (TrainmasterError, ValueError) as error:
            yield checks.no_answer(said_by(error))
            return
        readable = True
        async for check in self._read():
            readable = readable and check.ok
            yield check
        if not readable:
            return
        if not self.pools:
            self.pools = tuple(one.name for one in self._partitions if one.up and not one.hidden)
        for pool in self.pools:
            yield checks.partition(pool, self._partition(pool), self._partitions, self._nodes)
        yield checks.accounting(said)
        yield checks.pending(self.wanted.engine.most_pending, len(self.pools), said, await self._limits(said))

    async def _read(self) -> AsyncIterator[Check]:
        """Read what there is in the way in which the engine does."""
        place = self.own.rest
        if place and (path := self.own.rest_token):
            yield (token := checks.token(path, *_text(path), time.time()))
            if token.bad:  # slurmrestd would only say "unspecified error"
                return
        try:
            self._nodes, self._partitions = await self.reading.nodes(), await self.reading.partitions()
        except (TrainmasterError, ValueError) as error:
            yield checks.rest(place, said_by(error)) if place else checks.no_answer(said_by(error))
            return
        if place:
            yield checks.rest(place, None)

    async def _limits(self, said: Mapping[str, str]) -> list[int]:
        """Return how many jobs the accounts of this user may submit, where that can be seen."""
        if not said.get("AccountingStorageType", "").endswith("slurmdbd"):
            return []
        words = ["-n", "-P", "show", "assoc", f"user={_service()}", "format=account,maxsubmit,grpsubmit"]
        try:
            lines = (await self.commands.run("sacctmgr", *words)).splitlines()
        except TrainmasterError:  # sacctmgr may be closed to us
            return []
        rows = [line.split("|") for line in lines if line.partition("|")[0] == self.own.account or not self.own.account]
        return [int(cell) for row in rows for cell in row[1:] if cell.isdigit()]

    # ---------------------------------------------------------------------------------------------------- the probe job

    def _trial(self, partition: str) -> Trial:
        usable = [node for node in self._nodes if partition in node.partitions and node.usable]
        cards = int(bool(usable) and all(node.cards for node in usable))
        wait_s, tell = self.wanted.wait_s, self.wanted.tell
        return Trial(self.commands, self.reading, self.own, self.wanted.data, partition, cards, wait_s, tell)


def file_system(folder: str) -> str:
    """Return the kind of file system that `folder` lies on: ``nfs4``, ``tmpfs``; "" where that is not known."""
    place, found, longest = os.path.realpath(folder), "", 0
    with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, at, kind, *_ = line.split(" ")
            at = at.encode("latin-1", "replace").decode("unicode_escape")
            if len(at) >= longest and (place == at or place.startswith(at.rstrip("/") + "/")):
                found, longest = kind, len(at)
    return found


def munge_socket(conf: str) -> str | None:
    """Return where munged of the cluster of this slurm.conf is to answer; None where that is not known, or something
    else is used.
    """
    try:
        with open(conf, encoding="utf-8", errors="replace") as file:
            said = dict(re.findall(r"^\s*(AuthType|AuthInfo)\s*=\s*(\S+)", file.read(), re.MULTILINE | re.IGNORECASE))
    except OSError:  # no slurm.conf here: the programs fetch theirs from the controller
        return MUNGE if os.path.exists(MUNGE) else None
    found = {key.lower(): value for key, value in said.items()}
    if found.get("authtype", "auth/munge").lower() != "auth/munge":
        return None
    named = re.search(r"(?:^|,)socket=([^,]+)", found.get("authinfo", ""))
    return named[1] if named is not None else MUNGE


def _trouble_connecting(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.connect(path)
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _text(path: str) -> tuple[str, str]:
    """Return what is in a file, and why it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(), ""
    except OSError as error:
        return "", error.strerror or str(error)


def _service() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
