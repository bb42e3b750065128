"""What is said of a job against the rules: those between its fields, those of the platform and of its clusters, and
what is not wrong but worth knowing.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, Seconds, say
from trainmaster.messages.said import Said

# --- values

@say("The duration may be at most {maximum} (set by the administrator)", "使用时长不得超过 {maximum}（管理员设置）", "Ask for less.", "缩短使用时长。")
def duration_over_limit(maximum: Seconds) -> Said: ...

@say("{name} is set by the platform and may not be replaced", "{name} 由平台设置，不能替换", "Use another name.", "换一个变量名。")
def reserved_env(name: str) -> Said: ...

@say("There is no framework {kind}", "未知的框架 {kind}", "Use one of {known}.", "使用 {known} 之一。")
def unknown_framework(kind: str, known: Names) -> Said: ...

@say("The framework {kind} has no option {field}", "框架 {kind} 没有选项 {field}", "It has: {known}.", "可用选项：{known}。")
def unknown_option(kind: str, field: str, known: Names) -> Said: ...

@say("Code is either a path or an upload", "代码只能给出 path 或 upload 之一", "Write code: . or code: {{upload: sha256:...}}.", "写 code: . 或 code: {{upload: sha256:...}}。")
def bad_code() -> Said: ...

@say("The server does not see the folder {folder} of your machine", "服务器看不到您机器上的文件夹 {folder}", "Submit with tm, which uploads it.", "用 tm submit 提交，它会上传该文件夹。")
def code_not_uploaded(folder: str) -> Said: ...


# --- roles

@say("{count:task|tasks} are more than the {maximum} a job may have", "任务副本总数 {count} 超过 {maximum}", "Ask for fewer replicas.", "减少副本数。")
def too_many_tasks(count: Count, maximum: Count) -> Said: ...

@say("A job has one main role, and {first} is already", "只能有一个主角色，{first} 已是", "Keep main: true on one role.", "只保留一个 main: true。")
def several_main(first: str) -> Said: ...

@say("This may not be more than the {replicas:replica|replicas}", "不得超过副本数 {replicas}", "Give a number from 1 to {replicas}.", "给出 1 到 {replicas} 之间的值。")
def over_replicas(replicas: Count) -> Said: ...

@say("{shm} MiB of shared memory are more than the {memory} MiB of memory they count against", "共享内存 {shm} MiB 超过内存 {memory} MiB，而它计入内存", "Ask for less shm, or more memory.", "减小 shm，或增大 memory。")
def shm_over_memory(shm: int, memory: int) -> Said: ...

@say("{field} is the shorthand for a single role and cannot be used beside roles", "{field} 是单角色的简写，不能与 roles 同时使用", "Move it into roles.0.{field}.", "移到 roles.0.{field} 中。")
def shorthand_mixed(field: str) -> Said: ...


# --- where it may run, and with what

@say("Give flavors or resources, not both", "flavors 与 resources 只能给出其一", "Remove one of them.", "删除其中之一。")
def flavors_mixed() -> Said: ...

@say("There is no flavor {name} in workspace {workspace}", "工作空间 {workspace} 中没有规格 {name}", "It has: {known}.", "可用规格：{known}。")
def unknown_flavor(workspace: str, name: str, known: Names) -> Said: ...

@say("All replicas together ask for {count:port|ports}; a job may have {maximum}", "所有副本共申请 {count} 个端口，最多 {maximum} 个", "Ask for fewer ports, or fewer replicas.", "减少端口数或副本数。")
def too_many_ports(count: Count, maximum: Count) -> Said: ...

@say("The commands of all roles have {count:character|characters}; {maximum} are possible", "各角色命令共 {count} 个字符，最多 {maximum} 个", "Put scripts into the code folder.", "把脚本放进代码目录。")
def commands_too_long(count: Count, maximum: Count) -> Said: ...

@say("The flavors of all roles combine in {count:way|ways}; {maximum} are possible", "各角色规格的组合有 {count} 种，最多 {maximum} 种", "Choose fewer flavors.", "减少候选规格。")
def too_many_shapes(count: Count, maximum: Count) -> Said: ...

@say("A part of a card is only possible with one card", "只有申请一张卡时才能使用部分卡", "Set gpu to 1, or gpu_share to 1.", "把 gpu 设为 1，或把 gpu_share 设为 1。")
def share_one_card() -> Said: ...

@say("A driver version can be chosen only with accelerators", "只有使用加速卡时才能选择驱动版本", "Remove driver, or ask for cards.", "删除 driver，或申请加速卡。")
def driver_without_cards() -> Said: ...

@say("Named nodes and a driver version exclude each other", "指定节点与驱动版本不能同时使用", "Remove one of them.", "删除其中之一。")
def nodes_with_driver() -> Said: ...

@say("Named nodes and the dedicated pool {pool} exclude each other", "指定节点与专属资源池 {pool} 不能同时使用", "Remove nodes, or choose a public pool.", "删除 nodes，或选择公共资源池。")
def nodes_with_dedicated(pool: str) -> Said: ...

@say("There is no node {name} in pool {pool}", "资源池 {pool} 中没有节点 {name}", "Its nodes: {known}.", "该资源池的节点：{known}。")
def unknown_node(pool: str, name: str, known: Names) -> Said: ...

@say("No node of pool {pool} has driver {driver}", "资源池 {pool} 中没有驱动版本为 {driver} 的节点", "There are: {known}.", "可用版本：{known}。")
def unknown_driver(pool: str, driver: str, known: Names) -> Said: ...

@say("There is no workspace {name}", "没有工作空间 {name}", "There are: {known}.", "可用工作空间：{known}。")
def unknown_workspace(name: str, known: Names) -> Said: ...

@say("There is no pool or virtual cluster {name}", "没有资源池或虚拟集群 {name}", "There are: {known}.", "可用：{known}。")
def unknown_pool(name: str, known: Names) -> Said: ...

@say("The pool {name} lives on the engine {engine}", "资源池 {name} 属于引擎 {engine}", "Choose a pool of the node's own engine.", "选择该节点所属引擎的资源池。")
def pool_elsewhere(name: str, engine: str) -> Said: ...

@say("The virtual cluster {name} belongs to pool {pool}", "虚拟集群 {name} 属于资源池 {pool}", "Remove pool.", "删除 pool。")
def other_pool(name: str, pool: str) -> Said: ...

@say("The pool {pool} is dedicated to {workspaces}", "资源池 {pool} 专属于 {workspaces}", "Choose another pool, or ask an administrator for access.", "选择其他资源池，或请管理员开放。")
def pool_dedicated(pool: str, workspaces: Names) -> Said: ...


# --- the pool that the platform chooses, and engines with a queue of their own

@say("The platform chose the pool {pool}: it can start there at once", "平台选择了资源池 {pool}：可立即启动", "Name a pool to have it there in any case.", "要固定资源池，请写出其名称。")
def pool_now(pool: str) -> Said: ...

@say("The platform chose the pool {pool}: it is expected to start there first", "平台选择了资源池 {pool}：预计在那里最早启动", "Name a pool to have it there in any case.", "要固定资源池，请写出其名称。")
def pool_first(pool: str) -> Said: ...

@say("The platform chose the pool {pool}: it would wait in every pool, and no start is foreseen", "平台选择了资源池 {pool}：任务在每个资源池都要等待，且无法预计何时启动", "Name a pool to have it there in any case.", "要固定资源池，请写出其名称。")
def pool_waits(pool: str) -> Said: ...

@say("The name any stands for the pool that the platform chooses", "名称 any 表示由平台选择资源池", "Choose another one.", "换一个名称。")
def pool_any() -> Said: ...

@say("The cluster {engine} would refuse it: {said}", "集群 {engine} 会拒绝它：{said}", "Ask for what the cluster can give, or choose another pool.", "按集群能提供的资源修改，或选择其他资源池。")
def cluster_refused(engine: str, said: Said | str) -> Said: ...


# --- urgent jobs

@say("Very urgent is for administrators", "只有管理员可以设为非常紧急", "Use urgent.", "使用 urgent。")
def urgent_right() -> Said: ...

@say("{user} has {used:urgent job|urgent jobs} queued or running in workspace {workspace}; the limit is {limit}", "用户 {user} 在工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "Wait until one has ended, or use normal.", "等其中一个结束，或使用 normal。")
def urgent_limit_user(user: str, workspace: str, used: Count, limit: int) -> Said: ...

@say("Workspace {workspace} has {used:urgent job|urgent jobs} queued or running; the limit is {limit}", "工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "Wait until one has ended, or use normal.", "等其中一个结束，或使用 normal。")
def urgent_limit_workspace(workspace: str, used: Count, limit: int) -> Said: ...


# --- what administrators decide

@say("The name {name} is in use", "名称 {name} 已被使用", "Choose another one.", "换一个名称。")
def name_taken(name: str) -> Said: ...

@say("{name} always exists and cannot be deleted", "{name} 始终存在，不能删除", "Change it instead.", "只能修改它。")
def stays(name: str) -> Said: ...

@say("{name} is still in use: {by}", "{name} 仍在使用：{by}", "Move or end them first.", "先移走或结束它们。")
def in_use(name: str, by: Names) -> Said: ...

@say("There is no resource {name}", "未知的资源 {name}", "Use gpu, gpu:<model>, cpu or memory_mib.", "使用 gpu、gpu:<型号>、cpu 或 memory_mib。")
def bad_resource(name: str) -> Said: ...

@say("The cap {cap} is below the nominal {nominal}", "上限 {cap} 低于保证值 {nominal}", "Give a cap of at least the nominal, or none.", "给出不低于保证值的上限，或不设上限。")
def cap_below_nominal(cap: float, nominal: float) -> Said: ...

@say("Pool {pool} has {total} {name}, {given} of them guaranteed to others", "资源池 {pool} 共有 {total} {name}，其中 {given} 已保证给其他虚拟集群", "Guarantee {left} at most.", "最多保证 {left}。")
def over_guaranteed(pool: str, total: float, name: str, given: float, left: float) -> Said: ...

@say("A dedicated pool belongs to at least one workspace", "专属资源池至少属于一个工作空间", "Give workspaces.", "给出 workspaces。")
def dedicated_to_nobody() -> Said: ...


# --- ports

@say("The ports {first} to {last} leave the range 1-65535", "端口 {first} 到 {last} 超出 1-65535", "Ask for fewer, or begin lower.", "减少数量或改小起始端口。")
def port_range(first: int, last: int) -> Said: ...

@say("Ports below {first} belong to the system: no task can listen there", "{first} 以下的端口属于系统，副本无权使用", "Begin at {first} or higher, or at 0 to let the platform choose.", "使用 {first} 或更大的端口，或把 begin_at 设为 0。")
def port_reserved(first: int) -> Said: ...

@say("These ports overlap with those of {label}", "与端口 {label} 重叠", "Use ports that do not overlap.", "使用不重叠的端口。")
def port_overlap(label: str) -> Said: ...

@say("{count:task|tasks} ask for the fixed port {port} on {hosts:host address|host addresses} (D7)", "{count} 个任务都要固定端口 {port}，但只有 {hosts} 个主机地址（D7）", "Set begin_at to 0 and let the platform choose the ports.", "把 begin_at 设为 0，由平台分配端口。")
def port_fixed(count: Count, port: int, hosts: Count) -> Said: ...


# --- mounts

@say("This must be an absolute path without . and .. in it", "应为不含 . 和 .. 的绝对路径", "Write the full path.", "写完整路径。")
def mount_not_absolute() -> Said: ...

@say("{target} belongs to the platform", "{target} 由平台使用", "Mount elsewhere, for example at /dataset.", "挂载到如 /dataset 的其他位置。")
def mount_reserved(target: str) -> Said: ...

@say("A mount at {target} would hide {place}, which the platform needs there", "挂载到 {target} 会遮住平台放在那里的 {place}", "Mount elsewhere, for example at /dataset or /workspace/data.", "挂载到其他位置，如 /dataset 或 /workspace/data。")
def mount_hides(target: str, place: str) -> Said: ...

@say("This is the place of {other}, or one lies inside the other", "与 {other} 的挂载位置相同或嵌套", "Use places that do not contain one another.", "使用互不包含的位置。")
def mount_twice(other: str) -> Said: ...


# --- commands

@say("The command is empty", "命令不能为空", "Write what to run, for example python train.py.", "写要运行的命令，例如 python train.py。")
def command_empty() -> Said: ...

@say("A command begins with an executable, not with {name}=", "命令必须以可执行文件开头，不能以 {name}= 开头", 'Put the variable under env, or write bash -c "...".', '写成 bash -c "..."，或用 env 设置变量。')
def command_assignment(name: str) -> Said: ...

@say("Several statements in one command ({operator}) need a shell", "一条命令中不能有多条语句（{operator}）", 'Write it as bash -c "...".', '写成 bash -c "..."。')
def command_statements(operator: Said | str) -> Said: ...

@say("A pipe ({operator}) needs a shell", "管道（{operator}）需要 shell", 'Write it as bash -c "...", or quote the character.', '写成 bash -c "..."，或给文本加引号。')
def command_pipe(operator: Said | str) -> Said: ...

@say("A redirection ({operator}) needs a shell", "重定向（{operator}）需要 shell", 'Write it as bash -c "..."; the output is kept as the log anyway.', '写成 bash -c "..."；平台已保存输出日志。')
def command_redirect(operator: Said | str) -> Said: ...

@say("A command substitution ({operator}) needs a shell", "命令替换（{operator}）需要 shell", 'Write it as bash -c "...".', '写成 bash -c "..."。')
def command_substitution(operator: Said | str) -> Said: ...

@say("A quote is opened and never closed", "引号没有闭合", "Close it.", "补上引号。")
def command_quote() -> Said: ...

@say("The command ends in a backslash", "命令以反斜杠结尾", "Remove it.", "删除末尾的反斜杠。")
def command_escape() -> Said: ...


@say("a line end", "换行")
def line_end() -> Said: ...


# --- progress

@say("No role has a parameter {name}", "没有名为 {name} 的参数", "Write the number of steps, or the name of a parameter.", "写总步数，或参数名。")
def progress_parameter(name: str) -> Said: ...

@say("The parameter {name} is not a positive number", "参数 {name} 不是正数", "Write the number of steps.", "写总步数。")
def progress_number(name: str) -> Said: ...


# --- words, not refusals

@say("Tasks run in the environment of their node; the image {image} is not pulled", "副本在节点自身的环境中运行，不会拉取镜像 {image}", "See that the environment has what the job needs.", "确认所需软件已在该环境中。")
def image_not_used(image: str) -> Said: ...

@say("No image is pulled here, so the credentials {name} are not used", "此处不拉取镜像，因此不会使用凭据 {name}", "Nothing to do.", "无需操作。")
def pull_secret_not_used(name: str) -> Said: ...

@say("There is no {mount} here, where tasks run without a sandbox: the data lie at {path}", "此处的副本不在沙箱中运行，因此没有 {mount}；数据位于 {path}", "Let the program read them where TRAINMASTER_DATASET_DIR says.", "请让程序从变量 TRAINMASTER_DATASET_DIR 给出的路径读取数据。")
def dataset_at_its_path(mount: str, path: str) -> Said: ...

@say("Nothing can be mounted at {mount} here, where tasks run without a sandbox", "此处的副本不在沙箱中运行，无法挂载到 {mount}", "Mount it at its own path, {path}, or at /dataset, or choose a pool whose tasks run in sandboxes.", "把 mount 设为数据自身的路径 {path} 或 /dataset，或选择副本在沙箱中运行的资源池。")
def mount_needs_sandbox(mount: str, path: str) -> Said: ...

@say("The platform does not reach {uri}", "平台无法访问 {uri}", "{field} is kept with the job; put the data on the nodes and give a local path to have it mounted.", "{field} 会保留在任务中；请把数据放到节点上并使用本地路径。")
def storage_not_reached(uri: str, field: str) -> Said: ...

@say("The server has no folder {folder} that may be mounted", "服务器上没有可挂载的文件夹 {folder}", "dataDir is kept and passed on as PAI_DATA_DIR. To have it mounted at /dataset, name a folder that local.mount_roots allows.", "dataDir 会保留并以 PAI_DATA_DIR 传给任务；要挂载到 /dataset，请写管理员在 local.mount_roots 中允许的文件夹。")
def data_not_here(folder: str) -> Said: ...

@say("There are no unlimited retries here", "不支持无限重试", "The job is tried again {most:time|times} at most.", "最多重试 {most} 次。")
def retries_bounded(most: Count) -> Said: ...

@say("{field} is obsolete and has no effect", "{field} 已过时，不起作用", "Use minSucceededTaskCount or minFailedTaskCount to say when the job ends.", "用 minSucceededTaskCount 或 minFailedTaskCount 规定任务何时结束。")
def field_ignored(field: str) -> Said: ...

@say("Outputs are kept from /workspace/outputs and /model", "输出保存在 /workspace/outputs 和 /model", "What is written there becomes a model version.", "写入这两个目录的内容会成为模型版本。")
def outputs_elsewhere() -> Said: ...

@say("authFile is kept and not read", "authFile 会保留，但不会读取", "Where images are pulled, name their credentials in pull_secret.", "如果资源池会拉取镜像，请在 pull_secret 中写凭据的名称。")
def auth_not_used() -> Said: ...
