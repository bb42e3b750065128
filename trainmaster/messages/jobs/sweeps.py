"""What is said of sweeps: many jobs of one document that differ in their parameters."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- what is wrong with a document

@say("The sweep has {count:problem|problems}", "参数扫描有 {count} 个问题", "Fix the fields listed.", "请修正列出的字段。")
def sweep_not_valid(count: Count) -> Said: ...

@say("A job has no field sweep: it makes many jobs of one file", "任务没有 sweep 字段：它由一个文件生成多个任务", "Submit it with tm sweep FILE, or POST /api/v1/sweeps.", "请用 tm sweep FILE 或 POST /api/v1/sweeps 提交。")
def sweep_in_a_job() -> Said: ...

@say("The file has no sweep", "文件中没有 sweep", "Add sweep: with a grid, random or list of parameters, or use tm submit for one job.", "请加上 sweep:，写明 grid、random 或 list；只提交一个任务请用 tm submit。")
def no_sweep() -> Said: ...

@say("Exactly one of {known} says what the entries are; here are {found}", "应恰好用 {known} 之一说明各个条目，这里有：{found}", "Keep one of them.", "请只保留其中一个。")
def one_kind_of_sweep(known: Names, found: Names) -> Said: ...

@say("A random sweep needs the number of its entries", "随机取样的参数扫描需要写明条目数", "Add count, such as count: 20.", "请加上 count，例如 count: 20。")
def count_missing() -> Said: ...

@say("Only a random sweep takes {field}", "只有随机取样的参数扫描可以使用 {field}", "Remove it: the number of entries follows from the values.", "请删去：条目数由取值决定。")
def only_for_random(field: str) -> Said: ...

@say("All {count:entry|entries} send their outputs to {place}: files of the same name meet there", "全部 {count} 个条目的输出都上传到 {place}，同名文件会互相冲突", "Write {{name}} or {{id}} in it, which is another one for each entry.", "请在其中使用 {{name}} 或 {{id}}，使每个条目各不相同。")
def outputs_of_entries_in_one_place(count: Count, place: str) -> Said: ...

@say("The sweep has {count:entry|entries}; at most {maximum} are allowed", "参数扫描有 {count} 个条目，最多 {maximum} 个", "Use fewer values, or several sweeps.", "请减少取值，或分成多个参数扫描。")
def too_many_entries(count: Count, maximum: Count) -> Said: ...

@say("min is not less than max", "min 不小于 max", "Give a range, such as {{min: 0.001, max: 0.1}}.", "请给出范围，例如 {{min: 0.001, max: 0.1}}。")
def range_empty() -> Said: ...

@say("A logarithmic range begins above 0", "对数范围必须从大于 0 的数开始", "Use a min above 0, or leave out log.", "请使用大于 0 的 min，或去掉 log。")
def range_not_logarithmic() -> Said: ...

@say("A range of whole numbers begins and ends with one", "整数范围的两端必须是整数", "Use whole numbers for min and max, or leave out int.", "请使用整数的 min 和 max，或去掉 int。")
def range_not_whole() -> Said: ...

@say("The names of the entries would be too long: {longest}", "条目的名称会过长：{longest}", "Use a name of at most {most:character|characters}.", "请使用最多 {most} 个字符的名称。")
def entry_names_too_long(longest: str, most: Count) -> Said: ...

@say("Entries of a sweep have no slug", "参数扫描的条目没有 slug", "Remove it: they are told apart by their names.", "请删去：条目以名称区分。")
def slug_of_a_sweep() -> Said: ...

@say("Only a native job file can have a sweep", "只有原生格式的任务文件可以包含 sweep", "Write the job as tm show JOB --spec prints it.", "请使用原生格式编写任务。")
def sweep_not_native() -> Said: ...

@say("There is no sub-task {role} whose parameters could be set", "没有可设置参数的子任务 {role}", "Use one of {known}.", "请使用 {known} 之一。")
def no_such_role_of_sweep(role: str, known: Names) -> Said: ...

@say("Early stopping needs the metric that it goes by", "提前停止需要写明所依据的指标", "Add metric to the sweep, such as metric: loss.", "请在 sweep 中加上 metric，例如 metric: loss。")
def early_without_metric() -> Said: ...

@say("Whether less or more of {metric} is better is not clear from its name", "无法从名称判断 {metric} 越小越好还是越大越好", "Add goal: min or goal: max.", "请加上 goal: min 或 goal: max。")
def goal_not_clear(metric: str) -> Said: ...

@say("The rule {rule} has no {field}", "规则 {rule} 没有 {field}", "Remove it.", "请删去。")
def not_of_this_rule(rule: str, field: str) -> Said: ...

@say("not a table of entries: {detail}", "不是条目表：{detail}", "The first line names the parameters; each further line is an entry.", "第一行是参数名，之后每行一个条目。")
def bad_csv(detail: Said | str) -> Said: ...

@say("it has no line of values", "没有取值行")
def csv_without_rows() -> Said: ...

@say("line {line} has {found:value|values}, the first line has {wanted}", "第 {line} 行有 {found} 个值，第一行有 {wanted} 个")
def csv_row_of_other_length(line: int, found: Count, wanted: int) -> Said: ...

@say("a name in the first line is empty or there twice: {name}", "第一行中的名称为空或重复：{name}")
def csv_bad_name(name: str) -> Said: ...

# --- which sweep

@say("There is no sweep {ref}", "没有参数扫描 {ref}", "List the sweeps with: tm sweeps list", "用 tm sweeps list 列出参数扫描。")
def no_such_sweep(ref: str) -> Said: ...

@say("Several sweeps are meant by {ref}: {ids}", "{ref} 对应多个参数扫描：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_sweeps(ref: str, ids: str) -> Said: ...

@say("The sweep is shared with you to read; it belongs to {owner}", "该参数扫描以只读方式共享给您；所有者是 {owner}", "Ask {owner}, or submit one of your own.", "请联系 {owner}，或自行提交。")
def sweep_only_to_read(owner: str) -> Said: ...

@say("Sweep {name} has {live:entry|entries} that did not end", "参数扫描 {name} 有 {live} 个条目尚未结束", "Stop it first: tm sweeps stop {name}", "请先停止：tm sweeps stop {name}")
def sweep_not_ended(name: str, live: Count) -> Said: ...

@say("No entry of sweep {name} failed", "参数扫描 {name} 没有失败的条目", "Only what failed or ran out of time is tried again; --stopped also takes what was stopped.", "只重试失败或超时的条目；--stopped 也包括被停止的。")
def nothing_to_retry(name: str) -> Said: ...

@say("The document of sweep {name} cannot be read", "无法读取参数扫描 {name} 的文档", "Its entries are jobs of their own: tm list --sweep {name}", "其条目都是独立的任务：tm list --sweep {name}")
def sweep_unreadable(name: str) -> Said: ...

@say("not an order of entries", "不是条目的排序方式", "Use one of {known}, with - in front for the other way round.", "请使用 {known} 之一，前面加 - 表示反向。")
def not_an_order_of_entries(known: Names) -> Said: ...

# --- why an entry waits, and why it was stopped

@say("At most {most:entry of the sweep runs|entries of the sweep run} at a time", "该参数扫描最多同时运行 {most} 个条目")
def waits_for_its_turn(most: Count) -> Said: ...

@say("At step {step}, {metric} was {value} at best: rank {rank} of {of}, and only the best {kept} go on", "在第 {step} 步，{metric} 最好为 {value}：在 {of} 个条目中排第 {rank}，只有前 {kept} 个继续")
def halved(metric: str, step: float, value: float, rank: int, of: int, kept: int) -> Said: ...

@say("At step {step}, {metric} was {value} at best, worse than the median {median} of {others:other|others}", "在第 {step} 步，{metric} 最好为 {value}，不如其他 {others} 个条目的中位数 {median}")
def below_median(metric: str, step: float, value: float, median: float, others: Count) -> Said: ...

@say("At step {step}, {metric} was no number", "在第 {step} 步，{metric} 不是数值")
def no_number(metric: str, step: float) -> Said: ...

# --- the audit

@say("Submitted sweep {name} with {entries:entry|entries}", "提交了参数扫描 {name}，共 {entries} 个条目")
def sweep_submitted(name: str, entries: Count) -> Said: ...

@say("Stopped {entries:entry|entries} of sweep {name}", "停止了参数扫描 {name} 的 {entries} 个条目")
def sweep_stopped(name: str, entries: Count) -> Said: ...

@say("Tried {entries:entry|entries} of sweep {name} again", "重试了参数扫描 {name} 的 {entries} 个条目")
def sweep_retried(name: str, entries: Count) -> Said: ...

@say("Deleted sweep {name}", "删除了参数扫描 {name}")
def sweep_deleted(name: str) -> Said: ...

@say("Deleted sweep {name}, not its jobs", "删除了参数扫描 {name}，保留其任务")
def sweep_dissolved(name: str) -> Said: ...
