"""The Chinese of what is said inside other sentences: details and causes. Data only; a part of the table in core.chinese."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
PARTS: Final[dict[str, str]] = {
    # --- how jobs are kept apart on a node
    "shared, abstract sockets too: {why}": "共享，抽象套接字也共享：{why}",
    "shared; abstract sockets are kept apart": "共享；抽象套接字相互隔离",
    "there is no sandbox": "没有沙箱",
    "private: each job has a loopback of its own, and no way out": "私有：每个任务有自己的回环接口，不能访问外部",
    "{program} takes the rights of root (set-uid), which nobody may who is kept apart": "{program} 会获取 root 权限（set-uid），隔离的进程不允许这样做",
    "the kernel refuses it ({error})": "内核拒绝（{error}）",
    "a mount at {target}; mount elsewhere, for example at /dataset": "挂载在 {target}；请挂载到其他位置，例如 /dataset",
    # --- what of the outputs is not saved
    "{path} was not saved: {why}": "{path} 未保存：{why}",
    "{count} entries of the outputs were not saved; the first is {path}: {why}": "输出中有 {count} 项未保存，第一项是 {path}：{why}",
    "a link out of the tree, to {target}": "指向目录之外的链接（{target}）",
    "a name that is not UTF-8": "名称不是 UTF-8 编码",
    "disappeared while it was saved": "在保存时消失",
    "not readable": "无法读取",
    "a device, pipe or socket": "设备、管道或套接字",
    "what lies in it: more than {most} folders deep": "其中的内容（目录层级超过 {most}）",
    # --- what a request or a document says wrongly
    "it is not UTF-8": "不是 UTF-8 编码",
    "it is nested too deeply": "嵌套过深",
    "the path has an empty or too many parts": "路径中有空的部分，或层级过多",
    "{part} is not a place in a list": "{part} 不是列表中的位置",
    "the list has {count} items": "列表有 {count} 项",
    "{part} would lie inside a single value": "{part} 位于单个值之内",
    # --- clusters and their files
    "no answer within 5 s": "5 秒内没有响应",
    "{path}: others than this user and root can replace what lies there": "{path}：除该用户和 root 外，其他人也能替换其中的内容",
    "{path}: others than this user can write there": "{path}：除该用户外，其他人也能写入",
    "{path} is no folder here": "{path} 在这里不是文件夹",
    "no path below what its tasks may write, of text and of at most 64 names": "不是任务可写目录之下的路径，或不是文本，或超过 64 级",
    "a file of another node lies there": "那里已有另一个节点的文件",
    "a folder with files of another node lies there": "那里已有一个文件夹，其中有另一个节点的文件",
    "more than {count} files": "超过 {count} 个文件",
    "a link that leads elsewhere, or not straight": "链接指向别处，或不是直接指向",
    "neither file, folder nor link": "既不是文件、文件夹，也不是链接",
}
