"""A cluster of which no node sees anything of the server: neither its folders nor its code, nor what another node
has.
"""

import contextlib
import os
from pathlib import Path

import trainmaster
from tests.slurm.bed import Bed

HIDE = 'for folder in "$1" "$2" "$3"; do mount -t tmpfs -o mode=755 tmpfs "$folder" || exit 1; done; shift 3; exec "$@"'


class Apart(Bed):
    """`server`: the folder below which the server keeps everything; `scratch`: that of each node's own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server, self.scratch = folder / "server", folder / "scratch"

    def start(self) -> None:
        """Start everything."""
        for folder in (self.server, self.scratch):
            folder.mkdir()
        super().start()

    def start_node(self, name: str, *within: str) -> None:
        """Start the slurmd of one node where all that is the server's is hidden, the code that is tested here
        included.
        """
        code = str(Path(trainmaster.__file__).parent)
        hidden = (str(self.server), str(self.scratch), code)
        super().start_node(name, "unshare", "--mount", "sh", "-c", HIDE, "sh", *hidden, *within)

    @property
    def own(self) -> str:
        """The folder on each node that is given to the engine: it has to make it."""
        return str(self.scratch / "own")

    @property
    def names(self) -> list[str]:
        """The nodes."""
        return [f"n{number}" for number in range(1, self.nodes + 1)]

    def inside(self, node: str, *parts: str) -> Path:
        """Return a path in the engine's folder on a node."""
        return Path(f"/proc/{self.daemons[node].pid}/root{self.own}", *parts)

    def kept(self, node: str) -> list[str]:
        """Return what lies in the engine's folder on a node."""
        return sorted(os.listdir(self.inside(node))) if self.inside(node).exists() else []

    def sruns(self) -> list[int]:
        """Return all processes that are a mirror's srun on the server's machine."""
        return self.processes("--job-name=mirror")

    def words(self, pid: int) -> str:
        """Return the command line of a process, "" when it has ended."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_text()
        return ""
