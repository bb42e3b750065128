"""Pools of nodes, and virtual clusters: guaranteed shares of a pool."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, OwnWorkspace, client, demand_known, removed, workspace_of
from trainmaster.cli.helping import CLUSTER, add, group
from trainmaster.cli.language import counted, memory, told, used_memory, words

if TYPE_CHECKING:
    from trainmaster import answers

PoolName = Annotated[
    str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"), autocompletion=completing.pools)
]
Name = Annotated[str, typer.Argument(metavar="NAME", help=words("Its name.", "名称。"))]
About = Annotated[str, typer.Option("--description", help=words("What it is for.", "用途说明。"))]
LIMITS = words(
    "For example gpu=8 (guaranteed) or gpu=8:16 (guaranteed, at most).", "例如 gpu=8（保障）或 gpu=8:16（保障、上限）。"
)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app,
        "pool",
        "Pools of nodes, and guaranteed shares of them (virtual clusters).",
        "资源池，以及其中的保障份额（虚拟集群）。",
        CLUSTER,
    )
    add(
        part,
        list_pools,
        "列出资源池及其虚拟集群。\n\n每行一个：类型、可调度节点、占用、排队数、运行数、该工作空间能否使用。",
        "tm pool list",
        "tm pool list --workspace vision",
        name="list",
    )
    add(
        part,
        set_pool,
        "新建或修改资源池：公共的，或专供某些工作空间的。\n\n输出名称、类型和节点数。",
        "tm pool set research --for vision --for speech",
        name="set",
    )
    add(part, delete, "删除无人使用的资源池。\n\n输出已删除的名称。", "tm pool delete research")
    add(
        part,
        share,
        "保障资源池的一部分：任务可选择的虚拟集群。\n\n输出份额及其占用；份额低于现有占用时给出提醒。",
        "tm pool share vc1 --pool research gpu=8 cpu=64:128",
    )
    add(part, unshare, "收回没有任务计入的份额。\n\n输出已删除的名称。", "tm pool unshare vc1")


def list_pools(workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """List pools and their virtual clusters.

    Prints a line for each: kind, nodes in service, what is used, how many jobs are queued and running, and whether the
    workspace may use it.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    server = client()
    admin, workspace = server.admin, workspace_of(server, workspace)
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.pools(workspace)
    if as_json:
        emit_json(found)
        return
    rows = []
    for pool in found:
        nodes = f"{pool.nodes_in_service}/{pool.nodes}"
        usable = words("yes", "是") if pool.selectable else words("no", "否")
        rows.append((pool.name, _kind(pool), nodes, _amounts(pool), pool.waiting, pool.running, usable))
        rows += [
            (f"  {one.name}", words("share", "份额"), "", shares(one.share), one.waiting, one.running, "")
            for one in pool.virtual_clusters
        ]
    columns = (
        column(words("pool", "资源池"), least=8),
        column(words("kind", "类型"), least=8),
        column(words("nodes", "节点"), right=True),
        column(words("in use", "占用"), least=20, wraps=True),
        column(words("queued", "排队"), right=True),
        column(words("running", "运行"), right=True),
        column(words(f"for {workspace}", f"{workspace} 可用"), leaves=1),
    )
    tables.show(columns, rows)


def _kind(pool: "answers.ResourcePool") -> str:
    if pool.kind == "public":
        return words("public", "公共")
    return words("for ", "专供 ") + words(", ", "、").join(pool.workspaces)


def set_pool(
    name: PoolName,
    workspaces: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="WORKSPACE",
            help=words(
                "Only for this workspace; repeatable. Without it the pool is public.",
                "只供该工作空间使用；可重复。不指定则为公共。",
            ),
            autocompletion=completing.workspaces,
        ),
    ] = None,
    price_gpu: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help=words(
                "Price of one hour of a GPU, where no flavor says a price.", "规格未定价时的加速卡单价（每张每小时）。"
            ),
            show_default=words("unchanged, or 0", "不变，或 0"),
        ),
    ] = None,
    price_cpu: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help=words(
                "Price of one hour of a core, where no flavor says a price.", "规格未定价时的 CPU 单价（每核每小时）。"
            ),
            show_default=words("unchanged, or 0", "不变，或 0"),
        ),
    ] = None,
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Create or change a pool: public, or dedicated to workspaces.

    Prints its name, its kind and how many nodes it has.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().admin.put_pool(
        name, workspaces=workspaces or (), description=description, price_gpu=price_gpu, price_cpu=price_cpu
    )
    if as_json:
        emit_json(made)
        return
    kind = words("public", "公共") if made.kind == "public" else words("dedicated", "专属")
    print(f"{made.name}  {kind}  {counted(made.nodes, 'node', 'nodes', '个节点')}")


def delete(name: PoolName, as_json: AsJson = False) -> None:
    """Delete a pool that nobody uses.

    Prints its name.
    """
    client().admin.delete_pool(name)
    removed("pool", name, as_json)


def share(
    name: Name,
    limits: Annotated[list[str], typer.Argument(metavar="RESOURCE=GUARANTEED[:MOST]...", help=LIMITS)],
    pool: Annotated[
        str,
        typer.Option(help=words("The pool that it is a share of.", "所属的资源池。"), autocompletion=completing.pools),
    ] = "default",
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Guarantee a share of a pool: a virtual cluster that jobs can choose.

    Prints the share with what is used of it, and a warning where more is used already.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().admin.put_virtual_cluster(name, read_limits(limits), pool=pool, description=description)
    if as_json:
        emit_json(made)
        return
    print(f"{made.name}  " + words(f"share of {made.pool}: ", f"{made.pool} 的份额：") + shares(made.share))
    warn(made.pool, made.share)


def unshare(name: Name, as_json: AsJson = False) -> None:
    """Take back a share that no job counts against.

    Prints its name.
    """
    client().admin.delete_virtual_cluster(name)
    removed("virtual_cluster", name, as_json)


def read_limits(texts: list[str]) -> dict[str, tuple[float, float | None]]:
    """Return limits written as RESOURCE=GUARANTEED[:MOST]. Exits with a message for anything else."""
    made = {}
    for text in texts:
        name, equals, amounts = text.rpartition("=")
        nominal, _, cap = amounts.partition(":")
        try:
            made[name] = (float(nominal), float(cap) if cap else None)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(
                words(
                    f"{text!r} is no limit; write for example gpu=8 or gpu:A100=8:16",
                    f"{text!r} 不是配额；请写成 gpu=8 或 gpu:A100=8:16 的形式",
                )
            )
    return made


def shares(found: "Sequence[answers.ShareView]") -> str:
    """Return limits with what is used of them."""
    texts = []
    for one in found:
        most = "" if one.cap is None else words(f" (at most {_one(one, one.cap)})", f"（上限 {_one(one, one.cap)}）")
        texts.append(f"{_used(one.resource, one.used, one.nominal)}{most}")
    return words(", ", "，").join(texts)


def _one(share: "answers.ShareView", amount: float) -> str:
    return memory(amount) if share.resource == "memory_mib" else f"{amount:g}"


def _used(resource: str, used: float, total: float) -> str:
    """Return how much of a resource is used; of memory in the unit that suits it."""
    if resource == "memory_mib":
        return f"{words('memory', '内存')} {used_memory(used, total)}"
    return f"{resource} {used:g}/{total:g}"


def warn(pool: str, found: "Sequence[answers.ShareView]") -> None:
    """Print what follows from limits that are below what is used."""
    for one in found:
        if one.warning is not None:
            print(f"{pool} {one.resource}{words(': ', '：')}{told(one.warning)}")


def _amounts(pool: "answers.ResourcePool") -> str:
    return words(", ", "，").join(_used(one.resource, one.used, one.total) for one in pool.amounts)
