"""Flavors: the named sets of resources that the jobs of a workspace choose from, with their price."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.cluster.pool import About
from trainmaster.cli.context import AsJson, OwnWorkspace, client, demand_known, removed, workspace_of
from trainmaster.cli.helping import CLUSTER, add, group
from trainmaster.cli.language import memory as memory_text
from trainmaster.cli.language import words
from trainmaster.cli.server.looking import in_terminal_language

if TYPE_CHECKING:
    from trainmaster import answers

FlavorName = Annotated[
    str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"), autocompletion=completing.flavors)
]
HourPrice = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help=words(
            "Price of one hour of one replica, 0: free.",
            "单价：一个副本运行一小时的费用，0 表示免费。",
        ),
        show_default=words("as its pool says", "按资源池的单价"),
    ),
]
KINDS = ("cpu", "gpu", "ascend", "mlu")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    flavors = group(
        app,
        "flavor",
        "Flavors: named sets of resources that jobs choose from.",
        "规格：供任务选择的资源组合。",
        CLUSTER,
    )
    add(
        flavors,
        list_flavors,
        "列出工作空间的规格。\n\n每行一个：类型、CPU 核、内存、加速卡、型号、厂商、缓存盘、每小时单价、资源池、用途。",
        "tm flavor list --kind gpu",
        name="list",
    )
    add(
        flavors,
        set_flavor,
        "新建或修改规格；之前提交的任务不受影响。\n\n输出名称、类型和工作空间。",
        "tm flavor set a100 --cpu 16 --memory 128GiB --gpu 1 --type A100 --price 12.50",
        name="set",
    )
    add(
        flavors,
        delete_flavor,
        "删除规格；之前提交的任务不受影响。\n\n输出已删除的名称。",
        "tm flavor delete a100",
        name="delete",
    )


def list_flavors(
    workspace: OwnWorkspace = "",
    kind: Annotated[
        str,
        typer.Option(
            metavar="|".join(KINDS),
            help=words("Only of this kind.", "只列出此类。"),
            show_default=words("all", "全部"),
            autocompletion=completing.one_of(*KINDS),
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option(
            help=words("Only with GPUs of this model.", "只列出此型号加速卡的规格。"), show_default=words("all", "全部")
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the flavors of a workspace.

    Prints a line for each: kind, cores, memory, GPUs, model, vendor, cache disk, price of an hour, pools, what it is
    for.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    admin, workspace = server.admin, workspace_of(server, workspace)
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.flavors(workspace, kind, model)
    emit_json(found) if as_json else _show(found)


def _show(found: "list[answers.FlavorView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    columns = (
        column(words("flavor", "规格"), least=8),
        column(words("kind", "类型")),
        column(words("cores", "CPU（核）"), right=True),
        column(words("memory", "内存"), right=True),
        column(words("GPUs", "加速卡"), right=True),
        column(words("model", "型号"), least=8),
        column(words("vendor", "厂商"), leaves=2),
        column(words("cache disk", "缓存盘"), right=True, leaves=1),
        column(words("price/h", "单价/小时"), right=True),
        column(words("pools", "资源池"), least=8, wraps=True, leaves=1),
        column(words("for", "用途"), least=12, wraps=True),
    )
    rows = [
        (
            one.name,
            one.kind,
            f"{one.cpu:g}",
            memory_text(one.memory_mib),
            f"{one.gpu * one.gpu_share:g}",
            one.gpu_type or "",
            one.vendor,
            memory_text(one.cache_mib) if one.cache_mib else "",
            one.price or "",
            words(", ", "、").join(one.pools),
            one.description,
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No flavors.", "没有规格。"))


def set_flavor(  # noqa: PLR0913, PLR0917 - every option is a parameter
    name: FlavorName,
    workspace: OwnWorkspace = "",
    cpu: Annotated[float, typer.Option(min=0.01, help=words("Cores.", "CPU 核数。"))] = 1.0,
    memory: Annotated[str, typer.Option(help=words("Memory, for example 16GiB.", "内存，例如 16GiB。"))] = "1GiB",
    gpu: Annotated[int, typer.Option(min=0, help=words("GPUs.", "加速卡数。"))] = 0,
    model: Annotated[
        str | None,
        typer.Option("--type", help=words("Model of the GPUs.", "加速卡型号。"), show_default=words("any", "任意")),
    ] = None,
    share: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1,
            help=words("Part of a GPU; less than 1 only with one GPU.", "占一张加速卡的比例；小于 1 时只能申请一张。"),
        ),
    ] = 1.0,
    shm: Annotated[str, typer.Option(help=words("Shared memory.", "共享内存。"))] = "64MiB",
    vendor: Annotated[
        str,
        typer.Option(help=words("Who makes the GPUs.", "加速卡厂商。"), show_default=words("by the model", "按型号")),
    ] = "",
    price: HourPrice = None,
    cache: Annotated[
        str,
        typer.Option(
            help=words("Local cache disk of its nodes, for people to see.", "节点的本地缓存盘大小，供查看。"),
            show_default=words("not said", "不注明"),
        ),
    ] = "",
    pools: Annotated[
        list[str] | None,
        typer.Option(
            "--pool",
            metavar="POOL",
            help=words("Offered only in this pool; repeatable.", "只在此资源池提供；可重复。"),
            autocompletion=completing.pools,
            show_default=words("all", "全部"),
        ),
    ] = None,
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Create or change a flavor; jobs submitted before keep what it was.

    Prints name, kind and workspace.
    """
    from trainmaster.cli.showing.console import emit_json

    sizes = {"memory_mib": _mib("--memory", memory), "shm_mib": _mib("--shm", shm)}
    sizes["cache_mib"] = _mib("--cache", cache) if cache else 0
    more: dict[str, Any] = {"cpu": cpu, "gpu": gpu, "gpu_type": model, "gpu_share": share, "description": description}
    more |= {"vendor": vendor, "price": price, "pools": pools or []}
    server = client()
    made = server.admin.put_flavor(name, workspace=workspace_of(server, workspace), **sizes, **more)
    where = words(f"in workspace {made.workspace}", f"工作空间 {made.workspace}")
    emit_json(made) if as_json else print(f"{made.name}  {made.kind}  {where}")


def _mib(option: str, memory: str) -> int:
    from trainmaster.core.formats.units import NotRead, parse_memory_mib

    try:
        return parse_memory_mib(memory)
    except NotRead as error:
        raise typer.BadParameter(in_terminal_language(error.said), param_hint=option) from None


def delete_flavor(name: FlavorName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """Delete a flavor; jobs submitted before keep what it was.

    Prints its name.
    """
    server = client()
    server.admin.delete_flavor(name, workspace_of(server, workspace))
    removed("flavor", name, as_json)
