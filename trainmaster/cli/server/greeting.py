"""What `trainmaster serve` says at its start: where it is, how to sign in, and what whoever started it should know."""

import ipaddress
import json
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainmaster.cli.server.systemd import REMEDY, notify, unit_of
from trainmaster.core.config import Config
from trainmaster.service.folders.privacy import private

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

EXAMPLE_NEEDS: Final = ("sklearn", "torch")
"""Modules that the job in README imports."""


def announce(platform: "Platform", url: str, folder: str) -> None:
    """Write down where the server answers, and tell people."""
    from trainmaster.sdk.find import server_file

    path = server_file(folder)
    with open(f"{path}.new", "w", encoding="utf-8", opener=private) as file:
        json.dump({"url": url, "pid": os.getpid(), "version": platform.version}, file)
    os.replace(f"{path}.new", path)
    print(f"Trainmaster {platform.version} is ready at {url}", flush=True)
    print(f"Home: {folder}", flush=True)
    if platform.people.one_time_password:
        print("\nSign in to the console once with this password; it must then be changed:", flush=True)
        print(f"    user      admin\n    password  {platform.people.one_time_password}\n", flush=True)
    print("Stop with Ctrl-C; running jobs go on.", flush=True)
    notify("READY=1")


def stands_by(platform: "Platform", url: str, folder: str) -> None:
    """Tell people that this server answers while another one leads."""
    print(f"Trainmaster {platform.version} stands by at {url}: another server leads this home.", flush=True)
    print(f"Home: {folder}", flush=True)
    print("It takes over once that one is gone. Stop with Ctrl-C.", flush=True)
    notify("READY=1")


def notes(config: Config, demo_cards: int) -> Iterator[str]:
    """Yield what is to be known about this start, a line each."""
    if demo_cards:
        yield from _demo(config, demo_cards)
    open_to = exposed(config.server.host)
    if open_to:
        yield f"Warning: {open_to[0]}."
        yield f"         {open_to[1]}"
    unit = unit_of(os.getpid())
    if unit is not None and unit.kills_jobs:
        yield f"Warning: {unit.warning}."
        yield f"         {REMEDY}"


def exposed(host: str) -> tuple[str, str] | None:
    """Return (what is wrong, remedy) of listening on `host` without TLS, None on an address of this machine only."""
    try:
        if host == "localhost" or ipaddress.ip_address(host or "0.0.0.0").is_loopback:
            return None
    except ValueError:
        pass  # a host name: it may be reached from elsewhere
    return (
        (
            f"whoever can see the traffic to {host or 'this machine'} can read passwords and tokens: "
            "this server speaks plain HTTP"
        ),
        'Put a proxy with TLS before it, and where that is on this machine set server.host = "127.0.0.1".',
    )


def _demo(config: Config, cards: int) -> Iterator[str]:
    from trainmaster.cli.server.tasks_python import how_to_install, lacking, python_of

    each = "1 simulated card" if cards == 1 else f"{cards} simulated cards"
    yield f"Demo: this machine is shown as {config.local.virtual_nodes} nodes with {each} each."
    yield "      Nothing computes on these cards: every program runs on the CPU. Real cards are not given to jobs."
    python = python_of(config.local.environment)
    try:
        missing = lacking(python, EXAMPLE_NEEDS)
    except (OSError, subprocess.SubprocessError):
        return  # `tm doctor` says what is wrong with it
    if missing:
        yield f"      The Python of tasks, {python}, lacks what the example digits-ddp needs. Install it with:"
        yield f"      {how_to_install(python, missing)}"
