"""The one dictionary of scopes: what can be permitted, named once in both languages.

Routes declare a key of SCOPES; roles grant them; the documentation and the console's guards are made from it. A scope
that is not here does not exist.
"""

from typing import Final, NamedTuple


class ScopeKind(NamedTuple):
    """What a scope permits, in zh and en."""

    zh: str
    en: str


SCOPES: Final[dict[str, ScopeKind]] = {
    "account:self": ScopeKind(
        "查看自己的登录状态，修改自己的密码", "See one's own sign-in and change one's own password"
    ),
    "tokens:self": ScopeKind("管理自己的 API 令牌", "Manage one's own API tokens"),
    "meta:read": ScopeKind("读取状态、框架与限额等说明", "Read the names of states, frameworks, limits and schemas"),
    "jobs:read": ScopeKind("查看任务及其日志、指标与文件", "See jobs with their logs, metrics and files"),
    "jobs:write": ScopeKind("提交、停止、克隆、修改与删除任务", "Submit, stop, clone, change and delete jobs"),
    "cluster:read": ScopeKind("查看节点与队列", "See nodes and the queue"),
    "cluster:write": ScopeKind(
        "管理资源池、虚拟集群与节点的启停", "Manage pools and virtual clusters, and take nodes out of service"
    ),
    "workspaces:write": ScopeKind("管理工作空间、配额与规格", "Manage workspaces, quotas and flavors"),
    "queue:write": ScopeKind("修改队列的策略", "Change the queue's policy"),
    "models:read": ScopeKind("查看与下载模型", "See and download models"),
    "uploads:write": ScopeKind("上传代码", "Upload code"),
    "server:observe": ScopeKind("读取服务器的运行指标", "Read the server's own measurements"),
}
