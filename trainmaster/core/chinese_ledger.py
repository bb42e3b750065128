"""The Chinese of what is said of the ledger, its damage and its clock: a part of the table of `core.chinese`. Pure."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
LEDGER: Final[dict[str, str]] = {
    # --- the database fails
    "The database does not answer": "数据库没有响应",
    "Try again in a moment: the server goes on by itself once the database answers. Its log says why it does not.": "请稍后再试：数据库恢复后服务器会自动继续。原因见服务器日志。",
    "The ledger is damaged here and cannot be read": "账本的这一部分已损坏，无法读取",
    "An administrator runs: trainmaster doctor. It says what is damaged and what can be done.": "请管理员运行：trainmaster doctor。它会说明哪里损坏以及如何处理。",
    "The ledger cannot be read right now": "暂时无法读取账本",
    "Try again in a moment. The server's log says why; trainmaster doctor checks the database.": "请稍后再试。原因见服务器日志；trainmaster doctor 可检查数据库。",
}
