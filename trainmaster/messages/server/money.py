"""What is said of money: amounts and prices, balances, budgets, and what use is charged."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said

# --- amounts

@say("{text} is not an amount of money", "{text} 不是金额", 'Write digits, if needed with a point and up to six digits behind it, as text: "12.50".', "请用文本写数字，小数点后最多六位，例如 \"12.50\"。")
def not_an_amount(text: str) -> Said: ...

@say("must be from {least} to {most}", "应在 {least} 至 {most} 之间", "Write an amount within these bounds.", "请填写此范围内的金额。")
def amount_out_of_range(least: str, most: str) -> Said: ...

@say("must be an amount of money written as text", "金额应写成文本", 'A number in JSON is not exact; write "12.50" instead of 12.50.', "JSON 数字不精确；请写 \"12.50\"，不要写 12.50。")
def amount_not_text() -> Said: ...

@say("must be a month written as YYYY-MM", "月份应写成 YYYY-MM", "For example 2026-11.", "例如 2026-11。")
def not_a_month() -> Said: ...

@say("This server has no time zone {name}", "此服务器没有时区 {name} 的数据", "Write UTC, or a name of the IANA database such as Asia/Shanghai; on a bare system install tzdata.", "请写 UTC，或 IANA 时区名，例如 Asia/Shanghai；精简系统需要先安装 tzdata。")
def not_a_time_zone(name: str) -> Said: ...

@say("must be one to eight letters", "应为 1 至 8 个字母", "For example CNY, EUR or USD.", "例如 CNY、EUR 或 USD。")
def not_a_currency() -> Said: ...

@say("The report cannot be made with these filters", "无法按这些条件生成报表", "Fix the fields listed.", "请修正列出的字段。")
def report_not_answerable() -> Said: ...


# --- balances

@say("Workspace {workspace} cannot pay for this job: it may cost up to {cost} {currency}, and {available} {currency} are available (balance {balance}, credit limit {limit}, set aside for jobs that are queued or running {reserved})", "工作空间 {workspace} 的余额不足：此任务最多需要 {cost} {currency}，可用 {available} {currency}（余额 {balance}，信用额度 {limit}，排队和运行中的任务已预留 {reserved}）", "Set a shorter time limit or a cheaper flavor, wait until other jobs have ended, or ask an administrator for credit.", "请缩短运行时限、选用更便宜的规格、等其他任务结束，或请管理员充值。")
def not_enough_balance(workspace: str, cost: str, currency: str, available: str, balance: str, limit: str, reserved: str) -> Said: ...

@say("Workspace {workspace} is in arrears: its balance of {balance} {currency} is below its credit limit of {limit} {currency}", "工作空间 {workspace} 已欠费：余额 {balance} {currency}，低于信用额度 {limit} {currency}", "Ask an administrator for credit, or submit in another workspace.", "请管理员充值，或在其他工作空间提交。")
def in_arrears(workspace: str, balance: str, currency: str, limit: str) -> Said: ...

@say("The entry cannot be stored", "无法保存该条目", "Fix the fields listed.", "请修正列出的字段。")
def entry_not_accepted() -> Said: ...

@say("must not be 0", "不能为 0", "Enter more than 0 to give, less than 0 to take back.", "正数表示增加，负数表示收回。")
def entry_of_nothing() -> Said: ...

@say("a correction, and a credit below 0, say why", "更正和负数充值必须说明原因", "Write the reason in note.", "请在 note 中写明原因。")
def entry_without_note() -> Said: ...

@say("This key was used for another entry", "此幂等键已用于另一条目", "Use a new key for a new entry.", "新条目请使用新的键。")
def entry_key_used() -> Said: ...

@say("must be whole percentages from 1 to 1000, at most {most} of them", "应为 1 至 1000 的整数百分比，最多 {most} 个", "For example 80 and 100.", "例如 80 和 100。")
def not_alarms(most: int) -> Said: ...


# --- what the audit is told

@say("Entered a credit of {amount} for workspace {workspace}", "为工作空间 {workspace} 充值 {amount}")
def credit_entered(workspace: str, amount: str) -> Said: ...

@say("Corrected the balance of workspace {workspace} by {amount}: {note}", "将工作空间 {workspace} 的余额更正 {amount}：{note}")
def balance_corrected(workspace: str, amount: str, note: str) -> Said: ...

@say("Set credit limit and budget of workspace {name}: {changes}", "设置了工作空间 {name} 的信用额度与预算：{changes}")
def budget_set(name: str, changes: list[Said]) -> Said: ...

@say("Removed credit limit and budget of workspace {name}", "取消了工作空间 {name} 的信用额度与预算")
def budget_removed(name: str) -> Said: ...

@say("Workspace {workspace} has spent {percent}% of its budget of {month}: {spent} of {budget}", "工作空间 {workspace} 在 {month} 已支出预算的 {percent}%：{spent}，预算 {budget}")
def budget_alarm(workspace: str, month: str, percent: int, spent: str, budget: str) -> Said: ...
