"""What is said of storage quotas: how much may be kept for a workspace, and for a person in it."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, say
from trainmaster.messages.said import Said

_REMEDY = "Delete jobs, models, versions of data sets or files in volumes that nobody needs, or ask an administrator for a larger storage quota."
_REMEDY_ZH = "请删除不再需要的任务、模型、数据集版本或存储卷中的文件，或请管理员提高存储配额。"

@say("This needs {more} more, and {whose} may keep {most}, of which {used} are taken", "此操作还需要 {more}，而{whose}的存储配额为 {most}，已用 {used}", _REMEDY, _REMEDY_ZH)
def storage_exceeded(whose: Said | str, more: Mib, used: Mib, most: Mib) -> Said: ...

@say("This needs {more:file|files} more, and {whose} may keep {most}, of which {used} are taken", "此操作还需要 {more} 个文件，而{whose}的存储配额为 {most} 个，已用 {used} 个", _REMEDY, _REMEDY_ZH)
def storage_exceeded_by_files(whose: Said | str, more: Count, used: Count, most: Count) -> Said: ...

@say("{used} are taken, which is more than the {most} that {whose} may keep", "已用 {used}，超过{whose}的存储配额 {most}", _REMEDY, _REMEDY_ZH)
def storage_over(whose: Said | str, used: Mib, most: Mib) -> Said: ...

@say("{used:file is|files are} taken, which is more than the {most} that {whose} may keep", "已用 {used} 个文件，超过{whose}的存储配额 {most} 个", _REMEDY, _REMEDY_ZH)
def storage_over_by_files(whose: Said | str, used: Count, most: Count) -> Said: ...

@say("Nothing is left for what a job writes: {used} are taken of the {most} that {whose} may keep", "没有空间供任务写入：{whose}的存储配额为 {most}，已用 {used}", _REMEDY, _REMEDY_ZH)
def storage_full(whose: Said | str, used: Mib, most: Mib) -> Said: ...

@say("Nothing is left for what a job writes: {used} are taken of the {most:file|files} that {whose} may keep", "没有空间供任务写入：{whose}的存储配额为 {most} 个文件，已用 {used} 个", _REMEDY, _REMEDY_ZH)
def storage_full_of_files(whose: Said | str, used: Count, most: Count) -> Said: ...

@say("The upload cannot be kept", "无法保存上传的内容", "Fix the problems listed.", "请处理列出的问题。")
def upload_not_kept() -> Said: ...

@say("Nothing more may be kept: jobs and uploads are refused", "存储配额已满：任务和上传会被拒绝", _REMEDY, _REMEDY_ZH)
def nothing_more_is_kept() -> Said: ...


@say("{percent}% of what {whose} may keep are taken: {used} of {most}", "{whose}已用存储配额的 {percent}%：{used}，配额 {most}", _REMEDY, _REMEDY_ZH)
def storage_alarm(whose: Said | str, percent: int, used: Mib, most: Mib) -> Said: ...

@say("{percent}% of the files that {whose} may keep are there: {used} of {most}", "{whose}已用文件数配额的 {percent}%：{used} 个，配额 {most} 个", _REMEDY, _REMEDY_ZH)
def storage_alarm_of_files(whose: Said | str, percent: int, used: Count, most: Count) -> Said: ...


# --- what the audit is told

@say("storage in MiB", "存储（MiB）")
def field_mib() -> Said: ...

@say("files", "文件数")
def field_files() -> Said: ...

@say("quota of {resource}", "{resource}配额")
def field_storage(resource: Said | str) -> Said: ...

@say("quota of {resource} per person", "每人{resource}配额")
def field_storage_per_person(resource: Said | str) -> Said: ...

@say("quota of {resource} for {person}", "{person} 的{resource}配额")
def field_storage_of_person(resource: Said | str, person: str) -> Said: ...
