"""`tm doctor` names the cause, and a remedy that whoever asks can use (R149, B12)."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import Shell
from trainmaster.cli.server import doctor, greeting, systemd
from trainmaster.cli.server.greeting import exposed
from trainmaster.cli.server.sandbox_check import FORBID, why_none
from trainmaster.cli.server.systemd import notify, service_of
from trainmaster.cli.server.unit import text_of
from trainmaster.core.config import Config

UID_MAP = "bwrap: setting up uid map: Permission denied"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path / "home")
    made.home.mkdir(mode=0o700)
    yield made
    if made.server is not None and made.server.poll() is None:
        made.stop()


def look(shell: Shell, code: int = 0, **environment: str) -> dict[str, dict[str, str]]:
    shell.env.update(environment)
    done = quick.tm("doctor", "--json", env=shell.env)
    assert done.returncode == code, done.stdout + done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)}


def switches(folder: Path, **values: str) -> str:
    for key, value in values.items():
        path = folder / key.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    return str(folder)


@pytest.mark.parametrize(
    ("closed", "cause", "line"),
    [
        ({"kernel__apparmor_restrict_unprivileged_userns": "1"}, "AppArmor", "/etc/apparmor.d/bwrap"),
        ({"kernel__unprivileged_userns_clone": "0"}, "only root", "kernel.unprivileged_userns_clone=1"),
        ({"user__max_user_namespaces": "0"}, "makes no user namespaces", "user.max_user_namespaces=28633"),
    ],
)
def test_each_switch_that_forbids_sandboxes_has_its_own_remedy(
    tmp_path: Path, closed: dict[str, str], cause: str, line: str
) -> None:
    opened = {
        "kernel__apparmor_restrict_unprivileged_userns": "0",
        "kernel__unprivileged_userns_clone": "1",
        "user__max_user_namespaces": "1000",
    }
    why, remedy = why_none("/usr/bin/bwrap", UID_MAP, root=False, switches=switches(tmp_path, **{**opened, **closed}))
    assert cause in why
    assert remedy.startswith("Jobs run without isolation until then. Send this line to your administrator: sudo sh -c ")
    assert line in remedy
    assert "install bubblewrap" not in remedy
    subprocess.run(["bash", "-n", "-c", remedy.partition("administrator: ")[2]], check=True)


def test_the_profile_for_apparmor_is_written_as_it_is_read(tmp_path: Path) -> None:
    line = FORBID[0].line.format(bwrap="/opt/bin/bwrap").replace("/etc/apparmor.d/bwrap", str(tmp_path / "bwrap"), 1)
    subprocess.run(["sh", "-c", line.partition(" && ")[0]], check=True)
    written = (tmp_path / "bwrap").read_text()
    assert written == "abi <abi/4.0>,\nprofile bwrap /opt/bin/bwrap flags=(unconfined) {\n  userns,\n}\n"


def test_other_reasons_are_told_apart(tmp_path: Path) -> None:
    nothing = switches(tmp_path)
    assert "apt-get install bubblewrap" in why_none(None, "", root=True, switches=nothing)[1]
    assert "conda-forge" in why_none(None, "", root=False, switches=nothing)[1]
    assert "Docker" in why_none("/usr/bin/bwrap", UID_MAP, root=False, switches=nothing)[1]
    cause, remedy = why_none("/usr/bin/bwrap", "Unknown option --disable", root=True, switches=nothing)
    assert cause == "Unknown option --disable"
    assert "another version" in remedy


def test_a_bubblewrap_that_is_there_is_not_to_be_installed(shell: Shell, tmp_path: Path) -> None:
    """As on Ubuntu 24.04: the program is there and says that it may not."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/bwrap"
    fake.write_text(f"#!/bin/sh\necho '{UID_MAP}' >&2\nexit 1\n")
    fake.chmod(0o755)
    found = look(shell, PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert found["bwrap"]["state"] == "warning"
    assert "install bubblewrap" not in found["bwrap"]["remedy"]


def test_of_a_server_elsewhere_this_machine_says_nothing(shell: Shell) -> None:
    found = look(shell, TRAINMASTER_URL="http://127.0.0.1:9")
    assert set(found) == {"python", "server", "computer"}
    assert "http://127.0.0.1:9" in found["computer"]["detail"]
    assert found["server"]["detail"].endswith("does not answer (Connection refused)")
    assert "trainmaster serve" not in found["server"]["remedy"]


class Stranger(BaseHTTPRequestHandler):
    """Says yes to everything, and knows nothing of us."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")


def test_something_else_at_the_address_is_no_server_that_has_to_be_started(shell: Shell) -> None:
    with HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{stranger.server_port}"
        found = look(shell, code=1, TRAINMASTER_URL=url, TRAINMASTER_TOKEN="x")
        stranger.shutdown()
    assert f"This client does not understand the answer of the server at {url}" in found["server"]["detail"]
    assert found["server"]["state"] == "bad"
    assert "trainmaster serve" not in found["server"]["remedy"]


def test_what_the_settings_promise_is_looked_at(shell: Shell, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (shell.home / "config.toml").write_text(f'[server]\nhost = "0.0.0.0"\n[local]\nenvironment = "{bare}"\n')
    found = look(shell)
    assert "has no torch, which jobs of the framework pytorch import" in found["environment"]["detail"]
    assert f"{bare}/bin/python -m pip install torch" in found["environment"]["remedy"]
    assert found["environment"]["state"] == "warning"
    (bare / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "tensorflow.py").write_text("")
    one = look(shell)["environment"]
    assert one["state"] == "ok", "a site trains with the frameworks that it knows"
    assert one["detail"] == f"jobs use {bare}/bin/python, which has what tensorflow needs"
    assert "plain HTTP" in found["address"]["detail"]
    (shell.home / "config.toml").write_text('[local]\nenvironment = "/nowhere"\n')
    assert "no Python at /nowhere/bin/python" in look(shell, code=1)["environment"]["detail"]


def test_another_server_on_this_machine_gives_out_the_same_cards(shell: Shell, tmp_path: Path) -> None:
    shell.serve()
    other = Shell(tmp_path / "other")
    found = look(other)
    assert str(shell.home) in found["others"]["detail"] or "..." in found["others"]["detail"]
    assert str(shell.home) not in look(shell).get("others", {"detail": ""})["detail"]


def test_a_server_that_others_can_reach_says_so_at_its_start(shell: Shell) -> None:
    shell.serve("--host", "0.0.0.0")
    assert "this server speaks plain HTTP" in shell.said
    assert "127.0.0.1" in shell.said
    hosts = ("127.0.0.1", "localhost", "::1", "", "10.0.0.1", "lab", "::")
    assert [host for host in hosts if exposed(host)] == ["", "10.0.0.1", "lab", "::"]


def test_a_home_is_closed_to_others(shell: Shell) -> None:
    """Also one of an older release, which is said once; every file that the server writes is its user's alone."""
    shell.home.chmod(0o755)
    (shell.home / "config.toml").write_text("")
    for name in ("config.toml", "shares.json", "forecast.json"):
        (shell.home / name).write_text("" if name == "config.toml" else "{}")
        (shell.home / name).chmod(0o644)
    assert look(shell, code=1)["home"]["state"] == "bad"
    shell.serve()
    assert "is now closed to other users" in shell.said
    own = [path for path in [shell.home, *shell.home.rglob("*")] if "etc" not in path.parts]  # sandboxes read run/etc
    wide = [path for path in own if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert wide == []
    shell.stop()
    shell.said = ""
    shell.serve()
    assert "closed to other users" not in shell.said


def test_a_new_home_is_closed_from_the_start_and_nothing_is_said_of_it(shell: Shell) -> None:
    shell.home.rmdir()
    shell.serve()
    assert stat.S_IMODE(shell.home.stat().st_mode) == 0o700
    assert "WARNING" not in shell.said


def test_the_service_of_a_process_is_read_from_its_control_group() -> None:
    assert service_of("0::/system.slice/trainmaster.service\n") == ("trainmaster.service", False)
    assert service_of("0::/system.slice/trainmaster.service/server\n") == ("trainmaster.service", False)
    one = "4:memory:/\n1:name=systemd:/user.slice/user-7.slice/user@7.service/app.slice/tm.service\n"
    assert service_of(one) == ("tm.service", True)
    for other in (
        "0::/\n",
        "0::/user.slice/user-7.slice/session-2.scope\n",
        "4:memory:/system.slice/cron.service\n",
        "0::/user.slice/user-7.slice/user@7.service/app.slice/terminal.scope\n",
    ):
        assert service_of(other) is None


def test_the_unit_names_this_installation_and_home() -> None:
    """That systemd reads it as meant is shown by scripts/try-systemd."""
    system, own = text_of('/srv/a b%c"', user=False), text_of("/srv/tm", user=True)
    assert f'ExecStart={sys.executable} -m trainmaster serve --home "/srv/a b%%c\\""' in system
    for line in (
        "KillMode=process",
        "Delegate=yes",
        "DelegateSubgroup=trainmaster\n",
        "Type=notify",
        "Restart=on-failure",
        "WantedBy=multi-user.target",
        "User=",
    ):
        assert f"\n{line}" in system
    assert "\nWantedBy=default.target\n" in own
    assert "\nUser=" not in own


def test_the_command_prints_the_unit(shell: Shell) -> None:
    for words, user in (((), False), (("--user",), True)):
        assert shell("--home", str(shell.home), "unit", *words) == text_of(str(shell.home), user=user)


@pytest.mark.parametrize(
    ("mode", "state"), [("control-group", "bad"), ("mixed", "bad"), ("process", "ok"), ("none", "ok"), ("", "ok")]
)
def test_a_unit_that_would_end_all_jobs_is_told_at_the_start_and_by_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, state: str
) -> None:
    """By what systemd says of the service; a real one is asked by scripts/try-systemd."""
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\n[ $1 = show ] && [ $5 = tm.service ] && echo {mode}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(systemd, "service_of", lambda text: ("tm.service", False))
    (tmp_path / "run").mkdir()
    (tmp_path / "run/server.json").write_text(
        json.dumps({"url": "http://127.0.0.1:1", "pid": os.getpid(), "version": "0"})
    )
    said = "\n".join(greeting.notes(Config(), 0))
    (found,) = doctor._unit(str(tmp_path))
    assert found.state == state
    assert (systemd.REMEDY in said) == (found.remedy == systemd.REMEDY) == (state == "bad")


def test_a_ledger_that_is_damaged_is_told(shell: Shell) -> None:
    shell.serve()
    assert look(shell)["database"]["state"] == "ok"
    shell.stop()
    file = shell.home / "trainmaster.db"
    with file.open("r+b") as disk:
        disk.seek(file.stat().st_size // 4096 // 2 * 4096)
        disk.write(os.urandom(4096))
    found = look(shell, code=1)["database"]
    assert found["state"] == "bad"
    assert "backup" in found["remedy"]


def test_a_server_tells_its_service_manager_that_it_is_ready(shell: Shell, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60)
        shell.env["NOTIFY_SOCKET"] = str(tmp_path / "notify")
        shell.serve()
        assert manager.recv(100) == b"READY=1"
    notify("READY=1")  # nobody asked: nothing happens
