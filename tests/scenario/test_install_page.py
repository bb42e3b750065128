"""The guide's page on installing as it is typed: what does not need to be root, or systemd, is read from the page and
run, on a server with a job, a saved version and a real PostgreSQL (B7). TLS and its proxies: test_tls.py.

The page's folders and names are those of this test; `systemctl`, `su` and `editor` are short programs that do what is
meant: start and stop the server, run as its user, write what the page says beside the command.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.fixtures.ports import free_ports
from tests.fixtures.postgres import binaries, cluster

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/install.md").read_text()
OWN = Path(sys.executable).parent
SETTINGS = "[local]\nvirtual_nodes = 1\ncpu = 4.0\nmemory_mib = 4096\n"
JOB = 'name: digits\ncommand: bash -c "echo 0.97 > /model/accuracy.txt"\nduration: 5m\n'
DAY = "2026-11-26"
PASSWORD = "the-password"
LINE = re.compile(r"^(?:ok|warning|error) +(node agent|\S+)", re.MULTILINE)

SYSTEMCTL = """#!/bin/bash
case $1 in
stop) kill "$(cat ROOT/pid)"; while kill -0 "$(cat ROOT/pid)" 2>/dev/null; do sleep 0.1; done;;
start)
    : > ROOT/log  # here, and not in the child: what a server before this one printed says nothing of this one
    setsid trainmaster --home ROOT/srv/home serve --port 0 >> ROOT/log 2>&1 < /dev/null &
    echo $! > ROOT/pid
    until grep -q "Stop with" ROOT/log; do kill -0 $! || { cat ROOT/log; exit 1; }; sleep 0.1; done;;
*) exit 2;;
esac
"""
SU = """#!/bin/bash
[ "$1 $2 $3" = "- trainmaster -c" ] && cd ROOT/srv && exec bash -c "$4"
"""
EDITOR = """#!/bin/bash
printf '[server]\\n%s\\n' "$WRITTEN" >> "$1"
"""


def block(kind: str, holding: str) -> str:
    """Return the one block of the page that holds a text."""
    found = [text for text in re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if holding in text]
    assert len(found) == 1, (holding, found)
    return str(found[0])


def line(kind: str, holding: str) -> str:
    """Return the one line of the page's blocks that holds a text."""
    found = [one for one in block(kind, holding).splitlines() if holding in one]
    assert len(found) == 1, (holding, found)
    return found[0]


@dataclass
class Computer:
    """The computer of who follows the page, below `root`."""

    root: Path
    port: int = 5432
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in ("srv/home", "srv/venv", "srv/new", "backup", "ann", "bin", "etc/systemd/system", "prometheus"):
            (self.root / folder).mkdir(parents=True)
        for environment in ("venv", "new"):
            (self.root / "srv" / environment / "bin").symlink_to(OWN)
        for name, text in (("systemctl", SYSTEMCTL), ("su", SU), ("editor", EDITOR)):
            (self.root / "bin" / name).write_text(text.replace("ROOT", str(self.root)))
            (self.root / "bin" / name).chmod(0o755)
        (self.root / "srv/home/config.toml").write_text(SETTINGS)
        (self.root / "srv/home").chmod(0o700)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("TRAINMASTER_")}
        self.env |= {"HOME": str(self.root / "ann"), "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        self.env["PATH"] = f"{self.root}/bin:{OWN}:{binaries()}:{os.environ['PATH']}"

    def here(self, text: str) -> str:
        """What the page says, with the places of this computer."""
        places = {
            "/srv/trainmaster": f"{self.root}/srv",
            "/backup/": f"{self.root}/backup/",
            "~/": f"{self.root}/ann/",
            "/etc/systemd": f"{self.root}/etc/systemd",
            "/etc/prometheus": f"{self.root}/prometheus",
            "@127.0.0.1/": f"@127.0.0.1:{self.port}/",
            "127.0.0.1:5432": f"127.0.0.1:{self.port}",
        }
        for there, here in places.items():
            text = text.replace(there, here)
        return text

    def type(self, text: str, typed: str = "", **env: str) -> str:
        """Return what these lines of the page print; none of them may fail. `typed`: at their prompts."""
        done = subprocess.run(
            ["bash", "-euc", self.here(text)], env=self.env | env, input=typed, cwd=ROOT, capture_output=True,
            text=True, timeout=300, check=False, start_new_session=True,
        )  # fmt: skip
        assert done.returncode == 0, (text, done.stdout, done.stderr)
        return done.stdout

    def tm(self, words: str, home: str = "/srv/trainmaster/home") -> str:
        return self.type(f"tm --home {home} {words}")


@pytest.fixture(scope="module")
def computer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """With a server that runs, a job that has ended and the version that it left."""
    computer = Computer(tmp_path_factory.mktemp("computer"))
    computer.type("systemctl start trainmaster.service")
    try:
        (computer.root / "job.yaml").write_text(JOB)
        computer.tm(f"submit {computer.root}/job.yaml --wait")
        yield computer
    finally:
        computer.type("systemctl stop trainmaster.service")


def test_a_backup_is_made_looked_into_and_restored(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    said = import_module("said")
    command, shown = block("text", "$ tm backup").removeprefix("$ ").split("\n", 1)
    printed = computer.type(command.replace("tm backup", "tm --home /srv/trainmaster/home backup"))
    assert said.skeleton(printed) == said.skeleton(shown)
    made = computer.root / "backup" / f"trainmaster-{DAY}.tar"
    assert made.stat().st_mode & 0o777 == 0o600
    assert "database" in computer.type(line("bash", "tar -tvf"))

    computer.type(line("bash", "backup /backup/trainmaster-$(date +%F).tar"))
    today = [one for one in made.parent.glob("trainmaster-*.tar") if one != made]
    assert len(today) == 1
    today[0].unlink()
    computer.type(line("text", "30 2 * * *").split(maxsplit=5)[5].replace(r"\%", "%"))
    assert len([*made.parent.glob("trainmaster-*.tar")]) == 2
    assert json.loads((made.parent / "log").read_text())

    restore, serve = block("bash", "restore /backup/trainmaster").splitlines()
    computer.type(restore)
    server = subprocess.Popen(
        ["bash", "-c", f"exec {computer.here(serve)} --port 0"],
        env=computer.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        assert any("Stop with" in one for one in server.stdout)
        assert "digits" in computer.tm("list", home="~/restored")
        assert "digits" in computer.tm("models list", home="~/restored")
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_an_upgrade_is_rehearsed_beside_the_server(computer: Computer) -> None:
    assert "error" not in computer.type(line("bash", "upgrade --rehearse"))


def test_the_doctor_has_the_lines_that_the_page_shows(computer: Computer) -> None:
    shown = LINE.findall(block("text", "$ tm doctor"))
    assert len(shown) > 8
    assert [name for name in shown if name not in LINE.findall(computer.tm("doctor"))] == []


def test_the_units_are_written_where_systemd_looks(computer: Computer) -> None:
    for_one = block("bash", "loginctl enable-linger").splitlines()[:2]
    computer.type("\n".join(for_one))
    computer.type(line("bash", "home unit' > /etc/systemd"))
    for unit in ("ann/.config/systemd/user/trainmaster.service", "etc/systemd/system/trainmaster.service"):
        assert "KillMode=process" in (computer.root / unit).read_text()


def test_commands_are_typed_as_the_server_s_user(computer: Computer) -> None:
    command = re.search(r"`(su - trainmaster -c '[^`]* user list')`", PAGE)
    assert command is not None
    assert "admin" in computer.type(command[1])


def test_prometheus_takes_the_settings_and_a_token_of_its_own(computer: Computer) -> None:
    lines = [one for one in block("bash", "promtool check").splitlines() if one.startswith(("su ", "cp ", "promtool "))]
    assert len(lines) == 3
    assert "SUCCESS" in computer.type("\n".join(lines))
    token = (computer.root / "prometheus/trainmaster-token").read_text().strip()
    url = json.loads((computer.root / "srv/home/run/server.json").read_text())["url"]
    measured = httpx.get(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"}, timeout=60)
    assert "trainmaster_leads 1.0" in measured.text


def test_a_home_moves_from_sqlite_to_postgresql(tmp_path: Path) -> None:
    """The database is made, its password is where libpq looks, the server finds all that it had."""
    computer = Computer(tmp_path, port=free_ports(1, 10_000, 17_000))
    move = block("bash", "backup /backup/move.tar")
    setting = re.search(r"^editor .*# \[server\] (.*)$", move, re.MULTILINE)
    assert setting is not None
    assert block("toml", "database = ") == f"[server]\n{setting[1]}\n"
    with cluster(computer.port) as postgres:
        as_postgres = {"PGHOST": str(postgres.folder), "PGPORT": str(computer.port), "PGUSER": "postgres"}
        computer.type(block("bash", "createuser --pwprompt"), f"{PASSWORD}\n{PASSWORD}\n", **as_postgres)
        passwords = computer.root / "ann/.pgpass"
        passwords.write_text(computer.here(block("text", ":trainmaster:the-password")))
        passwords.chmod(0o600)
        computer.type("systemctl start trainmaster.service")
        (computer.root / "job.yaml").write_text(JOB)
        computer.tm(f"submit {computer.root}/job.yaml --wait")
        try:
            computer.type(move, WRITTEN=computer.here(setting[1]))
            assert "digits" in computer.tm("list")
            address = f"postgresql://postgres@/trainmaster?host={postgres.folder}&port={computer.port}"
            with psycopg.connect(address) as connection:
                assert connection.execute("SELECT count(*) FROM job").fetchone() == (1,)
                assert connection.execute("SELECT tableowner FROM pg_tables WHERE tablename = 'job'").fetchone() == (
                    "trainmaster",
                )
        finally:
            computer.type("systemctl stop trainmaster.service")
