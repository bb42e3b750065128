"""The bubblewrap command line: what a task may see. Builds argument lists and runs nothing.

Invariant: nothing is visible that is not named here - the system's programs, the Python environment, the job's own
folders. All capabilities are dropped, the root is read-only, and the platform's home is never inside. See
docs/design/sandbox.md.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.agent.containers.places import ETC
from trainmaster.agent.sandbox import rooted, seccomp
from trainmaster.core.folders.layout import (
    IN_ALGORITHM,
    IN_CODE,
    IN_ENVIRONMENT,
    IN_METRICS,
    IN_MODEL,
    IN_OUTPUTS,
    IN_SECRETS,
    IN_WORKSPACE,
)
from trainmaster.core.folders.targets import PLACES, hidden_by, place_at, within
from trainmaster.core.launch import Mount

SYSTEM_LINKS: Final = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
GPU_CONTROL: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
STATUS_FD: Final = 3
GATE_FD: Final = 5
"""Where bubblewrap, its sandbox made, waits for one byte before it executes the program (see agent/starting/gate)."""
FILTER_FD: Final = 6
SECRETS_FD: Final = 16
"""Where bubblewrap reads the first file with a secret; the others follow."""
SECRET_FILE: Final = "--ro-bind-data"
"""A file in memory, of mode 0600, of what is read from a descriptor."""
WORKSHOP: Final = "/trainmaster"
"""Where what makes an environment sees the folder that it works in: IN_ENVIRONMENT lies in it."""
OWN_NETWORK: Final = ("--unshare-net",)
KERNEL_FOLDERS: Final = ("bus", "fs", "irq", "sys")
"""Of /proc: large, and where a module that is loaded later puts files."""
SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Environment:
    """The Python environment tasks see first. `folders` are shown read-only at their own paths; `package` is our own
    code. `image`: folder that is shown at IN_ENVIRONMENT instead, "" for none. `root`: folder of the files that are
    shown in place of the system's, "" for none.
    """

    bin: str
    folders: tuple[str, ...]
    package: str  # folder that contains the `trainmaster` package, "" when it lies in the environment itself
    image: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What one task's sandbox is made of. `cards`: device nodes it may open."""

    name: str
    hidden: tuple[str, ...]  # the platform's home, and where it keeps its data: never visible as a whole
    etc: str  # folder shown as /etc (see agent/sandbox/etc)
    tmp: str
    work: str
    metrics: str
    model: str
    outputs: str
    shm_mib: int
    environment: Environment
    mounts: tuple[Mount, ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # (host path, path inside)
    cards: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()  # names of files in IN_SECRETS
    network: bool = False  # bubblewrap makes a network of its own for it


@cache
def environment(prefix: str, package: str) -> Environment:
    """Return what must be visible for the Python environment at `prefix` to work, its base interpreter included.

    A virtual environment's python is a link to another interpreter; only the folders needed are shown, never their
    parents.
    """
    found = [prefix]
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            pairs = dict(line.split("=", 1) for line in file if "=" in line)
        found += [os.path.dirname(value.strip()) for key, value in pairs.items() if key.strip() == "home"]
    except OSError:
        pass  # not a virtual environment: it is its own base
    python = os.path.join(prefix, "bin", "python3")
    if os.path.exists(python):
        found.append(os.path.dirname(os.path.dirname(os.path.realpath(python))))
    found += [os.path.realpath(folder) for folder in found]
    folders: list[str] = []
    for folder in found:
        if os.path.isdir(folder) and folder not in folders and not within(folder, "/usr") and folder != "/":
            folders.append(folder)
    own = "" if any(within(package, folder) for folder in (*folders, *filter(None, (prefix,)))) else package
    return Environment(os.path.join(prefix, "bin"), tuple(folders), own)


def of_image(folder: str, package: str) -> Environment:
    """Return what must be visible for the environment of an image, whose own place is the same on every node."""
    found = environment.__wrapped__(folder, package)  # not kept: it may have been removed, and be made again
    own = {folder, os.path.realpath(folder)}
    rest = tuple(one for one in found.folders if one not in own)
    return Environment(f"{IN_ENVIRONMENT}/bin", rest, package, folder)


def of_container(folder: str, package: str) -> Environment:
    """Return what must be visible for a container image that is kept in `folder`."""
    return Environment("", (), package, root=rooted.root_of(folder))


@cache
def _system() -> tuple[str, ...]:
    args: list[str] = ["--ro-bind", "/usr", "/usr"]
    for link in SYSTEM_LINKS:
        if os.path.islink(link):
            args += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            args += ["--ro-bind", link, link]
    if os.path.isdir("/sys/devices/system"):
        args += ["--ro-bind", "/sys/devices/system", "/sys/devices/system"]
    return tuple(args)


@cache
def _namespaces() -> tuple[str, ...]:
    args = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() != 0:
        args.append("--unshare-user")
    return (*args, "--cap-drop", "ALL", "--new-session")


def _filter(fd: int) -> tuple[str, ...]:
    return ("--seccomp", str(fd)) if seccomp.program() else ()


@cache
def _sealed() -> tuple[str, ...]:
    """Return what makes the rest read-only. The kernel lets user 0 write /proc/sys whatever its capabilities are, where
    one line (kernel.core_pattern) is enough to run a program outside; bubblewrap covers it for other users only.
    Processes' own folders stay as they are: CUDA names its threads there, or does not start. /proc/keys names the keys
    of the host's user.
    """
    keys = ("--ro-bind", "/dev/null", "/proc/keys") if os.path.exists("/proc/keys") else ()
    kernel = [word for one in (kernel_files() if os.geteuid() == 0 else ()) for word in ("--ro-bind-try", one, one)]
    return (*keys, *kernel, "--remount-ro", "/")


@cache
def kernel_files(proc: str = "/proc") -> tuple[str, ...]:
    """Return what in `proc` is of no process and can be written by somebody: files, and folders with such files."""
    found = []
    for name in sorted(os.listdir(proc)):
        path = os.path.join(proc, name)
        if not name.isdigit() and not os.path.islink(path) and (name in KERNEL_FOLDERS or _is_writable(path)):
            found.append(path)
    return tuple(found)


def _is_writable(path: str) -> bool:
    below = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    for file in (path, *below) if os.path.isdir(path) else (path,):
        with suppress(OSError):
            mode = os.lstat(file).st_mode
            if stat.S_ISREG(mode) and mode & 0o222:
                return True
    return False


def ways(mounts: Iterable[Mount]) -> tuple[str, ...]:
    """Return the folders between /workspace and what is mounted deeper in it, relative to it, parents first.

    Each becomes a mount, too: else the task could put a link in its place, and who makes the sandbox anew would follow
    it.
    """
    found: dict[str, None] = {}
    for mount in mounts:
        if mount.target.startswith(IN_WORKSPACE + "/"):
            parts = mount.target[len(IN_WORKSPACE) + 1 :].split("/")
            found.update(dict.fromkeys("/".join(parts[:depth]) for depth in range(1, len(parts))))
    return tuple(found)


def covered(mounts: Iterable[Mount], environment: Environment) -> list[tuple[str, str]]:
    """Return (target, place) of each mount of a job over or within what the platform places in a sandbox on this
    node.
    """
    places = (*PLACES, *environment.folders)
    targets = (mount.target for mount in mounts if mount.target != IN_CODE)
    found = ((target, place_at(target, places) or hidden_by(target, places)) for target in targets)
    return [(target, place) for target, place in found if place is not None]


def _masks(hidden: Iterable[str], shown: Iterable[tuple[str, str]]) -> list[str]:
    """Hide each folder of `hidden` wherever a shown folder would contain it."""
    args: list[str] = []
    for source, target in shown:
        real = os.path.realpath(source)
        for folder in hidden:
            if within(folder, real):
                args += ["--tmpfs", os.path.normpath(os.path.join(target, os.path.relpath(folder, real)))]
    return args


def options(view: View, *, cwd: str, env: dict[str, str]) -> tuple[str, ...]:
    """Return bubblewrap's options for one task. Order matters: a later mount covers an earlier one.

    The task's variables are set inside, never given to bubblewrap itself: an LD_PRELOAD of the user's would run
    outside.
    """
    args = [*_namespaces(), "--hostname", view.name, "--json-status-fd", str(STATUS_FD)]
    args += [*OWN_NETWORK] if view.network else []
    root = view.environment.root
    args += ["--block-fd", str(GATE_FD), *_filter(FILTER_FD), *(rooted.system(root) if root else _system())]
    args += ["--ro-bind", view.etc, ETC if root else "/etc"]
    shown = [] if root else [("/usr", "/usr")]
    args += ["--proc", "/proc", "--dev", "/dev", "--size", str(max(view.shm_mib, 1) << 20), "--tmpfs", "/dev/shm"]
    args += ["--bind", view.tmp, "/tmp", "--bind", view.work, IN_WORKSPACE]
    for way in ways(view.mounts):
        args += ["--bind", f"{view.work}/{way}", f"{IN_WORKSPACE}/{way}"]
    for folder in view.environment.folders:
        args += ["--ro-bind", folder, folder]
        shown.append((folder, folder))
    if view.environment.image:
        args += ["--ro-bind", view.environment.image, IN_ENVIRONMENT]
    args += ["--bind", view.metrics, IN_METRICS]
    if view.environment.package:
        args += ["--ro-bind", os.path.join(view.environment.package, "trainmaster"), "/trainmaster/python/trainmaster"]
    args += ["--bind", view.model, IN_MODEL, "--bind", view.outputs, IN_OUTPUTS]
    for mount in view.mounts:
        for target in (mount.target, IN_ALGORITHM) if mount.target == IN_CODE else (mount.target,):
            args += ["--ro-bind" if mount.read_only else "--bind", mount.source, target]
            shown.append((mount.source, target))
    for source, target in view.files:
        args += ["--ro-bind", source, target]
    for number, name in enumerate(view.secrets):
        args += [SECRET_FILE, str(SECRETS_FD + number), f"{IN_SECRETS}/{name}"]
    for card in (*GPU_CONTROL, *view.cards) if view.cards else ():
        args += ["--dev-bind-try", card, card]
    if view.cards:
        args += ["--ro-bind", "/sys", "/sys", *(rooted.driver_options() if root else ())]
    args += _masks(view.hidden, shown)
    args += [*_sealed(), "--chdir", cwd, "--clearenv"]
    for key, value in env.items():
        args += ["--setenv", key, value]
    return tuple(args)


def workshop(folder: str, etc: str, shown: Iterable[str], env: dict[str, str]) -> tuple[str, ...]:
    """Return bubblewrap's options for making an environment: `folder` is all that it may write, at /trainmaster; of the
    host it sees the system's programs and, read-only, `shown`. It ends with whoever starts it.
    """
    args = [*_namespaces(), "--die-with-parent", *_filter(FILTER_FD), *_system(), "--ro-bind", etc, "/etc"]
    args += ["--proc", "/proc", "--dev", "/dev", "--size", str(64 << 20), "--tmpfs", "/dev/shm"]
    args += ["--bind", folder, WORKSHOP, "--bind", f"{folder}/tmp", "/tmp"]
    for one in shown:
        args += ["--ro-bind", one, one]
    args += [*_sealed(), "--chdir", WORKSHOP, "--clearenv"]
    for key, value in env.items():
        args += ["--setenv", key, value]
    return tuple(args)


def probe_command(bwrap: str, *more: str) -> list[str]:
    """Return a command that succeeds exactly where sandboxes work: it uses everything that every sandbox uses.

    It reads the filter of system calls as its input. `more`: options that not every sandbox uses.
    """
    mounts = ("--proc", "/proc", "--dev", "/dev", "--size", "1048576", "--tmpfs", "/dev/shm")
    return [bwrap, *_namespaces(), *more, *_filter(0), *_system(), *mounts, *_sealed(), "--", "/usr/bin/true"]
