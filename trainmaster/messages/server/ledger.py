"""What is said of the ledger: how it is opened and led, what a home knows of its past, its damage, and what cannot be
stored or read.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Moment, Seconds, say
from trainmaster.messages.said import Said

RESTORE = "Stop the server, keep a copy of the folder and restore a backup; sqlite3 FILE .recover saves what can still be read."
RESTORE_ZH = "请停止服务器，保留该目录的副本，然后恢复备份；sqlite3 FILE .recover 可以抢救仍可读取的内容。"
PUT_BACK = "Put it back with its -wal file, or restore a backup. To start with an empty database: trainmaster serve --accept-loss"
PUT_BACK_ZH = "请将它连同其 -wal 文件放回，或恢复备份。若要从空数据库开始：trainmaster serve --accept-loss"

# --- opening

@say("The database cannot be opened: {error}", "无法打开数据库：{error}", "Check the address, the rights and the disk.", "请检查地址、权限和磁盘。")
def database_not_opened(error: str) -> Said: ...

@say("The database cannot be opened: {error}", "无法打开数据库：{error}", "Check the folder, its rights and its disk.", "请检查所在目录、其权限和磁盘。")
def database_file_not_opened(error: str) -> Said: ...

@say("{address} is not a database Trainmaster can use", "{address} 不是 Trainmaster 可用的数据库", "Write sqlite:////folder/file.db or postgresql://user:password@host/name.", "请写成 sqlite:////folder/file.db 或 postgresql://user:password@host/name。")
def database_not_usable(address: str) -> Said: ...

@say("The database was written by a newer Trainmaster (schema {stamp}; known here: {known})", "数据库由更新版本的 Trainmaster 写入（表结构版本 {stamp}，本版本支持到 {known}）", "Install that version again, or restore the backup made before it was upgraded.", "请重新安装该版本，或恢复升级前的备份。")
def database_too_new(stamp: int, known: int) -> Said: ...

@say("The database could not be upgraded from schema {stamp} to {wanted}: {error}", "数据库无法从表结构版本 {stamp} 升级到 {wanted}：{error}", "It is unchanged. Fix what the message names and start again, or run the version that wrote it.", "数据库没有改变。请修正上述问题后重新启动，或运行写入它的版本。")
def migration_failed(stamp: int, wanted: int, error: str) -> Said: ...

# --- one server at a time

@say("Another server is using the database {path}", "另一个服务器正在使用数据库 {path}", "Stop it, or give this server a folder of its own.", "请停止它，或让此服务器使用自己的目录。")
def another_server_uses(path: str) -> Said: ...

@say("Another server is using this database", "另一个服务器正在使用此数据库", "Stop it, or give this server another database.", "请停止它，或让此服务器使用另一个数据库。")
def another_server_leads() -> Said: ...

@say("No primary server is active at the moment", "目前没有主服务器", "A standby takes over within seconds; try again then. A submit with its Idempotency-Key can be repeated safely.", "备用服务器会在几秒内接管，请稍后重试。带 Idempotency-Key 的提交可以放心重复。")
def nobody_leads() -> Said: ...

@say("The primary server stopped before it answered, or does not answer", "主服务器在响应前退出，或一直没有响应", "Check whether the request was carried out, or repeat it: a submit with its Idempotency-Key can be repeated safely.", "请查看该操作是否已完成，或重试。带 Idempotency-Key 的提交可以放心重复。")
def leader_ended() -> Said: ...

@say("Too many requests to the primary server are in progress", "发往主服务器的请求过多", "Wait for the earlier answers, or try again in a moment.", "请等待先前的请求得到响应，或稍后重试。")
def too_much_for_leader() -> Said: ...

@say("The other servers cannot reach this one: {host} means every address of this server", "其他服务器无法访问此服务器：{host} 代表此服务器的所有地址", "Tell them how to reach it with --address or server.address: --address 10.0.0.5. Or listen on that address only: --host 10.0.0.5", "请用 --address 或 server.address 指明其他服务器如何访问它，例如 --address 10.0.0.5；或者只监听该地址：--host 10.0.0.5")
def standby_needs_address(host: str) -> Said: ...

@say("Several servers can share a home folder only on PostgreSQL", "只有使用 PostgreSQL 时，才能由多个服务器共同运行", "Set server.database to a postgresql:// address, or leave out --standby.", "请将 server.database 设为 postgresql:// 地址，或去掉 --standby。")
def only_postgresql_is_shared() -> Said: ...

@say("The primary server uses database schema {stamp}; this server knows {known}", "主服务器的数据库表结构版本为 {stamp}，此服务器为 {known}", "Run the same version in both places: stop the older server first, then start the new one.", "请在两处运行相同版本：先停止旧版本的服务器，再启动新版本。")
def leader_has_other_schema(stamp: int, known: int) -> Said: ...

@say("Another server has used this database in the meantime; what this server remembers is out of date", "其间另一个服务器曾接管此数据库；此服务器内存中的内容已过时", "Restart this server.", "请重新启动此服务器。")
def another_server_led() -> Said: ...

# --- what a home knows of its ledger

@say("in the database {name}", "位于数据库 {name}")
def in_database(name: str) -> Said: ...

@say("The database {where} is missing or empty, but this home folder has had one: {events:event|events} until {at}", "数据库（{where}）不存在或为空，但此平台目录曾有数据库：截至 {at} 有 {events} 条事件", PUT_BACK, PUT_BACK_ZH)
def ledger_missing(where: Said | str, events: Count, at: Moment) -> Said: ...

@say("The database {where} is missing or empty, but this home folder has folders of jobs", "数据库（{where}）不存在或为空，但此平台目录中有任务的文件夹", PUT_BACK, PUT_BACK_ZH)
def ledger_missing_beside_jobs(where: Said | str) -> Said: ...

@say("The database does not belong to this home folder", "该数据库不属于此平台目录", "Name the right database in config.toml, or restore it. To continue with this one: trainmaster serve --accept-loss", "请在 config.toml 中写入正确的数据库，或恢复它。若要继续使用此数据库：trainmaster serve --accept-loss")
def another_ledger() -> Said: ...

@say("The database is behind: it ends at event {found}, but was at {marked} on {at}", "数据库落后了：它止于事件 {found}，而在 {at} 时已到事件 {marked}", "The file or the -wal file beside it was lost, cut or replaced by an older one: put the newest one back. To give up what came after event {found}: trainmaster serve --accept-loss", "该文件或其旁的 -wal 文件已丢失、被截断或被较旧的文件替换：请放回最新的文件。若要放弃事件 {found} 之后的内容：trainmaster serve --accept-loss")
def ledger_behind(found: int, marked: int, at: Moment) -> Said: ...

# --- what cannot be stored or read

@say("The change conflicts with one that is already stored: {cause}", "修改与已保存的内容冲突：{cause}", "Read the stored one first.", "请先读取已保存的内容。")
def change_collides(cause: str) -> Said: ...

@say("The change could not be stored: {cause}", "修改无法保存：{cause}", "Nothing was accepted. Free space on the database's disk, or fix what the message names, and try again.", "没有接受任何内容。请清理数据库所在磁盘或修正所述问题，然后重试。")
def change_not_stored(cause: str) -> Said: ...

@say("A change of job {job} spans two attempts", "任务 {job} 的一次修改跨越了两次运行", "Store the first alone.", "请先单独保存第一次运行的修改。")
def change_spans_attempts(job: str) -> Said: ...

@say("The change of job {job} is based on a version that is not stored: an earlier change failed, or the job is gone", "任务 {job} 的修改所依据的版本没有保存：更早的修改失败了，或任务已不存在", "Read the job again and repeat the change.", "请重新读取任务后再试。")
def change_is_stale(job: str) -> Said: ...

@say("Job {job} has not ended", "任务 {job} 尚未结束", "Stop it first.", "请先停止它。")
def job_not_ended(job: str) -> Said: ...

@say("The database cannot be written right now", "暂时无法写入数据库", "Free disk space; the server tries again by itself.", "请清理磁盘空间；服务器会自动重试。")
def ledger_not_writable() -> Said: ...

@say("The database cannot be read right now", "暂时无法读取数据库", "Try again in a moment. The server's log shows why; trainmaster doctor checks the database.", "请稍后再试。原因见服务器日志；trainmaster doctor 可检查数据库。")
def ledger_not_readable() -> Said: ...

@say("This part of the database is damaged and cannot be read", "数据库的这一部分已损坏，无法读取", "Ask an administrator to run trainmaster doctor, which shows what is damaged and what to do.", "请管理员运行：trainmaster doctor。它会说明哪里损坏以及如何处理。")
def ledger_damaged() -> Said: ...

@say("The database is closed", "数据库已关闭", "Restart the server.", "请重新启动服务器。")
def ledger_closed() -> Said: ...

@say("The database does not answer", "数据库没有响应", "Try again in a moment: the server continues by itself once the database answers. Its log shows why it does not.", "请稍后再试：数据库恢复后服务器会自动继续。原因见服务器日志。")
def database_silent() -> Said: ...

@say("The database has no readable job file {digest}", "数据库中没有可读取的任务文件 {digest}", "It was lost or damaged. The job cannot be started or cloned; submit it from its file.", "它已丢失或损坏。任务无法启动或克隆；请从其文件重新提交。")
def no_readable_document(digest: str) -> Said: ...

# --- what an examination finds

@say("does not exist yet (created on the first start)", "尚不存在（首次启动时创建）")
def no_ledger_yet() -> Said: ...

@say("the database answers", "数据库有响应")
def database_answers() -> Said: ...

@say("the database does not answer: {error}", "数据库没有响应：{error}", "Check the database server and server.database.", "请检查数据库服务器和 server.database。")
def database_unreachable(error: str) -> Said: ...

@say("{file} is intact ({mib} MiB)", "{file} 完好（{mib} MiB）")
def ledger_whole(file: str, mib: float) -> Said: ...

@say("no damage found in {limit_s}; {file} is too large to check completely ({mib} MiB)", "用时 {limit_s}，没有发现损坏；{file} 过大，没有全部检查（{mib} MiB）", 'To check all of it: sqlite3 {file} "PRAGMA quick_check"', '若要全部检查：sqlite3 {file} "PRAGMA quick_check"')
def ledger_seen_in_part(file: str, limit_s: Seconds, mib: float) -> Said: ...

@say("{file} is damaged: {found}", "{file} 已损坏：{found}", RESTORE, RESTORE_ZH)
def ledger_file_damaged(file: str, found: str) -> Said: ...

@say("{file}: {error}", "{file}：{error}", RESTORE, RESTORE_ZH)
def ledger_file_not_read(file: str, error: str) -> Said: ...
