"""What is said of volumes: under their names, of the files in them, and to those who want to delete one."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Names, say
from trainmaster.messages.said import Said

# --- volumes

@say("There is no volume {ref}", "没有存储卷 {ref}", "Give a name or an id that tm volume list, or the page Volumes, shows.", "请使用 tm volume list 或“存储卷”页面列出的名称或 ID。")
def no_such_volume(ref: str) -> Said: ...

@say("Several volumes are meant by {ref}: {ids}", "{ref} 对应多个存储卷：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_volumes(ref: str, ids: str) -> Said: ...

@say("There is a volume {name} already", "已有名为 {name} 的存储卷", "Choose another name.", "请换一个名称。")
def volume_exists(name: str) -> Said: ...

@say("taken in the workspace {workspace}, by a volume that you may not see perhaps", "在工作空间 {workspace} 中已被占用，占用它的存储卷可能对您不可见", "Choose another name.", "请换一个名称。")
def volume_name_taken(workspace: str) -> Said: ...

@say("More than {most:volume|volumes} of one person", "每人最多 {most} 个存储卷", "Delete some first.", "请先删除一些。")
def too_many_volumes(most: Count) -> Said: ...

@say("This volume of {owner} is shared with you for reading only", "{owner} 的这个存储卷只向您共享了读取权限", "Use a volume of your own, or ask its owner to share it read-write.", "请使用自己的存储卷，或请所有者改为读写共享。")
def volume_only_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this volume is shared", "只有 {owner} 和工作空间管理员可以决定此存储卷如何共享", "Ask one of them.", "请联系他们。")
def volume_not_yours_to_share(owner: str) -> Said: ...

@say("Jobs that have not ended mount the volume {name}: {jobs}", "尚未结束的任务挂载着存储卷 {name}：{jobs}", "Wait until they end, or stop them.", "请等待它们结束，或停止它们。")
def volume_in_use(name: str, jobs: Names) -> Said: ...

@say("The volume {name} is being renamed or deleted", "正在重命名或删除存储卷 {name}", "Try again in a moment.", "请稍后重试。")
def volume_is_changing(name: str) -> Said: ...

@say("The volume is not valid", "存储卷无效", "Fix the fields listed.", "请修正列出的字段。")
def volume_not_valid() -> Said: ...

@say("not a name of a volume", "不是有效的存储卷名称", "Use 1 to 30 letters, digits, Chinese characters, - or _.", "请使用 1 到 30 个字母、数字、汉字、- 或 _。")
def not_a_volume_name() -> Said: ...

@say("the description is too long", "描述过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def volume_description_too_long(most: Count) -> Said: ...

# --- files in them

@say("This is no path in a volume", "这不是存储卷中的路径", "Fix the field listed.", "请修正列出的字段。")
def volume_path_not_valid() -> Said: ...

@say("a path must not be empty or absolute, or have ., .., an empty part, a backslash or a control character in it", "路径不能为空或为绝对路径，也不能含 .、..、空的部分、反斜杠或控制字符", "Give a path from the top of the volume, such as data/train.csv.", "请填写从存储卷顶层开始的路径，例如 data/train.csv。")
def volume_path_not_plain() -> Said: ...

@say("the path is too long, or too deep", "路径过长或层级过深", "Use at most {most:byte|bytes}, {part} for each name, and {deep:folder|folders} one in another.", "整个路径最多 {most} 字节，每个名称最多 {part} 字节，最多 {deep} 层文件夹。")
def volume_path_too_long(most: Count, part: int, deep: Count) -> Said: ...

@say("There is nothing called {path} in the volume", "存储卷中没有 {path}", "List what is there with tm volume files, or on the page of the volume.", "可用 tm volume files 或在存储卷页面查看其中的内容。")
def nothing_in_volume(path: str) -> Said: ...

@say("{path} is there already", "{path} 已存在", "Choose another name, or delete it first.", "请换一个名称，或先删除它。")
def taken_in_volume(path: str) -> Said: ...

@say("{path} is a folder, and a file cannot take its place", "{path} 是文件夹，不能用文件替换", "Choose another name, or delete the folder first.", "请换一个名称，或先删除该文件夹。")
def folder_in_volume(path: str) -> Said: ...

@say("What {path} would lie in is no folder", "{path} 所在的位置不是文件夹", "Files and links cannot hold other files: choose another place.", "文件和链接不能包含其他文件，请换一个位置。")
def no_folder_in_volume(path: str) -> Said: ...

@say("{path} cannot be moved into itself", "不能把 {path} 移动到它自身之中", "Choose another place.", "请换一个位置。")
def volume_path_into_itself(path: str) -> Said: ...

@say("The file could not be stored: {error}", "文件无法保存：{error}", "Free disk space and try again: what was there before is unchanged.", "请清理磁盘空间后重试：原有内容没有改变。")
def volume_file_not_stored(error: str) -> Said: ...

@say("The upload ended after {size:byte|bytes} of {announced}", "上传在 {size} 字节处结束，应为 {announced} 字节", "Send the file again: what was there before is unchanged.", "请重新发送文件：原有内容没有改变。")
def upload_cut_short(size: Count, announced: int) -> Said: ...

@say("A file in a volume can hold at most {most}", "存储卷中的一个文件最多 {most}", "Split it, or ask an administrator to raise limits.dataset_mib.", "请拆分文件，或请管理员提高 limits.dataset_mib。")
def volume_file_too_large(most: Mib) -> Said: ...

# --- jobs that mount them

@say("There is no volume {name} for this job in the workspace {workspace}", "工作空间 {workspace} 中没有此任务可用的存储卷 {name}", "tm volume list, or the page Volumes, shows those that you may use; tm volume create makes one.", "可用 tm volume list 或在“存储卷”页面查看您能使用的存储卷；tm volume create 可新建。")
def no_volume_for_job(name: str, workspace: str) -> Said: ...

@say("The volume {name} is shared with you for reading only", "存储卷 {name} 只向您共享了读取权限", "Leave read_only out, or ask its owner to share it read-write.", "请省略 read_only，或请其所有者改为读写共享。")
def volume_not_writable_for_job(name: str) -> Said: ...

@say("Jobs of this pool run as their owners' own system users, who cannot reach the volume {name} on the server", "此资源池的任务以所有者自己的系统用户运行，无法访问服务器上的存储卷 {name}", "Choose another pool, or put the data on the nodes and give their path.", "请换一个资源池，或把数据放到节点上并填写其路径。")
def volume_not_for_owners(name: str) -> Said: ...

@say("The nodes of this pool share no folder with the server, so no volume can be mounted at {mount}", "此资源池的节点不与服务器共享文件夹，无法在 {mount} 挂载存储卷", "Choose another pool, or use a data set: its versions are brought to the nodes.", "请换一个资源池，或改用数据集：其版本会送到节点上。")
def volume_not_reached(mount: str) -> Said: ...

@say("the volume no longer exists", "存储卷已不存在")
def volume_gone() -> Said: ...

# --- what people did

@say("Created volume {name}", "新建了存储卷 {name}")
def volume_made(name: str) -> Said: ...

@say("Changed volume {name}", "修改了存储卷 {name}")
def volume_changed(name: str) -> Said: ...

@say("Changed with whom volume {name} is shared", "修改了存储卷 {name} 的共享方式")
def volume_shared(name: str) -> Said: ...

@say("Deleted volume {name}", "删除了存储卷 {name}")
def volume_deleted(name: str) -> Said: ...

@say("Deleted {path} in volume {name}", "删除了存储卷 {name} 中的 {path}")
def volume_path_deleted(path: str, name: str) -> Said: ...

@say("Moved {path} to {to} in volume {name}", "将存储卷 {name} 中的 {path} 移动到 {to}")
def volume_path_moved(path: str, to: str, name: str) -> Said: ...
