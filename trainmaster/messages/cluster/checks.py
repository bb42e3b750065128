"""What is said when an engine of any kind is added or looked at: what is there already, and how it went. What its kind
looks at, its kind says.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

POOL = "Wait for these jobs or stop them, or give the pool another name: --pool NAME={pool}."
POOL_ZH = "请等待或停止这些任务，或给资源池换个名称：--pool NAME={pool}。"

# --- what is there already (service.adding)

@say("existing data", "已有数据")
def check_moving() -> Said: ...

@say("existing jobs", "已有任务")
def check_jobs() -> Said: ...

@say("jobs, models and uploads are in {folder}", "任务、模型和上传内容位于 {folder}")
def data_stays(folder: str) -> Said: ...

@say("{folder} has {names}, which would not be found in {place}", "{folder} 中有 {names}，在 {place} 中将找不到它们", "Wait until all jobs have ended, stop the server and move these folders there.", "请等待所有任务结束，停止服务器，再把这些目录移到那里。")
def data_left_behind(folder: str, names: Names, place: str) -> Said: ...

@say("the server does not answer, so its jobs were not checked", "服务器没有响应，因此没有检查其任务", "Start the server to have them checked, or make sure that no job is queued or running in these pools.", "请启动服务器以便检查，或确认这些资源池中没有排队或运行的任务。")
def jobs_not_looked_at() -> Said: ...

@say("{jobs:job is queued or running|jobs are queued or running} in pool {pool} of {engine} and would be lost", "{engine} 的资源池 {pool} 中有 {jobs} 个任务在排队或运行，它们将会丢失", POOL, POOL_ZH)
def jobs_would_be_lost(jobs: Count, pool: str, engine: str) -> Said: ...

@say("pool {pool} has {nodes:node|nodes} of {engine}, which would be left out", "资源池 {pool} 有 {engine} 的 {nodes} 个节点，它们将不在其中", POOL, POOL_ZH)
def nodes_would_be_left_out(pool: str, nodes: Count, engine: str) -> Said: ...

@say("none in these pools", "这些资源池中没有")
def no_jobs_there() -> Said: ...

# --- said around it (cli.engine)

@say("Written into {path}:", "已写入 {path}：", "Restart the server to use it: running jobs continue, queued jobs keep their place.", "请重新启动服务器，该引擎即可使用：期间运行中的任务继续运行，排队的任务保持顺序。")
def engine_written(path: str) -> Said: ...

@say("Written into {path}:", "已写入 {path}：", "The data folder has changed: stop the server when no job is running, and start it a minute later.", "数据目录已改变：请在没有任务运行时停止服务器，一分钟后再启动。")
def engine_written_data_moved(path: str) -> Said: ...

@say("This would be written into {path}:", "将会写入 {path}：")
def engine_would_be_written(path: str) -> Said: ...

@say('Nothing was written: fix the items marked "bad" and run the command again', "没有写入任何内容：请修复标出的项目，然后重新运行此命令")
def engine_not_written() -> Said: ...

@say("Engines of this kind ({kind}) are checked by: tm doctor", "该类型的引擎（{kind}）请用 tm doctor 检查")
def checked_by_doctor(kind: Said) -> Said: ...

@say("Engines of this kind ({kind}) have no checks of their own", "该类型的引擎（{kind}）没有自己的检查")
def engine_without_checks(kind: Said) -> Said: ...

@say("There is no engine kind {kind}", "没有 {kind} 类型的引擎", "Use one of {kinds}, or install the package that provides it.", "请使用 {kinds} 之一，或安装提供该类型的软件包。")
def no_such_engine_kind(kind: str, kinds: Names) -> Said: ...

@say("--wait: {why}", "--wait 的值：{why}", "For example 90s, 10m or 2h.", "例如 90s、10m 或 2h。")
def wait_not_read(why: Said) -> Said: ...
