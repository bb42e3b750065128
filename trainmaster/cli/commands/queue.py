"""The queue: what waits and why, what it asks for, and the policy."""

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli.context import AsJson, client, demand_known
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = typer.Typer(
        invoke_without_command=True,
        help="What waits, why, and by which policy.",
        epilog="Example: [bold]tm queue --pool research[/]",
    )
    part.callback()(show_queue)
    policy = typer.Typer(no_args_is_help=True, help="The queue's policy.")
    policy.command("show", epilog="Example: [bold]tm queue policy show[/]")(show_policy)
    policy.command("set", epilog="Example: [bold]tm queue policy set age_cap_s=1d max_starts=100[/]")(set_policy)
    part.add_typer(policy, name="policy")
    app.add_typer(part, name="queue")


def show_queue(
    context: typer.Context,
    pool: Annotated[str, typer.Option(help="Only this pool.", show_default="all")] = "",
    workspace: Annotated[str, typer.Option(help="Only this workspace.", show_default="all")] = "",
    mine: Annotated[bool, typer.Option(help="Only your own jobs.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show what waits, in the order it is considered."""
    if context.invoked_subcommand is not None:
        return
    from trainmaster.cli.render import emit_json, expected_start, table
    from trainmaster.core.formats.units import format_duration

    admin = client().admin
    if pool:
        demand_known("pool", pool, admin.pools())
    if workspace:
        demand_known("workspace", workspace, admin.workspaces())
    found = admin.queue(pool=pool, workspace=workspace, mine=mine, limit=limit)
    if as_json:
        emit_json(found)
        return
    if not found.items:
        print("Nothing waits.")
        return
    table(
        (">place", "job", "name", "pool", "workspace", "priority", ">tasks", ">cards", ">waits", "starts", "why"),
        [
            (
                one.position,
                (one.job or "-")[:12],
                one.name or "-",
                one.pool,
                one.workspace,
                one.priority,
                one.tasks,
                f"{one.resources.gpu:g}",
                format_duration(one.wait_s),
                expected_start(one.forecast),
                one.reason.message.en if one.reason is not None else "",
            )
            for one in found.items
        ],
    )
    asked = [
        f"{one.asked:g} {one.model or 'of any model'} ({one.used:g}/{one.total} used)"
        for one in found.demand
        if one.asked
    ]
    more = f"{found.total - len(found.items)} more wait. " if found.total > len(found.items) else ""
    print(more + (f"Cards asked for: {', '.join(asked)}" if asked else "No cards are asked for."))


def show_policy(as_json: AsJson = False) -> None:
    """Show every setting with its bounds and what it means."""
    from trainmaster.cli.render import emit_json

    found = client().admin.policy()
    emit_json(found) if as_json else _say(found)


def set_policy(
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE...", help="Durations such as 1h30m or 3d; NAME= is the default again."),
    ],
    as_json: AsJson = False,
) -> None:
    """Change settings; they hold from the next pass on."""
    from trainmaster.cli.render import emit_json

    given = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is no setting; write NAME=VALUE")
        given[name] = _value(name, value)
    found = client().admin.set_policy(**given)
    emit_json(found) if as_json else _say(found)


def _value(name: str, text: str) -> Any:
    """Return seconds for a setting in ``_s``; of others a number, true, false or null (the default again), else the
    text.

    What cannot be read is left to the server, which names all that is wrong at once.
    """
    from trainmaster.core.formats.units import parse_duration_s

    if text in ("", "null"):
        return None
    if name.endswith("_s"):
        with suppress(ValueError):
            return parse_duration_s(text)
        return text
    with suppress(ValueError):
        return json.loads(text)
    return text


def _say(found: "answers.PolicyView") -> None:
    from trainmaster.cli.render import table

    table(
        ("setting", ">value", ">default", "bounds", "meaning"),
        [
            (
                one.name,
                _format_value(one, one.value),
                _format_value(one, one.default),
                ", ".join(one.choices) or _bounds(one),
                one.meaning.en,
            )
            for one in found.knobs
        ],
    )
    if found.changed_by:
        print(f"Changed last by {visible(found.changed_by)}.")


def _bounds(knob: "answers.KnobView") -> str:
    if knob.minimum is None and knob.maximum is None:
        return ""
    return " to ".join("any" if end is None else _format_value(knob, end) for end in (knob.minimum, knob.maximum))


def _format_value(knob: "answers.KnobView", found: float | str) -> str:
    """Return the setting's value, default or bound as it may be typed."""
    from trainmaster.core.formats.units import exact_duration

    if isinstance(found, str):
        return found
    return exact_duration(found) if knob.unit == "s" else f"{found:g}"
