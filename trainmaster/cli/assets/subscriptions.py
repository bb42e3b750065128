"""What workspaces pass on to each other, beneath `tm dataset`, `tm algorithm`, `tm image` and `tm template`: offered to
others, and taken in there. Each kind has the same commands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Limit, OwnWorkspace, client, workspace_of
from trainmaster.cli.helping import add
from trainmaster.cli.language import words
from trainmaster.cli.listing import Query
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.assets.subscriptions import PassingOn
    from trainmaster.sdk.client import Client

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
TakenAs = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="NAME",
        help=words("What it is to be called here.", "在此工作空间中的名称。"),
        show_default=words("its own name", "原名称"),
    ),
]


LEAST: Final = 4
"""Characters that the beginning of an id has at least."""


@dataclass(frozen=True, slots=True)
class PassedNoun:
    """A kind that is passed on: its noun on the command line and what it is called in English (with its article) and
    Chinese, a name for the examples, what jobs keep of it (in both languages), whether it has files. `lacks`: returns
    what speaks against a job of one (its id) in a workspace.
    """

    noun: str
    en: str
    zh: str
    example: str
    keeps: tuple[str, str]
    completes: Callable[..., Any]
    sized: bool = False
    lacks: "Callable[[Client, str, str], Sequence[str]] | None" = None

    @property
    def one(self) -> str:
        """What it is called, without an article."""
        return self.en.partition(" ")[2]

    def calls(self, server: "Client") -> "PassingOn[Any]":
        """Return what the SDK does with it."""
        found: PassingOn[Any] = getattr(server, f"{self.noun}s")
        return found


_IN_USE: Final = (
    "Running jobs keep it, queued jobs fail when they start.",
    "正在运行的任务不受影响，排队中的任务将在启动时失败。",
)
DATASET: Final = PassedNoun("dataset", "a data set", "数据集", "flowers", _IN_USE, completing.datasets, sized=True)
IMAGE: Final = PassedNoun("image", "an image", "镜像", "torch", _IN_USE, completing.images, sized=True)
ALGORITHM: Final = PassedNoun(
    "algorithm",
    "an algorithm",
    "算法",
    "mnist",
    ("Jobs that were submitted keep what they have of it.", "已提交的任务不受影响。"),
    completing.algorithms,
)


def lacking(server: "Client", template: str, workspace: str) -> list[str]:
    """Return what speaks against a job of a template (its id) in a workspace, a line for each: names mean there what
    they mean there.
    """
    spec = {**server.templates.get(template).spec, "workspace": workspace}
    return [f"{one.path}: {one.rule}" for one in server.preview(spec).problems]


TEMPLATE: Final = PassedNoun(
    "template",
    "a template",
    "模板",
    "resnet",
    ("Jobs that were made of it stay.", "已由其提交的任务不受影响。"),
    completing.templates,
    lacks=lacking,
)


def add_subscriptions(part: typer.Typer, kind: PassedNoun) -> None:
    """Add the commands to those of a kind."""
    typed, zh, (_, keeps) = f"tm {kind.noun}", kind.zh, kind.keeps
    add(
        part,
        _offer(kind),
        f"将{zh}发布给其他工作空间；不指定工作空间则发布给所有人。\n\n"
        "对方的成员可以订阅并在任务中使用，不能修改。输出名称和发布对象。",
        f"{typed} offer {kind.example} speech",
        f"{typed} offer {kind.example}",
        name="offer",
    )
    add(
        part,
        _withdraw(kind),
        f"撤回发布。\n\n订阅者不能再看到它；{keeps}输出名称和其余的发布对象。",
        f"{typed} withdraw {kind.example} speech",
        name="withdraw",
    )
    sizes = "文件数、大小、" if kind.sized else ""
    add(
        part,
        _published(kind),
        f"列出其他工作空间向您的工作空间发布的{zh}，最近修改的在前。\n\n"
        f"每行一个：名称、最新版本、{sizes}所有者、来自哪个工作空间、订阅名称、描述。",
        f"{typed} published",
        f"{typed} published {kind.example} --workspace speech",
        name="published",
    )
    lacking = "该工作空间缺少任务所需的内容时，逐行列出。" if kind.lacks is not None else ""
    add(
        part,
        _subscribe(kind),
        f"订阅一个已发布的{zh}。\n\n此后工作空间的成员可以用该名称查看和使用它。输出名称和来源。{lacking}",
        f"{typed} subscribe {kind.example}",
        f"{typed} subscribe {kind.example} --as other --workspace speech",
        name="subscribe",
    )
    add(
        part,
        _subscriptions(kind),
        f"列出工作空间订阅的{zh}。\n\n每行一个：名称、最新版本、来源、所有者、订阅者、订阅时间；不再发布的显示“-”。",
        f"{typed} subscriptions --workspace speech",
        name="subscriptions",
    )
    add(
        part,
        _unsubscribe(kind),
        f"取消订阅。\n\n{keeps}输出名称。",
        f"{typed} unsubscribe other",
        name="unsubscribe",
    )


def _offer(kind: PassedNoun) -> Callable[..., None]:
    def offer(thing: _named(kind), workspace: To = "*", as_json: AsJson = False) -> None:  # type: ignore[valid-type]
        _tell_offers(kind.calls(client()).offer(thing, workspace), as_json)

    offer.__doc__ = f"""Offer {kind.en} to another workspace, without one to everybody.

    Members there may subscribe to it and use it in jobs; they change nothing. Prints its name and to whom it is
    offered.
    """
    return offer


def _withdraw(kind: PassedNoun) -> Callable[..., None]:
    def withdraw(thing: _named(kind), workspace: To = "*", as_json: AsJson = False) -> None:  # type: ignore[valid-type]
        _tell_offers(kind.calls(client()).withdraw(thing, workspace), as_json)

    withdraw.__doc__ = f"""Take an offer back.

    Who subscribed sees nothing of it any more. {kind.keeps[0]} Prints its name and to whom it is still offered.
    """
    return withdraw


def _named(kind: PassedNoun) -> Any:
    help_ = words(f"Name or id of the {kind.one}.", f"{kind.zh}的名称或 ID。")
    return Annotated[str, typer.Argument(metavar="NAME", help=help_, autocompletion=kind.completes)]


def beyond(found: Any) -> list[tuple[str, str]]:
    """Return what is to be shown of something's life in other workspaces, as key and value; `found`: its detail."""

    def named(some: "list[answers.TakenName]") -> str:
        return ", ".join(f"{one.workspace}/{one.name}" for one in some)

    shown = (
        (words("offered to", "发布给"), _offered_to(found)),
        (words("subscribed by", "订阅方"), named(found.subscribers)),
        (words("subscribed as", "订阅名称"), named(found.taken)),
    )
    return [(key, value) for key, value in shown if value]


def _offered_to(found: Any) -> str:
    return ", ".join(words("everybody", "所有人") if one == "*" else one for one in found.offers)


def _tell_offers(found: Any, as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    if as_json:
        emit_json(found)
        return
    to = _offered_to(found) or words("nobody", "无")
    print(visible(f"{found.name}  {words('offered to', '发布给')} {to}"))


def _published(kind: PassedNoun) -> Callable[..., None]:
    def published(query: Query = "", workspace: OwnWorkspace = "", limit: Limit = 50, as_json: AsJson = False) -> None:
        from trainmaster.cli.showing.console import emit_json

        server = client()
        found = kind.calls(server).published(workspace_of(server, workspace), query, limit=limit or None)
        emit_json(found) if as_json else _show_published(kind, found)

    sizes = "files, size, " if kind.sized else ""
    published.__doc__ = f"""List {kind.one}s that other workspaces offer to yours, what was changed last first.

    Prints a line for each: name, newest version, {sizes}owner, workspace that it is from, name under which yours
    subscribes to it, description.
    """
    return published


def _show_published(kind: PassedNoun, found: "list[answers.PublishedView]") -> None:
    from trainmaster.cli.commands.download import amount
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    sized = (
        column(words("files", "文件数"), right=True, leaves=1),
        column(words("size", "大小"), right=True),
    )
    columns = (
        column(words(kind.one, kind.zh), least=12),
        column(words("latest", "最新版本"), right=True),
        *(sized if kind.sized else ()),
        column(words("owner", "所有者"), least=6, leaves=2),
        column(words("from", "来源"), least=6),
        column(words("subscribed as", "订阅名称"), least=6),
        column(words("description", "描述"), least=12, leaves=4),
    )
    rows = [
        (
            one.name,
            one.latest or "-",
            *((one.files, amount(one.size_bytes)) if kind.sized else ()),
            one.owner,
            one.workspace,
            one.taken_as or "-",
            one.description or "-",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("Nothing is published.", f"没有已发布的{kind.zh}。"))


def _subscribe(kind: PassedNoun) -> Callable[..., None]:
    help_ = words("Name or id of what is published.", f"已发布{kind.zh}的名称或 ID。")

    def subscribe(
        thing: Annotated[str, typer.Argument(metavar="NAME", help=help_)],
        name: TakenAs = None,
        workspace: OwnWorkspace = "",
        as_json: AsJson = False,
    ) -> None:
        from trainmaster.cli.showing.console import emit_json

        server = client()
        place = workspace_of(server, workspace)
        found = meant(kind, server, place, thing)
        made = kind.calls(server).subscribe(found.id, place, name or found.name)
        if as_json:
            emit_json(made)
            return
        print(visible(f"{made.name}  {words('subscribed from', '已订阅，来自')} {made.source}/{made.called}"))
        for line in kind.lacks(server, made.asset, place) if kind.lacks is not None else ():
            print(f"  {visible(line)}")

    lacks = " Where the workspace lacks something that its jobs need, a line for each." if kind.lacks else ""
    subscribe.__doc__ = f"""Subscribe to {kind.en} that another workspace offers.

    Members of the workspace find it there under this name from then on, and may use it in jobs. Prints the name and
    where it is from.{lacks}
    """
    return subscribe


def meant(kind: PassedNoun, server: "Client", workspace: str, ref: str) -> "answers.PublishedView":
    """Return what is published under a name or an id, or the one whose id begins so. Raises NotFound, Conflict where
    several are meant.
    """
    from trainmaster.core.errors import Conflict, NotFound
    from trainmaster.messages.assets import subscriptions

    near = kind.calls(server).published(workspace, ref)
    found = [one for one in near if ref in (one.id, one.name)]
    if not found and len(ref) >= LEAST:
        found = [one for one in near if one.id.startswith(ref)]
    if not found:
        raise NotFound(subscriptions.not_offered(ref, workspace, kind.noun))
    if len(found) > 1:
        raise Conflict(subscriptions.several_published(ref, ", ".join(one.id[:12] for one in found)))
    return found[0]


def _subscriptions(kind: PassedNoun) -> Callable[..., None]:
    def subscriptions(workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
        from trainmaster.cli.showing.console import emit_json

        server = client()
        found = kind.calls(server).subscriptions(workspace_of(server, workspace))
        emit_json(found) if as_json else _show_subscriptions(kind, found)

    subscriptions.__doc__ = f"""List the {kind.one}s that a workspace subscribes to.

    Prints a line for each: name, newest version, where it is from, owner, who subscribed and when; - where it is not
    offered any more.
    """
    return subscriptions


def _show_subscriptions(kind: PassedNoun, found: "list[answers.SubscriptionView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    columns = (
        column(words(kind.one, kind.zh), least=12),
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


def _unsubscribe(kind: PassedNoun) -> Callable[..., None]:
    def unsubscribe(name: TakenName, workspace: OwnWorkspace = "", as_json: AsJson = False) -> None:
        from trainmaster.cli.showing.console import emit_json

        server = client()
        place = workspace_of(server, workspace)
        kind.calls(server).unsubscribe(place, name)
        if as_json:
            emit_json({"kind": "subscription", "name": name, "workspace": place, "deleted": True})
            return
        print(f"{visible(name)}  {words('no longer subscribed', '已取消订阅')}")

    unsubscribe.__doc__ = f"""End a subscription to {kind.en}.

    {kind.keeps[0]} Prints the name.
    """
    return unsubscribe
