"""Pools of nodes, and virtual clusters: guaranteed shares of a pool."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, client, demand_known, language

if TYPE_CHECKING:
    from trainmaster import answers

Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name.")]
About = Annotated[str, typer.Option("--description", help="What it is for.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Pools of nodes, and guaranteed shares of them (virtual clusters).")
    part.command("list", epilog="Example: [bold]tm pool list[/]")(list_pools)
    part.command("set", epilog="Example: [bold]tm pool set research --for vision --for speech[/]")(set_pool)
    part.command("delete", epilog="Example: [bold]tm pool delete research[/]")(delete)
    part.command("share", epilog="Example: [bold]tm pool share vc1 --pool research gpu=8 cpu=64:128[/]")(share)
    part.command("unshare", epilog="Example: [bold]tm pool unshare vc1[/]")(unshare)
    app.add_typer(part, name="pool")


def list_pools(
    workspace: Annotated[str, typer.Option(help="Say which pools this workspace may use.")] = "default",
    as_json: AsJson = False,
) -> None:
    """List pools and their virtual clusters."""
    from trainmaster.cli.render import emit_json, table

    admin = client().admin
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.pools(workspace)
    if as_json:
        emit_json(found)
        return
    rows = []
    for pool in found:
        kind = "public" if pool.kind == "public" else "for " + ", ".join(pool.workspaces)
        nodes = f"{pool.nodes_in_service}/{pool.nodes}"
        rows.append((pool.name, kind, nodes, _amounts(pool), pool.waiting, pool.running, _yes(pool.selectable)))
        rows += [
            (f"  {one.name}", "share", "", shares(one.share), one.waiting, one.running, "")
            for one in pool.virtual_clusters
        ]
    table(("pool", "kind", ">nodes", "used/total", ">waiting", ">running", f"usable by {workspace}"), rows)


def set_pool(
    name: Name,
    workspaces: Annotated[list[str] | None, typer.Option("--for", help="Only for this workspace; repeatable.")] = None,
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Make or change a pool: public, or dedicated to workspaces."""
    from trainmaster.cli.render import emit_json

    made = client().admin.put_pool(name, workspaces=workspaces or (), description=description)
    emit_json(made) if as_json else print(
        f"{made.name}  {made.kind}  {made.nodes} node{'' if made.nodes == 1 else 's'}"
    )


def delete(name: Name) -> None:
    """Remove a pool that nobody uses."""
    client().admin.delete_pool(name)
    print(f"{name}  deleted")


def share(
    name: Name,
    limits: Annotated[list[str], typer.Argument(metavar="RESOURCE=GUARANTEED[:MOST]...", help="For example gpu=8:16.")],
    pool: Annotated[str, typer.Option(help="The pool that it is a share of.")] = "default",
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Guarantee a share of a pool: a virtual cluster that jobs can choose."""
    from trainmaster.cli.render import emit_json

    made = client().admin.put_virtual_cluster(name, read_limits(limits), pool=pool, description=description)
    if as_json:
        emit_json(made)
        return
    print(f"{made.name}  share of {made.pool}: {shares(made.share)}")
    warn(made.pool, made.share)


def unshare(name: Name) -> None:
    """Take back a share that no job counts against."""
    client().admin.delete_virtual_cluster(name)
    print(f"{name}  deleted")


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
            raise typer.BadParameter(f"{text!r} is no limit; write for example gpu=8 or gpu:A100=8:16")
    return made


def shares(found: "Sequence[answers.ShareView]") -> str:
    """Return limits with what is used of them."""
    texts = []
    for one in found:
        most = "" if one.cap is None else f" (most {one.cap:g})"
        texts.append(f"{one.resource} {one.used:g}/{one.nominal:g}{most}")
    return ", ".join(texts)


def warn(pool: str, found: "Sequence[answers.ShareView]") -> None:
    """Print what follows from limits that are below what is used, in the language of the terminal."""
    for one in found:
        if one.warning is not None:
            print(f"{pool} {one.resource}: {getattr(one.warning, language())}")


def _amounts(pool: "answers.ResourcePool") -> str:
    return ", ".join(f"{one.resource} {one.used:g}/{one.total:g}" for one in pool.amounts)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
