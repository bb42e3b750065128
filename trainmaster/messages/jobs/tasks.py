"""What is said of how tasks, attempts and jobs end. `who`: a replica by the name of its sub-task and
its index, worker-0."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Seconds, say
from trainmaster.messages.said import Said

# --- by its program

@say("{who} ended with exit code {exit_code}", "{who} 已结束，退出码为 {exit_code}")
def task_ended_with(who: str, exit_code: int) -> Said: ...

@say("{who} ended with exit code {exit_code}: a command cannot be executed", "{who} 已结束，退出码为 {exit_code}：有命令无法执行")
def task_could_not_execute(who: str, exit_code: int) -> Said: ...

@say("{who} ended with exit code {exit_code}: a command was not found", "{who} 已结束，退出码为 {exit_code}：找不到命令")
def task_found_no_command(who: str, exit_code: int) -> Said: ...

@say("{who} was ended by signal {signal}", "{who} 被信号 {signal} 终止")
def task_ended_by_signal(who: str, signal: int | str) -> Said: ...

@say("{who}: {program}: {error}", "{who}：{program}：{error}")
def program_of_task(who: str, program: str, error: Said) -> Said: ...

@say("{said}; the node has no {program}, and no Python environment is set for jobs here: an administrator can set one (environment), or try python3", "{said}；节点上没有 {program}，这里也没有为任务设置 Python 环境：管理员可以设置一个（environment），或试试 python3")
def and_no_environment(said: Said, program: str) -> Said: ...

# --- by its hooks

@say("{who} did not start its command: its before hook ended with exit code {exit_code}", "{who} 没有启动命令：启动前脚本（before）已结束，退出码为 {exit_code}")
def before_hook_failed(who: str, exit_code: int) -> Said: ...

@say("{who} did not start its command: its before hook was ended by signal {signal}", "{who} 没有启动命令：启动前脚本（before）被信号 {signal} 终止")
def before_hook_killed(who: str, signal: str) -> Said: ...

@say("{who} did not start: hooks need {shell}, which its image does not have", "{who} 没有启动：生命周期脚本需要 {shell}，而镜像中没有它")
def hooks_without_shell(who: str, shell: str) -> Said: ...

@say("the after hook of {who} ended with exit code {exit_code}; the end of the replica stays as it was", "{who} 的结束后脚本（after）已结束，退出码为 {exit_code}；副本的结束原因不变")
def after_hook_failed(who: str, exit_code: int) -> Said: ...

@say("the after hook of {who} was ended when the grace period of {grace} was over", "{who} 的结束后脚本（after）在宽限期 {grace} 用完时被终止")
def after_hook_cut(who: str, grace: Seconds) -> Said: ...

@say("the after hook of {who} did not run: the replica was killed before its command had ended by itself", "{who} 的结束后脚本（after）没有运行：副本在命令自行结束之前被强制终止")
def after_hook_not_run(who: str) -> Said: ...

# --- at a limit

@say("{who} used more memory than the {limit_mib} MiB it asked for; ask for more memory or use less", "{who} 使用的内存超过所申请的 {limit_mib} MiB；请申请更多内存或减少使用")
def task_out_of_memory(who: str, limit_mib: int) -> Said: ...

@say("{who} was stopped: it used {used_mib} MiB of memory but asked for {limit_mib} MiB", "{who} 被终止：它使用了 {used_mib} MiB 内存，而只申请了 {limit_mib} MiB")
def task_over_memory(who: str, used_mib: int, limit_mib: int) -> Said: ...

@say("{who} uses {used_mib} MiB of memory but asked for {limit_mib} MiB; above {most_mib} MiB it is stopped", "{who} 使用了 {used_mib} MiB 内存，而只申请了 {limit_mib} MiB；超过 {most_mib} MiB 时将被终止")
def task_near_memory(who: str, used_mib: int, limit_mib: int, most_mib: int) -> Said: ...

@say("{who} reached its limit of {limit:process or thread|processes and threads}", "{who} 达到进程与线程数的上限 {limit}")
def task_out_of_processes(who: str, limit: Count) -> Said: ...

@say("{who} was stopped: it ran {found:process|processes}, the limit is {limit}", "{who} 被终止：它运行了 {found} 个进程，上限为 {limit}")
def task_over_processes(who: str, found: Count, limit: int) -> Said: ...

@say("{who} could not write: the disk (or /dev/shm, {shm_mib} MiB) is full", "{who} 无法写入：磁盘（或 {shm_mib} MiB 的 /dev/shm）已满")
def task_out_of_disk(who: str, shm_mib: int) -> Said: ...

@say("{who} could not write: the disk is full, although its job uses only {held_mib} MiB of it", "{who} 无法写入：磁盘已满，而此任务只占用其中 {held_mib} MiB")
def task_without_room(who: str, held_mib: int) -> Said: ...

# --- by the platform

@say("{who} was stopped by the platform on request", "{who} 已按要求由平台终止")
def task_ended_as_asked(who: str) -> Said: ...

@say("{who} did not run: its sandbox could not be created", "{who} 没有运行：无法建立它的沙箱")
def task_without_sandbox(who: str) -> Said: ...

@say("the platform was stopped while {who} ran", "{who} 运行期间平台被停止")
def stopped_with_platform(who: str) -> Said: ...

@say("{who} disappeared without an exit code", "{who} 消失了，没有留下退出码")
def task_lost(who: str) -> Said: ...

@say("{who} does not run here: this home folder is a copy or was moved to another disk", "{who} 不在这里运行：此平台目录是一份副本，或被移到了另一块磁盘")
def task_elsewhere(who: str) -> Said: ...

@say("node {node} failed", "节点 {node} 发生故障")
def node_failed(node: str) -> Said: ...

@say("the platform no longer knows this attempt", "平台已没有此次运行的记录")
def attempt_forgotten() -> Said: ...

@say("nothing of the attempt is left running", "此次运行没有留下任何进程")
def nothing_left_of_attempt() -> Said: ...

# --- of all tasks together

@say("sub-task {role} is complete", "子任务 {role} 已完成")
def role_complete(role: str) -> Said: ...

@say("sub-task {role}: {got} of the {needed:replica|replicas} needed succeeded, and none is still running", "子任务 {role}：需要 {needed} 个副本成功，只有 {got} 个成功，且没有仍在运行的副本")
def too_few_succeeded(role: str, got: int, needed: Count) -> Said: ...

# --- for what its job holds on the disk

@say("{who} was stopped: its job's folder holds {used_mib} MiB, the limit is {limit_mib} MiB", "{who} 被终止：任务目录已占用 {used_mib} MiB，上限为 {limit_mib} MiB")
def job_over_disk(who: str, used_mib: int, limit_mib: int) -> Said: ...

@say("{who} was stopped: its job's folder holds {used:file|files}, the limit is {limit:file|files}", "{who} 被终止：任务目录中有 {used} 个文件，上限为 {limit} 个")
def job_over_files(who: str, used: Count, limit: Count) -> Said: ...

@say("{who} was stopped: its job filled the disk with {used_mib} MiB in {files:file|files}, and {left_mib} MiB are left", "{who} 被终止：它的任务写满了磁盘（{used_mib} MiB、{files} 个文件），磁盘只剩 {left_mib} MiB")
def job_filled_disk(who: str, used_mib: int, files: Count, left_mib: int) -> Said: ...

@say("{who} was stopped: its job filled the disk with {used_mib} MiB in {files:file|files}, and there is room for only {left} more", "{who} 被终止：它的任务写满了磁盘（{used_mib} MiB、{files} 个文件），磁盘只能再存放 {left} 个文件")
def job_filled_disk_with_files(who: str, used_mib: int, files: Count, left: Count) -> Said: ...

# --- what bubblewrap says of a program

@say("no such file", "没有这个文件")
def no_such_program() -> Said: ...

@say("it may not be executed", "没有执行权限")
def program_not_permitted() -> Said: ...

@say("its format cannot be executed on this node", "此节点无法执行这种格式的文件")
def program_of_other_format() -> Said: ...

@say("its arguments are too long", "参数列表过长")
def program_with_long_arguments() -> Said: ...

@say("part of its path is not a folder", "路径中有一部分不是目录")
def program_not_in_folder() -> Said: ...
