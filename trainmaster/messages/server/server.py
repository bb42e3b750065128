"""What is said of the server itself: its disks, its helpers, its engines, the agent of this machine, and how tasks are entered there."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Seconds, say
from trainmaster.messages.said import Said

ROOM = "Delete jobs that are not needed any more, or free space there; then it goes on by itself."
ROOM_ZH = "请删除不再需要的任务，或在该磁盘上清理空间；之后会自动继续。"
AGENT = "Look at run/agent.log, then start the server again."
AGENT_ZH = "请查看 run/agent.log，然后重新启动服务器。"
AGAIN = "It is tried again by itself."
AGAIN_ZH = "平台会自动重试。"
INSTEAD = "Look at its log and its files instead."
INSTEAD_ZH = "请改为查看它的日志和文件。"

# --- disks

@say("The disk of {folder} is nearly full: {left} are left", "{folder} 所在磁盘即将写满：剩余 {left}", ROOM, ROOM_ZH)
def disk_nearly_full(folder: str, left: Mib) -> Said: ...

@say("The disk of {folder} is nearly full: it has room for {files:more file|more files}", "{folder} 所在磁盘即将写满：还能存放 {files} 个文件", ROOM, ROOM_ZH)
def disk_short_of_files(folder: str, files: Count) -> Said: ...

@say("The file system of an input does not answer", "输入所在的文件系统没有响应", "Try again later, or name another folder.", "请稍后再试，或换一个文件夹。")
def inputs_silent() -> Said: ...

# --- processes that help

@say("Looking at the request took longer than {limit_s}", "检查此请求用时超过 {limit_s}", "Ask for less at once.", "请减少一次请求的内容。")
def request_took_too_long(limit_s: Seconds) -> Said: ...

@say("Looking at the request took too much memory", "检查此请求占用内存过多", "Ask for less at once.", "请减少一次请求的内容。")
def request_took_too_much_memory() -> Said: ...

@say("the reader of TensorBoard files took too long", "读取 TensorBoard 文件用时过长", "Ask again later.", "请稍后再试。")
def tensorboard_too_slow() -> Said: ...

@say("the reader of TensorBoard files does not answer", "TensorBoard 文件的读取程序没有响应", "Look at the server's log.", "请查看服务器日志。")
def tensorboard_silent() -> Said: ...

# --- engines

@say("this machine", "本机")
def this_machine() -> Said: ...

@say("The engine {engine} cannot be used: {why}", "引擎 {engine} 无法使用：{why}", AGAIN, AGAIN_ZH)
def engine_unusable(engine: str, why: Said | str) -> Said: ...

@say("not started", "尚未启动")
def engine_not_started() -> Said: ...

@say("It has not answered yet", "尚未应答")
def engine_not_answered_yet() -> Said: ...

# --- the agent of this machine

@say("the local agent does not answer; its own words are in run/agent.log under the home folder", "本地代理没有响应；详情见平台目录下的 run/agent.log", AGENT, AGENT_ZH)
def agent_silent() -> Said: ...

@say("the agent cannot be started: {error}", "代理无法启动：{error}", AGENT, AGENT_ZH)
def agent_not_started(error: str) -> Said: ...

@say("the engine was closed", "引擎已关闭", AGENT, AGENT_ZH)
def engine_closed() -> Said: ...

@say("the agent's answer is larger than {mib} MiB", "代理的回答超过 {mib} MiB", AGENT, AGENT_ZH)
def agent_answer_too_large(mib: int) -> Said: ...

@say("the agent of this home runs other code and does not give way; its own words are in run/agent.log", "此平台目录的代理运行的是另一份代码，且没有让位；详情见 run/agent.log", AGENT, AGENT_ZH)
def agent_does_not_give_way() -> Said: ...

@say("the agent of this home runs other code; it is being replaced, and jobs go on", "此平台目录的代理运行的是另一份代码；正在替换它，任务继续运行", AGENT, AGENT_ZH)
def agent_being_replaced() -> Said: ...

@say("the agent of this home runs other code and cannot be replaced: {error}", "此平台目录的代理运行的是另一份代码，且无法替换：{error}", AGENT, AGENT_ZH)
def agent_not_replaceable(error: str) -> Said: ...

@say("the agent that answers was started for {home}: the home was moved while tasks run", "应答的代理属于 {home}：平台目录在副本运行时被移动", AGENT, AGENT_ZH)
def agent_of_another_home(home: str) -> Said: ...

@say("the agent of this home does not take this server's settings: {error}", "此平台目录的代理不接受此服务器的设置：{error}", AGENT, AGENT_ZH)
def agent_refuses_settings(error: Said | str) -> Said: ...

@say("The agent of this home keeps the files of jobs in {folder}", "此平台目录的代理把任务的文件存放在 {folder}", "Set server.data back until all jobs have ended; the agent ends a minute after the last.", "在所有任务结束之前请改回 server.data；最后一个任务结束一分钟后代理会退出。")
def agent_keeps_other_data(folder: str) -> Said: ...

@say("{why}", "{why}", AGAIN, AGAIN_ZH)
def agent_not_able_now(why: Said | str) -> Said: ...

# --- entering tasks

@say("{task} does not run; only a running task can be entered", "{task} 没有在运行；只能进入运行中的副本", INSTEAD, INSTEAD_ZH)
def task_not_running(task: str) -> Said: ...

@say("{task} has ended and is not kept any more", "{task} 已结束，且不再保留", INSTEAD, INSTEAD_ZH)
def task_not_kept(task: str) -> Said: ...

@say("{why}", "{why}", "Try again.", "请重试。")
def task_not_entered_now(why: Said | str) -> Said: ...

@say("no answer within {limit_s} s", "{limit_s} 秒内没有响应")
def engine_silent(limit_s: int) -> Said: ...

@say("The cluster did not answer in time", "集群没有及时响应")
def cluster_not_in_time() -> Said: ...
