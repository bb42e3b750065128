"""What is said of the bin, where what was deleted waits before it goes for good."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Seconds, say
from trainmaster.messages.said import Said


@say("There is no {ref} in the bin", "回收站中没有 {ref}", "Give a name or an id that tm bin list, or the page Bin, shows.", "请使用 tm bin list 或“回收站”页面列出的名称或 ID。")
def not_in_the_bin(ref: str) -> Said: ...

@say("Several things in the bin are meant by {ref}: {ids}", "{ref} 对应回收站中的多项：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_in_the_bin(ref: str, ids: str) -> Said: ...

@say("{name} cannot be restored: something else has its name now", "无法恢复 {name}：此名称已被占用", "Restore it under another name, or delete the other first.", "请换一个名称恢复，或先删除占用此名称的项。")
def name_taken_meanwhile(name: str) -> Said: ...

@say("taken in the workspace {workspace}", "在工作空间 {workspace} 中已被占用", "Choose another name.", "请换一个名称。")
def name_in_use(workspace: str) -> Said: ...

@say("A version of {name} cannot be restored while {name} itself is deleted", "{name} 本身已被删除，无法恢复其版本", "Restore {name} first, where it is still in the bin.", "如果 {name} 仍在回收站中，请先恢复它。")
def asset_is_gone(name: str) -> Said: ...

@say("A version is restored under its own name only", "版本只能以原名称恢复", "Leave the name out.", "请不要指定名称。")
def version_keeps_its_name() -> Said: ...

@say("The files of {name} are not there any more", "{name} 的文件已不存在", "It cannot be restored. Delete it for good.", "无法恢复，请彻底删除。")
def files_are_gone(name: str) -> Said: ...

@say("This cannot be restored", "无法恢复", "Fix the fields listed.", "请修正列出的字段。")
def not_restorable() -> Said: ...

@say("At most {most:thing|things} at once", "一次最多 {most} 项", "Delete fewer at once.", "请减少一次删除的数量。")
def too_many_at_once(most: Count) -> Said: ...

# --- what people did, and what the platform did by itself

@say("Restored {name} from the bin", "从回收站恢复了 {name}")
def restored(name: str) -> Said: ...

@say("Restored version {version} of {name} from the bin", "从回收站恢复了 {name} 的版本 {version}")
def version_restored(name: str, version: int) -> Said: ...

@say("Deleted {name} for good", "彻底删除了 {name}")
def removed(name: str) -> Said: ...

@say("Deleted version {version} of {name} for good", "彻底删除了 {name} 的版本 {version}")
def version_removed(name: str, version: int) -> Said: ...

@say("{name} was in the bin for {after_s} and is deleted for good", "{name} 在回收站中已满 {after_s}，已彻底删除")
def bin_outlived(name: str, after_s: Seconds) -> Said: ...

@say("Version {version} of {name} was in the bin for {after_s} and is deleted for good", "{name} 的版本 {version} 在回收站中已满 {after_s}，已彻底删除")
def version_outlived(name: str, version: int, after_s: Seconds) -> Said: ...
