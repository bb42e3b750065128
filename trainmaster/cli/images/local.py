"""What of `tm image build` is done on the machine of who types it: which base is meant, and a container that Docker or
Podman builds and pushes here. The server runs no step of a Containerfile; what was pushed it pulls, and pins.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import typer

from trainmaster.cli.language import words

PROGRAMS = ("docker", "podman")
GENERATED = """FROM {base}
COPY requirements.txt /tmp/requirements.txt
RUN python3 -m pip install --no-cache-dir -r /tmp/requirements.txt
"""


@dataclass(frozen=True, slots=True)
class BuiltOn:
    """What an image is built on. `given`: how the server is told; `containerfile`: the text of what is built here
    first, in the folder `context`, and pushed as `push`; "" nothing.
    """

    given: dict[str, Any]
    containerfile: str = ""
    context: Path = Path(".")
    push: str = ""

    def here(self, folder: Path, container: str, python: str) -> str:
        """Return the beginning of a command that runs something on this machine in what was built, "" where nothing is
        known that does. `container`: its reference with the digest, "" for an environment.
        """
        if container:
            program = next(iter(_programs()), PROGRAMS[0])
            code = shlex.quote(os.path.abspath(folder))
            return f"{program} run --rm -v {code}:/code:ro -w /code {shlex.quote(container)}"
        own = ["--python", python] if python else []
        if "project" in self.given:
            return shlex.join(
                ["uv", "run", *own, "--no-install-project", "--project", str(self.given["project"]), "--"]
            )
        if "requirements" in self.given:
            given = str(self.given["requirements"])
            return shlex.join(["uv", "run", *own, "--no-project", "--with-requirements", given, "--"])
        return ""


def made_of(folder: Path, base: str, requirements: Path | None, containerfile: Path | None, push: str) -> BuiltOn:
    """Return what the options mean. Raises typer.BadParameter."""
    if not folder.is_dir():
        raise typer.BadParameter(words(f"there is no folder {folder}", f"没有文件夹 {folder}"))
    contained = ":" in base or "/" in base
    built = containerfile is not None or (contained and requirements is not None)
    if built != bool(push):
        raise typer.BadParameter(
            words(
                "--push REF goes with --containerfile, or with a container as --base and --requirements: "
                "what is built here must be pushed somewhere",
                "--push REF 须与 --containerfile 一起使用，或与作为 --base 的容器和 --requirements 一起使用："
                "在本机构建的容器必须推送到仓库",
            )
        )
    if containerfile is not None:
        if base or requirements is not None:
            raise typer.BadParameter(
                words(
                    "a Containerfile says its base and its packages itself: leave out --base and --requirements",
                    "Containerfile 已写明基础镜像和软件包：请去掉 --base 和 --requirements",
                )
            )
        return BuiltOn({"container": push}, containerfile.read_text(encoding="utf-8"), folder, push)
    if contained and requirements is not None:
        return BuiltOn({"container": push}, GENERATED.format(base=base), requirements, push)
    if contained:
        return BuiltOn({"container": base})
    if base and requirements is not None:
        raise typer.BadParameter(
            words(
                "an image of the platform has its packages: give --base or --requirements",
                "平台上的镜像已包含软件包：--base 和 --requirements 只能给出一个",
            )
        )
    return BuiltOn({"base": base} if base else _packages(folder, requirements))


def _packages(folder: Path, requirements: Path | None) -> dict[str, Any]:
    if requirements is not None:
        return {"requirements": requirements}
    if (folder / "pyproject.toml").is_file():
        return {"project": folder}
    if (folder / "requirements.txt").is_file():
        return {"requirements": folder / "requirements.txt"}
    raise typer.BadParameter(
        words(
            f"{folder} has no requirements.txt and no pyproject.toml: give --base or --requirements",
            f"{folder} 中没有 requirements.txt 和 pyproject.toml：请给出 --base 或 --requirements",
        )
    )


def built_here(made: BuiltOn) -> None:
    """Build a container of `made` and push it, showing what Docker or Podman say. Raises typer.Exit where it fails."""
    program = next(iter(_programs()), None)
    if program is None:
        print(
            words(
                "A Containerfile needs Docker or Podman on this computer, and there is none. "
                "Build it where there is one, push it, and give it as --base.",
                "构建 Containerfile 需要本机有 Docker 或 Podman，但未找到。"
                "请在有它们的计算机上构建并推送，再用 --base 给出。",
            ),
            file=sys.stderr,
        )
        raise typer.Exit(1)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "Containerfile")
        Path(file).write_text(made.containerfile, encoding="utf-8")
        context = str(made.context)
        if made.context.is_file():  # generated: it copies the list of packages alone
            Path(folder, "requirements.txt").write_bytes(made.context.read_bytes())
            context = folder
        for command in (
            [program, "build", "-t", made.push, "-f", file, context],
            [program, "push", made.push],
        ):
            print(shlex.join([os.path.basename(command[0]), *command[1:]]), file=sys.stderr, flush=True)
            code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
            if code != 0:
                raise typer.Exit(code if code > 0 else 1)


def _programs() -> list[str]:
    """Return Docker and Podman, as far as they are here; Podman first where its service is named."""
    named = reversed(PROGRAMS) if os.environ.get("CONTAINER_HOST") else PROGRAMS
    return [one for one in named if which(one)]
