"""What is said where a gang cannot be started, of how tasks are kept apart, and of a task that is entered. `task`: by
its name, task0-1.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- a system call that failed: `what` could not be done

@say("{what}: the disk of the platform's home folder is full", "{what}：平台目录所在的磁盘已满")
def home_disk_full(what: Said) -> Said: ...

@say("{what}: the node cannot create another process ({error})", "{what}：节点无法再创建进程（{error}）")
def host_out_of_processes(what: Said, error: str) -> Said: ...

@say("{what}: {error} ({path})", "{what}：{error}（{path}）")
def not_done_with_file(what: Said, error: str, path: str) -> Said: ...

@say("{what}: {error}", "{what}：{error}")
def not_done(what: Said, error: str) -> Said: ...

@say("the platform could not do it", "平台未能完成")
def agent_could_not() -> Said: ...

@say("the platform failed on the node: {error}", "平台在节点上出错：{error}")
def agent_failed(error: str) -> Said: ...

@say("malformed request: {error}", "请求有误：{error}")
def agent_asked_wrongly(error: str) -> Said: ...

@say("{task} could not be started", "{task} 无法启动")
def task_not_started(task: str) -> Said: ...

@say("{task} cannot be entered", "无法进入 {task}")
def task_not_entered(task: str) -> Said: ...

@say("the replica's files could not be created", "无法创建副本的文件")
def task_files_not_made() -> Said: ...

# --- the gang

@say("attempt {attempt} was started before and has been cleaned up", "运行 {attempt} 曾启动过，且已清理")
def attempt_reaped(attempt: str) -> Said: ...

@say("{attempt} was not prepared here", "{attempt} 没有在这里准备")
def attempt_not_ready(attempt: str) -> Said: ...

@say("{attempt} is not kept here", "{attempt} 没有保留在这里")
def attempt_not_kept(attempt: str) -> Said: ...

@say("the replicas could not be prepared: {error}", "无法准备副本：{error}")
def gang_not_prepared(error: str) -> Said: ...

@say("internal error: {error}", "平台内部错误：{error}")
def platform_mistake(error: str) -> Said: ...

# --- the command

@say("{task}: the command is empty", "{task}：命令为空")
def task_command_empty(task: str) -> Said: ...

@say("{task}: the command {program} was not found in PATH", "{task}：在 PATH 中找不到命令 {program}")
def command_not_in_path(task: str, program: str) -> Said: ...

@say("{task}: {program} is not an executable file", "{task}：{program} 不是可执行文件")
def command_not_executable(task: str, program: str) -> Said: ...

@say("{task}: {program} cannot be executed: {error}", "{task}：{program} 无法执行：{error}")
def command_not_executed(task: str, program: str, error: str) -> Said: ...

# --- inputs and mounts

@say("inputs cannot be used: {wrong}", "输入无法使用：{wrong}")
def inputs_not_usable(wrong: list[Said]) -> Said: ...

@say("outputs cannot be uploaded: {why}", "输出无法上传：{why}")
def outputs_not_usable(why: Said) -> Said: ...

@say("{path}: {why}", "{path}：{why}")
def input_wrong(path: str, why: Said) -> Said: ...

@say("the uploaded code no longer exists", "上传的代码已不存在")
def code_gone() -> Said: ...

@say("the data set no longer exists", "数据集已不存在")
def dataset_gone() -> Said: ...

@say("the model no longer exists", "模型已不存在")
def model_gone() -> Said: ...

@say("a mount would hide what the replicas need on this node: {covers}; mount it elsewhere, for example at /dataset", "有挂载会遮住副本在此节点上需要的内容：{covers}；请挂载到别处，例如 /dataset")
def mount_covers(covers: list[Said]) -> Said: ...

@say("{target} would hide {place}", "{target} 会遮住 {place}")
def mount_would_hide(target: str, place: str) -> Said: ...

@say("{target} would be inside {place}", "{target} 会位于 {place} 之中")
def mount_would_lie_in(target: str, place: str) -> Said: ...

# --- the node

@say("node {node}: {error}", "节点 {node}：{error}")
def node_gave(node: str, error: str) -> Said: ...

@say("node {node} got only {given} of the {wanted} GPUs asked for", "节点 {node} 只得到所申请的 {wanted} 张加速卡中的 {given} 张")
def node_short_of_cards(node: str, given: int, wanted: int) -> Said: ...

@say("port {port} is in use on node {node}", "节点 {node} 的端口 {port} 已被占用")
def port_in_use(port: int, node: str) -> Said: ...

@say("the node is gone", "节点已不存在")
def node_gone() -> Said: ...

# --- sandboxes

FIX_SANDBOX = 'Fix it, or set sandbox = "auto" in config.toml.'
FIX_SANDBOX_ZH = '请修复它，或在 config.toml 中设置 sandbox = "auto"。'
FIX_NETWORK = 'Fix it, or set network = "shared" in config.toml.'
FIX_NETWORK_ZH = '请修复它，或在 config.toml 中设置 network = "shared"。'

@say("Sandboxes are required, but {why}", "已要求使用沙箱，但{why}", FIX_SANDBOX, FIX_SANDBOX_ZH)
def sandboxes_required(why: Said) -> Said: ...

@say("Private networks are required, but {why}", "已要求使用独立网络，但{why}", FIX_NETWORK, FIX_NETWORK_ZH)
def private_networks_required(why: Said) -> Said: ...

@say("bubblewrap is not installed; install it (Debian and Ubuntu: apt install bubblewrap)", "没有安装 bubblewrap；请安装它（Debian 和 Ubuntu：apt install bubblewrap）")
def no_bubblewrap() -> Said: ...

@say("bubblewrap cannot create a sandbox on this node: {error}", "bubblewrap 无法在此节点上建立沙箱：{error}")
def bubblewrap_fails(error: str) -> Said: ...

@say("bubblewrap does not run: {error}", "bubblewrap 无法运行：{error}")
def bubblewrap_does_not_run(error: str) -> Said: ...

@say("sandboxes are switched off", "沙箱已关闭")
def sandboxes_off() -> Said: ...

@say("replicas run without a sandbox and can see the files of the node: {why}", "副本不在沙箱中运行，能看到节点上的文件：{why}")
def without_sandbox(why: Said) -> Said: ...

@say("the sandbox does not filter system calls: {why}", "沙箱不过滤系统调用：{why}")
def calls_not_filtered(why: Said) -> Said: ...

@say("there is no filter for this kind of processor ({machine})", "这种处理器（{machine}）没有可用的过滤规则")
def no_filter_for_processor(machine: str) -> Said: ...

@say("the kernel does not support the filter ({error})", "内核不支持过滤（{error}）")
def no_filter_in_kernel(error: str) -> Said: ...

# --- networks and limits

@say("the job has a network of its own: its replicas reach each other and nothing else, and nobody reaches its ports", "任务有独立网络：副本之间互通，但不能访问外部，外部也无法访问其端口")
def network_of_its_own() -> Said: ...

@say("the job shares the network of its node: only a server that runs as root gives a job with several replicas a network of its own", "任务共用节点的网络：只有服务器以 root 运行时，有多个副本的任务才有独立网络")
def network_shared() -> Said: ...

@say("the kernel refuses it ({error})", "内核拒绝（{error}）")
def kernel_refuses(error: str) -> Said: ...

@say("{program} takes the rights of root (set-uid), which isolated processes may not", "{program} 会获取 root 权限（set-uid），而被隔离的进程不允许这样做")
def takes_rights_of_root(program: str) -> Said: ...

@say("the kernel cannot isolate them (Linux 6.12 and newer can, with Landlock)", "内核不能隔离（Linux 6.12 及更新版本通过 Landlock 可以）")
def kernel_keeps_no_sockets_apart() -> Said: ...

@say("private: each job has its own loopback and no way out", "独立：每个任务有自己的回环接口，不能访问外部")
def network_is_private() -> Said: ...

@say("shared; abstract sockets are isolated", "共享；抽象套接字相互隔离")
def network_alone_shared() -> Said: ...

@say("shared, including abstract sockets: {why}", "共享，抽象套接字也共享：{why}")
def network_and_sockets_shared(why: Said) -> Said: ...

@say("there is no sandbox", "没有沙箱")
def there_is_no_sandbox() -> Said: ...

@say("memory and processes are checked only from time to time; CPU is not limited", "内存与进程数只靠定时检查来限制；CPU 不受限制")
def limits_by_samples() -> Said: ...

@say("control groups cannot be used: {errors}", "无法使用控制组：{errors}")
def no_control_groups(errors: list[str]) -> Said: ...

# --- entering

@say("{attempt} cannot be entered: {why}", "无法进入 {attempt}：{why}")
def attempt_not_entered(attempt: str, why: Said | str) -> Said: ...

@say("{count:attempt is|attempts are} not cleaned up yet", "{count} 次运行尚未清理")
def attempts_not_reaped(count: Count) -> Said: ...

@say("the replica does not run here", "副本不在这里运行")
def task_not_here() -> Said: ...

@say("the replica is not running", "副本没有运行")
def nothing_runs_of_task() -> Said: ...

@say("the replica has just ended", "副本刚刚结束")
def task_just_ended() -> Said: ...

@say("the replica's sandbox does not exist (any more)", "副本的沙箱不存在，或已清除")
def sandbox_gone() -> Said: ...

@say("Secrets of the job cannot be given to it: {wrong}", "无法向任务提供其密钥：{wrong}", "Set them, then submit the job again.", "请设置这些密钥，然后重新提交任务。")
def secrets_missing(wrong: list[Said]) -> Said: ...

@say("the replica is not in its control group {group}", "副本不在它的控制组 {group} 中")
def task_not_in_group(group: str) -> Said: ...

@say("this process was not started with {marker}", "启动此进程时没有带 {marker}")
def started_without_marker(marker: str) -> Said: ...

@say("its image is a container's, and the sandbox that would show its files does not work on {node}: {why}", "其镜像是容器镜像，而 {node} 上用来呈现其文件的沙箱不可用：{why}", "Choose another image or pool, or ask an administrator to make sandboxes work there: tm doctor, or for a cluster tm engine check, says what is missing.", "请选择其他镜像或资源池，或请管理员让那里的沙箱可用：tm doctor（集群用 tm engine check）会说明缺少什么。")
def container_without_sandbox(node: str, why: Said) -> Said: ...

@say("its image is a container's for {machine} processors, and {node} has {here}", "其镜像是适用于 {machine} 处理器的容器镜像，而 {node} 的处理器是 {here}", "Choose another pool, or nodes of the kind that the server has: an image is fetched for the server's own processors.", "请选择其他资源池，或与服务器处理器类型相同的节点：镜像按服务器自身的处理器类型拉取。")
def container_of_another_machine(machine: str, node: str, here: str) -> Said: ...

@say("{targets}: no folder of its image, or a link in it", "{targets}：不是其镜像中的文件夹，或其中有链接", "Mount beneath /workspace, at a new folder at the top such as /data, or at a folder that the image has.", "请挂载到 /workspace 之下、顶层的新文件夹（例如 /data），或镜像中已有的文件夹。")
def mounts_not_in_image(targets: Names) -> Said: ...

@say("the environment of its image cannot be used on this node: {path} is not there", "此节点无法使用其镜像的环境：没有 {path}", "Choose another image or pool, or ask an administrator to put this Python on every node.", "请选择其他镜像或资源池，或请管理员在每个节点上安装该 Python。")
def environment_not_here(path: str) -> Said: ...
