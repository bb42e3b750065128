"""Slurm, where a cluster answers on this machine: SLURM_CONF names its configuration (see README). Otherwise no
peer.
"""

import os
import shutil
import subprocess
import threading
import time

from bench.server import read_stamps
from bench.stage import Stage


def present() -> bool:
    """Return whether a cluster answers."""
    if shutil.which("sbatch") is None or not os.environ.get("SLURM_CONF"):
        return False
    return subprocess.run(["sinfo", "-h"], capture_output=True, check=False).returncode == 0


def title() -> str:
    """Return what a record names as its peer."""
    return subprocess.run(["sbatch", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def _submit(command: str) -> None:
    words = ["sbatch", "-Q", "-o", "/dev/null", "--wrap", command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def completed(stage: Stage, count: int, rounds: int) -> list[float]:
    """Return jobs per second of `count` jobs from four clients, round by round; empty without a cluster."""
    if not present():
        return []
    found = []
    for _ in range(rounds):
        stamp = stage.fresh("slurm")
        began = time.monotonic()

        def client(share: int, stamp: str = stamp) -> None:
            for _ in range(share):
                _submit(f"{stage.programs['stamp']} {stamp}")

        threads = [threading.Thread(target=client, args=(count // 4,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while len(read_stamps(stamp)) < count // 4 * 4:
            if time.monotonic() - began > 300:
                return []
            time.sleep(0.05)
        found.append(count // 4 * 4 / (max(read_stamps(stamp)) - began))
    return found
