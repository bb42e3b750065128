"""What is said of this node as an engine: of the agent beside the server, and of entering tasks that it keeps."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said

AGENT = "Look at run/agent.log, then restart the server."
AGENT_ZH = "请查看 run/agent.log，然后重新启动服务器。"
AGAIN = "The platform tries again by itself."
AGAIN_ZH = "平台会自动重试。"
INSTEAD = "Look at its log and its files instead."
INSTEAD_ZH = "请改为查看它的日志和文件。"

@say("this server", "本服务器")
def this_machine() -> Said: ...

# --- its agent

@say("the node agent does not answer; its log is run/agent.log in the home folder", "节点代理没有响应；其日志为平台目录下的 run/agent.log", AGENT, AGENT_ZH)
def agent_silent() -> Said: ...

@say("the node agent cannot be started: {error}", "节点代理无法启动：{error}", AGENT, AGENT_ZH)
def agent_not_started(error: str) -> Said: ...

@say("the engine was closed", "引擎已关闭", AGENT, AGENT_ZH)
def engine_closed() -> Said: ...

@say("the answer of the node agent is larger than {mib} MiB", "节点代理的响应超过 {mib} MiB", AGENT, AGENT_ZH)
def agent_answer_too_large(mib: int) -> Said: ...

@say("the node agent of this home folder runs another version of the code and cannot be replaced; its log is run/agent.log", "此平台目录的节点代理运行的是另一版本的代码，且没有退出；其日志为 run/agent.log", AGENT, AGENT_ZH)
def agent_does_not_give_way() -> Said: ...

@say("the node agent of this home folder runs another version of the code and is being replaced; jobs continue", "此平台目录的节点代理运行的是另一版本的代码，正在替换；任务继续运行", AGENT, AGENT_ZH)
def agent_being_replaced() -> Said: ...

@say("the node agent of this home folder runs another version of the code and cannot be replaced: {error}", "此平台目录的节点代理运行的是另一版本的代码，且无法替换：{error}", AGENT, AGENT_ZH)
def agent_not_replaceable(error: str) -> Said: ...

@say("the node agent that answers belongs to {home}: the home folder was moved while jobs were running", "响应的节点代理属于 {home}：平台目录在任务运行时被移动", AGENT, AGENT_ZH)
def agent_of_another_home(home: str) -> Said: ...

@say("the node agent of this home folder does not accept this server's settings: {error}", "此平台目录的节点代理不接受此服务器的设置：{error}", AGENT, AGENT_ZH)
def agent_refuses_settings(error: Said | str) -> Said: ...

@say("The node agent of this home folder keeps the files of jobs in {folder}", "此平台目录的节点代理把任务的文件存放在 {folder}", "Set server.data back until all jobs have ended; the node agent stops one minute after the last.", "在所有任务结束之前请改回 server.data；最后一个任务结束一分钟后节点代理会退出。")
def agent_keeps_other_data(folder: str) -> Said: ...

@say("{why}", "{why}", AGAIN, AGAIN_ZH)
def agent_not_able_now(why: Said | str) -> Said: ...

# --- entering tasks

@say("{task} has ended and is no longer kept", "{task} 已结束，且不再保留", INSTEAD, INSTEAD_ZH)
def task_not_kept(task: str) -> Said: ...

@say("{why}", "{why}", "Try again.", "请重试。")
def task_not_entered_now(why: Said | str) -> Said: ...
