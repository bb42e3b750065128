"""A Slurm cluster of one's own for `bench/run slurm`: that of the tests, tuned for throughput, with its controller's
log as the clock.

The controller writes down to the millisecond when it took a job in, started it and saw its end. Reading that costs
Slurm nothing, and says the same of a job whoever has submitted it.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from bench.measure import TICK, CpuGroup
from bench.server import Server
from bench.stage import Stage
from tests.slurm.bed import PATH, Bed, missing

CPUS: Final = 16
SCHEDULING: Final = "batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1,default_queue_depth=1000"
PATIENCE_S: Final = 180.0
ENGINE: Final = """
[[engines]]
name = "cluster"
kind = "slurm"
pools = ["default"]
conf = "{conf}"
environment = "{environment}"
[engines.partitions]
default = "batch"
"""
_LINE: Final = re.compile(
    r"\[(?P<at>[0-9T:.-]+)\] (?:"
    r"_slurm_rpc_submit_batch_job: JobId=(?P<accepted>\d+)(?:_\*)? "
    r"|sched[^=]*: (?:Allocate|Started) JobId=(?P<started>\d+) "
    r"|_job_complete: JobId=(?P<ended>\d+) done)"
)


Log = dict[str, dict[int, float]]
"""By "accepted", "started" and "ended": when that happened to which job, in seconds since the epoch. An array is
accepted as one.
"""


def read_log(lines: Iterable[str], log: Log) -> None:
    """Add to `log` what the lines of a controller tell."""
    for match in filter(None, map(_LINE.match, lines)):
        kind = next(name for name in log if match[name])
        log[kind][int(match[kind])] = datetime.fromisoformat(match["at"]).timestamp()


def until(what: Callable[[], bool], why: str, every_s: float = 0.1) -> None:
    """Wait until `what` is true. Raises TimeoutError."""
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > give_up:
            raise TimeoutError(why)
        time.sleep(every_s)


class Cluster:
    """Four nodes that run, and a partition that can be held, so that what is submitted waits."""

    def __init__(self, stage: Stage) -> None:
        folder = Path(tempfile.mkdtemp(prefix="tm-bed-"))  # a short name: sockets lie in it
        self._bed = Bed(folder, cpus=CPUS, scheduling=SCHEDULING)
        stage.closing(lambda: shutil.rmtree(folder, ignore_errors=True))
        stage.closing(self._bed.stop)
        self._bed.start()
        self.env = {"PATH": PATH, "SLURM_CONF": self._bed.conf}
        self._log: Log = {"accepted": {}, "started": {}, "ended": {}}
        self._read = 0  # bytes of the log
        self.title = self._bed.ask("sbatch", "--version").strip()

    def server(self, stage: Stage, environment: str, cpu: CpuGroup) -> Server:
        """Return a server whose default pool is this cluster; it is not started."""
        engine = ENGINE.format(conf=self._bed.conf, environment=environment)
        return Server(stage, {}, cpu=cpu, limits="sample_s = 2.0", engines=engine, wait=False)

    def sbatch(self, script: str, *words: str) -> int:
        """Submit as a person does; return the id of the job."""
        command = ["sbatch", "--parsable", *words]
        done = subprocess.run(command, env=self.env, input=script, capture_output=True, text=True, check=True)
        return int(done.stdout)

    def clients(self, script: str, count: int, cpu: CpuGroup) -> list[str]:
        """Let four shells submit the file `script` one time after the other, `count` times in all; none of it is a
        server's job.
        """
        loop = 'i=0; while [ $i -lt "$2" ]; do sbatch --parsable "$1" || exit 1; i=$((i+1)); done'
        command = [*cpu.prefix(), "/bin/sh", "-c", loop, "sh", script, str(count // 4)]
        shells = [subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL) for _ in range(4)]
        for shell in shells:
            shell.wait()
        return []

    def hold(self) -> None:
        """Let nothing start."""
        self._bed.ask("scontrol", "update", "PartitionName=batch", "State=DOWN")

    def release(self) -> None:
        """Let it start."""
        self._bed.ask("scontrol", "update", "PartitionName=batch", "State=UP")

    def empty(self) -> None:
        """End all that was not submitted by a server of ours as well."""
        self._bed.ask("scancel", "--user=root")
        until(lambda: not self.queue(), "the queue is empty")

    def queue(self) -> list[str]:
        """Return the ids of what waits or runs, of an array's elements each."""
        return self._bed.ask("squeue", "-h", "-r", "-o", "%i").split()

    def look_ms(self) -> float:
        """Return how long one question about all our jobs takes."""
        began = time.perf_counter()
        self._bed.ask("squeue", "-h", "-o", "%A|%T|%r|%S|%N", "--user=root")
        return (time.perf_counter() - began) * 1e3

    def known(self) -> int:
        """Return how many jobs the controller still knows, whatever became of them."""
        return len(self._bed.ask("squeue", "-h", "-t", "all", "-o", "%A").split())

    def log(self) -> Log:
        """Return what the controller has written down so far."""
        with open(self._bed.folder / "slurmctld.log", "rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        read_log(whole.decode("utf-8", "replace").splitlines(), self._log)
        return self._log

    def cpu_s(self) -> float:
        """Return the CPU seconds that the controller has used."""
        stat = Path(f"/proc/{self._bed.daemons['slurmctld'].pid}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / TICK  # utime and stime of proc(5)


def absent() -> str:
    """Return why no cluster can be had here, "" when one can."""
    return missing()
