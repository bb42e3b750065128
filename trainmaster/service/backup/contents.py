"""What of a home a backup has, and how its members are called. Reads names only.

In it: the database, settings, secrets but for the keys of those of workspaces, what was learnt of use and forecasts,
code folders, versions of models and data sets, volumes, folders of jobs with logs and outputs. Not in it: what belongs
to a server or an agent that runs (run/, the token of the local command line), copies made before upgrades, the reserve,
and whatever lies elsewhere, or is made again: mounted folders, Python environments.
"""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.core.folders.layout import Layout
from trainmaster.service.secrets.vault import KEYS
from trainmaster.store.portable.dumping import StoreSnapshot

PARTS: Final = ("uploads", "models", "jobs", "datasets", "volumes")
"""What can be left out: folders that are kept elsewhere, or are not missed."""
SCHEMA: Final = "database/schema.json"
_FILES: Final = ("config.toml", "shares.json", "forecast.json")
_MADE_AGAIN: Final = frozenset({"cli-token", "servers"})
"""Secrets of this machine, which every start makes where they are missing."""
_APART: Final = frozenset({KEYS})
"""What opens the secrets of workspaces: whoever has a backup has them sealed. Who moves a home brings it by hand."""
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder with all that is in it. `name`: in the backup; `root`: on the disk."""

    name: str
    root: str


def home_files(layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield (name in the backup, path) of each file of the home, settings first."""
    for name in _FILES:
        if os.path.isfile(path := layout.path(name)):
            yield f"home/{name}", path
    folder = layout.path("secrets")
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
        path = os.path.join(folder, name)
        if name not in _MADE_AGAIN | _APART and not name.endswith(".new") and os.path.isfile(path):
            yield f"home/secrets/{name}", path


def trees(layout: Layout, found: StoreSnapshot, without: Collection[str]) -> Iterator[Tree]:
    """Yield the folders of what the database `found` knows: what came after it would belong to nobody."""
    if "uploads" not in without:
        folder = os.path.join(layout.bulk, "uploads")
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            if _DIGEST.fullmatch(name):
                yield _tree(layout, f"uploads/{name}")
    versions = {*found.column("asset_version", "path"), *found.column("binned_version", "path")}
    for path in sorted(versions - {""}):  # a template has no files
        top = str(path).split("/", 1)[0]
        if top == "jobs":  # of early releases: it lies in the folder of its job
            if "jobs" in without and "models" not in without:
                yield _tree(layout, path)
        elif top not in without and top != "environments":  # made again of what their versions hold
            yield _tree(layout, os.path.join(path, "files") if top == "volumes" else path)  # not what is on its way
    if "jobs" not in without:
        for job in found.column("job", "id"):
            yield _tree(layout, os.path.relpath(layout.job(job), layout.bulk))


def _tree(layout: Layout, path: str) -> Tree:
    return Tree(f"data/{path}", os.path.join(layout.bulk, path))
