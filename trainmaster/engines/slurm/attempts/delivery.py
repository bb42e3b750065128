"""Our code on the shared folder: what a step imports, and what a task may import, by content. A node needs nothing
installed.

A delivery is never changed: what runs goes on with the code it was started with, while the server is upgraded.
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from trainmaster.agent.place import PACKAGE

WHOLE: Final = ("agent", "core", "engines/slurm/node", "frameworks", "messages")
"""Folders of the package that go: what a step is made of."""
ALONE: Final = (
    "__init__.py", "_compat.py", "_version.py", "engines/__init__.py", "engines/slurm/__init__.py", "sdk/__init__.py",
    "sdk/task.py",
)  # fmt: skip
"""Files that go without those beside them: what leads there, and `trainmaster.log` for tasks."""


def files() -> list[Path]:
    """Return what goes: it runs by any Python from 3.9 on, with nothing installed."""
    whole = [path for part in WHOLE for path in sorted((PACKAGE / part).rglob("*.py"))]
    return [*whole, *(PACKAGE / name for name in ALONE)]


def deliver(data: str) -> str:
    """Return the folder below `data` that holds our package, copied there unless it is there already. May block.

    Everybody may read it: tasks of other system users run it. Raises OSError when the folder cannot be written.
    """
    digest = hashlib.sha256()
    for path in files():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE)} {len(content)}\n".encode() + content)
    place = Path(data, "agent", digest.hexdigest()[:16])
    if not place.exists():
        place.parent.mkdir(mode=0o755, exist_ok=True)
        _copy(place)
    return str(place)


def _copy(place: Path) -> None:
    """Copy beside `place`, then bring it there in one step: nobody finds half of it."""
    fresh = Path(tempfile.mkdtemp(prefix=".", dir=place.parent))
    try:
        for path in files():
            target = fresh / PACKAGE.name / path.relative_to(PACKAGE)
            target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o644)
        fresh.chmod(0o755)
        os.rename(fresh, place)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        if not place.exists():  # another server may have delivered the same meanwhile
            raise
