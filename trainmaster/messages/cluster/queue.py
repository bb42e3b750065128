"""What the queue says: why a job waits, will never run or makes room, what would let it start sooner, and why a start
is not foreseen.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Names, Seconds, say
from trainmaster.messages.said import Said

# --- why a job waits; the code is that of the reason

@say("Waiting for cards: {needs} needed ({type}, {each} per replica), {free} free, at most {largest} on one node", "等待加速卡：共需 {needs} 张（{type}，每个副本 {each} 张），现空闲 {free} 张，单个节点最多空闲 {largest} 张")
def waiting_gpus(needs: float, type: Said | str, each: float, free: float, largest: float) -> Said: ...

@say("Waiting for CPU: {needs} cores needed ({each} per replica), {free} free, at most {largest} on one node", "等待 CPU：共需 {needs} 核（每个副本 {each} 核），现空闲 {free} 核，单个节点最多空闲 {largest} 核")
def waiting_cpu(needs: float, each: float, free: float, largest: float) -> Said: ...

@say("Waiting for memory: {needs} needed ({each} per replica), {free} free, at most {largest} on one node", "等待内存：共需 {needs}（每个副本 {each}），现空闲 {free}，单个节点最多空闲 {largest}")
def waiting_memory(needs: Mib, each: Mib, free: Mib, largest: Mib) -> Said: ...

@say("Waiting for ports: those that role {role} asks for ({fixed}) are in use", "等待端口：角色 {role} 所需的端口（{fixed}）被占用")
def waiting_ports(role: str, fixed: Said | list[int]) -> Said: ...

@say("Waiting for nodes: the {schedulable:node|nodes} of pool {pool} in service cannot carry it; out of service: {away}", "等待节点：资源池 {pool} 中现可调度的 {schedulable} 个节点放不下此任务，不可用的节点：{away}")
def waiting_nodes(pool: str, schedulable: Count, away: list[Said | str]) -> Said: ...

@say("Behind {job}, which gets what is freed first", "排在 {job} 之后：它先得到释放出来的资源")
def behind(job: Said) -> Said: ...

@say("What is free is kept for {job}, which starts {when}; {limit} this job would delay it", "空闲的资源留给{job}，它{when}启动；此任务{limit}，现在启动会推迟它")
def reserved(job: Said, when: Said, limit: Said) -> Said: ...

@say("The quota of {account} is reached: {used} in use, {asks} more would exceed {limit}", "{account} 的配额已满：已用 {used}，再加 {asks} 将超过 {limit}")
def quota(account: Said, used: Said, asks: Said | float, limit: Said | float) -> Said: ...

@say("{account} holds {used}; beyond its quota of {limit} it borrows what others leave: {lent} now, this job asks for {asks}", "{account} 已用 {used}，超过其配额 {limit} 的部分只能借用他人未用的：现可借 {lent}，此任务需要 {asks}")
def quota_lent(account: Said, used: Said, limit: Said | float, lent: Said | float, asks: Said | float) -> Said: ...

@say("What is left of the quota of {account} is kept for {job}, which comes first and waits for it; now this job would delay it", "{account} 的配额留给{job}，它排在前面，也在等待这份配额；此任务现在启动会推迟它")
def quota_kept(account: Said, job: Said) -> Said: ...

@say("Enough jobs wait in the queue of the cluster of pool {pool}; this one is handed over when one of them starts", "资源池 {pool} 所在集群的队列中已有足够多的任务；有任务启动后就会提交此任务")
def cluster_full(pool: str) -> Said: ...

@say("About to be considered", "即将被调度")
def next_pass() -> Said: ...


# --- why a job will never run; the code is that of the reason

@say("There is no pool {pool}; there are: {pools}", "没有名为 {pool} 的资源池，现有：{pools}", "{instead}.", "{instead}。")
def no_such_pool(pool: str, pools: Names, instead: Said) -> Said: ...

@say("The pool has no node named {value}; there are: {choices}", "资源池中没有名为 {value} 的节点，现有：{choices}", "{instead}.", "{instead}。")
def no_such_node(value: str, choices: Names, instead: Said) -> Said: ...

@say("No node that may be used has the driver {value}; there are: {choices}", "可用的节点上没有版本为 {value} 的驱动，现有：{choices}", "{instead}.", "{instead}。")
def no_such_driver(value: str, choices: Names, instead: Said) -> Said: ...

@say("Role {role} asks for cards of type {type}; the pool has: {types}", "角色 {role} 要求加速卡型号 {type}，资源池中只有：{types}", "{instead}.", "{instead}。")
def no_such_card(role: str, type: str, types: Names, instead: Said) -> Said: ...

@say("Role {role} asks for {each} cards per replica ({type}), the largest node has {largest}", "角色 {role} 的每个副本需要 {each} 张加速卡（{type}），最大的节点只有 {largest} 张", "{instead}.", "{instead}。")
def never_gpus(role: str, each: float, type: Said | str, largest: float, instead: Said) -> Said: ...

@say("Role {role} asks for {each} CPU cores per replica, the largest node has {largest}", "角色 {role} 的每个副本需要 {each} 核 CPU，能满足其余要求的节点最多有 {largest} 核", "{instead}.", "{instead}。")
def never_cpu(role: str, each: float, largest: float, instead: Said) -> Said: ...

@say("Role {role} asks for {each} of memory per replica, the largest node has {largest}", "角色 {role} 的每个副本需要 {each} 内存，最大的节点只有 {largest}", "{instead}.", "{instead}。")
def never_memory(role: str, each: Mib, largest: Mib, instead: Said) -> Said: ...

@say("Role {role} asks for {ports:port|ports} per replica, more than there are to give out", "角色 {role} 的每个副本需要 {ports} 个端口，超出可分配的端口范围", "{instead}.", "{instead}。")
def never_ports(role: str, ports: Count, instead: Said) -> Said: ...

@say("Every replica fits by itself, all together do not: {asked} needed, all nodes have {there}", "每个副本单独放得下，全部副本同时放不下：共需 {asked}，全部节点共 {there}", "{instead}.", "{instead}。")
def never_together(asked: Said, there: Said, instead: Said) -> Said: ...

@say("The fixed ports {fixed} exist once per host, and {hosts:host is|hosts are} too few for all replicas", "固定端口 {fixed} 在每台主机上只能用一次，资源池只有 {hosts} 台主机，放不下全部副本", "{instead}.", "{instead}。")
def never_fixed_ports(fixed: list[int], hosts: Count, instead: Said) -> Said: ...

@say("Lower {places}", "将 {places}")
def lower_what_it_asks(places: list[Said]) -> Said: ...

@say("{path} to {amount}", "{path} 降到 {amount}")
def lowered_to(path: str, amount: float) -> Said: ...

@say("{path} to {amount}", "{path} 降到 {amount}")
def memory_lowered_to(path: str, amount: Mib) -> Said: ...

@say("Set {path} to one of: {choices}", "将 {path} 改为以下之一：{choices}")
def set_to_one_of(path: str, choices: Names) -> Said: ...

@say("Ask for less at {path}, or ask the administrator for nodes", "减少 {path} 的要求，或请管理员增加节点")
def ask_for_less_or_nodes(path: str) -> Said: ...


# --- the parts of these: whose, when, how much

@say("job {name}", "任务 {name}")
def job_named(name: str) -> Said: ...

@say("another user's job", "其他用户的任务")
def another_users_job() -> Said: ...

@say("a job of {owner}", "用户 {owner} 的任务")
def job_of(owner: str) -> Said: ...

@say("another job", "另一个任务")
def another_job() -> Said: ...

@say("any moment", "即将")
def any_moment() -> Said: ...

@say("in {in_s} at the latest", "最迟在 {in_s} 后")
def at_the_latest_in(in_s: Seconds) -> Said: ...

@say("when jobs without a limit have ended", "在无时长上限的任务结束后")
def after_jobs_without_limit() -> Said: ...

@say("with a limit of {limit_s}", "的时长上限为 {limit_s}")
def with_a_limit(limit_s: Seconds) -> Said: ...

@say("without a limit", "没有时长上限")
def without_a_limit() -> Said: ...

@say("virtual cluster {name}", "虚拟集群 {name}")
def account_of_virtual_cluster(name: str) -> Said: ...

@say("workspace {name}", "工作空间 {name}")
def account_of_workspace(name: str) -> Said: ...

@say("user {name}", "用户 {name}")
def account_of_user(name: str) -> Said: ...

@say("the unassigned share of pool {name}", "资源池 {name} 的未分配份额")
def account_of_the_rest(name: str) -> Said: ...

@say("any type", "任意型号")
def any_card_type() -> Said: ...

@say("{number:card|cards}", "{number} 张卡")
def cards(number: Count) -> Said: ...

@say("{number} cards", "{number} 张卡")
def parts_of_cards(number: float) -> Said: ...

@say("{number} {type} card", "{number} 张 {type} 卡")
def card_of_type(number: int, type: str) -> Said: ...

@say("{number} {type} cards", "{number} 张 {type} 卡")
def cards_of_type(number: float, type: str) -> Said: ...

@say("{number:core|cores}", "{number} 核")
def cores(number: Count) -> Said: ...

@say("{number} cores", "{number} 核")
def parts_of_cores(number: float) -> Said: ...

@say("{memory} of memory", "{memory} 内存")
def memory_held(memory: Mib) -> Said: ...

@say("{memory}", "{memory}")
def memory_amount(memory: Mib) -> Said: ...

@say("{ports} of any number", "{ports} 个")
def ports_of_any_number(ports: int) -> Said: ...

@say("{node} ({reason})", "{node}（{reason}）")
def node_away(node: str, reason: Said) -> Said: ...


# --- why a running job makes room

@say("Makes room for {job}, which is of a higher priority class", "让位给{job}：它的优先级更高")
def gives_way_to_higher_class(job: Said) -> Said: ...

@say("Makes room for {job}, which takes back quota that it had lent", "让位给{job}：它收回借出的配额")
def gives_way_to_owner_of_quota(job: Said) -> Said: ...


# --- what would let a waiting job start sooner

@say("Give it a limit of {limit_s}", "设置时长上限 {limit_s}")
def give_it_a_limit(limit_s: Seconds) -> Said: ...

@say("Shorten its limit to {limit_s}", "时长上限缩短到 {limit_s}")
def shorten_its_limit(limit_s: Seconds) -> Said: ...

@say("Make it urgent", "优先级改为紧急")
def make_it_urgent() -> Said: ...

@say("Make it very urgent", "优先级改为非常紧急")
def make_it_very_urgent() -> Said: ...

@say("Move it to virtual cluster {name}", "改到虚拟集群 {name}")
def move_to_virtual_cluster(name: str) -> Said: ...

@say("Move it to pool {name}", "改到资源池 {name}")
def move_to_pool(name: str) -> Said: ...

@say("Use flavor {flavor} for role {role}", "角色 {role} 改用规格 {flavor}")
def use_flavor(role: str, flavor: str) -> Said: ...

@say("Use cards of type {type} for role {role}", "角色 {role} 改用型号 {type}")
def use_card_type(role: str, type: str) -> Said: ...

@say("Lower {field} of role {role} to {amount}", "角色 {role} 的 {field} 降到 {amount}")
def lower_amount(role: str, field: str, amount: int) -> Said: ...

@say("Lower {field} of role {role} to {amount}", "角色 {role} 的 {field} 降到 {amount}")
def lower_memory(role: str, field: str, amount: Mib) -> Said: ...

@say("Lower the replicas of role {role} to {count}", "角色 {role} 的副本数降到 {count}")
def lower_replicas(role: str, count: int) -> Said: ...

@say("Let role {role} start with {count:replica|replicas}", "允许角色 {role} 以 {count} 个副本启动")
def start_with_replicas(role: str, count: Count) -> Said: ...


# --- why a start is not foreseen

@say("The cluster decides when it starts", "何时启动由集群决定")
def cluster_decides_start() -> Said: ...

@say("The cluster gives no estimate", "集群尚未给出预计启动时间")
def cluster_gives_no_estimate() -> Said: ...

@say("The forecast is being made", "预测正在生成")
def forecast_being_made() -> Said: ...

@say("At least {most:job is|jobs are} ahead of it; only the first {most} of a pool are foreseen exactly", "它前面至少有 {most} 个任务；只有资源池最前面的 {most} 个任务得到准确预测")
def too_far_behind(most: Count) -> Said: ...

@say("Jobs ahead have no limit, and nothing is known yet of how long jobs run here", "前面的任务没有时长上限，也没有可参考的历史运行时长")
def jobs_ahead_without_limit() -> Said: ...

@say("That running jobs end does not let it start: see why it waits", "正在运行的任务结束也不能使它启动：见等待原因")
def ends_do_not_help() -> Said: ...
