"""A server's data folder and a pretended node's, for the two ends of a mirror: no srun is between them."""

import contextlib
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.fixtures.gangs import gang
from tests.fixtures.pythons import OLD
from trainmaster.agent.folder import Folder, StepWork
from trainmaster.agent.settings import Settings
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Mount
from trainmaster.engines.slurm.mirror.mirror import Mirror
from trainmaster.engines.slurm.mirror.mirrors import shape

PATIENCE_S: Final = 120.0
RUN: Final = str(uuid.UUID(int=1))
PYTHONS: Final = [sys.executable, *([OLD] if OLD else [])]


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.02)  # files of another process


def quietly(run: Callable[[], None]) -> None:
    with contextlib.suppress(Exception):
        run()


@dataclass
class Site:
    """A server's data folder and a node's scratch folder; no srun is between them."""

    folder: Path
    python: str = sys.executable

    def __post_init__(self) -> None:
        self.data, self.scratch = self.folder / "data", self.folder / "scratch"
        self.data.mkdir()
        made = gang(node="").role("w", 2, "true").build()
        self.layout, self.job = Layout("", str(self.data)), made.job
        code, package = self.data / "uploads" / "abc", self.data / "agent" / "p"
        for path in (code, package):
            path.mkdir(parents=True)
        (code / "train.py").write_text("print()")
        (code / "train.py").chmod(0o755)
        (code / "link").symlink_to("train.py")
        (package / "x.py").write_text("x")
        self.gang = replace(made, placement=(), mounts=(Mount(str(code), "/code"), Mount("/elsewhere", "/dataset")))
        self.work = StepWork(self.gang, Settings(package=str(package)), str(self.data), (((0, 0), (0, 1)),))
        self.shared = Folder(self.layout.attempt(made.job, made.attempt))
        os.makedirs(self.shared.path)
        Path(self.shared.orders).touch()
        self.shape = shape(f"{made.job}-1", self.shared, self.work, str(self.scratch))
        self.root = Path(f"{self.shape.base}-0-n1")

    @property
    def there(self) -> Path:
        """The attempt's folder on the node."""
        return self.root / self.shape.folder

    @property
    def here(self) -> Path:
        """The attempt's folder."""
        return Path(self.shared.path)

    def tree(self, name: str, of: Path | None = None) -> Path:
        """Return the folder `model` or `outputs` of the job, on the node unless it is `of` the server."""
        return (of or self.root) / os.path.relpath(self.layout.job(self.job), self.data) / name

    def wait(self, run: str = RUN) -> None:
        """Be a run that waits on the node."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.root / f"wants-{run}").touch()

    def connect(self, part: str = "0-n1", order: int = 0) -> Mirror:
        return Mirror(self.shape, part, order, [self.python], {"PATH": "/usr/bin:/bin"})

    @contextlib.contextmanager
    def connected(self) -> Iterator[Mirror]:
        """Run a mirror beside; it must have come to its end by itself."""
        made, failed = self.connect(), []

        def run() -> None:
            try:
                made.run()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield made
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
            assert failed == [], made.last_words()
        finally:
            made.close()
            thread.join()
            made.closed()

    def begun(self) -> None:
        until((self.root / "ready").exists)

    def leave(self) -> None:
        (self.root / "left").touch()
