"""Our code on the shared folder is whole, is brought there once, and runs without anything else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainmaster.engines.slurm.attempts.delivery import deliver

CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from trainmaster.engines.slurm.node import step; from trainmaster import log; "
    "from trainmaster.frameworks import registry; [registry.get(kind) for kind in registry.kinds()]; "
    "print(step.__file__)"
)


def test_what_is_delivered_runs_alone_and_is_brought_once(tmp_path: Path) -> None:
    place = deliver(str(tmp_path))
    before = os.stat(place).st_mtime_ns
    words = [sys.executable, "-I", "-S", "-B", "-c", CODE, place]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(place)
    assert deliver(str(tmp_path)) == place
    assert os.stat(place).st_mtime_ns == before
    assert [name for name in os.listdir(tmp_path / "agent") if name.startswith(".")] == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("")
    with pytest.raises(OSError):
        deliver(str(tmp_path))
