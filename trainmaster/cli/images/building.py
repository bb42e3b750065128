"""Builds of images: `tm image create`, and what goes on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.language import told, words
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

Workspace = Annotated[
    str,
    typer.Option("--workspace", "-w", help=words("Workspace.", "工作空间。"), autocompletion=completing.workspaces),
]
Build = Annotated[str, typer.Argument(metavar="BUILD", help=words("Id of a build.", "构建的 ID。"))]
Name = Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "镜像名称。"))]
Requirements = Annotated[
    Path | None,
    typer.Option(
        "--requirements", "-r", metavar="FILE", help=words("A requirements.txt.", "一个 requirements.txt 文件。")
    ),
]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help=words(
            "A folder with pyproject.toml, and uv.lock if there is one: its dependencies.",
            "含 pyproject.toml（和 uv.lock，如有）的文件夹：取其依赖。",
        ),
    ),
]
Container = Annotated[
    str,
    typer.Option(
        "--container",
        metavar="REF",
        help=words(
            "A container image, as registry/path:tag or registry/path@sha256:...",
            "容器镜像，写作 仓库/路径:标签 或 仓库/路径@sha256:...",
        ),
        show_default=False,
    ),
]
Secret = Annotated[
    str,
    typer.Option(
        "--secret",
        metavar="NAME",
        help=words(
            "A secret of the workspace with USER:PASSWORD of the container's registry.",
            "工作空间中的密钥，内容为容器仓库的 用户名:密码。",
        ),
        show_default=words("none", "无"),
    ),
]
Python = Annotated[
    str,
    typer.Option(
        metavar="VERSION",
        help=words("Version of Python, such as 3.12.", "Python 版本，例如 3.12。"),
        show_default=words("the server's", "服务器的版本"),
    ),
]
Frameworks = Annotated[
    list[str] | None,
    typer.Option(
        "--for", metavar="FRAMEWORK", help=words("A framework that it is for; repeatable.", "适用的框架；可重复。")
    ),
]
Cards = Annotated[
    list[str] | None,
    typer.Option(
        "--card",
        metavar="cpu|cuda|...",
        help=words("A vendor of GPUs that it suits, or cpu; repeatable.", "适用的加速卡厂商，或 cpu；可重复。"),
    ),
]
Description = Annotated[
    str, typer.Option(help=words("What it is for.", "用途说明。"), show_default=words("none", "无"))
]
Level = Annotated[
    str,
    typer.Option(
        "--share",
        metavar="|".join(SHARES),
        help=words("With the other members of its workspace.", "共享给工作空间的其他成员。"),
        autocompletion=completing.one_of(*SHARES),
    ),
]
Waits = Annotated[
    bool,
    typer.Option("--wait/--no-wait", help=words("Show the build until it has ended.", "显示构建直到结束。")),
]

STATES = {
    "waiting": words("waiting for another build", "等待其他构建"),
    "resolving": words("resolving packages", "解析软件包"),
    "installing": words("installing packages", "安装软件包"),
    "pulling": words("pulling the container image", "拉取容器镜像"),
    "unpacking": words("unpacking it", "解包"),
    "ready": words("ready", "完成"),
    "failed": words("failed", "失败"),
    "stopped": words("stopped", "已停止"),
}


def create(  # noqa: PLR0913, PLR0917 - options of a command
    name: Name,
    requirements: Requirements = None,
    project: Project = None,
    container: Container = "",
    secret: Secret = "",
    python: Python = "",
    for_: Frameworks = None,
    card: Cards = None,
    workspace: Workspace = "default",
    description: Description = "",
    level: Level = "none",
    wait: Waits = True,
    as_json: AsJson = False,
) -> None:
    """Make an image, or its next version, of a requirements.txt, a project or a container.

    It is made on the server, packages in a sandbox, which is shown here; with --no-wait only the id is printed.
    Prints the name by which job files have it.
    """
    if (requirements is not None, project is not None, bool(container)).count(True) != 1:
        raise typer.BadParameter(
            words(
                "give one of --requirements FILE, --project DIR and --container REF",
                "请给出 --requirements FILE、--project DIR、--container REF 之一",
            )
        )
    from trainmaster.cli.showing.console import emit_json

    server = client().images
    build = server.create(
        name,
        requirements=requirements,
        project=project,
        container=container,
        secret=secret,
        python=python,
        workspace=workspace,
        description=description,
        frameworks=for_ or (),
        cards=card or (),
        share=level,
    )
    if wait:
        build = server.wait(build.id, told=(lambda _: None) if as_json else BuildProgress())
    if as_json:
        emit_json(build)
    elif build.state == "ready":
        print(f"{visible(build.name)}@{build.version}")
    elif not wait:
        print(build.id)
    else:
        tell_error(build)
    if build.state in ("failed", "stopped"):
        raise typer.Exit(1)


class BuildProgress:
    """Prints what of a build's log is new."""

    def __init__(self) -> None:
        self._state, self._last = "", list[str]()

    def __call__(self, build: "answers.ImageBuild") -> None:
        import sys

        if build.state != self._state:
            self._state = build.state
            print(STATES.get(build.state, build.state), file=sys.stderr)
        before = len(self._last)
        new = build.log[before:] if build.log[:before] == self._last else build.log[-5:]
        for line in new:
            print(f"  {visible(line)}", file=sys.stderr)
        self._last = build.log


def tell_error(build: "answers.ImageBuild") -> None:
    """Say why a build is no image, and what to do."""
    import sys

    for text in (build.error, build.remedy):
        if text is not None:
            print(visible(told(text)), file=sys.stderr)


def builds(as_json: AsJson = False) -> None:
    """List builds that go on or have ended, newest first.

    Prints a line for each: id, image, state, when it began.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().images.builds()
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("build", "构建"), least=12),
        column(words("image", "镜像"), least=8),
        column(words("owner", "所有者"), least=6, leaves=1),
        column(words("state", "状态")),
        column(words("began", "开始时间")),
    )
    rows = [(one.id, one.name, one.owner, STATES.get(one.state, one.state), clock(one.started_at)) for one in found]
    tables.show(columns, rows) if rows else print(words("No builds.", "没有构建。"))


def log(build: Build, as_json: AsJson = False) -> None:
    """Show the log of a build, and why it failed.

    Prints the lines of the log; of a build that failed also the reason and what to do.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().images.build(build)
    if as_json:
        emit_json(found)
        return
    for line in found.log:
        print(visible(line))
    tell_error(found)


def stop(build: Build, as_json: AsJson = False) -> None:
    """Stop a build; nothing of it is left.

    Prints its id and state.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().images.stop(build)
    emit_json(found) if as_json else print(f"{found.id}  {STATES.get(found.state, found.state)}")
