"""What the queue says: why a job waits, will never run or makes room, what would let it start sooner, and why a start
is not foreseen.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Names, Seconds, say
from trainmaster.messages.said import Said

# --- why a job waits; the code is that of the reason

@say("Waiting for GPUs: {needs} needed ({type}, {each} per replica), {free} free, at most {largest} on one node", "等待加速卡：共需 {needs} 张（{type}，每个副本 {each} 张），现空闲 {free} 张，单个节点最多空闲 {largest} 张")
def waiting_gpus(needs: float, type: Said | str, each: float, free: float, largest: float) -> Said: ...

@say("Waiting for GPUs: {needs} needed ({type}, {each} per replica), none free", "等待加速卡：共需 {needs} 张（{type}，每个副本 {each} 张），现无空闲")
def waiting_gpus_none(needs: float, type: Said | str, each: float) -> Said: ...

@say("Waiting for CPU cores: {needs} needed ({each} per replica), {free} free, at most {largest} on one node", "等待 CPU：共需 {needs} 核（每个副本 {each} 核），现空闲 {free} 核，单个节点最多空闲 {largest} 核")
def waiting_cpu(needs: float, each: float, free: float, largest: float) -> Said: ...

@say("Waiting for CPU cores: {needs} needed ({each} per replica), none free", "等待 CPU：共需 {needs} 核（每个副本 {each} 核），现无空闲")
def waiting_cpu_none(needs: float, each: float) -> Said: ...

@say("Waiting for memory: {needs} needed ({each} per replica), {free} free, at most {largest} on one node", "等待内存：共需 {needs}（每个副本 {each}），现空闲 {free}，单个节点最多空闲 {largest}")
def waiting_memory(needs: Mib, each: Mib, free: Mib, largest: Mib) -> Said: ...

@say("Waiting for memory: {needs} needed ({each} per replica), none free", "等待内存：共需 {needs}（每个副本 {each}），现无空闲")
def waiting_memory_none(needs: Mib, each: Mib) -> Said: ...

@say("Waiting for ports: those of sub-task {role} ({fixed}) are in use", "等待端口：子任务 {role} 所需的端口（{fixed}）被占用")
def waiting_ports(role: str, fixed: Said | list[int]) -> Said: ...

@say("Waiting for nodes: the job does not fit on the {schedulable:node|nodes} of pool {pool} in service; out of service: {away}", "等待节点：资源池 {pool} 中可调度的 {schedulable} 个节点放不下此任务；不可用的节点：{away}")
def waiting_nodes(pool: str, schedulable: Count, away: list[Said | str]) -> Said: ...

@say("Behind {job}, which gets freed resources first", "排在 {job} 之后：释放的资源先分配给它")
def behind(job: Said) -> Said: ...

@say("Free resources are reserved for {job}, which starts {when}; {limit} this job would delay it", "空闲资源已预留给 {job}，它{when}启动；此任务{limit}，现在启动会推迟它")
def reserved(job: Said, when: Said, limit: Said) -> Said: ...

@say("{account} uses {used} and may use {limit} at most; this job needs {asks}", "{account} 已用 {used}，最多可用 {limit}；此任务需要 {asks}")
def quota(account: Said, used: Said, asks: Said | float, limit: Said | float) -> Said: ...

@say("{account} uses {used} (quota: {limit}) and can borrow {lent} more now; this job needs {asks}", "{account} 已用 {used}（配额 {limit}），现在还可借用 {lent}；此任务需要 {asks}")
def quota_lent(account: Said, used: Said, limit: Said | float, lent: Said | float, asks: Said | float) -> Said: ...

@say("The rest of the quota of {account} is reserved for {job}, which is ahead of this job", "{account} 的剩余配额已预留给 {job}，它排在此任务之前")
def quota_kept(account: Said, job: Said) -> Said: ...

@say("{account} runs {used:job|jobs} in pool {pool} and may run {limit} at a time at most", "{account} 在资源池 {pool} 中已有 {used} 个任务在运行，最多可同时运行 {limit} 个")
def quota_jobs(account: Said, used: Count, pool: str, limit: float) -> Said: ...

@say("{account} holds {used} of at most {limit} in pool {pool}; this job needs {asks}", "{account} 在资源池 {pool} 中已占用 {used}，最多 {limit}；此任务需要 {asks}")
def quota_of_person(account: Said, used: Said, limit: Said | float, pool: str, asks: Said | float) -> Said: ...

@say("Enough jobs are queued in the cluster of pool {pool}; this one is handed over when one of them starts", "资源池 {pool} 所在集群中排队的任务已足够多；其中有任务启动后就会提交此任务")
def cluster_full(pool: str) -> Said: ...

@say("About to be considered", "即将被调度")
def next_pass() -> Said: ...


# --- why a job will never run; the code is that of the reason

@say("There is no pool {pool}; there are: {pools}", "没有名为 {pool} 的资源池，现有：{pools}", "{instead}.", "{instead}。")
def no_such_pool(pool: str, pools: Names, instead: Said) -> Said: ...

@say("The pool has no node named {value}; there are: {choices}", "资源池中没有名为 {value} 的节点，现有：{choices}", "{instead}.", "{instead}。")
def no_such_node(value: str, choices: Names, instead: Said) -> Said: ...

@say("No node that the job may use has driver {value}; there are: {choices}", "任务可用的节点上没有版本为 {value} 的驱动，现有：{choices}", "{instead}.", "{instead}。")
def no_such_driver(value: str, choices: Names, instead: Said) -> Said: ...

@say("Sub-task {role} asks for GPUs of model {type}; the pool has: {types}", "子任务 {role} 要求加速卡型号 {type}，资源池中只有：{types}", "{instead}.", "{instead}。")
def no_such_card(role: str, type: str, types: Names, instead: Said) -> Said: ...

@say("Sub-task {role} asks for too many GPUs: {each} per replica ({type}), the largest node has {largest}", "子任务 {role} 申请的加速卡过多：每个副本 {each} 张（{type}），最大的节点只有 {largest} 张", "{instead}.", "{instead}。")
def never_gpus(role: str, each: float, type: Said | str, largest: float, instead: Said) -> Said: ...

@say("Sub-task {role} asks for too many CPU cores: {each} per replica, the largest suitable node has {largest}", "子任务 {role} 申请的 CPU 过多：每个副本 {each} 核，能满足其余要求的节点最多有 {largest} 核", "{instead}.", "{instead}。")
def never_cpu(role: str, each: float, largest: float, instead: Said) -> Said: ...

@say("Sub-task {role} asks for too much memory: {each} per replica, the largest suitable node has {largest}", "子任务 {role} 申请的内存过多：每个副本 {each}，能满足其余要求的节点最多有 {largest}", "{instead}.", "{instead}。")
def never_memory(role: str, each: Mib, largest: Mib, instead: Said) -> Said: ...

@say("Sub-task {role} asks for too many ports: {ports} per replica, more than the platform can assign", "子任务 {role} 申请的端口过多：每个副本 {ports} 个，超出平台可分配的端口数", "{instead}.", "{instead}。")
def never_ports(role: str, ports: Count, instead: Said) -> Said: ...

@say("Each replica fits by itself, but not all of them together: {asked} needed, all nodes have {there}", "每个副本单独放得下，全部副本同时放不下：共需 {asked}，全部节点共 {there}", "{instead}.", "{instead}。")
def never_together(asked: Said, there: Said, instead: Said) -> Said: ...

@say("The fixed ports {fixed} exist once per node, and {hosts:node is|nodes are} too few for all replicas", "固定端口 {fixed} 在每个节点上只能用一次，资源池只有 {hosts} 个节点，放不下全部副本", "{instead}.", "{instead}。")
def never_fixed_ports(fixed: list[int], hosts: Count, instead: Said) -> Said: ...

@say("Lower {places}", "将 {places}")
def lower_what_it_asks(places: list[Said]) -> Said: ...

@say("{path} to {amount}", "{path} 降到 {amount}")
def lowered_to(path: str, amount: float) -> Said: ...

@say("{path} to {amount}", "{path} 降到 {amount}")
def memory_lowered_to(path: str, amount: Mib) -> Said: ...

@say("Set {path} to one of: {choices}", "将 {path} 改为以下之一：{choices}")
def set_to_one_of(path: str, choices: Names) -> Said: ...

@say("Lower {path}, or ask an administrator to add nodes", "减少 {path}，或请管理员增加节点")
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

@say("when jobs without a time limit have ended", "在没有运行时限的任务结束后")
def after_jobs_without_limit() -> Said: ...

@say("with a time limit of {limit_s}", "的运行时限为 {limit_s}")
def with_a_limit(limit_s: Seconds) -> Said: ...

@say("without a time limit", "没有运行时限")
def without_a_limit() -> Said: ...

@say("virtual cluster {name}", "虚拟集群 {name}")
def account_of_virtual_cluster(name: str) -> Said: ...

@say("workspace {name}", "工作空间 {name}")
def account_of_workspace(name: str) -> Said: ...

@say("user {name}", "用户 {name}")
def account_of_user(name: str) -> Said: ...

@say("user {name} in workspace {workspace}", "工作空间 {workspace} 中的用户 {name}")
def account_of_member(name: str, workspace: str) -> Said: ...

@say("the unassigned share of pool {name}", "资源池 {name} 的未分配份额")
def account_of_the_rest(name: str) -> Said: ...

@say("any model", "任意型号")
def any_card_type() -> Said: ...

@say("{number:GPU|GPUs}", "{number} 张加速卡")
def cards(number: Count) -> Said: ...

@say("{number} GPUs", "{number} 张加速卡")
def parts_of_cards(number: float) -> Said: ...

@say("{number} {type} GPU", "{number} 张 {type} 加速卡")
def card_of_type(number: int, type: str) -> Said: ...

@say("{number} {type} GPUs", "{number} 张 {type} 加速卡")
def cards_of_type(number: float, type: str) -> Said: ...

@say("{number:core|cores}", "{number} 核")
def cores(number: Count) -> Said: ...

@say("{number} cores", "{number} 核")
def parts_of_cores(number: float) -> Said: ...

@say("{number:job|jobs}", "{number} 个任务")
def running_jobs(number: Count) -> Said: ...

@say("{memory} of memory", "{memory} 内存")
def memory_held(memory: Mib) -> Said: ...

@say("{memory}", "{memory}")
def memory_amount(memory: Mib) -> Said: ...

@say("{ports} of any number", "{ports} 个")
def ports_of_any_number(ports: int) -> Said: ...

@say("{node} ({reason})", "{node}（{reason}）")
def node_away(node: str, reason: Said) -> Said: ...


# --- why a running job makes room

@say("Makes room for {job}, which has a higher priority", "让位给 {job}：它的优先级更高")
def gives_way_to_higher_class(job: Said) -> Said: ...

@say("Makes room for {job}, which reclaims the quota that it lent", "让位给 {job}：它收回借出的配额")
def gives_way_to_owner_of_quota(job: Said) -> Said: ...


# --- what would let a waiting job start sooner

@say("Set a time limit of {limit_s}", "设置 {limit_s} 的运行时限")
def give_it_a_limit(limit_s: Seconds) -> Said: ...

@say("Shorten the time limit to {limit_s}", "将运行时限缩短到 {limit_s}")
def shorten_its_limit(limit_s: Seconds) -> Said: ...

@say("Raise the priority to urgent", "将优先级提高到紧急")
def make_it_urgent() -> Said: ...

@say("Raise the priority to very urgent", "将优先级提高到非常紧急")
def make_it_very_urgent() -> Said: ...

@say("Move to virtual cluster {name}", "改用虚拟集群 {name}")
def move_to_virtual_cluster(name: str) -> Said: ...

@say("Move to pool {name}", "改用资源池 {name}")
def move_to_pool(name: str) -> Said: ...

@say("Use flavor {flavor} for sub-task {role}", "子任务 {role} 改用规格 {flavor}")
def use_flavor(role: str, flavor: str) -> Said: ...

@say("Use {type} GPUs for sub-task {role}", "子任务 {role} 改用 {type} 加速卡")
def use_card_type(role: str, type: str) -> Said: ...

@say("Use {count:GPU|GPUs} instead of {now} for sub-task {role}", "子任务 {role} 的加速卡从 {now} 张减为 {count} 张")
def use_fewer_gpus(role: str, count: Count, now: float) -> Said: ...

@say("Use {count:CPU core|CPU cores} instead of {now} for sub-task {role}", "子任务 {role} 的 CPU 从 {now} 核减为 {count} 核")
def use_fewer_cores(role: str, count: Count, now: float) -> Said: ...

@say("Use {amount} of memory instead of {now} for sub-task {role}", "子任务 {role} 的内存从 {now} 减为 {amount}")
def use_less_memory(role: str, amount: Mib, now: Mib) -> Said: ...

@say("Use {count:replica|replicas} instead of {now} for sub-task {role}", "子任务 {role} 的副本从 {now} 个减为 {count} 个")
def use_fewer_replicas(role: str, count: Count, now: int) -> Said: ...

@say("Let sub-task {role} start with {count:replica|replicas}", "允许子任务 {role} 先以 {count} 个副本启动")
def start_with_replicas(role: str, count: Count) -> Said: ...


# --- why a start is not foreseen

@say("The cluster decides when the job starts", "何时启动由集群决定")
def cluster_decides_start() -> Said: ...

@say("The cluster gives no estimate", "集群没有给出预计开始时间")
def cluster_gives_no_estimate() -> Said: ...

@say("The forecast is being computed", "正在计算预计开始时间")
def forecast_being_made() -> Said: ...

@say("At least {most:job is|jobs are} ahead; only the first {most} of a pool get an exact forecast", "前面至少有 {most} 个任务；只为资源池最前面的 {most} 个任务给出准确预计")
def too_far_behind(most: Count) -> Said: ...

@say("Jobs ahead have no time limit, and there is no history yet of how long jobs run here", "前面的任务没有运行时限，也没有可参考的历史运行时间")
def jobs_ahead_without_limit() -> Said: ...

@say("It will not start when running jobs end; see why it is queued", "运行中的任务结束后它也不会启动；请看排队原因")
def ends_do_not_help() -> Said: ...
