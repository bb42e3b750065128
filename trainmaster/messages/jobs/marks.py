"""What is said of tags, notes, favorites and saved views."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said


@say("not a tag", "不是有效的标记", "Use 1 to {most} characters, without blanks at the ends.", "请使用 1 到 {most} 个字符，首尾不留空格。")
def tag_length(most: int) -> Said: ...

@say("not a tag", "不是有效的标记", "Use printable characters without a comma; do not begin with + or -.", "请使用可打印字符，不含逗号，也不以 + 或 - 开头。")
def tag_characters() -> Said: ...

@say("more than {most:tag|tags} on a job", "一个任务的标记超过 {most} 个", "Remove some first.", "请先移除一些。")
def too_many_tags(most: Count) -> Said: ...

@say("the note is too long", "备注过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def note_too_long(most: Count) -> Said: ...

@say("There is no saved view {name}", "没有名为 {name} 的视图", "tm view list shows yours and those of your workspaces.", "用 tm view list 查看自己和所在工作空间的视图。")
def no_such_view(name: str) -> Said: ...

@say("The saved view is not valid", "视图无效")
def view_not_valid() -> Said: ...

@say("not a name of a view", "不是有效的视图名称", "Use 1 to {most} printable characters, without blanks at the ends.", "请使用 1 到 {most} 个可打印字符，首尾不留空格。")
def not_a_view_name(most: int) -> Said: ...

@say("not a list of jobs", "不是任务列表的查询", "Give the part of the list's address behind the question mark, at most {most:character|characters}.", "请使用任务列表地址中问号之后的部分，最多 {most} 个字符。")
def not_a_list(most: Count) -> Said: ...

@say("you are not a member of this workspace", "您不是该工作空间的成员", "Share the view with one of yours, or keep it to yourself.", "请共享到自己所在的工作空间，或仅自己使用。")
def view_shared_elsewhere() -> Said: ...

@say("more than {most:saved view|saved views}", "保存的视图超过 {most} 个", "Delete some first.", "请先删除一些。")
def too_many_views(most: Count) -> Said: ...
