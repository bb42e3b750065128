"""What scripts/try-systemd plays inside the system that it has booted, where systemd is process 1. Told in two parts,
before and after a reboot; says what holds, and ends the system with 0, or with 1 at the first promise that is broken.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = "/var/lib/trainmaster"
UNIT = Path("/etc/systemd/system/trainmaster.service")
LEFT = Path("/var/lib/after-reboot")
OUT = "$TRAINMASTER_OUTPUT_DIR"
LONG = f"echo ran >> {OUT}/ran; until [ -e {OUT}/go ]; do sleep 0.1; done"
TWICE = f"echo ran >> {OUT}/ran; [ $(wc -l < {OUT}/ran) -ge 2 ] || sleep 1000"


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def tm(*words: str) -> Any:
    return json.loads(run(sys.executable, "-m", "trainmaster", "--home", HOME, *words, "--json"))


def submit(text: str) -> str:
    job = {
        "name": "unit",
        "command": ["sh", "-c", text],
        "resources": {"cpu": 0.1, "memory": 64},
        "model": {"save": False},
    }
    Path("/tmp/job.json").write_text(json.dumps(job))
    name = str(tm("submit", "/tmp/job.json")["id"])
    until(lambda: outputs(name, "ran").exists(), "the job runs")
    return name


def outputs(job: str, name: str) -> Path:
    return Path(HOME, "jobs", job[1:3], job, "outputs", name)


def until(done: Callable[[], Any], what: str, limit_s: float = 120.0) -> Any:
    limit = time.monotonic() + limit_s
    while not (found := done()):
        assert time.monotonic() < limit, f"never: {what}"
        time.sleep(0.1)
    return found


def show(job: str) -> Any:
    return tm("show", job)


def ended(job: str) -> Any:
    return until(
        lambda: (found := show(job))["state"] in ("succeeded", "failed", "stopped") and found, f"{job} has ended"
    )


def check_repeated(job: str) -> None:
    found = ended(job)
    verdicts = [one["verdict"]["code"] for one in found["attempt_list"] if one["number"] == 1]
    told = (found["state"], found["attempts"], found["retries"]["used"], verdicts)
    assert told == ("succeeded", 2, 0, ["platform_stopped"]), told


def before_the_reboot() -> None:
    UNIT.write_text(run(sys.executable, "-m", "trainmaster", "--home", HOME, "unit"))
    run("systemd-analyze", "verify", str(UNIT))
    run("systemctl", "daemon-reload")
    run("systemctl", "enable", "--now", UNIT.name)  # Type=notify: it is ready when this returns
    say(f"the unit of `trainmaster unit` is ready: {run('systemctl', 'is-active', UNIT.name).strip()}")

    job = submit(LONG)
    run("systemctl", "restart", UNIT.name)
    assert show(job)["state"] == "running"
    run("systemctl", "stop", UNIT.name)
    run("pgrep", "-f", "sleep 0.1|after-reboot|until")
    run("systemctl", "start", UNIT.name)
    outputs(job, "go").touch()
    found = ended(job)
    assert (found["state"], found["attempts"]) == ("succeeded", 1), found
    say("restart, stop and start: the job went on, in one attempt")

    run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT.name)
    until(
        lambda: run("systemctl", "show", "--property=NRestarts", "--value", UNIT.name).strip() == "1",
        "it is started again",
    )
    until(
        lambda: subprocess.run(["systemctl", "is-active", "--quiet", UNIT.name], check=False).returncode == 0,
        "it is ready",
    )
    say("a killed server is started again")

    drop_in = Path(f"{UNIT}.d/kill.conf")
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nKillMode=control-group\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", UNIT.name)
    log = run("journalctl", "--unit", UNIT.name, "--output=cat", "--no-pager")
    assert "has KillMode=control-group: every stop or restart of it ends all running" in log, log
    findings = json.loads(
        subprocess.run(
            [sys.executable, "-m", "trainmaster", "--home", HOME, "doctor", "--json"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )
    assert [one["state"] for one in findings if one["name"] == "unit"] == ["bad"], findings
    job = submit(TWICE)
    run("systemctl", "restart", UNIT.name)
    check_repeated(job)
    say(
        "with systemd's default KillMode the server and the doctor warn, "
        "and a job that is ended with the unit is repeated at no cost"
    )

    drop_in.unlink()
    run("systemctl", "daemon-reload")
    LEFT.write_text(submit(TWICE))
    say("now a reboot, with a running job")
    run("systemctl", "reboot")


def main() -> int:
    try:
        if LEFT.exists():
            until(
                lambda: subprocess.run(["systemctl", "is-active", "--quiet", UNIT.name], check=False).returncode == 0,
                "it is ready",
            )
            check_repeated(LEFT.read_text())
            say("after a reboot: the unit was started, and the job repeated at no cost")
            say("all is well under systemd")
            run("systemctl", "exit", "0")
        else:
            before_the_reboot()
    except Exception as error:
        say(f"BROKEN: {error!r}")
        print(run("journalctl", "--unit", UNIT.name, "--no-pager", "--lines=60"), flush=True)
        run("systemctl", "exit", "1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
