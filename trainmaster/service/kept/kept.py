"""What is kept for each workspace and each person in it, in memory, and whether there may be more (storage quotas).

Three things are added up: what was measured and stored as rows, what the folders of running jobs took when they were
looked at last, and what is set aside for what is on its way, an upload or a model that is being saved. Whoever sets
aside is refused, or has it until they let go; so of any number at once exactly those begin that there is room for.
Invariant: what is set aside and what is stored together are within the quota, but for what running jobs write. Thread
safe; what asks the rows says so.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Final

from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Problem, TrainmasterError, problem_of
from trainmaster.core.folders.room import Use
from trainmaster.core.records import Job
from trainmaster.messages.cluster import kept as said
from trainmaster.messages.cluster import queue
from trainmaster.messages.said import Said
from trainmaster.store.kept.rows import Account, KeptRows

log = logging.getLogger("trainmaster.kept")

MIB: Final = 1 << 20
_NOTHING: Final = Use()


class Kept:
    """One object per server. `workspace_of` gives a workspace with its quotas."""

    def __init__(self, rows: KeptRows, workspace_of: Callable[[str], Workspace | None]) -> None:
        self._rows, self._workspace_of = rows, workspace_of
        self._lock = threading.Lock()
        self._storing = threading.Lock()  # from a change of the rows to that of the sums
        self._jobs: dict[Account, Use] = {}
        self._versions: dict[Account, Use] = {}
        self._held: dict[str, tuple[Account, Use]] = {}  # what is on its way, by its name
        self._live: dict[str, tuple[Account, Use]] = {}  # running jobs, by id
        self._sums: dict[str, dict[str, Use]] | None = None  # all of it by workspace and owner, None: to be made anew

    # -- asking ------------------------------------------------------------------------------------------------

    def used(self, workspace: str, person: str | None = None) -> Use:
        """Return what is kept or set aside for a workspace, or for one person in it. O(its people), and after a change
        O(all people).
        """
        with self._lock:
            return self._used(workspace, person)

    def people(self, workspace: str) -> list[str]:
        """Return for whom something is kept there, the name of who has most first."""
        with self._lock:
            found = self._people(workspace)
            return sorted(found, key=lambda name: (-found[name].bytes, name))

    def full(self, workspace: str, person: str) -> Said | None:
        """Return why nothing more may be kept for `person` there, None where something may."""
        with self._lock:
            for whose, name, most in self._limits(workspace, person):
                used = self._used(workspace, name)
                if "mib" in most and used.bytes >= most["mib"] * MIB:
                    return said.storage_full(whose, _mib(used), most["mib"])
                if "files" in most and used.files >= most["files"]:
                    return said.storage_full_of_files(whose, used.files, int(most["files"]))
        return None

    def problems(self, job: Job) -> list[Problem]:
        """Return why `job` may not be taken in: it would have no room for what it writes."""
        told = self.full(job.workspace, job.owner)
        return [] if told is None else [problem_of("workspace", told, job.workspace)]

    def exceeded(self, name: str) -> Said | None:
        """Return why what is on its way under this name may not go on: more is kept by now than may be."""
        with self._lock:
            found = self._held.get(name)
            return None if found is None else self._over(found[0])

    def _limits(self, workspace: str, person: str) -> list[tuple[Said, str | None, dict[str, float]]]:
        found = self._workspace_of(workspace)
        if found is None or not (found.storage or found.storage_per_person or found.storage_people):
            return []
        limits: list[tuple[Said, str | None, dict[str, float]]] = []
        if most := found.storage_of(None):
            limits.append((queue.account_of_workspace(workspace), None, most))
        if most := found.storage_of(person):
            limits.append((queue.account_of_member(person, workspace), person, most))
        return limits

    def _people(self, workspace: str) -> dict[str, Use]:
        """Return what counts for each person in a workspace."""
        if self._sums is None:
            self._sums = {}
            for (of, owner), use in chain(
                self._jobs.items(), self._versions.items(), self._held.values(), self._live.values()
            ):
                people = self._sums.setdefault(of, {})
                before = people.get(owner, _NOTHING)
                people[owner] = Use(before.bytes + use.bytes, before.files + use.files)
        return self._sums.get(workspace, {})

    def _used(self, workspace: str, person: str | None) -> Use:
        people = self._people(workspace)
        if person is not None:
            return people.get(person, _NOTHING)
        return Use(sum(use.bytes for use in people.values()), sum(use.files for use in people.values()))

    def _refusal(self, account: Account, more: Use) -> Said | None:
        for whose, name, most in self._limits(*account):
            used = self._used(account[0], name)
            if "mib" in most and used.bytes + more.bytes > most["mib"] * MIB:
                return said.storage_exceeded(whose, _mib(more), _mib(used), most["mib"])
            if "files" in most and used.files + more.files > most["files"]:
                return said.storage_exceeded_by_files(whose, more.files, used.files, int(most["files"]))
        return None

    def _over(self, account: Account) -> Said | None:
        for whose, name, most in self._limits(*account):
            used = self._used(account[0], name)
            if "mib" in most and used.bytes > most["mib"] * MIB:
                return said.storage_over(whose, _mib(used), most["mib"])
            if "files" in most and used.files > most["files"]:
                return said.storage_over_by_files(whose, used.files, int(most["files"]))
        return None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change something; the sums are made anew when they are asked for, also in between."""
        with self._lock:
            self._sums = None
            try:
                yield
            finally:
                self._sums = None

    # -- on its way --------------------------------------------------------------------------------------------

    def hold(self, name: str, account: Account, use: Use) -> Said | None:
        """Set aside room for what is on its way, in place of what was set aside under this name; return why not, None
        when it is done. What was set aside before stays where it is refused.
        """
        with self._changing():
            before = self._held.pop(name, None)
            told = self._refusal(account, use)
            if told is None:
                self._held[name] = account, use
            elif before is not None:
                self._held[name] = before
        return told

    def set_aside(self, holds: Mapping[str, tuple[Account, Use]]) -> None:
        """Take what is on its way already, whatever the quota."""
        with self._changing():
            self._held = {**holds, **self._held}

    def change_held(self, holds: Mapping[str, tuple[Account, Use] | None]) -> None:
        """Set other amounts aside in one step, whatever the quota; None lets go."""
        with self._changing():
            for name, held in holds.items():
                if held is None:
                    self._held.pop(name, None)
                else:
                    self._held[name] = held

    def let_go(self, *names: str) -> None:
        """Let go of what was set aside. Any number of times."""
        with self._changing():
            for name in names:
                self._held.pop(name, None)

    def set_aside_for(self, name: str) -> Use | None:
        """Return what is set aside under this name."""
        with self._lock:
            found = self._held.get(name)
            return None if found is None else found[1]

    def held(self, beginning: str) -> list[str]:
        """Return under which names that begin so something is set aside."""
        with self._lock:
            return [name for name in self._held if name.startswith(beginning)]

    # -- running jobs ------------------------------------------------------------------------------------------

    def runs(self, job: Job, use: Use) -> None:
        """Take what the folder of a running job takes now."""
        with self._changing():
            self._live[job.id] = (job.workspace, job.owner), use

    def forget_live(self, there: Collection[str]) -> None:
        """Forget what running jobs took, but for those that are `there` still."""
        with self._changing():
            self._live = {job: found for job, found in self._live.items() if job in there}

    # -- what is stored: these block ---------------------------------------------------------------------------

    def load(self) -> None:
        """Begin anew from the rows. O(jobs + versions). Raises StorageFailed, Unavailable."""
        with self._storing:
            jobs, versions = self._rows.of_jobs(), self._rows.of_versions()
            with self._changing():
                self._jobs, self._versions = jobs, versions

    def keep_versions(self, asset: str, uses: Mapping[int, Use], *held: str) -> None:
        """Store what versions take, and let go of what was set aside for them. Raises StorageFailed, Unavailable."""
        with self._storing:
            self._rows.put_versions(asset, uses)
            versions = self._rows.of_versions()
            with self._changing():
                self._versions = versions
                for name in held:
                    self._held.pop(name, None)

    def keep_job(self, job: str, use: Use) -> None:
        """Store what the folder of a job takes that ended. Raises StorageFailed, Unavailable."""
        with self._storing:
            found = self._rows.put_job(job, use)
            with self._changing():
                self._live.pop(job, None)
                if found is not None:
                    account, more = found
                    before = self._jobs.get(account, Use())
                    self._jobs[account] = Use(before.bytes + more.bytes, before.files + more.files)

    def removed(self, job: str) -> None:
        """Take note that the files of a job are gone. A ledger that cannot be written is asked again later."""
        try:
            if self._rows.measured(job):
                self.keep_job(job, Use())
        except TrainmasterError as error:
            log.debug("what is kept is added up again later: %s", error)


def _mib(use: Use) -> int:
    return -(-use.bytes // MIB)
