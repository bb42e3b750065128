"""What is said of submitting a job: of the request, its key and its size, and why the platform refuses a document that
is well formed.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, Seconds, say
from trainmaster.messages.said import Said

AGAIN = "Fix the fields listed and submit again."
AGAIN_ZH = "请修正列出的字段后重新提交。"
LISTED = "Fix the fields listed."
LISTED_ZH = "请修正列出的字段。"

# --- how a refusal begins, the problems of fields behind it

@say("The job is not valid: {count:problem|problems}", "任务定义有误：{count} 个问题", AGAIN, AGAIN_ZH)
def job_not_valid(count: Count) -> Said: ...

@say("The job is not valid: {listed} problems are listed, and there are more", "任务定义有误：列出其中 {listed} 个问题，还有更多", AGAIN, AGAIN_ZH)
def job_not_valid_more(listed: int) -> Said: ...

@say("The job cannot be accepted: {count:problem|problems}", "平台无法接受此任务：{count} 个问题", AGAIN, AGAIN_ZH)
def job_not_accepted(count: Count) -> Said: ...

@say("The jobs cannot be accepted: {count:problem|problems}", "平台无法接受这些任务：{count} 个问题", AGAIN, AGAIN_ZH)
def jobs_not_accepted(count: Count) -> Said: ...

@say("No pool can run the job", "没有资源池能运行此任务", LISTED, LISTED_ZH)
def no_pool_takes_it() -> Said: ...

@say("The job can never run here: {why}", "任务在这里永远无法运行：{why}", "{instead}.", "{instead}。")
def can_never_run_here(why: Said, instead: Said) -> Said: ...

@say("This is not a valid job submission", "这不是有效的任务提交请求", LISTED, LISTED_ZH)
def not_a_submission() -> Said: ...

@say("The command line is not valid: {count:problem|problems}", "命令行有误：{count} 个问题", AGAIN, AGAIN_ZH)
def command_line_not_valid(count: Count) -> Said: ...


# --- the request around the document

@say("unknown field", "未知字段", "Known fields: {known}.", "可用字段：{known}。")
def field_around_unknown(known: Names) -> Said: ...

@say("must be an object", "应为对象", 'Send {{"spec": {{...}}}}.', '请发送 {{"spec": {{...}}}}。')
def spec_not_object() -> Said: ...

@say("must be an object of path: value", "应为“路径: 值”的对象", 'Send {{"roles.0.replicas": 2}}.', '请发送 {{"roles.0.replicas": 2}}。')
def changes_not_object() -> Said: ...

@say("must be one of {names}", "应为 {names} 之一", "Leave it out.", "请去掉它。")
def no_such_dialect(names: Names) -> Said: ...

@say("must be true or false", "应为 true 或 false", "Leave it out.", "请去掉它。")
def code_follows_not_boolean() -> Said: ...

@say("{pair} is not KEY=VALUE", "{pair} 不是 KEY=VALUE 的形式", "Write for example --set roles.0.replicas=2", "例如写 --set roles.0.replicas=2")
def not_a_change(pair: str) -> Said: ...


# --- batches

@say("The batch has the wrong number of jobs", "批次的任务数不对")
def batch_of_wrong_size() -> Said: ...

@say("must have between 1 and {most} jobs", "应为 1 至 {most} 个任务", "Split the batch.", "请拆分批次。")
def jobs_of_a_batch(most: int) -> Said: ...

@say("The batch is not valid: {count:problem|problems}; nothing was accepted", "批次有误：{count} 个问题；全部未接受")
def batch_refused(count: Count) -> Said: ...

@say("The batch is not valid: {listed} problems are listed, and there are more; nothing was accepted", "批次有误：列出其中 {listed} 个问题，还有更多；全部未接受")
def batch_refused_more(listed: int) -> Said: ...


# --- names and idempotency keys

@say("A job with this short name already exists", "已有使用此短名的任务", "Choose another short name, or delete the job that has it.", "请换一个短名，或删除使用它的任务。")
def slug_exists() -> Said: ...

@say("{name} is already in use", "{name} 已被使用", "Choose another short name, or delete the job that has it.", "请换一个短名，或删除使用它的任务。")
def slug_taken(name: str) -> Said: ...

@say("The idempotency key is not valid", "幂等键无效")
def key_not_valid() -> Said: ...

@say("must be 1 to {most} printable characters", "应为 1 至 {most} 个可打印字符", "Use a UUID.", "请使用 UUID。")
def characters_of_a_key(most: int) -> Said: ...

@say("This idempotency key was used for another request", "此幂等键已用于另一个请求", "Use a new key for a new job.", "新任务请使用新的键。")
def key_used_before() -> Said: ...

@say("was used before with a different body", "曾用于不同的内容", "Send the same body, or a new key.", "请发送相同的内容，或换一个键。")
def key_of_another_body() -> Said: ...

@say("The job submitted with this idempotency key is not there any more", "以此幂等键提交的任务已不存在", "Use a new key to submit it again.", "请换一个键重新提交。")
def job_of_key_gone() -> Said: ...


# --- in place of another

@say("The job to be replaced is no longer queued; nothing was changed", "要替换的任务已不在排队，未作任何更改", "Look at that job, or submit this one beside it.", "请查看该任务，或取消替换后提交。")
def original_not_waiting() -> Said: ...

@say("replaced by job {name} ({job})", "已由任务 {name}（{job}）替换")
def replaced_by(name: str, job: str) -> Said: ...


# --- limits

@say("The queue is full: at most {most:job|jobs} can be queued", "队列已满：最多 {most} 个任务排队", "Wait until some have started, or ask an administrator to raise limits.max_queued.", "请等一部分任务启动，或请管理员提高 limits.max_queued。")
def queue_full(most: Count) -> Said: ...

@say("a time limit is required here, at most {limit_s}", "这里必须填写运行时限，最多 {limit_s}", "Enter how long the job may run.", "请填写任务最多运行多久。")
def duration_required(limit_s: Seconds) -> Said: ...

@say("must be a number of seconds above 0", "应为大于 0 的秒数", "For example 7200.", "例如 7200。")
def duration() -> Said: ...

@say("the time limit can be at most {limit_s} here", "这里的运行时限最多 {limit_s}", "Use a shorter time limit.", "请缩短运行时限。")
def duration_limit(limit_s: Seconds) -> Said: ...

@say("must be one of {names}", "应为 {names} 之一", "Use normal.", "请使用 normal。")
def priority(names: Names) -> Said: ...


# --- what the job reads: its code and the folders that it mounts

@say("this upload is not on the server", "此服务器上没有这个上传", "Upload the folder again.", "请重新上传文件夹。")
def no_upload() -> Said: ...

@say("this folder did not answer within {limit_s} s: its file system hangs", "此文件夹在 {limit_s} 秒内没有响应：其文件系统无响应", "Try again later, or choose another folder.", "请稍后再试，或换一个文件夹。")
def mount_silent(limit_s: float) -> Said: ...

@say("this path cannot be read: {error}", "无法读取此路径：{error}", "Fix the path.", "请修正路径。")
def mount_unreadable(error: str) -> Said: ...

@say("{folder} belongs to the system and cannot be mounted", "{folder} 属于系统本身，不能挂载", "Choose a folder that holds data.", "请选择存放数据的文件夹。")
def mount_system(folder: str) -> Said: ...

@say("the platform's own folder cannot be mounted", "不能挂载平台自己的文件夹", "Choose another folder.", "请换一个文件夹。")
def mount_home() -> Said: ...

@say("this folder cannot be mounted", "不允许挂载此文件夹", "Folders that can be mounted here: {roots}. An administrator sets them with local.mount_roots in config.toml.", "这里可以挂载的文件夹：{roots}。由管理员在 config.toml 的 local.mount_roots 中设置。")
def mount_root(roots: Names) -> Said: ...

@say("this path does not exist on the server", "服务器上没有这个路径", "Fix the path.", "请修正路径。")
def mount_missing() -> Said: ...

@say("this path leads somewhere other than it says", "此路径实际指向别处", "Fix the path.", "请修正路径。")
def mount_unclear() -> Said: ...


# --- sizes and durations as a person writes them

@say("memory is a number of MiB or text such as 512MiB or 2GiB", "内存应为 MiB 数，或如 512MiB、2GiB 的文本")
def memory_is_a_number() -> Said: ...

@say("{text} is not a memory size", "{text} 不是内存大小", "Enter a number of MiB, or text such as 512MiB or 2GiB.", "请输入 MiB 数，或如 512MiB、2GiB 的文本。")
def not_a_memory_size(text: str) -> Said: ...

@say("memory must be between 0 and 8 PiB", "内存应在 0 到 8 PiB 之间")
def memory_out_of_range() -> Said: ...

@say("a time is a number of seconds or text such as 30m, 2h or 1h30m", "时长应为秒数，或如 30m、2h、1h30m 的文本")
def duration_is_a_number() -> Said: ...

@say("empty text is not a time such as 30m", "空文本不是时长", "Enter 30m, 2h or 1h30m.", "请输入时长，例如 30m、2h 或 1h30m。")
def empty_is_no_duration() -> Said: ...

@say("{text} is not a time such as 30m", "{text} 不是时长", "Enter a number of seconds, or 30m, 2h, 1h30m, 1d.", "请输入秒数，或 30m、2h、1h30m、1d。")
def not_a_duration(text: str) -> Said: ...

@say("a time must be at least 0 seconds", "时长不得小于 0 秒")
def duration_below_zero() -> Said: ...
