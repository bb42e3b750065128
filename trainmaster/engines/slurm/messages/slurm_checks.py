"""What is said when a cluster is looked at before jobs are sent to it: what each check is called, what it found, and
what to do about it.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

CALLED = "contains a character that is special to Slurm or the shell"
CALLED_ZH = "含有对 Slurm 或 shell 有特殊含义的字符"
WRITABLE = "It must be writable for the server's user and support fsync and hard links."
WRITABLE_ZH = "服务器用户须能写入该目录，且其文件系统须支持 fsync 和硬链接。"
ROOM = "Code, logs, outputs and models of all jobs are stored there: make room, or choose another folder."
ROOM_ZH = "所有任务的代码、日志、输出和模型都存放在那里：请清理空间，或指定其他目录。"
TOKEN = "Write what scontrol token prints after SLURM_JWT= into the file of rest_token, and renew it before it expires."
TOKEN_ZH = "请把 scontrol token 输出中 SLURM_JWT= 之后的内容写入 rest_token 所指的文件，并在过期前更新。"
SHARED = "The shared file system must be writable on every node and support fsync and hard links."
SHARED_ZH = "共享文件系统在每个节点上都须可写，并支持 fsync 和硬链接。"
SCRATCH = "Choose a folder that this user can create and write on every node: --scratch DIR."
SCRATCH_ZH = "请指定此用户在每个节点上都能创建并写入的目录：--scratch DIR。"
SEEN = "slurmrestd must serve this cluster as a user who can see all jobs (PrivateData)."
SEEN_ZH = "slurmrestd 须服务于此集群，且其用户能看到所有任务（PrivateData）。"
ENVIRONMENT = "Choose a folder with a Python environment that every node has: --environment PREFIX."
ENVIRONMENT_ZH = "请指定每个节点上都有的 Python 环境目录：--environment PREFIX。"

# --- what the checks are called

@say("user", "用户")
def check_user() -> Said: ...

@say("shared folder", "共享目录")
def check_folder() -> Said: ...

@say("data folder", "数据目录")
def check_data() -> Said: ...

@say("nodes' own folder", "节点自有目录")
def check_scratch() -> Said: ...

@say("free space", "空间")
def check_space() -> Said: ...

@say("programs", "客户端程序")
def check_programs() -> Said: ...

@say("version", "版本")
def check_version() -> Said: ...

@say("controller", "控制器")
def check_controller() -> Said: ...

@say("slurmrestd token", "slurmrestd 令牌")
def check_token() -> Said: ...

@say("clock", "时钟")
def check_clock() -> Said: ...

@say("partition", "分区")
def check_partition() -> Said: ...

@say("accounting", "记账")
def check_accounting() -> Said: ...

@say("queue limit", "排队上限")
def check_pending() -> Said: ...

@say("may submit", "提交权限")
def check_submit() -> Said: ...

@say("probe job", "探测任务")
def check_probe() -> Said: ...

@say("queue", "队列")
def check_queue() -> Said: ...

@say("node's Python", "节点 Python")
def check_python() -> Said: ...

@say("node's folder", "节点看到的目录")
def check_shared() -> Said: ...

@say("node's /tmp", "节点 /tmp")
def check_private() -> Said: ...

@say("environment", "Python 环境")
def check_environment() -> Said: ...

@say("sandbox", "沙箱")
def check_sandbox() -> Said: ...

@say("container images", "容器镜像")
def check_containers() -> Said: ...

@say("GPUs", "加速卡")
def check_cards() -> Said: ...

# --- the server: its user and its folders

@say("{name}, the user of the server", "{name}（服务器的用户）")
def same_user(name: str) -> Said: ...

@say("{home} belongs to another user, as whom the server runs", "{home} 属于另一个用户，即运行服务器的用户", "Run this command as that user: sudo -u '#{owner}' tm engine ...", "请以该用户运行此命令：sudo -u '#{owner}' tm engine ...")
def another_user(home: str, owner: int) -> Said: ...

@say("The data folder {folder} " + CALLED, "数据目录 {folder} " + CALLED_ZH, "Set server.data to a folder whose path has only letters, digits and ./_-+@=,:", "请将 server.data 设为路径仅由字母、数字和 ./_-+@=,: 组成的目录。")
def data_folder_badly_called(folder: str) -> Said: ...

@say("The folder {folder} " + CALLED, "目录 {folder} " + CALLED_ZH, "Choose a folder whose path has only letters, digits and ./_-+@=,: with --scratch DIR.", "请指定路径仅由字母、数字和 ./_-+@=,: 组成的目录：--scratch DIR。")
def scratch_badly_called(folder: str) -> Said: ...

@say("{folder}: nothing is shared; srun copies what jobs read to the nodes, and back what they write", "{folder}：不共享任何目录，由 srun 送达任务所需内容并取回其产出")
def nothing_is_shared(folder: str) -> Said: ...

@say("there is no folder {folder}", "没有目录 {folder}", "Mount the shared file system, or create the folder (mode 700, owned by the server's user).", "请挂载共享文件系统，或创建该目录（权限 700，属主为服务器用户）。")
def no_shared_folder(folder: str) -> Said: ...

@say("there is no folder {folder}", "没有目录 {folder}", "Create it (mode 700, owned by the server's user).", "请创建该目录（权限 700，属主为服务器用户）。")
def no_data_folder(folder: str) -> Said: ...

@say("{folder} cannot be used: {error}", "无法使用 {folder}：{error}", WRITABLE, WRITABLE_ZH)
def folder_not_usable(folder: str, error: str) -> Said: ...

@say("{folder} is in the memory of the server ({kind})", "{folder} 位于服务器的内存中（{kind}）", "Choose a folder on the shared file system: --data FOLDER.", "请指定共享文件系统中的目录：--data FOLDER。")
def folder_in_memory(folder: str, kind: str) -> Said: ...

@say("{folder} ({kind}: fine if this server shares it with the nodes, which is checked below)", "{folder}（{kind}：由此服务器共享给各节点时可用，稍后由节点验证）")
def folder_of_this_machine(folder: str, kind: str) -> Said: ...

@say("{folder} ({kind})", "{folder}（{kind}）")
def folder_of_kind(folder: str, kind: str) -> Said: ...

@say("{gib} GiB free in {folder}", "{folder} 剩余 {gib} GiB")
def space_free(gib: float, folder: str) -> Said: ...

@say("{gib} GiB free in {folder}", "{folder} 剩余 {gib} GiB", ROOM, ROOM_ZH)
def space_short(gib: float, folder: str) -> Said: ...

# --- the server: what speaks with the cluster

@say("not found in {where}: {names}", "在 {where} 中找不到：{names}", "Install Slurm's client programs (Debian and Ubuntu: slurm-client), or give their folder: --programs FOLDER.", "请安装 Slurm 客户端程序（Debian 和 Ubuntu：slurm-client），或指定其所在目录：--programs FOLDER。")
def programs_not_found(where: str, names: Names) -> Said: ...

@say("{file} cannot be read: {error}", "无法读取 {file}：{error}", "Give the cluster's slurm.conf: --conf FILE.", "请指定集群的 slurm.conf：--conf FILE。")
def conf_unreadable(file: str, error: str) -> Said: ...

@say("wherever Slurm's programs find it", "由客户端程序自行查找")
def conf_as_found() -> Said: ...

@say("munged does not answer at {place}: {error}", "munged 在 {place} 没有响应：{error}", "Start it (systemctl start munge); its key /etc/munge/munge.key must be that of the cluster.", "请启动 munge（systemctl start munge）；其密钥 /etc/munge/munge.key 须与集群相同。")
def munge_silent(place: str, error: str) -> Said: ...

@say("answers at {place}", "在 {place} 有响应")
def answers_at(place: str) -> Said: ...

@say("Slurm {version} is too old: it must be {oldest} or newer", "Slurm {version} 过旧：需要 {oldest} 或更新版本", "Upgrade the cluster: older versions do not support heterogeneous jobs as the platform submits them.", "请升级集群：更早的版本不支持平台提交的异构任务。")
def slurm_too_old(version: str, oldest: str) -> Said: ...

@say("{version} (newer than {tested}, the newest version tested)", "{version}（比测试过的最新版本 {tested} 更新）")
def slurm_newer_than_tested(version: str, tested: str) -> Said: ...

@say("{file} cannot be read: {error}", "无法读取 {file}：{error}", TOKEN, TOKEN_ZH)
def token_unreadable(file: str, error: str) -> Said: ...

@say("{file} has no token", "{file} 中没有令牌", TOKEN, TOKEN_ZH)
def file_without_token(file: str) -> Said: ...

@say("the token in {file} has expired", "{file} 中的令牌已过期", TOKEN, TOKEN_ZH)
def token_expired(file: str) -> Said: ...

@say("{file}, expires in {hours} hours", "{file}，{hours} 小时后过期")
def token_expires_in(file: str, hours: float) -> Said: ...

# --- the cluster

@say("slurmctld of {name} has version {theirs}, the programs here have {ours}", "{name} 的 slurmctld 版本为 {theirs}，这里的程序版本为 {ours}", "This works, but the same version on both sides is better.", "两者可以通信，但最好使用相同版本。")
def controller_of_another_version(name: str, theirs: str, ours: str) -> Said: ...

@say("slurmctld of {name} answers, version {version}", "{name} 的 slurmctld 有响应，版本 {version}")
def controller_answers(name: str, version: str) -> Said: ...

@say("no controller answers: {name}", "没有控制器响应：{name}", "Check that slurmctld runs there and that this server can reach its port.", "请检查那里的 slurmctld 是否在运行，以及此服务器能否访问其端口。")
def no_controller_answers(name: str) -> Said: ...

@say("{why}", "{why}", "Check slurm.conf and munge on this server.", "请检查此服务器上的 slurm.conf 和 munge。")
def controller_refuses(why: Said | str) -> Said: ...

@say("{why}", "{why}", "Check that slurmrestd listens at {place} and that the server's user can connect there; its own log shows what it rejects.", "请检查 slurmrestd 是否在 {place} 监听、服务器用户能否连接；拒绝的原因见其日志。")
def slurmrestd_unusable(why: Said | str, place: str) -> Said: ...

@say("the same as here", "与这里一致")
def clock_right() -> Said: ...

@say("differs from this server's clock by {seconds} s or more", "与此服务器相差至少 {seconds} 秒", "Set the clocks by NTP: starts, ends and time limits follow the clock of the node.", "请用 NTP 校时：开始、结束和运行时限以节点时钟为准。")
def clock_wrong(seconds: int) -> Said: ...

@say("there is no partition {name}; there are: {names}", "没有分区 {name}；现有：{names}", "Choose another partition for this pool: --pool {pool}=PARTITION.", "请为此资源池指定其他分区：--pool {pool}=PARTITION。")
def partition_not_found(name: str, names: Names, pool: str) -> Said: ...

@say("{name} is down: jobs would stay queued forever", "{name} 已停用：任务会一直排队", "Ask the cluster's administrator to enable it: scontrol update PartitionName={name} State=UP", "请集群管理员用 scontrol update PartitionName={name} State=UP 启用它。")
def partition_down(name: str) -> Said: ...

@say("{name} has {nodes:node|nodes}, none of which can start a job now", "{name} 有 {nodes} 个节点，但现在都不能启动任务", "Ask the cluster's administrator, or see why: sinfo -R", "请联系集群管理员，或查看原因：sinfo -R")
def partition_without_usable_nodes(name: str, nodes: Count) -> Said: ...

@say("{ready} of {nodes:node|nodes} ready, {cards:GPU|GPUs}", "{nodes} 个节点中 {ready} 个可用，共 {cards} 张加速卡")
def partition_ready(ready: int, nodes: Count, cards: Count) -> Said: ...

@say("none (not needed)", "没有（不需要）")
def no_accounting() -> Said: ...

@say("{kind} (not needed)", "{kind}（不需要）")
def accounting_of_kind(kind: str) -> Said: ...

@say("up to {total} jobs of the platform can be queued there", "平台最多可有 {total} 个任务在那里排队")
def many_may_wait(total: int) -> Said: ...

@say("up to {total} jobs of the platform could be queued there, but Slurm accepts only {most}", "平台最多会有 {total} 个任务在那里排队，但 Slurm 只接受 {most} 个", "Queue fewer: set most_pending = {number} in the section of this engine.", "请减少排队数：在该引擎的配置中设置 most_pending = {number}。")
def too_many_may_wait(total: int, most: int, number: int) -> Said: ...

# --- the probe job

@say("Slurm would reject the platform's jobs: {why}", "Slurm 会拒绝平台的任务：{why}", "Ask the cluster's administrator for permission to submit there; choose an account with --account NAME.", "请向集群管理员申请提交权限；可用 --account NAME 指定账户。")
def jobs_would_be_refused(why: Said | str) -> Said: ...

@say("Slurm would accept the platform's jobs", "Slurm 会接受平台的任务")
def jobs_would_be_taken() -> Said: ...

@say("skipped because something above is missing", "上面有未满足的项目，已跳过")
def probe_not_tried() -> Said: ...

@say("it did not start within {seconds} s: {why}", "在 {seconds} 秒内没有启动：{why}", "Wait longer (--wait 2h), or ask the cluster's administrator for a reservation (--reservation NAME).", "请等待更久（--wait 2h），或向集群管理员申请预留（--reservation NAME）。")
def probe_not_started(seconds: int, why: Said) -> Said: ...

@say("the node", "该节点")
def the_node() -> Said: ...

@say("it ended on {node} and printed: {text}", "它在 {node} 上结束并输出：{text}", "If this is not enough, look at the node's slurmd log.", "如果信息不足，请查看该节点的 slurmd 日志。")
def probe_ended(node: str, text: str) -> Said: ...

@say("the connection to {node} broke: {why}", "与 {node} 的连接中断：{why}", "If this is not enough, look at the node's slurmd log.", "如果信息不足，请查看该节点的 slurmd 日志。")
def probe_broke_off(node: str, why: Said) -> Said: ...

@say("{node} wrote nothing into {folder}; Slurm reports for the job: {state}", "{node} 没有向 {folder} 写入任何内容；Slurm 对该任务的报告：{state}", "Mount the same file system at the same path on every node, writable for the server's user.", "请在每个节点的相同路径挂载同一文件系统，并允许服务器用户写入。")
def node_wrote_nothing(node: Said | str, folder: str, state: Said) -> Said: ...

@say("nothing came from {node}; Slurm reports for the job: {state}", "{node} 没有返回任何内容；Slurm 对该任务的报告：{state}", "srun listens on this server: the nodes must be able to reach its ports (SrunPortRange).", "srun 在此服务器上监听：节点须能访问其端口（SrunPortRange）。")
def node_sent_nothing(node: Said | str, state: Said) -> Said: ...

@say("the probe job ran, but the queue does not show it: jobs would count as lost", "探测任务已运行，但队列中看不到它：任务会被当作丢失", SEEN, SEEN_ZH)
def queue_hides_our_jobs() -> Said: ...

@say("{why}", "{why}", SEEN, SEEN_ZH)
def queue_unreadable(why: Said | str) -> Said: ...

@say("shows the platform's jobs", "能看到平台的任务")
def queue_shows_our_jobs() -> Said: ...

# --- what a node has

@say("{python} on {node} is Python {version}: it must be 3.9 or newer", "{node} 上的 {python} 是 Python {version}：需要 3.9 或更新版本", "Choose another one that is on all nodes: --python PATH.", "请指定所有节点上都有的另一个：--python PATH。")
def python_too_old(python: str, node: str, version: str) -> Said: ...

@say("there is no {python} on {node}: {error}", "{node} 上没有 {python}：{error}", "Install Python 3.9 or newer there, or give its path: --python PATH.", "请在那里安装 Python 3.9 或更新版本，或指定路径：--python PATH。")
def no_python(python: str, node: str, error: str) -> Said: ...

@say("Python {version} on {node}", "{node} 上的 Python {version}")
def python_on_node(version: str, node: str) -> Said: ...

@say("{node} can read what the server writes, and can write, sync and create links there", "{node} 能读到服务器写入的内容，并能在那里写入、同步和建立链接")
def node_shares_folder(node: str) -> Said: ...

@say("what the server sends arrives in {folder} on {node}, and what is written there comes back", "服务器发送的内容到达 {node} 的 {folder}，在那里写入的内容也能取回")
def node_is_mirrored(folder: str, node: str) -> Said: ...

@say("it cannot see what the server writes", "看不到服务器写入的内容")
def server_not_seen() -> Said: ...

@say("{node} cannot use it: {why}", "{node} 无法使用：{why}", SHARED, SHARED_ZH)
def shared_not_usable_on(node: str, why: Said | str) -> Said: ...

@say("{node} cannot use it: {why}", "{node} 无法使用：{why}", SCRATCH, SCRATCH_ZH)
def scratch_not_usable_on(node: str, why: Said | str) -> Said: ...

@say("{node} has no local space: {error}", "{node} 没有可用的本地空间：{error}", "Each replica keeps sockets and small files in the node's /tmp: make it writable.", "每个副本在节点本地的 /tmp 中保存套接字和小文件：请使其可写。")
def node_without_room(node: str, error: str) -> Said: ...

@say("writable", "可写")
def node_has_room() -> Said: ...

@say("{node} has {path}/bin/python", "{node} 上有 {path}/bin/python")
def environment_there(node: str, path: str) -> Said: ...

@say("{node} has no {path}/bin/python", "{node} 上没有 {path}/bin/python", ENVIRONMENT, ENVIRONMENT_ZH)
def environment_missing(node: str, path: str) -> Said: ...

@say("none is set; replicas use the python of {node}", "没有设置；副本使用 {node} 上的 python")
def python_of_node(node: str) -> Said: ...

@say("replicas on {node} find no python, and no environment is set for them", "{node} 上的副本找不到 python，也没有为它们设置 Python 环境", ENVIRONMENT, ENVIRONMENT_ZH)
def tasks_find_no_python(node: str) -> Said: ...

@say("replicas on {node} find no python, only {names}, and no environment is set for them", "{node} 上的副本找不到 python，只有 {names}，也没有为它们设置 Python 环境", ENVIRONMENT, ENVIRONMENT_ZH)
def tasks_find_other_pythons(node: str, names: Names) -> Said: ...

@say("switched off: replicas can see whatever their system user can", "已关闭：副本能看到其系统用户可见的内容")
def sandbox_off() -> Said: ...

@say("bubblewrap works on {node}", "bubblewrap 在 {node} 上可用")
def sandbox_works(node: str) -> Said: ...

@say("bubblewrap works on {node}; system calls are not filtered: {why}", "bubblewrap 在 {node} 上可用；系统调用没有过滤：{why}")
def sandbox_unfiltered(node: str, why: Said) -> Said: ...

@say("bubblewrap works on {node}; abstract sockets are not isolated: {why}", "bubblewrap 在 {node} 上可用；抽象套接字没有隔离：{why}")
def sandbox_reachable(node: str, why: Said) -> Said: ...

@say("bubblewrap works on {node}; system calls are not filtered: {filters}; abstract sockets are not isolated: {sockets}", "bubblewrap 在 {node} 上可用；系统调用没有过滤：{filters}；抽象套接字没有隔离：{sockets}")
def sandbox_unfiltered_and_reachable(node: str, filters: Said, sockets: Said) -> Said: ...

@say("{why}", "{why}", "Install bubblewrap on the nodes (package bubblewrap).", "请在各节点安装 bubblewrap（软件包 bubblewrap）。")
def no_sandbox_on_node(why: Said) -> Said: ...

@say("jobs cannot use container images: no runtime is configured on the server", "任务不能使用容器镜像：服务器上没有配置容器运行时")
def containers_without_runtime() -> Said: ...

@say("container images are fetched by {name} {version} on the server", "容器镜像由服务器上的 {name} {version} 拉取")
def containers_fetched_by(name: str, version: str) -> Said: ...

@say("jobs can use container images", "任务可以使用容器镜像")
def containers_shown() -> Said: ...

@say("jobs cannot use container images, because no sandbox works on the node", "任务不能使用容器镜像，因为节点上没有可用的沙箱", "Install bubblewrap on the nodes (package bubblewrap), and do not set sandbox to none.", "请在各节点安装 bubblewrap（软件包 bubblewrap），且不要把 sandbox 设为 none。")
def containers_not_shown() -> Said: ...

@say("asked for {wanted:GPU|GPUs}, but {node} shows {given} to the job", "申请 {wanted} 张加速卡，但 {node} 让任务看到 {given} 张", "Check gres.conf: Slurm must tell a job its GPUs (CUDA_VISIBLE_DEVICES) and hide the others.", "请检查 gres.conf：Slurm 须告诉任务分到的加速卡（CUDA_VISIBLE_DEVICES）并隐藏其他加速卡。")
def cards_wrong(wanted: Count, node: str, given: int) -> Said: ...

@say("{wanted} asked for, {given} received", "申请 {wanted} 张，得到 {given} 张")
def cards_right(wanted: int, given: int) -> Said: ...
