"""What is said of jobs that exist: which one is meant, what its state does not allow, entering its tasks, lists, what
of it is damaged.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- which job, attempt, task

@say("This job of {owner} is shared with you for reading only", "{owner} 的这个任务只向您共享了读取权限", "Ask its owner to share it read-write, or clone it.", "请所有者改为读写共享，或克隆此任务。")
def only_shared_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this job is shared", "只有 {owner} 和工作空间管理员可以决定此任务如何共享", "Ask one of them.", "请联系他们。")
def not_yours_to_share(owner: str) -> Said: ...

@say("There is no job {ref}", "没有任务 {ref}", "Give its id, the beginning of its id, or its slug; several jobs may have the same name. The list of jobs shows the ids.", "请使用任务 ID、ID 的开头几位或短名（slug）；多个任务可以同名，因此不能用名称。任务列表中可以查到 ID。")
def no_such_job(ref: str) -> Said: ...

@say("There is no job {ref}", "没有任务 {ref}", "Another request is deleting it.", "另一个请求正在删除它。")
def job_being_deleted(ref: str) -> Said: ...

@say("Several jobs begin with {beginning}: {some}", "有多个任务以 {beginning} 开头：{some}", "Give more characters of the id.", "请多写几位 ID。")
def several_jobs(beginning: str, some: Names) -> Said: ...

@say("The job has no attempt {attempt}", "任务没有第 {attempt} 次运行", "It has had {count:attempt|attempts}.", "它共运行过 {count} 次。")
def no_such_attempt(attempt: str, count: Count) -> Said: ...

@say("The job has no attempt {attempt}", "任务没有第 {attempt} 次运行", "It is still queued. See why: tm explain {job}", "它仍在排队。查看原因：tm explain {job}")
def no_attempt_yet(attempt: str, job: str) -> Said: ...

@say("The job has no replica {task}", "任务没有副本 {task}", "Its first replica is {first}. See all: tm show {job}", "第一个副本是 {first}。查看全部：tm show {job}")
def no_such_task(task: str, first: str, job: str) -> Said: ...


# --- what its state does not allow

@say("The job has succeeded and its outputs were just saved", "任务已成功，输出刚刚保存完毕", "Wait a moment until it has ended.", "请稍候，等它结束。")
def outputs_just_saved() -> Said: ...

@say("The job is not in a debug hold", "任务不处于调试保留状态")
def not_held() -> Said: ...

@say("The job has ended and can no longer be changed", "任务已结束，不能再修改", "Clone it with the new settings.", "请以新的设置克隆它。")
def no_change_after_end() -> Said: ...

@say("Only jobs that have ended can be deleted", "只能删除已结束的任务", "Stop it first: tm stop {job}", "请先停止它：tm stop {job}")
def no_deletion_before_end(job: str) -> Said: ...

@say("At most {most:job|jobs} can be handled at once", "一次最多处理 {most} 个任务")
def too_many_jobs_at_once(most: Count) -> Said: ...

@say("too many jobs", "任务过多", "Send {most} or fewer.", "请一次最多发送 {most} 个。")
def too_many_ids(most: int) -> Said: ...


# --- entering its tasks

@say("Replicas on {engine} cannot be entered", "不能进入 {engine} 上的副本", "Look at their logs and files instead.", "请改为查看它们的日志和文件。")
def engine_without_entering(engine: str) -> Said: ...

@say("You already have {most:session|sessions} open inside replicas, the limit per person", "您已在副本中打开 {most} 个会话，达到每人上限", "Close one of them.", "请关闭其中一个。")
def too_many_entered(most: Count) -> Said: ...

@say("The job has ended; only a running replica can be entered", "任务已结束；只能进入运行中的副本", "See what it printed: tm logs {job}", "查看它的输出：tm logs {job}")
def entering_ended_job(job: str) -> Said: ...

@say("{task} is not running yet; only a running replica can be entered", "{task} 尚未运行；只能进入运行中的副本", "See why: tm explain {job}", "查看原因：tm explain {job}")
def entering_waiting_task(task: str, job: str) -> Said: ...

@say("{task} has ended; only a running replica can be entered", "{task} 已结束；只能进入运行中的副本", "See what it printed: tm logs {job} --task {task}", "查看它的输出：tm logs {job} --task {task}")
def entering_ended_task(task: str, job: str) -> Said: ...


# --- lists

@say("Jobs cannot be sorted by {order}", "任务不能按 {order} 排序", "Choose another sort order.", "请选择其他排序方式。")
def no_such_order(order: str) -> Said: ...

@say("must be one of {orders}, with - in front for descending order", "应为 {orders} 之一，前面加 - 表示降序", "Choose one of them.", "请选择其中之一。")
def not_an_order(orders: Names) -> Said: ...

@say("The cursor does not belong to this list", "游标不属于此列表", "Leave it out to start at the first page.", "不写则从第一页开始。")
def cursor_of_another_list() -> Said: ...

@say("must be the next_cursor of a page in the same order", "应为同一排序下某一页的 next_cursor", "Leave it out to start at the first page.", "不写则从第一页开始。")
def not_a_cursor_here() -> Said: ...

@say("The part that comes next is not known", "无法确定下一批任务", "Leave `after` out to start with the first part.", "不写 `after` 则从第一批开始。")
def part_of_nothing() -> Said: ...

@say("must be the `after` of the answer before", "应为上一次响应中的 `after`", "Leave it out to start with the first part.", "不写则从第一批开始。")
def not_an_after() -> Said: ...

@say("The position in the feed is not known", "实时更新的位置无效", "List again, and watch from the `seq` of that answer.", "请重新列出，并从该响应的 `seq` 开始跟踪。")
def position_not_known() -> Said: ...

@say("must be the `seq` of an answer, or the id of an event, of this server", "应为本服务器某个响应的 `seq` 或某个事件的 id", "Leave it out to hear of what changes from now on.", "不写则从当前时刻开始跟踪。")
def not_a_position() -> Said: ...


@say("Either `mine` or another `owner`", "`mine` 与其他 `owner` 只能选一个")
def mine_of_another() -> Said: ...

@say("is somebody else", "是其他人", "Leave out one of the two.", "去掉其中一个。")
def owner_is_another() -> Said: ...

@say("Choose jobs either by `ids` or by a `filter`", "请用 `ids` 或 `filter` 选择任务")
def ids_or_filter() -> Said: ...

@say("exactly one of `ids` and `filter` has to be given", "`ids` 与 `filter` 必须且只能填写一个", "Leave out the other.", "去掉另一个。")
def one_of_ids_and_filter() -> Said: ...

@say("is required with a filter", "使用 filter 时必填", "Say how many jobs matched when you chose them.", "请填写选择时匹配的任务数。")
def expected_missing() -> Said: ...

@say("{found:job matches|jobs match} now, {expected} when you chose; nothing was done", "现在匹配 {found} 个任务，选择时为 {expected} 个；未做任何操作", "Look at the list again, then repeat.", "请刷新列表后重试。")
def more_than_expected(found: Count, expected: int) -> Said: ...


# --- would it start now, instead of another?

@say("The job cannot be accepted", "平台无法接受此任务", "Fix the fields listed.", "请修正列出的字段。")
def would_be_refused() -> Said: ...

@say("The forecast cannot be made", "无法生成预测", "Name one of your queued jobs by its id, or leave it out.", "请填写您正在排队的任务的 ID，或不填。")
def question_not_answerable() -> Said: ...

@say("you have no unfinished job with this id", "您没有此 ID 的未结束任务", "Name one of your queued jobs by its id, or leave it out.", "请填写您正在排队的任务的 ID，或不填。")
def no_job() -> Said: ...

@say("is not queued: it is {state}", "不在排队：当前为 {state}", "Name one of your queued jobs by its id, or leave it out.", "请填写您正在排队的任务的 ID，或不填。")
def not_waiting(state: str) -> Said: ...


# --- what of it is damaged in the ledger

@say("This event of the job can no longer be read", "此任务的这一事件已无法读取")
def event_unreadable() -> Said: ...

@say("The job file of this job can no longer be read; the job cannot be started or cloned", "此任务的任务文件已无法读取；不能启动或克隆它")
def document_unreadable() -> Said: ...

@say("{count:earlier attempt|earlier attempts} of this job can no longer be read", "此任务有 {count} 次较早的运行已无法读取")
def attempts_unreadable(count: Count) -> Said: ...

@say("The answer to the first request with this key can no longer be read", "使用此幂等键的首个请求，其响应已无法读取", "Look for its job in the list of jobs. If there is none, send the request again with another key.", "请在任务列表中查找该任务；如果没有，请换一个键重新发送请求。")
def answer_under_key_unreadable() -> Said: ...
