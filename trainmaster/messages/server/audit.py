"""What people did: the sentences of the audit. Each code is also the kind by which such an audit event is looked
for.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, PlatformRole, Role, Seconds, say
from trainmaster.messages.said import Said

Changes = list[Said]
"""What of a record became something else, one after the other."""

# --- what administrators decide

@say("Created pool {name}: {changes}", "新建了资源池 {name}：{changes}")
def pool_made(name: str, changes: Changes) -> Said: ...

@say("Changed pool {name}: {changes}", "修改了资源池 {name}：{changes}")
def pool_changed(name: str, changes: Changes) -> Said: ...

@say("Deleted pool {name}", "删除了资源池 {name}")
def pool_removed(name: str) -> Said: ...

@say("Created virtual cluster {name}: {changes}", "新建了虚拟集群 {name}：{changes}")
def virtual_cluster_made(name: str, changes: Changes) -> Said: ...

@say("Changed virtual cluster {name}: {changes}", "修改了虚拟集群 {name}：{changes}")
def virtual_cluster_changed(name: str, changes: Changes) -> Said: ...

@say("Deleted virtual cluster {name}", "删除了虚拟集群 {name}")
def virtual_cluster_removed(name: str) -> Said: ...

@say("Created workspace {name}: {changes}", "新建了工作空间 {name}：{changes}")
def workspace_made(name: str, changes: Changes) -> Said: ...

@say("Changed workspace {name}: {changes}", "修改了工作空间 {name}：{changes}")
def workspace_changed(name: str, changes: Changes) -> Said: ...

@say("Deleted workspace {name}", "删除了工作空间 {name}")
def workspace_removed(name: str) -> Said: ...

@say("Created flavor {name}: {changes}", "新建了规格 {name}：{changes}")
def flavor_made(name: str, changes: Changes) -> Said: ...

@say("Changed flavor {name}: {changes}", "修改了规格 {name}：{changes}")
def flavor_changed(name: str, changes: Changes) -> Said: ...

@say("Deleted flavor {name}", "删除了规格 {name}")
def flavor_removed(name: str) -> Said: ...

@say("Changed the queue policy: {changes}", "修改了排队策略：{changes}")
def policy_changed(changes: Changes) -> Said: ...

@say("Changed what people are told of one another: {changes}", "修改了用户之间可见的信息：{changes}")
def privacy_changed(changes: Changes) -> Said: ...

@say("Stopped scheduling on node {name}", "停止向节点 {name} 调度任务")
def node_cordoned(name: str) -> Said: ...

@say("Stopped scheduling on node {name}: {note}", "停止向节点 {name} 调度任务：{note}")
def node_cordoned_because(name: str, note: str) -> Said: ...

@say("Started draining node {name}", "开始排空节点 {name}")
def node_emptied(name: str) -> Said: ...

@say("Started draining node {name}: {note}", "开始排空节点 {name}：{note}")
def node_emptied_because(name: str, note: str) -> Said: ...

@say("Resumed scheduling on node {name}", "恢复向节点 {name} 调度任务")
def node_back(name: str) -> Said: ...

@say("Moved node {name} to pool {pool}", "将节点 {name} 移到了资源池 {pool}")
def node_moved(name: str, pool: str) -> Said: ...

@say("Changed node {name}: {changes}", "修改了节点 {name}：{changes}")
def node_changed(name: str, changes: Changes) -> Said: ...


# --- what became of a record

@say("{field} = {after}", "{field} 为 {after}")
def now_is(field: Said | str, after: Said | str) -> Said: ...

@say("{field}: {before} → {after}", "{field}：{before} → {after}")
def was_and_is(field: Said | str, before: Said | str, after: Said | str) -> Said: ...

@say("{field} was removed (it was {before})", "去掉了 {field}（原为 {before}）")
def is_gone(field: Said | str, before: Said | str) -> Said: ...

@say("{more:more change|more changes}", "另有 {more} 处修改")
def more_changes(more: Count) -> Said: ...

@say("{more:more setting|more settings}", "另有 {more} 项设置")
def more_settings(more: Count) -> Said: ...

@say("only the name", "仅填写了名称")
def only_a_name() -> Said: ...

@say("no change", "与原来相同")
def as_it_was() -> Said: ...


# --- people

@say("Created user {name} with the role {role}", "新建了用户 {name}，角色为 {role}")
def user_made(name: str, role: PlatformRole) -> Said: ...

@say("Locked user {name}", "锁定了用户 {name}")
def user_locked(name: str) -> Said: ...

@say("Unlocked user {name}", "解锁了用户 {name}")
def user_unlocked(name: str) -> Said: ...

@say("Deleted user {name}", "删除了用户 {name}")
def user_deleted(name: str) -> Said: ...

@say("Gave user {name} a one-time password; all sessions ended", "为用户 {name} 生成了一次性密码；其登录已全部失效")
def password_given(name: str) -> Said: ...

@say("Made {user} a member of workspace {workspace} as {role}", "将 {user} 加入工作空间 {workspace}，角色为 {role}")
def member_added(user: str, workspace: str, role: Role) -> Said: ...

@say("Changed the role of {user} in workspace {workspace} from {before} to {role}", "将 {user} 在工作空间 {workspace} 中的角色由 {before} 改为 {role}")
def member_changed(user: str, workspace: str, before: Role, role: Role) -> Said: ...

@say("Set secret {name} of workspace {workspace}", "设置了工作空间 {workspace} 的密钥 {name}")
def secret_set(name: str, workspace: str) -> Said: ...

@say("Deleted secret {name} of workspace {workspace}", "删除了工作空间 {workspace} 的密钥 {name}")
def secret_deleted(name: str, workspace: str) -> Said: ...

@say("Set storage connection {name} of workspace {workspace}: bucket {bucket} at {endpoint}", "设置了工作空间 {workspace} 的存储连接 {name}：{endpoint} 的存储桶 {bucket}")
def connection_set(name: str, workspace: str, endpoint: str, bucket: str) -> Said: ...

@say("Deleted storage connection {name} of workspace {workspace}", "删除了工作空间 {workspace} 的存储连接 {name}")
def connection_deleted(name: str, workspace: str) -> Said: ...

@say("Removed {user} from workspace {workspace}", "将 {user} 移出了工作空间 {workspace}")
def member_removed(user: str, workspace: str) -> Said: ...

@say("A sign-in from {address} failed: wrong password ({count:time|times} within a day)", "从 {address} 登录失败：密码错误（一天内 {count} 次）")
def sign_in_failed(address: str, count: Count) -> Said: ...

@say("A sign-in from {address} was refused: the account is locked ({count:time|times} within a day)", "从 {address} 登录被拒绝：账户已锁定（一天内 {count} 次）")
def sign_in_while_locked(address: str, count: Count) -> Said: ...

@say("A sign-in from {address} failed: no account has that name ({count:time|times} within a day)", "从 {address} 登录失败：没有这个名称的账户（一天内 {count} 次）")
def sign_in_unknown(address: str, count: Count) -> Said: ...

@say("{most:failed sign-in|failed sign-ins} within an hour: further ones are not listed", "一小时内登录失败 {most} 次：其余的不再逐条记录")
def sign_ins_not_listed(most: Count) -> Said: ...

@say("Signed in from {address}", "从 {address} 登录")
def signed_in(address: str) -> Said: ...

@say("Signed out", "退出登录")
def signed_out() -> Said: ...

@say("Changed the password; all other sessions ended", "修改了密码；其他登录全部失效")
def password_changed() -> Said: ...

@say("Set a new password on the server itself, without the old one; all sessions ended", "在服务器上设置了新密码（未使用旧密码）；所有登录全部失效")
def password_reset() -> Said: ...

@say("Created token {name} ({id})", "创建了令牌 {name}（{id}）")
def token_made(name: str, id: str) -> Said: ...

@say("Created token {name} ({id}), which expires after {lasts_s}", "创建了令牌 {name}（{id}），{lasts_s} 后过期")
def token_made_for(name: str, id: str, lasts_s: Seconds) -> Said: ...

@say("Deleted token {id}", "吊销了令牌 {id}")
def token_deleted(id: str) -> Said: ...

@say("Ended session {id}", "结束了会话 {id}")
def session_ended_there(id: str) -> Said: ...


# --- what people did to jobs: told of the job's own events, whose kind is what they are looked for by

@say("Deleted the job {name} of {owner}", "删除了 {owner} 的任务 {name}")
def job_deleted(name: str, owner: str) -> Said: ...

@say("The job {name} of {owner} was deleted automatically: it ended more than {after_s} ago", "{owner} 的任务 {name} 结束超过 {after_s}，已自动清理")
def job_outlived(name: str, owner: str, after_s: Seconds) -> Said: ...

@say("Submitted the job", "提交了任务")
def job_submitted() -> Said: ...

@say("The job reached its time limit", "任务达到了运行时限")
def job_expired() -> Said: ...

@say("Asked the job to stop", "要求停止任务")
def job_stopped() -> Said: ...

@say("Asked the job to stop: {reason}", "要求停止任务：{reason}")
def job_stopped_because(reason: Said | str) -> Said: ...

@say("Ended the debug hold", "结束了调试保留")
def job_released() -> Said: ...

@say("Changed the time limit of the job to {duration_s}", "将任务的运行时限改为 {duration_s}")
def job_may_run(duration_s: Seconds) -> Said: ...

@say("Shared the job with workspace members: {share} (was {before})", "将任务对工作空间成员的共享改为 {share}（原为 {before}）")
def job_shared(share: Said | str, before: Said | str) -> Said: ...

@say("nothing", "不可见")
def share_nothing() -> Said: ...

@say("read", "可查看")
def share_read() -> Said: ...

@say("read and write", "可查看和修改")
def share_read_write() -> Said: ...

@say("Changed the tags of the job to: {tags} (was: {before})", "将任务的标记改为：{tags}（原为：{before}）")
def job_tagged(tags: Names, before: Names) -> Said: ...

@say("Asked to upload the job's outputs again", "请求重新上传任务的输出")
def job_upload_asked() -> Said: ...

@say("Changed the note of the job", "修改了任务的备注")
def job_noted() -> Said: ...

@say("Removed the time limit of the job", "取消了任务的运行时限")
def job_may_run_on() -> Said: ...

@say("Changed the priority of the job to {priority}", "将任务的优先级改为{priority}")
def job_priority_became(priority: Said) -> Said: ...

@say("normal", "普通")
def priority_normal() -> Said: ...

@say("urgent", "紧急")
def priority_urgent() -> Said: ...

@say("very urgent", "非常紧急")
def priority_very_urgent() -> Said: ...

@say("Ran {program} inside replica {task}", "在副本 {task} 中运行了 {program}")
def job_entered(task: str, program: str) -> Said: ...

@say("The job went back to the queue: {why}", "任务被退回队列：{why}")
def job_sent_back(why: Said | str) -> Said: ...

@say("The job went back to the queue to make room for another", "任务为其他任务让出资源，回到队列")
def job_gave_way() -> Said: ...

@say("Event of the job: {kind}", "任务事件：{kind}")
def job_event(kind: str) -> Said: ...


# --- what cannot be told

@say("This record cannot be read", "此条记录无法读取")
def audit_event_unreadable() -> Said: ...

@say("must be a kind of subject ({kinds}), if needed with a colon and a name", "应为对象的种类（{kinds}），后面可加冒号和名称", "For example pool:default.", "例如：pool:default。")
def not_a_subject(kinds: str) -> Said: ...

@say("must be a kind of actor ({kinds})", "应为操作来源的种类（{kinds}）", "For example token.", "例如：token。")
def not_an_actor(kinds: str) -> Said: ...

@say("The audit cannot be searched with these filters", "无法按这些条件查询操作记录", "Fix the fields listed.", "请修正列出的字段。")
def audit_not_answerable() -> Said: ...
