"""The Chinese of what is said of the ledger, its damage and its clock: a part of the table of `core.chinese`. Pure."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
LEDGER: Final[dict[str, str]] = {
    # --- what a home knows of its ledger
    "The ledger {path} is missing or empty, but this home has had one: {seq} events until {date}": "账本 {path} 不存在或为空，但此主目录曾有账本：截至 {date} 有 {seq} 条事件",
    "The ledger {path} is missing or empty, but there are folders of jobs in this home": "账本 {path} 不存在或为空，但此主目录中有任务文件夹",
    "Put it back, with its -wal file, or restore a backup. To begin with an empty one: {command}": "请将它连同其 -wal 文件放回，或恢复备份。若要从空账本开始：{command}",
    "The database holds another ledger than the one this home belongs to": "该数据库中的账本不是此主目录所属的账本",
    "Name the right database in config.toml, or restore it. To go on with this one: {command}": "请在 config.toml 中写入正确的数据库，或恢复它。若要继续使用此账本：{command}",
    "The ledger is behind: it ends at event {found}, and was at {marked} on {date}": "账本落后了：它止于事件 {found}，而在 {date} 时已到事件 {marked}",
    "The file, or the -wal beside it, was lost, cut or replaced by an older copy: put the newest one back. To forget what came after event {found}: {command}": "该文件或其旁的 -wal 已丢失、被截断或被较旧的副本替换：请放回最新的文件。若要放弃事件 {found} 之后的内容：{command}",
    # --- what is damaged in it
    "Event {number} of this job can no longer be read": "此任务的事件 {number} 已无法读取",
    "The document of this job can no longer be read; it cannot be started or copied": "此任务的文档已无法读取；不能启动或克隆它",
    "{count} earlier attempts of this job can no longer be read": "此任务有 {count} 次较早的尝试已无法读取",
    "The ledger holds no document {digest} that can be read": "账本中没有可读取的文档 {digest}",
    "It was lost or damaged. The job cannot be started or copied; submit it from its file.": "它已丢失或损坏。任务无法启动或克隆；请从其文件重新提交。",
    "What was answered to the first request with this key can no longer be read": "对使用此键的首个请求的答复已无法读取",
    "Look for its job in the list of jobs; if there is none, send the request with another key.": "请在任务列表中查找其任务；如果没有，请换一个键发送请求。",
    # --- the database fails
    "The database does not answer": "数据库没有响应",
    "Try again in a moment: the server goes on by itself once the database answers. Its log says why it does not.": "请稍后再试：数据库恢复后服务器会自动继续。原因见服务器日志。",
    "The ledger is damaged here and cannot be read": "账本的这一部分已损坏，无法读取",
    "An administrator runs: trainmaster doctor. It says what is damaged and what can be done.": "请管理员运行：trainmaster doctor。它会说明哪里损坏以及如何处理。",
    "The ledger cannot be read right now": "暂时无法读取账本",
    "Try again in a moment. The server's log says why; trainmaster doctor checks the database.": "请稍后再试。原因见服务器日志；trainmaster doctor 可检查数据库。",
}
