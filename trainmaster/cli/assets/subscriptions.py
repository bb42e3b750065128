"""Data sets beyond their workspace, beneath `tm dataset`: offered to others, and taken in there."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Limit, OwnWorkspace, client, workspace_of
from trainmaster.cli.helping import add
from trainmaster.cli.language import words
from trainmaster.cli.listing import Query
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.client import Client

Offered = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help=words("Name or id of the data set.", "数据集的名称或 ID。"),
        autocompletion=completing.datasets,
    ),
]
To = Annotated[
    str,
    typer.Argument(
        metavar="[WORKSPACE]",
        help=words("To which workspace; without one to everybody.", "面向的工作空间；不指定则面向所有人。"),
        show_default=False,
        autocompletion=completing.workspaces,
    ),
]
TakenName = Annotated[
    str, typer.Argument(metavar="NAME", help=words("What it is called there.", "在该工作空间中的名称。"))
]


def add_subscriptions(part: typer.Typer) -> None:
    """Add the commands to those of data sets."""
    add(
        part,
        offer,
        "将数据集发布给其他工作空间；不指定工作空间则发布给所有人。\n\n"
        "对方的成员可以订阅并在任务中读取，不能修改。输出名称和发布对象。",
        "tm dataset offer flowers speech",
        "tm dataset offer flowers",
    )
    add(
        part,
        withdraw,
        "撤回发布。\n\n订阅者不能再看到它；正在运行的任务不受影响，排队中的任务将在启动时失败。输出名称和其余的发布对象。",
        "tm dataset withdraw flowers speech",
    )
    add(
        part,
        published,
        "列出其他工作空间向您的工作空间发布的数据集，最近修改的在前。\n\n"
        "每行一个：名称、最新版本、文件数、大小、所有者、来自哪个工作空间、订阅名称、描述。",
        "tm dataset published",
        "tm dataset published flowers --workspace speech",
    )
    add(
        part,
        subscribe,
        "订阅一个已发布的数据集。\n\n此后工作空间的成员可以用该名称查看它，并用于任务。输出名称和来源。",
        "tm dataset subscribe flowers",
        "tm dataset subscribe flowers --as blooms --workspace speech",
    )
    add(
        part,
        subscriptions,
        "列出工作空间的订阅。\n\n每行一个：名称、最新版本、来源、所有者、订阅者、订阅时间；不再发布的显示“-”。",
        "tm dataset subscriptions --workspace speech",
    )
    add(
        part,
        unsubscribe,
        "取消订阅。\n\n正在运行的任务不受影响；排队中的任务将在启动时失败。输出名称。",
        "tm dataset unsubscribe blooms",
    )


def offer(dataset: Offered, workspace: To = "*", as_json: AsJson = False) -> None:
    """Offer a data set to another workspace, without one to everybody.

    Members there may subscribe to it and read it in jobs; they change nothing. Prints its name and to whom it is
    offered.
    """
    _tell_offers(client().datasets.offer(dataset, workspace), as_json)


def withdraw(dataset: Offered, workspace: To = "*", as_json: AsJson = False) -> None:
    """Take an offer back.

    Who subscribed sees nothing of it any more; running jobs keep it, queued jobs fail when they start. Prints its
    name and to whom it is still offered.
    """
    _tell_offers(client().datasets.withdraw(dataset, workspace), as_json)


def beyond(found: "answers.DatasetDetail") -> list[tuple[str, str]]:
    """Return what is to be shown of a data set's life in other workspaces, as key and value."""

    def named(some: "list[answers.TakenName]") -> str:
        return ", ".join(f"{one.workspace}/{one.name}" for one in some)

    shown = (
        (words("offered to", "发布给"), _offered_to(found)),
        (words("subscribed by", "订阅方"), named(found.subscribers)),
        (words("subscribed as", "订阅名称"), named(found.taken)),
    )
    return [(key, value) for key, value in shown if value]


def _offered_to(found: "answers.DatasetDetail") -> str:
    return ", ".join(words("everybody", "所有人") if one == "*" else one for one in found.offers)


def _tell_offers(found: "answers.DatasetDetail", as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    if as_json:
        emit_json(found)
        return
    to = _offered_to(found) or words("nobody", "无")
    print(visible(f"{found.name}  {words('offered to', '发布给')} {to}"))


def published(query: Query = "", workspace: OwnWorkspace = "", limit: Limit = 50, as_json: AsJson = False) -> None:
    """List data sets that other workspaces offer to yours, what was changed last first.

    Prints a line for each: name, newest version, files, size, owner, workspace that it is from, name under which yours
    subscribes to it, description.
    """
    from trainmaster.cli.commands.download import amount
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    server = client()
    found = server.datasets.published(workspace_of(server, workspace), query, limit=limit or None)
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("data set", "数据集"), least=12),
        column(words("latest", "最新版本"), right=True),
        column(words("files", "文件数"), right=True, leaves=1),
        column(words("size", "大小"), right=True),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("from", "来源"), least=6),
        column(words("subscribed as", "订阅名称"), least=6),
        column(words("description", "描述"), least=12, leaves=4),
    )
    rows = [
        (
            one.name,
            one.latest or "-",
            one.files,
            amount(one.size_bytes),
            one.owner,
            one.workspace,
            one.taken_as or "-",
            one.description or "-",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("Nothing is published.", "没有已发布的数据集。"))


def subscribe(
    dataset: Annotated[
        str,
        typer.Argument(metavar="NAME", help=words("Name or id of what is published.", "已发布数据集的名称或 ID。")),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help=words("What it is to be called here.", "在此工作空间中的名称。"),
            show_default=words("its own name", "原名称"),
        ),
    ] = None,
    workspace: OwnWorkspace = "",
    as_json: AsJson = False,
) -> None:
    """Subscribe to a data set that another workspace offers.

    Members of the workspace find it there under this name from then on, and may give it to jobs. Prints the name and
    where it is from.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    place = workspace_of(server, workspace)
    found = _meant(server, place, dataset)
    made = server.datasets.subscribe(found.id, place, name or found.name)
    if as_json:
        emit_json(made)
        return
    print(visible(f"{made.name}  {words('subscribed from', '已订阅，来自')} {made.source}/{made.called}"))


def _meant(server: "Client", workspace: str, ref: str) -> "answers.PublishedView":
    """Return what is published under a name or an id. Raises NotFound, Conflict where several are."""
    from trainmaster.core.errors import Conflict, NotFound
    from trainmaster.messages.assets import datasets, subscriptions

    found = [one for one in server.datasets.published(workspace, ref) if ref in (one.id, one.name)]
    if not found:
        raise NotFound(subscriptions.not_offered(ref, workspace))
    if len(found) > 1:
        raise Conflict(datasets.several_datasets(ref, ", ".join(one.id[:12] for one in found)))
    return found[0]


def subscriptions(workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """List what a workspace subscribes to.

    Prints a line for each: name, newest version, where it is from, owner, who subscribed and when; - where it is not
    offered any more.
    """
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    server = client()
    found = server.datasets.subscriptions(workspace_of(server, workspace))
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("data set", "数据集"), least=12),
        column(words("latest", "最新版本"), right=True),
        column(words("from", "来源"), least=12),
        column(words("owner", "所有者"), least=6),
        column(words("by", "订阅者"), least=6, leaves=1),
        column(words("since", "订阅时间"), leaves=2),
    )
    rows = [
        (
            one.name,
            one.latest or "-",
            f"{one.source}/{one.called}" if one.called else "-",
            one.owner or "-",
            one.by,
            clock(one.at),
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No subscriptions.", "没有订阅。"))


def unsubscribe(name: TakenName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
    """End a subscription.

    Running jobs keep the data set; queued jobs fail when they start. Prints the name.
    """
    from trainmaster.cli.showing.console import emit_json

    server = client()
    place = workspace_of(server, workspace)
    server.datasets.unsubscribe(place, name)
    if as_json:
        emit_json({"kind": "subscription", "name": name, "workspace": place, "deleted": True})
        return
    print(f"{visible(name)}  {words('no longer subscribed', '已取消订阅')}")
