"""What is said of storage connections (S3), and of what is fetched through them. Never a key."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said

ALLOW = "An administrator adds it to allow in [storage] of config.toml."
ALLOW_ZH = "请管理员把它加入 config.toml 的 [storage] allow。"
KEYS = "Check the key with who gave it to you, and enter it again: tm storage add."
KEYS_ZH = "请向密钥的提供者确认，然后用 tm storage add 重新输入。"

# --- connections

@say("There is no storage connection {name} in workspace {workspace}", "工作空间 {workspace} 中没有存储连接 {name}", "See which there are: tm storage list --workspace {workspace}", "用 tm storage list --workspace {workspace} 查看现有连接。")
def no_such_connection(name: str, workspace: str) -> Said: ...

@say("You may not use storage connections of workspace {workspace}", "您不能使用工作空间 {workspace} 的存储连接", "Members may. A token needs the scope secrets:use.", "成员可以使用。令牌需要 secrets:use 权限。")
def connections_not_permitted(workspace: str) -> Said: ...

@say("The workspace has {count:storage connection|storage connections} already, which is the most", "工作空间已有 {count} 个存储连接，达到上限", "Delete one first.", "请先删除一个。")
def too_many_connections(count: Count) -> Said: ...

@say("The keys of storage connection {name} cannot be read on this server", "此服务器无法读取存储连接 {name} 的密钥", "Enter them again: tm storage add {name}", "请用 tm storage add {name} 重新输入。")
def connection_keys_not_readable(name: str) -> Said: ...

@say("The storage connection cannot be stored: {count:problem|problems}", "无法保存存储连接：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def connection_not_accepted(count: Count) -> Said: ...

@say("must be 1 to 63 letters, digits, - or _, a letter or digit first", "应为 1 到 63 个字母、数字、- 或 _，以字母或数字开头", "Change the name.", "请修改名称。")
def bad_connection_name() -> Said: ...

@say("must be an address such as https://s3.example.org", "应为地址，例如 https://s3.example.org", "Write scheme, name and port only; bucket and prefix have fields of their own.", "只写协议、名称和端口；存储桶和前缀请填在各自的字段中。")
def bad_store_endpoint() -> Said: ...

@say("http:// is for servers of your own network only", "http:// 只能用于自己网络中的服务器", "Write https://, or ask an administrator to add {host} to allow in [storage] of config.toml.", "请使用 https://，或请管理员把 {host} 加入 config.toml 的 [storage] allow。")
def store_not_https(host: str) -> Said: ...

@say("must be the name of a bucket: 3 to 63 small letters, digits, dots and hyphens", "应为存储桶名称：3 到 63 个小写字母、数字、点和连字符", "Check the name.", "请检查名称。")
def bad_store_bucket() -> Said: ...

@say("must be names with / between them, without . and .. and without control characters", "应为以 / 分隔的名称，不含 .、.. 和控制字符", "Write for example team/data", "例如 team/data。")
def bad_store_prefix() -> Said: ...

@say("must be a region such as us-east-1", "应为区域，例如 us-east-1", "Leave it out where the storage has none.", "存储没有区域时请省略。")
def bad_store_region() -> Said: ...

@say("must have {least} to {most} printable characters without spaces", "应为 {least} 到 {most} 个可打印字符，不含空格", "Copy it again.", "请重新复制。")
def bad_store_key(least: int, most: int) -> Said: ...

@say("must be names, addresses or networks such as minio.lan or 10.0.0.0/8", "应为名称、地址或网段，例如 minio.lan 或 10.0.0.0/8", "Write a name without scheme and port, or a network in CIDR form.", "请写不含协议和端口的名称，或 CIDR 网段。")
def not_hosts() -> Said: ...

# --- what a store answers

@say("{host} has no address", "{host} 没有解析到地址", "Check the endpoint of the connection.", "请检查连接的端点。")
def store_host_unknown(host: str) -> Said: ...

@say("{host} is at {address}, in a network that is not public", "{host} 的地址是 {address}，不在公网", ALLOW, ALLOW_ZH)
def store_address_refused(host: str, address: str) -> Said: ...

@say("{host} cannot be reached: {why}", "无法连接 {host}：{why}", "Check the endpoint, and whether this server may connect to it.", "请检查端点，以及本服务器能否连接到它。")
def store_not_reachable(host: str, why: str) -> Said: ...

@say("{host} does not prove who it is: {why}", "{host} 无法证明其身份：{why}", "Check the endpoint. An administrator names a certificate of your own authority as ca in [storage] of config.toml.", "请检查端点。如使用自己的证书机构，管理员可在 config.toml 的 [storage] ca 中填写其证书。")
def store_not_trusted(host: str, why: str) -> Said: ...

@say("{host} does not answer as S3 does (status {status})", "{host} 的应答不是 S3（状态码 {status}）", "Check the endpoint: name and port of the S3 service, not of its web page.", "请检查端点：应为 S3 服务的名称和端口，而不是其网页。")
def store_not_s3(host: str, status: int) -> Said: ...

@say("{host} sends us elsewhere, where we do not go (status {status})", "{host} 要求转到其他地址，平台不会转向（状态码 {status}）", "Enter the endpoint and region that the bucket has.", "请填写存储桶所在的端点和区域。")
def store_redirected(host: str, status: int) -> Said: ...

@say("The key id is not known there", "对方不认识此密钥 ID", KEYS, KEYS_ZH)
def store_key_unknown() -> Said: ...

@say("The secret key is wrong", "密钥（secret key）不正确", KEYS, KEYS_ZH)
def store_key_wrong() -> Said: ...

@say("The key may not do this there: {what}", "此密钥无权执行：{what}", "Ask who gave it to you to allow it.", "请联系密钥的提供者授权。")
def store_access_denied(what: Said) -> Said: ...

@say("There is no bucket {bucket}", "没有存储桶 {bucket}", "Check its name, or create it there first.", "请检查名称，或先在对方创建。")
def store_no_bucket(bucket: str) -> Said: ...

@say("The clocks of this server and of the storage differ too much", "服务器与存储的时钟相差过大", "An administrator sets the server's clock.", "请管理员校准服务器时钟。")
def store_clock_skew() -> Said: ...

@say("The bucket is in region {region}", "存储桶位于区域 {region}", "Enter this region in the connection.", "请在连接中填写该区域。")
def store_other_region(region: str) -> Said: ...

@say("The storage refused it: {code}", "存储拒绝了请求：{code}", "The administrator of the storage knows what it means.", "请咨询存储的管理员。")
def store_refused(code: str) -> Said: ...

@say("The storage cannot do it now: {code}", "存储暂时无法完成：{code}", "Try again later.", "请稍后重试。")
def store_busy(code: str) -> Said: ...

@say("The answer broke off", "应答中断", "Try again.", "请重试。")
def store_broke_off() -> Said: ...

@say("The answer is larger than it may be", "应答过大", "Check the endpoint.", "请检查端点。")
def store_answer_too_large() -> Said: ...

@say("list", "列出")
def store_to_list() -> Said: ...

@say("read", "读取")
def store_to_read() -> Said: ...

@say("write", "写入")
def store_to_write() -> Said: ...

@say("delete", "删除")
def store_to_delete() -> Said: ...

@say("What was written could not be read back", "写入的内容无法读回", "The administrator of the storage looks into it.", "请存储的管理员检查。")
def store_probe_differs() -> Said: ...

# --- what jobs fetch

@say("There is nothing at {place}", "{place} 下没有内容", "Check the prefix.", "请检查前缀。")
def store_nothing_there(place: str) -> Said: ...

@say("{place} has names that cannot be files, {count} in all; the first: {path}: {why}", "{place} 中有不能作为文件的名称，共 {count} 个；第一个：{path}：{why}", "Name a prefix without them, or rename them there.", "请使用不含它们的前缀，或在对方重命名。")
def store_names_not_usable(place: str, count: Count, path: str, why: Said) -> Said: ...

@say("{place} has more than {most} objects", "{place} 中的对象超过 {most} 个", "Name a narrower prefix.", "请使用范围更小的前缀。")
def store_too_many_objects(place: str, most: int) -> Said: ...

@say("{place} has {size_mib} MiB, more than the {most_mib} MiB that one input may have", "{place} 有 {size_mib} MiB，超过单个输入的上限 {most_mib} MiB", "Name a narrower prefix, or ask an administrator to raise dataset_mib in [limits].", "请使用范围更小的前缀，或请管理员提高 [limits] 中的 dataset_mib。")
def store_too_much(place: str, size_mib: int, most_mib: int) -> Said: ...

@say("{key} is not what the storage says that it is", "{key} 与存储声明的内容不符", "It may have been changed while it was fetched. Submit the job again.", "它可能在下载期间被修改。请重新提交任务。")
def store_content_differs(key: str) -> Said: ...

@say("{key} was changed while it was fetched", "{key} 在下载期间被修改", "Submit the job again.", "请重新提交任务。")
def store_changed_meanwhile(key: str) -> Said: ...

@say("The server has no room for {size_mib} MiB more", "服务器没有空间再存 {size_mib} MiB", "An administrator makes room, or raises fetched_mib in [limits].", "请管理员腾出空间，或提高 [limits] 中的 fetched_mib。")
def store_no_room(size_mib: int) -> Said: ...

@say("It could not be stored on the server: {error}", "无法保存到服务器：{error}")
def store_not_stored(error: str) -> Said: ...

@say("Fetching inputs: {files} of {all_files} objects, {done_mib} of {all_mib} MiB", "正在获取输入：{files} / {all_files} 个对象，{done_mib} / {all_mib} MiB")
def fetching_inputs(files: int, all_files: int, done_mib: int, all_mib: int) -> Said: ...

@say("Fetching inputs: looking what is there", "正在获取输入：查看内容")
def looking_at_inputs() -> Said: ...

@say("Fetching inputs: {why}; tried again", "正在获取输入：{why}；正在重试")
def fetching_inputs_again(why: Said) -> Said: ...

@say("What was fetched of {place} is not here any more", "从 {place} 获取的内容已不在", "Submit the job again.", "请重新提交任务。")
def store_fetched_gone(place: str) -> Said: ...

# --- what jobs send

@say("a symbolic link", "符号链接")
def send_is_link() -> Said: ...

@say("an object of this name was there before the job", "任务之前已有同名对象", "Write if_exists: overwrite, or name another place.", "请使用 if_exists: overwrite，或换一个位置。")
def send_is_there() -> Said: ...

@say("a name that is too long, or has characters that cannot be printed", "名称过长，或含不可打印字符")
def send_name_not_usable() -> Said: ...

@say("larger than {most_tib} TiB", "超过 {most_tib} TiB")
def send_too_large(most_tib: int) -> Said: ...

@say("{key} is not whole in the storage", "{key} 在存储中不完整", "It is sent again.", "会重新上传。")
def send_not_whole(key: str) -> Said: ...

@say("{place} is not empty", "{place} 不是空的", "Name another place, for example with {{id}} in it, or write if_exists: keep or overwrite.", "请换一个位置（例如使用 {{id}}），或使用 if_exists: keep 或 overwrite。")
def send_place_not_empty(place: str) -> Said: ...

@say("{place} is not empty: what is there stays, and files of the same name are not uploaded", "{place} 不是空的：已有内容会保留，同名文件不会上传", "Name an empty place, for example with {{id}} in it, or write if_exists: overwrite.", "请使用空的位置（例如使用 {{id}}），或使用 if_exists: overwrite。")
def send_place_kept(place: str) -> Said: ...

@say("{place} is not empty: objects of the same name will be replaced", "{place} 不是空的：同名对象会被替换", "Name an empty place, for example with {{id}} in it.", "请使用空的位置（例如使用 {{id}}）。")
def send_place_overwritten(place: str) -> Said: ...

@say("{place} is in region {its}, the nodes are in {ours}: every byte crosses regions, which is slow and may be charged", "{place} 位于区域 {its}，节点位于 {ours}：数据需跨区域传输，速度慢且可能产生费用", "Use a bucket in {ours}, or copy the data there.", "请使用 {ours} 中的存储桶，或先把数据复制到该区域。")
def store_in_other_region(place: str, its: str, ours: str) -> Said: ...

@say("Outputs: looking at {place}", "输出：查看 {place}")
def looking_at_outputs(place: str) -> Said: ...

@say("Outputs: {why}; tried again", "输出：{why}；正在重试")
def looking_at_outputs_again(why: Said) -> Said: ...

@say("{count:file|files} ({size_mib} MiB) uploaded to {place}", "已上传 {count} 个文件（{size_mib} MiB）到 {place}")
def outputs_sent(count: Count, size_mib: int, place: str) -> Said: ...

@say("{sent}; {why}", "{sent}；{why}")
def outputs_sent_in_part(sent: Said, why: Said) -> Said: ...

@say("{left:file was|files were} not uploaded; the first: {path}: {why}", "{left} 个文件未上传；第一个是 {path}：{why}")
def outputs_left_out_of_upload(left: Count, path: str, why: Said) -> Said: ...

@say("The outputs could not all be uploaded to {place}: {why}", "输出未能全部上传到 {place}：{why}", "Put it right, then: tm upload {job}", "排除原因后运行 tm upload {job}。")
def outputs_not_sent(place: str, why: Said, job: str) -> Said: ...

@say("Nothing of the job's outputs is to be uploaded again", "该任务没有需要重新上传的输出", "Only what failed, or was left out, can be tried again: tm show {job}", "只有失败或未上传的才能重试：tm show {job}。")
def nothing_to_upload(job: str) -> Said: ...

@say("The disk of the server could not be read: {error}", "服务器磁盘无法读取：{error}", "It is tried again.", "会自动重试。")
def outputs_not_read(error: str) -> Said: ...
