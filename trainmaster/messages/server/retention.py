"""What is said of what is removed by itself, and of what is kept."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Moment, Seconds, say
from trainmaster.messages.said import Said

# --- what each rule removes

@say("Jobs that ended more than {after_s} ago, with their logs and files; saved models stay", "结束超过 {after_s} 的任务及其日志和文件；已保存的模型不受影响")
def old_jobs_go(after_s: Seconds) -> Said: ...

@say("Jobs are kept until somebody deletes them", "任务一直保留，直到有人删除")
def jobs_stay() -> Said: ...

@say("Logs of jobs that ended more than {after_s} ago; the jobs themselves stay", "结束超过 {after_s} 的任务的日志；任务本身保留")
def old_logs_go(after_s: Seconds) -> Said: ...

@say("Logs are kept as long as their jobs", "日志与任务一同保留")
def logs_stay() -> Said: ...

@say("What people did more than {after_s} ago; jobs that are still there keep their own events", "{after_s} 以前的操作记录；仍保留的任务自身的事件不受影响")
def old_audit_events_go(after_s: Seconds) -> Said: ...

@say("What people did is kept for ever", "操作记录永久保留")
def audit_events_stay() -> Said: ...

@say("Code folders that no job names and nobody used for {after_s}", "没有任务引用、且 {after_s} 内无人使用的代码目录")
def old_uploads_go(after_s: Seconds) -> Said: ...

@say("Code folders are kept for ever", "代码目录永久保留")
def uploads_stay() -> Said: ...

@say("Keys of requests older than {after_s}: a request that is repeated later is a new one", "超过 {after_s} 的请求键：此后重复的请求视为新请求")
def old_keys_go(after_s: Seconds) -> Said: ...

@say("Keys of requests are kept for ever", "请求键永久保留")
def keys_stay() -> Said: ...


# --- what stands in the place of what was removed

@say("This log was removed at {at}: logs are kept for {after_s} after the end of a job", "此日志已于 {at} 清理：任务结束后日志保留 {after_s}")
def log_removed(at: Moment, after_s: Seconds) -> Said: ...
