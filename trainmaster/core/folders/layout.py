"""Where everything lies under the one home folder, and where a task sees it. Paths only; touches no disk.

HOME/
  config.toml           the administrator's settings
  trainmaster.db        the ledger (SQLite), with -wal and -shm
  trainmaster.mark      how far the ledger was
  secrets/  0700        session key, cli-token (0600)
  run/      0700        server.pid, server.json, agent.sock, agent.pid, agent.log
  uploads/<digest>/     code folders, by content
  jobs/<2 hex>/<job>/   model/  outputs/                 shared by all attempts of the job
                        attempts/<n>/record.jsonl        what was asked, started and ended
                        attempts/<n>/<task0-0>/          one TaskPaths
  models/<id>/<version>/   manifest.json and files/: immutable; .saving/ holds those that are being made
  environments/<key>/   a Python environment, read-only; <key>.json beside it says that it is whole; .building/ holds
                        those that are being made, .builds/ what is told of builds that ended
  datasets/<upload>/    manifest.json and files/ of one version, immutable: hard links to what lies in
                        .contents/<2 hex>/ by its sha256; .uploads/<upload>/ holds what is on its way
  volumes/<id>/         files/ is what jobs mount and may write; arriving/ what is on its way, going/ what was deleted
  fetched/<key>/        what a prefix of object storage held when a job needed it: hard links to what lies in .objects/;
                        <key>.json beside it says that it is whole; .arriving/ holds what is on its way
  backups/              copies made before a migration
  restoring             there while a backup is being restored: no server starts before that is done
  reserve               room for ends, stops and deletions on a full disk; nothing is in it

uploads, jobs, models, datasets, volumes, fetched and environments may lie on another file system (`data`), which the
nodes of a cluster share; the rest never does.
"""

from __future__ import annotations

import os
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.core.ids import task_name

OWN: Final = ("run", "secrets", "backups")
BULK: Final = ("uploads", "jobs", "models", "datasets", "volumes", "environments", "fetched")
"""Folders in HOME, and those that may lie elsewhere."""


@dataclass(frozen=True, slots=True)
class TaskPaths:
    """Files of one task of one attempt. All but `log`, `metrics`, `tmp` and `work` are written by the platform only."""

    root: str

    @property
    def log(self) -> str:
        """The task's stdout and stderr: the program writes this file itself."""
        return os.path.join(self.root, "log")

    @property
    def status(self) -> str:
        """What bubblewrap itself writes: JSON lines with pid and exit code (absent without a sandbox)."""
        return os.path.join(self.root, "status")

    @property
    def hooks(self) -> str:
        """What the shell of a task with hooks notes (see agent/tasks/hooks)."""
        return os.path.join(self.root, "hooks")

    @property
    def entered(self) -> str:
        """There once somebody has entered the task where no control group lists its processes (see agent/enter)."""
        return os.path.join(self.root, "entered")

    @property
    def usage(self) -> str:
        """Usage samples, one JSON array a line (see agent/measuring/samples)."""
        return os.path.join(self.root, "usage.jsonl")

    @property
    def metrics(self) -> str:
        """Folder the task sees as $TRAINMASTER_METRICS_DIR; `log()` appends to metrics.jsonl in it."""
        return os.path.join(self.root, "metrics")

    @property
    def tmp(self) -> str:
        """The task's private /tmp."""
        return os.path.join(self.root, "tmp")

    @property
    def work(self) -> str:
        """The task's private /workspace (absent without a sandbox). Beside `tmp`: in it, the task could put a link in
        its place.
        """
        return os.path.join(self.root, "workspace")


@dataclass(frozen=True, slots=True)
class Layout:
    """All paths under `home` (absolute). `data` holds the bulk instead, unless it is "". `cache`: where inputs are
    cached on this machine's fast storage, "": nowhere.
    """

    home: str
    data: str = ""
    cache: str = ""

    @property
    def bulk(self) -> str:
        """Where uploads, jobs, models, data sets, volumes and environments lie."""
        return self.data or self.home

    def path(self, *parts: str) -> str:
        """Return HOME/parts."""
        return os.path.join(self.home, *parts)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of which no task may ever see more than its own part."""
        return tuple(filter(None, (self.home, self.data, self.cache)))

    @property
    def config(self) -> str:
        """The administrator's settings."""
        return self.path("config.toml")

    @property
    def mark(self) -> str:
        """How far the ledger was, wherever it lies (see store/past)."""
        return self.path("trainmaster.mark")

    @property
    def database(self) -> str:
        """The default SQLite ledger."""
        return self.path("trainmaster.db")

    @property
    def reserve(self) -> str:
        """Room that is given back when the disk is full (see service/folders/disks)."""
        return self.path("reserve")

    @property
    def restoring(self) -> str:
        """There from the first file of a restore until its last: nobody may use what is here (see service/backup)."""
        return self.path("restoring")

    @property
    def agent_socket(self) -> str:
        """The local agent's unix socket (0600 in a 0700 folder)."""
        return self.path("run", "agent.sock")

    @property
    def cli_token(self) -> str:
        """The 0600 file by which the CLI of the same machine is signed in."""
        return self.path("secrets", "cli-token")

    def upload(self, digest: str) -> str:
        """Folder of an uploaded code tree, by its sha256 hex digest."""
        return os.path.join(self.bulk, "uploads", digest)

    def job(self, job: str) -> str:
        """Folder of a job."""
        return os.path.join(self.bulk, "jobs", job[1:3], job)

    def model_out(self, job: str) -> str:
        """What tasks see as /model."""
        return os.path.join(self.job(job), "model")

    def outputs(self, job: str) -> str:
        """What tasks see as /workspace/outputs."""
        return os.path.join(self.job(job), "outputs")

    def attempts(self, job: str) -> str:
        """Folder of all attempts."""
        return os.path.join(self.job(job), "attempts")

    def attempt(self, job: str, number: int) -> str:
        """Folder of one attempt."""
        return os.path.join(self.attempts(job), str(number))

    def incomplete(self, job: str, number: int) -> str:
        """File that an engine makes when it reaped an attempt and could not bring all that its tasks wrote here."""
        return os.path.join(self.attempt(job, number), "incomplete")

    def task(self, job: str, number: int, role: int, index: int) -> TaskPaths:
        """Paths of one task."""
        return TaskPaths(os.path.join(self.attempt(job, number), task_name(role, index)))

    def saving(self, job: str, number: int) -> str:
        """Folder in which a model version of one attempt is made, beside the models: it is renamed when it is whole."""
        return os.path.join(self.bulk, "models", ".saving", f"{job}-{number}")

    def model(self, model: str, version: int) -> str:
        """Folder of an immutable model version."""
        return os.path.join(self.bulk, "models", model, str(version))

    @property
    def environments(self) -> str:
        """Folder of the Python environments of images."""
        return os.path.join(self.bulk, "environments")

    def environment(self, key: str) -> str:
        """Folder of a built environment."""
        return os.path.join(self.environments, key)

    @staticmethod
    def is_container(key: str) -> bool:
        """Tell whether an environment is the files of a container image: by its name."""
        return key.startswith(CONTAINER)

    def environment_mark(self, key: str) -> str:
        """File that says that an environment is whole, and how large: written last."""
        return os.path.join(self.environments, f"{key}.json")

    @property
    def datasets(self) -> str:
        """Where versions of data sets lie, each in a folder of its own."""
        return os.path.join(self.bulk, "datasets")

    @property
    def volumes(self) -> str:
        """Where volumes lie, each in a folder of its own."""
        return os.path.join(self.bulk, "volumes")

    @property
    def fetched(self) -> str:
        """Where lies what jobs were given of object storage."""
        return os.path.join(self.bulk, "fetched")

    def fetched_inputs(self, job: str) -> str:
        """File that says which of these the inputs of a job are."""
        return os.path.join(self.job(job), "fetched.json")

    def version_files(self, path: str) -> str:
        """Folder of the files of a version of a model or a data set, or of a volume, which lies at `path` below the
        bulk.
        """
        return os.path.join(self.bulk, path, "files")


CONTAINER: Final = "container-"
"""Begins the keys of environments that are the files of a container image."""

# Inside the sandbox (R138-R145).
IN_CODE: Final = "/code"
IN_DATASET: Final = "/dataset"
IN_PRETRAIN: Final = "/pretrain"
IN_VOLUME: Final = "/workspace/volume"
IN_MODEL: Final = "/model"
IN_WORKSPACE: Final = "/workspace"
IN_OUTPUTS: Final = "/workspace/outputs"
IN_ALGORITHM: Final = "/workspace/algorithm"
IN_METRICS: Final = "/trainmaster/metrics"
IN_SECRETS: Final = "/trainmaster/secrets"
IN_ENVIRONMENT: Final = "/trainmaster/environment"
