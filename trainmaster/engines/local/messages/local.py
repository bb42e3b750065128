"""What is said of this machine as an engine: of the agent beside the server, and of entering tasks that it keeps."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said

AGENT = "Look at run/agent.log, then start the server again."
AGENT_ZH = "请查看 run/agent.log，然后重新启动服务器。"
AGAIN = "It is tried again by itself."
AGAIN_ZH = "平台会自动重试。"
INSTEAD = "Look at its log and its files instead."
INSTEAD_ZH = "请改为查看它的日志和文件。"

@say("this machine", "本机")
def this_machine() -> Said: ...

# --- its agent

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

@say("{task} has ended and is not kept any more", "{task} 已结束，且不再保留", INSTEAD, INSTEAD_ZH)
def task_not_kept(task: str) -> Said: ...

@say("{why}", "{why}", "Try again.", "请重试。")
def task_not_entered_now(why: Said | str) -> Said: ...
