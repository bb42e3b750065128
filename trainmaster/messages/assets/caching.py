"""What is said of inputs that are cached on a node's fast storage: how far it is, and why they are not (R187)."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Mib, say
from trainmaster.messages.said import Said


@say("Only a data set, a saved model or what is fetched from object storage can be cached", "只有数据集、已保存的模型和从对象存储获取的内容可以缓存", "Leave cache out; or upload what is in the folder as a data set.", "请删去 cache；或将文件夹中的内容上传为数据集。")
def input_not_cacheable() -> Said: ...

# --- whether nodes have a cache

@say("No fast storage is configured here to cache inputs on", "此处没有配置用于缓存输入的高速存储", "Leave cache out: the job then reads the data from where they are kept. An administrator can name a folder in local.cache_folder.", "请删去 cache，任务将直接从原位置读取。管理员可以在 local.cache_folder 中填写文件夹。")
def cache_off() -> Said: ...

@say("Inputs are cached only where replicas run in a sandbox, which does not work on this node", "只有副本在沙箱中运行时才能缓存输入，而此节点上沙箱不可用", "Leave cache out: the job then reads the data from where they are kept. An administrator sees with tm doctor what the sandbox lacks.", "请删去 cache，任务将直接从原位置读取。管理员可用 tm doctor 查看沙箱缺少什么。")
def cache_needs_sandbox() -> Said: ...

@say("Nodes of this pool do not cache inputs", "此资源池的节点不缓存输入", "Leave cache out, or choose a pool of the server's own nodes.", "请删去 cache，或选择服务器自身节点的资源池。")
def cache_not_here() -> Said: ...

# --- while a job waits for it

@say("Copying {place} to the node's fast storage: {done} of {whole}", "正在将 {place} 复制到节点的高速存储：{done} / {whole}")
def caching_input(place: str, done: Mib, whole: Mib) -> Said: ...

@say("Copying {place} to the node's fast storage: looking what is there", "正在将 {place} 复制到节点的高速存储：查看内容")
def caching_looks(place: str) -> Said: ...

@say("Another job is copying {place} to the node's fast storage", "另一个任务正在将 {place} 复制到节点的高速存储")
def caching_waits(place: str) -> Said: ...

# --- why it reads its data where they lie

@say("{place} is not cached: it takes {needed}, and the node's fast storage has room for {free} beside what other jobs use; it is read from where it is kept", "{place} 未缓存：需要 {needed}，而节点的高速存储除其他任务正在使用的内容外只有 {free} 空间；任务直接从原位置读取", "Nothing to do. An administrator can raise local.cache_mib, or give the cache a larger disk.", "无需操作。管理员可以提高 local.cache_mib，或为缓存提供更大的磁盘。")
def no_room_in_cache(place: str, needed: Mib, free: Mib) -> Said: ...

@say("{place} is not cached: {why}; it is read from where it is kept", "{place} 未缓存：{why}；任务直接从原位置读取", "Nothing to do. An administrator can look at the folder of local.cache_folder.", "无需操作。管理员可以检查 local.cache_folder 的文件夹。")
def not_cached(place: str, why: str) -> Said: ...

@say("{place} is not cached any more; it is read from where it is kept", "{place} 的缓存已不在；任务直接从原位置读取")
def no_longer_cached(place: str) -> Said: ...
