"""For administrators: what everybody did, and what is removed by itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli.context import AsJson, client, language

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: [bold]tm audit pool:default --since 7d[/], or [bold]tm audit --by ann[/]")(audit)
    app.command(epilog="Example: [bold]tm retention --jobs-days 90[/] tries a setting without writing it.")(retention)


def audit(
    subject: Annotated[
        str,
        typer.Argument(
            help="What it was done to: job, pool, virtual_cluster, workspace, flavor, node, policy or person, "
            "or one of them, for example pool:default.",
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
    table(
        ("when", "who", "to", "what"),
        [
            (
                moment(one.at),
                *map(escape, (one.by, f"{one.subject.kind} {one.subject.name}", getattr(one.text, language()))),
            )
            for one in found
        ],
    ) if found else print("Nobody did anything.")


def retention(
    jobs: Annotated[
        float | None, typer.Option("--jobs-days", min=0, help="As if ended jobs were kept so long.")
    ] = None,
    logs: Annotated[float | None, typer.Option("--logs-days", min=0, help="The same for their logs alone.")] = None,
    audit: Annotated[float | None, typer.Option("--audit-days", min=0, help="The same for what people did.")] = None,
    uploads: Annotated[float | None, typer.Option("--uploads-days", min=0, help="The same for code folders.")] = None,
    keys: Annotated[float | None, typer.Option("--keys-days", min=0, help="The same for keys of requests.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what would be removed by itself now, and why; nothing is removed by asking. 0 days: kept for ever."""
    from trainmaster.cli.render import emit_json, table
    from trainmaster.core.formats.units import format_duration
    from trainmaster.messages.amounts import moment

    days = {"jobs_days": jobs, "logs_days": logs, "audit_days": audit, "uploads_days": uploads, "keys_days": keys}
    found = client().admin.retention(**{name: value for name, value in days.items() if value is not None})
    if as_json:
        emit_json(found)
        return
    table(
        ("rule", "kept for", ">to remove", ">MiB", "oldest", "what goes"),
        [
            (
                one.rule,
                "ever" if one.after_s is None else format_duration(one.after_s),
                one.count,
                _mib(one),
                "" if one.oldest is None else moment(one.oldest),
                getattr(one.text, language()),
            )
            for one in found
        ],
    )


def _mib(one: "answers.RetentionRule") -> str:
    more = "> " if 0 < one.measured < one.count else ""
    return f"{more}{one.size_bytes / 2**20:.1f}" if one.measured else ""
