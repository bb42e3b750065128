"""Saved views: lists of jobs under a name, shared with the console: `tm view`, and the options of `tm list`."""

import re
from typing import TYPE_CHECKING, Annotated, cast

import typer

from trainmaster.cli import completing
from trainmaster.cli.commands.jobs import (
    NEWEST,
    Algorithm,
    Favorite,
    FavoriteAlgorithm,
    FlavorName,
    Framework,
    Label,
    Mine,
    Node,
    Output,
    Owner,
    Pool,
    Sort,
    States,
    Workspace,
)
from trainmaster.cli.context import AsJson, client, removed, seconds
from trainmaster.cli.helping import JOBS, add, group
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster.sdk.finding.views import ViewAsked

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help=words("Its name, as tm view list shows it.", "视图名称，见 tm view list。"),
        autocompletion=completing.views,
    ),
]
ShareWith = Annotated[
    str,
    typer.Option(
        metavar="WORKSPACE",
        help=words("Let the members of this workspace use it, too.", "让该工作空间的成员也能使用。"),
        show_default=words("nobody", "不共享"),
        autocompletion=completing.workspaces,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    view = group(app, "view", "Saved views: lists of jobs under a name.", "视图：以名称保存的任务列表。", JOBS)
    add(
        view,
        list_views,
        "列出视图：先是自己的，再是共享给所在工作空间的。\n\n每行一个：名称、所有者、共享给哪个工作空间、筛选条件。",
        "tm view list",
        name="list",
    )
    add(
        view,
        save_view,
        "把筛选条件和排序保存为视图；已有同名视图时替换它。\n\n"
        "选项与 tm list 相同。输出名称和筛选条件。用法：tm list --view NAME",
        "tm view save failures --state failed --since 7d",
        "tm view save paper --tag paper --sort runtime --share-with vision",
        name="save",
    )
    add(view, delete_view, "删除自己的视图。\n\n输出已删除的名称。", "tm view delete failures", name="delete")


def list_views(as_json: AsJson = False) -> None:
    """List views: yours, then those that are shared with your workspaces.

    Prints a line for each: name, owner, the workspace that it is shared with, and what it asks for.
    """
    from urllib.parse import unquote_plus

    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column

    found = client().views.list()
    if as_json:
        emit_json(found)
        return
    columns = (
        column(words("name", "名称")),
        column(words("owner", "所有者")),
        column(words("shared with", "共享给")),
        column(words("asks for", "筛选条件"), least=20, wraps=True),
    )
    rows = [(one.name, one.owner, one.workspace or "-", unquote_plus(one.query).replace("&", "  ")) for one in found]
    tables.show(columns, rows) if rows else print(words("No views.", "没有视图。"))


def save_view(  # noqa: PLR0913, PLR0917 - every option is a parameter
    name: Annotated[str, typer.Argument(metavar="NAME", help=words("What it is called.", "视图名称。"))],
    search: Annotated[str, typer.Option(metavar="TEXT", help=words("Words to look for.", "要查找的文字。"))] = "",
    mine: Mine = False,
    state: States = None,
    owner: Owner = "",
    workspace: Workspace = "",
    pool: Pool = "",
    framework: Framework = "",
    node: Node = "",
    label: Label = None,
    tag: Annotated[
        str, typer.Option(metavar="TAG", help=words("Only jobs with this tag.", "只列带该标记的任务。"))
    ] = "",
    favorite: Favorite = False,
    algorithm: Algorithm = "",
    favorite_algorithm: FavoriteAlgorithm = False,
    flavor: FlavorName = "",
    output: Output = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help=words(
                "Submitted since: 7d (so long ago) or 2026-03-01.", "在此之后提交：7d（多久以前）或 2026-03-01。"
            ),
        ),
    ] = "",
    until: Annotated[
        str,
        typer.Option(
            metavar="DAY",
            help=words("Submitted until the end of a day: 2026-03-31.", "在此日结束前提交：2026-03-31。"),
        ),
    ] = "",
    sort: Sort = NEWEST,
    reverse: Annotated[bool, typer.Option("--reverse", help=words("The other way round.", "反向排序。"))] = False,
    share_with: ShareWith = "",
    as_json: AsJson = False,
) -> None:
    """Save filters and an order as a view, instead of yours of this name.

    The options are those of tm list. Prints the name and what it asks for. Use it: tm list --view NAME
    """
    from trainmaster.cli.commands.jobs import order_of
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.core.formats.terminal import visible

    given = {
        "q": " ".join([*filter(None, [search]), *(f"label:{one}" for one in label or ())]),
        "who": "mine" if mine else "all",
        "state": [one.lower() for one in state or ()], "owner": owner, "workspace": workspace, "pool": pool,
        "framework": framework, "node": node, "tag": tag, "favorite": favorite,
        "algorithm": algorithm, "favorite_algorithm": favorite_algorithm, "flavor": flavor, "output": output,
        "since": _since(since), "until": _until(until), "order": order_of(sort, reverse),
    }  # fmt: skip
    saved = client().views.save(name, share_with=share_with or None, **cast("ViewAsked", given))
    emit_json(saved) if as_json else print(f"{visible(saved.name)}  {saved.query}")


def delete_view(name: Name, as_json: AsJson = False) -> None:
    """Delete a view of yours.

    Prints the name that was deleted.
    """
    client().views.delete(name)
    removed("view", name, as_json)


def _since(text: str) -> str:
    """Return how far back, or a day. Exits with a message for anything else."""
    if text and not _DAY.fullmatch(text):
        seconds(text)
    return text


def _until(text: str) -> str:
    if text and not _DAY.fullmatch(text):
        raise typer.BadParameter(
            words(
                f"until takes a day, such as 2026-03-31, not {text!r}",
                f"until 应为日期，例如 2026-03-31，而不是 {text!r}",
            )
        )
    return text
