"""What is said where a cluster's nodes share no folder with the server: of what it brings to them and fetches from
them, and of what was not.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- what people should know of an attempt

@say("Not everything that its tasks wrote on {nodes} was fetched: it is kept there, in {folder} ({why})", "任务在 {nodes} 上写入的内容没有全部取回：它们保留在该处的 {folder} 中（{why}）")
def not_all_fetched(nodes: Names, folder: str, why: Said) -> Said: ...

@say("nobody asked for it", "没有服务器来取")
def nobody_asked_for_it() -> Said: ...

@say("{files:file was|files were} written by several nodes, and what the first of them wrote is kept: {some}", "{files} 个文件由多个节点写入，保留其中第一个节点写的：{some}")
def written_by_several_nodes(files: Count, some: Names) -> Said: ...

@say("{links:link that its tasks made was|links that its tasks made were} left out: {some}", "未取回任务创建的 {links} 个链接：{some}")
def links_left_out(links: Count, some: list[Said] | tuple[Said, ...]) -> Said: ...

@say("{path} ({why})", "{path}（{why}）")
def link_left_out(path: str, why: Said) -> Said: ...

# --- why a file stays on its node

@say("it cannot be read there", "无法在节点上读取")
def unreadable_on_node() -> Said: ...

@say("it was written to while it was read", "读取时它正被写入")
def changed_while_read() -> Said: ...

@say("no path below what its tasks may write, of text and of at most 64 names", "路径不在任务可写的目录之下，或不是文本，或超过 64 级")
def path_not_taken() -> Said: ...

@say("a link that leads elsewhere, or not straight", "链接指向别处，或路径迂回")
def link_leads_elsewhere() -> Said: ...

@say("neither file, folder nor link", "不是文件、目录或链接")
def no_file_folder_or_link() -> Said: ...

@say("a file of another node lies there", "该处已有另一节点的文件")
def file_of_another_node() -> Said: ...

@say("a folder with files of another node lies there", "该处的目录中有另一节点的文件")
def folder_of_another_node() -> Said: ...

@say("{name} is no folder here", "{name} 在这里不是目录")
def no_folder_here(name: str) -> Said: ...

# --- why a connection with a node ended

@say("the connection has ended", "连接已断开")
def connection_ended() -> Said: ...

@say("on the node: {error}", "节点上出错：{error}")
def failed_on_node(error: str) -> Said: ...

@say("{count} of its files and folders could not be fetched, the first is {path}: {why}", "它有 {count} 个文件或目录未能取回，第一个是 {path}：{why}")
def files_not_fetched(count: int, path: str, why: Said) -> Said: ...

@say("what was fetched cannot be brought to the disk", "取回的内容无法写入磁盘")
def fetched_not_on_disk() -> Said: ...

@say("more than {most:file|files}", "超过 {most} 个文件")
def too_many_to_fetch(most: Count) -> Said: ...

@say("there are too many logs and metrics: {count:file|files}", "日志和指标文件过多：共 {count} 个")
def too_many_logs(count: Count) -> Said: ...

@say("what the node answered was not understood: {error}", "无法理解节点的回答：{error}")
def node_not_understood(error: str) -> Said: ...

@say("an answer that does not fit what was asked", "回答与所问的不符")
def answer_does_not_fit() -> Said: ...

@say("more than was asked for", "比所要的多")
def more_than_asked_for() -> Said: ...

@say("another place than was asked for", "位置与所问的不符")
def another_place_than_asked_for() -> Said: ...
