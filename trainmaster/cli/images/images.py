"""Images: environments that are built once, and that jobs have by name: `tm image`."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.assets.subscriptions import IMAGE, add_subscriptions, beyond
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.commands.models import split
from trainmaster.cli.context import AsJson, Limit, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.images.building import Workspace, builds, create, log, stop
from trainmaster.cli.images.packing import build, try_out
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, Query, Shared, add_star
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_REF = words("A name, an id, or its beginning (4 characters or more).", "镜像名称、ID 或其开头（至少 4 个字符）。")
Image = Annotated[str, typer.Argument(metavar="IMAGE", help=_REF, autocompletion=completing.images)]
Several = Annotated[
    list[str],
    typer.Argument(metavar="IMAGE...", help=_REF, show_default=False, autocompletion=completing.images),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "image", "Environments for jobs, made once.", "任务的运行环境：只生成一次。", JOBS)
    add(
        part,
        list_images,
        "列出镜像，最近修改的在前：自己的和共享给您的。\n\n每行一个：名称和最新版本、所有者、工作空间、共享方式、Python（或容器）、软件包数、大小、修改时间。",
        "tm image list",
        "tm image list torch --mine",
        name="list",
    )
    add_star(part, "image", ("images", "镜像"), completing.images, lambda: client().images.favor)
    _add_making(part)
    add(
        part,
        show,
        "显示镜像及其中的软件包，或它所对应的容器。\n\n输出用途、共享方式、历史版本，然后每行一个软件包。",
        "tm image show digits",
        "tm image show digits --version 1 --json",
    )
    add(
        part,
        builds,
        "列出进行中和已结束的构建，最近的在前。\n\n每行一个：ID、镜像、状态、开始时间。",
        "tm image builds",
    )
    add(
        part,
        log,
        "显示一次构建的日志和失败原因。\n\n输出日志各行；构建失败时还输出原因和处理办法。",
        "tm image log b3f1c2",
    )
    add(
        part,
        stop,
        "停止一次构建，不留下任何内容。\n\n输出其 ID 和状态。",
        "tm image stop b3f1c2",
    )
    add(
        part,
        share,
        "设置工作空间的其他成员能对镜像做什么。\n\nread：查看、在任务中使用；read-write：还可以添加版本和删除；none：什么都看不到。"
        "输出名称和共享方式。",
        "tm image share digits read",
    )
    add_subscriptions(part, IMAGE)
    add(part, describe, "修改镜像的描述。\n\n输出名称和描述。", 'tm image describe digits "reads digits"')
    add(
        part,
        delete,
        "删除镜像的一个版本，或整个镜像；有未结束的任务使用时拒绝。\n\n删除后会在回收站中保留一段时间（tm bin）。"
        "每行输出一个已删除的名称。",
        "tm image delete digits",
    )


def _add_making(part: typer.Typer) -> None:
    add(
        part,
        create,
        "由 requirements.txt、项目或容器生成镜像；已有同名镜像时添加一个版本。\n\n"
        "在服务器上进行（软件包在沙箱中安装），此处显示进度；--no-wait 时只输出 ID。成功后输出任务文件中使用的名称。",
        "tm image create digits --requirements requirements.txt",
        "tm image create digits --project . --python 3.12 --for pytorch --card cpu",
        "tm image create torch --container registry.example.org/ai/torch:2.4 --secret REGISTRY",
    )
    add(
        part,
        build,
        "把代码文件夹打包到基础镜像上：生成镜像或其下一个版本，使用它的任务无需再提供代码。\n\n"
        "基础镜像可以是平台上的镜像、容器，或文件夹中 requirements.txt、pyproject.toml、uv.lock 列出的软件包。"
        "输出任务文件中使用的名称，以及在平台上运行、不使用加速卡测试和在本机测试的命令。"
        "加上 --test 则立即测试，--set 可修改测试任务。",
        "tm image build digits",
        "tm image build digits src --base torch@3 --test 'python train.py --epochs 1'",
        "tm image build digits --base registry.example.org/ai/torch:2.4 --secret REGISTRY",
        "tm image build digits --containerfile Containerfile --push registry.example.org/ann/digits:1",
    )
    add(
        part,
        try_out,
        "在镜像中运行一条命令，带上其中的代码，不使用加速卡。\n\n"
        "这是一个单核任务，最多十分钟；--set 可修改它，例如 resources.memory=4g。"
        "输出日志最后几行和退出码，并以该退出码退出。",
        "tm image test digits@1 'python train.py --epochs 1'",
        name="test",
    )


def list_images(
    query: Query = "",
    mine: Own = False,
    shared: Shared = False,
    favorite: Favorite = False,
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List images, what was changed last first: yours, and what is shared with you.

    Prints a line for each: name and last version, owner, workspace, how it is shared, Python or that it is a container,
    how many packages, size, and when it was changed.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().images.list(
        query, mine=mine, shared=shared, favorite=favorite, workspace=workspace, limit=limit or None
    )
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("image", "镜像"), least=12),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("shared", "共享")),
        column("Python"),
        column(words("packages", "软件包"), right=True),
        column("MiB", right=True),
        column(words("changed", "修改时间"), leaves=1),
    )
    rows = [
        (
            f"{one.name}@{one.version}",
            one.owner,
            one.workspace,
            one.share,
            words("container", "容器") if one.container else one.python,
            "" if one.container else one.packages,
            one.size_bytes >> 20,
            clock(one.changed_at),
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No images.", "没有镜像。"))


def show(
    image: Image,
    version: Annotated[
        int | None,
        typer.Option(
            min=1, help=words("An older version.", "历史版本。"), show_default=words("the last one", "最新版本")
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show an image and the packages in it, or the container that it is.

    Prints what it is for, how it is shared and its versions, then a line for each package.
    """
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.waiting import clock

    found = client().images.get(image, version)
    if as_json:
        emit_json(found)
        return
    print(visible(f"{found.name}  {found.id}"))
    about = (
        (words("description", "描述"), found.description or "-"),
        (words("owner", "所有者"), found.owner),
        (words("workspace", "工作空间"), found.workspace),
        (words("shared", "共享"), found.share),
        *beyond(found),
        *_made_of(found),
        (words("for", "适用框架"), ", ".join(found.frameworks) or words("any", "不限")),
        (words("GPUs", "适用的加速卡"), ", ".join(found.cards) or words("any", "不限")),
    )
    for key, value in about:
        print(f"  {key}: {visible(value)}")
    for one in found.versions:
        mark = " *" if one.version == found.shown else ""
        print(f"  {words('version', '版本')} {one.version}{mark}: {clock(one.at)}  {visible(one.by)}")
    if found.installed:
        print()
    for package in found.installed:
        print(visible(f"{package.name}=={package.version}"))


def _made_of(image: "answers.ImageDetail") -> list[tuple[str, str]]:
    """Return what the version shown is: of Python, or of a container under which name."""
    shown = next((one for one in image.versions if one.version == image.shown), None)
    packed = [(words("code", "代码"), shown.code)] if shown is not None and shown.code else []
    packed += [(words("built on", "基础镜像"), shown.base)] if shown is not None and shown.base else []
    if shown is None or not shown.container:
        return [("Python", shown.python if shown is not None else image.python), *packed]
    asked = next((file.text for file in image.files if file.name == "container"), "")
    own = [(words("container", "容器"), shown.container)]
    return [*own, *([] if asked == shown.container else [(words("asked for as", "申请时的写法"), asked)]), *packed]


def share(
    image: Image,
    level: Annotated[
        str,
        typer.Argument(
            metavar="|".join(SHARES),
            help=words("What others may do.", "其他成员能做什么。"),
            autocompletion=completing.one_of(*SHARES),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what other members of the workspace may do with an image.

    read: look at it, have it in jobs; read-write: also add versions and delete it; none: they see nothing of it. Prints
    its name and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().images.share(image, level)
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('shared', '共享')} {found.share}")


def describe(
    image: Image,
    text: Annotated[str, typer.Argument(metavar="TEXT", help=words("What it is for.", "用途说明。"))],
    as_json: AsJson = False,
) -> None:
    """Say what an image is for.

    Prints its name and what was said.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().images.describe(image, text)
    emit_json(found) if as_json else print(visible(f"{found.name}  {found.description}"))


def delete(images: Several, as_json: AsJson = False) -> None:
    """Delete a version of an image, or all of it; refused while jobs that have not ended have it.

    It stays in the bin for a while (tm bin). Prints the name of each that is gone.
    """
    server = client().images

    def one(ref: str) -> str:
        server.delete(*split(ref))
        return ref

    found, good = each(images, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "image", "name": ref, "deleted": True},
    )
    leave(good)
