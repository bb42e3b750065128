"""Every problem a job document can have: one code each, its rule and remedy in zh and en. Data, and the one builder.

A code is stable: consoles and scripts may compare it. Texts are templates filled with `args`, which travel in the
Problem, so that any client can show either language.
"""

from math import isfinite
from typing import Any, Final, NamedTuple

from trainmaster.core.chinese import chinese
from trainmaster.core.errors import Problem

_VALUE_CHARS: Final = 120


class Text(NamedTuple):
    """Rule and remedy of one code in both languages."""

    rule_zh: str
    remedy_zh: str
    rule: str
    remedy: str


_SHELL_ZH: Final = '写成 bash -c "..."'
_SHELL_EN: Final = 'Write it as bash -c "...".'

# ruff: noqa: E501 (a table is read across: one code a line)
TEXTS: Final[dict[str, Text]] = {
    # --- the document
    "syntax": Text("不是合法的 {format}：{detail}", "修正第 {line} 行", "This is not valid {format}: {detail}", "Mend line {line}."),
    "encoding": Text("文件不是 UTF-8 文本", "以 UTF-8 保存", "The file is not UTF-8 text", "Save it as UTF-8."),
    "too_large": Text("超过 {maximum} 字节", "删去不属于任务定义的内容", "This is larger than {maximum} bytes", "Leave out what is not part of the job."),
    "too_deep": Text("嵌套超过 {maximum} 层", "减少嵌套", "It is nested more than {maximum} levels deep", "Nest less."),
    "too_many_values": Text("超过 {maximum} 个值（YAML 别名按展开计算）", "删去不属于任务定义的内容，减少别名的使用", "It has more than {maximum} values, aliases of YAML counted as written out", "Leave out what is not part of the job, and use fewer aliases."),
    "duplicate_key": Text("字段 {key} 出现了两次", "只保留一个", "The key {key} is given twice", "Keep one of them."),
    "yaml_tag": Text("不支持 YAML 标签 {tag}", "去掉标签", "The YAML tag {tag} is not supported", "Leave the tag out."),
    "bad_set_path": Text("路径 {place} 不存在：{detail}", "使用如 roles.0.parameters.lr 的路径", "There is no place {place}: {detail}", "Write a path such as roles.0.parameters.lr."),
    "pai_version_2": Text("这是 OpenPAI 协议第 2 版的任务文件，这里只读取第 1 版", "改写为第 1 版的 JSON（jobName、image、taskRoles 列表），或写成 Trainmaster 的任务文件", "This file is written in version 2 of OpenPAI's protocol; only version 1 is read here", "Write it as version 1 (JSON with jobName, image and a list of taskRoles), or as a job file of Trainmaster."),
    "json_comment": Text("第 {line} 行有注释，而 JSON 没有注释", "删除注释，或把文件写成 YAML（注释以 # 开头）", "There is a comment in line {line}; JSON has no comments", "Remove it, or write the file as YAML, where comments begin with #."),
    "unknown_dialect": Text("未知的格式 {dialect}", "使用 {known} 之一", "The dialect {dialect} is not known", "Use one of {known}."),
    # --- structure
    "required": Text("缺少必填字段", "填写 {field}", "This field is required", "Give {field}."),
    "unknown_key": Text("未知字段 {field}", "删除它", "There is no field {field} here", "Remove it."),
    "unknown_key_near": Text("未知字段 {field}", "是否想写 {near}？", "There is no field {field} here", "Did you mean {near}?"),
    "not_text": Text("应为文本", "写成文本，例如加上引号", "This must be text", "Write a text, for example in quotes."),
    "not_integer": Text("应为整数", "写整数，例如 1", "This must be a whole number", "Write a whole number such as 1."),
    "number_as_text": Text("应为数字，而不是文本", "写 {given}，不加引号", "This must be a number, not a text", "Write {given} without quotes."),
    "not_number": Text("应为数字", "写数字，例如 0.5", "This must be a number", "Write a number such as 0.5."),
    "not_finite": Text("应为有限的数", "不能是无穷大或 NaN", "This must be a finite number", "Infinity and NaN are not possible here."),
    "not_boolean": Text("应为 true 或 false", "写 true 或 false，不加引号", "This must be true or false", "Write true or false without quotes."),
    "not_object": Text("应为对象（键值对）", "写成 {{键: 值}}", "This must be an object with named fields", "Write it as {{name: value}}."),
    "not_list": Text("应为列表", "写成 [..]", "This must be a list", "Write it as a list: [..]."),
    "not_scalar": Text("应为文本、数字或布尔值", "嵌套的值写成一个文本", "This must be a text, a number or true/false", "Write nested values as one text."),
    "not_json": Text("无法用 JSON 表示", "使用文本、数字、布尔值、列表和对象", "This cannot be written as JSON", "Use texts, numbers, booleans, lists and objects."),
    "null_not_allowed": Text("不能为空（null）", "删除该字段以使用默认值，或给出值", "This may not be null", "Leave the field out to get its default, or give a value."),
    "too_small": Text("不得小于 {minimum}", "给出不小于 {minimum} 的值", "This must be at least {minimum}", "Give {minimum} or more."),
    "too_big": Text("不得大于 {maximum}", "给出不大于 {maximum} 的值", "This must be at most {maximum}", "Give {maximum} or less."),
    "empty": Text("不能为空", "至少给出 {minimum} 项", "This may not be empty", "Give at least {minimum}."),
    "too_long": Text("最多 {maximum} 个字符", "缩短", "This may have at most {maximum} characters", "Shorten it."),
    "too_many": Text("最多 {maximum} 项", "减少项数", "There may be at most {maximum} of these", "Give fewer."),
    "not_one_of": Text("应为 {allowed} 之一", "选择其中之一", "This must be one of {allowed}", "Choose one of them."),
    "not_unicode": Text("包含无效的 Unicode 字符", "删除这些字符", "This has characters that are not valid Unicode", "Remove them."),
    "control_characters": Text("包含控制字符", "删除不可见的控制字符", "This has control characters", "Remove the invisible control characters."),
    "bad_pattern": Text("不符合规则 {pattern}", "只使用允许的字符", "This does not follow the pattern {pattern}", "Use only the characters allowed."),
    # --- names
    "bad_name": Text("名称由 1 至 30 个字母、数字、汉字、- 或 _ 组成", "修改名称", "A name has 1 to 30 letters, digits, Chinese characters, - or _", "Change the name."),
    "bad_slug": Text("只能使用字母、数字和 - . _ ~", "删除其他字符", "Only letters, digits and - . _ ~ are allowed", "Remove other characters."),
    "slug_like_id": Text("不能与任务 ID 的形式相同（t 加 32 位十六进制）", "换一个名称", "This may not look like a job id (t and 32 hex digits)", "Choose another one."),
    "bad_role_name": Text("角色名只能使用字母、数字和 - . _ ~，最多 63 个字符", "修改角色名", "A role's name has at most 63 letters, digits and - . _ ~", "Change the name."),
    "bad_pai_name": Text("只能使用字母、数字和 . _ ~", "修改名称", "Only letters, digits and . _ ~ are allowed", "Change the name."),
    "bad_word": Text("由字母、数字和 - . _ 组成，以字母或数字开头，最多 63 个字符", "修改", "This has at most 63 letters, digits and - . _, and begins with a letter or digit", "Change it."),
    "bad_image": Text("不是合法的镜像或环境名称", "使用如 default 或 registry/name:tag 的名称", "This is not an image or environment name", "Write a name such as default or registry/name:tag."),
    "bad_env_name": Text("变量名由字母、数字和 _ 组成，不以数字开头", "修改变量名", "A variable's name has letters, digits and _, and does not begin with a digit", "Change the name."),
    "bad_parameter": Text("参数名由字母、数字和 _ - . / 组成，不以 - 开头", "去掉开头的 --，平台会加上", "A parameter's name has letters, digits and _ - . /, and does not begin with -", "Write it without the leading dashes; the platform adds them."),
    "bad_digest": Text("应为 sha256: 加 64 位十六进制", "使用上传后得到的名称", "This must be sha256: and 64 hex digits", "Use the name that the upload gave."),
    "duplicate_name": Text("名称 {name} 重复", "使用不同的名称", "The name {name} is used twice", "Give each its own name."),
    # --- values
    "bad_memory": Text("{detail}", "写 MiB 数，或如 512MiB、2GiB 的文本", "{detail}", "Write a number of MiB, or a text such as 512MiB or 2GiB."),
    "bad_duration": Text("{detail}", "写秒数，或如 30m、2h、1h30m 的文本", "{detail}", "Write seconds, or a text such as 30m, 2h or 1h30m."),
    "duration_over_limit": Text("使用时长不得超过 {maximum} 秒（管理员设置）", "缩短使用时长", "The duration may be at most {maximum} seconds (set by the administrator)", "Ask for less."),
    "reserved_env": Text("{name} 由平台设置，不能替换", "换一个变量名", "{name} is set by the platform and may not be replaced", "Use another name."),
    "unknown_framework": Text("未知的框架 {kind}", "使用 {known} 之一", "There is no framework {kind}", "Use one of {known}."),
    "unknown_option": Text("框架 {kind} 没有选项 {field}", "可用选项：{known}", "The framework {kind} has no option {field}", "It has: {known}."),
    "bad_code": Text("代码只能给出 path 或 upload 之一", "写 code: . 或 code: {{upload: sha256:...}}", "Code is either a path or an upload", "Write code: . or code: {{upload: sha256:...}}."),
    "code_not_uploaded": Text("服务器看不到您机器上的文件夹 {folder}", "用 tm submit 提交，它会上传该文件夹", "The server does not see the folder {folder} of your machine", "Submit with tm, which uploads it."),
    # --- roles
    "too_many_tasks": Text("任务副本总数 {count} 超过 {maximum}", "减少副本数", "{count} tasks are more than the {maximum} a job may have", "Ask for fewer replicas."),
    "several_main": Text("只能有一个主角色，{first} 已是", "只保留一个 main: true", "A job has one main role, and {first} is already", "Keep main: true on one role."),
    "over_replicas": Text("不得超过副本数 {replicas}", "给出 1 到 {replicas} 之间的值", "This may not be more than the {replicas} replicas", "Give a number from 1 to {replicas}."),
    "shm_over_memory": Text("共享内存 {shm} MiB 超过内存 {memory} MiB，而它计入内存", "减小 shm，或增大 memory", "{shm} MiB of shared memory are more than the {memory} MiB of memory they count against", "Ask for less shm, or more memory."),
    "shorthand_mixed": Text("{field} 是单角色的简写，不能与 roles 同时使用", "移到 roles.0.{field} 中", "{field} is the shorthand for a single role and cannot be used beside roles", "Move it into roles.0.{field}."),
    # --- where it may run, and with what
    "flavors_mixed": Text("flavors 与 resources 只能给出其一", "删除其中之一", "Give flavors or resources, not both", "Remove one of them."),
    "unknown_flavor": Text("工作空间 {workspace} 中没有规格 {name}", "可用规格：{known}", "There is no flavor {name} in workspace {workspace}", "It has: {known}."),
    "too_many_ports": Text("所有副本共申请 {count} 个端口，最多 {maximum} 个", "减少端口数或副本数", "All replicas together ask for {count} ports; a job may have {maximum}", "Ask for fewer ports, or fewer replicas."),
    "commands_too_long": Text("各角色命令共 {count} 个字符，最多 {maximum} 个", "把脚本放进代码目录", "The commands of all roles have {count} characters; {maximum} are possible", "Put scripts into the code folder."),
    "too_many_shapes": Text("各角色规格的组合有 {count} 种，最多 {maximum} 种", "减少候选规格", "The flavors of all roles combine in {count} ways; {maximum} are possible", "Choose fewer flavors."),
    "share_one_card": Text("只有申请一张卡时才能使用部分卡", "把 gpu 设为 1，或把 gpu_share 设为 1", "A part of a card is only possible with one card", "Set gpu to 1, or gpu_share to 1."),
    "driver_without_cards": Text("只有使用加速卡时才能选择驱动版本", "删除 driver，或申请加速卡", "A driver version can be chosen only with accelerators", "Remove driver, or ask for cards."),
    "nodes_with_driver": Text("指定节点与驱动版本不能同时使用", "删除其中之一", "Named nodes and a driver version exclude each other", "Remove one of them."),
    "nodes_with_dedicated": Text("指定节点与专属资源池 {pool} 不能同时使用", "删除 nodes，或选择公共资源池", "Named nodes and the dedicated pool {pool} exclude each other", "Remove nodes, or choose a public pool."),
    "unknown_node": Text("资源池 {pool} 中没有节点 {name}", "该资源池的节点：{known}", "There is no node {name} in pool {pool}", "Its nodes: {known}."),
    "unknown_driver": Text("资源池 {pool} 中没有驱动版本为 {driver} 的节点", "可用版本：{known}", "No node of pool {pool} has driver {driver}", "There are: {known}."),
    "unknown_workspace": Text("没有工作空间 {name}", "可用工作空间：{known}", "There is no workspace {name}", "There are: {known}."),
    "unknown_pool": Text("没有资源池或虚拟集群 {name}", "可用：{known}", "There is no pool or virtual cluster {name}", "There are: {known}."),
    "pool_elsewhere": Text("资源池 {name} 属于集群 {engine}", "选择本机的资源池", "The pool {name} lives on the cluster {engine}", "Choose a pool of this machine."),
    "no_system_user": Text("集群 {engine} 以提交者的系统用户运行任务，而那里没有 {person} 的系统用户 {user}", "选择其他资源池，或请管理员在 engines.users 中指定系统用户", "The cluster {engine} runs jobs as the system user of whoever submits them, and {person} has none there ({user})", "Choose another pool, or ask an administrator to name the system user in engines.users."),
    "forbidden_system_user": Text("集群 {engine} 以提交者的系统用户运行任务，而 {person} 的系统用户 {user} 是 root 或平台自己的用户", "选择其他资源池，或请管理员在 engines.users 中指定另一个系统用户", "The cluster {engine} runs jobs as the system user of whoever submits them, and that of {person}, {user}, is root or the platform's own", "Choose another pool, or ask an administrator to name another system user in engines.users."),
    "not_on_behalf": Text("平台不得在集群 {engine} 上以 {person} 的系统用户 {user} 的身份提交任务：{why}", "选择其他资源池，或请管理员按指南补上 sudo 规则", "The platform may not submit jobs as the system user {user} of {person} on the cluster {engine}: {why}", "Choose another pool, or ask an administrator for the sudo rule of the guide."),
    "other_pool": Text("虚拟集群 {name} 属于资源池 {pool}", "删除 pool", "The virtual cluster {name} belongs to pool {pool}", "Remove pool."),
    "pool_dedicated": Text("资源池 {pool} 专属于 {workspaces}", "选择其他资源池，或请管理员开放", "The pool {pool} is dedicated to {workspaces}", "Choose another pool, or ask an administrator for access."),
    # --- clusters with a queue of their own
    "whole_cards": Text("该资源池所在的集群只分配整卡", "把 gpu_share 设为 1，或选择本平台自带引擎的资源池", "The cluster of this pool gives whole cards only", "Set gpu_share to 1, or choose a pool of this platform's own engine."),
    "pool_now": Text("平台选择了资源池 {pool}：可立即启动", "要固定资源池，请写出其名称", "The platform chose the pool {pool}: it can start there at once", "Name a pool to have it there in any case."),
    "pool_first": Text("平台选择了资源池 {pool}：预计在那里最早启动", "要固定资源池，请写出其名称", "The platform chose the pool {pool}: it is expected to start there first", "Name a pool to have it there in any case."),
    "pool_waits": Text("平台选择了资源池 {pool}：任务在每个资源池都要等待，且无法预计何时启动", "要固定资源池，请写出其名称", "The platform chose the pool {pool}: it would wait in every pool, and no start is foreseen", "Name a pool to have it there in any case."),
    "pool_any": Text("名称 any 表示由平台选择资源池", "换一个名称", "The name any stands for the pool that the platform chooses", "Choose another one."),
    "no_partition": Text("集群中没有分区 {name}", "选择其他资源池，或请管理员修改该资源池对应的分区", "The cluster has no partition {name}", "Choose another pool, or have an administrator name the partition that this pool is."),
    "partition_time": Text("分区 {partition} 的时限是 {most}", "缩短使用时长，或选择其他资源池", "The partition {partition} lets a job run for {most} at most", "Ask for less time, or choose another pool."),
    "partition_memory": Text("分区 {partition} 在一个节点上最多给一个任务 {most} MiB 内存", "减少内存，或选择其他资源池", "The partition {partition} gives a job {most} MiB on one node at most", "Ask for less memory, or choose another pool."),
    "cluster_refused": Text("集群 {engine} 会拒绝它：{said}", "按集群的节点与分区修改资源，或选择其他资源池", "The cluster {engine} would refuse it: {said}", "Ask for what the nodes and partitions of the cluster have, or choose another pool."),
    # --- urgent jobs
    "urgent_right": Text("只有管理员可以设为非常紧急", "使用 urgent", "Very urgent is for administrators", "Use urgent."),
    "urgent_limit_user": Text("用户 {user} 在工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "等其中一个结束，或使用 normal", "{user} has {used} urgent jobs queued or running in workspace {workspace}; the limit is {limit}", "Wait until one has ended, or use normal."),
    "urgent_limit_workspace": Text("工作空间 {workspace} 中已有 {used} 个紧急任务（排队与运行），上限为 {limit}", "等其中一个结束，或使用 normal", "Workspace {workspace} has {used} urgent jobs queued or running; the limit is {limit}", "Wait until one has ended, or use normal."),
    # --- what administrators decide
    "name_taken": Text("名称 {name} 已被使用", "换一个名称", "The name {name} is in use", "Choose another one."),
    "stays": Text("{name} 始终存在，不能删除", "只能修改它", "{name} always exists and cannot be deleted", "Change it instead."),
    "in_use": Text("{name} 仍在使用：{by}", "先移走或结束它们", "{name} is still in use: {by}", "Move or end them first."),
    "bad_resource": Text("未知的资源 {name}", "使用 gpu、gpu:<型号>、cpu 或 memory_mib", "There is no resource {name}", "Use gpu, gpu:<model>, cpu or memory_mib."),
    "cap_below_nominal": Text("上限 {cap} 低于保证值 {nominal}", "给出不低于保证值的上限，或不设上限", "The cap {cap} is below the nominal {nominal}", "Give a cap of at least the nominal, or none."),
    "over_guaranteed": Text("资源池 {pool} 共有 {total} {name}，其中 {given} 已保证给其他虚拟集群", "最多保证 {left}", "Pool {pool} has {total} {name}, {given} of them guaranteed to others", "Guarantee {left} at most."),
    "dedicated_to_nobody": Text("专属资源池至少属于一个工作空间", "给出 workspaces", "A dedicated pool belongs to at least one workspace", "Give workspaces."),
    # --- ports
    "port_range": Text("端口 {first} 到 {last} 超出 1-65535", "减少数量或改小起始端口", "The ports {first} to {last} leave the range 1-65535", "Ask for fewer, or begin lower."),
    "port_reserved": Text("{first} 以下的端口属于系统，副本无权使用", "使用 {first} 或更大的端口，或把 begin_at 设为 0", "Ports below {first} belong to the system: no task can listen there", "Begin at {first} or higher, or at 0 to let the platform choose."),
    "port_overlap": Text("与端口 {label} 重叠", "使用不重叠的端口", "These ports overlap with those of {label}", "Use ports that do not overlap."),
    "port_fixed": Text("{count} 个任务都要固定端口 {port}，但只有 {hosts} 个主机地址（D7）", "把 begin_at 设为 0，由平台分配端口", "{count} tasks ask for the fixed port {port} on {hosts} host addresses (D7)", "Set begin_at to 0 and let the platform choose the ports."),
    # --- mounts
    "mount_not_absolute": Text("应为不含 . 和 .. 的绝对路径", "写完整路径", "This must be an absolute path without . and ..", "Write the full path."),
    "mount_reserved": Text("{target} 由平台使用", "挂载到如 /dataset 的其他位置", "{target} belongs to the platform", "Mount elsewhere, for example at /dataset."),
    "mount_hides": Text("挂载到 {target} 会遮住平台放在那里的 {place}", "挂载到其他位置，如 /dataset 或 /workspace/data", "A mount at {target} would hide {place}, which the platform needs there", "Mount elsewhere, for example at /dataset or /workspace/data."),
    "mount_twice": Text("与 {other} 的挂载位置相同或嵌套", "使用互不包含的位置", "This is the place of {other}, or one lies inside the other", "Use places that do not contain one another."),
    # --- commands
    "command_empty": Text("命令不能为空", "写要运行的命令，例如 python train.py", "The command is empty", "Write what to run, for example python train.py."),
    "command_assignment": Text("命令必须以可执行文件开头，不能以 {name}= 开头", _SHELL_ZH + "，或用 env 设置变量", "A command begins with an executable, not with {name}=", 'Put the variable under env, or write bash -c "...".'),
    "command_statements": Text("一条命令中不能有多条语句（{operator}）", _SHELL_ZH, "Several statements in one command ({operator}) need a shell", _SHELL_EN),
    "command_pipe": Text("管道（{operator}）需要 shell", _SHELL_ZH + "，或给文本加引号", "A pipe ({operator}) needs a shell", 'Write it as bash -c "...", or quote the character.'),
    "command_redirect": Text("重定向（{operator}）需要 shell", _SHELL_ZH + "；平台已保存输出日志", "A redirection ({operator}) needs a shell", 'Write it as bash -c "..."; the output is kept as the log anyway.'),
    "command_substitution": Text("命令替换（{operator}）需要 shell", _SHELL_ZH, "A command substitution ({operator}) needs a shell", _SHELL_EN),
    "command_quote": Text("引号没有闭合", "补上引号", "A quote is opened and never closed", "Close it."),
    "command_escape": Text("命令以反斜杠结尾", "删除末尾的反斜杠", "The command ends in a backslash", "Remove it."),
    # --- metrics and progress
    "bad_regex": Text("不是合法的正则表达式：{detail}", "修正表达式", "This is not a regular expression: {detail}", "Mend it."),
    "regex_groups": Text("没有命名分组", "如 loss=(?P<loss>[\\d.]+)，分组名即指标名", "It has no named group", "Name what to read: loss=(?P<loss>[\\d.]+)."),
    "regex_slow": Text("重复中嵌套重复，匹配可能极慢", "去掉一层 + 或 *", "A repetition inside a repetition can take for ever", "Remove one of the two + or *."),
    "progress_parameter": Text("没有名为 {name} 的参数", "写总步数，或参数名", "No role has a parameter {name}", "Write the number of steps, or the name of a parameter."),
    "progress_number": Text("参数 {name} 不是正数", "写总步数", "The parameter {name} is not a positive number", "Write the number of steps."),
    # --- words, not refusals
    "runs_as_service": Text("集群 {engine} 上的任务以平台的系统用户 {user} 运行，而不是以提交者的身份", "任务能访问该用户能访问的一切；管理员可用 run_as 改变", "Jobs on the cluster {engine} run as the platform's own system user {user}, not as the person who submits them", "They reach what that user reaches; an administrator can change it with run_as."),
    "image_not_used": Text("本地引擎在自己的环境中运行，不拉取镜像 {image}", "确认所需软件已在该环境中", "The local engine runs in its own environment and does not pull {image}", "See that the environment has what the job needs."),
    "storage_not_reached": Text("平台无法访问 {uri}", "{field} 会保留在任务中；请把数据放到节点上并使用本地路径", "The platform does not reach {uri}", "{field} is kept with the job; put the data on the nodes and give a local path to have it mounted."),
    "data_not_here": Text("服务器上没有可挂载的文件夹 {folder}", "dataDir 会保留并以 PAI_DATA_DIR 传给任务；要挂载到 /dataset，请写管理员在 local.mount_roots 中允许的文件夹", "The server has no folder {folder} that may be mounted", "dataDir is kept and passed on as PAI_DATA_DIR. To have it mounted at /dataset, name a folder that local.mount_roots allows."),
    "retries_bounded": Text("不支持无限重试", "最多重试 {most} 次", "There are no unlimited retries here", "The job is tried again {most} times at most."),
    "field_ignored": Text("{field} 已过时，不起作用", "用 minSucceededTaskCount 或 minFailedTaskCount 规定任务何时结束", "{field} is obsolete and has no effect", "Use minSucceededTaskCount or minFailedTaskCount to say when the job ends."),
    "outputs_elsewhere": Text("输出保存在 /workspace/outputs 和 /model", "写入这两个目录的内容会成为模型版本", "Outputs are kept from /workspace/outputs and /model", "What is written there becomes a model version."),
    "auth_not_used": Text("authFile 会保留，但不使用：本地引擎不拉取镜像", "无需操作", "authFile is kept and not used: the local engine pulls no image", "Nothing to do."),
}  # fmt: skip


class _Gaps(dict[str, Any]):
    """Leaves a placeholder that has no value as it is, rather than failing while reporting a problem."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _short(value: Any) -> Any:
    """Return `value` when it is small enough to show: a scalar, texts cut."""
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return text if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS] + "…"
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    return None


def problem(code: str, path: str, *, value: Any = None, **args: Any) -> Problem:
    """Return the Problem of `code` at the dotted field `path`, in English, with what fills the other language."""
    text = TEXTS[code]
    shown = {key: _short(item) if isinstance(item, str) else item for key, item in args.items()}
    filled = _Gaps(shown)
    rule, remedy = text.rule.format_map(filled), text.remedy.format_map(filled)
    return Problem(_short(path), rule, remedy, code, _short(value), shown or None)


def in_chinese(item: Problem) -> tuple[str, str]:
    """Return (rule, remedy) of `item` in Chinese: by its code and arguments; a problem of others by its sentences."""
    text, args = TEXTS.get(item.code), item.args or {}
    if text is None or text.rule.format_map(_Gaps(args)) != item.rule:
        return chinese(item.rule), chinese(item.remedy)
    filled = _Gaps({name: chinese(value) if isinstance(value, str) else value for name, value in args.items()})
    return text.rule_zh.format_map(filled), text.remedy_zh.format_map(filled)
