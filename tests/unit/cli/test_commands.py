"""The command line as a person uses it: a real server in its own process, real commands, real exit codes (R244)."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.main import get_command

from tests.fixtures import quick
from tests.fixtures.shell import TM, Shell, end_all, write
from trainmaster.cli.main import PARTS, commands, needed
from trainmaster.core.folders.layout import Layout


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("home"))
    (shell.home / "config.toml").write_text(
        "[local]\nvirtual_nodes = 2\ncpu = 4.0\nmemory_mib = 4096\nsimulated_gpus = 4\n"
    )
    shell.serve()
    yield shell
    end_all(shell)
    assert "has stopped.\n" in shell.stop()  # nothing of jobs: none runs
    assert not (shell.home / "run" / "server.json").exists()


def test_the_first_start_shows_address_and_password_once(tm: Shell) -> None:
    url = re.search(r"is ready at (http://127\.0\.0\.1:\d+)", tm.said)
    assert url is not None
    assert re.search(r"password  ([a-z2-9]{4}-){3}[a-z2-9]{4}", tm.said)
    said = json.loads((tm.home / "run" / "server.json").read_text())
    assert said["url"] == url[1]
    assert tm.server is not None
    assert said["pid"] == tm.server.pid


def test_a_second_server_on_the_same_home_is_refused_in_words(tm: Shell) -> None:
    said = tm("serve", "--port", "0", code=2)
    assert "is already running on the home folder" in said
    assert json.loads((tm.home / "run" / "server.json").read_text())["url"] in said


def test_submit_and_wait_until_it_succeeded(tm: Shell, tmp_path: Path) -> None:
    job = tm.json("submit", write(tmp_path / "j.json", "echo hello there"), "--wait")
    assert (job["state"], job["attempts"]) == ("succeeded", 1)
    assert job["tasks"]["total"] == 1
    assert job["task_list"][0]["exit_code"] == 0
    assert tm("logs", job["id"][:10]) == "hello there\n"
    assert "1: hello there" in tm("logs", job["id"], "--search", "there")
    assert job["id"][:12] in tm("list")
    assert "Succeeded" in tm("show", job["id"])
    assert [one["id"] for one in tm.json("list", "--state", "succeeded", "--limit", "1")] == [job["id"]]


def test_a_failed_job_is_exit_code_1_with_its_last_lines(tm: Shell, tmp_path: Path) -> None:
    file = write(tmp_path / "j.json", "bash -c 'echo the last words; exit 3'", name="bad")
    said = tm("submit", file, "--wait", code=1)
    assert "the last words" in said
    assert "exit code 3" in said


def test_a_refused_job_is_exit_code_2_with_every_problem(tm: Shell, tmp_path: Path) -> None:
    (tmp_path / "j.yaml").write_text("name: a b\ncommand: 'true'\nreplicas: 0\nresorces: {}\n")
    said = tm("submit", str(tmp_path / "j.yaml"), code=2)
    for part in ("name", "replicas", "resorces", "resources"):
        assert part in said
    assert "Traceback" not in said
    (tmp_path / "k.yaml").write_text("name: [a\n")
    assert "line" in tm("submit", str(tmp_path / "k.yaml"), code=2)
    assert "cannot be read" in tm("submit", str(tmp_path / "none.yaml"), code=2)
    assert "KEY=VALUE" in tm("submit", str(tmp_path / "j.yaml"), "--set", "lr", code=2)


def test_preview_with_and_without_a_server(tm: Shell, tmp_path: Path) -> None:
    """R41, B8."""
    file = write(tmp_path / "j.json", "python train.py", parameters={"lr": 0.1})
    found = tm.json("preview", file, "--set", "parameters.lr=0.5")
    assert found["ok"]
    assert found["fits"]["when"] == "now"
    assert found["roles"][0]["tasks"][0]["argv"][-1] == "--lr=0.5"
    assert "--lr=0.1" in tm("preview", file, "--offline")
    before = len(tm.json("list", "--limit", "0"))
    tm("submit", file, "--dry-run")
    assert len(tm.json("list", "--limit", "0")) == before
    big = write(tmp_path / "big.json", "true", resources={"cpu": 1000})
    assert "--json" not in tm("preview", big, code=2)


def test_stop_clone_delete_and_several_at_once(tm: Shell, tmp_path: Path) -> None:
    """R194, R201-R203."""
    file = write(tmp_path / "j.json", "sleep 1000", name="long")
    one, two = (tm("submit", file).strip() for _ in range(2))
    assert "Only jobs that have ended" in tm("delete", one, code=1)
    stopped = tm.json("stop", one, two)
    assert {job["id"] for job in stopped} == {one, two}
    for job in (one, two):
        tm.until(lambda seen: seen["state"] == "stopped", job)
    assert [job["state"] for job in tm.json("show", one, two)] == ["stopped", "stopped"]
    copy = tm("clone", one, "--set", "name=again").strip()
    assert tm.json("show", copy)["name"] == "again"
    tm("stop", copy)
    assert "deleted" in tm("delete", one, two)
    assert "There is no job" in tm("show", one, code=1)
    said = tm("stop", copy, "t000000nothing", code=1)
    assert "t000000nothing" in said


def test_a_waiting_job_is_explained(tm: Shell, tmp_path: Path) -> None:
    """B1: why it waits, in words."""
    holder = tm(
        "submit",
        write(
            tmp_path / "a.json", "sleep 1000", name="holder", replicas=2, resources={"cpu": 0.1, "memory": 64, "gpu": 4}
        ),
    ).strip()
    tm.until(lambda seen: seen["state"] == "running", holder)
    waiting = tm(
        "submit", write(tmp_path / "b.json", "true", name="waiter", resources={"cpu": 0.1, "memory": 64, "gpu": 1})
    ).strip()
    said = tm.json("explain", waiting)
    assert said["state"] == "queued"
    assert said["reason"]["message"]["en"]
    assert said["reason"]["message"]["zh"]
    assert said["reason"]["message"]["en"] in tm("explain", waiting)
    assert waiting[:12] in tm("top", "--once")
    tm("stop", waiting, holder)


def test_an_ended_job_is_called_so_once(tm: Shell, tmp_path: Path) -> None:
    done = tm("submit", write(tmp_path / "a.json", "true", name="fine")).strip()
    tm.until(lambda seen: seen["state"] == "succeeded", done)
    assert tm("explain", done) == f"{done[:12]}  fine  Succeeded\n"


def test_what_would_help_is_a_command_to_type(tm: Shell, tmp_path: Path) -> None:
    """B1: the copy that explain names starts; what may be changed in place is changed in place."""
    card = {"cpu": 0.1, "memory": 64, "gpu": 4}
    holder = tm("submit", write(tmp_path / "a.json", "sleep 1000", name="holder", resources=card)).strip()
    tm.until(lambda seen: seen["state"] == "running", holder)  # the one of the test before may still hold its cards
    both = write(tmp_path / "b.json", "sleep 1000", name="waiter", replicas=2, resources=card)
    waiting = tm("submit", both).strip()
    said = tm("explain", waiting)
    assert "position 1 in the queue" in said
    command = re.search(r"tm (clone \S+ --set roles\.0\.replicas=1) && tm (stop \S+)", said)
    assert command is not None, said
    assert "time limit 1h30m  priority urgent" in tm("change", waiting, "--duration", "90m", "--priority", "urgent")
    assert tm.json("change", waiting, "--duration", "none")["duration_s"] is None
    assert "nothing to change" in tm("change", waiting, code=2)
    assert "is not a time" in tm("change", waiting, "--duration", "soon", code=2)
    found = tm.json("preview", both)["would_start"]
    assert (found["when"], found["position"]) == ("queue", 2)
    said = tm("preview", both)
    assert "position 2 in the queue" in said
    assert "expected start: " in said
    said = tm("preview", both, "-s", "description=a b", "--instead-of", waiting[:12])
    assert "position 1 in the queue" in said
    assert f"tm submit {both} --set 'description=a b' --set roles.0.replicas=1" in said
    assert "is not queued" in tm("preview", both, "--instead-of", holder, code=2)
    copy = tm(*shlex.split(command[1])).strip()
    assert waiting in tm(*shlex.split(command[2]))
    tm.until(lambda seen: seen["state"] != "queued", copy)
    first = tm("submit", both).strip()
    second = tm("submit", both, "--set", "name=second", "--instead-of", first[:12]).strip()  # D1: one takes the place
    assert [tm.json("show", one)["state"] for one in (first, second)] == ["stopped", "queued"]
    assert "no longer queued" in tm("submit", both, "--instead-of", copy, code=2)
    tm("stop", second, copy, holder)


def until_watched_by(tm: Shell, count: int) -> None:
    """Wait until so many have a live view open."""
    url = json.loads((tm.home / "run" / "server.json").read_text())["url"]
    token = tm.json("token", "create", "watch", "--scope", "server:observe")
    bearer = {"Authorization": f"Bearer {token['token']}"}
    limit = time.monotonic() + 60
    wanted = f"trainmaster_feed_listeners {count}.0\n"
    while wanted not in (told := httpx.get(f"{url}/metrics", headers=bearer, trust_env=False, timeout=60).text):
        assert time.monotonic() < limit, told
        time.sleep(0.02)  # another process: nothing tells
    tm("token", "delete", token["id"])


def test_following_a_log_and_leaving_a_wait(tm: Shell, tmp_path: Path) -> None:
    until_go = "until [ -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.05; done"
    file = write(tmp_path / "j.json", f"bash -c 'echo one; {until_go}; echo two'")
    job = tm("submit", file).strip()
    with subprocess.Popen([*TM, "logs", "-f", job], env=tm.env, stdout=subprocess.PIPE, text=True) as follows:
        assert follows.stdout is not None
        assert follows.stdout.readline() == "one\n"
        Path(Layout(str(tm.home)).outputs(job), "go").touch()
        assert follows.stdout.read() == "two\n"
    assert follows.returncode == 0
    endless = write(tmp_path / "k.json", "sleep 1000")
    until_watched_by(tm, 0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores Ctrl-C
    waiting = subprocess.Popen(
        [*TM, "submit", endless, "--wait"], env=tm.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    assert waiting.stdout is not None
    left = waiting.stdout.readline().split()[0]
    until_watched_by(tm, 1)  # it waits for the job's end
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert f"tm stop {left[:9]}" in said
    assert tm.json("show", left)["state"] in ("queued", "initialising", "running")
    tm("stop", left)


def test_tokens_and_password(tm: Shell) -> None:
    end_all(tm)  # two lists are compared, and what still ends would change between them
    secret = tm("token", "create", "ci", "--expires", "1d").strip()
    assert secret.startswith("tm_")
    url = json.loads((tm.home / "run" / "server.json").read_text())["url"]
    elsewhere = {**tm.env, "TRAINMASTER_HOME": str(tm.home / "nothing"), "TRAINMASTER_URL": url}

    def listed(**more: str) -> "subprocess.CompletedProcess[str]":
        return quick.tm("list", "--json", env={**elsewhere, **more})

    nobody = listed()
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "token" in nobody.stderr
    owner = listed(TRAINMASTER_TOKEN=secret)
    assert (owner.returncode, owner.stderr) == (0, "")
    assert [job["id"] for job in json.loads(owner.stdout)] == [job["id"] for job in tm.json("list")]
    [token] = tm.json("token", "list")
    assert (token["name"], token["user"]) == ("ci", "admin")
    assert token["expires_at"] == pytest.approx(token["created_at"] + 86400)
    assert secret not in json.dumps(token)
    tm("token", "delete", token["id"])
    assert tm.json("token", "list") == []
    revoked = listed(TRAINMASTER_TOKEN=secret)
    assert (revoked.returncode, revoked.stdout) == (1, "")
    assert "The token is invalid" in revoked.stderr
    assert "password is changed" in tm("password", input="correct horse battery\n")
    assert "characters" in tm("password", input="short\n", code=2)


def test_doctor_and_open(tm: Shell) -> None:
    found = {one["name"]: one for one in tm.json("doctor")}
    assert {"python", "bwrap", "cgroups", "home", "disk", "server", "node agent"} <= set(found)
    assert found["server"]["state"] == found["node agent"]["state"] == "ok"
    assert all(one["remedy"] for one in found.values() if one["state"] != "ok")
    assert tm("open", "--print").startswith("http://127.0.0.1:")


def test_without_a_server_every_command_says_what_to_do(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    said = shell("list", code=1)
    assert "trainmaster serve" in said
    assert "Traceback" not in said


def test_a_preview_without_a_server_checks_what_can_be_checked_here(tmp_path: Path) -> None:
    """R41: on a machine without a server, and with one that does not answer."""
    good = write(tmp_path / "good.json", "python train.py", parameters={"lr": 0.1})
    bad = write(tmp_path / "bad.json", "a | b")
    places: list[dict[str, str]] = [{}, {"TRAINMASTER_URL": "http://127.0.0.1:9"}]
    for place in places:
        shell = Shell(tmp_path / "nobody")
        shell.env.update(place)
        assert shell.json("preview", good)["roles"][0]["command"] == "python train.py --lr=0.1"
        said = shell("preview", bad, code=2)
        assert "A pipe (|) needs a shell" in said
        assert "whether it fits is not known" in said


def test_help_is_there_for_every_command_with_an_example(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    names = re.findall(r"^│ ([a-z]+) ", shell("--help"), re.MULTILINE)
    assert {
        "serve",
        "submit",
        "list",
        "show",
        "logs",
        "metrics",
        "stop",
        "delete",
        "clone",
        "preview",
        "explain",
        "top",
        "open",
        "doctor",
    } <= set(names)
    assert "Example" in shell("submit", "--help")


def test_all_points_of_a_curve_come_as_json_and_of_a_very_long_one_how_many_there_were(
    tm: Shell, tmp_path: Path
) -> None:
    lines = [
        json.dumps({"step": n, "t": 1e9 + n, "values": {"short" if n <= 1500 else "rest": n % 7}})
        for n in range(1, 6501)
    ]
    code = tmp_path / "code"
    code.mkdir()
    (code / "points").write_text("\n".join(lines) + "\n")
    command = "sh -c 'cp points $TRAINMASTER_METRICS_DIR/metrics.jsonl'"
    job = tm.json("submit", write(tmp_path / "j.json", command, code=str(code)), "--wait")
    found = {series["name"]: series for series in tm.json("metrics", job["id"])["series"]}
    assert (found["short"]["steps"], found["short"]["count"]) == (list(range(1, 1501)), 1500)
    assert 1000 < len(found["rest"]["steps"]) <= 2048
    assert found["rest"]["count"] == 5000


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("serve",), "server.serve"),
        (("--home", "list", "--lang=en", "serve"), "server.serve"),
        (("home",), "commands.home"),
    ],
)
def test_a_command_carries_no_others(words: tuple[str, ...], part: str) -> None:
    """Each would cost its start, and the server's memory."""
    code = f"import sys; from trainmaster.cli.main import *; commands(needed({words!r})); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert f"trainmaster.cli.{part}" in loaded
    others = {f"trainmaster.cli.{one}" for one in PARTS if one != part}
    assert not others & set(loaded)


def test_each_part_brings_the_commands_that_are_written_down() -> None:
    for part, names in PARTS.items():
        assert list(get_command(commands((part,))).commands) == list(names), part
    for words in ((), ("--help",), ("lits",), ("--home", "list"), ("--version",), ("--", "list")):
        assert needed(words) == PARTS, words
    assert needed(("--home", "list", "--url=x", "user", "list")) == ["people.user"]
