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

@say("age: by submit time, short jobs slightly earlier; sjf: shortest time limit first, long jobs may never start", "age：按提交时间，短任务略提前；sjf：运行时限最短者在前，长任务可能一直等待")
def knob_ordering_meaning() -> Said: ...

@say("Preference for short jobs", "短任务优先程度")
def knob_age_weight() -> Said: ...

@say("How much short jobs go first. At 1, every hour of time limit counts like arriving an hour later; 0: first come, first served", "短任务提前的程度。取 1 时，每 1 小时运行时限相当于晚提交 1 小时；取 0 时先来先服务")
def knob_age_weight_meaning() -> Said: ...

@say("Longest time limit that counts", "计入的最长运行时限")
def knob_age_cap_s() -> Said: ...

@say("Longer time limits count as this one. Times the preference above, it is the most that a job is moved back", "更长的运行时限按此值计；此值与上一项之积是任务最多被推后的时间")
def knob_age_cap_s_meaning() -> Said: ...

@say("Weight of fair shares", "公平份额的影响")
def knob_fair_weight_s() -> Said: ...

@say("How far back the jobs of a workspace move when it has used twice its share; 0 ignores past usage", "工作空间的用量为其应得份额两倍时，其任务后移的时间；0 表示不考虑历史用量")
def knob_fair_weight_s_meaning() -> Said: ...

@say("Bound of fair shares", "公平份额的上限")
def knob_fair_bound() -> Said: ...

@say("Overuse beyond this multiple of the share has no further effect", "超出应得份额达到此倍数后，不再继续后移")
def knob_fair_bound_meaning() -> Said: ...

@say("Half-life of past usage", "历史用量的半衰期")
def knob_fair_half_life_s() -> Said: ...

@say("After this time, past usage counts half", "每过这段时间，历史用量减半计算")
def knob_fair_half_life_s_meaning() -> Said: ...

@say("Backfill", "回填")
def knob_backfill() -> Said: ...

@say("none: strictly in order; easy: later jobs may start if they do not delay the first in line; easy-shortest: as easy, but the shortest first", "none：严格按顺序；easy：后面的任务可先启动，但不得推迟队首；easy-shortest：与 easy 相同，但短任务优先")
def knob_backfill_meaning() -> Said: ...

@say("Packing", "装箱")
def knob_packing() -> Said: ...

@say("best-fit: the node left fullest; worst-fit: the emptiest node; fgd: where fragmentation grows least", "best-fit：放在剩余最少的节点；worst-fit：放在空闲最多的节点；fgd：放在碎片增加最少的节点")
def knob_packing_meaning() -> Said: ...

@say("Packing of the other sub-tasks", "其余子任务的装箱")
def knob_packing_rest() -> Said: ...

@say("How the other sub-tasks of a job are placed after its most demanding one; same: as above", "任务中要求最高的子任务放好后，其余子任务如何放置；same：同上")
def knob_packing_rest_meaning() -> Said: ...

@say("Preemption", "抢占")
def knob_preemption() -> Said: ...

@say("off: never; class: a higher priority may take from a lower one; reclaim: owners also get lent quota back. Only jobs marked preemptible are interrupted", "off：从不；class：高优先级可抢占低优先级；reclaim：还可收回借出的配额。只中断标明可抢占的任务")
def knob_preemption_meaning() -> Said: ...

@say("Minimum run before preemption", "抢占前的最短运行时间")
def knob_preempt_min_run_s() -> Said: ...

@say("A job that has run for less time is not preempted", "运行不足这么久的任务不被抢占")
def knob_preempt_min_run_s_meaning() -> Said: ...

@say("Time between preemptions", "再次抢占间隔")
def knob_preempt_again_s() -> Said: ...

@say("The same job is preempted at most once in this time", "同一任务在这段时间内至多被抢占一次")
def knob_preempt_again_s_meaning() -> Said: ...

@say("Maximum preemptions at once", "单次抢占上限")
def knob_preempt_most() -> Said: ...

@say("How many jobs one scheduling pass preempts at most", "一次调度最多抢占的任务数")
def knob_preempt_most_meaning() -> Said: ...

@say("Cost of a restart", "重启代价")
def knob_restart_cost_s() -> Said: ...

@say("Estimated time lost when a job is stopped and started again", "任务停止后重新启动所损失时间的估计值")
def knob_restart_cost_s_meaning() -> Said: ...

@say("Maximum starts at once", "单次启动上限")
def knob_max_starts() -> Said: ...

@say("How many jobs one scheduling pass starts at most; the rest follow in the next one", "一次调度最多启动的任务数，其余在下一次")
def knob_max_starts_meaning() -> Said: ...


# --- values

@say("unknown field", "未知字段", "Known fields: {known}.", "可用字段：{known}。")
def unknown_knob(known: Names) -> Said: ...

@say("must be one of {choices}", "应为 {choices} 之一", "Choose one of them.", "请选择其中之一。")
def knob_not_one_of(choices: Names) -> Said: ...

@say("must be a whole number from {least} to {most}", "应为 {least} 到 {most} 之间的整数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_whole_number(least: str, most: str, usual: str) -> Said: ...

@say("must be a number of seconds from {least} to {most}", "应为 {least} 到 {most} 之间的秒数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_seconds(least: str, most: str, usual: str) -> Said: ...

@say("must be a number from {least} to {most}", "应为 {least} 到 {most} 之间的数", "The default is {usual}.", "默认值为 {usual}。")
def knob_not_number(least: str, most: str, usual: str) -> Said: ...
