"""What is said of code folders on their way to the server: where they are packed, and where they come in."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

IGNORE = "List it in .trainmasterignore."
IGNORE_ZH = "请把它写进 .trainmasterignore。"
SPACE = "Free disk space."
SPACE_ZH = "请清理磁盘空间。"

# --- taking one in

@say("the upload is larger than {mib} MiB", "上传的内容超过 {mib} MiB", "List what the job does not need in .trainmasterignore, or mount large data instead.", "请把任务不需要的内容写进 .trainmasterignore，或改为挂载大数据。")
def upload_too_large(mib: int) -> Said: ...

@say("the upload could not be stored: {error}", "上传的内容无法保存：{error}", SPACE, SPACE_ZH)
def upload_not_stored(error: str) -> Said: ...

@say("the upload could not be stored", "上传的内容无法保存", "Check the folder uploads/ on the server.", "请检查服务器上的 uploads/ 目录。")
def upload_not_in_place() -> Said: ...

@say("the upload could not be unpacked: {error}", "上传的内容无法解包：{error}", SPACE, SPACE_ZH)
def upload_not_unpacked(error: str) -> Said: ...

@say("The upload cannot be used: {count:problem|problems}", "上传的内容无法使用：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def upload_not_usable(count: Count) -> Said: ...

@say("an upload can unpack to at most {mib} MiB", "解包后最多 {mib} MiB", "Leave large data out and mount it instead.", "请不要包含大数据，改为挂载。")
def unpacked_too_large(mib: int) -> Said: ...

@say("an upload can have at most {most} files and folders", "上传的内容最多 {most} 个文件和文件夹", "Leave data out.", "请不要包含数据。")
def too_many_files(most: int) -> Said: ...

@say("this is not a readable tar.gz: {error}", "不是可读的 tar.gz：{error}", "Send a folder packed as tar.gz.", "请发送打包为 tar.gz 的文件夹。")
def bad_archive(error: str) -> Said: ...


# --- its entries

@say("a link must not lead out of the folder", "链接不能指向文件夹之外", "Pack what it points to.", "请打包链接所指的内容。")
def link_leaves_upload() -> Said: ...

@say("only files, folders and symbolic links can be sent", "只能包含文件、文件夹和符号链接", "Remove it.", "请去掉它。")
def entry_of_another_kind() -> Said: ...

@say("a path must not be absolute or have .. in it", "路径不能是绝对路径，也不能含 ..", "Pack the folder: tar czf - -C FOLDER .", "请打包文件夹：tar czf - -C FOLDER .")
def path_leaves_upload() -> Said: ...

@say("a name must be UTF-8", "名称必须是 UTF-8", "Rename it.", "请重命名它。")
def name_not_utf8() -> Said: ...

@say("a path can have at most {path_bytes} bytes and {folders} folders, a name {name_bytes} bytes", "路径最多 {path_bytes} 字节、{folders} 层，名称最多 {name_bytes} 字节", "Shorten it.", "请缩短它。")
def path_too_long(path_bytes: int, folders: int, name_bytes: int) -> Said: ...

@say("a name must not contain control characters", "名称不能含控制字符", "Rename it.", "请重命名它。")
def name_with_control_characters() -> Said: ...

@say("this name is already in the archive", "归档中此名称重复", "Pack every path only once.", "请每个路径只打包一次。")
def packed_twice() -> Said: ...

@say("differs from {other} only in upper and lower case, or in how its characters are encoded", "与 {other} 只有大小写或字符编码形式的差别", "Rename one of them: some systems take both for the same.", "请重命名其中之一：有些系统会将二者视为相同。")
def names_collide(other: str) -> Said: ...


# --- packing one where it lies

@say("The code cannot be uploaded: {count:problem|problems}", "代码无法上传：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def code_not_sent(count: Count) -> Said: ...

@say("The code cannot be uploaded", "代码无法上传", "Submit again when nothing writes to the folder.", "请等没有程序写入该文件夹时重新提交。")
def code_changed() -> Said: ...

@say("the file changed during the upload: {error}", "文件在上传时发生了变化：{error}", "Submit again when nothing writes to the folder.", "请等没有程序写入该文件夹时重新提交。")
def file_changed(error: str) -> Said: ...

@say("there is no folder {folder}", "没有文件夹 {folder}", "Paths are relative to the folder of the job file.", "路径相对于任务文件所在的文件夹。")
def no_code_folder(folder: str) -> Said: ...

@say("there is no such file or folder", "没有这个文件或文件夹", "Fix the path.", "请修正路径。")
def nothing_there() -> Said: ...

@say("the folder cannot be read: {error}", "无法读取此文件夹：{error}", IGNORE, IGNORE_ZH)
def folder_not_readable(error: str) -> Said: ...

@say("it cannot be read: {error}", "无法读取：{error}", IGNORE, IGNORE_ZH)
def entry_not_readable(error: str) -> Said: ...

@say("the file cannot be read", "无法读取此文件", "Fix its permissions, or list it in .trainmasterignore.", "请修正它的权限，或把它写进 .trainmasterignore。")
def file_not_readable() -> Said: ...

@say("a name, and where a link leads, must be UTF-8", "名称和链接的目标必须是 UTF-8", "Rename it, or list it in .trainmasterignore.", "请重命名它，或把它写进 .trainmasterignore。")
def entry_not_utf8() -> Said: ...

@say("a link must not lead out of the folder", "链接不能指向文件夹之外", "Put the file itself there, or list the link in .trainmasterignore.", "请改放文件本身，或把链接写进 .trainmasterignore。")
def link_leaves_folder() -> Said: ...

@say("only files, folders and links can be sent", "只能上传文件、文件夹和链接", IGNORE, IGNORE_ZH)
def cannot_be_sent() -> Said: ...

@say("The code folder {folder} holds {size}; packed it exceeds the {limit_mib} MiB that the server accepts", "代码文件夹 {folder} 大小为 {size}，打包后超过服务器接受的 {limit_mib} MiB", "List what the job does not need in .trainmasterignore, or mount large data. The largest files: {largest}.", "请把任务不需要的内容写进 .trainmasterignore，或挂载大数据。最大的文件：{largest}。")
def code_folder_too_large(folder: str, size: str, limit_mib: int, largest: Names) -> Said: ...
