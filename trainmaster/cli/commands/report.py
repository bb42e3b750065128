"""What was used in a month, and what it cost."""

from typing import TYPE_CHECKING, Annotated

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, client
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.language import money, words

if TYPE_CHECKING:
    from trainmaster import answers


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        report,
        "显示某月的用量与费用，按工作空间、用户和规格列出。\n\n每行一个：工作空间、用户、规格、机时、加速卡时、金额；"
        "末行为合计。只能看到自己的用量，工作空间的所有者和管理员可看到整个工作空间，平台管理员可看到全部。",
        "tm report",
        "tm report --month 2026-11 --csv > usage.csv",
        panel=SERVER,
    )


def report(
    month: Annotated[
        str,
        typer.Option(
            metavar="YYYY-MM",
            help=words("The month, in the server's time zone.", "月份，按服务器设定的时区。"),
            show_default=words("this month", "本月"),
        ),
    ] = "",
    workspace: Annotated[
        str,
        typer.Option(
            "--workspace",
            "-w",
            help=words("Only of this workspace.", "只看此工作空间。"),
            show_default=words("all", "全部"),
            autocompletion=completing.workspaces,
        ),
    ] = "",
    owner: Annotated[
        str,
        typer.Option(
            help=words("Only of this person.", "只看此用户。"),
            show_default=words("all", "全部"),
            autocompletion=completing.users,
        ),
    ] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help=words("Print CSV.", "输出 CSV。"))] = False,
    as_json: AsJson = False,
) -> None:
    """Show what was used in a month and what it cost, by workspace, person and flavor.

    Prints a line for each: workspace, person, flavor, replica hours, GPU hours, and the amount where
    something has a price; the last line is the sum. One sees one's own use, a workspace's owners and admins all of it,
    administrators everything.
    """
    from trainmaster.cli.showing.console import emit_json

    if as_csv:
        print(client().money.report_csv(month, workspace=workspace, owner=owner), end="")
        return
    found = client().money.report(month, workspace=workspace, owner=owner)
    emit_json(found) if as_json else _show(found)


def _show(found: "answers.UsageReport") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import column

    zone = f"{found.month} ({found.time_zone})"
    if not found.lines:
        print(words(f"Nothing was used in {zone}.", f"{zone} 没有用量。"))
        return
    columns = (
        column(words("workspace", "工作空间"), least=8),
        column(words("person", "用户"), least=8),
        column(words("flavor", "规格"), least=8),
        column(words("replica hours", "机时"), right=True),
        column(words("GPU hours", "加速卡时"), right=True),
        column(words(f"amount ({found.currency})", f"金额（{found.currency}）"), right=True),
    )
    shown = len(columns) if found.priced else -1  # nothing is known of money: no column of zeros
    rows = [
        (one.workspace, one.owner, one.flavor, _hours(one.machine_s), _hours(one.gpu_s), money(one.amount))
        for one in found.lines
    ]
    total = words("all", "合计"), "", "", _hours(found.machine_s), _hours(found.gpu_s), money(found.amount)
    tables.show(columns[:shown], [row[:shown] for row in (*rows, total)], title=zone)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.3f}"
