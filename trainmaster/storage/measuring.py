"""What lies below a folder takes on the disk: allocated bytes, and entries. Holes cost nothing, a file with several
names counts once.
"""

import os
from collections.abc import Callable

from trainmaster.core.folders.room import Use


def measured(path: str, go_on: Callable[[], None] = lambda: None) -> Use:
    """Return what is below `path`, nothing where it is not there; what cannot be read is left out. `go_on` is called
    for each folder, and may raise. O(entries).
    """
    bytes_ = files = 0
    folders, linked = [path], set[tuple[int, int]]()
    while folders:
        go_on()
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif info.st_nlink > 1:
                        if (info.st_dev, info.st_ino) in linked:
                            continue
                        linked.add((info.st_dev, info.st_ino))
                    bytes_, files = bytes_ + info.st_blocks * 512, files + 1
        except OSError:
            continue  # removed meanwhile, or somebody else's
    return Use(bytes_, files)
