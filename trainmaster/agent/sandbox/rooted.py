"""What a task sees whose image is a container's: the image's files read-only in place of the system's, the rest as in
every sandbox. See docs/design/containers.md.

An image is made by strangers. Invariant: no mount goes through a link of the image's, and nothing of the host's is
seen that its own sandbox would not show.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable
from functools import cache
from glob import glob
from typing import Any, Final

from trainmaster.agent.containers.accounts import lines_of, with_account
from trainmaster.agent.containers.places import CONFIG, ROOT
from trainmaster.core.launch import Mount

OWN: Final = frozenset({"proc", "dev", "sys", "tmp", "workspace", "code", "model", "trainmaster"})
"""Folders at the top that are the platform's, whatever an image has there."""
DRIVER: Final = "/trainmaster/driver"
"""Where the libraries of the host's driver are seen."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}")
_LIBRARIES: Final = (
    "libcuda.so*", "libcudadebugger.so*", "libnvidia-ml.so*", "libnvidia-ptxjitcompiler.so*", "libnvidia-nvvm.so*",
    "libnvidia-nvvm70.so*", "libnvidia-gpucomp.so*", "libnvidia-opencl.so*", "libnvidia-cfg.so*",
    "libnvidia-allocator.so*", "libnvidia-pkcs11*.so*", "libnvcuvid.so*", "libnvidia-encode.so*",
)  # fmt: skip
_FOLDERS: Final = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
_LONGEST: Final = 32 << 10
_MOST_ACCOUNTS: Final = 1 << 20


def root_of(folder: str) -> str:
    """Return where the files of the image that is kept in `folder` lie."""
    return os.path.join(folder, ROOT)


def _told(folder: str, key: str) -> Any:
    """Return what an image says of itself under `key`, None where it says nothing or is not there."""
    try:
        with open(os.path.join(folder, CONFIG), encoding="utf-8") as file:
            return json.load(file)[key]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def machine_of(folder: str) -> str:
    """Return which kind of processor an image is for, as uname(2) calls it; "": one that was fetched by an earlier
    version says nothing.
    """
    found = _told(folder, "machine")
    return found if isinstance(found, str) else ""


def variables(folder: str) -> dict[str, str]:
    """Return the variables that an image sets, none where it is not there. What cannot be one is left out."""
    told = _told(folder, "env")
    if not isinstance(told, list):
        return {}
    pairs = (one.partition("=") for one in told if isinstance(one, str) and len(one) <= _LONGEST and "\0" not in one)
    return {name: value for name, equals, value in pairs if equals and _NAME.fullmatch(name)}


def accounts(root: str) -> dict[str, str]:
    """Return the files of /etc, with their text, that lack the account of who runs this: the server's user has one
    there since the image was unpacked, the owner of a job has not.
    """
    found: dict[str, str] = {}
    for name, number, line in lines_of(os.geteuid(), os.getegid()):
        path = os.path.join(root, "etc", name)
        try:
            if os.path.islink(os.path.dirname(path)) or not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_ACCOUNTS)
        except OSError:
            continue
        if (whole := with_account(text, number, line)) != text:
            found[f"/etc/{name}"] = whole
    return found


def system(root: str) -> tuple[str, ...]:
    """Return bubblewrap's options that show an image's files; of none that is not there (`spawn` refuses it)."""
    args: list[str] = []
    try:
        with os.scandir(root) as entries:
            found = sorted((entry for entry in entries if entry.name not in OWN), key=lambda entry: entry.name)
    except OSError:
        return ()
    for entry in found:
        if entry.is_symlink():
            args += ["--symlink", os.readlink(entry.path), f"/{entry.name}"]
        elif entry.is_dir() or entry.is_file():
            args += ["--ro-bind", entry.path, f"/{entry.name}"]
    if os.path.isdir("/sys/devices/system"):
        args += ["--ro-bind", "/sys/devices/system", "/sys/devices/system"]
    return tuple(args)


@cache
def driver() -> tuple[str, ...]:
    """Return the files of the host's driver that a program with a card needs: an image must not bring its own."""
    found: dict[str, str] = {}
    for folder in _FOLDERS:
        for pattern in _LIBRARIES:
            for path in sorted(glob(os.path.join(folder, pattern))):
                found.setdefault(os.path.basename(path), path)
    return (*found.values(), *(path for path in ("/usr/bin/nvidia-smi",) if os.path.exists(path)))


def driver_options() -> tuple[str, ...]:
    """Return bubblewrap's options that show them."""
    return tuple(
        word
        for path in driver()
        for word in ("--ro-bind", os.path.realpath(path), f"{DRIVER}/{os.path.basename(path)}")
    )


def misplaced(mounts: Iterable[Mount], root: str) -> list[str]:
    """Return the targets of mounts that have no place in an image: in a folder that it has there must be a folder, and
    no link on the way, which could lead elsewhere.
    """
    return [mount.target for mount in mounts if not _has_place(mount, root)]


def _has_place(mount: Mount, root: str) -> bool:
    parts = [part for part in mount.target.split("/") if part]
    if not parts or parts[0] in OWN:
        return True
    path = root
    for depth, part in enumerate(parts):
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return depth == 0  # the root is made anew, its folders are not
        except OSError:
            return False
        if depth < len(parts) - 1 and not stat.S_ISDIR(mode):
            return False
        if stat.S_ISLNK(mode):
            return False
    return stat.S_ISDIR(mode) == os.path.isdir(mount.source)
