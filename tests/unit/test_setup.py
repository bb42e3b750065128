"""What scripts/lib.sh makes true of a machine: the system packages that the tests use, and a PyTorch that is not larger
than need be.
"""

import ast
import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

from scripts.readme import blocks

ROOT = Path(__file__).parents[2]
TORCH = "2.13.0"


def ask(text: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Let bash do `text` with lib.sh."""
    words = ["bash", "-c", f"source {ROOT}/scripts/lib.sh; {text}"]
    return subprocess.run(
        words, env={**os.environ, **env}, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def wheel(folder: Path, name: str, version: str) -> None:
    """Write a wheel with nothing in it."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text)}\n")
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        for path, text in {**files, f"{info}/RECORD": "".join(lines) + f"{info}/RECORD,,\n"}.items():
            file.writestr(path, text)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("setup") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


@pytest.fixture
def venv(made: Path) -> Path:
    """An environment without torch."""
    subprocess.run(
        [made / "bin/python", "-m", "pip", "uninstall", "-q", "-y", "torch"], check=True, capture_output=True
    )
    return made


class TestTorch:
    """In an environment of its own, from package indexes that are folders."""

    def need(self, venv: Path, index: Path, **env: str) -> "subprocess.CompletedProcess[str]":
        """Call need_torch where pip knows one index; what it installed is on standard output."""
        text = (
            'ROOT="$PWD/root" VENV="$PWD/venv"; mkdir -p root/.cache; need_torch; '
            '"$VENV/bin/python" -m pip freeze | grep ^torch'
        )
        known = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": index.as_uri(),
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "TRAINMASTER_TORCH_LARGE": "",
        }
        return ask(f"cd {venv.parent}; {text}", **{**known, **env})

    def index(self, folder: Path, *versions: str) -> Path:
        (folder / "torch").mkdir(parents=True)
        for version in versions:
            wheel(folder / "torch", "torch", version)
        links = "".join(f'<a href="{path.name}">{path.name}</a>\n' for path in (folder / "torch").glob("*.whl"))
        (folder / "torch" / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
        return folder

    def test_the_build_for_cpus_is_taken_where_pip_is_told_to_look(self, venv: Path, tmp_path: Path) -> None:
        index = self.index(tmp_path / "index", "2.12.0", TORCH, f"{TORCH}+cpu", "2.14.0")
        done = self.need(venv, index)
        assert done.stdout == f"torch=={TORCH}+cpu\n", done.stderr
        assert "200 MB" in done.stderr, "the size is said before"
        again = self.need(venv, self.index(tmp_path / "empty"))
        assert (again.stdout, again.stderr) == (done.stdout, ""), "what is there is not asked for again"

    def test_another_index_may_have_it(self, venv: Path, tmp_path: Path) -> None:
        other = self.index(tmp_path / "other", f"{TORCH}+cpu")
        done = self.need(venv, self.index(tmp_path / "index", TORCH), TRAINMASTER_TORCH_INDEX=other.as_uri())
        assert done.stdout == f"torch=={TORCH}+cpu\n", done.stderr

    def test_pytorchs_own_index_is_asked_before_the_other_build_is_taken(self, venv: Path, tmp_path: Path) -> None:
        """By uv, which knows its address; here a uv that has found the wheel in it."""
        own = self.index(tmp_path / "own", f"{TORCH}+cpu") / "torch"
        uv = venv / "bin/uv"
        installs = f"{venv}/bin/python -m pip install -q --no-deps --no-index -f {own} torch=={TORCH}+cpu"
        uv.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\nexec {installs}\n')
        uv.chmod(0o755)
        index = self.index(tmp_path / "index", TORCH)
        (index / "uv").mkdir()
        wheel(index / "uv", "uv", "1.0")
        name = "uv-1.0-py3-none-any.whl"
        (index / "uv" / "index.html").write_text(
            f'<!DOCTYPE html><html><body><a href="{name}">{name}</a></body></html>'
        )
        done = self.need(venv, index)
        uv.unlink()
        assert done.stdout == f"torch=={TORCH}+cpu\n", done.stderr
        assert f"--torch-backend cpu --no-deps torch=={TORCH}" in (tmp_path / "asked").read_text()

    def test_the_other_build_is_not_taken_where_nobody_can_be_asked(self, venv: Path, tmp_path: Path) -> None:
        """Its refusal names the environment that lacks it, and what to do."""
        done = self.need(venv, self.index(tmp_path / "index", TORCH))
        assert (done.returncode, done.stdout) == (3, "")
        assert "about 3 GB to download" in done.stderr
        assert f"needs PyTorch {TORCH} in the environment {venv}. TRAINMASTER_TORCH_LARGE=yes installs" in done.stderr
        assert f"{venv}/bin/python -m pip install torch=={TORCH}" in done.stderr

    def test_tests_take_the_build_that_there_is(self) -> None:
        """Nobody answers a question there (.ci/run)."""
        for script, call in (("test", "\nneed_torch\n"), ("fresh", "\ntake_settings")):
            text = (ROOT / "scripts" / script).read_text()
            yes = text.index('export TRAINMASTER_TORCH_LARGE="${TRAINMASTER_TORCH_LARGE:-yes}"')
            assert yes < text.index(call), script

    def test_the_size_of_the_other_build_is_said_before_it_is_installed(self, venv: Path, tmp_path: Path) -> None:
        done = self.need(venv, self.index(tmp_path / "index", TORCH), TRAINMASTER_TORCH_LARGE="yes")
        assert done.stdout == f"torch=={TORCH}\n", done.stderr
        assert re.search(r"for NVIDIA cards .*about 3 GB to download.*\n.*Installing PyTorch", done.stderr), done.stderr
        assert "TRAINMASTER_TORCH_INDEX" in done.stderr


USED = {
    "bwrap": "bubblewrap", "caddy": "caddy", "chromium-headless-shell": "chromium-headless-shell",
    "fish": "fish",
    "getfacl": "acl", "git": "git", "initdb": "postgresql",
    "munge": "munge", "munged": "munge", "nginx": "nginx", "openssl": "openssl", "podman": "podman",
    "prometheus": "prometheus",
    "promtool": "prometheus", "ps": "procps", "sbatch": "slurm-client", "scancel": "slurm-client",
    "scontrol": "slurm-client", "sinfo": "slurm-client", "slurmctld": "slurmctld", "slurmd": "slurmd",
    "slurmrestd": "slurmrestd",
    "squeue": "slurm-client", "srun": "slurm-client", "sudo": "sudo", "zsh": "zsh",
}  # fmt: skip
"""Programs that the tests start and that no bare Debian has, with their packages."""
BARE = {
    "/bin/sh", "bash", "cat", "cp", "false", "groupadd", "groupdel", "ldd", "mkfs.ext4", "mount", "runuser", "setpriv",
    "sh", "sleep", "tail", "tar", "true", "umount", "unshare", "useradd", "userdel",
}  # fmt: skip
"""What a bare Debian has: its essential packages, mount, passwd and e2fsprogs."""
LIBRARIES = {"libatomic.so.1": "libatomic1"}
BARE_LIBRARIES = re.compile(r"(linux-vdso|ld-linux.*|lib(c|dl|m|pthread|rt|gcc_s|stdc\+\+))\.so\.\d+")
"""What a bare Debian's own programs are linked with; apt itself is written in C++."""
OURS = {"pip", "python", "python3", "tm", "torchrun", "trainmaster"}
OPTIONAL = {"python3.9", "gcc"}
"""Tests do without: an old node's Python, what a bench compiles."""
STARTING = re.compile(
    r"subprocess\.\w+|asyncio\.create_subprocess_exec|shutil\.which|(.*\.)?bed\.(ask|run)|_run"
    r"|(.*\.)?(_daemon|start_node)"
)
NAMED_FIRST = re.compile(r".*(_daemon|start_node)")
"""What they start has a name of its own, which comes before the program's."""


def started(path: Path) -> set[str]:
    """Return the programs that a file of tests starts or looks for, where they are named there."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not STARTING.fullmatch(called := ast.unparse(node.func)):
            continue
        words = node.args[1:] if NAMED_FIRST.fullmatch(called) else node.args
        if words and isinstance(words[0], ast.List | ast.Tuple):
            words = words[0].elts
        first = words[0] if words else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            found.add(first.value)
    return found


def needed(*scripts: str) -> set[str]:
    """Return the Debian packages that scripts name."""
    lines = [
        re.findall(r"^(?:need|want)_system (.*)$", (ROOT / "scripts" / one).read_text(), re.MULTILINE)
        for one in scripts
    ]
    return {package for found in lines for line in found for package in line.split()}


def test_every_program_that_tests_start_comes_with_a_package_that_is_named() -> None:
    used = set().union(*map(started, (ROOT / "tests").rglob("*.py"))) - BARE - OURS - OPTIONAL
    assert used >= {"sbatch", "slurmctld", "getfacl", "sudo"}, "the tests were read"
    named = needed("test")
    assert {name: USED.get(name, "?") for name in used if USED.get(name) not in named} == {}


def test_every_library_of_the_browsers_driver_comes_with_a_package_that_is_named() -> None:
    """It is a program of its own, which pip brings; nothing brings its libraries."""
    driver = Path(str(files("playwright"))) / "driver" / "node"
    said = subprocess.run(["ldd", str(driver)], check=True, capture_output=True, text=True).stdout
    used = {line.split()[0].rpartition("/")[2] for line in said.splitlines()}
    assert "libc.so.6" in used
    assert {LIBRARIES.get(name, "?") for name in used if not BARE_LIBRARIES.fullmatch(name)} <= needed("test")
    assert needed("test") & set(LIBRARIES.values()) <= needed("screenshots")


def test_what_tests_need_from_npm_is_installed_before_they_run() -> None:
    """As its lock says, which names no registry."""
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("*/package.json")}
    assert folders == {"tests/oidc"}
    lines = (ROOT / "scripts/test").read_text().splitlines()
    assert lines.index("need_provider") < lines.index("unlock")
    assert "npm --prefix tests/oidc ci" in (ROOT / "scripts/lib.sh").read_text()
    for lock in (ROOT / folder / "package-lock.json" for folder in [*folders, "console"]):
        assert '"resolved"' not in lock.read_text()


def test_every_package_that_is_named_can_be_looked_for() -> None:
    """One without its check would stop the script."""
    text = (ROOT / "scripts/lib.sh").read_text()
    packages = needed("test", "demo", "fresh")
    assert "slurm-wlm-jwt-plugin" in packages, "auth/jwt, which the tests' clusters ask for, is in no other package"
    assert [one for one in packages if f"\nhas_{one.replace('-', '_')}() {{" not in text] == []


def test_what_is_missing_is_told_by_what_is_there_not_by_names(tmp_path: Path) -> None:
    """On a machine where none of it is found, all of it is."""
    packages = " ".join(sorted(needed("test")))
    look = "command() { return 1; }; compgen() { return 1; }; "
    assert ask(look + f"missing {packages}").stdout.split() == packages.split()


def test_what_starts_servers_and_clusters_is_kept_by_somebody_who_ends_them() -> None:
    """An interrupted run leaves nothing: shown of kept.py in tests/crash; these run under it from their first command
    on.
    """
    for name in ("test", "fresh"):
        commands = [
            line for line in (ROOT / "scripts" / name).read_text().splitlines() if line and line[0] not in "# '"
        ]
        assert commands.index('kept "$@"') < next(at for at, line in enumerate(commands) if line.startswith("need_"))


def test_the_first_commands_of_the_readme_install_into_an_environment_of_their_own() -> None:
    """A Debian's own Python takes no package (PEP 668). scripts/fresh runs these commands word for word."""
    first, second = blocks()
    install = 'pip install ".[server]"'
    place = re.search(r"-m venv (\S+)", first)
    assert place is not None
    assert first.index("-m venv") < first.index(f". {place[1]}/bin/activate") < first.index(install)
    assert first.index(install) < first.index("trainmaster serve")
    assert f". {place[1]}/bin/activate" in second
