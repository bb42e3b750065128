"""What scripts/demo does once the machine is set up: serve, submit, report, stay. Leaves nothing running behind it.

The accuracy is read from the saved model version itself, so that a good figure also proves that the saving worked.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from trainmaster import Client
from trainmaster.answers import JobView
from trainmaster.core.errors import TrainmasterError

ROOT = Path(__file__).resolve().parents[1]
JOB_FILE = "examples/digits-ddp/job.yaml"
WANTED_ACCURACY = 0.95
READY_S = 180.0  # a computer that is busy with something else needs a minute
ENDING_S = 20.0
CONFIG = """\
# Two nodes that exist only by name and share this machine, each with two cards that exist only in the books.
[local]
virtual_nodes = 2
simulated_gpus = 2
gpu_type = "sim-a100"
"""


class Refused(Exception):
    """The demo cannot go on; the text says why."""


def step(text: str) -> None:
    bold, plain = ("\x1b[1m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
    print(f"{bold}==> {text}{plain}", file=sys.stderr, flush=True)


def is_held(lock: Path) -> bool:
    """Whether a living process holds this lock file."""
    try:
        with lock.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def prepare(home: Path, throwaway: bool) -> None:
    """An empty home if it is ours to empty, with the demo's nodes. Raises Refused while a server runs on it."""
    if is_held(home / "run/server.lock"):
        raise Refused(f"a server already runs on {home}; stop it first (Ctrl-C where it was started)")
    if throwaway:
        if is_held(home / "run/agent.lock"):
            with server(home, throwaway):  # a demo that was killed may have left a job: a server finds and ends it
                pass
        shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "config.toml").exists():
        (home / "config.toml").write_text(CONFIG)


@contextlib.contextmanager
def server(home: Path, throwaway: bool) -> Iterator[str]:
    """A server on a free port for as long as the context lasts; gives its address. Raises Refused if it does not
    start.
    """
    log = home / "demo-server.log"
    command = ["trainmaster", "serve", "--home", str(home), "--port", "0"]
    with log.open("wb") as output:
        # A session of its own: Ctrl-C is for the demo, which then ends the server in order.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, "TRAINMASTER_LANG": "en"},  # of what it prints; the password is read there
        )
    try:
        yield wait_until_ready(process, home, log)
    finally:
        if throwaway and process.poll() is None:
            with contextlib.suppress(TrainmasterError, TimeoutError):
                end_jobs(home)
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_until_ready(process: "subprocess.Popen[bytes]", home: Path, log: Path) -> str:
    """The address, once the server answers there that it is ready. Raises Refused."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, ValueError, KeyError):
            said = json.loads((home / "run/server.json").read_text())
            if said["pid"] == process.pid:
                direct.open(f"{said['url']}/readyz", timeout=2).close()
                return str(said["url"])
        time.sleep(0.05)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
    why = "ended" if process.poll() is not None else f"was not ready after {READY_S:.0f} s"
    raise Refused(f"the server {why}; the end of {log}:\n{tail}")


def end_jobs(home: Path) -> None:
    """Stop what still runs: jobs outlive the server by design, and here the machine is to be left as it was."""
    with Client(home=str(home)) as client:
        live = [job for job in client.list(None) if not job.ended]
        for job in live:
            job.stop("the demo ends")
        for job in live:
            job.wait(ENDING_S)


def sign_in(home: Path) -> str:
    """What the server said, on its first start only, about the first sign-in."""
    text = (home / "demo-server.log").read_text(errors="replace")
    found = re.search(r"^ +user +(\S+)\n +password +(\S+)", text, re.MULTILINE)
    return f"{found[1]} with the one-time password {found[2]}" if found else "as before"


def saved_model(client: Client, job: JobView, home: Path) -> tuple[str, Path | None]:
    """What to call the model version that the job left, and its folder."""
    model, _, version = (job.model or "").partition("@")
    if not model:
        return "none", None
    return f"{client.model(model).name}, version {version}", home / "models" / model / version


def accuracy_of(version: Path | None) -> float | None:
    """What the training wrote beside its model, or None."""
    found = sorted(version.rglob("metrics.json")) if version else []
    return float(json.loads(found[0].read_text())["accuracy"]) if found else None


def report(client: Client, job: JobView, home: Path) -> bool:
    """Print what came out; tell whether it is what was wanted."""
    model, folder = saved_model(client, job, home)
    accuracy = accuracy_of(folder)
    good = job.state == "succeeded" and accuracy is not None and accuracy >= WANTED_ACCURACY
    rows = {
        "console": client.url,
        "sign in": sign_in(home),
        "job": f"{job.name}  {job.state}  {job.id}",
        "test accuracy": "unknown" if accuracy is None else f"{accuracy:.4f}  (wanted: {WANTED_ACCURACY} or more)",
        "saved model": model,
        "kept in": folder or "-",
    }
    for name, value in rows.items():
        print(f"    {name:<15}{value}", flush=True)
    if not good:
        tm = f".venv/bin/tm --home {home}"
        print(f"    That is not what was wanted. More: {tm} show {job.id[:9]}; {tm} logs {job.id[:9]}", flush=True)
    return good


def run(home: Path, throwaway: bool, stay: bool) -> int:
    step("Starting a server with 2 virtual nodes with 2 simulated GPUs each")
    prepare(home, throwaway)
    with server(home, throwaway) as address:
        print(f"    {address}", file=sys.stderr, flush=True)
        step("Training: PyTorch DDP on 2 nodes x 2 processes")
        submitted = subprocess.run(["tm", "--home", str(home), "submit", JOB_FILE, "--wait"], cwd=ROOT, check=False)
        with Client(home=str(home)) as client:
            jobs = client.list(1)
            if not jobs:
                return submitted.returncode or 1
            step("What came out")
            good = report(client, jobs[0].seen, home) and submitted.returncode == 0
        if stay:
            step(f"Look around at {address}; Ctrl-C ends the server")
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    return 0 if good else 1


def main() -> int:
    # Set by hand: a program started in the background by a script is born with Ctrl-C switched off.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wished = os.environ.get("TRAINMASTER_HOME")
    home = Path(wished or ROOT / ".demo-home").resolve()
    # Whatever else these name, the demo talks to its own server.
    for name in ("TRAINMASTER_URL", "TRAINMASTER_TOKEN"):
        os.environ.pop(name, None)
    try:
        return run(home, throwaway=wished is None, stay="--no-wait" not in sys.argv[1:])
    except Refused as refused:
        print(f"demo: {refused}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
