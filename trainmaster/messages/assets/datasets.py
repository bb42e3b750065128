"""What is said of data sets: on their way to the server, under their names, and to those who want to delete one."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

AGAIN = "Start the upload again; what the server has of the last version is not sent twice."
AGAIN_ZH = "请重新上传；服务器在上一版本中已有的内容不会重复发送。"

# --- data sets and their versions

@say("There is no data set {ref}", "没有数据集 {ref}", "Give a name or an id that tm dataset list, or the page Data sets, shows.", "请使用 tm dataset list 或“数据集”页面列出的名称或 ID。")
def no_such_dataset(ref: str) -> Said: ...

@say("Several data sets are meant by {ref}: {ids}", "{ref} 对应多个数据集：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_datasets(ref: str, ids: str) -> Said: ...

@say("Data set {name} has no version {version}", "数据集 {name} 没有版本 {version}", "tm dataset show, or the page Data sets, lists its versions.", "可用 tm dataset show 或在“数据集”页面查看其版本。")
def no_such_dataset_version(name: str, version: int) -> Said: ...

@say("The list of files of version {version} of data set {name} cannot be read", "无法读取数据集 {name} 版本 {version} 的文件清单", "Download it as an archive, and tell the administrator.", "请以压缩包下载，并告知管理员。")
def dataset_list_not_readable(name: str, version: int) -> Said: ...

@say("Data set {name} has no version any more", "数据集 {name} 已没有任何版本", "Upload one.", "请上传一个版本。")
def dataset_is_empty(name: str) -> Said: ...

@say("There is a data set {name} already", "已有名为 {name} 的数据集", "Choose another name.", "请换一个名称。")
def dataset_exists(name: str) -> Said: ...

@say("taken in the workspace {workspace}, by a data set that you may not see perhaps", "在工作空间 {workspace} 中已被占用，占用它的数据集可能对您不可见", "Choose another name.", "请换一个名称。")
def dataset_name_taken(workspace: str) -> Said: ...

@say("More than {most:data set|data sets} of one person", "每人最多 {most} 个数据集", "Delete some first.", "请先删除一些。")
def too_many_datasets(most: Count) -> Said: ...

@say("This data set of {owner} is shared with you for reading only", "{owner} 的这个数据集只向您共享了读取权限", "Upload under another name, or ask its owner to share it read-write.", "请使用其他名称上传，或请所有者改为读写共享。")
def dataset_only_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this data set is shared", "只有 {owner} 和工作空间管理员可以决定此数据集如何共享", "Ask one of them.", "请联系他们。")
def dataset_not_yours_to_share(owner: str) -> Said: ...

@say("Jobs that have not ended need {ref}: {jobs}", "尚未结束的任务需要 {ref}：{jobs}", "Wait until they end, or stop them.", "请等待它们结束，或停止它们。")
def dataset_in_use(ref: str, jobs: Names) -> Said: ...

@say("The data set is not valid", "数据集无效", "Fix the fields listed.", "请修正列出的字段。")
def dataset_not_valid() -> Said: ...

@say("not a name of a data set", "不是有效的数据集名称", "Use 1 to 30 letters, digits, Chinese characters, - or _.", "请使用 1 到 30 个字母、数字、汉字、- 或 _。")
def not_a_dataset_name() -> Said: ...

@say("the description is too long", "描述过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def dataset_description_too_long(most: Count) -> Said: ...

# --- a list of files

@say("The files cannot be uploaded: {count:problem|problems}", "文件无法上传：{count} 个问题", "Fix the problems listed and upload again.", "请修正列出的问题后重新上传。")
def listing_not_usable(count: Count) -> Said: ...

@say("not a list of files", "不是文件列表", "Send for each a path, with size and sha256, with link, or with folder.", "每一项应包含 path，以及 size 与 sha256、link 或 folder。")
def not_a_listing() -> Said: ...

@say("not a file, link or folder", "不是文件、链接或文件夹", "Give size and sha256 of a file, the target of a link, or folder: true.", "文件请给出 size 和 sha256，链接请给出目标，空文件夹请给出 folder: true。")
def not_an_entry() -> Said: ...

@say("A data set can have at most {most:file|files}", "数据集最多 {most} 个文件", "Pack them into fewer files.", "请打包成更少的文件。")
def too_many_listed(most: Count) -> Said: ...

@say("A version of a data set can hold at most {mib} MiB", "数据集的一个版本最多 {mib} MiB", "Upload less, or ask an administrator to raise limits.dataset_mib.", "请减少内容，或请管理员提高 limits.dataset_mib。")
def dataset_too_large(mib: int) -> Said: ...

@say("a path must not be empty or absolute, or have ., .. or an empty part in it", "路径不能为空或为绝对路径，也不能含 .、.. 或空的部分", "Give paths relative to the folder.", "请使用相对于该文件夹的路径。")
def path_not_plain() -> Said: ...

@say("this path is there twice", "此路径重复", "List every path once.", "请每个路径只列一次。")
def listed_twice() -> Said: ...

@say("this is also listed as something that is no folder", "它同时又被列为非文件夹", "A file or a link cannot hold other files.", "文件或链接不能包含其他文件。")
def beneath_a_file() -> Said: ...

@say("a link must not lead out of the data set", "链接不能指向数据集之外", "Put the file itself there.", "请改放文件本身。")
def link_leaves_dataset() -> Said: ...

@say("two files with one sha256 cannot have different sizes", "sha256 相同的两个文件不能大小不同", "Compute the list again.", "请重新计算文件列表。")
def sizes_differ() -> Said: ...

# --- contents on their way

@say("There is no upload {id}", "没有上传 {id}", AGAIN, AGAIN_ZH)
def no_such_dataset_upload(id: str) -> Said: ...

@say("More than {most:upload|uploads} of one person at a time", "每人最多同时进行 {most} 个上传", "Finish or cancel one first; what nobody continues for a day goes by itself.", "请先完成或取消一个；一天内无人继续的上传会自动清除。")
def too_many_dataset_uploads(most: Count) -> Said: ...

@say("These contents cannot be taken: {count:problem|problems}", "这些内容无法接收：{count} 个问题", "Send what the upload lacks, each with its sha256.", "请发送此上传所缺的内容，并附上各自的 sha256。")
def contents_not_usable(count: Count) -> Said: ...

@say("not in the list of this upload", "不在此上传的列表中", "Send only what it lacks.", "请只发送缺少的内容。")
def content_not_listed() -> Said: ...

@say("the bytes have another sha256, or another size, than was said", "内容的 sha256 或大小与列表不符", "The file changed, or was damaged on its way: send it again.", "文件已改变或在传输中损坏：请重新发送。")
def content_is_another() -> Said: ...

@say("not what a batch of contents looks like", "不是一批内容应有的格式", "Each is 32 bytes of sha256, 4 of length, and its bytes.", "每项为 32 字节 sha256、4 字节长度，然后是内容。")
def batch_not_readable() -> Said: ...

@say("The server has {size} bytes of this file, not {offset}", "服务器已有此文件的 {size} 字节，而不是 {offset}", "Go on from where it is.", "请从该位置继续。")
def piece_elsewhere(size: int, offset: int) -> Said: ...

@say("Another request sends this file at the moment", "另一个请求正在发送此文件", "Wait for it.", "请等待其完成。")
def piece_under_way() -> Said: ...

@say("{count:content is|contents are} still missing", "还缺少 {count} 个内容", "Send what is missing, then ask again.", "请发送缺少的内容后重试。")
def contents_missing(count: Count) -> Said: ...

@say("The data could not be stored: {error}", "数据无法保存：{error}", "Free disk space, and upload again: nothing of this upload was kept.", "请清理磁盘空间后重新上传：此次上传的内容没有保留。")
def dataset_not_stored(error: str) -> Said: ...

@say("The disk has no room for {mib} MiB more", "磁盘空间不足，还需要 {mib} MiB", "Free disk space, or upload less.", "请清理磁盘空间，或减少上传的内容。")
def no_room_for_dataset(mib: int) -> Said: ...

# --- what people did

@say("Created data set {name}", "新建了数据集 {name}")
def dataset_made(name: str) -> Said: ...

@say("Uploaded version {version} of data set {name}", "上传了数据集 {name} 的版本 {version}")
def dataset_version_made(name: str, version: int) -> Said: ...

@say("Described data set {name}", "修改了数据集 {name} 的描述")
def dataset_described(name: str) -> Said: ...

@say("Changed with whom data set {name} is shared", "修改了数据集 {name} 的共享方式")
def dataset_shared(name: str) -> Said: ...

@say("Deleted version {version} of data set {name}", "删除了数据集 {name} 的版本 {version}")
def dataset_version_deleted(name: str, version: int) -> Said: ...

@say("Deleted data set {name}", "删除了数据集 {name}")
def dataset_deleted(name: str) -> Said: ...
