"""What is said of secrets of workspaces. Never a value."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said


@say("The secret cannot be stored: {count:problem|problems}", "无法保存密钥：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def secret_not_accepted(count: Count) -> Said: ...

@say("A secret's name is that of a variable: letters, digits and _, at most {most} characters, not a digit first", "密钥名称与变量名规则相同：字母、数字和 _，最多 {most} 个字符，不能以数字开头", "Change the name.", "请修改名称。")
def bad_secret_name(most: int) -> Said: ...

@say("must have at least {least} characters: shorter ones cannot be kept out of logs", "至少应有 {least} 个字符：更短的值无法在日志中屏蔽", "Use a longer value.", "请使用更长的值。")
def secret_too_short(least: int) -> Said: ...

@say("must have at most {most} bytes", "最多 {most} 字节", "Put it on the nodes, and give jobs its path.", "请把它放到节点上，并把路径提供给任务。")
def secret_too_long(most: int) -> Said: ...

@say("must be text without null characters", "应为不含空字符的文本", "Encode it, for example with base64.", "请先编码，例如使用 base64。")
def secret_not_text() -> Said: ...

@say("The workspace has {count:secret|secrets} already, which is the most", "工作空间已有 {count} 个密钥，达到上限", "Delete one first.", "请先删除一个。")
def too_many_secrets(count: Count) -> Said: ...

@say("There is no secret {name} in workspace {workspace}", "工作空间 {workspace} 中没有密钥 {name}", "See which there are: tm secret list --workspace {workspace}", "用 tm secret list --workspace {workspace} 查看现有密钥。")
def no_such_secret(name: str, workspace: str) -> Said: ...

@say("The server cannot read its key for secrets: {why}", "服务器无法读取用于密钥的主密钥：{why}", "An administrator puts the file secrets/workspace-keys of the home in order.", "请由管理员修复平台目录中的 secrets/workspace-keys 文件。")
def key_not_readable(why: str | Said) -> Said: ...

@say("The server cannot read its key for cursors and ids: {why}", "服务器无法读取用于游标和编号的密钥：{why}", "An administrator puts the file secrets/seals of the home in order.", "请由管理员修复平台目录中的 secrets/seals 文件。")
def seals_not_readable(why: str) -> Said: ...

@say("it has no line with a key", "其中没有主密钥")
def no_key() -> Said: ...
