"""Why bubblewrap makes no sandbox here, and what to do about it: with root, and without.

It needs user namespaces unless it runs as root. Three switches of the kernel forbid them; which one does is read from
their files.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SWITCHES: Final = "/proc/sys"
MEANWHILE: Final = "Jobs run without isolation until then."
_KEPT: Final = "echo {key}={value} > /etc/sysctl.d/60-user-namespaces.conf && sysctl --system"
_PROFILE: Final = (
    r"printf 'abi <abi/4.0>,\nprofile bwrap {bwrap} flags=(unconfined) {{\n  userns,\n}}\n' > /etc/apparmor.d/bwrap"
    " && apparmor_parser -r /etc/apparmor.d/bwrap"
)
_INSTALL: Final = "apt-get install bubblewrap"


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting of the kernel that forbids user namespaces when it has the value `closed`."""

    key: str
    closed: str
    means: str
    line: str  # the command that an administrator types


FORBID: Final = (
    Switch(
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor lets only named programs make user namespaces, as on Ubuntu 24.04, and bubblewrap has no profile",
        _PROFILE,
    ),
    Switch(
        "kernel.unprivileged_userns_clone",
        "0",
        "the kernel lets only root make user namespaces",
        _KEPT.format(key="kernel.unprivileged_userns_clone", value=1),
    ),
    Switch(
        "user.max_user_namespaces",
        "0",
        "the kernel makes no user namespaces",
        _KEPT.format(key="user.max_user_namespaces", value=28633),
    ),
)


def why_none(bwrap: str | None, said: str, *, root: bool, switches: str = SWITCHES) -> tuple[str, str]:
    """Return (cause, remedy) where the probe of sandboxes failed and `said` why. `bwrap`: its path, None: it is not
    installed.
    """
    if bwrap is None:
        without = "" if root else " No root? conda-forge has a package bubblewrap, too."
        return "bubblewrap is not installed", f"{MEANWHILE} {_ask(_INSTALL, root=root)}{without}"
    for switch in FORBID:
        if _value(switches, switch.key) == switch.closed and (not root or switch.key.startswith("user.")):
            line = switch.line.format(bwrap=bwrap)
            return f"{switch.means} ({switch.key} = {switch.closed})", f"{MEANWHILE} {_ask(line, root=root)}"
    if "namespace" in said or "Operation not permitted" in said or "uid map" in said:
        remedy = (
            "In a container, its runtime forbids them: start it with a seccomp and an AppArmor profile that allow "
            "user namespaces (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined). "
            "Elsewhere ask the administrator which security module does."
        )
        return f"user namespaces are forbidden here: {said}", f"{MEANWHILE} {remedy}"
    return said, f"{MEANWHILE} Mend what bubblewrap says, or install another version of it."


def _ask(line: str, *, root: bool) -> str:
    return f"As root: {line}" if root else f"Send this line to your administrator: sudo sh -c {shlex.quote(line)}"


def _value(switches: str, key: str) -> str:
    try:
        return Path(switches, *key.split(".")).read_text(encoding="ascii").strip()
    except OSError:
        return ""
