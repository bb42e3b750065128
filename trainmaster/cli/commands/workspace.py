"""Workspaces: weights, quotas, limits of urgent jobs; and flavors, the named sets of resources that their jobs choose
from.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.commands.pool import About, Name, read_limits, shares, warn
from trainmaster.cli.context import AsJson, client, demand_known

if TYPE_CHECKING:
    from trainmaster import answers

Where = Annotated[str, typer.Option("--workspace", "-w", help="The workspace that it belongs to.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Workspaces: weights, quotas, limits of urgent jobs.")
    part.command("list", epilog="Example: [bold]tm workspace list[/]")(list_workspaces)
    part.command("set", epilog="Example: [bold]tm workspace set vision --weight 2 --urgent-per-user 3 gpu=8:16[/]")(
        set_workspace
    )
    part.command("delete", epilog="Example: [bold]tm workspace delete vision[/]")(delete_workspace)
    app.add_typer(part, name="workspace")
    flavors = typer.Typer(no_args_is_help=True, help="Flavors: named sets of resources that jobs choose from.")
    flavors.command("list", epilog="Example: [bold]tm flavor list --kind gpu[/]")(list_flavors)
    flavors.command("set", epilog="Example: [bold]tm flavor set a100 --cpu 16 --memory 128GiB --gpu 1 --type A100[/]")(
        set_flavor
    )
    flavors.command("delete", epilog="Example: [bold]tm flavor delete a100[/]")(delete_flavor)
    app.add_typer(flavors, name="flavor")


def list_workspaces(as_json: AsJson = False) -> None:
    """List workspaces with what counts against their limits."""
    from trainmaster.cli.render import emit_json, table

    found = client().admin.workspaces()
    if as_json:
        emit_json(found)
        return
    table(
        ("workspace", ">weight", "urgent", "quotas", ">waiting", ">running"),
        [(one.name, f"{one.weight:g}", _urgent(one.urgent), _quotas(one), one.waiting, one.running) for one in found],
    )


def set_workspace(
    name: Name,
    limits: Annotated[
        list[str] | None, typer.Argument(metavar="[RESOURCE=GUARANTEED[:MOST]]...", help="Quota, for example gpu=8:16.")
    ] = None,
    pool: Annotated[str, typer.Option(help="The pool of the quota; quotas of other pools stay.")] = "default",
    weight: Annotated[
        float | None, typer.Option(help="Its part of the cluster.", show_default="as it is, or 1")
    ] = None,
    urgent_per_user: Annotated[
        int | None, typer.Option(min=-1, help="Urgent jobs of one user; -1: any number.")
    ] = None,
    urgent_total: Annotated[
        int | None, typer.Option(min=-1, help="Urgent jobs of all together; -1: any number.")
    ] = None,
    description: Annotated[str | None, About] = None,
    as_json: AsJson = False,
) -> None:
    """Make or change a workspace; what is not named stays as it is."""
    from trainmaster.cli.render import emit_json

    admin = client().admin
    known = next((one for one in admin.workspaces() if one.name == name), None)
    quotas = {
        quota.pool: {share.resource: (share.nominal, share.cap) for share in quota.share}
        for quota in (known.quotas if known is not None else ())
    }
    if limits:
        quotas[pool] = read_limits(limits)
    if known is not None:
        weight = known.weight if weight is None else weight
        description = known.description if description is None else description
    made = admin.put_workspace(
        name,
        weight=1.0 if weight is None else weight,
        quotas=quotas,
        urgent_per_user=_limit(urgent_per_user, known.urgent.per_user if known is not None else None),
        urgent_total=_limit(urgent_total, known.urgent.total if known is not None else None),
        description=description or "",
    )
    if as_json:
        emit_json(made)
        return
    print(f"{made.name}  weight {made.weight:g}  urgent {_urgent(made.urgent)}  quotas {_quotas(made) or 'none'}")
    for quota in made.quotas:
        warn(quota.pool, quota.share)


def delete_workspace(name: Name) -> None:
    """Remove a workspace that nobody uses."""
    client().admin.delete_workspace(name)
    print(f"{name}  deleted")


def list_flavors(
    workspace: Where = "default",
    kind: Annotated[str, typer.Option(help="cpu, gpu or ascend.", show_default="all")] = "",
    model: Annotated[str, typer.Option(help="Only with cards of this model.", show_default="all")] = "",
    as_json: AsJson = False,
) -> None:
    """List flavors."""
    from trainmaster.cli.render import emit_json, table
    from trainmaster.core.formats.units import format_memory

    admin = client().admin
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.flavors(workspace, kind, model)
    if as_json:
        emit_json(found)
        return
    table(
        ("flavor", "kind", ">cores", ">memory", ">cards", "model", "about"),
        [
            (
                one.name,
                one.kind,
                f"{one.cpu:g}",
                format_memory(one.memory_mib),
                f"{one.gpu * one.gpu_share:g}",
                one.gpu_type or "",
                one.description,
            )
            for one in found
        ],
    ) if found else print("No flavors.")


def set_flavor(
    name: Name,
    workspace: Where = "default",
    cpu: Annotated[float, typer.Option(min=0.01, help="Cores.")] = 1.0,
    memory: Annotated[str, typer.Option(help="Memory, for example 16GiB.")] = "1GiB",
    gpu: Annotated[int, typer.Option(min=0, help="Cards.")] = 0,
    model: Annotated[str | None, typer.Option("--type", help="Model of the cards.", show_default="any")] = None,
    share: Annotated[
        float, typer.Option(min=0.001, max=1, help="Part of a card; less than 1 only with one card.")
    ] = 1.0,
    shm: Annotated[str, typer.Option(help="Shared memory.")] = "64MiB",
    description: About = "",
    as_json: AsJson = False,
) -> None:
    """Make or change a flavor; jobs submitted before keep what it was."""
    from trainmaster.cli.render import emit_json
    from trainmaster.core.formats.units import parse_memory_mib

    try:
        sizes = {"memory_mib": parse_memory_mib(memory), "shm_mib": parse_memory_mib(shm)}
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    more = {"cpu": cpu, "gpu": gpu, "gpu_type": model, "gpu_share": share, "description": description}
    made = client().admin.put_flavor(name, workspace=workspace, **sizes, **more)
    emit_json(made) if as_json else print(f"{made.name}  {made.kind}  in workspace {made.workspace}")


def delete_flavor(name: Name, workspace: Where = "default") -> None:
    """Remove a flavor; jobs submitted before keep what it was."""
    client().admin.delete_flavor(name, workspace)
    print(f"{name}  deleted")


def _limit(given: int | None, known: int | None) -> int | None:
    if given is None:
        return known
    return None if given < 0 else given


def _quotas(found: "answers.WorkspaceView") -> str:
    return "; ".join(f"{quota.pool}: {shares(quota.share)}" for quota in found.quotas)


def _urgent(urgent: "answers.UrgentView") -> str:
    per_user, total = ("any" if limit is None else limit for limit in (urgent.per_user, urgent.total))
    return f"{urgent.used} (most {total}, {per_user} per user)"
