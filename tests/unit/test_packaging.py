"""The package as others see it: what it says it needs, what it carries, and that the repository keeps its own rules."""

import contextlib
import importlib.util
import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from trainmaster import __version__
from trainmaster.sdk.offline import preview

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SCRIPTS = [ROOT / ".ci/run", *(path for path in (ROOT / "scripts").iterdir() if path.is_file() and not path.suffix)]


def load(path: str) -> ModuleType:
    """A module of the repository that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(heading: str) -> dict[str, list[str]]:
    """Return the rows below a heading of the page of dependencies: the cells after each package's name."""
    _, _, section = (ROOT / "docs/design/dependencies.md").read_text().partition(f"\n## {heading}\n")
    lines = re.findall(r"^\| ([A-Za-z0-9-]+) \| (\d.*) \|$", section.partition("\n## ")[0], flags=re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in lines}


def names(requirements: list[str]) -> set[str]:
    """Return the packages of others in a list of requirements."""
    return {re.split(r"[\[<>=~! ]", item)[0] for item in requirements} - {PROJECT["project"]["name"]}


def test_every_dependency_has_its_reason_in_the_design_pages() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert table("The client").keys() == names(PROJECT["project"]["dependencies"])
    assert table("The server").keys() == names(extras["server"])
    assert table("To develop, test and document").keys() == names(extras["dev"] + extras["docs"] + extras["examples"])


MODULES = {
    "argon2-cffi": "argon2",
    "google-re2": "re2",
    "nvidia-ml-py": "pynvml",
    "prometheus-client": "prometheus_client",
    "pyyaml": "yaml",
}
BY_NAME = {("psycopg", "store"), ("uvloop", "api"), ("uv", "service")}
"""Never imported: another package is told to use it, or it is a program."""


def test_the_design_pages_say_where_each_dependency_is_used() -> None:
    imported = {
        (module, path.relative_to(ROOT / "trainmaster").parts[0])
        for path in (ROOT / "trainmaster").glob("*/**/*.py")
        for module in re.findall(r"^ *(?:import|from) (\w+)", path.read_text(), flags=re.MULTILINE)
    }
    rows = table("The client") | table("The server")
    said = {(MODULES.get(name, name), floor) for name, cells in rows.items() for floor in cells[-1].split(", ")}
    known = {module for module, _ in said}
    assert said - BY_NAME == {(module, floor) for module, floor in imported if module in known}


def test_whoever_develops_has_the_server() -> None:
    assert "trainmaster[server]" in PROJECT["project"]["optional-dependencies"]["dev"]
    for script in ("demo", "test", "lint", "screenshots", "try-systemd"):
        installed = re.findall(r"^need_package \w+ (\S+)", (ROOT / "scripts" / script).read_text(), flags=re.MULTILINE)
        assert {"server", "dev"} & set(",".join(installed).split(",")), script


def test_torch_is_never_a_dependency() -> None:
    requirements = json.dumps([PROJECT["project"], PROJECT["build-system"]])
    assert not re.search(r'"torch\b', requirements)


def test_the_version_is_written_once() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert PROJECT["project"]["dynamic"] == ["version"]


def test_the_lock_file_of_the_console_names_no_registry() -> None:
    lock = ROOT / "console/package-lock.json"
    if not lock.exists():
        pytest.skip("this copy has no console sources")
    packages = json.loads(lock.read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry and not entry.get("link")] == []


def test_scripts_are_executable_bash_that_parses() -> None:
    for script in SCRIPTS:
        assert script.stat().st_mode & 0o111, script
        assert script.read_text().startswith("#!/usr/bin/env bash\n"), script
        subprocess.run(["bash", "-n", script], check=True)


def test_every_link_of_the_texts_leads_somewhere() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *(ROOT / "examples").glob("**/*.md")]
    broken = [
        f"{text.relative_to(ROOT)}: {target}"
        for text in texts
        for target in re.findall(r"\]\(([^)#\s]+)", text.read_text())
        if "://" not in target and not (text.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("job", sorted(ROOT.glob("examples/*/job.*")), ids=lambda path: path.parent.name)
def test_an_example_is_a_valid_job(job: Path) -> None:
    seen = preview(yaml.safe_load(job.read_text()), {})
    assert seen.ok, seen.problems


class TestConsoleBuild:
    """hatch_build.py decides by contents whether the console and the documentation have to be built again."""

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        (tmp_path / "console/src").mkdir(parents=True)
        (tmp_path / "console/package.json").write_text("{}")
        (tmp_path / "console/src/main.tsx").write_text("export {}")
        return tmp_path

    def built(self, hook: ModuleType, checkout: Path) -> None:
        (checkout / "console/dist").mkdir()
        (checkout / "console/dist/index.html").write_text("<html>")
        hook.CONSOLE.take(checkout, checkout / "console/dist", hook.CONSOLE.digest(checkout))

    def test_a_change_of_a_source_makes_it_stale(self, checkout: Path) -> None:
        hook = load("hatch_build.py")
        assert not hook.CONSOLE.is_fresh(checkout)
        self.built(hook, checkout)
        assert hook.CONSOLE.is_fresh(checkout)
        (checkout / "console/src/main.tsx").write_text("export default 1")
        assert not hook.CONSOLE.is_fresh(checkout)

    def test_what_tools_leave_behind_does_not(self, checkout: Path) -> None:
        hook = load("hatch_build.py")
        self.built(hook, checkout)
        (checkout / "console/node_modules/x").mkdir(parents=True)
        (checkout / "console/node_modules/x/index.js").write_text("1")
        (checkout / "console/dist/index.html").write_text("<html lang=en>")
        assert hook.CONSOLE.is_fresh(checkout)

    def test_the_documentation_quotes_the_program(self, checkout: Path) -> None:
        hook = load("hatch_build.py")
        for name in ("docs/index.md", "trainmaster/cli.py", "docs/_build/html/index.html"):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text("before")
        hook.DOCS.take(checkout, checkout / "docs/_build/html", hook.DOCS.digest(checkout))
        assert hook.DOCS.is_fresh(checkout)
        (checkout / "docs/_build/html/index.html").write_text("built again")
        assert hook.DOCS.is_fresh(checkout)
        (checkout / "trainmaster/cli.py").write_text("after")
        assert not hook.DOCS.is_fresh(checkout)

    def test_the_documentation_is_built_with_what_the_program_imports(self) -> None:
        assert {"sphinx", "furo", "msgspec", "fastapi"} <= names(load("hatch_build.py").docs_packages(ROOT))

    def test_the_documentation_is_built_under_a_locale_that_is_not_there(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Debian has none but C.UTF-8 until somebody makes them, and ssh brings the one of the laptop along."""
        for name in ("LANG", "LC_ALL"):
            monkeypatch.setenv(name, "tlh_KX.UTF-8")
        (checkout / "docs").mkdir()
        (checkout / "sphinx.py").write_text(  # begins as the real one, which not everybody has who tests
            "import locale, pathlib, sys\n"
            "locale.setlocale(locale.LC_ALL, '')\n"
            "built = pathlib.Path(sys.argv[-1])\n"
            "built.mkdir(parents=True)\n"
            "(built / 'index.html').write_text('训练')\n",
            encoding="utf-8",
        )
        hook = load("hatch_build.py")
        hook.build_docs(checkout, lambda text: None)
        assert hook.DOCS.is_fresh(checkout)

    def test_the_scripts_can_use_it_where_nothing_is_packed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The demo installs no build backend: only whoever packs asks for the hook."""
        monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", None)
        assert load("hatch_build.py").NODE_PACKAGE

    def test_pip_shows_that_it_is_built(self, checkout: Path) -> None:
        """pip reads what a build prints and keeps it; only the terminal itself reaches who waits."""
        words = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import hatch_build; hatch_build.tell('console: npm ci')"
        )
        pid, terminal = pty.fork()
        if pid == 0:
            done = subprocess.run(
                [sys.executable, "-c", words], check=False, capture_output=True, stdin=subprocess.DEVNULL
            )
            os._exit(done.stderr != b"console: npm ci\n")
        seen = b""
        with contextlib.suppress(OSError):  # its end
            while data := os.read(terminal, 1000):
                seen += data
        os.close(terminal)
        assert os.waitpid(pid, 0)[1] == 0
        assert seen.split() == [b"console:", b"npm", b"ci"]

    def test_only_a_source_distribution_counts_as_prebuilt(self, checkout: Path) -> None:
        hook = load("hatch_build.py")
        self.built(hook, checkout)
        assert not hook.is_prebuilt(checkout)
        (checkout / "PKG-INFO").write_text("Name: trainmaster")
        assert hook.is_prebuilt(checkout)


def test_the_import_contract_allows_what_its_words_say() -> None:
    allowed = load("scripts/import_contracts.py").allowed
    core = frozenset({"pure", "trainmaster.core"})
    agent = frozenset({"stdlib", "trainmaster.core"})
    assert allowed("dataclasses", core, "trainmaster")
    assert allowed("trainmaster.core.ids", core, "trainmaster")
    assert allowed("time", agent, "trainmaster")
    assert not allowed("time", core, "trainmaster")
    assert not allowed("trainmaster.corexyz", core, "trainmaster")
    assert not allowed("pydantic", agent, "trainmaster")
    assert allowed("pydantic", agent | {"packages"}, "trainmaster")
