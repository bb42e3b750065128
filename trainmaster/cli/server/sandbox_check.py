"""Why bubblewrap makes no sandbox here, and what to do about it: with root, and without.

It needs user namespaces unless it runs as root. Three switches of the kernel forbid them; which one does is read from
their files.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainmaster.cli.language import spaced, words

SWITCHES: Final = "/proc/sys"
MEANWHILE: Final = words("Jobs run without isolation until then.", "在此之前任务不隔离运行。")
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
        words(
            "AppArmor lets only named programs make user namespaces, as on Ubuntu 24.04, and bubblewrap has no profile",
            "AppArmor 只允许指定的程序创建用户命名空间（如 Ubuntu 24.04），而 bubblewrap 没有相应的配置",
        ),
        _PROFILE,
    ),
    Switch(
        "kernel.unprivileged_userns_clone",
        "0",
        words("the kernel lets only root make user namespaces", "内核只允许 root 创建用户命名空间"),
        _KEPT.format(key="kernel.unprivileged_userns_clone", value=1),
    ),
    Switch(
        "user.max_user_namespaces",
        "0",
        words("the kernel makes no user namespaces", "内核不创建用户命名空间"),
        _KEPT.format(key="user.max_user_namespaces", value=28633),
    ),
)


def why_none(bwrap: str | None, said: str, *, root: bool, switches: str = SWITCHES) -> tuple[str, str]:
    """Return (cause, remedy) where the probe of sandboxes failed and `said` why. `bwrap`: its path, None: it is not
    installed.
    """
    if bwrap is None:
        without = (
            ""
            if root
            else words(
                "No root? conda-forge has a package bubblewrap, too.", "没有 root？conda-forge 也有 bubblewrap 包。"
            )
        )
        missing = words("bubblewrap is not installed", "没有安装 bubblewrap")
        return missing, spaced(MEANWHILE, _ask(_INSTALL, root=root), without)
    for switch in FORBID:
        if _value(switches, switch.key) == switch.closed and (not root or switch.key.startswith("user.")):
            line = switch.line.format(bwrap=bwrap)
            return f"{switch.means} ({switch.key} = {switch.closed})", spaced(MEANWHILE, _ask(line, root=root))
    if "namespace" in said or "Operation not permitted" in said or "uid map" in said:
        remedy = words(
            "In a container, its runtime forbids them: start it with a seccomp and an AppArmor profile that allow "
            "user namespaces (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined). "
            "Elsewhere ask the administrator which security module does.",
            "在容器中是其运行时禁止的：请用允许用户命名空间的 seccomp 和 AppArmor 配置启动容器"
            "（Docker：--security-opt seccomp=unconfined --security-opt apparmor=unconfined）。"
            "其他环境请询问管理员是哪个安全模块。",
        )
        return words(f"user namespaces are forbidden here: {said}", f"这里禁止用户命名空间：{said}"), spaced(
            MEANWHILE, remedy
        )
    other = words(
        "Fix what bubblewrap says, or install another version of it.", "请按 bubblewrap 的提示修正，或安装其他版本。"
    )
    return said, spaced(MEANWHILE, other)


def _ask(line: str, *, root: bool) -> str:
    if root:
        return words(f"As root: {line}", f"以 root 执行：{line}")
    sent = f"sudo sh -c {shlex.quote(line)}"
    return words(f"Send this line to your administrator: {sent}", f"请把这一行发给管理员：{sent}")


def _value(switches: str, key: str) -> str:
    try:
        return Path(switches, *key.split(".")).read_text(encoding="ascii").strip()
    except OSError:
        return ""
