"""`tm doctor`: what this machine offers and what it lacks, with the remedy for each lack. Changes nothing."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Final

import typer

from trainmaster.cli.context import OPTIONS, AsJson, home
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.installed import REMEDY, lacking
from trainmaster.cli.language import counted, language, words
from trainmaster.cli.server.answering import BAD, GOOD, POOR, Finding, agent, port, server
from trainmaster.cli.server.greeting import exposed
from trainmaster.cli.showing.console import in_words
from trainmaster.core.folders.layout import Layout
from trainmaster.messages import render
from trainmaster.messages.server.client import INSTALL_ZH

_ROOMY: Final = 2 * 2**30
_WIDTH: Final = len("environment")
NAME_ONE: Final = words(
    "Name one that runs elsewhere by TRAINMASTER_URL (or --url).",
    "请用 TRAINMASTER_URL（或 --url）指定在别处运行的服务器。",
)
REACHED: Final = words("A job reaches the ports of other jobs and of this computer", "任务可以访问其他任务和本机的端口")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        doctor,
        "检查本机和本机上的服务器，并说明如何修正。\n\n每行一项：正常、注意（可用但有缺失）或异常，下面是修正方法。"
        "有异常时退出码为 1。不做任何改动。",
        "tm doctor",
        "tm doctor --json",
        panel=SERVER,
    )


def doctor(as_json: AsJson = False) -> None:
    """Check this computer and the server on it, and say how to fix what is wrong.

    Prints a line for each thing: ok, warning (works, with less) or bad; below it the remedy. Exit code 1 if anything is
    bad. Changes nothing.
    """
    from trainmaster.cli.showing.console import emit_json, finding

    found = [*_findings(home())]
    if as_json:
        emit_json([asdict(one) for one in found])
    else:
        for one in found:
            finding(one.state, one.name, one.detail, one.remedy, width=_WIDTH)
    if any(one.state == BAD for one in found):
        sys.exit(1)


def _findings(folder: str) -> Iterator[Finding]:
    yield _python()
    elsewhere = OPTIONS.url
    if elsewhere is not None:  # the server is elsewhere: this machine's findings say nothing about it
        yield server()[1]
        yield Finding(
            "computer",
            GOOD,
            words(f"not looked at, because a server was named: {elsewhere}", f"未检查，因为指定了服务器：{elsewhere}"),
            words(
                "Run tm doctor on the server's computer, without TRAINMASTER_URL and --url.",
                "请在服务器所在的计算机上运行 tm doctor，不设 TRAINMASTER_URL 和 --url。",
            ),
        )
        return
    if missing := lacking():
        yield server(NAME_ONE)[1]
        packages = words(", ", "、").join(missing)
        why = words(
            f"not looked at, because packages of the server are not installed here: {packages}",
            f"未检查，因为这里没有安装服务器的软件包：{packages}",
        )
        yield Finding("computer", GOOD, why, words(f"{REMEDY}.", f"{INSTALL_ZH}。"))
        return
    yield _sandbox()
    yield _cgroups()
    yield _folder(folder)
    yield from (_disk(place) for place in _places(folder))
    yield _ledger(folder)
    yield _cards()
    yield from _neighbours(folder)
    yield from _settings(folder)
    answers, finding = server()
    yield finding
    yield from _unit(folder)
    if not answers:
        yield port()
    yield agent(folder, answers)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", GOOD, words(f"{version} at {sys.executable}", f"{version}，位于 {sys.executable}"))


def _sandbox() -> Finding:
    from trainmaster.agent.sandbox import seccomp
    from trainmaster.agent.sandbox.probe import probe_sandbox

    probe = probe_sandbox("auto", shutil.which("bwrap"))
    if probe.bwrap and (why := seccomp.missing()):
        return Finding(
            "bwrap",
            POOR,
            words(
                f"sandboxes work ({probe.bwrap}), but they do not filter system calls: {render.text(why)}",
                f"沙箱可用（{probe.bwrap}），但不过滤系统调用：{render.text(why, 'zh')}",
            ),
            words(
                "Use a kernel with seccomp filters, on x86_64 or aarch64.",
                "请在 x86_64 或 aarch64 上使用支持 seccomp 过滤的内核。",
            ),
        )
    if probe.bwrap:
        said = words(
            f"sandboxes work and filter system calls ({probe.bwrap})", f"沙箱可用，并过滤系统调用（{probe.bwrap}）"
        )
        return Finding("bwrap", GOOD, said)
    from trainmaster.cli.server.sandbox_check import why_none

    cause, remedy = why_none(
        shutil.which("bwrap"), render.text(probe.why, language()) if probe.why else "", root=os.geteuid() == 0
    )
    return Finding("bwrap", POOR, cause, remedy)


def _cgroups() -> Finding:
    root = "/sys/fs/cgroup"
    unified = os.path.exists(f"{root}/cgroup.controllers")
    places = [root] if unified else [f"{root}/{name}" for name in ("cpu", "memory", "pids")]
    closed = [place for place in places if not os.access(place, os.W_OK)]
    if not closed:
        version = 2 if unified else 1
        return Finding("cgroups", GOOD, words(f"limits can be set (version {version})", f"可以设置限制（v{version}）"))
    without = words(
        "Memory and processes are checked only from time to time, and CPU is not limited. To set limits, run the "
        "server as root",
        "内存与进程数只靠定时检查来限制，CPU 不受限制。要设置限制，请以 root 运行服务器",
    )
    if unified:
        from trainmaster.cli.server.systemd import subgroup

        start = (
            f"systemd-run --user --pty -p Delegate=yes {subgroup()}-p KillMode=process "
            f"{sys.executable} -m trainmaster serve"
        )
        other = words(
            f", or without root in a unit of your own (trainmaster unit --user), or to try it: {start}.",
            f"；没有 root 时使用自己的单元（trainmaster unit --user），或试运行：{start}",
        )
    else:
        other = words(
            "; without root, version 1 of control groups can set none.", "；没有 root 时，v1 控制组无法设置限制。"
        )
    those = words(", ", "、").join(closed)
    return Finding("cgroups", POOR, words(f"not writable: {those}", f"不可写：{those}"), without + other)


def _folder(folder: str) -> Finding:
    place = folder
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if not os.access(place, os.W_OK):
        return Finding(
            "home",
            BAD,
            words(f"{folder} cannot be written", f"{folder} 不可写"),
            words("Choose another with --home or TRAINMASTER_HOME.", "请用 --home 或 TRAINMASTER_HOME 另选一个。"),
        )
    from trainmaster.service.folders.privacy import OTHERS, THROUGH

    mode = stat.S_IMODE(os.stat(place).st_mode)
    if place == folder and mode & OTHERS and mode != THROUGH:
        return Finding(
            "home",
            BAD,
            words(f"{folder} is open to others", f"{folder} 对其他用户开放"),
            words(
                f"chmod 700 {folder} (the server does it at its start)", f"chmod 700 {folder}（服务器启动时也会执行）"
            ),
        )
    new = words(f"{folder} (created at the first start)", f"{folder}（首次启动时创建）")
    return Finding("home", GOOD, folder if place == folder else new)


def _places(folder: str) -> Iterator[str]:
    """Yield the home folder, and where the bulk lies instead."""
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.service.settings import load

    yield folder
    try:
        data = load(Layout(folder).config).server.data
    except InvalidSpec:
        return
    if data:
        yield data


def _disk(folder: str) -> Finding:
    from trainmaster.core.config import LimitsConfig
    from trainmaster.core.folders.room import room_of

    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    room = room_of(os.statvfs(folder))
    free = room.free.bytes
    size, count = f"{free / 2**30:.1f} GiB", room.free.files
    text = words(
        f"{size} free{f', room for {count:,} files' if room.total.files else ''} at {folder}",
        f"{folder} 剩余 {size}{f'，还可存放 {count} 个文件' if room.total.files else ''}",
    )
    if free < _ROOMY // 10 or room.short_of(LimitsConfig().reserve_mib):
        full = words(
            "Free space, or choose another --home; nothing can be accepted on a full disk.",
            "请清理磁盘，或用 --home 另选位置；磁盘写满后无法接受任何请求。",
        )
        return Finding("disk", BAD, text, full)
    if free < _ROOMY:
        return Finding("disk", POOR, text, words("Logs and models need room.", "日志和模型需要空间。"))
    return Finding("disk", GOOD, text)


def _ledger(folder: str) -> Finding:
    from trainmaster.core.errors import InvalidSpec
    from trainmaster.service.settings import load
    from trainmaster.service.wiring import past_of
    from trainmaster.store.examine import examine

    layout = Layout(os.path.abspath(folder))
    try:
        server = load(layout.config).server
    except InvalidSpec as error:
        title, remedy = in_words(error)
        return Finding("database", BAD, f"{layout.config}: {title}", remedy)
    layout = replace(layout, data=os.path.realpath(server.data) if server.data else "")
    looked = examine(server.database or f"sqlite:///{layout.database}", past_of(layout))
    state = {"sound": GOOD, "unsure": POOR, "broken": BAD}[looked.state]
    return Finding("database", state, render.text(looked.said, language()), render.remedy(looked.said, language()))


def _cards() -> Finding:
    from trainmaster.core.config import LocalConfig
    from trainmaster.engines.local.facts import Host

    cards = Host(LocalConfig()).cards
    if not cards:
        return Finding("gpus", GOOD, words("no GPU found; jobs run on the CPU", "没有发现加速卡；任务在 CPU 上运行"))
    return Finding("gpus", GOOD, counted(len(cards), "GPU found", "GPUs found", "张加速卡"))


def _neighbours(folder: str) -> Iterator[Finding]:
    from trainmaster.cli.server.neighbours import others

    found = [*others(folder)]
    if found:
        several = (f"{home} ({user})" for home, user in found[:5])
        who = words(", ", "、").join(several) + (words(" ...", "……") if len(found) > 5 else "")
        yield Finding(
            "others",
            POOR,
            words(
                f"{len(found)} more on this computer: {who}; each gives out the same GPUs, cores and memory",
                f"本机还有 {len(found)} 个服务器：{who}；它们各自分配相同的加速卡、CPU 和内存",
            ),
            words(
                "Use one server for all: only jobs of the same server are queued for each other.",
                "请共用一个服务器：只有同一服务器的任务才会互相排队。",
            ),
        )


def _settings(folder: str) -> Iterator[Finding]:
    """Look at what config.toml promises: the Python of tasks, and the address."""
    from trainmaster.cli.server.tasks_python import environment_finding
    from trainmaster.core.errors import TrainmasterError
    from trainmaster.service.settings import load

    try:
        config = load(Layout(folder).config)
    except TrainmasterError:
        return  # `_ledger` has reported it
    yield Finding("environment", *environment_finding(config.local.environment))
    yield from _network(config.local.network, config.local.sandbox)
    yield from _containers(config.local.containers)
    open_to = exposed(config.server.host)
    if open_to:
        yield Finding("address", POOR, *open_to)


def _network(wanted: str, sandboxes: str) -> Iterator[Finding]:
    """Say what of the network jobs share."""
    from trainmaster.agent.sandbox import apart
    from trainmaster.agent.sandbox.probe import probe_network, probe_sandbox
    from trainmaster.core.errors import Unavailable

    probe = probe_sandbox("none" if sandboxes == "none" else "auto", shutil.which("bwrap"))
    said = render.text(apart.sharing(probe.bwrap, wanted), language())
    try:
        probe_network(wanted, probe)
    except Unavailable as error:
        yield Finding("network", BAD, *in_words(error))
    else:
        yield Finding("network", GOOD, said + words(". ", "。") + REACHED if wanted == apart.SHARED else said)


def _containers(socket: str) -> Iterator[Finding]:
    """Look at the container runtime, where one is configured."""
    if not socket:
        return
    from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed
    from trainmaster.messages.assets.containers import runtime_silent

    try:
        found = Runtime(socket, 5.0).version()
    except RuntimeFailed as error:
        why = runtime_silent(socket, error.text)
        yield Finding("containers", BAD, render.text(why, language()), render.remedy(why, language()) or "")
    else:
        yield Finding("containers", GOOD, f"{found.name} {found.version} (API {found.api}, {socket})")


def _unit(folder: str) -> Iterator[Finding]:
    """Look at the service that the server belongs to, if it does."""
    from trainmaster.cli.server.systemd import REMEDY, unit_of
    from trainmaster.sdk.find import server_file

    try:
        with open(server_file(folder), encoding="utf-8") as file:
            unit = unit_of(int(json.load(file)["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return
    if unit is not None and unit.kills_jobs:
        yield Finding("unit", BAD, unit.warning, REMEDY)
    elif unit is not None:
        yield Finding(
            "unit", GOOD, words(f"{unit.name}; jobs outlive its restarts", f"{unit.name}；任务在其重启期间继续运行")
        )
