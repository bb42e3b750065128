"""Code packed on a base (R235-R237): `tm image build`, and `tm image test`, which runs a command in an image as a short
job without a GPU.
"""

import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.submit import Set, changes
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.images.building import (
    BuildProgress,
    Cards,
    Description,
    Frameworks,
    Level,
    Python,
    Requirements,
    Secret,
    Workspace,
    tell_error,
)
from trainmaster.cli.language import words
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import NotFound
from trainmaster.core.formats.terminal import harmless, visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.client import Client
    from trainmaster.sdk.jobs import Job

TEST_FOR = "10m"
LINES = 15
_JOB_FILES = ("job.yaml", "job.yml", "job.json")
Name = Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "镜像名称。"))]
Folder = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help=words("The folder with the code.", "代码所在文件夹。"))
]
Base = Annotated[
    str,
    typer.Option(
        "--base",
        metavar="IMAGE|REF",
        help=words(
            "What it is built on: an image of the platform (NAME@VERSION), or a container (registry/path:tag).",
            "基础镜像：平台上的镜像（名称@版本），或容器（仓库/路径:标签）。",
        ),
        show_default=words("the packages that the folder names", "文件夹中列出的软件包"),
        autocompletion=completing.images,
    ),
]
Containerfile = Annotated[
    Path | None,
    typer.Option(
        "--containerfile",
        metavar="FILE",
        help=words(
            "Your Containerfile or Dockerfile: built here by Docker or Podman, and pushed.",
            "自己的 Containerfile 或 Dockerfile：由本机的 Docker 或 Podman 构建并推送。",
        ),
    ),
]
Push = Annotated[
    str,
    typer.Option(
        "--push",
        metavar="REF",
        help=words(
            "Where a container that is built here is pushed: registry/path:tag.",
            "在本机构建的容器推送到何处：仓库/路径:标签。",
        ),
        show_default=False,
    ),
]
Test = Annotated[
    str,
    typer.Option(
        "--test",
        metavar="COMMAND",
        help=words("Then run this in it, without a GPU.", "构建后在其中运行此命令，不使用加速卡。"),
        show_default=False,
    ),
]
Image = Annotated[
    str,
    typer.Argument(
        metavar="IMAGE",
        help=words("An image: NAME or NAME@VERSION.", "镜像：名称或 名称@版本。"),
        autocompletion=completing.images,
    ),
]
Command = Annotated[str, typer.Argument(metavar="COMMAND", help=words("What is run.", "要运行的命令。"))]


def build(  # noqa: PLR0913, PLR0917 - options of a command
    name: Name,
    folder: Folder = Path("."),
    base: Base = "",
    requirements: Requirements = None,
    containerfile: Containerfile = None,
    push: Push = "",
    secret: Secret = "",
    python: Python = "",
    for_: Frameworks = None,
    card: Cards = None,
    workspace: Workspace = "default",
    description: Description = "",
    level: Level = "none",
    test_: Test = "",
    set_: Set = None,
    as_json: AsJson = False,
) -> None:
    """Pack a code folder on a base: an image, or its next version, with the code of its jobs.

    The base is an image of the platform, a container, or the packages of the folder's requirements.txt, pyproject.toml
    or uv.lock. Prints the name by which job files have it, and the commands that run it on the platform, that test it
    without a GPU, and that test it on this computer. With --test that is done at once, --set changing the job of it.
    """
    from trainmaster.cli.images.local import built_here, made_of
    from trainmaster.cli.showing.console import emit_json, plain
    from trainmaster.cli.transfer import bar

    made = made_of(folder, base, requirements, containerfile, push)
    if made.containerfile:
        built_here(made)
    server = client()
    with bar(words("uploading code", "上传代码"), not as_json) as on_upload:
        begun = server.images.create(
            name,
            code=folder,
            on_upload=on_upload,
            **made.given,
            secret=secret,
            python=python,
            workspace=workspace,
            description=description,
            frameworks=for_ or (),
            cards=card or (),
            share=level,
        )
    done = server.images.wait(begun.id, told=(lambda _: None) if as_json else BuildProgress())
    if done.state != "ready":
        emit_json(done) if as_json else tell_error(done)
        raise typer.Exit(1)
    reference = f"{done.name}@{done.version}"
    container = server.images.get(done.image or reference, done.version).container
    commands = _commands(reference, folder, made.here(folder, container, python), test_, workspace)
    if not as_json:
        _say(reference, commands)
    outcome = _tested(server, reference, workspace, test_, set_, as_json) if test_ else None
    if as_json:
        emit_json({**plain(done), "reference": reference, "commands": commands, "test": outcome})
    _leave(outcome)


def _commands(reference: str, folder: Path, here: str, command: str, workspace: str) -> dict[str, str]:
    there = [] if workspace == DEFAULT else ["--workspace", workspace]
    to_it = ["--set", f"workspace={workspace}"] if there else []
    file = next((one for one in _JOB_FILES if (folder / one).is_file()), _JOB_FILES[0])
    asked = command or "python train.py"
    found = {
        "submit": shlex.join(["tm", "submit", str(folder / file), "--set", f"image={reference}", *to_it]),
        "test": shlex.join(["tm", "image", "test", reference, asked, *there]),
    }
    return {**found, "here": f"{here} {asked}"} if here else found


def _say(reference: str, commands: dict[str, str]) -> None:
    print(visible(reference))
    about = {
        "submit": words("run it on the platform:", "在平台上运行："),
        "test": words("test it there, without a GPU:", "在平台上测试，不使用加速卡："),
        "here": words("test it on this computer:", "在本机测试："),
    }
    for key, command in commands.items():
        print(f"  {about[key]}\n    {visible(command)}")


def try_out(
    image: Image, command: Command, workspace: Workspace = "default", set_: Set = None, as_json: AsJson = False
) -> None:
    """Run a command in an image, with its code and without a GPU.

    It is a job of one core that lasts ten minutes at most; --set changes it, as resources.memory=4g. Prints the last
    lines of its log and its exit code, and exits by that.
    """
    from trainmaster.cli.showing.console import emit_json

    outcome = _tested(client(), image, workspace, command, set_, as_json)
    if as_json:
        emit_json(outcome)
    _leave(outcome)


def _tested(
    server: "Client", image: str, workspace: str, command: str, set_: list[str] | None, as_json: bool
) -> dict[str, Any]:
    """Return how a job of `command` in `image` has ended; say it, unless `as_json`."""
    name = "".join(one if one.isalnum() and one.isascii() else "-" for one in image)[:25]
    document = {
        "name": f"test-{name}",
        "workspace": workspace,
        "image": image,
        "command": command,
        "resources": {"cpu": 1, "memory": "1g"},
        "duration": TEST_FOR,
        "model": {"save": False},
    }
    job = server.submit(document, set=changes(set_))
    if not as_json:
        print(words(f"testing: job {job.id}", f"测试中：任务 {job.id}"), file=sys.stderr)
    try:
        job.wait(progress=not as_json, held=True)
    except KeyboardInterrupt:
        job.stop()
        raise
    return _outcome(job, as_json)


def _outcome(job: "Job", as_json: bool) -> dict[str, Any]:
    detail = job.refresh().detail
    code = next((task.exit_code for task in detail.task_list if task.exit_code is not None), None)
    lines = list[str]()
    with suppress(NotFound):  # it never started
        lines = harmless(job.logs(None, tail=LINES)).splitlines()
    if not as_json:
        for line in lines:
            print(f"  {line}")
        _tell_end(detail, code)
    return {"job": job.id, "state": detail.state, "exit_code": code, "lines": lines}


def _tell_end(detail: "answers.JobDetail", code: int | None) -> None:
    if code is not None:
        print(words(f"test: exit code {code}", f"测试：退出码 {code}"))
        return
    from trainmaster.cli.showing.jobs import state_text, why

    print(visible(words(f"test: {state_text(detail.state)}", f"测试：{state_text(detail.state)}")))
    if reason := why(detail):
        print(visible(reason))


def _leave(outcome: dict[str, Any] | None) -> None:
    if outcome is not None and outcome["state"] != "succeeded":
        raise typer.Exit(outcome["exit_code"] or 1)
