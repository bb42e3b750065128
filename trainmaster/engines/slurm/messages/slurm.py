"""What is said of a Slurm cluster when it is used: why it does not answer, what the server lacks to speak with it,
and its words. What its own words mean is in `slurm_states`, what becomes of files that its nodes do not share with the
server in `slurm_files`.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said

PROGRAMS = "Install it on the server (sudo, Slurm's client programs), or set the folder of Slurm's programs."
PROGRAMS_ZH = "请在服务器上安装（sudo、Slurm 客户端程序），或指定 Slurm 程序所在目录。"
CONTROLLER = "Check that slurmctld runs and is not overloaded (scontrol ping, sdiag)."
CONTROLLER_ZH = "请检查 slurmctld 是否在运行、是否过载（scontrol ping、sdiag）。"
STARTED_AGAIN = "The platform restarts it."
STARTED_AGAIN_ZH = "平台会重新启动它。"
INSTEAD = "Look at its log and its files instead."
INSTEAD_ZH = "请改为查看它的日志和文件。"
AGAIN = "Try again."
AGAIN_ZH = "请重试。"

@say("Slurm cluster", "Slurm 集群")
def slurm_cluster() -> Said: ...

# --- its settings

@say("cannot be combined with run_as = \"owner\": files that the server copies would belong to the server's user", '不能与 run_as = "owner" 同时使用：服务器送达的文件属于服务器的用户', 'Set run_as = "service", or share a folder with the nodes.', '请设置 run_as = "service"，或与节点共享目录。')
def scratch_not_of_owners() -> Said: ...

# --- Slurm's programs

@say("The cluster does not answer: {why}", "集群没有响应：{why}", "Nothing is lost; the platform keeps trying.", "没有丢失任何内容；平台会一直重试。")
def cluster_does_not_answer(why: Said | str) -> Said: ...

@say("The server cannot talk to the cluster: {why}", "服务器无法与集群通信：{why}", "Check slurm.conf, munge and the sudo rule on the server.", "请检查服务器上的 slurm.conf、munge 和 sudo 规则。")
def cluster_not_spoken_with(why: Said | str) -> Said: ...

@say("{program} ended with exit code {exit_code}", "{program} 已结束，退出码为 {exit_code}")
def program_ended(program: str, exit_code: int) -> Said: ...

@say("{program} cannot be run: {error}", "无法运行 {program}：{error}", PROGRAMS, PROGRAMS_ZH)
def program_not_run(program: str, error: str) -> Said: ...

@say("Slurm did not answer within {limit_s:second|seconds}", "Slurm 在 {limit_s} 秒内没有响应", CONTROLLER, CONTROLLER_ZH)
def cluster_too_slow(limit_s: Count) -> Said: ...

@say("Slurm's answer is larger than {mib} MiB", "Slurm 的响应超过 {mib} MiB", "Find out what fills it: squeue, scontrol show node, sacct.", "请用 squeue、scontrol show node、sacct 查看是什么内容过多。")
def cluster_answer_too_large(mib: int) -> Said: ...

@say("this is not a Slurm version: {text}", "这不是 Slurm 的版本：{text}")
def not_a_slurm_version(text: str) -> Said: ...

@say("no sudo rule permits it", "没有允许此操作的 sudo 规则")
def no_sudo_rule() -> Said: ...

# --- slurmrestd

@say("slurmrestd does not answer: {error}", "slurmrestd 没有响应：{error}")
def slurmrestd_silent(error: str) -> Said: ...

@say("slurmrestd's answer is larger than {mib} MiB", "slurmrestd 的响应超过 {mib} MiB", "Remove engines.rest: Slurm's programs give shorter answers.", "请去掉 engines.rest：Slurm 客户端程序的输出更短。")
def slurmrestd_answer_too_large(mib: int) -> Said: ...

@say("The slurmrestd token cannot be read: {error} ({path})", "无法读取 slurmrestd 的令牌：{error}（{path}）")
def slurmrestd_token_unreadable(error: str, path: str) -> Said: ...

@say("slurmrestd rejects this server", "slurmrestd 拒绝了本服务器", "Renew the token in its file (scontrol token), or check rest_token.", "请更新令牌文件（scontrol token），或检查 rest_token。")
def slurmrestd_lets_nobody_in() -> Said: ...

@say("slurmrestd does not serve openapi/v0.0.38", "slurmrestd 不提供 openapi/v0.0.38", "Start it with that plugin (slurmrestd -s openapi/v0.0.38).", "请启用该插件启动它（slurmrestd -s openapi/v0.0.38）。")
def slurmrestd_without_openapi() -> Said: ...

@say("slurmrestd answered with status {status}", "slurmrestd 返回状态码 {status}")
def slurmrestd_status(status: int) -> Said: ...

@say("slurmrestd: its {what} do not match v0.0.38: {error}", "slurmrestd：它的 {what} 与 v0.0.38 不符：{error}")
def slurmrestd_of_another_version(what: str, error: str) -> Said: ...

@say("slurmrestd: its answer has no {what}", "slurmrestd：响应中没有 {what}")
def slurmrestd_left_out(what: str) -> Said: ...

# --- the engine

@say("Slurm cannot be used: {why}", "无法使用 Slurm：{why}")
def slurm_unusable(why: Said | str) -> Said: ...

@say("Slurm does not answer: {why}", "Slurm 没有响应：{why}")
def slurm_silent(why: Said | str) -> Said: ...

@say("the answer of Slurm was not understood: {error}", "无法识别 Slurm 的响应：{error}")
def slurm_not_understood(error: Said | str) -> Said: ...

@say("Slurm does not list its nodes: {why}", "Slurm 没有给出节点信息：{why}")
def slurm_nodes_not_told(why: Said | str) -> Said: ...

@say("{folder} cannot be written: {error}", "无法写入 {folder}：{error}", "Set server.data to a folder that this user can write and that the nodes share (shared is not needed with scratch).", "请将 server.data 设为此用户可写的目录；未设置 scratch 时，该目录还须与节点共享。")
def data_folder_unwritable(folder: str, error: str) -> Said: ...

@say("on nodes that support it", "仅在支持它的节点上")
def sandbox_where_it_is() -> Said: ...

# --- submitting

@say("The shared folder cannot be written: {error}", "无法写入共享目录：{error}")
def shared_folder_unwritable(error: str) -> Said: ...

@say("The shared folder cannot be written: {error} ({path})", "无法写入共享目录：{error}（{path}）")
def shared_file_unwritable(error: str, path: str) -> Said: ...

@say("The process that submits jobs has stopped", "负责提交任务的进程已停止", STARTED_AGAIN, STARTED_AGAIN_ZH)
def submitter_ended() -> Said: ...

@say("The process that submits jobs does not answer", "负责提交任务的进程没有响应", STARTED_AGAIN, STARTED_AGAIN_ZH)
def submitter_silent() -> Said: ...

@say("The process that submits jobs cannot be started: {error}", "无法启动负责提交任务的进程：{error}")
def submitter_not_started(error: str) -> Said: ...

@say("sbatch did not answer", "sbatch 没有响应", CONTROLLER, CONTROLLER_ZH)
def sbatch_silent() -> Said: ...

@say("not a name of {what} that can be passed to Slurm: {text}", "不能传给 Slurm 的名称（{what}）：{text}")
def no_name_for_slurm(what: str, text: str) -> Said: ...

@say("not a user name to run as: {text}", "不是可用于运行任务的用户名：{text}")
def no_name_to_act_for(text: str) -> Said: ...

@say("Slurm assigns whole GPUs only: ask for 1 GPU, or use a pool of another engine", "Slurm 只分配整张加速卡：请申请 1 张，或使用其他引擎的资源池")
def slurm_gives_whole_cards() -> Said: ...

# --- jobs that were submitted

@say("Slurm keeps its own time limit for this job: {why}", "Slurm 保留此任务原有的运行时限：{why}")
def time_limit_kept(why: Said) -> Said: ...

@say("Slurm keeps the place of this job in its queue: {why}", "Slurm 保留此任务在其队列中的位置：{why}")
def place_in_order_kept(why: Said) -> Said: ...

# --- what it foresees

@say("Slurm gives no expected start", "Slurm 没有给出预计开始时间")
def no_start_foreseen() -> Said: ...

@say("Slurm cannot forecast the start of a heterogeneous job: it looks at each component separately", "Slurm 不能预计异构任务的开始时间：它单独判断每个组成部分")
def no_start_foreseen_of_parts() -> Said: ...

@say("no node in service can run it, and Slurm does not forecast when the others return", "可调度的节点都不能运行它，Slurm 也不预计其他节点何时恢复")
def no_node_in_service() -> Said: ...

@say("Slurm would stop or suspend {jobs:other job|other jobs} for it", "Slurm 会为它结束或暂停其他 {jobs} 个任务")
def would_make_room(jobs: Count) -> Said: ...

@say("Slurm would queue it", "Slurm 会让它排队")
def would_wait_in_slurm() -> Said: ...

# --- jobs that run as their owners

@say("Jobs cannot run as their owners without sudo", "没有 sudo，任务不能以提交者的身份运行", 'Install sudo and the rule from the guide, set server.data, or set run_as = "service".', '请安装 sudo 并按指南写好规则、设置 server.data，或设置 run_as = "service"。')
def owners_without_sudo() -> Said: ...

@say("Jobs cannot run as their owners without server.data", "没有设置 server.data，任务不能以提交者的身份运行", 'Set server.data to a folder on the shared file system, or set run_as = "service".', '请将 server.data 设为共享文件系统上的目录，或设置 run_as = "service"。')
def owners_without_data_folder() -> Said: ...

@say("The file system of {folder} does not support POSIX access control lists", "{folder} 所在的文件系统不支持 POSIX 访问控制列表", 'Put server.data on a file system where setfacl works, or set run_as = "service".', '请将 server.data 放在 setfacl 可用的文件系统上，或设置 run_as = "service"。')
def no_access_lists(folder: str) -> Said: ...

@say("The cluster hides jobs from the user {user} (PrivateData=jobs)", "集群对用户 {user} 隐藏他人的任务（PrivateData=jobs）", "Make that user an operator: sacctmgr modify user NAME set AdminLevel=Operator.", "请将该用户设为操作员：sacctmgr modify user NAME set AdminLevel=Operator。")
def jobs_hidden_from(user: str) -> Said: ...

# --- entering tasks

@say("{task} has ended, and the cluster keeps nothing of it to enter", "{task} 已结束，集群没有保留可进入的环境", INSTEAD, INSTEAD_ZH)
def task_not_kept_on_cluster(task: str) -> Said: ...

@say("The record of the replica's node agent cannot be read", "无法读取副本的节点代理写下的记录", AGAIN, AGAIN_ZH)
def agent_record_unreadable() -> Said: ...

@say("The node agent of {task} has not reported where it runs yet", "{task} 的节点代理尚未报告自己的位置", AGAIN, AGAIN_ZH)
def agent_not_located(task: str) -> Said: ...
