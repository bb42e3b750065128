"""Real system users on this machine: the server's, those it may act for, and one it may not. Made for a test and
removed after it.

The server's user is told its rights by the rule of the guide, in a file of its own. Needs root, and Debian's sudo.
"""

import os
import pwd
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.slurm.bed import PATH

PROGRAMS: Final = ("sudo", "useradd", "setpriv")
RULE: Final = """\
Cmnd_Alias {alias} = {programs}
Defaults!{alias} env_keep += "SLURM_CONF SLURM_TIME_FORMAT SLURM_EXIT_ERROR", !requiretty
{server} ALL = (%{group}) NOPASSWD: {alias}
"""
PATIENCE_S: Final = 120.0


def missing() -> str:
    """Return why no users can be made here, "" when they can."""
    lacking = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


class Persons:
    """`server`: whom the server runs as. `ada`, `eve`: whom it may act for. `zoe`: whom it may not. Names of system
    users.

    The first three have a group in common, which must help nobody to see what is another's.
    """

    def __init__(self) -> None:
        mark = str(os.getpid())
        self.group = f"tmg{mark}"
        self.server, self.ada, self.eve, self.zoe = self.names = tuple(f"tm{who}{mark}" for who in "saez")
        self.rule = Path("/etc/sudoers.d", f"tm-test-{mark}")
        self._root: subprocess.Popen[str] | None = None

    def make(self) -> None:
        """Make the users and the rule, and keep a root's shell for what only root can do meanwhile."""
        assert not missing(), missing()
        _run("groupadd", self.group)
        for name in self.names:
            more = {self.server: ["-g", self.group], self.zoe: []}.get(name, ["-G", self.group])
            _run("useradd", "-M", "-s", "/bin/sh", *more, name)
        programs = [shutil.which(name, path=PATH) for name in ("sbatch", "scancel", "scontrol", "srun")]
        text = RULE.format(
            alias=f"TM{os.getpid()}", programs=", ".join(filter(None, programs)), server=self.server, group=self.group
        )
        fresh = self.rule.with_name(self.rule.name + "~")  # sudo passes over names that end so
        fresh.write_text(text)
        fresh.chmod(0o440)
        fresh.rename(self.rule)
        self._root = subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def remove(self) -> None:
        """Remove all of it."""
        if self._root is not None:
            self._root.communicate()
        self.rule.unlink(missing_ok=True)
        self._end_processes()
        for name in self.names:
            _run("userdel", name, check=False)
        _run("groupdel", self.group, check=False)

    def _end_processes(self) -> None:
        """What still runs of theirs after a failed test would keep their names in use."""
        numbers = {self.number(name) for name in self.names}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(ProcessLookupError, FileNotFoundError):
                if os.stat(f"/proc/{pid}").st_uid in numbers:
                    os.kill(int(pid), signal.SIGKILL)

    def number(self, name: str) -> int:
        """Return the number of a user."""
        return pwd.getpwnam(name).pw_uid

    def ask(self, name: str, command: str) -> tuple[int, str]:
        """Let `name` run a shell command; return its exit code and all that it said."""
        assert self._root is not None
        assert self._root.stdin is not None
        assert self._root.stdout is not None
        end = f"END-{os.urandom(8).hex()}"
        change = f"setpriv --reuid={name} --regid={pwd.getpwnam(name).pw_gid} --init-groups" if name != "root" else ""
        self._root.stdin.write(f"{change} /bin/sh -c {shlex.quote(command)} </dev/null 2>&1; echo {end} $?\n")
        self._root.stdin.flush()
        said = ""
        while end not in said:
            said += self._root.stdout.readline()
        text, _, code = said.partition(end)
        return int(code), text

    @contextmanager
    def acting(self, name: str) -> Iterator[None]:
        """Let this process, and whatever it starts, be `name`; what it starts cannot become root again."""
        user, groups, mask = pwd.getpwnam(name), os.getgroups(), os.umask(0o022)
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, 0)
        os.setresuid(user.pw_uid, user.pw_uid, 0)  # the saved 0 is the way back; no program that is started keeps it
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
            os.setgroups(groups)
            os.umask(mask)


def _run(*words: str, check: bool = True) -> None:
    """Run a program that changes the users; another one may hold their file for a moment."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        done = subprocess.run(words, env={"PATH": PATH}, capture_output=True, text=True, check=False)
        # useradd and userdel say 1, groupadd and groupdel 10.
        if done.returncode in (1, 10) and "lock" in done.stderr and time.monotonic() < give_up:
            time.sleep(0.1)
            continue
        assert not check or done.returncode == 0, (words, done.stderr)
        return
