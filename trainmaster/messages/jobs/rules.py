"""What is said of a job against the rules: those between its fields, those of the platform and of its clusters, and
what is not wrong but worth knowing.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, Seconds, say
from trainmaster.messages.said import Said

# --- values

@say("The time limit can be at most {maximum} (set by the administrator)", "运行时限不得超过 {maximum}（由管理员设置）", "Use a shorter time limit.", "请缩短运行时限。")
def duration_over_limit(maximum: Seconds) -> Said: ...

@say("{name} is set by the platform and cannot be changed", "{name} 由平台设置，不能修改", "Use another name.", "请换一个变量名。")
def reserved_env(name: str) -> Said: ...

@say("{name} is set twice: by a secret, and by a variable or another secret", "{name} 被设置了两次：既来自密钥，又来自变量或另一个密钥", "Give the secret another variable with env.", "请用 env 为密钥指定另一个变量名。")
def variable_twice(name: str) -> Said: ...

@say("The value of a secret cannot stand in a command line, where everybody on the node could read it: ${name}", "密钥的值不能出现在命令行中，否则节点上的任何人都能读到：${name}", "Read the variable {name} in the program, or use a shell: bash -c \"...\"", "请在程序中读取变量 {name}，或使用 shell：bash -c \"...\"")
def secret_in_command(name: str) -> Said: ...

@say("There is no secret {name} in workspace {workspace}", "工作空间 {workspace} 中没有密钥 {name}", "See which there are: tm secret list --workspace {workspace}. Owners and admins set one: tm secret set {name} --workspace {workspace}", "用 tm secret list --workspace {workspace} 查看现有密钥。所有者和管理员可用 tm secret set {name} --workspace {workspace} 设置。")
def unknown_secret(name: str, workspace: str) -> Said: ...

@say("The value of secret {name} can no longer be read", "密钥 {name} 的值已无法读取", "Set it again: tm secret set {name} --workspace {workspace}", "请重新设置：tm secret set {name} --workspace {workspace}")
def secret_not_readable(name: str, workspace: str) -> Said: ...

@say("You may not use secrets of workspace {workspace}", "您不能使用工作空间 {workspace} 的密钥", "Members may. A token needs the scope secrets:use.", "成员可以使用。令牌需要 secrets:use 权限。")
def secrets_not_permitted(workspace: str) -> Said: ...

@say("Secrets cannot be given to jobs in this pool", "此资源池无法向任务提供密钥", "Choose another pool.", "请选择其他资源池。")
def secrets_not_carried() -> Said: ...

@say("There is no framework {kind}", "没有启动方式 {kind}", "Use one of {known}.", "请使用 {known} 之一。")
def unknown_framework(kind: str, known: Names) -> Said: ...

@say("The framework {kind} has no option {field}", "启动方式 {kind} 没有选项 {field}", "It has: {known}.", "可用选项：{known}。")
def unknown_option(kind: str, field: str, known: Names) -> Said: ...

@say("With {kind} the name of a sub-task says what it does, and {first} is {plain} already", "使用 {kind} 时，子任务的名称表示它的作用，而 {first} 已经是 {plain}", "Call it one of {known}.", "请改名为 {known} 之一。")
def type_taken(kind: str, first: str, plain: str, known: Names) -> Said: ...

@say("With {kind} the sub-task {name} has one replica", "使用 {kind} 时，子任务 {name} 只有 1 个副本", "Write replicas: 1.", "请写 replicas: 1。")
def type_single(kind: str, name: str) -> Said: ...

@say("No sub-task of this job trains: with {kind} those called {names} wait for others", "此任务没有负责训练的子任务：使用 {kind} 时，名为 {names} 的子任务只等待其他子任务", "Add a sub-task that is called one of {known}.", "请添加名为 {known} 之一的子任务。")
def type_missing(kind: str, names: Names, known: Names) -> Said: ...

@say("There are parameter servers and no sub-task {leader}, which TensorFlow 2 wants to lead the training", "有参数服务器而没有子任务 {leader}，TensorFlow 2 需要它来主导训练", "Add a sub-task called {leader} with one replica, unless your program trains without one.", "请添加名为 {leader}、副本数为 1 的子任务，除非程序不需要它。")
def no_leader(leader: str) -> Said: ...

@say("Code takes either a path or an upload", "代码只能是 path 或 upload 之一", "Write code: . or code: {{upload: sha256:...}}.", "请写 code: . 或 code: {{upload: sha256:...}}。")
def bad_code() -> Said: ...

@say("The server cannot see the folder {folder} on your computer", "服务器看不到您电脑上的文件夹 {folder}", "Submit with tm submit, which uploads the folder.", "请用 tm submit 提交，它会上传该文件夹。")
def code_not_uploaded(folder: str) -> Said: ...


# --- roles

@say("The job has {count:replica|replicas}; at most {maximum} are allowed", "任务共有 {count} 个副本，最多 {maximum} 个", "Ask for fewer replicas.", "请减少副本数。")
def too_many_tasks(count: Count, maximum: Count) -> Said: ...

@say("A job can have one main sub-task, and {first} is main already", "只能有一个主子任务，{first} 已是主子任务", "Keep main: true on one sub-task only.", "请只保留一个 main: true。")
def several_main(first: str) -> Said: ...

@say("after runs within the grace period, and grace is 0", "after 在宽限期内运行，而 grace 为 0", "Give the job a grace of some seconds, such as grace: 30s, or leave after out.", "请为任务设置几秒以上的宽限期，例如 grace: 30s，或去掉 after。")
def after_without_grace() -> Said: ...

@say("This cannot be more than the number of replicas ({replicas})", "不得超过副本数（{replicas}）", "Use a number from 1 to {replicas}.", "请使用 1 到 {replicas} 之间的值。")
def over_replicas(replicas: Count) -> Said: ...

@say("{shm} MiB of shared memory exceed the {memory} MiB of memory that they count against", "共享内存 {shm} MiB 超过内存 {memory} MiB（共享内存计入内存）", "Lower shm or raise memory.", "请减小 shm 或增大 memory。")
def shm_over_memory(shm: int, memory: int) -> Said: ...

@say("{field} is the shorthand for a job with one sub-task and cannot be combined with `roles`", "{field} 是单个子任务的简写，不能与 `roles` 同时使用", "Move it into roles.0.{field}.", "请移到 roles.0.{field} 中。")
def shorthand_mixed(field: str) -> Said: ...


# --- where it may run, and with what

@say("Use either flavors or resources, not both", "flavors 与 resources 只能使用其一", "Remove one of them.", "请删除其中之一。")
def flavors_mixed() -> Said: ...

@say("Workspace {workspace} has no flavor {name}", "工作空间 {workspace} 没有规格 {name}", "It has: {known}.", "可用规格：{known}。")
def unknown_flavor(workspace: str, name: str, known: Names) -> Said: ...

@say("All replicas together ask for {count:port|ports}; the limit is {maximum}", "所有副本共申请 {count} 个端口，最多 {maximum} 个", "Ask for fewer ports, or fewer replicas.", "请减少端口数或副本数。")
def too_many_ports(count: Count, maximum: Count) -> Said: ...

@say("The commands of all sub-tasks have {count:character|characters}; the limit is {maximum}", "各子任务的命令共 {count} 个字符，最多 {maximum} 个", "Put scripts into the code folder.", "请把脚本放进代码文件夹。")
def commands_too_long(count: Count, maximum: Count) -> Said: ...

@say("The flavors of all sub-tasks combine in {count:way|ways}; the limit is {maximum}", "各子任务规格的组合有 {count} 种，最多 {maximum} 种", "Choose fewer flavors.", "请减少候选规格。")
def too_many_shapes(count: Count, maximum: Count) -> Said: ...

@say("A share of a GPU is only possible with exactly 1 GPU", "只有申请 1 张加速卡时才能使用其中一部分", "Set gpu to 1, or gpu_share to 1.", "请把 gpu 设为 1，或把 gpu_share 设为 1。")
def share_one_card() -> Said: ...

@say("A driver version can be chosen only with GPUs", "只有申请加速卡时才能选择驱动版本", "Remove driver, or ask for GPUs.", "请删除 driver，或申请加速卡。")
def driver_without_cards() -> Said: ...

@say("Named nodes and a driver version cannot be combined", "指定节点与驱动版本不能同时使用", "Remove nodes or driver.", "请删除 nodes 或 driver。")
def nodes_with_driver() -> Said: ...

@say("Named nodes cannot be combined with the dedicated pool {pool}", "指定节点与专属资源池 {pool} 不能同时使用", "Remove nodes, or choose a public pool.", "请删除 nodes，或选择公共资源池。")
def nodes_with_dedicated(pool: str) -> Said: ...

@say("There is no node {name} in pool {pool}", "资源池 {pool} 中没有节点 {name}", "Its nodes: {known}.", "该资源池的节点：{known}。")
def unknown_node(pool: str, name: str, known: Names) -> Said: ...

@say("No node of pool {pool} has driver {driver}", "资源池 {pool} 中没有驱动版本为 {driver} 的节点", "There are: {known}.", "可用版本：{known}。")
def unknown_driver(pool: str, driver: str, known: Names) -> Said: ...

@say("You are not a member of workspace {name}", "您不是工作空间 {name} 的成员", "{instead}.", "{instead}。")
def not_in_workspace(name: str, instead: Said) -> Said: ...

@say("As a viewer of workspace {name} you may look, but not submit", "您是工作空间 {name} 的访客，只能查看，不能提交", "{instead}.", "{instead}。")
def only_views(name: str, instead: Said) -> Said: ...

@say("Your token does not let you submit into workspace {name}", "您的令牌不能向工作空间 {name} 提交任务", "Use a token with the scope {scope} for this workspace.", "请使用对该工作空间具有权限 {scope} 的令牌。")
def token_submits_nothing(name: str, scope: str) -> Said: ...

@say("Use one of yours ({mine}), or ask an owner of {name} to let you submit", "请使用您可以提交的工作空间（{mine}），或请 {name} 的所有者授予您提交权限")
def one_of_your_workspaces(name: str, mine: Names) -> Said: ...

@say("Ask an owner of {name} to let you submit", "请联系 {name} 的所有者授予您提交权限")
def ask_to_submit(name: str) -> Said: ...

@say("There is no workspace {name}", "没有工作空间 {name}", "There are: {known}.", "可用工作空间：{known}。")
def unknown_workspace(name: str, known: Names) -> Said: ...

@say("There is no pool or virtual cluster {name}", "没有名为 {name} 的资源池或虚拟集群", "There are: {known}.", "可用：{known}。")
def unknown_pool(name: str, known: Names) -> Said: ...

@say("Pool {name} belongs to the engine {engine}", "资源池 {name} 属于引擎 {engine}", "Choose a pool of the node's own engine.", "请选择该节点所属引擎的资源池。")
def pool_elsewhere(name: str, engine: str) -> Said: ...

@say("Virtual cluster {name} belongs to pool {pool}", "虚拟集群 {name} 属于资源池 {pool}", "Remove pool, or set it to {pool}.", "请删除 pool，或将它设为 {pool}。")
def other_pool(name: str, pool: str) -> Said: ...

@say("Pool {pool} is dedicated to {workspaces}", "资源池 {pool} 专属于 {workspaces}", "Choose another pool, or ask an administrator for access.", "请选择其他资源池，或请管理员开放。")
def pool_dedicated(pool: str, workspaces: Names) -> Said: ...

@say("Flavor {name} is not offered in pool {pool}", "规格 {name} 不在资源池 {pool} 中提供", "It is offered in {pools}; choose one of them, or another flavor.", "该规格在以下资源池提供：{pools}；请选择其中之一，或改用其他规格。")
def flavor_elsewhere(name: str, pool: str, pools: Names) -> Said: ...


# --- the pool that the platform chooses, and engines with a queue of their own

@say("The platform chose pool {pool}: the job can start there at once", "平台选择了资源池 {pool}：任务可立即启动", "To always use this pool, name it in pool.", "要固定使用此资源池，请在 pool 中写出其名称。")
def pool_now(pool: str) -> Said: ...

@say("The platform chose pool {pool}: the job is expected to start there first", "平台选择了资源池 {pool}：任务预计在那里最早启动", "To always use this pool, name it in pool.", "要固定使用此资源池，请在 pool 中写出其名称。")
def pool_first(pool: str) -> Said: ...

@say("The platform chose pool {pool}: the job would queue in every pool, and no start can be forecast", "平台选择了资源池 {pool}：任务在每个资源池都要排队，且无法预计何时启动", "To always use this pool, name it in pool.", "要固定使用此资源池，请在 pool 中写出其名称。")
def pool_waits(pool: str) -> Said: ...

@say("The name any is reserved for the pool that the platform chooses", "名称 any 保留给由平台选择的资源池", "Choose another name.", "请换一个名称。")
def pool_any() -> Said: ...

@say("The cluster {engine} would refuse the job: {said}", "集群 {engine} 会拒绝此任务：{said}", "Ask for what the cluster offers, or choose another pool.", "请按集群能提供的资源修改，或选择其他资源池。")
def cluster_refused(engine: str, said: Said | str) -> Said: ...


# --- sharing

@say("Workspace {workspace} asks every job to say how it is shared", "工作空间 {workspace} 要求每个任务说明共享方式", "Choose how it is shared: set share to none, read or read-write.", "请选择共享方式：将 share 设为 none、read 或 read-write。")
def share_required(workspace: str) -> Said: ...

@say("Jobs of workspace {workspace} cannot be shared: an administrator has turned sharing off", "工作空间 {workspace} 的任务不能共享：管理员已关闭共享", "Set share to none.", "请将 share 设为 none。")
def sharing_off(workspace: str) -> Said: ...

@say("The job uses what others may not see: {things}", "任务使用了他人不可见的资源：{things}", "Share what it uses first, or set share to none.", "请先共享所用资源，或将 share 设为 none。")
def share_of_private(things: list[Said]) -> Said: ...

@say("The job uses what others may only read: {things}", "任务使用了他人只读的资源：{things}", "Share what it uses read-write first, or set share to read.", "请先将所用资源改为读写共享，或将 share 设为 read。")
def share_of_readable(things: list[Said]) -> Said: ...

@say("data set {name}", "数据集 {name}")
def used_dataset(name: str) -> Said: ...

@say("volume {name}", "存储卷 {name}")
def used_volume(name: str) -> Said: ...

@say("algorithm {name}", "算法 {name}")
def used_algorithm(name: str) -> Said: ...

@say("image {name}", "镜像 {name}")
def used_image(name: str) -> Said: ...


# --- time limits

@say("Workspace {workspace} asks every job for a time limit", "工作空间 {workspace} 要求每个任务设置运行时限", "Enter how long the job may run at most, for example 4h; in a job file `duration: 4h`.", "请填写任务最多运行多久，例如 4h；任务文件中写作 `duration: 4h`。")
def duration_asked(workspace: str) -> Said: ...


# --- urgent jobs

@say("Only administrators can submit very urgent jobs", "只有管理员可以设为非常紧急", "Use priority: urgent.", "请使用 priority: urgent。")
def urgent_right() -> Said: ...

@say("{user} has {used:urgent job|urgent jobs} queued or running in workspace {workspace}; the limit is {limit}", "用户 {user} 在工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "Wait until one has ended, or use priority: normal.", "请等其中一个结束，或使用 priority: normal。")
def urgent_limit_user(user: str, workspace: str, used: Count, limit: int) -> Said: ...

@say("Workspace {workspace} has {used:urgent job|urgent jobs} queued or running; the limit is {limit}", "工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "Wait until one has ended, or use priority: normal.", "请等其中一个结束，或使用 priority: normal。")
def urgent_limit_workspace(workspace: str, used: Count, limit: int) -> Said: ...


# --- what accounts may hold at most

@say("The job needs {asks} of {resource}, and {whose} may hold {limit} at most in pool {pool}", "任务需要 {resource} {asks}，而{whose}在资源池 {pool} 中最多可用 {limit}", "Ask for {limit} at most, or ask an administrator of the platform for more.", "请申请不超过 {limit}，或请平台管理员提高上限。")
def over_limit(asks: Said | float, resource: str, whose: Said, limit: Said | float, pool: str) -> Said: ...

@say("{whose} may run no job in pool {pool}", "{whose}在资源池 {pool} 中不能运行任务", "Choose another pool or workspace.", "请选择其他资源池或工作空间。")
def no_job_allowed(whose: Said, pool: str) -> Said: ...


# --- what administrators decide

@say("The name {name} is already in use", "名称 {name} 已被使用", "Choose another name.", "请换一个名称。")
def name_taken(name: str) -> Said: ...

@say("The name {name} differs from {other} only in upper and lower case", "名称 {name} 与 {other} 仅大小写不同", "Choose a name that nobody takes for the other one.", "请换一个不会与之混淆的名称。")
def name_like_another(name: str, other: str) -> Said: ...

@say("{name} always exists and cannot be deleted", "{name} 始终存在，不能删除", "Change it instead.", "请改为修改它。")
def stays(name: str) -> Said: ...

@say("{name} is still used by {by}", "{name} 仍被 {by} 使用", "Move or end these first.", "请先移走或结束它们。")
def in_use(name: str, by: Names) -> Said: ...

@say("There is no resource {name}", "未知的资源 {name}", "Use gpu, gpu:<model>, cpu or memory_mib.", "请使用 gpu、gpu:<型号>、cpu 或 memory_mib。")
def bad_resource(name: str) -> Said: ...

@say("Nothing named {name} is limited", "没有可限制的资源 {name}", "Use gpu, gpu:<model>, cpu, memory_mib or jobs.", "请使用 gpu、gpu:<型号>、cpu、memory_mib 或 jobs。")
def bad_limit(name: str) -> Said: ...

@say("Nothing named {name} is limited of what is kept", "没有可限制的存储项 {name}", "Use mib or files.", "请使用 mib 或 files。")
def bad_storage(name: str) -> Said: ...

@say("The cap {cap} is below the guarantee {nominal}", "上限 {cap} 低于保障额度 {nominal}", "Use a cap of at least {nominal}, or none.", "请使用不低于 {nominal} 的上限，或不设上限。")
def cap_below_nominal(cap: float, nominal: float) -> Said: ...

@say("Pool {pool} has {total} {name}; {given} of them are guaranteed to others", "资源池 {pool} 共有 {total} {name}，其中 {given} 已保障给其他虚拟集群", "Guarantee at most {left}.", "请最多保障 {left}。")
def over_guaranteed(pool: str, total: float, name: str, given: float, left: float) -> Said: ...

@say("A dedicated pool needs at least one workspace", "专属资源池至少需要一个工作空间", "Name its workspaces in workspaces.", "请在 workspaces 中写出工作空间。")
def dedicated_to_nobody() -> Said: ...


# --- ports

@say("The ports {first} to {last} are outside the range 1-65535", "端口 {first} 到 {last} 超出范围 1-65535", "Ask for fewer, or begin lower.", "请减少数量或改小起始端口。")
def port_range(first: int, last: int) -> Said: ...

@say("Ports below {first} belong to the system; no replica can listen on them", "{first} 以下的端口属于系统，副本无权使用", "Begin at {first} or higher, or at 0 to let the platform choose.", "请使用 {first} 或更大的端口，或把 begin_at 设为 0，由平台分配。")
def port_reserved(first: int) -> Said: ...

@say("These ports overlap with those of {label}", "与端口 {label} 重叠", "Use ports that do not overlap.", "请使用不重叠的端口。")
def port_overlap(label: str) -> Said: ...

@say("{count:replica|replicas} ask for the fixed port {port}, but the nodes have only {hosts:address|addresses}", "{count} 个副本都要固定端口 {port}，但节点只有 {hosts} 个地址", "Set begin_at to 0 to let the platform choose the ports.", "请把 begin_at 设为 0，由平台分配端口。")
def port_fixed(count: Count, port: int, hosts: Count) -> Said: ...


# --- mounts

@say("This must be an absolute path without . or .. in it", "应为不含 . 和 .. 的绝对路径", "Write the full path.", "请写完整路径。")
def mount_not_absolute() -> Said: ...

@say("{target} is used by the platform", "{target} 由平台使用", "Mount it elsewhere, for example at /dataset.", "请挂载到别处，例如 /dataset。")
def mount_reserved(target: str) -> Said: ...

@say("A mount at {target} would hide {place}, which the platform needs there", "挂载到 {target} 会遮住平台放在那里的 {place}", "Mount it elsewhere, for example at /dataset or /workspace/data.", "请挂载到别处，例如 /dataset 或 /workspace/data。")
def mount_hides(target: str, place: str) -> Said: ...

@say("This path overlaps with that of {other}", "与 {other} 的挂载位置相同或嵌套", "Use paths that do not contain each other.", "请使用互不包含的位置。")
def mount_twice(other: str) -> Said: ...

@say("This names several things: {given}", "同时填写了多项：{given}", "Give one of path, dataset, model, volume and s3.", "请在 path、dataset、model、volume、s3 中只填写一项。")
def several_sources(given: Names) -> Said: ...

@say("A version never changes, so it can only be read", "版本内容不会改变，只能读取", "Leave read_only out. Let the program write to $TRAINMASTER_OUTPUT_DIR.", "请省略 read_only，并让程序写到 $TRAINMASTER_OUTPUT_DIR。")
def version_not_writable() -> Said: ...

@say("What is fetched from object storage can only be read", "从对象存储获取的内容只能读取", "Leave read_only out. Let the program write to $TRAINMASTER_OUTPUT_DIR.", "请省略 read_only，并让程序写到 $TRAINMASTER_OUTPUT_DIR。")
def stored_place_not_writable() -> Said: ...

@say("The path has an empty part, or . or .. as a part", "路径不能含空的部分，也不能含 . 或 .. 部分", "Write for example team-data/images.", "例如 team-data/images。")
def stored_place_not_plain() -> Said: ...

@say("Only {{id}} and {{name}} stand for something here", "这里只能使用 {{id}} 和 {{name}}", "Write for example team-data/runs/{{name}}-{{id}}.", "例如 team-data/runs/{{name}}-{{id}}。")
def output_place_word() -> Said: ...

@say("This must be outputs, model, a folder beneath one of them, or logs", "应为 outputs、model、其中的文件夹，或 logs", "Write for example outputs/checkpoints.", "例如 outputs/checkpoints。")
def output_folder_not_known() -> Said: ...

@say("Another output goes to this place, into it or around it", "另一个输出的位置与此处相同或嵌套", "Use places that do not contain each other.", "请使用互不包含的位置。")
def outputs_in_one_place() -> Said: ...

@say("There is no data set {ref} for this job in the workspace {workspace}", "工作空间 {workspace} 中没有此任务可用的数据集 {ref}", "tm dataset list, or the page Data sets, shows those that you may use.", "可用 tm dataset list 或在“数据集”页面查看您能使用的数据集。")
def no_dataset_for_job(ref: str, workspace: str) -> Said: ...

@say("There is no model {ref} for this job in the workspace {workspace}", "工作空间 {workspace} 中没有此任务可用的模型 {ref}", "tm models list, or the page Models, shows those that you may use.", "可用 tm models list 或在“模型”页面查看您能使用的模型。")
def no_model_for_job(ref: str, workspace: str) -> Said: ...

@say("Jobs of this pool run as their owners' own system users, who cannot read {ref} on the server", "此资源池的任务以所有者自己的系统用户运行，无法读取服务器上的 {ref}", "Put the data on the nodes and give their path, or choose another pool.", "请把数据放到节点上并填写其路径，或换一个资源池。")
def version_not_for_owners(ref: str) -> Said: ...


# --- commands

@say("The command is empty", "命令不能为空", "Enter a command, for example python train.py.", "请输入命令，例如 python train.py。")
def command_empty() -> Said: ...

@say("A command begins with a program, not with {name}=", "命令必须以程序开头，不能以 {name}= 开头", 'Put the variable under env, or write bash -c "...".', '请把变量写在 env 中，或写成 bash -c "..."。')
def command_assignment(name: str) -> Said: ...

@say("Several statements in one command ({operator}) need a shell", "一条命令中不能有多条语句（{operator}）", 'Write it as bash -c "...".', '请写成 bash -c "..."。')
def command_statements(operator: Said | str) -> Said: ...

@say("A pipe ({operator}) needs a shell", "管道（{operator}）需要 shell", 'Write it as bash -c "...", or put the character in quotes.', '请写成 bash -c "..."，或给该字符加引号。')
def command_pipe(operator: Said | str) -> Said: ...

@say("A redirection ({operator}) needs a shell", "重定向（{operator}）需要 shell", 'Write it as bash -c "..."; the platform keeps the output as the log anyway.', '请写成 bash -c "..."；平台本来就会把输出保存为日志。')
def command_redirect(operator: Said | str) -> Said: ...

@say("A command substitution ({operator}) needs a shell", "命令替换（{operator}）需要 shell", 'Write it as bash -c "...".', '请写成 bash -c "..."。')
def command_substitution(operator: Said | str) -> Said: ...

@say("A quote is opened but never closed", "引号没有闭合", "Close it.", "请补上引号。")
def command_quote() -> Said: ...

@say("The command ends with a backslash", "命令以反斜杠结尾", "Remove it.", "请删除末尾的反斜杠。")
def command_escape() -> Said: ...


@say("a line end", "换行")
def line_end() -> Said: ...


# --- progress

@say("No sub-task has a parameter {name}", "没有子任务有参数 {name}", "Enter the number of steps, or the name of a parameter.", "请填写总步数或参数名。")
def progress_parameter(name: str) -> Said: ...

@say("The parameter {name} is not a positive number", "参数 {name} 不是正数", "Enter the number of steps.", "请填写总步数。")
def progress_number(name: str) -> Said: ...


# --- words, not refusals

@say("There is no image {image} on the platform, and none is pulled here: replicas run in the environment of their node", "平台上没有镜像 {image}，此处也不拉取镜像：副本在节点自身的环境中运行", "Choose one of the images that tm image list shows, or make sure that this environment has what the job needs.", "请选择 tm image list 列出的镜像，或确认该环境中有任务所需的软件。")
def image_not_used(image: str) -> Said: ...

@say("Jobs of this pool cannot have the environment of an image", "此资源池的任务无法使用镜像的环境", "Choose another pool, or the image default.", "请选择其他资源池，或使用镜像 default。")
def environments_not_shown() -> Said: ...

@say("No image is pulled here, so the credentials {name} are not used", "此处不拉取镜像，因此不会使用凭据 {name}", "Nothing to do.", "无需操作。")
def pull_secret_not_used(name: str) -> Said: ...

@say("There is no {mount} here, because replicas run without a sandbox; the data are at {path}", "这里的副本不在沙箱中运行，因此没有 {mount}；数据位于 {path}", "Let the program read the path in TRAINMASTER_DATASET_DIR.", "请让程序从变量 TRAINMASTER_DATASET_DIR 给出的路径读取数据。")
def dataset_at_its_path(mount: str, path: str) -> Said: ...

@say("There is no {mount} here, because replicas run without a sandbox; the model is at {path}", "这里的副本不在沙箱中运行，因此没有 {mount}；模型位于 {path}", "Let the program read the path in TRAINMASTER_PRETRAIN_DIR.", "请让程序从变量 TRAINMASTER_PRETRAIN_DIR 给出的路径读取模型。")
def model_at_its_path(mount: str, path: str) -> Said: ...

@say("Nothing can be mounted at {mount} here, because replicas run without a sandbox", "这里的副本不在沙箱中运行，无法挂载到 {mount}", "Mount it at its own path {path} or at /dataset, or choose a pool whose replicas run in sandboxes.", "请把 mount 设为数据自身的路径 {path} 或 /dataset，或选择副本在沙箱中运行的资源池。")
def mount_needs_sandbox(mount: str, path: str) -> Said: ...

@say("The platform cannot reach {uri}", "平台无法访问 {uri}", "{field} is kept with the job. To mount the data, put them on the nodes and give their local path.", "{field} 会保留在任务中。要挂载数据，请把它放到节点上并填写本地路径。")
def storage_not_reached(uri: str, field: str) -> Said: ...

@say("The server has no folder {folder} that may be mounted", "服务器上没有可挂载的文件夹 {folder}", "dataDir is passed on as PAI_DATA_DIR. To mount it at /dataset, name a folder below one of local.mount_roots.", "dataDir 会以 PAI_DATA_DIR 传给任务。要挂载到 /dataset，请填写 local.mount_roots 允许的文件夹。")
def data_not_here(folder: str) -> Said: ...

@say("Unlimited retries are not supported", "不支持无限重试", "The job is tried again at most {most:time|times}.", "最多重试 {most} 次。")
def retries_bounded(most: Count) -> Said: ...

@say("{field} is obsolete and has no effect", "{field} 已过时，不起作用", "Use minSucceededTaskCount or minFailedTaskCount to say when the job ends.", "请用 minSucceededTaskCount 或 minFailedTaskCount 规定任务何时结束。")
def field_ignored(field: str) -> Said: ...

@say("Outputs are saved from /workspace/outputs and /model", "输出保存在 /workspace/outputs 和 /model", "What is written there becomes a model version.", "写入这两个目录的内容会成为模型版本。")
def outputs_elsewhere() -> Said: ...

@say("authFile is kept but not read", "authFile 会保留，但不会读取", "Store the user and password of the registry: tm secret set REGISTRY. Then make an image: tm image create NAME --container {image} --secret REGISTRY, and write image: NAME.", "请先保存仓库的用户名和密码：tm secret set REGISTRY；再生成镜像：tm image create NAME --container {image} --secret REGISTRY，并改写为 image: NAME。")
def auth_not_used(image: str) -> Said: ...
