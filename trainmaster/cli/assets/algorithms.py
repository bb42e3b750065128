"""Algorithms: make, look at, download, delete: `tm algorithm`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.assets.datasets import Level, Where
from trainmaster.cli.assets.subscriptions import ALGORITHM, add_subscriptions, beyond
from trainmaster.cli.commands.actions import SHARES
from trainmaster.cli.commands.download import To, tell_files
from trainmaster.cli.commands.jobs import leave, print_each
from trainmaster.cli.commands.models import split
from trainmaster.cli.context import AsJson, Limit, Workspace, client, each
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import words
from trainmaster.cli.listing import Favorite, Own, Query, Shared, add_star
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_REF = words("Name of the algorithm, or NAME@VERSION.", "算法名称，或 名称@版本。")
Named = Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help=_REF, autocompletion=completing.algorithms)]
Several = Annotated[
    list[str],
    typer.Argument(metavar="NAME[@VERSION]...", help=_REF, show_default=False, autocompletion=completing.algorithms),
]
Description = Annotated[
    str | None,
    typer.Option(help=words("What it does.", "功能说明。"), show_default=words("as the file says", "按文件中所写")),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app, "algorithm", "Algorithms: programs with what may be set of them.", "算法：程序及其可设置的内容。", JOBS
    )
    add(
        part,
        list_algorithms,
        "列出算法，最近修改的在前：自己的和共享给您的。\n\n每行一个：名称、最新版本、框架、所有者、工作空间、共享方式、描述。",
        "tm algorithm list",
        "tm algorithm list mnist --mine",
        name="list",
    )
    add_star(part, "algorithm", ("algorithms", "算法"), completing.algorithms, lambda: client().algorithms.favor)
    for name in ("create", "upload"):
        add(
            part,
            upload,
            "用 algorithm.yaml 创建算法的下一个版本；没有此算法则新建。\n\n"
            "会先上传代码：文件中 code 指定的文件夹，未指定则为该文件所在的文件夹。"
            "使用 --commit 时，由此计算机上的 git 从该仓库获取。"
            "内容与最新版本相同时不会新建版本。输出名称和版本。",
            f"tm algorithm {name} mnist",
            f"tm algorithm {name} mnist/algorithm.yaml --name mnist --share read",
            f"tm algorithm {name} https://git.example.org/lab/nets.git --commit 4f1c9a0d… --folder mnist",
            name=name,
        )
    add(
        part,
        show,
        "显示算法的一个版本（不指定则为最新版本）：运行什么、超参、输入和输出通道、可用资源，以及所有版本。\n\n"
        "没有超参、输入通道或输出通道时会用文字说明。",
        "tm algorithm show mnist",
        "tm algorithm show mnist@2 --json",
    )
    add(
        part,
        download,
        "下载算法一个版本的代码；不指定版本则下载最新版本。\n\n每行输出一个已写入的文件。不会覆盖已有文件，也不会写到目标文件夹之外。",
        "tm algorithm download mnist@2 --to mnist",
    )
    add(
        part,
        share,
        "设置工作空间的其他成员能对算法做什么。\n\nread：查看、用于任务；read-write：还可以创建版本和删除；none：什么都看不到。"
        "输出名称和共享方式。",
        "tm algorithm share mnist read",
    )
    add_subscriptions(part, ALGORITHM)
    add(part, describe, "修改算法的描述。\n\n输出名称和描述。", 'tm algorithm describe mnist "a small CNN"')
    add(
        part,
        delete,
        "删除算法的一个版本，或整个算法。\n\n使用它的任务会保留其代码；"
        "删除后会在回收站中保留一段时间（tm bin）。每行输出一个已删除的名称。",
        "tm algorithm delete mnist@1",
        "tm algorithm delete mnist",
    )


def list_algorithms(
    query: Query = "",
    mine: Own = False,
    shared: Shared = False,
    favorite: Favorite = False,
    workspace: Workspace = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List algorithms, what was changed last first: yours, and what is shared with you.

    Prints a line for each: name, newest version, framework, owner, workspace, how it is shared, description.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().algorithms.list(
        query, mine=mine, shared=shared, favorite=favorite, workspace=workspace, limit=limit or None
    )
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("algorithm", "算法"), least=12),
        column(words("latest", "最新版本"), right=True),
        column(words("framework", "框架"), leaves=1),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("workspace", "工作空间"), least=6, leaves=3),
        column(words("shared", "共享")),
        column(words("description", "描述"), least=12, leaves=4),
    )
    rows = [
        (one.name, one.latest or "-", one.framework, one.owner, one.workspace, one.share, one.description or "-")
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No algorithms.", "没有算法。"))


def upload(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=words(
                "algorithm.yaml, or the folder it is in; with --commit: the address of a git repository.",
                "algorithm.yaml，或其所在文件夹；使用 --commit 时为 git 仓库的地址。",
            ),
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            "-n",
            help=words("What it is called.", "算法名称。"),
            show_default=words("as the file says, else as its folder is called", "按文件中所写，否则为文件夹名"),
        ),
    ] = None,
    workspace: Where = None,
    description: Description = None,
    level: Level = "none",
    commit: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help=words("Full hash of the commit to fetch.", "要获取的提交的完整哈希。"),
            show_default=words("none", "无"),
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help=words("Folder of the repository with algorithm.yaml.", "仓库中 algorithm.yaml 所在的文件夹。"),
            show_default=words("its top", "顶层"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the next version of an algorithm of its algorithm.yaml; the first one makes the algorithm.

    Its code is uploaded first: the folder that `code` names, else the one in which the file is. With --commit the git
    of this computer fetches both. Where the last version says the same, no other is made. Prints name and version.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().algorithms.upload(
        source, name, workspace=workspace, description=description or "", share=level, commit=commit, folder=folder
    )
    emit_json(made) if as_json else print(f"{visible(made.name)}@{made.shown}")


def show(algorithm: Named, as_json: AsJson = False) -> None:
    """Show a version of an algorithm, the newest one if none is named, and all versions.

    Prints what it runs and on what, its hyperparameters, its input and output channels; that it has none is said, too.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().algorithms.get(*split(algorithm))
    if as_json:
        emit_json(found)
        return
    print(visible(f"{found.name}  {found.id}"))
    for key, value in _about(found):
        print(f"  {key}: {visible(value)}")
    if found.spec:
        _show_parameters(found.spec)
        _show_channels(found.spec)
    columns = (
        column(words("version", "版本"), right=True),
        column(words("made", "创建时间"), leaves=1),
        column(words("by", "创建者"), leaves=2),
        column(words("code", "代码"), leaves=3),
    )
    rows = [
        (one.version, clock(one.created_at), one.by, (one.code or "-").removeprefix("sha256:")[:12])
        for one in found.history
    ]
    print()
    tables.show(columns, rows) if rows else print(words("No versions.", "没有版本。"))


def _about(found: "answers.AlgorithmDetail") -> Iterable[tuple[str, str]]:
    spec = found.spec
    yield words("description", "描述"), found.description or "-"
    yield words("owner", "所有者"), found.owner
    yield words("workspace", "工作空间"), found.workspace
    yield words("shared", "共享"), found.share
    yield from beyond(found)
    if not spec:
        return
    yield words("version", "版本"), str(found.shown)
    yield words("command", "命令"), str(spec.get("command"))
    if spec.get("origin"):
        yield words("from", "来源"), origin_text(spec["origin"])
    yield words("framework", "框架"), str((spec.get("framework") or {}).get("kind", "-"))
    yield words("image", "镜像"), str(spec.get("image"))
    anywhere = words("any", "不限")
    yield words("flavors", "规格"), ", ".join(spec.get("flavors") or ()) or anywhere
    yield words("runs on", "资源类型"), ", ".join(spec.get("runs_on") or ()) or anywhere
    if spec.get("max_replicas"):
        yield words("replicas at most", "副本数上限"), str(spec["max_replicas"])


def origin_text(origin: dict[str, Any]) -> str:
    """Return from which commit code was taken."""
    return " ".join(part for part in (origin["git"], origin["commit"], origin.get("folder") or "") if part)


def _show_parameters(spec: dict[str, Any]) -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    print()
    columns = (
        column(words("hyperparameter", "超参"), least=10),
        column(words("type", "类型")),
        column(words("default", "默认值"), least=6),
        column(words("values", "取值"), least=8, leaves=1),
        column(words("rules", "约束"), least=8, leaves=2),
        column(words("description", "描述"), least=10, leaves=3),
    )
    rows = [
        (one["name"], one["type"], _value(one["default"]), _range(one), _rules(one), one["description"] or "-")
        for one in spec["parameters"]
    ]
    none = words("This algorithm has no hyperparameters.", "当前算法没有超参。")
    tables.show(columns, rows) if rows else print(none)
    if spec["custom_parameters"]:
        print(words("Jobs may have other parameters, too.", "任务还可以添加自定义超参。"))
    else:
        print(words("This algorithm takes no other parameters.", "当前所选算法不支持自定义超参。"))


def _show_channels(spec: dict[str, Any]) -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    what = (
        ("inputs", words("input", "输入通道"), words("This algorithm has no input channel.", "当前算法没有输入通道。")),
        (
            "outputs",
            words("output", "输出通道"),
            words("This algorithm has no output channel.", "当前算法没有输出通道。"),
        ),
    )
    for field, title, none in what:
        print()
        columns = (
            column(title, least=10),
            column(words("told as", "传递方式")),
            column(words("what", "内容"), least=8),
            column(words("description", "描述"), least=10, leaves=1),
        )
        rows = [(one["name"], _told(one), _what(one), one["description"] or "-") for one in spec[field]]
        tables.show(columns, rows) if rows else print(none)


def _told(channel: dict[str, Any]) -> str:
    return f"--{channel['name']}=" if channel["given"] == "argument" else f"${channel['name']}"


def _what(channel: dict[str, Any]) -> str:
    if "to" in channel:
        return "/".join(part for part in (channel["to"], channel["folder"]) if part)
    optional = "" if channel["required"] else " " + words("(optional)", "（可选）")
    return ", ".join(channel["kinds"]) + optional


def _value(value: Any) -> str:
    from trainmaster.spec.job import scalar_text

    return "-" if value is None else scalar_text(value)


def _range(parameter: dict[str, Any]) -> str:
    if parameter["choices"]:
        return ", ".join(_value(one) for one in parameter["choices"])
    low, high = parameter["min"], parameter["max"]
    if low is None and high is None:
        return "-"
    return f"{'' if low is None else _value(low)}..{'' if high is None else _value(high)}"


def _rules(parameter: dict[str, Any]) -> str:
    found = [
        (parameter["required"], words("required", "必填")),
        (not parameter["editable"], words("fixed", "不可修改")),
        (not parameter["deletable"] and not parameter["required"], words("not deletable", "不可删除")),
    ]
    return ", ".join(text for holds, text in found if holds) or "-"


def download(algorithm: Named, to: To = Path(), as_json: AsJson = False) -> None:
    """Download the code of a version of an algorithm, the newest one if none is named.

    Prints each file that was written. Nothing that is there is overwritten, and nothing is written outside the folder.
    """
    name, number = split(algorithm)
    tell_files(client().algorithms.download(name, number, to), as_json)


def share(
    algorithm: Named,
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
    """Say what other members of the workspace may do with an algorithm.

    read: look at it and run it; read-write: also make versions and delete it; none: they see nothing of it. Prints its
    name and how it is shared.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().algorithms.share(algorithm, level)
    emit_json(found) if as_json else print(f"{visible(found.name)}  {words('shared', '共享')} {found.share}")


def describe(
    algorithm: Named,
    text: Annotated[str, typer.Argument(metavar="TEXT", help=words("What it does.", "功能说明。"))],
    as_json: AsJson = False,
) -> None:
    """Say what an algorithm does.

    Prints its name and what was said.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().algorithms.describe(algorithm, text)
    emit_json(found) if as_json else print(visible(f"{found.name}  {found.description}"))


def delete(algorithms: Several, as_json: AsJson = False) -> None:
    """Delete a version of an algorithm, or all of it.

    Jobs that run it keep its code. Prints the name of each that is gone.
    """
    server = client().algorithms

    def one(ref: str) -> str:
        server.delete(*split(ref))
        return ref

    found, good = each(algorithms, one)
    print_each(
        found,
        as_json,
        lambda ref: print(f"{visible(ref)}  {words('deleted', '已删除')}"),
        lambda ref: {"kind": "algorithm", "name": ref, "deleted": True},
    )
    leave(good)
