"""What is said of what is to be simulated: recorded workloads, clusters, policies, quotas and faults as people write
them.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

MACHINES = "Write NODESxGPUS, such as 64x8 or 8x4:model=A100,cpu=64,memory=512GiB, or give a .yaml or .csv file."
MACHINES_ZH = "请写成 NODESxGPUS，例如 64x8 或 8x4:model=A100,cpu=64,memory=512GiB，或指定 .yaml 或 .csv 文件。"
RIGHTS = "Write NAME[@POOL]:RESOURCE=GUARANTEED[:MOST],... such as vision:gpu=8:16,cpu=64, and a weight as vision=2."
RIGHTS_ZH = "请写成 NAME[@POOL]:RESOURCE=GUARANTEED[:MOST],...，例如 vision:gpu=8:16,cpu=64；权重写成 vision=2。"
COLUMNS = "The columns are listed in the documentation, page Simulate your queue."
COLUMNS_ZH = "列名见文档“模拟队列”页。"

# --- recorded workloads

@say("{path} cannot be read: {error}", "无法读取 {path}：{error}", "Name a CSV or SWF file, plain or compressed with gzip.", "请指定 CSV 或 SWF 文件，可用 gzip 压缩。")
def trace_not_read(path: str, error: str) -> Said: ...

@say("{file}, line {line}: {why}", "{file} 第 {line} 行：{why}", COLUMNS, COLUMNS_ZH)
def trace_line_not_valid(file: str, line: int, why: Said | str) -> Said: ...

@say("a job of an SWF file has 18 numbers", "SWF 文件中的一个任务有 18 个数", COLUMNS, COLUMNS_ZH)
def swf_line_too_short() -> Said: ...

@say("there is no column {column}", "没有列 {column}", "The first line names the columns.", "第一行应列出各列的名称。")
def no_such_column(column: str) -> Said: ...

@say("there is no column {column} or {other}", "没有列 {column} 或 {other}", "The first line names the columns.", "第一行应列出各列的名称。")
def neither_column(column: str, other: str) -> Said: ...

@say("{meaning} is {written}, not a number", "{meaning} 为 {written}，不是数字", COLUMNS, COLUMNS_ZH)
def trace_value_not_a_number(meaning: str, written: str) -> Said: ...

@say("priority is {written}; it must be one of {names} or 0 to {most}", "priority 为 {written}；应为 {names} 之一，或 0 到 {most}", COLUMNS, COLUMNS_ZH)
def trace_priority_unknown(written: str, names: Names, most: int) -> Said: ...

@say("{error}", "{error}", COLUMNS, COLUMNS_ZH)
def trace_value_not_read(error: str) -> Said: ...

# --- clusters

@say("cluster {text}: {why}", "集群 {text}：{why}", MACHINES, MACHINES_ZH)
def machines_not_valid(text: str, why: Said | str) -> Said: ...

@say("the cluster has no nodes", "集群没有节点", MACHINES, MACHINES_ZH)
def machines_without_nodes() -> Said: ...

@say("there is no node yet that the added ones could be like", "还没有可供新增节点参照的节点", MACHINES, MACHINES_ZH)
def no_node_to_be_like() -> Said: ...

@say("it is neither NODESxGPUS, such as 64x8, nor a .yaml or .csv file", "既不是 NODESxGPUS（例如 64x8），也不是 .yaml 或 .csv 文件", MACHINES, MACHINES_ZH)
def neither_size_nor_file() -> Said: ...

@say("{pair} is not key=value", "{pair} 不是 key=value 的形式", MACHINES, MACHINES_ZH)
def not_key_and_value(pair: str) -> Said: ...

@say("it is not YAML: {error}", "不是合法的 YAML：{error}", MACHINES, MACHINES_ZH)
def machines_not_yaml(error: str) -> Said: ...

@say("it must be a list of groups of nodes, or hold one under nodes", "应为节点组的列表，或在 nodes 下含有这样的列表", MACHINES, MACHINES_ZH)
def machines_not_a_list() -> Said: ...

@say("{field} is not a field of a node; known: {known}", "{field} 不是节点的字段；可用：{known}", MACHINES, MACHINES_ZH)
def not_a_node_field(field: str, known: Names) -> Said: ...

@say("{field}: {error}", "{field}：{error}", MACHINES, MACHINES_ZH)
def node_amount_not_read(field: str, error: Said | str) -> Said: ...

@say("{field} must be from 0 to {most}", "{field} 应在 0 到 {most} 之间", MACHINES, MACHINES_ZH)
def node_amount_out_of_range(field: str, most: Count) -> Said: ...

# --- policies

@say("policy {text}: {why}", "策略 {text}：{why}", "Write NAME, or NAME:key=value,... to change some of its settings.", "请写 NAME，或用 NAME:key=value,... 调整其中的参数。")
def simulated_policy_not_valid(text: str, why: Said | str) -> Said: ...

@say("there is no policy {name}", "没有策略 {name}", "Known: {known}.", "可用：{known}。")
def no_such_policy(name: str, known: Names) -> Said: ...

@say("{pair} sets nothing", "{pair} 不是可用的设置", "Write key=value; keys: {keys}.", "请写成 key=value；可用的 key：{keys}。")
def turns_no_knob(pair: str, keys: Names) -> Said: ...

@say("{knob}: {error}", "{knob}：{error}")
def knob_not_read(knob: str, error: Said | str) -> Said: ...

@say("{written} is neither true nor false", "{written} 既不是 true 也不是 false")
def neither_true_nor_false(written: str) -> Said: ...

@say("{knob} {why}", "{knob}：{why}")
def knob_not_valid(knob: str, why: Said | str) -> Said: ...

@say("limits: there is no {word}", "limits：没有 {word}", "Use one of {known}.", "请使用 {known} 之一。")
def no_such_limits(word: str, known: Names) -> Said: ...

# --- quotas, shares and weights

@say("{text}: {why}", "{text}：{why}", RIGHTS, RIGHTS_ZH)
def rights_not_valid(text: str, why: Said | str) -> Said: ...

@say("{resource} is not a resource; there are {known} and gpu:MODEL", "{resource} 不是资源；可用：{known} 和 gpu:MODEL", RIGHTS, RIGHTS_ZH)
def no_such_resource(resource: str, known: Names) -> Said: ...

@say("the cap of {cap} {resource} is below the guarantee", "{resource} 的上限 {cap} 低于保障额度", RIGHTS, RIGHTS_ZH)
def cap_below_guarantee(cap: str, resource: str) -> Said: ...

@say("{written} is not a number", "{written} 不是数字", RIGHTS, RIGHTS_ZH)
def rights_not_a_number(written: str) -> Said: ...

@say("{written} is out of bounds", "{written} 超出范围", RIGHTS, RIGHTS_ZH)
def rights_out_of_bounds(written: str) -> Said: ...

@say("there is no workspace {name}; there are: {there}", "没有工作空间 {name}；现有：{there}", RIGHTS, RIGHTS_ZH)
def workspace_not_simulated(name: str, there: Names) -> Said: ...

@say("there is no virtual cluster {name}; there are: {there}", "没有虚拟集群 {name}；现有：{there}", RIGHTS, RIGHTS_ZH)
def virtual_cluster_not_simulated(name: str, there: Names) -> Said: ...

# --- faults

@say("{text} names no node of this cluster; there are for example {nodes}", "{text} 没有指定此集群中的节点；例如有 {nodes}")
def fault_of_no_node(text: str, nodes: Names) -> Said: ...

@say("{text} does not say how long the node is away", "{text} 没有说明节点故障持续多久")
def fault_without_end(text: str) -> Said: ...
