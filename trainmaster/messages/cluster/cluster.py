"""What is said to those who administer the cluster or look at it: its pools, virtual clusters, workspaces, flavors and
nodes.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- what there is

@say("There is no pool {name}", "没有资源池 {name}", "There are: {known}.", "可用：{known}。")
def pool_not_found(name: str, known: Names) -> Said: ...

@say("There is no virtual cluster {name}", "没有虚拟集群 {name}", "There are: {known}.", "可用：{known}。")
def virtual_cluster_not_found(name: str, known: Names) -> Said: ...

@say("There is already a workspace {name}", "已有工作空间 {name}", "Choose another name, or change this one with: tm workspace set {name}", "请换一个名称，或用 tm workspace set {name} 修改。")
def workspace_taken(name: str) -> Said: ...

@say("There is no workspace {name}", "没有工作空间 {name}", "There are: {known}.", "可用：{known}。")
def workspace_not_found(name: str, known: Names) -> Said: ...

@say("There is no flavor {name}", "没有规格 {name}", "There are: {known}.", "可用：{known}。")
def flavor_not_found(name: str, known: Names) -> Said: ...

@say("There is no node {name}", "没有节点 {name}", "There are: {known}.", "可用：{known}。")
def node_not_found(name: str, known: Names) -> Said: ...


# --- what becomes of its nodes

@say("node {node} is being drained", "节点 {node} 正在排空")
def node_drains(node: str) -> Said: ...

@say("node {node} is being drained: {note}", "节点 {node} 正在排空：{note}")
def node_drained(node: str, note: str) -> Said: ...


# --- what cannot be done to it

@say("This cannot be removed", "无法删除")
def cannot_be_removed() -> Said: ...

@say("{name} is still used by {jobs:job|jobs}", "{name} 仍被 {jobs} 个任务使用", "Move or stop these first.", "请先移走或停止它们。")
def used_by_jobs(name: str, jobs: Count) -> Said: ...

@say("The engine {name} manages its nodes itself", "引擎 {name} 自行管理其节点", "Use its own tools.", "请使用它自己的工具。")
def cluster_decides_itself(name: str) -> Said: ...


# --- what to know of a limit that is below what is used

@say("Usage is above the cap: running jobs continue, and nothing new starts until usage falls below it", "用量已超过上限：运行中的任务不受影响，但在用量降到上限以下之前不再启动新任务")
def used_above_cap() -> Said: ...

@say("Usage is above the guarantee: the excess is borrowed and can be reclaimed", "用量已超过保障额度：超出部分是借用的，可能被收回")
def used_above_guaranteed() -> Said: ...
