"""What is said where a cluster's nodes share no folder with the server: of what it brings to them and fetches from
them, and of what was not.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- what people should know of an attempt

@say("Some files that the job wrote on {nodes} were not fetched; they are kept there, in {folder} ({why})", "任务在 {nodes} 上写入的部分文件没有取回；它们保留在该处的 {folder} 中（{why}）")
def not_all_fetched(nodes: Names, folder: str, why: Said) -> Said: ...

@say("no server asked for them", "没有服务器来取")
def nobody_asked_for_it() -> Said: ...

@say("{files:file was|files were} written by several nodes; only the file of the first node is kept: {some}", "{files} 个文件由多个节点写入，只保留第一个节点写的：{some}")
def written_by_several_nodes(files: Count, some: Names) -> Said: ...

@say("{links:link was|links were} left out: {some}", "未取回 {links} 个链接：{some}")
def links_left_out(links: Count, some: list[Said] | tuple[Said, ...]) -> Said: ...

@say("{path} ({why})", "{path}（{why}）")
def link_left_out(path: str, why: Said) -> Said: ...

# --- why a file stays on its node

@say("it cannot be read there", "无法在节点上读取")
def unreadable_on_node() -> Said: ...

@say("it was changed while it was read", "读取时它正被写入")
def changed_while_read() -> Said: ...

@say("its path is outside the folders of the job, is not text, or has more than 64 parts", "路径不在任务的目录之内，不是文本，或超过 64 级")
def path_not_taken() -> Said: ...

@say("a link that leads elsewhere or takes a detour", "链接指向别处，或路径迂回")
def link_leads_elsewhere() -> Said: ...

@say("not a file, folder or link", "不是文件、目录或链接")
def no_file_folder_or_link() -> Said: ...

@say("another node already wrote a file there", "该处已有另一节点的文件")
def file_of_another_node() -> Said: ...

@say("another node already wrote files in the folder there", "该处的目录中有另一节点的文件")
def folder_of_another_node() -> Said: ...

@say("{name} is not a folder here", "{name} 在这里不是目录")
def no_folder_here(name: str) -> Said: ...

# --- why a connection with a node ended

@say("the connection has ended", "连接已断开")
def connection_ended() -> Said: ...

@say("on the node: {error}", "节点上出错：{error}")
def failed_on_node(error: str) -> Said: ...

@say("{count} of its files and folders could not be fetched; the first is {path}: {why}", "它有 {count} 个文件或目录未能取回，第一个是 {path}：{why}")
def files_not_fetched(count: int, path: str, why: Said) -> Said: ...

@say("the fetched files could not be written to the disk", "取回的内容无法写入磁盘")
def fetched_not_on_disk() -> Said: ...

@say("more than {most:file|files}", "超过 {most} 个文件")
def too_many_to_fetch(most: Count) -> Said: ...

@say("there are too many logs and metrics: {count:file|files}", "日志和指标文件过多：共 {count} 个")
def too_many_logs(count: Count) -> Said: ...

@say("the answer of the node was not understood: {error}", "无法识别节点的响应：{error}")
def node_not_understood(error: str) -> Said: ...

@say("the answer does not match the question", "响应与请求不符")
def answer_does_not_fit() -> Said: ...

@say("the node sent more than was asked for", "节点发送的内容超过所请求的")
def more_than_asked_for() -> Said: ...

@say("the node sent another part than was asked for", "节点发送的位置与所请求的不符")
def another_place_than_asked_for() -> Said: ...
