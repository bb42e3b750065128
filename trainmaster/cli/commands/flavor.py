"""Flavors: named sets of resources that jobs choose from."""

from typing import Annotated

import typer

from trainmaster.cli.commands.pool import About, Name
from trainmaster.cli.context import AsJson, client, demand_known

Where = Annotated[str, typer.Option("--workspace", "-w", help="The workspace that it belongs to.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Flavors: named sets of resources that jobs choose from.")
    part.command("list", epilog="Example: [bold]tm flavor list --kind gpu[/]")(list_flavors)
    part.command("set", epilog="Example: [bold]tm flavor set a100 --cpu 16 --memory 128GiB --gpu 1 --type A100[/]")(
        set_
    )
    part.command("delete", epilog="Example: [bold]tm flavor delete a100[/]")(delete)
    app.add_typer(part, name="flavor")


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
    table(("flavor", "kind", ">cores", ">memory", ">cards", "model", "about"), [
        (one.name, one.kind, f"{one.cpu:g}", format_memory(one.memory_mib), f"{one.gpu * one.gpu_share:g}", one.gpu_type or "",
         one.description) for one in found
    ]) if found else print("No flavors.")  # fmt: skip


def set_(
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


def delete(name: Name, workspace: Where = "default") -> None:
    """Remove a flavor; jobs submitted before keep what it was."""
    client().admin.delete_flavor(name, workspace)
    print(f"{name}  deleted")
