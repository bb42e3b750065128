"""What is said of a job that is to run on a Slurm cluster: that it can never start there, or as whom it runs."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Seconds, say
from trainmaster.messages.said import Said

# --- what it asks for

@say("The cluster of this pool gives whole cards only", "该资源池所在的集群只分配整卡", "Set gpu_share to 1, or choose a pool of another engine.", "把 gpu_share 设为 1，或选择其他引擎的资源池。")
def whole_cards() -> Said: ...

@say("The cluster has no partition {name}", "集群中没有分区 {name}", "Choose another pool, or have an administrator name the partition that this pool is.", "选择其他资源池，或请管理员修改该资源池对应的分区。")
def no_partition(name: str) -> Said: ...

@say("The partition {partition} lets a job run for {most} at most", "分区 {partition} 的时限是 {most}", "Ask for less time, or choose another pool.", "缩短使用时长，或选择其他资源池。")
def partition_time(partition: str, most: Seconds) -> Said: ...

@say("The partition {partition} gives a job {most} MiB on one node at most", "分区 {partition} 在一个节点上最多给一个任务 {most} MiB 内存", "Ask for less memory, or choose another pool.", "减少内存，或选择其他资源池。")
def partition_memory(partition: str, most: int) -> Said: ...

# --- as whom it runs

@say("The cluster {engine} runs jobs as the system user of whoever submits them, and {person} has none there ({user})", "集群 {engine} 以提交者的系统用户运行任务，而那里没有 {person} 的系统用户 {user}", "Choose another pool, or ask an administrator to name the system user in engines.users.", "选择其他资源池，或请管理员在 engines.users 中指定系统用户。")
def no_system_user(engine: str, person: str, user: str) -> Said: ...

@say("The cluster {engine} runs jobs as the system user of whoever submits them, and that of {person}, {user}, is root or the platform's own", "集群 {engine} 以提交者的系统用户运行任务，而 {person} 的系统用户 {user} 是 root 或平台自己的用户", "Choose another pool, or ask an administrator to name another system user in engines.users.", "选择其他资源池，或请管理员在 engines.users 中指定另一个系统用户。")
def forbidden_system_user(engine: str, person: str, user: str) -> Said: ...

@say("The platform may not submit jobs as the system user {user} of {person} on the cluster {engine}: {why}", "平台不得在集群 {engine} 上以 {person} 的系统用户 {user} 的身份提交任务：{why}", "Choose another pool, or ask an administrator for the sudo rule of the guide.", "选择其他资源池，或请管理员按指南补上 sudo 规则。")
def not_on_behalf(engine: str, person: str, user: str, why: Said | str) -> Said: ...

@say("Jobs on the cluster {engine} run as the platform's own system user {user}, not as the person who submits them", "集群 {engine} 上的任务以平台的系统用户 {user} 运行，而不是以提交者的身份", "They reach what that user reaches; an administrator can change it with run_as.", "任务能访问该用户能访问的一切；管理员可用 run_as 改变。")
def runs_as_service(engine: str, user: str) -> Said: ...
