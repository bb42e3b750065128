"""Whose jobs those on a cluster are: what is decided without a cluster. With real users: tests/slurm/test_who.py."""

import os
import pwd
from pathlib import Path

import pytest

from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.slurm.attempts.people import SERVICE, ClusterPeople
from trainmaster.engines.slurm.client.commands import Access, Commands
from trainmaster.engines.slurm.settings import SlurmEngineConfig

CONFIG = "Configuration data as of now\nPrivateData             = {private}\nSlurmUser               = slurm(64030)\n"


def people(folder: Path, private: str = "none", level: str = "", **own: object) -> ClusterPeople:
    """Return the people of a cluster whose programs say these."""
    programs = folder / "programs"
    programs.mkdir()
    for name, text in {"scontrol": CONFIG.format(private=private), "sacctmgr": f"{level}\n"}.items():
        (programs / name).write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        (programs / name).chmod(0o755)
    settings = SlurmEngineConfig(**{"run_as": "owner", **own})  # type: ignore[arg-type]
    return ClusterPeople("lab", settings, Layout("", str(folder / "data")), Commands(Access("", str(programs))))


async def test_without_the_setting_all_jobs_are_the_servers_own(tmp_path: Path) -> None:
    found = people(tmp_path, run_as="service")
    await found.check()
    assert not (tmp_path / "data").exists(), "nothing is opened to anybody"
    assert (found.name_of("ada"), found.service) == ("", pwd.getpwuid(os.geteuid()).pw_name)
    assert (await found.user("ada"), found.remembered("ada")) == (SERVICE, SERVICE)
    (warning,) = found.warnings()
    assert warning.code == "runs_as_service"


def test_a_person_is_the_system_user_of_that_name_or_of_the_one_that_is_given(tmp_path: Path) -> None:
    found = people(tmp_path, users={"Ada": "lovelace"})
    assert (found.name_of("Ada"), found.name_of("eve"), found.warnings()) == ("lovelace", "eve", ())


@pytest.mark.parametrize("level", ["Operator", "Administrator"])
async def test_who_is_an_operator_sees_hidden_jobs(tmp_path: Path, level: str) -> None:
    (tmp_path / "data").mkdir()
    await people(tmp_path, "jobs,usage", level).check()


@pytest.mark.parametrize("level", ["", "None"])
async def test_where_jobs_are_hidden_from_us_theirs_would_count_as_gone(tmp_path: Path, level: str) -> None:
    with pytest.raises(Unavailable, match="hides jobs") as told:
        await people(tmp_path, "accounts,jobs", level).check()
    assert "AdminLevel=Operator" in told.value.remedy


async def test_what_lay_open_is_shut_before_the_way_to_it_is_opened(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("jobs/01/t01", "uploads/abc", "models/m"):
        (data / name).mkdir(parents=True)
        (data / name).chmod(0o755)
    for name in ("", "jobs", "uploads", "models"):
        (data / name).chmod(0o700)
    await people(tmp_path).check()
    names = ("", "jobs", "jobs/01/t01", "uploads", "uploads/abc", "models")
    modes = [oct((data / name).stat().st_mode & 0o777) for name in names]
    assert modes == ["0o711", "0o711", "0o700", "0o711", "0o700", "0o700"]
