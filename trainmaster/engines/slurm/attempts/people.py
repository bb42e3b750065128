"""Who runs whose jobs on a cluster, and what of our data folder that system user may reach.

With ``run_as = "service"`` all jobs are the server's own. With ``run_as = "owner"`` a job is submitted, changed and
cancelled as the system user of the person who owns it (`commands` says by which sudo rule), and its processes run as
that user.

Invariants: nobody's job runs as root, as the server's own user, or as somebody whom the sudo rule does not name; a
folder is opened to one person, by number, never to a group; until all is in place inside, the folder that lets the
person in is shut. What a person may write in is never a place where that person could put something under the name of
what the server reads or writes (sticky folders).
"""

import asyncio
import errno
import os
import pwd
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from trainmaster.agent.folder import Folder
from trainmaster.agent.host import sharing
from trainmaster.core.errors import Problem, Unavailable
from trainmaster.core.folders.layout import Layout, TaskPaths
from trainmaster.core.ids import task_name
from trainmaster.core.launch import Gang
from trainmaster.engines.base import LaunchRefused
from trainmaster.engines.slurm.client import parse
from trainmaster.engines.slurm.client.commands import SEARCHED, USER, ClusterRefused, Commands
from trainmaster.engines.slurm.messages import slurm, slurm_rules
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said
from trainmaster.spec.problems import problem

FRESH_S: Final = 60.0
"""How long is believed what the system and sudo said of a person."""
ENTER, READ, LOOK, ALL = 1, 4, 5, 7
"""Rights: to pass a folder, to read a file, to pass a folder and see what is in it, everything."""
THROUGH: Final = 0o711
"""The mode of a folder on the way to those that are opened to somebody: everybody may pass, nobody sees what is in
it.
"""
STICKY: Final = 0o1770
"""The mode of a folder in which each may remove only what is their own."""


@dataclass(frozen=True, slots=True)
class SystemUser:
    """Whom Slurm is asked as. `name` "": the server's own user."""

    name: str = ""
    number: int = -1


SERVICE: Final = SystemUser()


class Stranger(LaunchRefused):
    """Nothing may run here for this person; `problem` says why."""

    def __init__(self, said: Said) -> None:
        super().__init__("launch_failed", said)
        self.problem = problem("pool", said)


class ClusterPeople:
    """The people of one cluster. `service`: the name of the server's own system user."""

    def __init__(self, engine: str, own: SlurmEngineConfig, layout: Layout, commands: Commands) -> None:
        self._engine, self._own, self._layout, self._commands = engine, own, layout, commands
        self._own_number = os.geteuid()
        self.service = pwd.getpwuid(self._own_number).pw_name
        self._known: dict[str, tuple[float, SystemUser | Stranger]] = {}

    @property
    def owners(self) -> bool:
        """Whether jobs run as their owners."""
        return self._own.run_as == "owner"

    def name_of(self, person: str) -> str:
        """Return the name of the system user that runs the jobs of `person`, if that user may; "": the server's own.
        Pure.
        """
        return self._own.users.get(person, person) if self.owners else ""

    def warnings(self) -> tuple[Problem, ...]:
        """Return what a person should know of whose jobs they will be. Pure."""
        if self.owners:
            return ()
        return (problem("pool", slurm_rules.runs_as_service(engine=self._engine, user=self.service)),)

    async def user(self, person: str) -> SystemUser:
        """Return as whom Slurm is asked about the jobs of `person`. Raises Stranger, ClusterDown."""
        if not self.owners:
            return SERVICE
        asked_at, found = self._known.get(person, (0.0, None))
        if found is None or time.monotonic() - asked_at >= FRESH_S:
            found = await self._look_up(person)
            self._known[person] = time.monotonic(), found
        if isinstance(found, Stranger):
            raise found
        return found

    def remembered(self, person: str) -> SystemUser | None:
        """Return as whom Slurm was asked about the jobs of `person` of late, None when it was not."""
        _, found = self._known.get(person, (0.0, None)) if self.owners else (0.0, SERVICE)
        return found if isinstance(found, SystemUser) else None

    async def _look_up(self, person: str) -> SystemUser | Stranger:
        name = self.name_of(person)
        number = await asyncio.to_thread(_number, name)
        if number is None:
            return Stranger(slurm_rules.no_system_user(self._engine, person, name))
        if number in (0, self._own_number):
            return Stranger(slurm_rules.forbidden_system_user(self._engine, person, name))
        if why := await self._commands.forbids(name):
            return Stranger(slurm_rules.not_on_behalf(self._engine, person, name, why))
        return SystemUser(name, number)

    async def problem(self, person: str) -> Problem | None:
        """Return why `person` may not run jobs here, None when that is possible. Raises ClusterDown."""
        try:
            await self.user(person)
        except Stranger as stranger:
            return stranger.problem
        return None

    # ----------------------------------------------------------------------------------------------------- at the start

    async def check(self) -> None:
        """Return when jobs can run as their owners: sudo, access lists, a queue that shows them. Raises Unavailable,
        ClusterDown.
        """
        if not self.owners:
            return
        if not self._layout.data:
            raise Unavailable(slurm.owners_without_data_folder())
        if shutil.which("sudo", path=SEARCHED) is None:
            raise Unavailable(slurm.owners_without_sudo())
        await self._check_sight()
        try:
            await asyncio.to_thread(self._prepare)
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            raise Unavailable(slurm.no_access_lists(self._layout.data)) from error

    async def _check_sight(self) -> None:
        """Raise Unavailable where the queue hides others' jobs from us: they would count as gone while they run."""
        told = await self._commands.run("scontrol", "show", "config")
        if "jobs" not in parse.setting(told, "PrivateData").split(","):
            return
        with suppress(ClusterRefused):
            told = await self._commands.run("sacctmgr", "-n", "-P", "show", "user", self.service, "format=AdminLevel")
            if told.strip() in ("Operator", "Administrator"):
                return
        raise Unavailable(slurm.jobs_hidden_from(self.service))

    def _prepare(self) -> None:
        """Shut what lay open behind folders that everybody passes from now on, then let everybody pass."""
        bulk = self._layout.bulk
        with tempfile.TemporaryDirectory(prefix=".lists-", dir=bulk) as tried:
            sharing.grant(tried, {self._own_number: ALL})
        shared = [_of(bulk, "uploads"), self._layout.environments]
        for place in [*shared, *(_of(bulk, "jobs", name) for name in _names(_of(bulk, "jobs")))]:
            for name in _names(place):
                if os.path.isdir(_of(place, name)):
                    sharing.shut(_of(place, name))
        for path in (*shared, _of(bulk, "jobs"), bulk):
            sharing.make_private(path)
            os.chmod(path, THROUGH)

    # --------------------------------------------------------------------------------------------------- for an attempt

    def open(self, gang: Gang, shared: Folder, user: SystemUser) -> None:
        """Let `user` into what the attempt of `gang` needs, which is written already; a second time nothing. Blocking.
        Raises OSError.

        The attempt's folder and those of its tasks are ours and sticky; what the server wrote there, the user may read.
        """
        if user == SERVICE:
            return
        shared.keep()
        for path in (shared.file("step.json"), shared.orders):
            sharing.grant(path, {user.number: READ})
        if sharing.granted(shared.path, user.number):
            return
        job, both = gang.job, {user.number: ALL, self._own_number: ALL}
        sharing.bequeath(shared.path, both)
        for role, asked in enumerate(gang.roles):
            for index in range(asked.replicas):
                paths = TaskPaths(shared.file(task_name(role, index)))
                for path in (paths.root, paths.metrics):
                    sharing.make_private(path)
                    os.chmod(path, STICKY)
        os.chmod(shared.path, 0o1700)
        for mount in gang.mounts:
            if os.path.dirname(mount.source) == _of(self._layout.bulk, "uploads"):
                _open_to_read(mount.source, user)
        if gang.environment:
            _open_to_read(self._layout.environment(gang.environment), user)
        for path in (self._layout.model_out(job), self._layout.outputs(job)):
            sharing.make_private(path)
            sharing.bequeath(path, both)
            sharing.grant(path, both)
        os.chmod(os.path.dirname(self._layout.job(job)), THROUGH)
        for path in (self._layout.job(job), os.path.dirname(shared.path)):
            sharing.grant(path, {user.number: ENTER})
        sharing.grant(shared.path, both)


def _number(name: str) -> int | None:
    """Return the number of a system user, None when there is none. May block."""
    try:
        return pwd.getpwnam(name).pw_uid if USER.fullmatch(name) else None
    except KeyError:
        return None


def _of(*parts: str) -> str:
    return os.path.join(*parts)


def _names(path: str) -> list[str]:
    with suppress(FileNotFoundError):
        return os.listdir(path)
    return []


def _open_to_read(path: str, user: SystemUser) -> None:
    """Let `user` read an upload or the environment of an image: what is in it may be read by whoever is let in at its
    top. O(files) once for each of them and each user.
    """
    if not sharing.granted(path, user.number):
        for here, folders, files in os.walk(path):
            for name in (*folders, *files):
                below = _of(here, name)
                mode = os.lstat(below).st_mode
                if not stat.S_ISLNK(mode) and mode != (wanted := mode | (mode & 0o500) >> 3 | (mode & 0o500) >> 6):
                    os.chmod(below, stat.S_IMODE(wanted))
        sharing.grant(path, {user.number: LOOK})
