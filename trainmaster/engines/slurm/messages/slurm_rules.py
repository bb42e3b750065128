"""What is said of a job that is to run on a Slurm cluster: that it can never start there, or as whom it runs."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Seconds, say
from trainmaster.messages.said import Said

# --- what it asks for

@say("The cluster of this pool assigns whole GPUs only", "该资源池所在的集群只分配整张加速卡", "Set gpu_share to 1, or choose a pool of another engine.", "请把 gpu_share 设为 1，或选择其他引擎的资源池。")
def whole_cards() -> Said: ...

@say("The cluster has no partition {name}", "集群中没有分区 {name}", "Choose another pool, or ask an administrator to set the partition of this pool.", "请选择其他资源池，或请管理员修改该资源池对应的分区。")
def no_partition(name: str) -> Said: ...

@say("The partition {partition} allows at most {most} per job", "分区 {partition} 的运行时限最长为 {most}", "Use a shorter time limit, or choose another pool.", "请缩短运行时限，或选择其他资源池。")
def partition_time(partition: str, most: Seconds) -> Said: ...

@say("The partition {partition} allows a job at most {most} MiB on one node", "分区 {partition} 在一个节点上最多允许一个任务使用 {most} MiB 内存", "Ask for less memory, or choose another pool.", "请减少内存，或选择其他资源池。")
def partition_memory(partition: str, most: int) -> Said: ...

# --- as whom it runs

@say("The cluster {engine} runs each job as the system user of its owner, and {person} has none there ({user})", "集群 {engine} 以提交者的系统用户运行任务，而那里没有 {person} 的系统用户 {user}", "Choose another pool, or ask an administrator to name the system user in engines.users.", "请选择其他资源池，或请管理员在 engines.users 中指定系统用户。")
def no_system_user(engine: str, person: str, user: str) -> Said: ...

@say("The cluster {engine} runs each job as the system user of its owner, and that of {person}, {user}, is root or the platform's own", "集群 {engine} 以提交者的系统用户运行任务，而 {person} 的系统用户 {user} 是 root 或平台自己的用户", "Choose another pool, or ask an administrator to name another system user in engines.users.", "请选择其他资源池，或请管理员在 engines.users 中指定另一个系统用户。")
def forbidden_system_user(engine: str, person: str, user: str) -> Said: ...

@say("The platform cannot submit jobs on the cluster {engine} as {user}, the system user of {person}: {why}", "平台不能在集群 {engine} 上以 {person} 的系统用户 {user} 的身份提交任务：{why}", "Choose another pool, or ask an administrator to add the sudo rule from the guide.", "请选择其他资源池，或请管理员按指南补上 sudo 规则。")
def not_on_behalf(engine: str, person: str, user: str, why: Said | str) -> Said: ...

@say("Jobs on the cluster {engine} run as the platform's system user {user}, not as their owners", "集群 {engine} 上的任务以平台的系统用户 {user} 运行，而不是以提交者的身份", "They can reach whatever that user can; an administrator can change this with run_as.", "任务能访问该用户能访问的一切；管理员可用 run_as 改变。")
def runs_as_service(engine: str, user: str) -> Said: ...

@say("The nodes of this cluster do not share the platform's data folder, so they cannot read the environment of an image", "此集群的节点不共享平台的数据目录，因此读不到镜像的环境", "Choose another pool, or the image default; an administrator can put server.data on a file system that the nodes share.", "请选择其他资源池，或使用镜像 default；管理员可将 server.data 放在节点共享的文件系统上。")
def environments_not_shared() -> Said: ...

@say("The nodes of this cluster do not share the platform's data folder, so they cannot read the files of a container image", "此集群的节点不共享平台的数据目录，因此读不到容器镜像的文件", "Choose another pool; an administrator can put server.data on a file system that the nodes share.", "请选择其他资源池；管理员可将 server.data 放在节点共享的文件系统上。")
def containers_not_shared() -> Said: ...

@say("Container images need the sandbox, which is turned off on this cluster", "容器镜像需要沙箱，而此集群关闭了沙箱", "Choose another pool, or an image made of packages; an administrator can install bubblewrap on the nodes and set sandbox to bubblewrap.", "请选择其他资源池，或由软件包生成的镜像；管理员可在节点上安装 bubblewrap，并把 sandbox 设为 bubblewrap。")
def containers_unsandboxed() -> Said: ...
