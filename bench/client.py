"""What a script or a shell waits for before the client does anything: new Pythons, each in turn within every round.

The files are warm, as after the first time on a laptop. Every number is told above a bare `python -c pass` of the same
round.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

from bench.record import Record
from bench.stage import Stage

BARE: Final = "python -c pass"
STARTS: Final = {
    BARE: ("-c", "pass"),
    "import trainmaster, above bare Python": ("-c", "import trainmaster"),
    "from trainmaster import Client, above bare Python": ("-c", "from trainmaster import Client"),
    "Client(url) made, above bare Python": ("-c", "from trainmaster import Client; Client('http://127.0.0.1:9')"),
    "tm --help, above bare Python": ("-m", "trainmaster", "--help"),
    "tm preview --offline, above bare Python": ("-m", "trainmaster", "preview", "--offline", "examples/hello/job.yaml"),
}


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    found: dict[str, list[float]] = {name: [] for name in STARTS}
    for number in range((5 if quick else 30) + 2):  # two to warm up
        took = {name: _took(words) for name, words in STARTS.items()}
        for name, ms in took.items():
            if number >= 2:
                found[name].append(ms if name == BARE else ms - took[BARE])
    for name, values in found.items():
        yield stage.record(name, values, "ms")


def _took(words: tuple[str, ...]) -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - began) * 1e3
