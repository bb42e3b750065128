"""What is said of rights: what each scope permits, and why something is not permitted."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said

# --- refusals

@say("Your role {role} does not permit this: {what} ({scope})", "您的角色 {role} 没有此权限：{what}（{scope}）", "Ask an administrator.", "请联系管理员。")
def not_permitted(role: str, what: Said, scope: str) -> Said: ...

@say("This token does not permit this: {what} ({scope})", "此令牌没有此权限：{what}（{scope}）", "Use a token with this scope.", "请使用具有该权限的令牌。")
def token_lacks_scope(what: Said, scope: str) -> Said: ...

@say("This does not exist, or is not shared with you", "不存在，或没有共享给您")
def no_such_thing() -> Said: ...

@say("The one-time password must be changed first", "必须先更换一次性密码", "Set a new password in the console, or run: tm password", "请在控制台设置新密码，或运行 tm password。")
def one_time_password() -> Said: ...

@say("Your permissions have changed", "您的权限已变更", "Open this again.", "请重新打开。")
def rights_changed() -> Said: ...


# --- what the scopes permit (the keys of access.scopes)

@say("See your own sign-in and change your own password", "查看自己的登录状态，修改自己的密码")
def right_account_self() -> Said: ...

@say("Manage your own API tokens", "管理自己的 API 令牌")
def right_tokens_self() -> Said: ...

@say("Read the names of states, frameworks, limits and schemas", "读取状态、启动方式与限额等说明")
def right_meta_read() -> Said: ...

@say("See jobs with their logs, metrics and files", "查看任务及其日志、指标与文件")
def right_jobs_read() -> Said: ...

@say("Stop, change and delete jobs", "停止、修改与删除任务")
def right_jobs_write() -> Said: ...

@say("Share jobs with the other members of their workspace", "向工作空间的其他成员共享任务")
def right_jobs_share() -> Said: ...

@say("Submit and clone jobs", "提交与克隆任务")
def right_jobs_submit() -> Said: ...

@say("See nodes and the queue", "查看节点与队列")
def right_cluster_read() -> Said: ...

@say("Manage pools and virtual clusters, and take nodes out of service", "管理资源池、虚拟集群与节点的启停")
def right_cluster_write() -> Said: ...

@say("Manage workspaces, quotas and flavors", "管理工作空间、配额与规格")
def right_workspaces_write() -> Said: ...

@say("Use secrets of a workspace in jobs, and see their names", "在任务中使用工作空间的密钥，并查看其名称")
def right_secrets_use() -> Said: ...

@say("Set and delete secrets of a workspace", "设置与删除工作空间的密钥")
def right_secrets_write() -> Said: ...

@say("See the members of a workspace", "查看工作空间的成员")
def right_members_read() -> Said: ...

@say("Add and remove members of a workspace", "添加与移除工作空间成员")
def right_members_write() -> Said: ...

@say("Limit what each member of a workspace may hold", "设置工作空间成员的个人上限")
def right_limits_write() -> Said: ...

@say("See all accounts", "查看所有账户")
def right_people_read() -> Said: ...

@say("Create, lock and delete accounts", "新建、锁定与删除账户")
def right_people_write() -> Said: ...

@say("See what jobs used and what it cost", "查看任务用量与费用")
def right_usage_read() -> Said: ...

@say("See the balance of a workspace", "查看工作空间的余额")
def right_balance_read() -> Said: ...

@say("Enter credits and corrections, set credit limits and budgets", "充值与更正余额，设置信用额度与预算")
def right_balance_write() -> Said: ...

@say("Change the queue policy", "修改排队策略")
def right_queue_write() -> Said: ...

@say("See and download models", "查看与下载模型")
def right_models_read() -> Said: ...

@say("See templates", "查看模板")
def right_templates_read() -> Said: ...

@say("Make, change and delete templates", "新建、修改与删除模板")
def right_templates_write() -> Said: ...

@say("See images", "查看镜像")
def right_images_read() -> Said: ...

@say("Make and delete images", "新建与删除镜像")
def right_images_write() -> Said: ...

@say("Share images", "共享镜像")
def right_images_share() -> Said: ...

@say("Share templates", "共享模板")
def right_templates_share() -> Said: ...

@say("Upload code", "上传代码")
def right_uploads_write() -> Said: ...

@say("Read the server's metrics", "读取服务器的运行指标")
def right_server_observe() -> Said: ...

@say("Read the audit", "查看操作记录")
def right_audit_read() -> Said: ...

@say("See what is deleted automatically, and when", "查看自动清理的规则与内容")
def right_retention_read() -> Said: ...

@say("Read your own notifications and choose which ones come", "查看自己的通知，设置接收哪些通知")
def right_notices_self() -> Said: ...

@say("Create and change webhooks", "新建与修改 Webhook")
def right_webhooks_write() -> Said: ...
