"""The queue: what waits and why, what it asks for, and the policy."""

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client, demand_known
from trainmaster.cli.helping import CLUSTER, add, as_examples, flowing, group
from trainmaster.cli.language import duration, told, words
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

_QUEUE_ZH = (
    "按调度顺序列出排队的任务。\n\n每行一个任务：位置、ID、名称、资源池、工作空间、优先级、副本、加速卡、已等待时间、预计开始和原因；"
    "最后一行是对各型号加速卡的需求。"
)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(app, "queue", "", "", CLUSTER, invoke_without_command=True, no_args_is_help=False)
    part.callback(
        help=words(flowing(show_queue), _QUEUE_ZH), epilog=as_examples("tm queue", "tm queue --pool research --mine")
    )(show_queue)
    policy = group(part, "policy", "The queue's policy.", "排队策略。")
    add(
        policy,
        show_policy,
        "列出所有设置。\n\n每行一个：名称、当前值、默认值、范围、含义。",
        "tm queue policy show",
        name="show",
    )
    add(
        policy,
        set_policy,
        "修改设置，下一轮调度起生效。\n\n输出修改后的所有设置。",
        "tm queue policy set age_cap_s=1d max_starts=100",
        "tm queue policy set age_cap_s=",
        name="set",
    )


def show_queue(
    context: typer.Context,
    pool: Annotated[
        str,
        typer.Option(
            help=words("Only this pool.", "只看该资源池。"),
            show_default=words("all", "全部"),
            autocompletion=completing.pools,
        ),
    ] = "",
    workspace: Annotated[
        str,
        typer.Option(
            "--workspace",
            "-w",
            help=words("Only this workspace.", "只看该工作空间。"),
            show_default=words("all", "全部"),
            autocompletion=completing.workspaces,
        ),
    ] = "",
    mine: Annotated[bool, typer.Option("--mine", help=words("Only your own jobs.", "只看自己的任务。"))] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=500, help=words("At most so many.", "最多显示多少条。"))
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List queued jobs in the order in which they are considered.

    Prints a line for each: position, id, name, pool, workspace, priority, replicas, GPUs, how long it has been queued,
    expected start and reason; and at the end how many GPUs of each model are asked for.
    """
    if context.invoked_subcommand is not None:
        return
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json

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
        print(words("Nothing is queued.", "没有排队的任务。"))
        return
    tables.show(_columns(), map(_row, found.items))
    print(_demand(found))


def _columns() -> list[Any]:
    from trainmaster.cli.showing.tables import column

    return [
        column("#", right=True),
        column(words("job", "任务")),
        column(words("name", "名称"), least=8),
        column(words("pool", "资源池"), least=6, leaves=3),
        column(words("workspace", "工作空间"), least=6, leaves=4),
        column(words("priority", "优先级"), leaves=2),
        column(words("replicas", "副本"), right=True, leaves=5),
        column(words("GPUs", "加速卡"), right=True),
        column(words("queued for", "已排队"), right=True),
        column(words("starts", "预计开始"), least=12, leaves=1),
        column(words("why", "原因"), least=14),
    ]


def _row(one: "answers.WaitingView") -> tuple[Any, ...]:
    from trainmaster.cli.showing.waiting import expected_start

    return (
        one.position,
        (one.job or "-")[:12],
        one.name or "-",
        one.pool,
        one.workspace,
        one.priority,
        one.tasks,
        f"{one.resources.gpu:g}",
        duration(one.wait_s),
        expected_start(one.forecast),
        told(one.reason.message) if one.reason is not None else "",
    )


def _demand(found: "answers.QueuePage") -> str:
    asked = [
        words(
            f"{one.asked:g} {one.model or 'of any model'} ({one.used:g}/{one.total} in use)",
            f"{one.model or '任意型号'} {one.asked:g} 张（已用 {one.used:g}/{one.total}）",
        )
        for one in found.demand
        if one.asked
    ]
    more = found.total - len(found.items)
    first = (
        words(f"{more} more {'is' if more == 1 else 'are'} queued. ", f"另有 {more} 个任务在排队。") if more > 0 else ""
    )
    if not asked:
        return first + words("No GPUs are asked for.", "没有申请加速卡。")
    return first + words(f"GPUs asked for: {', '.join(asked)}", f"申请的加速卡：{'，'.join(asked)}")


def show_policy(as_json: AsJson = False) -> None:
    """List all settings.

    Prints a line for each: name, value, default, bounds, meaning.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().admin.policy()
    emit_json(found) if as_json else _tell(found)


def set_policy(
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help=words(
                "Times such as 1h30m or 3d; NAME= is the default again.",
                "时长如 1h30m、3d；NAME= 表示恢复默认值。",
            ),
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Change settings; they hold from the next pass on.

    Prints all settings as they are then.
    """
    from trainmaster.cli.showing.console import emit_json

    given = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(
                words(f"{text!r} is no setting; write NAME=VALUE", f"{text!r} 不是设置；请写成 NAME=VALUE")
            )
        given[name] = _value(name, value)
    found = client().admin.set_policy(**given)
    emit_json(found) if as_json else _tell(found)


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


def _tell(found: "answers.PolicyView") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    columns = (
        column(words("setting", "设置")),
        column(words("value", "当前值"), right=True),
        column(words("default", "默认值"), right=True, leaves=1),
        column(words("bounds", "范围"), least=12, leaves=2),
        column(words("meaning", "含义"), least=24, wraps=True),
    )
    rows = [
        (
            one.name,
            _format_value(one, one.value),
            _format_value(one, one.default),
            ", ".join(one.choices) or _bounds(one),
            told(one.meaning),
        )
        for one in found.knobs
    ]
    tables.show(columns, rows)
    if found.changed_by:
        who = visible(found.changed_by)
        print(words(f"Changed last by {who}.", f"最近由 {who} 修改。"))


def _bounds(knob: "answers.KnobView") -> str:
    if knob.minimum is None and knob.maximum is None:
        return ""
    ends = [words("any", "不限") if end is None else _format_value(knob, end) for end in (knob.minimum, knob.maximum)]
    return words(" to ", " 至 ").join(ends)


def _format_value(knob: "answers.KnobView", found: float | str) -> str:
    """Return the setting's value, default or bound as it may be typed."""
    from trainmaster.core.formats.units import exact_duration

    if isinstance(found, str):
        return found
    return exact_duration(found) if knob.unit == "s" else f"{found:g}"
