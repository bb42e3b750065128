"""What the server sees of the disks it writes on."""

import contextlib
from pathlib import Path

from tests.fixtures import disks
from trainmaster.core.folders.layout import Layout
from trainmaster.messages import render
from trainmaster.service.folders.disks import Disks


def test_a_disk_without_room_for_the_reserve_is_seen_all_the_same(tmp_path: Path) -> None:
    """Not one file more can be made there, the reserve's neither: as on a home that is started for the first time."""
    with disks.ext4(tmp_path / "d", 96, 2000) as folder:
        with contextlib.suppress(OSError):
            for number in range(10_000):
                (folder / str(number)).touch()
        seen = Disks(Layout(str(folder)), 4)
        seen.look()
        assert [disk.short_of for disk in seen.seen] == ["files"]
        assert seen.short is not None
        assert "has room for 0 more files" in render.text(seen.short)
        (folder / "0").unlink()
        seen.look()
        assert (folder / "reserve").stat().st_size == 4 << 20
