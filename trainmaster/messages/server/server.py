"""What is said of the server itself: its disks, its helpers, its engines, and how their tasks are entered."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Seconds, say
from trainmaster.messages.said import Said

ROOM = "Delete jobs that are no longer needed, or free space on that disk; the platform then continues by itself."
ROOM_ZH = "请删除不再需要的任务，或在该磁盘上清理空间；之后会自动继续。"
AGAIN = "The platform tries again by itself."
AGAIN_ZH = "平台会自动重试。"
INSTEAD = "Look at its log and its files instead."
INSTEAD_ZH = "请改为查看它的日志和文件。"

# --- disks

@say("The disk of {folder} is nearly full: {left} left", "{folder} 所在磁盘即将写满：剩余 {left}", ROOM, ROOM_ZH)
def disk_nearly_full(folder: str, left: Mib) -> Said: ...

@say("The disk of {folder} is nearly full: it has room for {files:more file|more files}", "{folder} 所在磁盘即将写满：还能存放 {files} 个文件", ROOM, ROOM_ZH)
def disk_short_of_files(folder: str, files: Count) -> Said: ...

@say("The file system of an input does not answer", "输入所在的文件系统没有响应", "Try again later, or choose another folder.", "请稍后再试，或换一个文件夹。")
def inputs_silent() -> Said: ...

# --- processes that help

@say("Checking the request took longer than {limit_s}", "检查此请求用时超过 {limit_s}", "Ask for less at once.", "请减少一次请求的内容。")
def request_took_too_long(limit_s: Seconds) -> Said: ...

@say("Checking the request took too much memory", "检查此请求占用内存过多", "Ask for less at once.", "请减少一次请求的内容。")
def request_took_too_much_memory() -> Said: ...

@say("reading the TensorBoard files took too long", "读取 TensorBoard 文件用时过长", "Try again later.", "请稍后再试。")
def tensorboard_too_slow() -> Said: ...

@say("the reader of TensorBoard files does not answer", "TensorBoard 文件的读取程序没有响应", "Check the server's log.", "请查看服务器日志。")
def tensorboard_silent() -> Said: ...

# --- engines

@say("Engine {engine} cannot be used: {why}", "引擎 {engine} 无法使用：{why}", AGAIN, AGAIN_ZH)
def engine_unusable(engine: str, why: Said | str) -> Said: ...

@say("not started", "尚未启动")
def engine_not_started() -> Said: ...

@say("It has not answered yet", "尚未响应")
def engine_not_answered_yet() -> Said: ...

# --- entering tasks

@say("{task} is not running; only a running replica can be entered", "{task} 没有在运行；只能进入运行中的副本", INSTEAD, INSTEAD_ZH)
def task_not_running(task: str) -> Said: ...

@say("no answer within {limit_s} s", "{limit_s} 秒内没有响应")
def engine_silent(limit_s: int) -> Said: ...

@say("The primary server at {address} does not answer", "主服务器（{address}）没有响应", "This server takes over once it is gone.", "它退出后，此服务器会接管。")
def leader_silent(address: str) -> Said: ...

@say("The cluster did not answer in time", "集群没有及时响应")
def cluster_not_in_time() -> Said: ...
