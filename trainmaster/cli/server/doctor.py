"""`tm doctor`: what this machine offers and what it lacks, with the remedy for each lack. Changes nothing."""

import json
import os
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Final

import typer

from trainmaster.cli.context import OPTIONS, AsJson, home
from trainmaster.cli.installed import REMEDY, lacking
from trainmaster.cli.server.greeting import exposed
from trainmaster.core.folders.layout import Layout
from trainmaster.messages import render

GOOD, POOR, BAD = "ok", "warning", "bad"
_ROOMY: Final = 2 * 2**30
NAME_ONE: Final = "Name one that runs elsewhere by TRAINMASTER_URL (or --url)."
REACHED: Final = "A job reaches the ports of other jobs and of this machine"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `state`: ok, warning (works, with less) or bad (does not work)."""

    name: str
    state: str
    detail: str
    remedy: str = ""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: [bold]tm doctor --json[/]")(doctor)


def doctor(as_json: AsJson = False) -> None:
    """Check this machine and the server on it, and say how to mend what is wrong."""
    from trainmaster.cli.render import emit_json, finding

    found = [*_findings(home())]
    if as_json:
        emit_json([asdict(one) for one in found])
    else:
        for one in found:
            finding(one.state, one.name, one.detail, one.remedy)
    if any(one.state == BAD for one in found):
        sys.exit(1)


def _findings(folder: str) -> Iterator[Finding]:
    yield _python()
    elsewhere = OPTIONS.url
    if elsewhere is not None:  # the server is elsewhere: this machine's findings say nothing about it
        yield _server()[1]
        yield Finding(
            "machine",
            GOOD,
            f"not looked at, because a server was named: {elsewhere}",
            "Run tm doctor on the server's machine, without TRAINMASTER_URL and --url.",
        )
        return
    if missing := lacking():
        yield _server(NAME_ONE)[1]
        why = f"not looked at, because packages of the server are not installed here: {', '.join(missing)}"
        yield Finding("machine", GOOD, why, f"{REMEDY}.")
        return
    yield _sandbox()
    yield _cgroups()
    yield _folder(folder)
    yield from (_disk(place) for place in _places(folder))
    yield _ledger(folder)
    yield _cards()
    yield from _neighbours(folder)
    yield from _settings(folder)
    answers, finding = _server()
    yield finding
    yield from _unit(folder)
    if not answers:
        yield _port()
    yield _agent(folder, answers)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", GOOD, f"{version} at {sys.executable}")


def _sandbox() -> Finding:
    from trainmaster.agent.sandbox import seccomp
    from trainmaster.agent.sandbox.probe import probe_sandbox

    probe = probe_sandbox("auto", shutil.which("bwrap"))
    if probe.bwrap and (why := seccomp.missing()):
        return Finding(
            "bwrap",
            POOR,
            f"sandboxes work ({probe.bwrap}), but they do not filter system calls: {render.text(why)}",
            "Use a kernel with seccomp filters, on x86_64 or aarch64.",
        )
    if probe.bwrap:
        return Finding("bwrap", GOOD, f"sandboxes work and filter system calls ({probe.bwrap})")
    from trainmaster.cli.server.sandbox_check import why_none

    cause, remedy = why_none(shutil.which("bwrap"), render.text(probe.why) if probe.why else "", root=os.geteuid() == 0)
    return Finding("bwrap", POOR, cause, remedy)


def _cgroups() -> Finding:
    root = "/sys/fs/cgroup"
    unified = os.path.exists(f"{root}/cgroup.controllers")
    places = [root] if unified else [f"{root}/{name}" for name in ("cpu", "memory", "pids")]
    closed = [place for place in places if not os.access(place, os.W_OK)]
    if not closed:
        return Finding("cgroups", GOOD, f"limits can be set (version {2 if unified else 1})")
    remedy = "Memory and process limits are not enforced until then. Run the server as root"
    if unified:
        from trainmaster.cli.server.systemd import subgroup

        start = (
            f"systemd-run --user --pty -p Delegate=yes {subgroup()}-p KillMode=process "
            f"{sys.executable} -m trainmaster serve"
        )
        remedy += f", or without root in a unit of your own (trainmaster unit --user), or to try it: {start}"
    else:
        remedy += "; without root, version 1 of control groups can set none"
    return Finding("cgroups", POOR, f"not writable: {', '.join(closed)}", f"{remedy}.")


def _folder(folder: str) -> Finding:
    place = folder
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if not os.access(place, os.W_OK):
        return Finding("home", BAD, f"{folder} cannot be written", "Choose another with --home or TRAINMASTER_HOME.")
    from trainmaster.service.folders.privacy import OTHERS, THROUGH

    mode = stat.S_IMODE(os.stat(place).st_mode)
    if place == folder and mode & OTHERS and mode != THROUGH:
        return Finding(
            "home", BAD, f"{folder} is open to others", f"chmod 700 {folder} (the server does it at its start)"
        )
    return Finding("home", GOOD, folder if place == folder else f"{folder} (is made on the first start)")


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
    files = f", room for {room.free.files} files" if room.total.files else ""
    text = f"{free / 2**30:.1f} GiB free{files} at {folder}"
    if free < _ROOMY // 10 or room.short_of(LimitsConfig().reserve_mib):
        return Finding(
            "disk", BAD, text, "Free space, or choose another --home; nothing can be accepted on a full disk."
        )
    if free < _ROOMY:
        return Finding("disk", POOR, text, "Logs and models need room.")
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
        return Finding("ledger", BAD, f"{layout.config}: {error.message}", error.remedy)
    layout = replace(layout, data=os.path.realpath(server.data) if server.data else "")
    looked = examine(server.database or f"sqlite:///{layout.database}", past_of(layout))
    state = {"sound": GOOD, "unsure": POOR, "broken": BAD}[looked.state]
    return Finding("ledger", state, looked.detail, looked.remedy)


def _cards() -> Finding:
    from trainmaster.core.config import LocalConfig
    from trainmaster.engines.local.facts import Host

    cards = Host(LocalConfig()).cards
    return Finding(
        "cards", GOOD, f"{len(cards)} accelerators found" if cards else "no accelerator found; jobs run on the CPU"
    )


def _neighbours(folder: str) -> Iterator[Finding]:
    from trainmaster.cli.server.neighbours import others

    found = [*others(folder)]
    if found:
        who = ", ".join(f"{home} ({user})" for home, user in found[:5]) + (" ..." if len(found) > 5 else "")
        yield Finding(
            "others",
            POOR,
            f"{len(found)} more on this machine: {who}; each gives out the same cards, cores and memory",
            "Use one server for all: only jobs of the same server wait for each other.",
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
    yield Finding("tasks", *environment_finding(config.local.environment))
    yield from _network(config.local.network, config.local.sandbox)
    open_to = exposed(config.server.host)
    if open_to:
        yield Finding("address", POOR, *open_to)


def _network(wanted: str, sandboxes: str) -> Iterator[Finding]:
    """Say what of the network jobs share."""
    from trainmaster.agent.sandbox import apart
    from trainmaster.agent.sandbox.probe import probe_network, probe_sandbox
    from trainmaster.core.errors import Unavailable

    probe = probe_sandbox("none" if sandboxes == "none" else "auto", shutil.which("bwrap"))
    said = render.text(apart.sharing(probe.bwrap, wanted))
    try:
        probe_network(wanted, probe)
    except Unavailable as error:
        yield Finding("network", BAD, error.message, error.remedy)
    else:
        yield Finding("network", GOOD, f"{said}. {REACHED}" if wanted == apart.SHARED else said)


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
        yield Finding("unit", GOOD, f"{unit.name}; jobs outlive its restarts")


def _server(start: str = "Start it with: trainmaster serve") -> tuple[bool, Finding]:
    """Return (whether anything answers, what was found). `start`: the remedy where nothing does."""
    from trainmaster.core.errors import TrainmasterError, Unauthenticated, Unavailable
    from trainmaster.sdk.client import Client

    try:
        with Client(OPTIONS.url, OPTIONS.token, None if OPTIONS.url else OPTIONS.home) as server:
            session = server.session()
            return True, Finding(
                "server",
                GOOD,
                f"{server.url}, version {session.server.version}, signed in as {session.user.name}",
            )
    except Unauthenticated as error:
        return True, Finding("server", BAD, f"runs, but does not know us: {error.message}", error.remedy)
    except Unavailable as error:
        return False, Finding("server", POOR, error.message, start)
    except TrainmasterError as error:
        return True, Finding("server", BAD, f"runs, but something is wrong: {error.message}", error.remedy)


def _port() -> Finding:
    from trainmaster.core.config import ServerConfig

    default = ServerConfig()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((default.host, default.port))
        except OSError as error:
            return Finding(
                "port", POOR, f"{default.port} is in use ({error.strerror})", "Start with --port 0, or another number."
            )
    return Finding("port", GOOD, f"{default.port} is free")


def _agent(folder: str, server_answers: bool) -> Finding:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(Layout(folder).agent_socket)
        except OSError:
            if server_answers and OPTIONS.url is None:
                return Finding(
                    "agent",
                    BAD,
                    "does not answer",
                    f"Look at {Layout(folder).path('run', 'agent.log')}; the server starts it again.",
                )
            return Finding("agent", GOOD, "not running; the server starts it")
    return Finding("agent", GOOD, "answers")
