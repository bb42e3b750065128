"""The /etc that tasks see: one folder for all, because bubblewrap takes a tenth of a millisecond and more for each
mount.

It holds copies of what programs need of the host's, accounts of root, nobody and the tasks' user only, and the names of
the tasks themselves. Running tasks look into it: it is brought up to date in place. Nothing secret may ever come into
it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

COPIED: Final = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl", "ca-certificates", "pki", "hosts", "nsswitch.conf", "host.conf",
    "gai.conf", "services", "protocols", "localtime", "timezone", "alternatives", "mime.types", "OpenCL", "vulkan",
    "libibverbs.d", "python3", "terminfo", "inputrc", "magic",
)  # fmt: skip
"""Files and folders of /etc that programs need and that hold no secret (ssl/private is left out)."""


class Etc:
    """The folder of one home. `host`: the host's own /etc."""

    def __init__(self, folder: str, host: str = "/etc") -> None:
        self._folder, self._host = folder, host
        self._resolv = (0, 0)
        self._names: set[str] = set()
        self._whole = False
        with contextlib.suppress(OSError):  # full disk: `know` tries again before a task needs it
            self._bring_up()

    def _bring_up(self) -> None:
        _write(self._folder, self._host)
        hosts = Path(self._folder, "hosts")
        hosts.touch()
        self._names = set(hosts.read_text(encoding="utf-8", errors="replace").split())
        self._whole = True

    def know(self, names: Iterable[str]) -> None:
        """Let `names` of tasks resolve: a program that looks itself up must not wait for a name server. Raises OSError.

        To the loopback address, for the tasks of a host share its network.
        """
        if not self._whole:
            self._bring_up()
        new = [name for name in names if name not in self._names]
        if new:
            with open(os.path.join(self._folder, "hosts"), "a", encoding="ascii") as file:
                file.write("".join(f"127.0.0.1 {name}\n" for name in new))
            self._names.update(new)

    def refresh(self) -> None:
        """Copy the host's list of name servers if it changed: it does while tasks live. Costs one system call if
        not.
        """
        source = os.path.join(self._host, "resolv.conf")
        with contextlib.suppress(OSError):
            found = os.stat(source)
            if (stamp := (found.st_ino, found.st_mtime_ns)) != self._resolv:
                fresh = self._folder + ".resolv"
                shutil.copyfile(source, fresh)
                os.replace(fresh, os.path.join(self._folder, "resolv.conf"))
                self._resolv = stamp


def _write(folder: str, host: str) -> None:
    """Bring `folder` up to date. Nothing is done when nothing has changed."""
    sources = [path for path in (os.path.join(host, name) for name in COPIED) if os.path.exists(path)]
    stamp = repr([(path, os.stat(path).st_mtime_ns) for path in sources])
    mark = folder + ".stamp"
    with contextlib.suppress(OSError):
        if Path(mark).read_text(encoding="utf-8") == stamp:
            return
    os.makedirs(folder, mode=0o755, exist_ok=True)
    for path in sources:
        target = os.path.join(folder, os.path.basename(path))
        with contextlib.suppress(OSError, shutil.Error):  # a file that we may not read is left out
            if os.path.isdir(path):
                shutil.copytree(
                    path, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("private")
                )
            else:
                shutil.copyfile(path, target, follow_symlinks=os.path.basename(path) != "localtime")
    for name, lines in _accounts().items():
        Path(folder, name).write_text("".join(line + "\n" for line in lines), encoding="ascii")
    Path(mark).touch(0o600)
    Path(mark).write_text(stamp, encoding="utf-8")


def _accounts() -> dict[str, list[str]]:
    uid, gid = os.geteuid(), os.getegid()
    passwd = {
        0: "root:x:0:0:root:/workspace:/bin/sh",
        65534: "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
    }
    group = {0: "root:x:0:", 65534: "nogroup:x:65534:"}
    passwd.setdefault(uid, f"user:x:{uid}:{gid}:user:/workspace:/bin/sh")
    group.setdefault(gid, f"user:x:{gid}:")
    return {"passwd": list(passwd.values()), "group": list(group.values())}
