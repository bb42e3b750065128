"""The client programs: our words only, our environment only, and a cluster that is away is not one that refuses."""

import time
from pathlib import Path

import pytest

from trainmaster.engines.slurm.client import answers
from trainmaster.engines.slurm.client.commands import (
    Access,
    ClusterDown,
    ClusterRefused,
    Commands,
    command,
    failure,
    plain,
    version_of,
)


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def commands(folder: Path, **more: object) -> Commands:
    return Commands(Access("/etc/slurm/slurm.conf", str(folder), **more))  # type: ignore[arg-type]


async def test_words_come_through_as_they_are(tmp_path: Path) -> None:
    program(tmp_path, "squeue", 'for word; do printf "<%s>" "$word"; done; cat')
    told = await commands(tmp_path).run("squeue", "a b", "$(id)", "%j\n#SBATCH", given="script")
    assert told == "<a b><$(id)><%j\n#SBATCH>script"


async def test_nothing_of_the_servers_environment_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "secret")
    program(tmp_path, "sinfo", "env")
    told = dict(line.split("=", 1) for line in (await commands(tmp_path).run("sinfo")).splitlines())
    assert set(told) - {"PWD", "_", "SHLVL"} == {"PATH", "LANG", "SLURM_CONF", "SLURM_TIME_FORMAT"}
    assert told["SLURM_CONF"] == "/etc/slurm/slurm.conf"


async def test_a_refusal_carries_slurms_words(tmp_path: Path) -> None:
    program(tmp_path, "sbatch", 'echo "sbatch: error: Batch job submission failed: Invalid partition" >&2; exit 1')
    with pytest.raises(ClusterRefused, match=r"^Batch job submission failed: Invalid partition$"):
        await commands(tmp_path).run("sbatch", given="")


async def test_a_program_that_hangs_is_ended_and_the_cluster_counts_as_down(tmp_path: Path) -> None:
    program(tmp_path, "squeue", f"echo $$ > {tmp_path}/pid; exec sleep 60")
    began = time.monotonic()
    with pytest.raises(ClusterDown, match="did not answer"):
        await commands(tmp_path, timeout_s=0.5).run("squeue")
    assert time.monotonic() - began < 30
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not runs(pid):
            break
        time.sleep(0.02)  # it is no child of ours
    else:
        pytest.fail("the program still runs")


def runs(pid: int) -> bool:
    """Return whether a process is there and not only its end is left to be read."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_an_answer_without_end_is_not_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what a program says of errors; and it is ended."""
    monkeypatch.setattr(answers, "MOST", 1 << 20)
    for where in ("", " >&2"):
        program(tmp_path, "squeue", f"echo $$ > {tmp_path}/pid; exec yes{where}")
        with pytest.raises(ClusterDown, match="larger than 1 MiB"):
            await commands(tmp_path).run("squeue")
        pid = int((tmp_path / "pid").read_text())
        while runs(pid):
            time.sleep(0.02)  # it is no child of ours
    program(tmp_path, "squeue", "head -c 1000000 /dev/zero | tr '\\0' x")
    assert len(await commands(tmp_path).run("squeue")) == 1_000_000


async def test_a_long_input_and_one_that_nobody_reads(tmp_path: Path) -> None:
    program(tmp_path, "sbatch", "wc -c")
    assert (await commands(tmp_path).run("sbatch", given="x" * 1_000_000)).strip() == "1000000"
    program(tmp_path, "sbatch", "exec <&-; echo 7")
    assert (await commands(tmp_path).run("sbatch", given="x" * 1_000_000)).strip() == "7"
    assert (await commands(tmp_path).run("sbatch", given="")).strip() == "7"


async def test_a_missing_program_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ClusterDown) as told:
        await commands(tmp_path).run("scancel", "1")
    assert "client programs" in told.value.remedy


@pytest.mark.parametrize(
    "said",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "scancel: error: Kill job error on job id 3: Unable to contact slurm controller (connect failure)",
        (
            "squeue: error: If munged is up, restart with --num-threads=10\n"
            "squeue: error: Munge encode failed: Failed to access"
        ),
        "squeue: fatal: Unable to process configuration file",
        "sudo: a password is required",
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        "sudo: sbatch: command not found",
        "sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set",
        "Sorry, user trainmaster may not run sudo on this machine.",
    ],
)
def test_what_says_that_the_cluster_is_away(said: str) -> None:
    assert isinstance(failure("squeue", 1, said), ClusterDown)


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "slurm_load_jobs error: Invalid job id specified",
        "",
    ],
)
def test_what_says_no(said: str) -> None:
    assert isinstance(failure("sbatch", 1, said), ClusterRefused)


def test_repeated_words_are_said_once() -> None:
    said = "sbatch: error: invalid partition specified: x\nsbatch: error: invalid partition specified: x\n"
    assert plain(said) == "invalid partition specified: x"


def test_somebody_else_is_asked_through_sudo_and_never_root() -> None:
    access = Access(programs="/usr/bin")
    assert command(access, "sbatch", ("--parsable",), "ann") == (
        ["sudo", "-n", "-u", "ann", "--", "/usr/bin/sbatch", "--parsable"]
    )
    for name in ("root", "-i", "ann;id", "ann\n", "Ann Lee", "#0"):
        with pytest.raises(ValueError):
            command(access, "sbatch", (), name)


def test_versions() -> None:
    assert version_of("slurm-wlm 22.05.8\n") == (22, 5, 8)
    assert version_of("slurm 24.11.0-0rc1") == (24, 11, 0)
    with pytest.raises(ClusterRefused):
        version_of("command not found")


def test_a_munge_that_is_down_is_not_a_cluster_that_is() -> None:
    """Both say that a connection was refused, but to start munged is up to whoever runs this machine."""
    said = (
        'scontrol: error: Munge encode failed: Failed to connect to "/run/munge/munge.socket.2": Connection refused\n'
    )
    assert failure("scontrol", 1, said).message.startswith("The server cannot talk to the cluster: ")


@pytest.mark.parametrize(
    "word",
    [
        "Connection reset by peer",
        "Unexpected missing socket error",
        "Unable to contact slurm controller (connect failure)",
    ],
)
def test_a_controller_that_dies_while_it_is_asked_says_nothing_of_the_job(word: str) -> None:
    """Seen at kill -9 right after a submit."""
    assert isinstance(failure("sbatch", 1, f"sbatch: error: Batch job submission failed: {word}\n"), ClusterDown)
