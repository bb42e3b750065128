"""What one was told, where one wants to be told, and webhooks: `tm notify`."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Limit, client, removed
from trainmaster.cli.helping import SERVER, add, group
from trainmaster.cli.language import language, words

if TYPE_CHECKING:
    from trainmaster import answers

SHOWN = 8
"""Characters of a notification's id that a list shows; the whole one has 32."""
KINDS = "ended failed waits preempted idle limit budget storage webhook"
WHERE = ("console", "mail", "webhook")
Kind = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help=words(f"Only of this kind; can be repeated: {KINDS}.", f"只看此类通知，可重复：{KINDS}。"),
        show_default=words("all", "全部"),
    ),
]
Hook = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help=words(
            "Its id as tm notify webhook list shows it, or its first 4 characters or more.",
            "ID 或其开头（至少 4 个字符），见 tm notify webhook list。",
        ),
    ),
]
Of = Annotated[
    str,
    typer.Option(
        "--workspace",
        "-w",
        help=words("Of this workspace, which you lead.", "此工作空间的 Webhook，您须为其所有者或管理员。"),
        show_default=words("your own", "您自己的"),
        autocompletion=completing.workspaces,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    notify = group(app, "notify", "Notifications, e-mail and webhooks.", "通知、邮件与 Webhook。", SERVER)
    add(
        notify,
        list_notices,
        "列出通知，最新的在前。\n\n每行一条：ID 的开头、时间、类型、内容；未读的标 *。",
        "tm notify list",
        "tm notify list --unread --kind failed",
        name="list",
    )
    add(
        notify,
        read,
        "将通知标为已读；不写 ID 则全部标为已读。\n\n输出剩余的未读条数。",
        "tm notify read",
        "tm notify read nFGpGAsv nx_2",
    )
    add(
        notify,
        settings,
        "显示或修改接收哪些通知。\n\n每行一类：类型、控制台、邮件、Webhook。--on 和 --off 写成 KIND:WHERE，"
        "WHERE 为 console、mail 或 webhook。邮箱须用收到的验证码确认。",
        "tm notify settings",
        "tm notify settings --on ended:mail --off waits:console",
        "tm notify settings --address ann@example.org",
        "tm notify settings --code 123456",
    )
    _add_webhooks(notify)


def _add_webhooks(notify: typer.Typer) -> None:
    hook = group(notify, "webhook", "Webhooks: yours, and of workspaces.", "您自己和工作空间的 Webhook。")
    add(
        hook,
        add_webhook,
        "新建 Webhook。密钥只显示这一次。\n\n输出 ID 和密钥。",
        "tm notify webhook add https://example.org/hook",
        "tm notify webhook add https://example.org/team --workspace vision --kind failed",
        name="add",
    )
    add(
        hook,
        list_webhooks,
        "列出 Webhook。\n\n每行一个：ID、名称、状态、地址、最近的错误。",
        "tm notify webhook list",
        name="list",
    )
    add(hook, delete_webhook, "删除 Webhook。\n\n输出已删除的 ID。", "tm notify webhook delete w3f9", name="delete")
    add(
        hook,
        try_webhook,
        "立即发送一条测试消息。\n\n输出结果；未送达时退出码为 1。",
        "tm notify webhook test w3f9",
        name="test",
    )
    add(
        hook,
        turn,
        "启用或停用 Webhook。\n\n输出名称和状态。",
        "tm notify webhook turn w3f9 on",
    )
    add(
        hook,
        deliveries,
        "列出最近的投递。\n\n每行一条：时间、类型、结果、次数、状态码、错误。",
        "tm notify webhook deliveries w3f9",
    )


def list_notices(
    kind: Kind = None,
    unread: Annotated[bool, typer.Option("--unread", help=words("Only what is not read.", "只看未读。"))] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List notifications, newest first.

    Prints a line for each: the beginning of its id, when, kind, what happened; what is not read has a *.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = list(client().notices.list(kinds=kind or (), unread=unread, limit=limit or None))
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("id", "ID")),
        column(words("when", "时间")),
        column(words("kind", "类型"), leaves=1),
        column(words("what happened", "内容"), least=20, wraps=True),
    )
    rows = [
        (f"{one.id[:SHOWN]}{'' if one.read else ' *'}", clock(one.at), one.kind, getattr(one.text, language()))
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No notifications.", "没有通知。"))


def read(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help=words(
                "Ids as tm notify list shows them, or their first 4 characters or more; without: all.",
                "ID 或其开头（至少 4 个字符），见 tm notify list；不写则全部。",
            ),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Mark notifications as read, all of them where none is named.

    Prints how many are not read.
    """
    from trainmaster.cli.showing.console import emit_json

    left = client().notices.read(ids or None)
    emit_json({"unread": left}) if as_json else print(words(f"{left} not read", f"{left} 条未读"))


def settings(
    on: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:WHERE", help=words("Switch on; can be repeated.", "启用，可重复。")),
    ] = None,
    off: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:WHERE", help=words("Switch off; can be repeated.", "停用，可重复。")),
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help=words("Send a code there.", "向此邮箱发送验证码。"))
    ] = None,
    code: Annotated[
        str | None, typer.Option(metavar="CODE", help=words("Confirm the address.", "用验证码确认邮箱。"))
    ] = None,
    no_address: Annotated[bool, typer.Option("--no-address", help=words("Forget the address.", "移除邮箱。"))] = False,
    as_json: AsJson = False,
) -> None:
    """Show or change what you are told, and where.

    Prints a line for each kind: console, mail, webhook. --on and --off take KIND:WHERE, where WHERE is console, mail or
    webhook. An address is used once the code that was sent there came back.
    """
    from trainmaster.cli.showing.console import emit_json

    notices = client().notices
    kinds: dict[str, dict[str, bool]] = {}
    for given, value in ((on, True), (off, False)):
        for one in given or ():
            kind, _, where = one.partition(":")
            if where not in WHERE:
                said = words(
                    f"{one} is not KIND:WHERE with {', '.join(WHERE)}", f"{one} 应写成 KIND:WHERE：{'、'.join(WHERE)}"
                )
                raise typer.BadParameter(said)
            kinds.setdefault(kind, {})[where] = value
    found = notices.change_settings(kinds) if kinds else None
    if no_address:
        found = notices.remove_address()
    if address is not None:
        found = notices.give_address(address, language="zh" if language() == "zh" else "en")
    if code is not None:
        found = notices.confirm_address(code)
    found = found or notices.settings()
    emit_json(found) if as_json else _print_settings(found)


def _print_settings(found: "answers.NoticeSettings") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    columns = (
        column(words("kind", "类型")),
        column(words("console", "控制台")),
        column(words("mail", "邮件")),
        column("webhook"),
    )
    yes, no = words("on", "开"), words("off", "关")
    rows = [
        (kind, *(yes if value else no for value in (one.console, one.mail, one.webhook)))
        for kind, one in found.kinds.items()
    ]
    tables.show(columns, rows)
    print(words(f"mails go to: {found.address or 'nobody'}", f"邮箱：{found.address or '未设置'}"))
    if found.asked:
        print(words(f"a code was sent to {found.asked}", f"验证码已发送至 {found.asked}"))
    if found.trouble is not None:
        print(words("the last mail failed: ", "最近一封邮件失败：") + getattr(found.trouble.text, language()))


def add_webhook(
    url: Annotated[str, typer.Argument(help=words("Where it goes, https://.", "接收地址，https://。"))],
    name: Annotated[
        str,
        typer.Option(
            help=words("What it is called.", "名称。"), show_default=words("the receiver's server", "接收方的服务器名")
        ),
    ] = "",
    workspace: Of = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help=words("Of a workspace's: told of this; can be repeated.", "用于工作空间：发送此类通知，可重复。"),
            show_default=words("all", "全部"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a webhook; its secret is shown this once.

    Prints the id and the secret with which receivers check signatures.
    """
    from trainmaster.cli.showing.console import emit_json

    made = client().notices.add_webhook(url, name=name, workspace=workspace or None, kinds=kind or ())
    emit_json(made) if as_json else print(f"{made.id}\n{made.secret}")


def list_webhooks(workspace: Of = "", as_json: AsJson = False) -> None:
    """List webhooks.

    Prints a line for each: id, name, state, address, and the last error.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().notices.webhooks(workspace)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("id", "ID")),
        column(words("name", "名称"), least=8),
        column(words("state", "状态")),
        column(words("address", "地址"), least=12, wraps=True),
        column(words("error", "错误"), leaves=1, wraps=True),
    )
    rows = [
        (one.id, one.name, one.state, one.url, getattr(one.error, language()) if one.error else "") for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No webhooks.", "没有 Webhook。"))


def delete_webhook(webhook: Hook, as_json: AsJson = False) -> None:
    """Delete a webhook, with what waits to be sent to it.

    Prints its id.
    """
    client().notices.delete_webhook(webhook)
    removed("webhook", webhook, as_json)


def try_webhook(webhook: Hook, as_json: AsJson = False) -> None:
    """Send a test to a webhook now.

    Prints what became of it; exits with 1 where it did not arrive.
    """
    from trainmaster.cli.showing.console import emit_json

    done = client().notices.test_webhook(webhook)
    text = getattr(done.error, language()) if done.error else str(done.status)
    emit_json(done) if as_json else print(words(f"{done.state}: {text}", f"{_STATES[done.state]}：{text}"))
    if done.state != "sent":
        raise typer.Exit(1)


def turn(
    webhook: Hook,
    state: Annotated[str, typer.Argument(metavar="on|off", help=words("on or off.", "on 或 off。"))],
    as_json: AsJson = False,
) -> None:
    """Switch a webhook on or off.

    Prints its name and state.
    """
    from trainmaster.cli.showing.console import emit_json

    if state not in ("on", "off"):
        raise typer.BadParameter(words(f"{state!r} is not on or off", f"{state!r} 不是 on 或 off"))
    after = client().notices.change_webhook(webhook, on=state == "on")
    emit_json(after) if as_json else print(f"{after.name}  {after.state}")


_STATES = {"waiting": "待投递", "sent": "已送达", "failed": "失败", "dropped": "已丢弃"}


def deliveries(webhook: Hook, as_json: AsJson = False) -> None:
    """List the newest messages to a webhook.

    Prints a line for each: when, kind, what became of it, tries, the status of the last answer, and the last error.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    found = client().notices.deliveries(webhook)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("when", "时间")),
        column(words("kind", "类型")),
        column(words("state", "结果")),
        column(words("tries", "次数")),
        column(words("status", "状态码")),
        column(words("error", "错误"), leaves=1, wraps=True),
    )
    rows = [
        (
            clock(one.created_at),
            one.kind,
            words(one.state, _STATES[one.state]),
            str(one.tries),
            "" if one.status is None else str(one.status),
            getattr(one.error, language()) if one.error else "",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("Nothing was sent yet.", "尚未投递。"))
