"""The jobs that tests and pictures look at: small trainings that compute nothing and say an epoch per line."""

from pathlib import Path
from typing import Any

from tests.e2e.world import World

TRAINING = Path(__file__).parent / "training"
PATTERN = r"epoch=(?P<step>\d+) of=\d+ loss=(?P<loss>[\d.]+) accuracy=(?P<accuracy>[\d.]+)"
FOR_EVER = 100_000


def training(
    world: World,
    name: str,
    epochs: int,
    pause: float = 0.1,
    replicas: int = 1,
    gpu: int = 0,
    cpu: float = 0.5,
    **more: Any,
) -> str:
    """Submit a training; return the job's id."""
    role = {
        "name": "trainer",
        "replicas": replicas,
        "command": "python train.py",
        "parameters": {"epochs": epochs, "pause": pause, **more.pop("parameters", {})},
        "resources": {"cpu": cpu, "memory": "256MiB", "gpu": gpu},
    }
    return world.submit(
        {"name": name, "code": str(TRAINING), "roles": [role], "metrics": [{"pattern": PATTERN}], **more}
    )


def plain(world: World, name: str, command: str | list[str], **more: Any) -> str:
    """Submit a job of one small task; return the job's id."""
    role = {
        "name": "worker",
        "command": command,
        "resources": {"cpu": 0.25, "memory": "64MiB", **more.pop("resources", {})},
    }
    return world.submit({"name": name, "roles": [role], **more})
