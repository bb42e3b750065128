"""Uploads and downloads of data sets through the SDK, with a server on this machine: one large file beside `cp` and
`sha256sum` of it, and many small files beside `tar` into `tar`.

Both sides write to the same disk and neither waits for it, except that a version is durable when an upload ends. Where
transfers are compared, the client's and the server's processes share the machine's cores.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from bench.record import Record
from bench.server import PLAIN, Server
from bench.stage import Stage
from trainmaster.sdk.client import Client as Sdk

MIB: Final = 1 << 20
SMALL: Final = 4096
_A_FOLDER: Final = 100


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    rounds = 2 if quick else 3
    sdk = Sdk(home=Server(stage, PLAIN).home)
    large = Path(stage.path("large"))
    large.mkdir()
    mib = 256 if quick else 2048
    with open(large / "large.bin", "wb") as file:
        for _ in range(mib):
            file.write(os.urandom(MIB))
    yield from _transfers(
        stage,
        sdk,
        large,
        ("upload of one large file", "download of one large file"),
        mib,
        "MiB/s",
        rounds,
        "cp and sha256sum",
        _copied_large,
    )
    shutil.rmtree(large)
    small, count = Path(stage.path("small")), 10_000 if quick else 100_000
    for number in range(count):
        place = small / str(number // _A_FOLDER)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.bin").write_bytes(os.urandom(SMALL))
    yield from _transfers(
        stage,
        sdk,
        small,
        ("upload of small files", "download of small files"),
        count,
        "files/s",
        rounds,
        "tar into tar",
        _copied_small,
    )
    sent = _sent_again(sdk, small)
    yield stage.record("sent of what is there already", [100 * sent / (count * SMALL)], "%")


def _transfers(
    stage: Stage,
    sdk: Sdk,
    source: Path,
    metrics: tuple[str, str],
    amount: int,
    unit: str,
    rounds: int,
    peer: str,
    copied: Callable[[Path, Path], None],
) -> Iterator[Record]:
    up: list[float] = []
    down: list[float] = []
    beside: list[float] = []
    for number in range(rounds):
        name, to, copy = f"{source.name}-{number}", Path(stage.fresh("to")), Path(stage.fresh("copy"))
        _settle()
        beside.append(amount / _timed(copied, source, copy))
        shutil.rmtree(copy)
        _settle()
        up.append(amount / _timed(sdk.datasets.upload, source, name))
        _settle()
        down.append(amount / _timed(sdk.datasets.download, name, 1, to))
        shutil.rmtree(to)
        sdk.datasets.delete(name)
    yield stage.record(metrics[0], up, unit, against=peer, peer=beside)
    yield stage.record(metrics[1], down, unit, against=peer, peer=beside)


def _timed(act: Callable[..., object], *given: object) -> float:
    began = time.monotonic()
    act(*given)
    return time.monotonic() - began


def _settle() -> None:
    """Let what was written before not be written while the next is measured."""
    os.sync()


def _copied_large(source: Path, to: Path) -> None:
    to.mkdir()
    subprocess.run(["cp", source / "large.bin", to / "large.bin"], check=True)
    subprocess.run(["sha256sum", source / "large.bin"], check=True, stdout=subprocess.DEVNULL)


def _copied_small(source: Path, to: Path) -> None:
    to.mkdir()
    with subprocess.Popen(["tar", "-C", source, "-cf", "-", "."], stdout=subprocess.PIPE) as packing:
        subprocess.run(["tar", "-C", to, "-xf", "-"], stdin=packing.stdout, check=True)


def _sent_again(sdk: Sdk, source: Path) -> int:
    """Return how many bytes of contents an upload of what is there already sends."""
    sent: list[int] = []
    sdk.datasets.upload(source, "again")
    sdk.datasets.upload(source, "again", on_bytes=sent.append)
    return sum(sent)
