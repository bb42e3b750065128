"""A task sees its own folders and the system's programs; everything else is denied (issue 2, shows-list item 7)."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang
from tests.fixtures.local_worlds import LocalWorld
from tests.sandbox.conftest import Run
from trainmaster.core.launch import Mount

pytestmark = pytest.mark.sandbox


async def test_the_servers_database_cannot_be_read(sandboxed: LocalWorld, run: Run) -> None:
    path = sandboxed.layout.database
    sqlite3.connect(path).execute("create table secret (x)")
    end, log = await run(gang().shell("w", 1, f"cat {path}; ls {sandboxed.home}"))
    assert end.exit_code != 0
    assert log.count("No such file or directory") == 2


async def test_another_jobs_files_cannot_be_read(sandboxed: LocalWorld, run: Run) -> None:
    """R137."""
    other = sandboxed.layout.model_out("t" + "2" * 32)
    os.makedirs(other)
    Path(other, "weights").write_text("theirs")
    # The programs that all jobs may read hold no job's files, and a busy disk takes a minute to list them.
    programs = " -o ".join(f"-path {shown}" for shown in ("/proc", "/sys", "/usr", sys.prefix, sys.base_prefix))
    search = f"find / \\( {programs} \\) -prune -o -name weights -print"
    end, log = await run(gang().shell("w", 1, f"cat {other}/weights || {search} | grep ."))
    assert end.exit_code != 0
    assert "theirs" not in log


async def test_the_home_stays_hidden_when_a_mounted_folder_contains_it(sandboxed: LocalWorld, run: Run) -> None:
    parent = os.path.dirname(sandboxed.home)
    Path(sandboxed.home, "cookie").write_text("secret-cookie")
    name = os.path.basename(sandboxed.home)
    story = gang(mounts=(Mount(parent, "/dataset"),)).shell(
        "w", 1, f"ls -a /dataset/{name}; cat /dataset/{name}/cookie"
    )
    end, log = await run(story)
    assert end.exit_code != 0
    assert "secret-cookie" not in log


async def test_the_servers_environment_is_not_inherited(
    monkeypatch: pytest.MonkeyPatch, sandboxed: LocalWorld, run: Run
) -> None:
    monkeypatch.setenv("SERVER_SECRET", "do-not-tell")
    _, log = await run(gang().shell("w", 1, "env; cat /proc/*/environ | tr '\\0' '\\n'"))
    assert "do-not-tell" not in log
    assert "TRAINMASTER_JOB=" in log


@pytest.mark.parametrize(
    "where", ["/usr/x", "/etc/x", "/x", "/code/x", "/root/x", "/trainmaster/x", "/sys/x", "/var/x"]
)
async def test_writing_outside_the_mounts_is_denied(tmp_path: Path, run: Run, where: str) -> None:
    story = gang(mounts=(Mount(str(tmp_path), "/code"),)).shell("w", 1, f"echo x > {where}")
    end, _ = await run(story)
    assert end.exit_code not in (0, None)
    assert list(tmp_path.iterdir()) == []


async def test_processes_outside_cannot_be_seen_or_signalled(run: Run) -> None:
    victim = subprocess.Popen(["sleep", "300"])
    try:
        end, _ = await run(gang().shell("w", 1, f"kill -9 -1; kill -9 {victim.pid}; ls -d /proc/{victim.pid}"))
        assert (end.exit_code, end.signal) != (0, None)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


async def test_there_are_no_capabilities_and_nothing_can_be_mounted_or_made(run: Run) -> None:
    text = "grep CapEff /proc/self/status; mknod /tmp/disk b 253 0; mount -t tmpfs none /tmp; chroot / true; exit 0"
    _, log = await run(gang().shell("w", 1, text))
    assert "CapEff:\t0000000000000000" in log
    assert log.count("ermi") >= 2  # Operation not permitted, permission denied


async def test_the_kernels_settings_cannot_be_changed(run: Run) -> None:
    """The kernel asks for user 0, not for a capability; through kernel.core_pattern it would run a program outside."""
    text = (
        "find /proc -maxdepth 5 -type f -writable -not -path '/proc/[0-9]*' 2> /dev/null"
        ' | while read file; do (: >> "$file") 2> /dev/null && echo "$file"; done; : > /proc/sys/kernel/core_pattern'
    )
    end, log = await run(gang().shell("w", 1, text))
    assert end.exit_code not in (0, None)
    assert [line for line in log.splitlines() if line.startswith("/proc/")] == []


async def test_a_thread_can_name_another(run: Run) -> None:
    """CUDA does, and where it cannot it does not start."""
    code = (
        "import threading, time; other = threading.Thread(target=time.sleep, args=(5,)); other.start();"
        "file = open(f'/proc/self/task/{other.native_id}/comm', 'w'); file.write('named'); file.close();"
        "print(open(f'/proc/self/task/{other.native_id}/comm').read())"
    )
    end, log = await run(gang().shell("w", 1, f'python3 -c "{code}"'))
    assert end.exit_code == 0, log
    assert "named" in log


async def test_no_open_file_of_the_platform_is_inherited(run: Run) -> None:
    """Nor one that the server itself inherited, from a shell or an init system."""
    ends = os.pipe()
    os.set_inheritable(ends[1], True)
    try:
        _, log = await run(gang().shell("w", 1, "ls -l /proc/self/fd"))
    finally:
        for end in ends:
            os.close(end)
    names = [line.rsplit(" -> ", 1)[1] for line in log.splitlines() if " -> " in line]
    assert all(name.startswith(("/dev/null", "/proc/")) or name.endswith("log") for name in names), names
    assert len(names) == 4  # in, out, err and the listing itself


async def test_a_preloaded_library_is_not_loaded_outside(tmp_path: Path, sandboxed: LocalWorld, run: Run) -> None:
    """The user's variables are for the task; bubblewrap itself must not see them."""
    end, log = await run(gang(env=(("LD_PRELOAD", str(tmp_path / "evil.so")),)).shell("w", 1, "true"))
    assert end.exit_code == 0
    assert log.count("cannot be preloaded") == 1  # the shell's, none of bubblewrap's


async def test_a_task_can_look_itself_up(run: Run) -> None:
    """R111: a launcher that asks for its own name must not wait for a name server that has never heard of it."""
    _, log = await run(gang().shell("w", 1, "getent hosts $(hostname) || echo not found"))
    assert log.split() == ["127.0.0.1", "task0-0"]


async def test_the_directory_contract_holds(tmp_path: Path, sandboxed: LocalWorld, run: Run) -> None:
    """R138-R140, R144, R145."""
    for name in ("code", "data", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "here").write_text(name)
    mounts = (
        Mount(str(tmp_path / "code"), "/code"),
        Mount(str(tmp_path / "data"), "/dataset"),
        Mount(str(tmp_path / "own"), "/workspace/dataset/private/own"),
    )
    text = (
        "pwd; cat here /workspace/algorithm/here /dataset/here /workspace/dataset/private/own/here; hostname; set -e;"
        "echo 1 > /model/weights; echo 2 > /workspace/outputs/out; echo 3 > $TRAINMASTER_METRICS_DIR/m; "
        "echo 4 > $HOME/h; echo 5 > /tmp/t;"
        "test $TRAINMASTER_MODEL_DIR = /model; test $TRAINMASTER_OUTPUT_DIR = /workspace/outputs"
    )
    built = gang(mounts=mounts).shell("w", 1, text)
    end, log = await run(built)
    assert end.exit_code == 0, log
    assert log.split() == ["/code", "codecodedataowntask0-0"]
    assert sandboxed.read(sandboxed.layout.model_out(built.job), "weights") == "1\n"
    assert sandboxed.read(sandboxed.layout.outputs(built.job), "out") == "2\n"
    assert sandboxed.read(sandboxed.layout.task(built.job, 1, 0, 0).metrics, "m") == "3\n"
    assert not os.path.exists(sandboxed.layout.task(built.job, 1, 0, 0).tmp)


async def test_python_is_the_servers_and_our_package_can_be_imported(run: Run) -> None:
    text = "import sys, trainmaster, yaml; print(sys.prefix)"
    end, log = await run(gang().role("w", 1, "python", "-c", text))
    assert end.exit_code == 0, log
    assert log.strip() == sys.prefix


async def test_shared_memory_has_the_size_asked_for(run: Run) -> None:
    _, log = await run(gang().shell("w", 1, "df -m /dev/shm | tail -1 | awk '{print $2}'", shm_mib=96))
    assert log.strip() == "96"


async def test_cards_are_named_and_none_means_none(run: Run) -> None:
    """An absent CUDA_VISIBLE_DEVICES would show a CPU job every card."""
    _, none = await run(gang().shell("w", 1, 'echo "[$CUDA_VISIBLE_DEVICES]"'))
    _, two = await run(gang(gpus=2).shell("w", 1, 'echo "[$CUDA_VISIBLE_DEVICES]"'))
    assert (none, two) == ("[]\n", "[0,1]\n")
