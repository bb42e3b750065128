"""What `trainmaster serve` says at its start: where it is, how to sign in, and what whoever started it should know."""

import json
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainmaster.core.config import Config

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

EXAMPLE_NEEDS: Final = ("sklearn", "torch")
"""Modules that the job in README imports."""


def announce(platform: "Platform", url: str, folder: str) -> None:
    """Write down where the server answers, and tell people."""
    from trainmaster.sdk.find import server_file

    path = server_file(folder)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump({"url": url, "pid": os.getpid(), "version": platform.version}, file)
    os.replace(f"{path}.new", path)
    print(f"Trainmaster {platform.version} is ready at {url}", flush=True)
    print(f"Home: {folder}", flush=True)
    if platform.people.one_time_password:
        print("\nSign in to the console once with this password; it must then be changed:", flush=True)
        print(f"    user      admin\n    password  {platform.people.one_time_password}\n", flush=True)
    print("Stop with Ctrl-C; running jobs go on.", flush=True)


def notes(config: Config, demo_cards: int) -> Iterator[str]:
    """Yield what is to be known about this start, a line each."""
    if demo_cards:
        yield from _demo(config, demo_cards)


def _demo(config: Config, cards: int) -> Iterator[str]:
    from trainmaster.cli.tasks_python import how_to_install, lacking, python_of

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
