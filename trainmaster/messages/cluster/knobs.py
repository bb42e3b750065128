"""The names and meanings of the queue's knobs, and what can be wrong with their values. `queue.policy` has their
bounds.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Names, say
from trainmaster.messages.said import Said

# --- names and meanings

@say("Order", "排序")
def knob_ordering() -> Said: ...

@say("age: who came first, with short jobs a little earlier; sjf: by limit alone, long jobs may starve", "age：先提交者在前，短任务略提前；sjf：只按时长上限，长任务可能一直等待")
def knob_ordering_meaning() -> Said: ...

@say("Preference for short jobs", "短任务优先程度")
def knob_age_weight() -> Said: ...

@say("Hours that one hour of limit moves a job back in the line; 0 is first come, first served", "每小时时长上限使任务在队列中后移多少小时；0 为先来先服务")
def knob_age_weight_meaning() -> Said: ...

@say("Longest limit that counts", "计入的最长时长")
def knob_age_cap_s() -> Said: ...

@say("Longer limits count as this; times the weight above it is the most that a job is moved back", "超过此值的时长上限按此值计；与上一项之积是任务最多被推后的时间")
def knob_age_cap_s_meaning() -> Said: ...

@say("Weight of fair shares", "公平份额的影响")
def knob_fair_weight_s() -> Said: ...

@say("How far back a workspace's jobs move when it has used twice its share; 0 ignores what was used", "工作空间用量为其应得份额两倍时，其任务后移的时间；0 为不考虑用量")
def knob_fair_weight_s_meaning() -> Said: ...

@say("Bound of fair shares", "公平份额的上限")
def knob_fair_bound() -> Said: ...

@say("Beyond this many times its share in excess nothing moves back further", "超出应得份额多少倍后不再继续后移")
def knob_fair_bound_meaning() -> Said: ...

@say("Half-life of usage", "用量半衰期")
def knob_fair_half_life_s() -> Said: ...

@say("What was used counts half after this time", "过去的用量每过这么久只算一半")
def knob_fair_half_life_s_meaning() -> Said: ...

@say("Backfill", "回填")
def knob_backfill() -> Said: ...

@say("none: strictly in order; easy: later jobs may start if the head is not delayed; easy-shortest: shortest first", "none：严格按顺序；easy：后面的任务可先启动，但不得推迟队首；easy-shortest：其中短任务先试")
def knob_backfill_meaning() -> Said: ...

@say("Packing", "装箱")
def knob_packing() -> Said: ...

@say("best-fit: on the node left fullest; worst-fit: on the emptiest; fgd: where fragmentation grows least", "best-fit：放在剩余最少的节点；worst-fit：放在空闲最多的节点；fgd：放在使碎片增加最少的节点")
def knob_packing_meaning() -> Said: ...

@say("Packing of the rest", "余下角色的装箱")
def knob_packing_rest() -> Said: ...

@say("How the other roles of a gang are placed once its hardest is; same: as above", "任务中要求最高的角色放好后，其余角色如何放置；same：同上")
def knob_packing_rest_meaning() -> Said: ...

@say("Preemption", "抢占")
def knob_preemption() -> Said: ...

@say("off: never; class: a higher class may take from a lower; reclaim: owners also get lent quota back. Only from jobs that allow it", "off：从不；class：高优先级可抢占低优先级；reclaim：还可收回借出的配额。只抢占声明可抢占的任务")
def knob_preemption_meaning() -> Said: ...

@say("Least run before preemption", "抢占前最少运行")
def knob_preempt_min_run_s() -> Said: ...

@say("A job that has run for less is not preempted", "运行不足这么久的任务不被抢占")
def knob_preempt_min_run_s_meaning() -> Said: ...

@say("Time between preemptions", "再次抢占间隔")
def knob_preempt_again_s() -> Said: ...

@say("The same job is preempted at most once in this time", "同一任务在这段时间内至多被抢占一次")
def knob_preempt_again_s_meaning() -> Said: ...

@say("Most preemptions at once", "单次抢占上限")
def knob_preempt_most() -> Said: ...

@say("Jobs preempted in one pass at most", "一次调度最多抢占的任务数")
def knob_preempt_most_meaning() -> Said: ...

@say("Cost of a restart", "重启代价")
def knob_restart_cost_s() -> Said: ...

@say("Time lost when a job is stopped and started again, estimated", "停止后再运行到原处估计损失的时间")
def knob_restart_cost_s_meaning() -> Said: ...

@say("Most starts at once", "单次启动上限")
def knob_max_starts() -> Said: ...

@say("Jobs started in one pass at most; the next pass goes on", "一次调度最多启动的任务数，其余在下一次")
def knob_max_starts_meaning() -> Said: ...


# --- values

@say("unknown field", "未知字段", "Known fields: {known}.", "可用字段：{known}。")
def unknown_knob(known: Names) -> Said: ...

@say("must be one of {choices}", "应为 {choices} 之一", "Choose one of them.", "选择其中之一。")
def knob_not_one_of(choices: Names) -> Said: ...

@say("must be a whole number from {least} to {most}", "应为 {least} 到 {most} 之间的整数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_whole_number(least: str, most: str, usual: str) -> Said: ...

@say("must be a number of seconds from {least} to {most}", "应为 {least} 到 {most} 之间的秒数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_seconds(least: str, most: str, usual: str) -> Said: ...

@say("must be a number from {least} to {most}", "应为 {least} 到 {most} 之间的数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_number(least: str, most: str, usual: str) -> Said: ...
