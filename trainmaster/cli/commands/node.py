"""Nodes: what they are, and in and out of service."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, client, demand_known

if TYPE_CHECKING:
    from trainmaster import answers

Name = Annotated[str, typer.Argument(metavar="NODE", help="The node's name, as tm node list shows it.")]
Why = Annotated[str, typer.Option("--note", "-n", help="Why, in words shown with the node.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(no_args_is_help=True, help="Nodes: see them, take them out of service and back.")
    part.command("list", epilog="Example: [bold]tm node list --fits a100[/]")(list_nodes)
    part.command(epilog="Example: [bold]tm node show node-1[/]")(show)
    part.command(epilog='Example: [bold]tm node cordon node-1 --note "new fan"[/]')(cordon)
    part.command(epilog="Example: [bold]tm node uncordon node-1[/]")(uncordon)
    part.command(epilog="Example: [bold]tm node drain node-1 --evict all[/]")(drain)
    part.command(epilog="Example: [bold]tm node move node-1 research[/]")(move)
    app.add_typer(part, name="node")


def list_nodes(
    fits: Annotated[
        list[str] | None, typer.Option("--fits", help="Only nodes that fit this flavor; repeatable.")
    ] = None,
    workspace: Annotated[str, typer.Option(help="The workspace of the flavors.")] = "default",
    as_json: AsJson = False,
) -> None:
    """List nodes with what is used of them."""
    from trainmaster.cli.render import emit_json, table

    admin = client().admin
    demand_known("workspace", workspace, admin.workspaces())
    found = admin.resources(fits or [], workspace).nodes
    if as_json:
        emit_json(found)
        return
    if not found:
        print("No node fits.")
        return
    columns = ("node", "pool", "service", "room", "driver", ">cores", ">memory", "cards", "note")
    table(
        columns,
        [
            (
                one.name,
                one.pool,
                one.service,
                one.state,
                one.driver,
                fraction(one.cpu),
                fraction(one.memory_mib, 1024, "G"),
                cards(one),
                why_away(one),
            )
            for one in found
        ],
    )


def show(node: Name, as_json: AsJson = False) -> None:
    """Show one node and who uses its cards."""
    from trainmaster.cli.render import emit_json

    found = client().admin.node(node)
    emit_json(found) if as_json else say(found)


def cordon(node: Name, note: Why = "", as_json: AsJson = False) -> None:
    """Start nothing on a node any more; what runs on it runs on."""
    _print_node(client().admin.cordon(node, note), as_json)


def uncordon(node: Name, as_json: AsJson = False) -> None:
    """Put a node into service again."""
    _print_node(client().admin.uncordon(node), as_json)


def drain(
    node: Name,
    note: Why = "",
    evict: Annotated[
        str, typer.Option(help="Jobs that go back to the queue: none, preemptible or all.")
    ] = "preemptible",
    as_json: AsJson = False,
) -> None:
    """Cordon a node and let it become empty."""
    _print_node(client().admin.drain(node, note, evict), as_json)


def move(
    node: Name,
    pool: Annotated[str, typer.Argument(metavar="POOL", help="The pool it is to be in.")],
    as_json: AsJson = False,
) -> None:
    """Move a node to another pool; what runs on it runs on."""
    _print_node(client().admin.move_node(node, pool), as_json)


def _print_node(found: "answers.NodeDetail", as_json: bool) -> None:
    from trainmaster.cli.render import emit_json

    if as_json:
        emit_json(found)
        return
    left = f", {found.jobs} jobs on it" if found.jobs else ""
    print(f"{found.name}  {found.service}  pool {found.pool}{left}")


def say(found: "answers.NodeDetail") -> None:
    """Print one node."""
    from trainmaster.cli.render import table

    facts = (
        ("service", " ".join(filter(None, (found.service, why_away(found), found.by and f"({found.by})")))),
        ("pool", found.pool),
        ("address", found.host),
        ("os", found.os),
        ("kernel", found.kernel),
        ("driver", found.driver or "none"),
        ("cores", fraction(found.cpu)),
        ("memory", fraction(found.memory_mib, 1024, "G")),
        ("cards", cards(found) or "none"),
    )
    table(("", ""), [*facts, *((f"card {use.index}", use.label) for use in found.usage)], found.name)


def why_away(found: "answers.NodeDetail") -> str:
    """Return what its administrators say about a node, else why its engine starts nothing there."""
    return found.note or (found.reason.en if found.reason is not None else "")


def fraction(amount: "answers.Used", scale: float = 1.0, unit: str = "") -> str:
    """Return used/total."""
    return f"{amount.used / scale:.3g}/{amount.total / scale:.3g}{unit}"


def cards(found: "answers.NodeDetail") -> str:
    """Return the cards of a node by model."""
    return ", ".join(f"{one.used:g}/{one.total} {one.model}" for one in found.cards)
