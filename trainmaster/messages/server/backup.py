"""What is said of backups: making one, reading one, restoring it, and rehearsing an upgrade."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Mib, Names, say
from trainmaster.messages.said import Said

# --- the file of a backup

@say("{path} exists already", "{path} 已存在", "Name another file, for example with the date in it, or remove this one.", "请使用其他文件名（例如带上日期），或删除此文件。")
def backup_file_exists(path: str) -> Said: ...

@say("Another tm backup is writing {path} at the moment", "另一个 tm backup 正在写入 {path}", "Wait for it, or name another file.", "请等待它完成，或使用其他文件名。")
def backup_is_being_made(path: str) -> Said: ...

@say("The backup {path} cannot be written: {error}", "无法写入备份 {path}：{error}", "Nothing was left behind. Check the folder, its rights and its disk, and try again.", "没有留下任何文件。请检查所在目录、其权限和磁盘，然后重试。")
def backup_not_written(path: str, error: str) -> Said: ...

@say("The backup {path} cannot be read: {error}", "无法读取备份 {path}：{error}", "Check the path and its rights.", "请检查路径和权限。")
def backup_not_read(path: str, error: str) -> Said: ...

@say("{path} is not a backup made by tm backup", "{path} 不是 tm backup 生成的备份", "Name a file that tm backup wrote. A database file or a dump is put back as described in the guide.", "请指定 tm backup 写出的文件。数据库文件或导出文件请按手册的说明放回。")
def not_a_backup(path: str) -> Said: ...

@say("The backup {path} has format {found}; this version reads up to {known}", "备份 {path} 的格式为 {found}，本版本最高支持 {known}", "Install the version that wrote it, or a newer one.", "请安装写出它的版本或更新的版本。")
def backup_format_too_new(path: str, found: int, known: int) -> Said: ...

@say("The backup {path} was made with database schema {stamp}; this version knows {known}", "备份 {path} 的数据库表结构版本为 {stamp}，本版本支持到 {known}", "Restore it with the version that made it, or a newer one.", "请用生成它的版本或更新的版本恢复。")
def backup_schema_too_new(path: str, stamp: int, known: int) -> Said: ...

@say("The backup {path} ends too early", "备份 {path} 不完整：末尾缺失", "It was cut off when it was made or moved. Nothing was restored: fetch it again, or use an earlier backup.", "它在生成或传输时被截断。没有恢复任何内容：请重新获取，或使用更早的备份。")
def backup_cut_off(path: str) -> Said: ...

@say("The backup {path} is damaged: {part} is not what was written", "备份 {path} 已损坏：{part} 与写入时不一致", "Nothing was restored: fetch the file again, or use an earlier backup.", "没有恢复任何内容：请重新获取该文件，或使用更早的备份。")
def backup_part_damaged(path: str, part: str) -> Said: ...

# --- making one

@say("There is no database at {home} to back up", "{home} 中没有可备份的数据库", "Name the server's home folder with --home or TRAINMASTER_HOME.", "请用 --home 或 TRAINMASTER_HOME 指定服务器的平台目录。")
def nothing_to_back_up(home: str) -> Said: ...

@say("The database has schema {stamp}, this version writes backups of schema {known} only", "数据库的表结构版本为 {stamp}，本版本只能备份表结构版本 {known}", "Make the backup with the version that runs the server. To try this version on its database first: tm upgrade --rehearse", "请用服务器正在运行的版本备份。若要先用其数据库试运行本版本：tm upgrade --rehearse")
def schema_not_backed_up(stamp: int, known: int) -> Said: ...

@say("The database is damaged: {found}", "数据库已损坏：{found}", "No backup was made, so that none replaces a whole one. Run trainmaster doctor.", "没有生成备份，以免覆盖完好的备份。请运行 trainmaster doctor。")
def damaged_not_backed_up(found: str) -> Said: ...

@say("{command} works on the server's own files, but a server was named by its address: {url}", "{command} 处理的是服务器自己的文件，但指定的是服务器地址：{url}", "Run it on the server, with --home and without --url and TRAINMASTER_URL.", "请在服务器上运行，使用 --home，不使用 --url 和 TRAINMASTER_URL。")
def works_on_the_home(command: str, url: str) -> Said: ...

# --- restoring one

@say("A server is running on {home}", "{home} 上有服务器正在运行", "Restore into an empty folder: tm --home NEW restore FILE. To use this folder: stop the server and move the folder away first.", "请恢复到空目录：tm --home 新目录 restore FILE。若要使用此目录，请先停止服务器并移走目录。")
def restore_beside_server(home: str) -> Said: ...

@say("{home} is not empty: it has {found}", "{home} 不为空，其中有：{found}", "Nothing is ever overwritten. Restore into a folder that does not exist yet, or holds config.toml alone: tm --home NEW restore FILE", "恢复不会覆盖任何内容。请恢复到尚不存在、或只含 config.toml 的目录：tm --home 新目录 restore FILE")
def home_not_empty(home: str, found: Names) -> Said: ...

@say("The database {name} is not empty", "数据库 {name} 不为空", "Create an empty one (createdb) and name it as server.database in {config}.", "请创建一个空数据库（createdb），并在 {config} 中设为 server.database。")
def database_not_empty(name: str, config: str) -> Said: ...

@say("The restore needs {needed}, but only {free} is free at {folder}", "恢复需要 {needed}，但 {folder} 仅剩 {free}", "Free space, or restore to a larger disk. Nothing was changed.", "请清理磁盘，或恢复到更大的磁盘。没有改动任何内容。")
def no_room_to_restore(folder: str, needed: Mib, free: Mib) -> Said: ...

@say("A restore into {home} did not finish", "{home} 的恢复尚未完成", "Run it again: tm --home {home} restore FILE. What was restored so far is removed first.", "请重新运行：tm --home {home} restore FILE。已恢复的部分会先被清除。")
def restore_not_finished(home: str) -> Said: ...

@say("{table} has a row that this database cannot hold: {error}", "{table} 中有此数据库无法保存的一行：{error}", "Nothing was restored. Restore into SQLite (leave out server.database) to look at it.", "没有恢复任何内容。可先恢复到 SQLite（不设 server.database）后查看。")
def row_not_restored(table: str, error: str) -> Said: ...

@say("The backup {path} has a member that no backup has: {part}", "备份 {path} 含有不应出现的成员：{part}", "Nothing was restored. Use a file that tm backup wrote.", "没有恢复任何内容。请使用 tm backup 写出的文件。")
def backup_member_refused(path: str, part: str) -> Said: ...

@say("The restored database differs from the backup: {found}", "恢复的数据库与备份不一致：{found}", "Nothing was kept. Check the disk, and try again.", "没有保留任何内容。请检查磁盘后重试。")
def restored_differs(found: str) -> Said: ...

# --- rehearsing an upgrade

@say("tm upgrade alone does nothing", "单独运行 tm upgrade 不会执行任何操作", "A server upgrades its database by itself when the new version starts. To try that on a copy first: tm upgrade --rehearse", "新版本启动时，服务器会自动升级数据库。若要先在副本上试运行：tm upgrade --rehearse")
def upgrade_only_rehearsed() -> Said: ...

@say("database schema {stamp}, which this version uses, too: nothing to change", "数据库表结构版本为 {stamp}，与本版本相同，无需更改")
def rehearsed_same_schema(stamp: int) -> Said: ...

@say("a copy was upgraded from schema {stamp} to {wanted}, and removed again", "副本已从表结构版本 {stamp} 升级到 {wanted}，随后已删除")
def rehearsed_upgrade(stamp: int, wanted: int) -> Said: ...

@say("all {tables:table|tables} are as this version expects", "全部 {tables:张表}与本版本的要求一致")
def rehearsed_shape(tables: Count) -> Said: ...

@say("differs from what this version expects: {found}", "与本版本的要求不一致：{found}", "Report it with this output. Do not upgrade yet: go on with the version that runs.", "请附上此输出反馈问题。请暂不升级，继续使用当前版本。")
def rehearsed_shape_differs(found: Names) -> Said: ...

@say("all {rows:row|rows} were kept", "全部 {rows:行}均已保留")
def rehearsed_rows(rows: Count) -> Said: ...

@say("rows were lost: {found}", "有数据行丢失：{found}", "Report it with this output. Do not upgrade yet: go on with the version that runs.", "请附上此输出反馈问题。请暂不升级，继续使用当前版本。")
def rehearsed_rows_lost(found: Names) -> Said: ...

@say("{count:job|jobs} read", "已读取 {count:个任务}")
def rehearsed_jobs(count: Count) -> Said: ...

@say("{bad:job|jobs} cannot be read by this version", "本版本无法读取 {bad:个任务}", "They would be set aside and reported, and the rest goes on. If they are queued or running, upgrade after they have ended.", "它们会被搁置并报告，其余任务继续。若它们仍在排队或运行，请在其结束后再升级。")
def rehearsed_jobs_bad(bad: Count) -> Said: ...

@say("this version reads config.toml", "本版本可读取 config.toml")
def rehearsed_settings() -> Said: ...

@say("{free} free; copying the database before the upgrade takes {needed}", "剩余 {free}；升级前的副本需要 {needed}")
def rehearsed_room(free: Mib, needed: Mib) -> Said: ...

@say("only {free} free, but copying the database before the upgrade takes {needed}", "仅剩 {free}，而升级前的副本需要 {needed}", "Free space on the disk of the home folder first.", "请先清理平台目录所在的磁盘。")
def rehearsed_no_room(free: Mib, needed: Mib) -> Said: ...

@say("no older database, so that no copy is made", "数据库并非旧版本，不会生成副本")
def rehearsed_no_copy() -> Said: ...

@say("PostgreSQL: the server makes no copy of it, so run tm backup with the version that runs now", "PostgreSQL：服务器不会生成副本，请先用当前版本运行 tm backup")
def rehearsed_back_up_yourself() -> Said: ...
