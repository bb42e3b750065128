"""A service manager that stops a unit tells every process of it to end, then kills what is left: server, keeper, agent,
sandbox and program alike. The next server finds that the platform was stopped, and repeats what ended with it at
nobody's cost (B2, B7).
"""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from tests.crash.server.harness import Client, Home
from tests.scenario.stage import spec

OUT: Final = "$TRAINMASTER_OUTPUT_DIR"
TWICE: Final = f"echo ran >> {OUT}/ran; [ $(wc -l < {OUT}/ran) -ge 2 ] && exit 0; sleep 1000 & touch {OUT}/waits; wait"
"""It tells that it waits when all of its processes are there: one that is started later would not be told to end."""
ANSWERS: Final = {
    "dies of it": "",
    "saves and ends well": f"trap 'sleep 0.5; touch {OUT}/saved; exit 0' TERM; ",
    "saves and ends badly": f"trap 'sleep 0.5; touch {OUT}/saved; exit 7' TERM; ",
}
"""What programs make of SIGTERM."""
DEAF: Final = (
    f"trap '' TERM; echo ran >> {OUT}/ran; [ $(wc -l < {OUT}/ran) -ge 2 ] && exit 0; touch {OUT}/waits; "
    "while :; do sleep 1; done"
)


@pytest.fixture(params=["bubblewrap", "none"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home", {"local": {"cpu": 8.0, "memory_mib": 8192, "sandbox": request.param}})
    yield made
    made.end()


def start(home: Home, texts: list[str]) -> list[str]:
    """Submit a job for each program; return them once each has told that it waits."""
    client, small = home.client(), {"cpu": 0.5, "memory": 64}
    jobs = []
    for text in texts:
        document = spec("unit", text, resources=small, model={"save": False})
        jobs.append(str(client.ask("POST", "/jobs", {"spec": document})["id"]))
    until(lambda: all(wrote(home, job, "waits") for job in jobs), "all programs wait for a signal", home)
    return jobs


def wrote(home: Home, job: str, name: str) -> bool:
    return Path(home.layout.outputs(job), name).exists()


def until(done: Callable[[], Any], what: str, home: Home, limit_s: float = 90.0) -> Any:
    limit = time.monotonic() + limit_s
    while not (found := done()):
        assert time.monotonic() < limit, f"never: {what}\n{home.said()}"
        time.sleep(0.05)  # other processes write and end; nobody tells us
    return found


def unit_of(home: Home) -> list[psutil.Process]:
    """Every process that a service manager would find in the unit: what was started by the server or by what it
    started.
    """
    assert home._process is not None
    roots = [home._process.pid, *(int((home.folder / "run" / f"{who}.pid").read_text()) for who in ("keeper", "agent"))]
    found = {pid: psutil.Process(pid) for pid in roots}
    for root in list(found.values()):
        found.update({child.pid: child for child in root.children(recursive=True)})
    return list(found.values())


def told_to_end(home: Home) -> list[psutil.Process]:
    """SIGTERM to each process of the unit, as a service manager does it first; returns them."""
    unit = unit_of(home)
    send(unit, signal.SIGTERM)
    return unit


def send(unit: list[psutil.Process], kind: int) -> None:
    for process in unit:
        with suppress(psutil.NoSuchProcess):  # it went with another
            process.send_signal(kind)


def gone(unit: list[psutil.Process], home: Home) -> None:
    assert home._process is not None
    home._process.wait(60)  # it is this process's child
    left = psutil.wait_procs(unit, timeout=60)[1]
    assert left == [], home.said()
    home._process = None


def check_repeated(home: Home, jobs: list[str]) -> None:
    """A new server finds what happened: each job runs once more, succeeds, and its attempts tell why."""
    home.spawn()
    client = home.client()
    for job in jobs:
        found = until(lambda job=job: ended(client, job), "the job has ended", home)
        assert (found["state"], found["attempts"], found["retries"]["used"]) == ("succeeded", 2, 0), (
            found,
            home.said(),
        )
        first = next(one for one in found["attempt_list"] if one["number"] == 1)
        assert first["verdict"]["code"] == "platform_stopped"
        assert first["verdict"]["message"]["en"] == "the platform was stopped while main-0 ran"
        assert first["verdict"]["fault"] == "platform"


def ended(client: Client, job: str) -> Any:
    found = client.ask("GET", f"/jobs/{job}")
    return found if found["state"] in ("succeeded", "failed", "stopped") else None


def test_a_unit_whose_processes_end_when_told(home: Home) -> None:
    """Nothing has to be killed: agent and keeper wait for the programs, which have their time to save, and end."""
    jobs = start(home, [answer + TWICE for answer in ANSWERS.values()])
    gone(told_to_end(home), home)
    assert [wrote(home, job, "saved") for job in jobs] == [False, True, True]
    check_repeated(home, jobs)


def test_a_server_that_takes_its_time_to_end_starts_nothing_more(home: Home) -> None:
    """It waits for a request that is under way, and hears meanwhile that the job was ended with the platform."""
    (job,) = start(home, [TWICE])
    with socket.create_connection(("127.0.0.1", home.port)) as slow:
        token = Path(home.layout.cli_token).read_text().strip()
        head = (f"Host: 127.0.0.1:{home.port}", f"Authorization: Bearer {token}", "Content-Length: 99999", "", "x")
        slow.sendall("\r\n".join(("POST /api/v1/uploads HTTP/1.1", *head)).encode())
        gone(told_to_end(home), home)
    assert Path(home.layout.outputs(job), "ran").read_text() == "ran\n"
    check_repeated(home, [job])


def test_a_unit_that_has_to_be_killed(home: Home) -> None:
    """One program does not listen; when the manager loses patience, everything that is left is killed at once."""
    jobs = start(home, [DEAF, *(answer + TWICE for answer in ANSWERS.values())])
    unit = told_to_end(home)
    until(lambda: all(wrote(home, job, "saved") for job in jobs[2:]), "the others have saved", home)
    assert home._process is not None
    home._process.wait(60)
    send(unit, signal.SIGKILL)
    gone(unit, home)
    check_repeated(home, jobs)


def test_a_machine_that_was_started_anew(home: Home) -> None:
    """A pid of the boot before may be a stranger's by now: nothing is looked for, and nothing is killed. Disks may have
    new numbers.
    """
    (job,) = start(home, [DEAF])
    send(unit_of(home), signal.SIGKILL)
    assert home._process is not None
    home._process.wait(60)
    stranger = subprocess.Popen(["sleep", "1000"])
    (record,) = (home.folder / "run/live").iterdir()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    lines = record.read_text().replace(boot, "00000000-0000-0000-0000-000000000000")
    born = int(Path(f"/proc/{stranger.pid}/stat").read_text().rpartition(")")[2].split()[19])
    lines = re.sub(r'"pid":\d+,"start":\d+', f'"pid":{stranger.pid},"start":{born}', lines)
    lines = re.sub(r'"folder":\[\d+', '"folder":[1', lines)
    assert f'"pid":{stranger.pid}' in lines
    assert '"folder":[1,' in lines
    record.write_text(lines)
    try:
        check_repeated(home, [job])
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_agent_that_is_killed_before_it_knew(home: Home) -> None:
    """It has written down that the program was ended by a signal; its keeper is told to end only now, and by that the
    next agent knows.
    """
    (job,) = start(home, [TWICE])
    keeper, agent = (psutil.Process(int((home.folder / f"run/{who}.pid").read_text())) for who in ("keeper", "agent"))
    home.kill_server()
    keeper.suspend()
    (record,) = (home.folder / "run/live").iterdir()
    send(program_of(job), signal.SIGTERM)
    until(lambda: '{"e":' in record.read_text(), "the end is written down", home)
    agent.kill()
    keeper.terminate()
    keeper.resume()
    check_repeated(home, [job])


def program_of(job: str) -> list[psutil.Process]:
    """The processes of the job's program, without those that the platform has put around it."""
    found = []
    for process in psutil.process_iter(["name"]):
        with suppress(psutil.Error):
            if process.info["name"] in ("sh", "sleep") and job in process.environ().get("TRAINMASTER_TASK", ""):
                found.append(process)
    return found


def test_an_agent_alone_that_is_told_to_end_is_replaced(home: Home) -> None:
    """Somebody's `kill`: no stop of the platform. The next agent goes on, and what the program does is the
    program's.
    """
    (job,) = start(home, [TWICE.replace("exit 0", "exit 5").replace("-ge 2", "-ge 9") + "; exit 5"])
    before = (home.folder / "run/agent.pid").read_text()
    os.kill(int(before), signal.SIGTERM)
    until(lambda: (home.folder / "run/agent.pid").read_text() != before, "another agent serves", home)
    (program,) = [one for one in program_of(job) if one.name() == "sleep"]
    program.terminate()
    found = until(lambda: ended(home.client(), job), "the job has ended", home)
    assert (found["state"], found["verdict"]["code"]) == ("failed", "exit_code")
