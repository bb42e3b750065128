"""The /etc of the tasks: copies without secrets, the tasks' own names, and name servers that may change."""

from pathlib import Path

import pytest

from trainmaster.agent.sandbox.etc import Etc


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host's /etc."""
    etc = tmp_path / "host"
    (etc / "ssl" / "private").mkdir(parents=True)
    (etc / "ssl" / "private" / "key").write_text("secret")
    (etc / "ssl" / "openssl.cnf").write_text("public")
    (etc / "shadow").write_text("secret")
    (etc / "hosts").write_text("127.0.0.1 localhost\n10.0.0.7 build\n")
    (etc / "resolv.conf").write_text("nameserver 10.0.0.1\n")
    return etc


def test_what_is_secret_stays_outside(tmp_path: Path, host: Path) -> None:
    Etc(str(tmp_path / "etc"), str(host))
    copied = "".join(path.read_text() for path in (tmp_path / "etc").rglob("*") if path.is_file())
    assert "public" in copied
    assert "secret" not in copied


def test_every_task_can_be_looked_up_once(tmp_path: Path, host: Path) -> None:
    hosts = tmp_path / "etc" / "hosts"
    etc = Etc(str(tmp_path / "etc"), str(host))
    etc.know(["task0-0", "task0-1"])
    etc.know(["task0-1", "build", "localhost"])  # what the host knows is not changed
    Etc(str(tmp_path / "etc"), str(host)).know(["task0-0"])  # the next agent's
    lines = hosts.read_text().splitlines()
    assert lines == ["127.0.0.1 localhost", "10.0.0.7 build", "127.0.0.1 task0-0", "127.0.0.1 task0-1"]


def test_new_name_servers_reach_tasks_that_run(tmp_path: Path, host: Path) -> None:
    etc, seen = Etc(str(tmp_path / "etc"), str(host)), tmp_path / "etc" / "resolv.conf"
    etc.refresh()
    assert seen.read_text() == "nameserver 10.0.0.1\n"
    (host / "next").write_text("nameserver 10.0.0.2\n")
    (host / "next").rename(host / "resolv.conf")
    etc.refresh()
    assert seen.read_text() == "nameserver 10.0.0.2\n"
    (host / "resolv.conf").unlink()
    etc.refresh()  # nothing better is known
    assert seen.read_text() == "nameserver 10.0.0.2\n"
