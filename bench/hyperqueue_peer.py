"""HyperQueue through its Python wheel: server and worker in one process of their own, a warm client in ours.

The wheel has no journal, so nothing it accepts is durable: the comparison is to its advantage. Not installed: no peer.
"""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import threading
from typing import Any, Final

from bench.measure import CpuGroup
from bench.stage import Stage

CORES: Final = 16
_HOLDER: Final = """
import sys
from hyperqueue.cluster import LocalCluster, WorkerConfig
cluster = LocalCluster(server_dir=sys.argv[1], worker_config=WorkerConfig(cores=int(sys.argv[2])))
print("ready", flush=True)
sys.stdin.read()
"""


def installed() -> bool:
    """Return whether the wheel is there."""
    return importlib.util.find_spec("hyperqueue") is not None


def title() -> str:
    """Return what a record names as its peer."""
    return f"HyperQueue {importlib.metadata.version('hyperqueue')}, not durable"


class HyperQueue:
    """A running cluster and a connected client."""

    def __init__(self, stage: Stage, cpu: CpuGroup | None = None) -> None:
        self.folder = stage.fresh("hyperqueue")
        os.makedirs(self.folder)
        command = [*(cpu.prefix() if cpu else []), sys.executable, "-c", _HOLDER, self.folder, str(CORES)]
        with open(os.path.join(self.folder, "err"), "wb") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True
            )
        stage.closing(self.close)
        out: Any = self.process.stdout
        for line in out:
            if line.strip() == "ready":
                break
        threading.Thread(target=out.read, daemon=True).start()  # a pipe that nobody reads would fill, and stop it
        os.environ["TQDM_DISABLE"] = "1"  # its client draws a progress bar on stderr
        from hyperqueue import Client

        self.client = Client(server_dir=self.folder)
        if cpu is not None:
            cpu.pids = [self.process.pid]

    def job(self, commands: list[list[str]]) -> Any:
        """Return one job with a task for each command, without output files."""
        from hyperqueue import Job

        job = Job(default_workdir=self.folder)
        for command in commands:
            job.program(command, stdout=None, stderr=None)
        return job

    def submit(self, job: Any) -> Any:
        """Submit; return its handle."""
        return self.client.submit(job)

    def wait(self, handles: list[Any]) -> None:
        """Wait until all have ended (HyperQueue's client asks once a second)."""
        self.client.wait_for_jobs(handles)

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
