"""What `tm image build` takes as a base, before anything is sent (R235, R236)."""

import sys
from pathlib import Path

import pytest
import typer

from trainmaster.cli.images.local import BuiltOn, built_here, made_of

REF = "registry.example.org/ann/digits:1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text("six\n")
    return tmp_path


def test_a_base_is_an_image_a_container_or_packages(folder: Path) -> None:
    own = folder / "requirements.txt"
    assert made_of(folder, "torch@3", None, None, "").given == {"base": "torch@3"}
    assert made_of(folder, "python:3.12", None, None, "").given == {"container": "python:3.12"}
    assert (
        made_of(folder, "", own, None, "").given == made_of(folder, "", None, None, "").given == {"requirements": own}
    )
    (folder / "pyproject.toml").write_text("[project]\n")
    assert made_of(folder, "", None, None, "").given == {"project": folder}


def test_packages_on_a_container_are_built_by_a_containerfile(folder: Path) -> None:
    made = made_of(folder, "python:3.12", folder / "requirements.txt", None, REF)
    assert (made.given, made.push, made.context) == ({"container": REF}, REF, folder / "requirements.txt")
    assert made.containerfile.splitlines()[:2] == ["FROM python:3.12", "COPY requirements.txt /tmp/requirements.txt"]


def test_what_does_not_go_together_is_refused(folder: Path) -> None:
    own, file = folder / "requirements.txt", folder / "Containerfile"
    file.write_text("FROM scratch\n")
    for wrong in (
        (folder / "none", "", None, None, ""),
        (folder, "torch@3", own, None, ""),
        (folder, "python:3.12", own, None, ""),  # pushed to nowhere
        (folder, "python:3.12", None, None, REF),  # nothing is built
        (folder, "", None, file, ""),
        (folder, "python:3.12", None, file, REF),
        (folder, "", own, file, REF),
    ):
        with pytest.raises(typer.BadParameter):
            made_of(*wrong)
    own.unlink()
    with pytest.raises(typer.BadParameter):
        made_of(folder, "", None, None, "")


def test_the_command_for_this_machine_is_of_what_was_built(folder: Path) -> None:
    own = folder / "requirements.txt"
    assert BuiltOn({"requirements": own}).here(folder, "", "3.12") == (
        f"uv run --python 3.12 --no-project --with-requirements {own} --"
    )
    pinned = "x.org/y@sha256:" + "0" * 64
    assert BuiltOn({"base": "y"}).here(folder, pinned, "").endswith(f"-v {folder}:/code:ro -w /code {pinned}")
    assert BuiltOn({"base": "y"}).here(folder, "", "") == ""


def test_a_step_that_fails_ends_it_with_its_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And without Docker or Podman it says what to do."""
    made = made_of(folder, "python:3.12", folder / "requirements.txt", None, REF)
    bin_ = folder / "bin"
    bin_.mkdir()
    monkeypatch.setenv("PATH", str(bin_))
    with pytest.raises(typer.Exit) as ended:
        built_here(made)
    assert ended.value.exit_code == 1
    assert "needs Docker or Podman" in capfd.readouterr().err
    (bin_ / "podman").write_text(
        f"#!{sys.executable}\nimport sys\nprint(sys.argv[1])\nsys.exit(4 * ('push' in sys.argv))\n"
    )
    (bin_ / "podman").chmod(0o755)
    with pytest.raises(typer.Exit) as ended:
        built_here(made)
    told = capfd.readouterr()
    assert (ended.value.exit_code, told.out) == (4, "")
    assert [line for line in told.err.splitlines() if line in ("build", "push")] == ["build", "push"]
