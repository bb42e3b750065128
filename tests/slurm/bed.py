"""A real Slurm cluster on this machine: N slurmd that call themselves nodes, a private munge and controller, pretended
cards.

Needs root and Debian's slurmctld, slurmd, slurmrestd, slurm-client, slurm-wlm-jwt-plugin and munge. Everything lies in
one folder, listens on loopback ports of its own, and is ended by the processes that were started here.
"""

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from tests.fixtures.ports import free_ports

PROGRAMS: Final = ("munged", "munge", "slurmctld", "slurmd", "slurmrestd", "sbatch", "scontrol")
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE_S: Final = 120.0
ENDING_S: Final = 20.0
CARDS: Final = 2
SCHEDULING: Final = "bf_interval=1,sched_min_interval=100000"
"""Backfill looks every second instead of every 30, for tests wait for it. The other number is in microseconds."""

# MessageTimeout: how long each command waits for a controller that is down, which tests do, too; Slurm's own is 10.
CONF: Final = """\
ClusterName=bed
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={folder}/jwt.key
PlugStackConfig={folder}/plugstack.conf
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool/%n
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters={scheduling}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MessageTimeout=5
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=5
ReturnToService=2
JobRequeue=1
GresTypes=gpu
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.[1-{nodes}] Port=[{first}-{last}] \
CPUs={cpus} RealMemory=4096 Gres=gpu:fake:{cards} Feature=bed State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=256 PriorityTier=1 State=UP
PartitionName=urgent Nodes=n[1-2] MaxTime=1-12:00:00 DefMemPerCPU=256 PriorityTier=10 PreemptMode=OFF State=UP
"""


def missing() -> str:
    """Return why no cluster can be started here, "" when one can."""
    lacking = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if lacking:
        return f"Slurm is not installed: {', '.join(lacking)}"
    return "" if os.geteuid() == 0 else "the test cluster needs root"


def until(what: Callable[[], object], why: str) -> None:
    """Wait until `what` answers yes."""
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < give_up, f"timeout: {why}"
        time.sleep(0.1)  # Slurm pushes nothing


def listens(path: Path) -> bool:
    """Whether somebody takes connections at a socket's path; it is there before."""
    with socket.socket(socket.AF_UNIX) as tried, contextlib.suppress(OSError):
        tried.connect(str(path))
        return True
    return False


class Bed:
    """One cluster below `folder`; ports from `port` on. `cpus`: of each node, as it pretends; `scheduling`:
    SchedulerParameters.
    """

    def __init__(
        self, folder: Path, nodes: int = 4, port: int = 0, cpus: int = 4, scheduling: str = SCHEDULING
    ) -> None:
        self.folder, self.nodes, self.cpus, self.scheduling = folder, nodes, cpus, scheduling
        self.port = port or free_ports(nodes + 1, 18_000, 32_000)
        self.conf = str(folder / "slurm.conf")
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start everything and wait until every node is idle."""
        assert not missing(), missing()
        self._write()
        self.start_munge()
        self.start_controller()
        for number in range(1, self.nodes + 1):
            self.start_node(f"n{number}")
        self.until_idle()

    def until_idle(self) -> None:
        """Wait until every node answers and nothing runs."""
        until(lambda: set(self.ask("sinfo", "-h", "-N", "-p", "batch", "-o", "%T").split()) == {"idle"}, "nodes")

    def shown(self) -> str:
        """Return what the cluster has and what runs in it, for whoever looks for the cause of a failure."""
        nodes = self.run("sinfo", "-N", "-o", "%N %P %T %C %E").stdout
        return nodes + self.run("squeue", "-t", "all", "-o", "%A %j %T %N %C %r").stdout

    def start_munge(self) -> None:
        """Start munged and wait until it answers."""
        munge = self.folder / "munge"
        words = [
            "--force",
            "--foreground",
            f"--key-file={munge}/key",
            f"--socket={munge}/sock",
            f"--pid-file={munge}/pid",
        ]
        self._daemon("munged", "munged", *words, f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        until(lambda: self.run("munge", "-S", f"{munge}/sock", "-n").returncode == 0, "munged")

    def start_controller(self) -> None:
        """Start slurmctld and wait until it answers."""
        self._daemon("slurmctld", "slurmctld", "-D")
        until(lambda: self.run("scontrol", "ping").returncode == 0, "slurmctld")

    def keep(self) -> None:
        """Let the controller save its state, and keep a copy of that."""
        self.kill("slurmctld", signal.SIGTERM)
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        shutil.copytree(self.folder / "state", self.folder / "kept")
        self.start_controller()

    def forget(self) -> None:
        """kill -9 the controller before it has saved anything since `keep`: it forgets all jobs since, and gives their
        ids again.
        """
        if "slurmctld" in self.daemons:
            self.kill("slurmctld")
        shutil.rmtree(self.folder / "state")
        shutil.copytree(self.folder / "kept", self.folder / "state")
        self.start_controller()

    def start_node(self, name: str, *within: str) -> None:
        """Start the slurmd of one node; `within`: a command that runs what follows it, in surroundings of its own."""
        (self.folder / "spool" / name).mkdir(parents=True, exist_ok=True)
        self._daemon(name, *within, "slurmd", "-D", "-N", name)

    def start_rest(self, auth: str = "local", api: str = "v0.0.38") -> str:
        """Start slurmrestd, which refuses to be root, on a socket; return where it listens. `auth` jwt: it wants a
        token.
        """
        folder = self.folder / "rest"
        folder.mkdir(mode=0o755, exist_ok=True)
        (folder / "sock").unlink(missing_ok=True)
        shutil.chown(folder, "nobody")
        self._daemon(
            "slurmrestd",
            "setpriv",
            *("--reuid=nobody", "--regid=nogroup", "--clear-groups"),
            *(("env", "SLURM_JWT=daemon") if auth == "jwt" else ()),  # it has no token of its own
            *("slurmrestd", "-f", self.conf, "-a", f"rest_auth/{auth}", "-s", f"openapi/{api}", f"unix:{folder}/sock"),
        )
        until(lambda: listens(folder / "sock"), "slurmrestd")
        return f"unix:{folder}/sock"

    def kill(self, daemon: str, signum: int = signal.SIGKILL) -> None:
        """End munged, slurmctld or the slurmd of a node; what a node runs goes on.

        A slurmd whose controller is gone may wait for an answer for ever: it is killed after ENDING_S.
        """
        process = self.daemons.pop(daemon)
        process.send_signal(signum)
        try:
            process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def processes(self, mark: str) -> list[int]:
        """Return the processes of this cluster that have `mark` in their environment or command line."""
        found = []
        for of in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                text = (of / "environ").read_bytes() + b"\0" + (of / "cmdline").read_bytes()
                if mark.encode() in text and str(self.folder).encode() in text and int(of.name) != os.getpid():
                    found.append(int(of.name))
        return found

    def stop(self) -> None:
        """End every job, then every daemon."""
        if "slurmctld" in self.daemons:
            self.run("scancel", "--user=root", "--signal=KILL", "--full")  # at once; the next one ends what waits
            self.run("scancel", "--user=root")
        for name in reversed(list(self.daemons)):
            self.kill(name, signal.SIGTERM)

    def run(self, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a program of Slurm's."""
        env = {"PATH": PATH, "SLURM_CONF": self.conf, "SLURM_TIME_FORMAT": "%s"}
        return subprocess.run(
            words, env=env, input=given, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )

    def ask(self, *words: str, given: str = "") -> str:
        """Return what a program of Slurm's prints; it must succeed."""
        done = self.run(*words, given=given)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def _daemon(self, name: str, *words: str) -> None:
        log = open(self.folder / f"{name}.out", "ab")  # noqa: SIM115 (it is the daemon's)
        env = {"PATH": PATH, "SLURM_CONF": self.conf}
        self.daemons[name] = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        log.close()

    def _write(self) -> None:
        self.folder.chmod(0o755)
        for name in ("munge", "state", "spool", "dev"):
            (self.folder / name).mkdir(mode=0o755, exist_ok=True)
        for key in (self.folder / "munge" / "key", self.folder / "jwt.key"):
            key.touch(0o600)
            key.write_bytes(os.urandom(1024))
        for number in range(CARDS):  # gres.conf wants devices: some that behave like the null device do
            os.mknod(self.folder / "dev" / f"gpu{number}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        conf = CONF.format(
            host=os.uname().nodename.split(".")[0],
            port=self.port,
            folder=self.folder,
            nodes=self.nodes,
            cards=CARDS,
            first=self.port + 1,
            last=self.port + self.nodes,
            cpus=self.cpus,
            scheduling=self.scheduling,
        )
        texts = {
            "slurm.conf": conf,
            "plugstack.conf": "",
            "cgroup.conf": "CgroupAutomount=no\n",
            "gres.conf": f"NodeName=n[1-{self.nodes}] Name=gpu Type=fake File={self.folder}/dev/gpu[0-{CARDS - 1}]\n",
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text)


B = TypeVar("B", bound=Bed)


@contextlib.contextmanager
def started(kind: type[B]) -> Iterator[B]:
    """Start a cluster for as long as this is entered. Its folder has a short name: sockets lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="tm-bed-"))
    made = kind(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)
