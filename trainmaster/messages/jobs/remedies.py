"""What would help a job that failed or ran out of time: told beside a button, or a command, that clones it so."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Mib, Seconds, say
from trainmaster.messages.said import Said

# --- more of something

@say("Give sub-task {role} {memory} of memory instead of {now}", "将子任务 {role} 的内存由 {now} 增加到 {memory}")
def more_memory(role: str, memory: Mib, now: Mib) -> Said: ...

@say("Use flavor {flavor} for sub-task {role}: {memory} of memory instead of {now}", "子任务 {role} 改用规格 {flavor}：内存由 {now} 增加到 {memory}")
def flavor_with_more_memory(role: str, flavor: str, memory: Mib, now: Mib) -> Said: ...

@say("Give sub-task {role} {shm} of shared memory (/dev/shm) instead of {now}", "将子任务 {role} 的共享内存（/dev/shm）由 {now} 增加到 {shm}")
def more_shared_memory(role: str, shm: Mib, now: Mib) -> Said: ...

@say("Raise the time limit from {now} to {limit}", "将运行时限由 {now} 延长到 {limit}")
def longer_limit(limit: Seconds, now: Seconds) -> Said: ...

@say("Run it without a time limit", "不设运行时限")
def no_limit() -> Said: ...

# --- another command

@say("Did you mean `{right}`? The command says `{wrong}`", "是否应为 `{right}`？命令中写的是 `{wrong}`")
def other_program(right: str, wrong: str) -> Said: ...

# --- something that only its owner can change

@say("Fix the command or the code, then clone the job", "修正命令或代码，然后克隆任务")
def fix_what_runs() -> Said: ...

@say("The Python of the job has no module {module}: choose an image or an environment that has it, or install it", "任务的 Python 缺少 {module} 模块：请选用包含它的镜像或环境，或自行安装")
def install_package(module: str) -> Said: ...

@say("No node can give it more memory: use less, for example a smaller batch", "没有节点能提供更多内存：请减少用量，例如减小 batch")
def no_node_has_more() -> Said: ...

@say("Write less, or remove what is no longer needed, then clone the job", "减少写入或删除不再需要的文件，然后克隆任务")
def write_less() -> Said: ...

@say("Start fewer processes and threads, for example fewer data loader workers", "减少进程和线程数，例如减少数据加载的 worker 数")
def start_fewer_processes() -> Said: ...

# --- nothing

@say("The job is not to blame: clone it to run it again as it is", "不是任务本身的问题：可以克隆后原样再次运行")
def run_as_it_is() -> Said: ...
