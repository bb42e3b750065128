"""Balances of workspaces: how they stand, credits and corrections, credit limits and budgets."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import AsJson, Limit, client
from trainmaster.cli.helping import CLUSTER, add, group
from trainmaster.cli.language import money as amount
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster import answers

Name = Annotated[
    str,
    typer.Argument(
        metavar="WORKSPACE", help=words("The workspace.", "工作空间。"), autocompletion=completing.workspaces
    ),
]
Money = Annotated[str, typer.Argument(metavar="AMOUNT", help=words("For example 1000 or 12.50.", "例如 1000、12.50。"))]
NONE = "none"
NEGATIVE: Final = {"ignore_unknown_options": True}
"""What begins with - and is no option is an amount."""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    part = group(
        app,
        "balance",
        "Balances, credits and budgets of workspaces.",
        "工作空间的余额、充值与预算。",
        CLUSTER,
    )
    add(
        part,
        list_balances,
        "列出所在工作空间的余额与预算。\n\n每行一个：余额、运行中任务的费用、预留、可用、本月支出、预算。",
        "tm balance list",
        name="list",
    )
    add(
        part,
        show_balance,
        "显示一个工作空间的余额，以及使其变化的条目，最新的在前。\n\n每行一个条目：时间、种类、金额、用户、说明。",
        "tm balance show vision",
        name="show",
    )
    add(
        part,
        credit,
        "为工作空间充值；负数用于收回，须说明原因。仅限管理员。\n\n输出充值后的余额。",
        'tm balance credit vision 1000 --note "Q4"',
        'tm balance credit vision -1000 --note "entered twice"',
        settings=NEGATIVE,
    )
    add(
        part,
        correct,
        "更正工作空间的用量费用：正数退还，负数补扣，计入本月支出；原有条目不变。仅限管理员。\n\n输出更正后的余额。",
        'tm balance correct vision 12.50 --note "node-3 failed"',
        settings=NEGATIVE,
    )
    add(
        part,
        set_budget,
        "设置工作空间的信用额度、每月预算和提醒百分比；未指定的保持不变，none 表示不设。仅限管理员。\n\n"
        "输出余额、信用额度和预算。",
        "tm balance set vision --credit-limit 0 --budget 5000 --alarm 50 --alarm 90",
        name="set",
    )


def list_balances(as_json: AsJson = False) -> None:
    """List how the workspaces stand that you are in.

    Prints a line for each: balance, cost of what runs, set aside, available, spent this month, budget.
    """
    from trainmaster.cli.showing.console import emit_json

    found = client().money.balances()
    emit_json(found) if as_json else _table(found)


def _table(found: "list[answers.BalanceView]") -> None:
    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.tables import Cell, column

    currency = found[0].currency if found else ""
    columns = (
        column(words("workspace", "工作空间"), least=8),
        column(words(f"balance ({currency})", f"余额（{currency}）"), right=True),
        column(words("running", "运行中"), right=True, leaves=2),
        column(words("set aside", "预留"), right=True, leaves=1),
        column(words("available", "可用"), right=True),
        column(words("spent this month", "本月支出"), right=True),
        column(words("budget", "预算"), right=True),
    )
    any_amount = words("no limit", "不限")
    rows = [
        (
            one.workspace,
            Cell(amount(one.balance), "bad" if one.in_arrears else ""),
            amount(one.running),
            amount(one.reserved),
            any_amount if one.available is None else amount(one.available),
            amount(one.spent),
            amount(one.budget) if one.budget else "",
        )
        for one in found
    ]
    tables.show(columns, rows) if rows else print(words("No workspaces.", "没有工作空间。"))


def show_balance(name: Name, limit: Limit = 20, as_json: AsJson = False) -> None:
    """Show how a workspace stands, and what changed its balance, newest first.

    Prints the balance, then a line for each entry: when, kind, amount, who, what for.
    """
    from itertools import islice

    from trainmaster.cli.showing import tables
    from trainmaster.cli.showing.console import emit_json
    from trainmaster.cli.showing.tables import column
    from trainmaster.cli.showing.waiting import clock

    money = client().money
    one = money.balance(name)
    entries = list(islice(money.entries(name), limit or None))
    if as_json:
        emit_json({"balance": one, "entries": entries})
        return
    _table([one])
    if not entries:
        return
    print()
    columns = (
        column(words("when", "时间")),
        column(words("kind", "种类")),
        column(words("amount", "金额"), right=True),
        column(words("who", "用户"), least=6),
        column(words("for", "说明"), least=16, wraps=True),
    )
    tables.show(
        columns,
        [
            (clock(entry.at), _kind(entry.kind), amount(entry.amount), entry.by or entry.owner, _for(entry))
            for entry in entries
        ],
    )


def _kind(kind: str) -> str:
    return {
        "use": words("use", "用量"),
        "credit": words("credit", "充值"),
        "correction": words("correction", "更正"),
        "closing": words("closing", "结清"),
    }.get(kind, kind)


def _for(entry: "answers.EntryView") -> str:
    if entry.job is None:
        return entry.note
    seconds = entry.until - entry.since
    used = f"{entry.machines} x {entry.flavor or entry.pool}, {seconds:.3f} s, {entry.price}/h"
    return f"{entry.job[:8]}  {used}"


Note = Annotated[str, typer.Option(help=words("What it is for.", "说明。"))]


def credit(name: Name, amount: Money, note: Note = "", as_json: AsJson = False) -> None:
    """Enter a credit for a workspace; less than 0 takes one back and needs a note. For administrators.

    Prints the balance after it.
    """
    client().money.credit(name, amount, note)
    _print_balance(name, as_json)


def correct(
    name: Name,
    amount: Money,
    note: Annotated[str, typer.Option(help=words("Why; must be said.", "原因，必须填写。"))] = "",
    as_json: AsJson = False,
) -> None:
    """Give back (more than 0) or charge what use cost, as spent this month. For administrators.

    Prints the balance after it.
    """
    client().money.correct(name, amount, note)
    _print_balance(name, as_json)


def set_budget(
    name: Name,
    credit_limit: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT|none",
            help=words(
                "How far the balance may go below 0; none: however far.", "余额最多可低于 0 多少；none 表示不限。"
            ),
            show_default=words("unchanged, or none", "不变，或 none"),
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT|none",
            help=words("Budget of a month; it stops nothing.", "每月预算；超出时只提醒，不停止任务。"),
            show_default=words("unchanged, or none", "不变，或 none"),
        ),
    ] = None,
    alarms: Annotated[
        list[int] | None,
        typer.Option(
            "--alarm",
            metavar="PERCENT",
            min=1,
            max=1000,
            help=words("Tell when so much of it is spent; repeatable.", "支出达到预算的百分之多少时提醒；可重复。"),
            show_default=words("unchanged, or 80 and 100", "不变，或 80 与 100"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set credit limit, budget and alarms of a workspace; what is not named stays. For administrators.

    Prints balance, credit limit and budget.
    """
    money = client().money
    known = money.balance(name)
    money.set_budget(
        name,
        credit_limit=_given(credit_limit, known.credit_limit),
        budget=_given(budget, known.budget),
        alarms=known.alarms if alarms is None else alarms,
    )
    _print_balance(name, as_json)


def _given(text: str | None, known: str | None) -> str | None:
    if text is None:
        return known
    return None if text == NONE else text


def _print_balance(name: str, as_json: bool) -> None:
    from trainmaster.cli.showing.console import emit_json

    one = client().money.balance(name)
    if as_json:
        emit_json(one)
        return
    none = words("none", "无")
    limit, budget = (none if of is None else amount(of) for of in (one.credit_limit, one.budget))
    said = words(
        f"balance {amount(one.balance)} {one.currency}  credit limit {limit}  budget {budget}",
        f"余额 {amount(one.balance)} {one.currency}  信用额度 {limit}  预算 {budget}",
    )
    print(f"{one.workspace}  {said}")
