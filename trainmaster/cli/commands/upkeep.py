"""For administrators: what everybody did."""

from typing import Annotated

import typer

from trainmaster.cli.context import AsJson, client, language


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: [bold]tm audit pool:default --since 7d[/], or [bold]tm audit --by ann[/]")(audit)


def audit(
    subject: Annotated[
        str,
        typer.Argument(
            help="What it was done to: job, pool, virtual_cluster, workspace, flavor, node, policy or person, or one of them, for "
            "example pool:default.",
            show_default="anything",
        ),
    ] = "",
    by: Annotated[str, typer.Option(help="Who did it.", show_default="anybody")] = "",
    kind: Annotated[str, typer.Option(help="What was done, as --json calls it.", show_default="anything")] = "",
    since: Annotated[str, typer.Option(help="Only of the last so long, for example 12h or 7d.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 50,
    all_: Annotated[bool, typer.Option("--all", help="Everything that is kept.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what people did to jobs, pools, workspaces, nodes and people, newest first."""
    import time

    from rich.markup import escape

    from trainmaster.cli.render import emit_json, table
    from trainmaster.core.formats.units import parse_duration_s
    from trainmaster.messages.amounts import moment

    try:
        after = time.time() - parse_duration_s(since) if since else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    found = client().admin.audit(subject=subject, by=by, kind=kind, after=after, limit=None if all_ else limit)
    if as_json:
        emit_json(found)
        return
    table(("when", "who", "to", "what"), [
        (moment(one.at), *map(escape, (one.by, f"{one.subject.kind} {one.subject.name}", getattr(one.text, language()))))
        for one in found
    ]) if found else print("Nobody did anything.")  # fmt: skip
