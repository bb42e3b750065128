"""The Chinese of what is said about disks: saving outputs, room, budgets. Data only; a part of the table in core.chinese."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
DISK: Final[dict[str, str]] = {
    # --- the agent
    "{who} was ended: its job's folder holds {used} MiB, the limit is {limit} MiB": "{who} 被终止：任务目录已占用 {used} MiB，上限为 {limit} MiB",
    "{who} was ended: its job's folder holds {used} files, the limit is {limit} files": "{who} 被终止：任务目录中有 {used} 个文件，上限为 {limit} 个",
    "{who} was ended: its job filled the disk: its folder holds {used} MiB in {files} files, {left} MiB are left on the disk": "{who} 被终止：它的任务写满了磁盘：任务目录占用 {used} MiB、{files} 个文件，磁盘剩余 {left} MiB",
    "{who} was ended: its job filled the disk: its folder holds {used} MiB in {files} files, {left} files are left on the disk": "{who} 被终止：它的任务写满了磁盘：任务目录占用 {used} MiB、{files} 个文件，磁盘还能存放 {left} 个文件",
    "{who} could not write: the disk is full, and its job holds only {mib} MiB of it": "{who} 无法写入：磁盘已满，而它的任务只占用其中 {mib} MiB",
    # --- room
    "The disk of {folder} is nearly full: {mib} MiB are left": "{folder} 所在磁盘即将写满：剩余 {mib} MiB",
    "The disk of {folder} is nearly full: it has room for {files} more files": "{folder} 所在磁盘即将写满：还能存放 {files} 个文件",
    "Delete jobs that are not needed any more, or free space there; then it goes on by itself.": "请删除不再需要的任务，或在该磁盘上清理空间；之后会自动继续",
    # --- saving outputs
    "the outputs could not be saved: {error}": "输出无法保存：{error}",
    "Mend the disk.": "请修复磁盘",
    "the outputs take {mib} MiB, more than the disk holds": "输出占用 {mib} MiB，超过磁盘容量",
    "Save less.": "请减少保存的内容",
    "The disk has no room for a copy of the outputs": "磁盘没有空间存放输出的副本",
    "Free disk space; saving goes on by itself.": "请清理磁盘空间，保存会自动继续",
    "Saving the outputs was given up": "已放弃保存输出",
    "the outputs could not be saved within {seconds} s": "输出未能在 {seconds} 秒内保存完毕",
    "Save less, or raise limits.save_s.": "请减少保存的内容，或提高 limits.save_s",
    "the outputs hold more than {count} files": "输出超过 {count} 个文件",
    "Pack them into fewer files.": "打包成更少的文件",
    "the outputs are larger than the {mib} MiB allowed": "输出超过允许的 {mib} MiB",
    "Save less, or raise the limit.": "减少保存的内容，或提高上限",
    "the model version {version} exists already": "模型版本 {version} 已存在",
    "Save under another version.": "换一个版本保存",
}
