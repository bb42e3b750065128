"""What is said of what is removed by itself, and of what is kept."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Moment, Seconds, say
from trainmaster.messages.said import Said

# --- what each rule removes

@say("Jobs that ended more than {after_s} ago, with their logs and files; saved models stay", "结束已超过 {after_s} 的任务及其日志和文件；已保存的模型不受影响")
def old_jobs_go(after_s: Seconds) -> Said: ...

@say("Jobs are kept until somebody deletes them", "任务一直保留，直到有人删除")
def jobs_stay() -> Said: ...

@say("Logs of jobs that ended more than {after_s} ago; the jobs themselves stay", "结束已超过 {after_s} 的任务的日志；任务本身保留")
def old_logs_go(after_s: Seconds) -> Said: ...

@say("Logs are kept as long as their jobs", "日志与任务一同保留")
def logs_stay() -> Said: ...

@say("Audit records older than {after_s}; jobs that still exist keep their own run history", "{after_s} 以前的操作记录；仍保留的任务自身的运行记录不受影响")
def old_audit_events_go(after_s: Seconds) -> Said: ...

@say("Audit records are kept forever", "操作记录永久保留")
def audit_events_stay() -> Said: ...

@say("Code folders that no job uses and nobody used for {after_s}", "没有任务引用、且 {after_s} 内无人使用的代码文件夹")
def old_uploads_go(after_s: Seconds) -> Said: ...

@say("Code folders are kept forever", "代码文件夹永久保留")
def uploads_stay() -> Said: ...

@say("Idempotency keys older than {after_s}: a request repeated later counts as new", "超过 {after_s} 的幂等键：此后重复的请求视为新请求")
def old_keys_go(after_s: Seconds) -> Said: ...

@say("Idempotency keys are kept forever", "幂等键永久保留")
def keys_stay() -> Said: ...

@say("What was deleted more than {after_s} ago and is in the bin", "在回收站中已满 {after_s} 的已删除项")
def binned_go(after_s: Seconds) -> Said: ...

@say("What was deleted stays in the bin until somebody empties it", "已删除项一直留在回收站中，直到有人清空")
def binned_stay() -> Said: ...


# --- what stands in the place of what was removed

@say("This log was deleted at {at}: logs are kept for {after_s} after a job ends", "此日志已于 {at} 清理：任务结束后日志保留 {after_s}")
def log_removed(at: Moment, after_s: Seconds) -> Said: ...
